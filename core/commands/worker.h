/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands block in the kernel, for minutes when a drive is stuck: so each drive has a thread that
   carries them, one at a time and in the order in which they were given, whoever gives them. The
   caller waits for a descriptor, as long as it likes; the answer comes whether it still waits or
   not. */
#ifndef HDD_WORKER_H
#define HDD_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "transport.h"

/* A command on its way: shared by its Lua object and the worker. */
struct request {
  _Atomic int references;
  _Atomic bool done; /* the exchange has its answer, and nobody writes to it any more */
  int done_fd;       /* an eventfd: readable from then on */
  struct transport *transport;
  struct recording *recorder; /* NULL: none */
  struct exchange exchange;
  struct request *next;
  uint8_t data[]; /* the exchange's */
};

struct worker;

/* A share in the worker of a drive, started when it is the first.  `number` 0: one of its own.
   Returns 0 or an errno value. */
int worker_open(dev_t number, struct worker **w);

/* Gives it back; with the last share the thread ends, as soon as nothing is on its way. */
void worker_close(struct worker *w);

/* A request with room for `length` bytes; NULL with errno set. */
struct request *request_new(struct transport *t, uint32_t length);
void request_release(struct request *r);

/* Hands it over. */
void worker_submit(struct worker *w, struct request *r);

#endif
