/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job or queue has measured: counts, latencies, time series, failures, the slowest reads,
   stalls.  Its size is set when it is opened and does not grow with the number of I/Os.

   One thread writes.  `counters` alone may be read by another meanwhile; the rest only when the
   writer has finished. */
#ifndef HDD_TALLY_H
#define HDD_TALLY_H

#include <lua.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "histogram.h"
#include "series.h"

struct failure {
  int64_t offset;
  uint32_t length;
  int code; /* errno value */
  int64_t ns, at_ns;
};

struct slow {
  int64_t offset, ns, at_ns;
};

struct stall {
  int64_t at_ns, ns, offset; /* no completion for `ns` from at_ns on; the oldest read waited for */
};

/* Single writer, relaxed: plain moves. */
struct counters {
  _Atomic uint64_t ios, bytes, errors;
  _Atomic int64_t position;   /* byte offset of the last completion; -1: none */
  _Atomic int64_t quiet_from; /* now_ns of the last completion, or of the first read in flight */
};

struct tally {
  alignas(64) struct counters counters;
  alignas(64) int64_t from_ns; /* where the counted part begins */
  int64_t until_ns;            /* its last completion */
  uint64_t busy_ns; /* sum of all latencies, failures' too: over elapsed, the mean depth */
  uint64_t short_reads;
  int64_t slow_above; /* ns: what a read must exceed to be among the slowest */
  int64_t stall_ns;   /* from when on a silence is a stall */
  struct histogram latency;
  struct series series;
  struct failure *failures;
  struct slow *slowest;
  struct stall *stalls;
  unsigned max_failures, kept_failures, max_slowest, kept_slowest, kept_stalls;
};

enum { TALLY_STALLS = 64 };

struct tally_wish {
  unsigned max_failures, slowest, intervals;
  int64_t interval_ns, stall_ns;
};

/* Returns 0 or ENOMEM. */
int tally_open(struct tally *t, const struct tally_wish *wish);
/* Frees what tally_open made.  Harmless the second time. */
void tally_close(struct tally *t);

/* The counted part begins (again) at `now`: what was counted before is forgotten. */
void tally_begin(struct tally *t, int64_t now);

/* Keeps a read that was slower than `slow_above` among the slowest. */
void tally_slow(struct tally *t, int64_t now, int64_t offset, int64_t ns);
/* Counts a read of `length` bytes at `offset` that failed with errno value `code` after `ns`. */
void tally_failure(struct tally *t, int64_t now, int64_t offset, uint32_t length, int code,
                   int64_t ns);
/* Notes that nothing completed for `ns` from `at_ns` on, while `offset` was waited for longest. */
void tally_stall(struct tally *t, int64_t at_ns, int64_t ns, int64_t offset);

/* Takes the last `n` failures back: they were a drive leaving, not bad sectors. */
void tally_take_back(struct tally *t, uint64_t n);

/* Adds to a counter of the calling thread's own. */
static inline void counter_add(_Atomic uint64_t *c, uint64_t n) {
  atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n, memory_order_relaxed);
}

/* Reads a counter, from any thread. */
static inline uint64_t counter_get(_Atomic uint64_t *c) {
  return atomic_load_explicit(c, memory_order_relaxed);
}

/* Counts a read of `bytes` at `offset` that ended at `now` after `ns`.  In every hot loop. */
static inline void tally_success(struct tally *t, int64_t now, int64_t offset, uint32_t bytes,
                                 int64_t ns) {
  counter_add(&t->counters.ios, 1);
  counter_add(&t->counters.bytes, bytes);
  atomic_store_explicit(&t->counters.position, offset, memory_order_relaxed);
  t->until_ns = now;
  t->busy_ns += (uint64_t)ns;
  histogram_add(&t->latency, (uint64_t)ns);
  series_add(&t->series, now, offset, bytes, (uint64_t)ns);
  if (ns > t->slow_above)
    tally_slow(t, now, offset, ns);
}

/* Sets the fields of a result in the table on top of the stack: ios, bytes, errors, elapsed_s,
   iops, iops_ci95, bandwidth_bytes_per_s, latency, series, failures, slowest, stalls,
   depth_achieved, short_reads. `end_ns` is the end of the counted part where it lies after the last
   completion, else 0. `latency` goes into the Histogram at stack index `histogram`, or into a new
   one if that is 0. */
void tally_push(lua_State *L, struct tally *t, int64_t end_ns, int histogram);

/* Pushes the array of a series' intervals, the last of which ends at `end_ns`. */
void series_push(lua_State *L, const struct series *s, int64_t end_ns);

#endif
