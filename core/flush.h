/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cache flushes of a job that writes: when one is due, and which range one that failed may
   concern.  A write that was answered may still be in the drive's cache; one that was flushed is on
   the medium, if the drive does what it says.  The job's thread alone uses it, and Lua when that
   has finished. */
#ifndef HDD_FLUSH_H
#define HDD_FLUSH_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

enum { FLUSH_FAILURES = 64, FLUSH_ANSWER_S = 10 };

struct flush_failure {
  int code;         /* errno value */
  int64_t from, to; /* bytes: all that was written since the last good flush lies within */
  int64_t at_ns;
};

struct flusher {
  uint64_t every;      /* bytes; UINT64_MAX: at the end only */
  uint64_t issued;     /* bytes that had been issued at the last flush */
  int64_t from, to;    /* bytes: the range of what was written since the last good one; from > to:
                            nothing was */
  bool due, out, last; /* nothing is written until one has been answered; one is in flight */
  int last_code;       /* errno value of the last one; 0: it was good */
  uint64_t flushes, errors;
  struct flush_failure failures[FLUSH_FAILURES];
  unsigned kept_failures;
};

void flusher_begin(struct flusher *f);

/* Notes that `length` bytes at `offset` go to the drive. */
static inline void flusher_wrote(struct flusher *f, int64_t offset, uint32_t length) {
  if (offset < f->from)
    f->from = offset;
  if (offset + length > f->to)
    f->to = offset + length;
}

static inline bool flusher_dirty(const struct flusher *f) {
  return f->from < f->to;
}

/* Notes the answer of a flush, when `issued` bytes had been issued in all. */
void flusher_ended(struct flusher *f, int code, uint64_t issued, int64_t now);

/* Sets flushes, flush_errors, flush_failures and flush_error in the table on top of the stack;
   `begin_ns` is what times count from. */
void flusher_push(lua_State *L, const struct flusher *f, int64_t begin_ns);

#endif
