/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time series of a job; see series.h. */
#include "series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "clock.h"

enum { FEWEST_BATCHES = 20 };

static const struct interval EMPTY = {.position = -1};

int series_open(struct series *s, unsigned capacity, int64_t length_ns) {
  *s = (struct series){.capacity = capacity, .length_ns = length_ns};
  s->intervals = malloc(capacity * sizeof *s->intervals);
  return s->intervals ? 0 : ENOMEM;
}

void series_close(struct series *s) {
  free(s->intervals);
  s->intervals = NULL;
}

void series_begin(struct series *s, int64_t now) {
  s->start_ns = now;
  s->end_ns = now + s->length_ns;
  s->used = 1;
  s->intervals[0] = EMPTY;
}

/* Merges neighbours in pairs; all of the intervals are used, and their number is even. */
static void halve(struct series *s) {
  for (unsigned i = 0; i < s->used / 2; i++) {
    struct interval a = s->intervals[2 * i], b = s->intervals[2 * i + 1];
    s->intervals[i] = (struct interval){
        .ios = a.ios + b.ios,
        .bytes = a.bytes + b.bytes,
        .latency_sum = a.latency_sum + b.latency_sum,
        .latency_max = a.latency_max > b.latency_max ? a.latency_max : b.latency_max,
        .position = b.position >= 0 ? b.position : a.position,
    };
  }
  s->used /= 2;
  s->length_ns *= 2;
  s->end_ns = s->start_ns + (int64_t)s->used * s->length_ns;
}

void series_advance(struct series *s, int64_t now) {
  while (now > s->end_ns) {
    if (s->used == s->capacity) {
      halve(s);
      continue;
    }
    s->intervals[s->used++] = EMPTY;
    s->end_ns += s->length_ns;
  }
}

/* Student's t at 97.5 %, by degrees of freedom 19 to 38. */
static double t_quantile(unsigned freedom) {
  static const double t[] = {2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
                             2.045, 2.042, 2.040, 2.037, 2.035, 2.032, 2.030, 2.028, 2.026, 2.024};
  /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): see above */
  return t[freedom - (FEWEST_BATCHES - 1)];
}

bool series_confidence(const struct series *s, int64_t now, double *mean_iops, double *half_width) {
  unsigned whole = now >= s->end_ns ? s->used : s->used - 1;
  unsigned size = whole / FEWEST_BATCHES;
  if (size == 0)
    return false;
  unsigned batches = whole / size; /* 20 to 39 */
  if (batches > 2 * FEWEST_BATCHES - 1)
    batches = 2 * FEWEST_BATCHES - 1;
  unsigned first = whole - batches * size; /* what does not fill a batch is the oldest */
  double seconds = (double)size * (double)s->length_ns / (double)NS_PER_S;
  double sum = 0, squares = 0;
  for (unsigned b = 0; b < batches; b++) {
    uint64_t ios = 0;
    for (unsigned i = 0; i < size; i++)
      ios += s->intervals[first + b * size + i].ios;
    double rate = (double)ios / seconds;
    sum += rate;
    squares += rate * rate;
  }
  double n = batches, mean = sum / n;
  double variance = (squares - sum * mean) / (n - 1);
  *mean_iops = mean;
  *half_width = variance > 0 ? t_quantile(batches - 1) * sqrt(variance / n) : 0;
  return true;
}
