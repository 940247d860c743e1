/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An io_uring with its buffers, set up as well as the kernel allows: what it does not allow is left
   out and noted, never silently different.  Whoever opens a ring is the thread that uses and closes
   it (SINGLE_ISSUER demands it). */
#ifndef HDD_RING_H
#define HDD_RING_H

#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>

enum ring_note {
  RING_NO_SINGLE_ISSUER = 1 << 0,
  RING_NO_TASKRUN = 1 << 1, /* neither COOP_TASKRUN nor DEFER_TASKRUN as asked */
  RING_NO_FIXED_BUFFERS = 1 << 2,
  RING_NO_FIXED_FILE = 1 << 3,
};

/* How patient a job or a queue is with the kernel. */
enum {
  RING_AGAIN_MOST = 100,     /* times that one read is tried again at its asking (EAGAIN, EINTR) */
  RING_SHORTAGES_MOST = 500, /* calls in a row without resources (EAGAIN, EBUSY), some ms each */
  RING_DRAIN_S = 2 /* for what is in flight at the end: a stuck drive never completes it */
};

struct ring_wish {
  int fd;
  unsigned depth;      /* reads in flight at most; as many buffers */
  uint32_t block_size; /* bytes of a buffer */
  bool defer;          /* DEFER_TASKRUN: most I/Os a second, completions seen later */
  bool registered;     /* file and buffers */
};

struct ring {
  struct io_uring uring;
  char *buffers;
  size_t buffer_bytes; /* of all of them */
  uint32_t block_size;
  int file; /* for an SQE: the index of the registered file, or the descriptor */
  bool fixed_file, fixed_buffers;
  unsigned notes;    /* enum ring_note, what was left out */
  int buffers_error; /* why the buffers are not registered, errno value */
};

/* Returns 0, or an errno value with `*call` naming what failed. */
int ring_open(struct ring *r, const struct ring_wish *wish, const char **call);

/* Nothing may be in flight: the kernel writes to the buffers until its last completion. */
void ring_close(struct ring *r);

/* Winds the submission queue back over what the kernel did not take, which so never happened. */
void ring_forget(struct ring *r);

/* The buffer of a slot. */
static inline char *ring_buffer(const struct ring *r, unsigned slot) {
  return r->buffers + (size_t)slot * r->block_size;
}

/* Queues a read into buffer `slot`, `skip` bytes from its start. There is always room: the ring has
   at least `depth` entries. */
static inline void ring_read(struct ring *r, unsigned slot, uint32_t skip, uint32_t length,
                             int64_t offset) {
  struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);
  char *buffer = ring_buffer(r, slot) + skip;
  if (r->fixed_buffers)
    io_uring_prep_read_fixed(sqe, r->file, buffer, length, (uint64_t)offset, (int)slot);
  else
    io_uring_prep_read(sqe, r->file, buffer, length, (uint64_t)offset);
  if (r->fixed_file)
    sqe->flags |= IOSQE_FIXED_FILE;
  sqe->user_data = slot;
}

/* Queues a write of buffer `slot`, as ring_read. */
static inline void ring_write(struct ring *r, unsigned slot, uint32_t skip, uint32_t length,
                              int64_t offset) {
  struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);
  char *buffer = ring_buffer(r, slot) + skip;
  if (r->fixed_buffers)
    io_uring_prep_write_fixed(sqe, r->file, buffer, length, (uint64_t)offset, (int)slot);
  else
    io_uring_prep_write(sqe, r->file, buffer, length, (uint64_t)offset);
  if (r->fixed_file)
    sqe->flags |= IOSQE_FIXED_FILE;
  sqe->user_data = slot;
}

/* Queues a flush of the drive's cache, and of what the kernel still has of a file; `tag` comes back
   with its completion. */
static inline void ring_flush(struct ring *r, unsigned tag) {
  struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);
  io_uring_prep_fsync(sqe, r->file, 0);
  if (r->fixed_file)
    sqe->flags |= IOSQE_FIXED_FILE;
  sqe->user_data = tag;
}

/* The slot of the `i`th read that is queued and that the kernel has not taken; there are
   io_uring_sq_ready of them. */
static inline unsigned ring_queued_slot(const struct ring *r, unsigned i) {
  const struct io_uring_sq *sq = &r->uring.sq;
  return (unsigned)sq->sqes[(*sq->khead + i) & *sq->kring_mask].user_data;
}

/* Why an io_uring call failed and what to do about it, as a sentence of at most `size` bytes. */
void ring_explain(const char *call, int code, char *text, size_t size);

#endif
