/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sense data and verdicts; see sense.h. */
#define _GNU_SOURCE
#include "sense.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../error.h"
#include "ata.h"
#include "bytes.h"

const struct verdict_name verdict_names[VERDICTS] = {
    [ANSWERED] = {"answered", 0},
    [ABORTED] = {"not supported by the drive", EOPNOTSUPP},
    [NO_PASS_THROUGH] = {"no pass-through", ENOSYS},
    [NOT_DRIVE] = {"no such drive", ENOTTY},
    [NO_RIGHT] = {"no permission", EPERM},
    [TIMED_OUT] = {"timed out", ETIMEDOUT},
    [GONE] = {"gone", ENODEV},
    [NO_MEDIUM] = {"no medium", ENOMEDIUM},
    [BUSY] = {"not ready", EBUSY},
    [SHORT] = {"short answer", EIO},
    [FAILED] = {"failed", EIO},
};

/* --- sense data ---------------------------------------------------------------------------- */

/* The ATA Status Return descriptor, wherever it stands among the others. */
static void find_registers(const uint8_t *b, size_t length, struct sense *s) {
  for (size_t at = 8; at + 2 <= length; at += 2 + (size_t)b[at + 1]) {
    const uint8_t *d = b + at;
    if (d[0] != 0x09 || d[1] < 12 || at + 14 > length)
      continue;
    struct ata_registers *r = &s->registers;
    r->extended = d[2] & 1;
    r->error = d[3];
    r->count = d[5];
    r->lba = (uint64_t)d[7] | (uint64_t)d[9] << 8 | (uint64_t)d[11] << 16;
    if (r->extended) {
      r->count |= (uint16_t)(d[4] << 8);
      r->lba |= (uint64_t)d[6] << 24 | (uint64_t)d[8] << 32 | (uint64_t)d[10] << 40;
    }
    r->device = d[12];
    r->status = d[13];
    s->has_registers = true;
    return;
  }
}

static void parse_fixed(const uint8_t *b, size_t length, bool ata, struct sense *s) {
  s->fixed = true;
  s->key = b[2] & 0x0f;
  if (length >= 14) {
    s->asc = b[12];
    s->ascq = b[13];
  }
  /* Only 00h/1Dh says that bytes 3 to 11 are registers; elsewhere they are an LBA. */
  if (!ata || length < 14 || s->asc != 0x00 || s->ascq != 0x1d)
    return;
  s->registers = (struct ata_registers){
      .error = b[3],
      .status = b[4],
      .device = b[5],
      .count = b[6],
      .extended = b[8] & 0x80,
      .cut = b[8] & 0x60,
      .lba = (uint64_t)b[9] | (uint64_t)b[10] << 8 | (uint64_t)b[11] << 16,
  };
  s->has_registers = true;
}

void sense_parse(const uint8_t *b, size_t length, bool ata, struct sense *s) {
  *s = (struct sense){0};
  if (length < 3) /* not even the key of fixed format */
    return;
  uint8_t code = b[0] & 0x7f;
  s->deferred = code == 0x71 || code == 0x73;
  if (code == 0x70 || code == 0x71) {
    s->valid = true;
    parse_fixed(b, length, ata, s);
  } else if (code == 0x72 || code == 0x73) {
    s->valid = true;
    s->key = b[1] & 0x0f;
    s->asc = b[2];
    s->ascq = length > 3 ? b[3] : 0;
    size_t end = length > 7 ? 8 + (size_t)b[7] : length;
    if (ata)
      find_registers(b, end < length ? end : length, s);
  }
}

/* --- verdicts ------------------------------------------------------------------------------ */

struct words {
  char *text;
  size_t room;
};

__attribute__((format(printf, 3, 4))) static enum verdict say(struct words w, enum verdict v,
                                                              const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  if (w.text && w.room > 0)
    vsnprintf(w.text, w.room, format, ap);
  va_end(ap);
  return v;
}

static enum verdict of_errno(int code, struct words w) {
  char scratch[24];
  const char *name = hdd_errno_name(code, scratch);
  switch (code) {
    case EPERM:
    case EACCES: return say(w, NO_RIGHT, "the kernel refuses it to this user (%s)", name);
    case ENOTTY:
    case ENOSYS: /* of a driver that knows the call and not what it asks */
      return say(w, NOT_DRIVE, "its driver takes no such commands (%s)", name);
    case ENODEV:
    case ENXIO: return say(w, GONE, "the drive is gone (%s)", name);
    case ENOMEDIUM: return say(w, NO_MEDIUM, "no medium (%s)", name);
    case ETIMEDOUT:
    case EINTR: /* NVMe: cancelled by a reset after its time-out */
      return say(w, TIMED_OUT, "no answer in time (%s)", name);
    case EBUSY: return say(w, BUSY, "the drive is busy (%s)", name);
    default: return say(w, FAILED, "the kernel could not send it (%s)", name);
  }
}

/* The host adapter's word, by Linux's numbers. */
static enum verdict of_host(uint8_t host, struct words w) {
  switch (host) {
    case 0x01: /* DID_NO_CONNECT */
    case 0x04: /* DID_BAD_TARGET */
      return say(w, GONE, "the drive is gone (host status %02Xh)", host);
    case 0x03: /* DID_TIME_OUT */
    case 0x05: /* DID_ABORT: by the error handler, after a time-out */
      return say(w, TIMED_OUT, "no answer in time (host status %02Xh)", host);
    case 0x02: /* DID_BUS_BUSY */
    case 0x08: /* DID_RESET */
      return say(w, BUSY, "the bus is busy or was reset (host status %02Xh)", host);
    default: return say(w, FAILED, "the controller failed (host status %02Xh)", host);
  }
}

enum { ATA_ERR = 0x01, ATA_DF = 0x20, ATA_BSY = 0x80, ABRT = 0x04 };

/* The drive's own word, where its registers came. */
static enum verdict of_registers(const struct ata_registers *r, struct words w) {
  if (r->status & ATA_BSY) /* then the others are not to be believed */
    return say(w, FAILED, "the registers are not the drive's (status %02Xh)", r->status);
  if (r->status & ATA_DF)
    return say(w, FAILED, "device fault (status %02Xh, error %02Xh)", r->status, r->error);
  if (r->status & ATA_ERR) {
    bool other = r->error & (uint8_t)~ABRT;
    if (!(r->error & ABRT) || other)
      return say(w, FAILED, "the drive reports an error (status %02Xh, error %02Xh)", r->status,
                 r->error);
    return say(w, ABORTED, "the drive aborts the command (error %02Xh)", r->error);
  }
  return ANSWERED;
}

/* `ata`: the sense data are those of a translation to ATA, be it in a bridge, an HBA or libata. */
static enum verdict of_sense(const struct sense *s, bool ata, struct words w) {
  unsigned key = s->key, asc = s->asc, ascq = s->ascq;
  if (ata && s->has_registers && (key <= 1 || key == 0x0b))
    return of_registers(&s->registers, w);
  switch (key) {
    case 0x0:
    case 0x1: return ANSWERED; /* recovered */
    case 0x2:
      if (asc == 0x3a)
        return say(w, NO_MEDIUM, "no medium (sense 2/3A/%02X)", ascq);
      return say(w, BUSY, "the drive is not ready (sense 2/%02X/%02X)", asc, ascq);
    case 0x5:
      if (ata)
        return say(w, NO_PASS_THROUGH, "not passed on to the drive (sense 5/%02X/%02X)", asc, ascq);
      return say(w, ABORTED, "the drive does not have this (sense 5/%02X/%02X)", asc, ascq);
    case 0x6: return say(w, BUSY, "something has changed (sense 6/%02X/%02X)", asc, ascq);
    case 0xb:
      if (ata)
        return say(w, ABORTED, "the drive aborts the command (sense B/%02X/%02X)", asc, ascq);
      return say(w, FAILED, "the command was aborted (sense B/%02X/%02X)", asc, ascq);
    default:
      return say(w, FAILED, "the drive reports an error (sense %X/%02X/%02X)", key, asc, ascq);
  }
}

static enum verdict of_nvme(const struct exchange *x, struct words w) {
  if (x->sense_length < NVME_ANSWER)
    return say(w, FAILED, "no status came back");
  uint16_t status = be16(x->sense);
  unsigned type = status >> 8 & 7, code = status & 0xff;
  if (type == 0 && code == 0)
    return ANSWERED;
  /* Invalid opcode, field or namespace; invalid log page. */
  if ((type == 0 && (code == 0x01 || code == 0x02 || code == 0x0b)) || (type == 1 && code == 0x09))
    return say(w, ABORTED, "the drive does not have this (status %X/%02Xh)", type, code);
  if (type == 3 && code == 0x71) /* the kernel's own: cancelled */
    return say(w, TIMED_OUT, "no answer in time (status 3/71h)");
  if (type == 1 && code == 0x1d)
    return say(w, BUSY, "a self-test is running (status 1/1Dh)");
  return say(w, FAILED, "the drive reports an error (status %X/%02Xh)", type, code);
}

enum verdict verdict_of(const struct exchange *x, struct sense *s, char *text, size_t room) {
  struct words w = {text, room};
  struct ata_command command;
  *s = (struct sense){0};
  say(w, ANSWERED, "%s", "");
  if (x->result != 0)
    return of_errno(x->result, w);
  if (x->kind == EXCHANGE_NVME)
    return of_nvme(x, w);

  bool ata = ata_unpack(x, &command);
  sense_parse(x->sense, x->sense_length, ata, s);
  if (x->host != 0)
    return of_host(x->host, w);
  if (x->driver == 0x06) /* DRIVER_TIMEOUT, of older kernels */
    return say(w, TIMED_OUT, "no answer in time (driver status 6)");
  if (x->driver != 0 && x->driver != 0x08) /* DRIVER_SENSE */
    return say(w, FAILED, "the kernel's driver failed (driver status %u)", x->driver);
  enum verdict v = ANSWERED;
  if (x->status == 0x02 || x->status == 0x22) { /* CHECK CONDITION, COMMAND TERMINATED */
    if (!s->valid)
      return say(w, FAILED, "it failed, and no sense data say why");
    v = of_sense(s, ata, w);
  } else if (x->status == 0x08 || x->status == 0x28 || x->status == 0x18) {
    v = say(w, BUSY, "the drive is busy (SCSI status %02Xh)", x->status);
  } else if (x->status != 0) {
    v = say(w, FAILED, "it ended with SCSI status %02Xh", x->status);
  } else if (ata && s->has_registers) {
    v = of_registers(&s->registers, w);
  }
  /* SCSI's lengths are what there is room for, ATA's a promise. */
  if (v == ANSWERED && ata && x->direction == EXCHANGE_IN && x->transferred < x->length)
    v = say(w, SHORT, "%u of %u bytes came", x->transferred, x->length);
  return v;
}
