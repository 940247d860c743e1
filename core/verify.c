/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks that are not as they were written; see verify.h. */
#include "verify.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

int verification_open(struct verification *v, unsigned max_runs) {
  v->max_runs = max_runs;
  v->runs = malloc((max_runs + 1) * sizeof *v->runs);
  v->scratch = aligned_alloc(64, 2 * (size_t)v->stamper.header.block_size);
  if (v->runs && v->scratch)
    return 0;
  verification_close(v);
  return ENOMEM;
}

void verification_close(struct verification *v) {
  free(v->runs);
  free(v->scratch);
  v->runs = NULL;
  v->scratch = NULL;
}

/* --- runs ---------------------------------------------------------------------------------- */

static int64_t end_of(const struct verification *v, const struct mismatch_run *r) {
  return r->offset + (int64_t)(r->blocks * v->stamper.header.block_size);
}

/* Does the block that became `b`, `blocks` after the one that became `a`, share its fate? */
static bool alike(const struct stamp_finding *a, const struct stamp_finding *b, uint64_t blocks) {
  const struct stamp_header *g = &a->header, *h = &b->header;
  if (a->kind != b->kind || a->stamped != b->stamped)
    return false;
  if (a->kind == STAMP_BIT_ROT)
    return true;
  if (a->stamped)
    return g->drive == h->drive && g->seed == h->seed && g->pass == h->pass &&
           g->lba + blocks == h->lba;
  return a->constant == b->constant && (!a->constant || a->byte == b->byte);
}

/* Puts two neighbouring runs together, if they are. */
static bool joined(const struct verification *v, struct mismatch_run *first,
                   const struct mismatch_run *next) {
  if (end_of(v, first) != next->offset || !alike(&first->what, &next->what, first->blocks))
    return false;
  first->blocks += next->blocks;
  first->bits += next->bits;
  return true;
}

static void drop(struct verification *v, unsigned i) {
  v->runs[i] = v->runs[--v->n_runs];
}

/* The run that begins where run `i` has come to end is put together with it: reads may complete in
   any order. */
static void join_next(struct verification *v, unsigned i) {
  for (unsigned k = 0; k < v->n_runs; k++)
    if (k != i && joined(v, &v->runs[i], &v->runs[k])) {
      drop(v, k);
      return;
    }
}

/* The newest runs are the likeliest neighbours. */
static void keep(struct verification *v, const struct mismatch_run *run) {
  for (unsigned i = v->n_runs; i-- > 0;) {
    struct mismatch_run *r = &v->runs[i], after = *run;
    if (joined(v, r, run)) {
      join_next(v, i);
      return;
    }
    if (joined(v, &after, r)) {
      *r = after;
      return; /* what ends where it begins would have been found above, or will be */
    }
  }
  if (v->n_runs < v->max_runs)
    v->runs[v->n_runs++] = *run;
  else
    v->left_out += run->blocks;
}

static void sample(struct mismatch_run *r, const char *found, const char *expected, size_t size) {
  size_t n = size - r->what.first;
  r->sample = (uint8_t)(n < sizeof r->found ? n : sizeof r->found);
  memcpy(r->found, found + r->what.first, r->sample);
  memcpy(r->expected, expected + r->what.first, r->sample);
}

uint64_t verification_look(struct verification *v, const void *buffer, int64_t offset,
                           size_t bytes) {
  size_t size = v->stamper.header.block_size;
  uint64_t blocks = bytes / size, lba = (uint64_t)offset / size, wrong = 0;
  struct mismatch_run run = {0};
  for (uint64_t n = 0; n < blocks; n++) {
    const char *block = (const char *)buffer + n * size;
    size_t good = stamp_good(&v->stamper, block, lba + n, blocks - n);
    if (good > 0) {
      n += good - 1;
      continue;
    }
    struct mismatch_run one = {.offset = offset + (int64_t)(n * size), .blocks = 1};
    stamp_judge(&v->stamper, block, lba + n, v->scratch, &one.what);
    one.bits = one.what.bits;
    v->kinds[one.what.kind]++;
    wrong++;
    if (run.blocks > 0 && joined(v, &run, &one))
      continue;
    if (run.blocks > 0)
      keep(v, &run);
    sample(&one, block, v->scratch, size);
    run = one;
  }
  if (run.blocks > 0)
    keep(v, &run);
  if (wrong > 0)
    atomic_store_explicit(&v->mismatches,
                          atomic_load_explicit(&v->mismatches, memory_order_relaxed) + wrong,
                          memory_order_relaxed);
  return wrong;
}

/* --- Lua ----------------------------------------------------------------------------------- */

static const char *const names[STAMP_KINDS] = {"bit rot",       "lost write", "misdirected write",
                                               "foreign drive", "zeroes",     "unknown"};

static void set_hex(lua_State *L, const char *key, const uint8_t *bytes, size_t n) {
  static const char digits[] = "0123456789abcdef";
  char text[2 * sizeof((struct mismatch_run *)0)->found];
  for (size_t i = 0; i < n; i++) {
    text[2 * i] = digits[bytes[i] >> 4];
    text[2 * i + 1] = digits[bytes[i] & 15];
  }
  lua_pushlstring(L, text, 2 * n);
  lua_setfield(L, -2, key);
}

static void set_hash(lua_State *L, const char *key, uint64_t hash) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; i++)
    bytes[i] = (uint8_t)(hash >> (56 - 8 * i));
  set_hex(L, key, bytes, sizeof bytes);
}

static void push_found(lua_State *L, const struct stamp_finding *f) {
  const struct stamp_header *h = &f->header;
  lua_createtable(L, 0, 6);
  if (!f->stamped) {
    set_hex(L, "pattern", &f->byte, 1);
    return;
  }
  if (h->lba <= (uint64_t)INT64_MAX / h->block_size)
    set_integer(L, "offset_bytes", h->lba * h->block_size);
  set_integer(L, "lba", h->lba);
  set_integer(L, "pass", h->pass);
  set_integer(L, "seed", h->seed);
  set_integer(L, "block_size", h->block_size);
  set_hash(L, "drive", h->drive);
}

static void push_run(lua_State *L, const struct verification *v, const struct mismatch_run *r) {
  lua_createtable(L, 0, 6);
  set_integer(L, "offset_bytes", (uint64_t)r->offset);
  set_integer(L, "length_bytes", r->blocks * v->stamper.header.block_size);
  lua_pushstring(L, names[r->what.kind]);
  lua_setfield(L, -2, "kind");
  if (r->what.kind == STAMP_BIT_ROT)
    set_integer(L, "bits", r->bits);
  else if (r->what.stamped || r->what.constant) {
    push_found(L, &r->what);
    lua_setfield(L, -2, "found");
  }
  lua_createtable(L, 0, 3);
  set_integer(L, "offset_bytes", (uint64_t)r->offset + r->what.first);
  set_hex(L, "expected", r->expected, r->sample);
  set_hex(L, "found", r->found, r->sample);
  lua_setfield(L, -2, "first");
}

static int by_offset(const void *a, const void *b) {
  const struct mismatch_run *x = a, *y = b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void verification_push(lua_State *L, struct verification *v) {
  lua_createtable(L, 0, STAMP_KINDS);
  set_integer(L, "total", atomic_load(&v->mismatches));
  for (int k = 0; k < STAMP_KINDS; k++)
    if (v->kinds[k] > 0)
      set_integer(L, names[k], v->kinds[k]);
  lua_setfield(L, -2, "mismatch_blocks");
  qsort(v->runs, v->n_runs, sizeof *v->runs, by_offset);
  unsigned kept = 0; /* neighbours that came in an order in which neither saw the other */
  for (unsigned i = 0; i < v->n_runs; i++)
    if (kept == 0 || !joined(v, &v->runs[kept - 1], &v->runs[i]))
      v->runs[kept++] = v->runs[i];
  v->n_runs = kept;
  lua_createtable(L, (int)v->n_runs, 0);
  for (unsigned i = 0; i < v->n_runs; i++) {
    push_run(L, v, &v->runs[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "mismatches");
  set_integer(L, "mismatches_left_out", v->left_out);
}
