/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Log-linear latency histogram: 64 sub-buckets per octave of nanoseconds. */
#ifndef HIST_H
#define HIST_H
#include <stdint.h>
#include <string.h>

#define HIST_BITS 6
#define HIST_SUB (1u << HIST_BITS)
#define HIST_N ((64 - HIST_BITS + 1) * HIST_SUB)

struct hist {
	uint64_t count, sum, min, max;
	uint64_t b[HIST_N];
};

static inline void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

static inline unsigned hist_index(uint64_t ns)
{
	if (ns < HIST_SUB)
		return (unsigned)ns;
	unsigned e = 63u - (unsigned)__builtin_clzll(ns) - HIST_BITS;
	return ((e + 1) << HIST_BITS) + (unsigned)((ns >> e) - HIST_SUB);
}

/* Lower edge of a bucket. */
static inline uint64_t hist_value(unsigned i)
{
	if (i < HIST_SUB)
		return i;
	unsigned e = (i >> HIST_BITS) - 1;
	return (uint64_t)(HIST_SUB + (i & (HIST_SUB - 1))) << e;
}

static inline void hist_add(struct hist *h, uint64_t ns)
{
	h->count++;
	h->sum += ns;
	if (ns < h->min)
		h->min = ns;
	if (ns > h->max)
		h->max = ns;
	h->b[hist_index(ns)]++;
}

static inline uint64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t want = (uint64_t)(q * (double)h->count), seen = 0;
	if (want >= h->count && h->count)
		want = h->count - 1;
	for (unsigned i = 0; i < HIST_N; i++) {
		seen += h->b[i];
		if (seen > want) {
			uint64_t lo = hist_value(i), hi = hist_value(i + 1);
			uint64_t mid = lo + (hi - lo) / 2;
			return mid > h->max ? h->max : mid;
		}
	}
	return h->max;
}
#endif
