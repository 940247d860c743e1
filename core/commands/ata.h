/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ATA commands inside SCSI ones (SAT): a task file into a command block of 16 or 12 bytes and back.
   Plain functions of bytes. */
#ifndef HDD_ATA_H
#define HDD_ATA_H

#include <stdbool.h>

#include "exchange.h"

enum ata_protocol { ATA_NON_DATA = 3, ATA_PIO_IN = 4, ATA_PIO_OUT = 5, ATA_DMA = 6 };

struct ata_command {
  uint8_t protocol;
  uint8_t command, device;
  uint16_t features, count;
  uint64_t lba;   /* 28 or 48 bits */
  bool extended;  /* a 48 bit command */
  bool registers; /* they are wanted back (CK_COND) */
  bool to_device; /* direction of DMA */
};

/* Writes the command block into `x`, with its direction; the length is the caller's.  `form` is 16
   or 12 bytes.  False when the 12 byte form cannot carry it. */
bool ata_pack(const struct ata_command *c, int form, struct exchange *x);

/* Reads a command block; false when it is no ATA PASS-THROUGH, or one cut short. */
bool ata_unpack(const struct exchange *x, struct ata_command *c);

#endif
