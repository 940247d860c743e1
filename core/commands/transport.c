/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the transports have in common; see transport.h. */
#define _GNU_SOURCE
#include "transport.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"

struct transport *transport_new(void) {
  struct transport *t = calloc(1, sizeof *t);
  if (t) {
    t->references = 1;
    t->fd = -1;
  }
  return t;
}

struct transport *transport_share(struct transport *t) {
  atomic_fetch_add_explicit(&t->references, 1, memory_order_relaxed);
  return t;
}

void transport_release(struct transport *t) {
  if (atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) > 1)
    return;
  if (t->fd >= 0)
    close(t->fd);
  if (t->recorder)
    recording_release(t->recorder);
  if (t->replayed)
    recording_release(t->replayed);
  free(t);
}

void transport_carry(struct transport *t, struct exchange *x) {
  int64_t before = now_ns();
  x->microseconds = 0;
  if (t->replayed)
    replay_carry(t, x);
  else if (x->kind == EXCHANGE_NVME)
    nvme_carry(t, x);
  else
    sg_carry(t, x);
  if (!t->replayed) /* a replayed drive takes as long as the recorded one did */
    x->microseconds = (uint32_t)((now_ns() - before) / 1000);
  if (x->transferred > x->length)
    x->transferred = x->length;
  if (x->direction == EXCHANGE_IN)
    memset(x->data + x->transferred, 0, x->length - x->transferred);
}
