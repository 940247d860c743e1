/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SCSI commands, ATA PASS-THROUGH among them, by the SG_IO ioctl; see transport.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <scsi/sg.h>
#include <string.h>
#include <sys/ioctl.h>

#include "transport.h"

void sg_carry(struct transport *t, struct exchange *x) {
  struct sg_io_hdr header = {
      .interface_id = 'S',
      .dxfer_direction = x->direction == EXCHANGE_IN    ? SG_DXFER_FROM_DEV
                         : x->direction == EXCHANGE_OUT ? SG_DXFER_TO_DEV
                                                        : SG_DXFER_NONE,
      .cmd_len = x->cdb_length,
      .mx_sb_len = sizeof x->sense,
      .dxfer_len = x->length,
      .dxferp = x->data,
      .cmdp = x->cdb,
      .sbp = x->sense,
      .timeout = x->timeout_ms,
  };
  memset(x->sense, 0, sizeof x->sense);
  x->status = x->host = x->driver = x->sense_length = x->result = 0;
  x->transferred = 0;
  if (ioctl(t->fd, SG_IO, &header) != 0) {
    x->result = (uint8_t)errno;
    return;
  }
  x->status = header.status;
  /* Host codes are 8 bits wide; of the driver's byte the upper half was a suggestion, long ago. */
  x->host = (uint8_t)header.host_status;
  x->driver = header.driver_status & 0x0f;
  x->sense_length = header.sb_len_wr <= sizeof x->sense ? header.sb_len_wr : sizeof x->sense;
  /* Some bridges get the rest wrong, to beyond what was asked for. */
  if (header.resid <= 0)
    x->transferred = x->length;
  else if ((uint32_t)header.resid < x->length)
    x->transferred = x->length - (uint32_t)header.resid;
}
