/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Setting up and tearing down an io_uring; see ring.h. */
#define _GNU_SOURCE
#include "ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* The ring with the best flags that this kernel knows: SINGLE_ISSUER and DEFER_TASKRUN came with
   6.0 and 6.1, COOP_TASKRUN with 5.19.  Unknown flags are EINVAL. */
static int open_with_flags(struct ring *r, const struct ring_wish *wish) {
  const unsigned taskrun = wish->defer ? IORING_SETUP_DEFER_TASKRUN : IORING_SETUP_COOP_TASKRUN;
  const struct {
    unsigned flags, notes;
  } attempts[] = {
      {IORING_SETUP_SINGLE_ISSUER | taskrun, 0},
      {IORING_SETUP_COOP_TASKRUN, RING_NO_SINGLE_ISSUER | (wish->defer ? RING_NO_TASKRUN : 0)},
      {0, RING_NO_SINGLE_ISSUER | RING_NO_TASKRUN},
  };
  int rc = -EINVAL;
  for (unsigned i = 0; i < sizeof attempts / sizeof *attempts && rc == -EINVAL; i++) {
    struct io_uring_params params = {.flags = attempts[i].flags};
    rc = io_uring_queue_init_params(wish->depth, &r->uring, &params);
    r->notes = attempts[i].notes;
    /* Waits with a time-out: Linux 5.11. */
    if (rc == 0 && !(params.features & IORING_FEAT_EXT_ARG)) {
      io_uring_queue_exit(&r->uring);
      rc = -ENOSYS;
    }
  }
  return -rc;
}

static int map_buffers(struct ring *r, const struct ring_wish *wish) {
  r->block_size = wish->block_size;
  r->buffer_bytes = (size_t)wish->depth * wish->block_size;
  r->buffers =
      mmap(NULL, r->buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (r->buffers == MAP_FAILED)
    return errno;
  /* Large requests in small pages are cut up by a drive's limit on segments. */
  if (r->buffer_bytes >= (2u << 20))
    (void)madvise(r->buffers, r->buffer_bytes, MADV_HUGEPAGE);
  if (madvise(r->buffers, r->buffer_bytes, MADV_POPULATE_WRITE) != 0 && errno == ENOMEM)
    return ENOMEM; /* EINVAL: before Linux 5.14, the first reads fault the pages in */
  return 0;
}

static void register_all(struct ring *r, const struct ring_wish *wish) {
  struct iovec *parts = calloc(wish->depth, sizeof *parts);
  int rc = parts ? 0 : -ENOMEM;
  for (unsigned i = 0; rc == 0 && i < wish->depth; i++)
    parts[i] = (struct iovec){r->buffers + (size_t)i * wish->block_size, wish->block_size};
  if (rc == 0)
    rc = io_uring_register_buffers(&r->uring, parts, wish->depth);
  free(parts);
  r->fixed_buffers = rc == 0;
  if (rc != 0) {
    r->notes |= RING_NO_FIXED_BUFFERS;
    r->buffers_error = -rc;
  }
  r->fixed_file = io_uring_register_files(&r->uring, &wish->fd, 1) == 0;
  if (r->fixed_file)
    r->file = 0;
  else
    r->notes |= RING_NO_FIXED_FILE;
}

/* Each use of a ring happens before the next ring at the same address is used. The kernel sees to
   that; ThreadSanitizer does not see liburing's own mmap and munmap, and is told in this way. */
static atomic_uint turn;

int ring_open(struct ring *r, const struct ring_wish *wish, const char **call) {
  *r = (struct ring){.file = wish->fd};
  *call = "io_uring_setup";
  int code = open_with_flags(r, wish);
  if (code != 0)
    return code;
  atomic_fetch_add(&turn, 1);
  *call = "mmap of the read buffers";
  code = map_buffers(r, wish);
  if (code != 0) {
    if (r->buffers != MAP_FAILED)
      munmap(r->buffers, r->buffer_bytes);
    io_uring_queue_exit(&r->uring);
    return code;
  }
  (void)io_uring_register_ring_fd(&r->uring); /* spares a descriptor look-up a call, no more */
  if (wish->registered)
    register_all(r, wish);
  return 0;
}

void ring_close(struct ring *r) {
  atomic_fetch_add(&turn, 1);
  io_uring_queue_exit(&r->uring);
  munmap(r->buffers, r->buffer_bytes);
  r->buffers = NULL;
}

/* Allowed as no thread of the kernel reads the queue (no SQPOLL): it looks at it in our calls
   alone. */
void ring_forget(struct ring *r) {
  struct io_uring_sq *sq = &r->uring.sq;
  unsigned head = *sq->khead;
  sq->sqe_head = sq->sqe_tail = head;
  io_uring_smp_store_release(sq->ktail, head);
}

static int disabled_sysctl(void) {
  int value = 0;
  FILE *f = fopen("/proc/sys/kernel/io_uring_disabled", "re");
  if (!f)
    return 0;
  if (fscanf(f, "%d", &value) != 1)
    value = 0;
  fclose(f);
  return value;
}

void ring_explain(const char *call, int code, char *text, size_t size) {
  int disabled = disabled_sysctl();
  struct rlimit limit = {0};
  if (code == EPERM && disabled > 0)
    snprintf(text, size,
             "%s: %s: the kernel forbids io_uring to %s (kernel.io_uring_disabled = %d): ask the "
             "administrator for `sysctl kernel.io_uring_disabled=0`%s",
             call, strerror(code), disabled == 1 ? "ordinary users" : "everybody", disabled,
             disabled == 1 ? ", or run as root" : "");
  else if (code == EPERM || code == EACCES)
    snprintf(text, size,
             "%s: %s: a filter forbids io_uring here, as containers' seccomp profiles do: run "
             "outside of the container or with a profile that allows the io_uring calls",
             call, strerror(code));
  else if (code == ENOSYS)
    snprintf(text, size,
             "%s: %s: this kernel has no io_uring or an old one (before Linux 5.11), or a "
             "container's filter hides it",
             call, strerror(code));
  else if (code == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
    snprintf(text, size,
             "%s: %s: lower depth or block_size, or raise the limit on locked memory (ulimit -l; "
             "now %lld KiB)",
             call, strerror(code), (long long)(limit.rlim_cur / 1024));
  else
    snprintf(text, size, "%s: %s", call, strerror(code));
}
