/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one clock that everything is timed with: CLOCK_MONOTONIC, in nanoseconds.  It neither jumps
   with the wall clock nor stops while we look; reading it costs some 20 ns through the vDSO. */
#ifndef HDD_CLOCK_H
#define HDD_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

static inline int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* `ns` as a relative time-out; negative counts as none left. */
static inline struct timespec timespec_ns(int64_t ns) {
  if (ns < 0)
    ns = 0;
  return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

#endif
