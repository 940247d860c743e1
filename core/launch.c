/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of a job's thread around its hot loop: started, published, left to a stuck drive if need
   be, and freed by whoever lets go of it last; see engine.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "engine.h"
#include "thread.h"

/* Until its last completion the kernel may write to a buffer: ring, buffers and descriptor stay. */
static void linger(struct job *j) {
  struct io_uring_cqe *cqe;
  while (j->in_flight > 0) {
    if (io_uring_wait_cqe(&j->ring.uring, &cqe) != 0)
      continue;
    io_uring_cqe_seen(&j->ring.uring, cqe);
    j->in_flight--;
  }
}

static void let_go(struct job *j) {
  ring_close(&j->ring);
  j->reading = false;
  device_done(j->device);
}

static int64_t timeval_ns(struct timeval t) {
  return (int64_t)t.tv_sec * NS_PER_S + (int64_t)t.tv_usec * 1000;
}

static void *job_thread(void *argument) {
  struct job *j = argument;
  struct rusage before, after;
  j->open_error = ring_open(&j->ring, &j->wish, &j->kernel_call);
  if (j->open_error != 0) {
    sem_post(&j->ready);
    return NULL;
  }
  getrusage(RUSAGE_SELF, &before);
  job_run(j);
  getrusage(RUSAGE_SELF, &after);
  j->cpu_user_ns = timeval_ns(after.ru_utime) - timeval_ns(before.ru_utime);
  j->cpu_system_ns = timeval_ns(after.ru_stime) - timeval_ns(before.ru_stime);
  bool stuck = j->cut_off;
  if (!stuck)
    let_go(j);
  if (j->recorder && j->recorder->fd >= 0)
    recorder_close(j->recorder);
  atomic_store_explicit(&j->phase, JOB_FINISHED, memory_order_release);
  (void)eventfd_write(j->finished_fd, 1);
  if (stuck) {
    linger(j);
    let_go(j);
  }
  job_release(j);
  return NULL;
}

int job_launch(struct job *j, const char **call) {
  *call = "memory for the reads in flight";
  j->slots = calloc(j->wish.depth + 1, sizeof *j->slots); /* the last: a flush */
  j->idle = malloc(j->wish.depth * sizeof *j->idle);
  if (!j->slots || !j->idle)
    return ENOMEM;
  for (unsigned i = 0; i < j->wish.depth; i++)
    j->idle[j->n_idle++] = j->wish.depth - 1 - i;
  sem_init(&j->ready, 0, 0);
  atomic_fetch_add(&j->references, 1); /* the thread's */
  *call = "pthread_create";
  int code = thread_create(&j->thread, job_thread, j);
  if (code != 0) {
    atomic_fetch_sub(&j->references, 1);
    return code;
  }
  j->joined = false;
  while (sem_wait(&j->ready) != 0)
    ; /* EINTR: the signal is looked at when the job runs */
  if (j->open_error != 0) {
    pthread_join(j->thread, NULL);
    j->joined = true;
    *call = j->kernel_call;
    atomic_fetch_sub(&j->references, 1);
  }
  return j->open_error;
}

static void free_snapshot(struct snapshot *s) {
  if (s)
    series_close(&s->series);
  free(s);
}

void job_release(struct job *j) {
  if (atomic_fetch_sub_explicit(&j->references, 1, memory_order_acq_rel) > 1)
    return;
  if (j->finished_fd >= 0)
    close(j->finished_fd);
  if (j->kick_fd >= 0)
    close(j->kick_fd);
  if (j->recorder)
    recorder_close(j->recorder);
  free(j->recorder);
  free_snapshot(j->spare);
  free_snapshot(atomic_load(&j->mail));
  pattern_close(&j->pattern);
  tally_close(&j->tally);
  verification_close(&j->verify);
  free(j->slots);
  free(j->idle);
  free(j->abandoned);
  if (j->reading)
    device_done(j->device);
  device_release(j->device);
  free(j);
}
