/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bounded queue of 64-bit words from one thread to another (one writer, one reader, no locks):
   offsets from a Lua function to a job, records of I/Os from a job to Lua.

   Each side keeps its own position and a copy of the other's, which it renews only when the copy
   says full or empty: the cache lines then cross between the cores once a batch, not a word. */
#ifndef HDD_FEED_H
#define HDD_FEED_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct feed {
  uint64_t *words;
  uint64_t capacity; /* words; a power of two */
  alignas(64) _Atomic uint64_t written;
  uint64_t read_seen; /* the writer's copy of `read` */
  alignas(64) _Atomic uint64_t read;
  uint64_t written_seen; /* the reader's copy of `written` */
};

/* Returns 0 or ENOMEM.  `capacity` is a power of two. */
int feed_open(struct feed *f, uint64_t capacity);

/* Frees the words; both sides must be done.  Harmless the second time. */
void feed_close(struct feed *f);

/* Writer: how many words fit, counting to at least `wanted` if there are that many. */
static inline uint64_t feed_room(struct feed *f, uint64_t wanted) {
  uint64_t at = atomic_load_explicit(&f->written, memory_order_relaxed);
  if (f->capacity - (at - f->read_seen) < wanted)
    f->read_seen = atomic_load_explicit(&f->read, memory_order_acquire);
  return f->capacity - (at - f->read_seen);
}

/* Writer: where the `i`th word from here goes; feed_publish makes the first `n` visible. */
static inline uint64_t *feed_slot(struct feed *f, uint64_t i) {
  uint64_t at = atomic_load_explicit(&f->written, memory_order_relaxed);
  return &f->words[(at + i) & (f->capacity - 1)];
}

static inline void feed_publish(struct feed *f, uint64_t n) {
  uint64_t at = atomic_load_explicit(&f->written, memory_order_relaxed);
  atomic_store_explicit(&f->written, at + n, memory_order_release);
}

/* Reader: how many words wait, counting to at least `wanted` if there are that many. */
static inline uint64_t feed_waiting(struct feed *f, uint64_t wanted) {
  uint64_t at = atomic_load_explicit(&f->read, memory_order_relaxed);
  if (f->written_seen - at < wanted)
    f->written_seen = atomic_load_explicit(&f->written, memory_order_acquire);
  return f->written_seen - at;
}

/* Reader: takes the next word, if there is one. */
static inline bool feed_take(struct feed *f, uint64_t *word) {
  uint64_t at = atomic_load_explicit(&f->read, memory_order_relaxed);
  if (at == f->written_seen) {
    f->written_seen = atomic_load_explicit(&f->written, memory_order_acquire);
    if (at == f->written_seen)
      return false;
  }
  *word = f->words[at & (f->capacity - 1)];
  atomic_store_explicit(&f->read, at + 1, memory_order_release);
  return true;
}

/* Reader: the `i`th waiting word; feed_consume gives the first `n` back. */
static inline uint64_t feed_peek(const struct feed *f, uint64_t i) {
  uint64_t at = atomic_load_explicit(&f->read, memory_order_relaxed);
  return f->words[(at + i) & (f->capacity - 1)];
}

static inline void feed_consume(struct feed *f, uint64_t n) {
  uint64_t at = atomic_load_explicit(&f->read, memory_order_relaxed);
  atomic_store_explicit(&f->read, at + n, memory_order_release);
}

#endif
