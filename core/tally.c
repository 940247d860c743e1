/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounts of a job or queue; see tally.h. */
#define _GNU_SOURCE
#include "tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

int tally_open(struct tally *t, const struct tally_wish *wish) {
  memset(t, 0, sizeof *t);
  t->stall_ns = wish->stall_ns;
  t->max_failures = wish->max_failures;
  t->max_slowest = wish->slowest;
  t->failures = malloc((wish->max_failures + 1) * sizeof *t->failures);
  t->slowest = malloc((wish->slowest + 1) * sizeof *t->slowest);
  t->stalls = malloc(TALLY_STALLS * sizeof *t->stalls);
  int code = series_open(&t->series, wish->intervals, wish->interval_ns);
  if (t->failures && t->slowest && t->stalls && code == 0) {
    tally_begin(t, 0);
    return 0;
  }
  tally_close(t);
  return ENOMEM;
}

void tally_close(struct tally *t) {
  free(t->failures);
  free(t->slowest);
  free(t->stalls);
  series_close(&t->series);
  t->failures = NULL;
  t->slowest = NULL;
  t->stalls = NULL;
}

void tally_begin(struct tally *t, int64_t now) {
  atomic_store_explicit(&t->counters.ios, 0, memory_order_relaxed);
  atomic_store_explicit(&t->counters.bytes, 0, memory_order_relaxed);
  atomic_store_explicit(&t->counters.errors, 0, memory_order_relaxed);
  atomic_store_explicit(&t->counters.position, -1, memory_order_relaxed);
  atomic_store_explicit(&t->counters.quiet_from, now, memory_order_relaxed);
  t->from_ns = t->until_ns = now;
  t->busy_ns = t->short_reads = 0;
  t->slow_above = t->max_slowest > 0 ? -1 : INT64_MAX;
  t->kept_failures = t->kept_slowest = t->kept_stalls = 0;
  histogram_reset(&t->latency);
  series_begin(&t->series, now);
}

/* Keeps the read among the slowest. It looks at all of them, which is rare: among n reads in random
   order one is slower than the k slowest so far some k * ln(n / k) times. */
void tally_slow(struct tally *t, int64_t now, int64_t offset, int64_t ns) {
  unsigned place = t->kept_slowest;
  if (place < t->max_slowest) {
    t->kept_slowest++;
  } else {
    place = 0;
    for (unsigned i = 1; i < t->max_slowest; i++)
      if (t->slowest[i].ns < t->slowest[place].ns)
        place = i;
  }
  t->slowest[place] = (struct slow){offset, ns, now};
  if (t->kept_slowest < t->max_slowest)
    return;
  t->slow_above = t->slowest[0].ns;
  for (unsigned i = 1; i < t->max_slowest; i++)
    if (t->slowest[i].ns < t->slow_above)
      t->slow_above = t->slowest[i].ns;
}

void tally_failure(struct tally *t, int64_t now, int64_t offset, uint32_t length, int code,
                   int64_t ns) {
  uint64_t n = counter_get(&t->counters.errors);
  if (n == t->kept_failures && n < t->max_failures)
    t->failures[t->kept_failures++] = (struct failure){offset, length, code, ns, now};
  counter_add(&t->counters.errors, 1);
  atomic_store_explicit(&t->counters.position, offset, memory_order_relaxed);
  t->until_ns = now;
  t->busy_ns += (uint64_t)ns;
  if (now > t->series.end_ns)
    series_advance(&t->series, now);
}

void tally_take_back(struct tally *t, uint64_t n) {
  uint64_t errors = counter_get(&t->counters.errors) - n;
  atomic_store_explicit(&t->counters.errors, errors, memory_order_relaxed);
  if (errors < t->kept_failures)
    t->kept_failures = (unsigned)errors;
}

void tally_stall(struct tally *t, int64_t at_ns, int64_t ns, int64_t offset) {
  if (t->kept_stalls < TALLY_STALLS)
    t->stalls[t->kept_stalls++] = (struct stall){at_ns, ns, offset};
}
