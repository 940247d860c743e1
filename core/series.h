/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was done in each interval of a job's counted part.  The number of intervals is bounded: when
   all are used, neighbours are merged in pairs and the interval doubles. */
#ifndef HDD_SERIES_H
#define HDD_SERIES_H

#include <stdbool.h>
#include <stdint.h>

/* From its begin on, without it, to its end and with it: the last completion of all is in the
   last. */
struct interval {
  uint64_t ios, bytes;
  uint64_t latency_sum, latency_max; /* ns */
  int64_t position;                  /* byte offset of the last completion; -1: none */
};

struct series {
  struct interval *intervals; /* owned; `capacity` of them, zeroed as they are reached */
  unsigned capacity, used;    /* used: intervals begun, at least 1 */
  int64_t start_ns, end_ns;   /* of the series; end_ns: of the last interval, as now_ns */
  int64_t length_ns;          /* of an interval */
};

/* Returns 0 or ENOMEM.  `capacity` is even and at least 2. */
int series_open(struct series *s, unsigned capacity, int64_t length_ns);

/* Frees the intervals.  Harmless the second time. */
void series_close(struct series *s);

/* The series begins (again) at `now`. */
void series_begin(struct series *s, int64_t now);

/* Moves on to the interval that holds `now`. */
void series_advance(struct series *s, int64_t now);

/* Counts a completion at `now`.  In the hot loop of every job. */
static inline void series_add(struct series *s, int64_t now, int64_t position, uint64_t bytes,
                              uint64_t latency) {
  if (now > s->end_ns)
    series_advance(s, now);
  struct interval *i = &s->intervals[s->used - 1];
  i->ios++;
  i->bytes += bytes;
  i->latency_sum += latency;
  if (latency > i->latency_max)
    i->latency_max = latency;
  i->position = position;
}

/* Half the width of the 95 % confidence interval of the I/Os per second, by batch means over the
   whole intervals that ended before `now`: they are merged into 20 to 39 batches, long enough for a
   queue's memory to fade, and the batches' means taken as independent (Law, "Simulation Modeling
   and Analysis", 9.5.3).  Returns false while there are fewer than 20 whole intervals. */
bool series_confidence(const struct series *s, int64_t now, double *mean_iops, double *half_width);

#endif
