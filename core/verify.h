/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a verify has found: how many blocks of which kind are not as they were written, and runs of
   neighbouring blocks that share a fate.  Its size is set when it is opened.  One thread writes;
   `mismatches` alone may be read by another meanwhile. */
#ifndef HDD_VERIFY_H
#define HDD_VERIFY_H

#include <lua.h>
#include <stdatomic.h>
#include <stdint.h>

#include "stamp.h"

/* Blocks in a row that became the same: zeroes, say, or the blocks of one misdirected write. */
struct mismatch_run {
  int64_t offset;                  /* bytes */
  uint64_t blocks, bits;           /* bits: those that are wrong, of all of them */
  struct stamp_finding what;       /* of the first block */
  uint8_t expected[16], found[16]; /* from the first wrong byte of the first block on */
  uint8_t sample;                  /* bytes in them */
};

struct verification {
  struct stamper stamper;
  _Atomic uint64_t mismatches; /* blocks */
  uint64_t kinds[STAMP_KINDS];
  struct mismatch_run *runs; /* owned */
  unsigned max_runs, n_runs;
  uint64_t left_out; /* blocks in no run, as the list was full */
  void *scratch;     /* owned: two blocks for stamp_judge */
};

/* `v->stamper` is filled in. Returns 0 or ENOMEM. */
int verification_open(struct verification *v, unsigned max_runs);
/* Harmless the second time, and on zeroes. */
void verification_close(struct verification *v);

/* Verifies what was read from `offset` on: whole blocks, in a buffer that is aligned to 16 bytes.
   Returns how many of them were wrong. */
uint64_t verification_look(struct verification *v, const void *buffer, int64_t offset,
                           size_t bytes);

/* Sets mismatch_blocks, mismatches and mismatches_left_out in the table on top of the stack. */
void verification_push(lua_State *L, struct verification *v);

#endif
