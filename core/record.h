/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A record of every I/O of a job's counted part: three words through a bounded queue, to Lua or a
   file that a thread of its own writes.  When the queue is full the job submits nothing until there
   is room: no record is ever dropped.

   The file: a header of 64 bytes (struct record_header), then 24 bytes a record, all little-endian:
     u64 offset       bytes
     u64 time         ns from the start of the counted part to the completion
     u64 latency      ns in the upper 48 bits, errno value in the lower 16 (0: read in full) */
#ifndef HDD_RECORD_H
#define HDD_RECORD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "feed.h"

enum {
  RECORD_WORDS = 3,
  RECORD_CAPACITY = 1 << 16, /* words: 21845 records, 512 KiB */
  RECORD_BATCH = 4096        /* records after which the reader is woken */
};

struct record_header {
  char magic[8];         /* "hddlua\0\1" */
  uint32_t header_bytes; /* 64 */
  uint32_t record_bytes; /* 24 */
  uint64_t block_size;   /* bytes; a read is shorter only where its range ends */
  uint64_t range_end;    /* bytes */
  uint64_t started;      /* seconds since 1970, UTC, of the job's start */
  char reserved[24];
};

struct recorder {
  struct feed feed;
  int wake;            /* eventfd of the reader */
  unsigned since_wake; /* records */
  uint64_t waits;      /* times that the job had to wait for room */
  int fd;              /* of the file; -1: Lua reads */
  pthread_t writer;
  bool closed;        /* the file has been written */
  _Atomic bool ended; /* no more will come */
  _Atomic int error;  /* errno value of the write that failed: from then on records are discarded */
};

/* Records for Lua, which is woken through the eventfd `wake`.  Returns 0 or an errno value. */
int recorder_open(struct recorder *r, int wake);

/* Records to `fd`, which it takes over and closes, by a thread of its own. */
int recorder_open_file(struct recorder *r, int fd, const struct record_header *header);

/* Waits until the file has been written and synced.  Harmless the second time. */
void recorder_close(struct recorder *r);

/* Wakes whoever takes the records, before RECORD_BATCH of them are there. */
void recorder_wake(struct recorder *r);

/* Is there room for `n` records more? */
static inline bool recorder_room(struct recorder *r, unsigned n) {
  return feed_room(&r->feed, (uint64_t)n * RECORD_WORDS) >= (uint64_t)n * RECORD_WORDS;
}

/* Adds a record; there must be room.  All in bytes and ns; `code` is an errno value, or 0. */
static inline void recorder_add(struct recorder *r, int64_t offset, int64_t time, int64_t ns,
                                int code) {
  *feed_slot(&r->feed, 0) = (uint64_t)offset;
  *feed_slot(&r->feed, 1) = (uint64_t)time;
  *feed_slot(&r->feed, 2) = (uint64_t)ns << 16 | (uint16_t)code;
  feed_publish(&r->feed, RECORD_WORDS);
  if (++r->since_wake >= RECORD_BATCH)
    recorder_wake(r);
}

#endif
