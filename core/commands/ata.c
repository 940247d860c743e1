/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ATA PASS-THROUGH command blocks; see ata.h. */
#include "ata.h"

#include <string.h>

enum {
  PASS_THROUGH_16 = 0x85,
  PASS_THROUGH_12 = 0xa1, /* BLANK to an optical drive */
  CK_COND = 0x20,
  FROM_DEVICE = 0x08,
  LENGTH_IN_BLOCKS = 0x04,
  LENGTH_IN_COUNT = 0x02
};

static uint8_t transfer(const struct ata_command *c) {
  uint8_t flags = c->registers ? CK_COND : 0;
  if (c->protocol == ATA_NON_DATA)
    return flags;
  flags |= LENGTH_IN_BLOCKS | LENGTH_IN_COUNT;
  return c->protocol == ATA_PIO_OUT || c->to_device ? flags : flags | FROM_DEVICE;
}

bool ata_pack(const struct ata_command *c, int form, struct exchange *x) {
  uint8_t lba[6];
  for (int i = 0; i < 6; i++)
    lba[i] = (uint8_t)(c->lba >> 8 * i);
  uint8_t device = c->device;
  if (!c->extended) /* LBA 27:24 are in the device register */
    device = (uint8_t)((device & 0xf0) | (lba[3] & 0x0f));
  x->kind = EXCHANGE_SCSI;
  x->direction = c->protocol == ATA_NON_DATA                  ? EXCHANGE_NO_DATA
                 : c->protocol == ATA_PIO_OUT || c->to_device ? EXCHANGE_OUT
                                                              : EXCHANGE_IN;
  memset(x->cdb, 0, sizeof x->cdb);
  uint8_t protocol = (uint8_t)(c->protocol << 1), features = (uint8_t)c->features,
          count = (uint8_t)c->count;
  if (form == 12) {
    const uint8_t cdb[] = {PASS_THROUGH_12, protocol, transfer(c), features,   count, lba[0],
                           lba[1],          lba[2],   device,      c->command, 0,     0};
    if (c->extended || c->features > 0xff || c->count > 0xff)
      return false;
    memcpy(x->cdb, cdb, sizeof cdb);
    x->cdb_length = sizeof cdb;
    return true;
  }
  const uint8_t cdb[] = {PASS_THROUGH_16, (uint8_t)(protocol | (c->extended ? 1 : 0)),
                         transfer(c),     (uint8_t)(c->features >> 8),
                         features,        (uint8_t)(c->count >> 8),
                         count,           c->extended ? lba[3] : 0,
                         lba[0],          c->extended ? lba[4] : 0,
                         lba[1],          c->extended ? lba[5] : 0,
                         lba[2],          device,
                         c->command,      0};
  memcpy(x->cdb, cdb, sizeof cdb);
  x->cdb_length = sizeof cdb;
  return true;
}

bool ata_unpack(const struct exchange *x, struct ata_command *c) {
  const uint8_t *b = x->cdb;
  uint8_t lba[6] = {0};
  if (x->kind != EXCHANGE_SCSI)
    return false;
  *c = (struct ata_command){.protocol = (b[1] >> 1) & 0x0f, .registers = b[2] & CK_COND};
  if (b[0] == PASS_THROUGH_16 && x->cdb_length >= 16) {
    c->extended = b[1] & 1;
    c->features = (uint16_t)(b[3] << 8 | b[4]);
    c->count = (uint16_t)(b[5] << 8 | b[6]);
    lba[3] = b[7], lba[0] = b[8], lba[4] = b[9], lba[1] = b[10], lba[5] = b[11], lba[2] = b[12];
    c->device = b[13];
    c->command = b[14];
    if (!c->extended)
      c->features &= 0xff, c->count &= 0xff, lba[4] = lba[5] = 0, lba[3] = b[13] & 0x0f;
  } else if (b[0] == PASS_THROUGH_12 && x->cdb_length >= 12) {
    c->features = b[3];
    c->count = b[4];
    lba[0] = b[5], lba[1] = b[6], lba[2] = b[7], lba[3] = b[8] & 0x0f;
    c->device = b[8];
    c->command = b[9];
  } else {
    return false;
  }
  c->to_device = c->protocol != ATA_NON_DATA && !(b[2] & FROM_DEVICE);
  for (int i = 0; i < 6; i++)
    c->lba |= (uint64_t)lba[i] << 8 * i;
  return true;
}
