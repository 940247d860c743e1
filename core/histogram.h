/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latency counts in log-linear buckets: constant memory, mergeable, percentiles within 0.4 %.
   Below 128 ns each value has a bucket; above, every octave is cut into 128.  Values of 2^42 ns
   (73 minutes) and more share the last bucket; minimum, maximum and mean are exact all the same. */
#ifndef HDD_HISTOGRAM_H
#define HDD_HISTOGRAM_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  HISTOGRAM_BITS = 7, /* sub-buckets of an octave: 2^7 */
  HISTOGRAM_SUB = 1 << HISTOGRAM_BITS,
  HISTOGRAM_OCTAVES = 42 - HISTOGRAM_BITS,
  HISTOGRAM_BUCKETS = (HISTOGRAM_OCTAVES + 1) * HISTOGRAM_SUB
};

struct histogram {
  uint64_t count;
  uint64_t min, max;     /* ns; of no meaning while count is 0 */
  unsigned __int128 sum; /* ns: 64 bits would end at some 1e7 reads of half an hour */
  uint64_t bucket[HISTOGRAM_BUCKETS];
};

static inline unsigned histogram_index(uint64_t ns) {
  if (ns < HISTOGRAM_SUB)
    return (unsigned)ns;
  unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - HISTOGRAM_BITS;
  if (shift >= HISTOGRAM_OCTAVES)
    return HISTOGRAM_BUCKETS - 1;
  return ((shift + 1) << HISTOGRAM_BITS) + (unsigned)((ns >> shift) - HISTOGRAM_SUB);
}

/* Adds one latency.  In the hot loop of every job. */
static inline void histogram_add(struct histogram *h, uint64_t ns) {
  h->count++;
  h->sum += ns;
  if (ns < h->min)
    h->min = ns;
  if (ns > h->max)
    h->max = ns;
  h->bucket[histogram_index(ns)]++;
}

/* Forgets all that was added. */
void histogram_reset(struct histogram *h);

/* The latency, ns, that `p` per cent (0 to 100) of the counted I/Os do not exceed: nearest rank,
   the middle of its bucket, never outside [min, max]; 0 gives min and 100 max. count must not be
   0. */
uint64_t histogram_percentile(const struct histogram *h, double p);

/* Pushes a new, empty Histogram object and returns what it holds. */
struct histogram *histogram_push(lua_State *L);

/* Is there a Histogram at `index` of the stack? */
bool histogram_is(lua_State *L, int index);

/* The Histogram at `index` of the stack, or raises. */
struct histogram *histogram_check(lua_State *L, int index);

#endif
