/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the next read goes.  All offsets and lengths are bytes inside [start, end); a block that
   does not fit before the end of the range (or of a zone) is shortened, never left out. */
#ifndef HDD_PATTERN_H
#define HDD_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "feed.h"

enum pattern_kind {
  PATTERN_SEQUENTIAL,
  PATTERN_RANDOM,
  PATTERN_STRIDED,
  PATTERN_LIST,
  PATTERN_FUNCTION
};

/* Offsets that a Lua function is ahead of its job at most. */
enum { PATTERN_RING = 8192 };

/* What a function pattern writes when the Lua function returned nil: no more will come. */
#define PATTERN_NO_MORE UINT64_MAX

struct pattern {
  enum pattern_kind kind;
  bool loop; /* start over at the end of the range or list */
  int64_t start, end;
  uint32_t block;
  int64_t next;          /* sequential, strided: the next offset */
  int64_t zone_end;      /* strided: end of the zone being read */
  int64_t zone, skip;    /* strided: bytes read, bytes left out after them */
  uint64_t blocks;       /* random: whole blocks in the range */
  uint64_t random_state; /* random: splitmix64's */
  int64_t *list;         /* list: owned */
  uint64_t list_length, list_next;
  struct feed offsets; /* function: filled by the Lua thread */
  bool no_more;        /* function: it has said so */
};

enum pattern_answer { PATTERN_GIVES, PATTERN_ENDS, PATTERN_WAITS };

/* Uniform in [0, n): splitmix64 (Steele, Lea, Flood 2014) and Lemire's multiplication; the same
   everywhere for the same seed.  Its bias is below n / 2^64. */
static inline uint64_t random_below(uint64_t *state, uint64_t n) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (uint64_t)(((unsigned __int128)z * n) >> 64);
}

/* pattern_next for all patterns but random. */
enum pattern_answer pattern_next_other(struct pattern *p, int64_t *offset, uint32_t *length);

/* The next read: PATTERN_GIVES and its place, PATTERN_ENDS, or PATTERN_WAITS when the Lua thread
   has not yet said. */
static inline enum pattern_answer pattern_next(struct pattern *p, int64_t *offset,
                                               uint32_t *length) {
  if (p->kind != PATTERN_RANDOM)
    return pattern_next_other(p, offset, length);
  *offset = p->start + (int64_t)(random_below(&p->random_state, p->blocks) * p->block);
  *length = p->block;
  return PATTERN_GIVES;
}

/* Frees what the pattern owns.  Harmless the second time. */
void pattern_close(struct pattern *p);

#endif
