/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A way to a drive: command in; bytes, status, sense data or registers, and duration out.  Through
   SG_IO, the NVMe admin ioctl, or a recording that is replayed: who asks cannot tell them apart. */
#ifndef HDD_TRANSPORT_H
#define HDD_TRANSPORT_H

#include <stdatomic.h>
#include <sys/types.h>

#include "exchange.h"
#include "permitted.h"
#include "recording.h"

/* Shared by its Lua object and by each command on its way; the last one closes. */
struct transport {
  _Atomic int references;
  enum permission permission;
  uint8_t kind; /* EXCHANGE_SCSI or EXCHANGE_NVME: what it can carry; 0: a recording, both */
  dev_t number; /* of the drive; 0: not a device */
  int fd;
  struct recording *recorder; /* what is submitted from now on is added to it; NULL: none */
  struct recording *replayed; /* answers come from it; NULL: from the drive */
  uint32_t position;          /* of the recorded exchange after the one answered last */
};

/* Carry one exchange, filling in its answer.  Blocks, for up to the command's time-out and more. */
void transport_carry(struct transport *t, struct exchange *x);

struct transport *transport_new(void); /* NULL: no memory */
struct transport *transport_share(struct transport *t);
void transport_release(struct transport *t);

/* Each kind's own part of transport_carry. */
void sg_carry(struct transport *t, struct exchange *x);
void nvme_carry(struct transport *t, struct exchange *x);
void replay_carry(struct transport *t, struct exchange *x);

#endif
