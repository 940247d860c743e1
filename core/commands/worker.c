/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread for each drive's commands; see worker.h. */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../thread.h"

struct worker {
  dev_t number;
  unsigned shares; /* of those who may submit; the thread lives until there are none */
  pthread_cond_t wake;
  struct request *first, **last;
  struct worker *next;
};

/* Guards the list of all workers and what is in each: a few commands a second. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct worker *workers;

/* --- requests ------------------------------------------------------------------------------ */

struct request *request_new(struct transport *t, uint32_t length) {
  struct request *r = calloc(1, sizeof *r + length);
  if (!r)
    return NULL;
  r->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (r->done_fd < 0) {
    free(r);
    return NULL;
  }
  r->references = 1;
  r->transport = transport_share(t);
  r->recorder = t->recorder ? recording_share(t->recorder) : NULL;
  r->exchange.length = length;
  r->exchange.data = r->data;
  return r;
}

void request_release(struct request *r) {
  if (atomic_fetch_sub_explicit(&r->references, 1, memory_order_acq_rel) > 1)
    return;
  close(r->done_fd);
  transport_release(r->transport);
  if (r->recorder)
    recording_release(r->recorder);
  free(r);
}

/* --- the thread ---------------------------------------------------------------------------- */

/* With the lock held: the next request, or NULL when there will be none. */
static struct request *next_request(struct worker *w) {
  while (!w->first && w->shares > 0)
    pthread_cond_wait(&w->wake, &lock);
  struct request *r = w->first;
  if (r) {
    w->first = r->next;
    if (!w->first)
      w->last = &w->first;
  }
  return r;
}

static void forget(struct worker *w) {
  struct worker **at = &workers;
  while (*at != w)
    at = &(*at)->next;
  *at = w->next;
  pthread_cond_destroy(&w->wake);
  free(w);
}

static void *work(void *argument) {
  struct worker *w = argument;
  struct request *r;
  pthread_mutex_lock(&lock);
  while ((r = next_request(w))) {
    pthread_mutex_unlock(&lock);
    transport_carry(r->transport, &r->exchange);
    if (r->recorder)
      recording_add(r->recorder, &r->exchange);
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&r->done, true, memory_order_release);
    (void)eventfd_write(r->done_fd, 1);
    request_release(r);
  }
  forget(w);
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* --- shares -------------------------------------------------------------------------------- */

static struct worker *find(dev_t number) {
  for (struct worker *w = workers; w && number != 0; w = w->next)
    if (w->number == number)
      return w;
  return NULL;
}

static int start(dev_t number, struct worker **to) {
  pthread_t thread;
  struct worker *w = calloc(1, sizeof *w);
  if (!w)
    return ENOMEM;
  w->number = number;
  w->shares = 1;
  w->last = &w->first;
  pthread_cond_init(&w->wake, NULL);
  int code = thread_create(&thread, work, w);
  if (code != 0) {
    pthread_cond_destroy(&w->wake);
    free(w);
    return code;
  }
  pthread_detach(thread); /* a command that never returns must not hold up anyone's end */
  w->next = workers;
  workers = w;
  *to = w;
  return 0;
}

int worker_open(dev_t number, struct worker **to) {
  int code = 0;
  pthread_mutex_lock(&lock);
  struct worker *w = find(number);
  if (w) {
    w->shares++; /* perhaps the first again, while its last command is on its way */
    *to = w;
  } else {
    code = start(number, to);
  }
  pthread_mutex_unlock(&lock);
  return code;
}

void worker_close(struct worker *w) {
  pthread_mutex_lock(&lock);
  if (--w->shares == 0)
    pthread_cond_signal(&w->wake);
  pthread_mutex_unlock(&lock);
}

void worker_submit(struct worker *w, struct request *r) {
  atomic_fetch_add_explicit(&r->references, 1, memory_order_relaxed);
  pthread_mutex_lock(&lock);
  r->next = NULL;
  *w->last = r;
  w->last = &r->next;
  pthread_cond_signal(&w->wake);
  pthread_mutex_unlock(&lock);
}
