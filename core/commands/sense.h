/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came back: sense data in either format, the ATA registers in it, and what to make of an
   answer as a whole.  Plain functions of bytes that may be anything. */
#ifndef HDD_SENSE_H
#define HDD_SENSE_H

#include <stdbool.h>
#include <stddef.h>

#include "exchange.h"

struct ata_registers {
  uint8_t error, status, device;
  bool extended; /* of a 48 bit command */
  bool cut;      /* fixed format: the upper halves are not 0, and not told */
  uint16_t count;
  uint64_t lba; /* 24 bits, or 48; of a 28 bit command bits 27:24 are in `device` */
};

struct sense {
  bool valid;
  bool deferred; /* of an earlier command */
  bool fixed;    /* in fixed format */
  uint8_t key, asc, ascq;
  bool has_registers;
  struct ata_registers registers;
};

/* Takes what can be trusted. */
void sense_parse(const uint8_t *bytes, size_t length, bool ata, struct sense *s);

/* What became of a command, by the name of the reason. */
enum verdict {
  ANSWERED,        /* all is well */
  ABORTED,         /* the drive does not have this: EOPNOTSUPP */
  NO_PASS_THROUGH, /* the bridge or controller does not hand it on: ENOSYS */
  NOT_DRIVE,       /* the kernel's driver has no such call: ENOTTY */
  NO_RIGHT,        /* the kernel refuses it to this user: EPERM */
  TIMED_OUT,       /* ETIMEDOUT */
  GONE,            /* ENODEV */
  NO_MEDIUM,       /* ENOMEDIUM */
  BUSY,            /* or not ready yet, or something has changed: worth trying again: EBUSY */
  SHORT,           /* fewer bytes came than the command promises: EIO */
  FAILED,          /* the drive or the way to it failed: EIO */
  VERDICTS
};

extern const struct verdict_name {
  const char *name;
  int code; /* errno value; 0: answered */
} verdict_names[VERDICTS];

/* `text` becomes a few words on what was seen ("sense 5/20/00"); NULL: not wanted. */
enum verdict verdict_of(const struct exchange *x, struct sense *s, char *text, size_t room);

#endif
