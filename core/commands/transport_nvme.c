/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVMe admin commands by ioctl; see transport.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "bytes.h"
#include "transport.h"

void nvme_carry(struct transport *t, struct exchange *x) {
  const uint8_t *e = x->cdb; /* the submission entry */
  struct nvme_admin_cmd command = {
      .opcode = e[0],
      .flags = e[1],
      .nsid = le32(e + 4),
      .cdw2 = le32(e + 8),
      .cdw3 = le32(e + 12),
      .addr = x->length > 0 ? (uintptr_t)x->data : 0,
      .data_len = x->length,
      .cdw10 = le32(e + 40),
      .cdw11 = le32(e + 44),
      .cdw12 = le32(e + 48),
      .cdw13 = le32(e + 52),
      .cdw14 = le32(e + 56),
      .cdw15 = le32(e + 60),
      .timeout_ms = x->timeout_ms,
  };
  memset(x->sense, 0, sizeof x->sense);
  x->status = x->host = x->driver = x->sense_length = x->result = 0;
  x->transferred = 0;
  int status = ioctl(t->fd, NVME_IOCTL_ADMIN_CMD, &command);
  if (status < 0) {
    x->result = (uint8_t)errno;
    return;
  }
  x->sense_length = NVME_ANSWER;
  put_be16(x->sense, (uint16_t)status);
  put_be32(x->sense + 2, command.result);
  if (status == 0)
    x->transferred = x->length;
}
