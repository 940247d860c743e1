/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of every I/O; see record.h. */
#define _GNU_SOURCE
#include "record.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "thread.h"

_Static_assert(sizeof(struct record_header) == 64, "the header of a record file is 64 bytes");

void recorder_wake(struct recorder *r) {
  r->since_wake = 0;
  (void)eventfd_write(r->wake, 1);
}

static int write_all(int fd, const void *data, size_t length) {
  const char *p = data;
  while (length > 0) {
    ssize_t n = write(fd, p, length);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno;
    p += n;
    length -= (size_t)n;
  }
  return 0;
}

/* A file system that is full took part of a record: what is left are whole ones. */
static void cut_to_whole(int fd) {
  off_t end = lseek(fd, 0, SEEK_CUR), rest;
  if (end < (off_t)sizeof(struct record_header))
    return;
  rest = (end - (off_t)sizeof(struct record_header)) % (off_t)(RECORD_WORDS * sizeof(uint64_t));
  if (rest > 0)
    (void)!ftruncate(fd, end - rest);
}

/* Writes what waits, straight from the queue: up to its end, the rest the next time. */
static void write_waiting(struct recorder *r) {
  uint64_t n = feed_waiting(&r->feed, RECORD_CAPACITY);
  uint64_t at = atomic_load_explicit(&r->feed.read, memory_order_relaxed) & (RECORD_CAPACITY - 1);
  uint64_t run = n < RECORD_CAPACITY - at ? n : RECORD_CAPACITY - at;
  if (run > 0 && atomic_load_explicit(&r->error, memory_order_relaxed) == 0) {
    int code = write_all(r->fd, &r->feed.words[at], run * sizeof(uint64_t));
    atomic_store_explicit(&r->error, code, memory_order_relaxed);
    if (code != 0)
      cut_to_whole(r->fd);
  }
  feed_consume(&r->feed, run);
}

static void *writer(void *argument) {
  struct recorder *r = argument;
  for (;;) {
    bool ended = atomic_load_explicit(&r->ended, memory_order_acquire);
    if (feed_waiting(&r->feed, 1) > 0) {
      write_waiting(r);
    } else if (ended) {
      break;
    } else {
      eventfd_t n;
      struct pollfd p = {.fd = r->wake, .events = POLLIN};
      poll(&p, 1, 1000);
      (void)eventfd_read(r->wake, &n);
    }
  }
  if (atomic_load_explicit(&r->error, memory_order_relaxed) == 0 && fsync(r->fd) != 0 &&
      errno != EINVAL && errno != EROFS) /* a pipe or /dev/null cannot be synced */
    atomic_store_explicit(&r->error, errno, memory_order_relaxed);
  return NULL;
}

int recorder_open(struct recorder *r, int wake) {
  *r = (struct recorder){.wake = wake, .fd = -1};
  return feed_open(&r->feed, RECORD_CAPACITY);
}

int recorder_open_file(struct recorder *r, int fd, const struct record_header *header) {
  int code = recorder_open(r, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  r->fd = fd;
  if (code == 0 && r->wake < 0)
    code = errno;
  if (code == 0)
    code = write_all(fd, header, sizeof *header);
  if (code == 0)
    code = thread_create(&r->writer, writer, r);
  if (code != 0) {
    close(fd);
    if (r->wake >= 0)
      close(r->wake);
    feed_close(&r->feed);
  }
  return code;
}

void recorder_close(struct recorder *r) {
  if (r->closed)
    return;
  r->closed = true;
  if (r->fd >= 0) {
    atomic_store_explicit(&r->ended, true, memory_order_release);
    recorder_wake(r);
    pthread_join(r->writer, NULL);
    close(r->fd);
    close(r->wake);
  }
  feed_close(&r->feed);
}
