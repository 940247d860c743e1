/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of permitted commands; see permitted.h. */
#include "permitted.h"

#include <stdbool.h>
#include <stddef.h>

#include "ata.h"
#include "bytes.h"

#define READS   "it only reads"
#define TESTS   "it starts or ends a self-test"
#define CHANGES "it is not in the table of commands that only read"

static enum permission say(enum permission needed, const char *what, const char **why) {
  *why = what;
  return needed;
}

/* --- ATA ----------------------------------------------------------------------------------- */

enum {
  CHECK_POWER_MODE = 0xe5,
  SMART = 0xb0,
  SMART_EXECUTE_OFF_LINE = 0xd4,
  SMART_WRITE_LOG = 0xd6,
  SELECTIVE_LOG = 0x09,
  WRITE_LOG_EXT = 0x3f,
  WRITE_LOG_DMA_EXT = 0x57,
  SCT_COMMAND_LOG = 0xe0
};

/* ATA commands that only read, with the features value that they must have. */
static const struct {
  uint8_t command;
  uint16_t features;
  uint8_t protocol;
  bool extended;
} reading[] = {
    {0xec, 0, ATA_PIO_IN, false}, /* IDENTIFY DEVICE */
    {CHECK_POWER_MODE, 0, ATA_NON_DATA, false},
    {SMART, 0xd0, ATA_PIO_IN, false},   /* SMART READ DATA */
    {SMART, 0xd1, ATA_PIO_IN, false},   /* SMART READ THRESHOLDS */
    {SMART, 0xd5, ATA_PIO_IN, false},   /* SMART READ LOG */
    {SMART, 0xda, ATA_NON_DATA, false}, /* SMART RETURN STATUS */
    {0x2f, 0, ATA_PIO_IN, true},        /* READ LOG EXT; a feature of log 11h resets its counters */
    {0x47, 0, ATA_DMA, true},           /* READ LOG DMA EXT */
    {0xf8, 0, ATA_NON_DATA, false},     /* READ NATIVE MAX ADDRESS */
    {0x27, 0, ATA_NON_DATA, true},      /* READ NATIVE MAX ADDRESS EXT */
    {0x78, 0, ATA_NON_DATA, true},      /* GET NATIVE MAX ADDRESS EXT */
    {0xb1, 0xc2, ATA_PIO_IN, false},    /* DEVICE CONFIGURATION IDENTIFY */
};

/* SCT key sectors that ask for something, as (action, function, first parameter word). */
static const struct {
  uint16_t action, function, first;
} asking[] = {
    {5, 1, 2},                       /* temperature history */
    {3, 2, 1}, {3, 2, 2},            /* the error recovery times now... */
    {3, 4, 1}, {3, 4, 2},            /* ...and after power-on */
    {4, 2, 1}, {4, 2, 2}, {4, 2, 3}, /* write cache, reordering, logging interval */
    {4, 3, 1}, {4, 3, 2}, {4, 3, 3}, /* whether these were set for good */
};

/* A sector written to the SCT command log. */
static enum permission sct_needed(const struct exchange *x, const char **why) {
  if (x->length < 512)
    return say(PERMIT_NEVER, "an SCT key sector has 512 bytes", why);
  uint16_t action = le16(x->data), function = le16(x->data + 2), first = le16(x->data + 4);
  bool rest_is_zero = true;
  for (unsigned i = 6; i < x->length; i++)
    rest_is_zero = rest_is_zero && x->data[i] == 0;
  for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
    if (rest_is_zero && action == asking[i].action && function == asking[i].function &&
        first == asking[i].first)
      return say(PERMIT_READING, READS, why);
  if (action == 3 || action == 4)
    return say(PERMIT_ALL, "it changes the drive's settings by SCT", why);
  /* 1 and 2 are long sector access and write same. */
  return say(PERMIT_NEVER, "this SCT action can overwrite data", why);
}

static enum permission self_test_needed(uint8_t subcommand, const char **why) {
  switch (subcommand) {
    case 0: /* off-line data collection */
    case 1: /* short */
    case 2: /* extended */
    case 3: /* conveyance */
    case 4: /* selective */
    case 0x7f: /* abort */ return say(PERMIT_SELF_TESTS, TESTS, why);
    default:
      return say(PERMIT_NEVER, "a captive self-test keeps the drive from answering for hours", why);
  }
}

static enum permission ata_needed(const struct exchange *x, const struct ata_command *c,
                                  const char **why) {
  uint8_t low = (uint8_t)c->lba;
  bool to_device = x->direction == EXCHANGE_OUT;
  bool write_log = (c->command == SMART && c->features == SMART_WRITE_LOG) ||
                   c->command == WRITE_LOG_EXT || c->command == WRITE_LOG_DMA_EXT;
  if (write_log && low == SCT_COMMAND_LOG)
    return sct_needed(x, why);
  if (write_log && low == SELECTIVE_LOG && c->command == SMART)
    return say(PERMIT_SELF_TESTS, "it says what the next selective self-test reads", why);
  if (c->command == SMART && c->features == SMART_EXECUTE_OFF_LINE)
    return self_test_needed(low, why);
  for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
    if (c->command == reading[i].command && c->features == reading[i].features &&
        c->protocol == reading[i].protocol && c->extended == reading[i].extended && !c->to_device &&
        !to_device) {
      /* Reading a stream error log empties it. */
      if (c->extended && reading[i].protocol != ATA_NON_DATA && (low == 0x21 || low == 0x22))
        return say(PERMIT_ALL, "reading this log empties it", why);
      return say(PERMIT_READING, READS, why);
    }
  return say(PERMIT_ALL, CHANGES, why);
}

/* --- SCSI ---------------------------------------------------------------------------------- */

static enum permission scsi_needed(const struct exchange *x, const char **why) {
  const uint8_t *b = x->cdb;
  struct ata_command ata;
  if (ata_unpack(x, &ata))
    return ata_needed(x, &ata, why);
  if (b[0] == 0x1d && x->cdb_length == 6) { /* SEND DIAGNOSTIC */
    uint8_t code = b[1] >> 5;
    bool plain = (b[1] & 0x1f) == 0 && x->direction == EXCHANGE_NO_DATA;
    if (plain && (code == 1 || code == 2 || code == 4)) /* background short, extended; abort */
      return say(PERMIT_SELF_TESTS, TESTS, why);
    return say(PERMIT_NEVER, "a foreground self-test keeps the drive from answering for hours",
               why);
  }
  if (x->direction == EXCHANGE_OUT)
    return say(PERMIT_ALL, CHANGES, why);
  switch (b[0]) {
    case 0x00: /* TEST UNIT READY */
    case 0x03: /* REQUEST SENSE */
    case 0x12: /* INQUIRY */
    case 0x1a: /* MODE SENSE(6) */
    case 0x25: /* READ CAPACITY(10) */
    case 0x37: /* READ DEFECT DATA(10) */
    case 0x5a: /* MODE SENSE(10) */
    case 0xa0: /* REPORT LUNS */
    case 0xb7: /* READ DEFECT DATA(12) */ return say(PERMIT_READING, READS, why);
    case 0x4d: /* LOG SENSE; SP saves the parameters */
      if (!(b[1] & 1))
        return say(PERMIT_READING, READS, why);
      return say(PERMIT_ALL, "with SP set, LOG SENSE writes to the drive", why);
    case 0x9e: /* SERVICE ACTION IN(16): READ CAPACITY(16) */
      if ((b[1] & 0x1f) == 0x10)
        return say(PERMIT_READING, READS, why);
      break;
    case 0xa3: /* MAINTENANCE IN: REPORT SUPPORTED OPERATION CODES, TASK MANAGEMENT FUNCTIONS */
      if ((b[1] & 0x1f) == 0x0c || (b[1] & 0x1f) == 0x0d)
        return say(PERMIT_READING, READS, why);
      break;
    default: break;
  }
  return say(PERMIT_ALL, CHANGES, why);
}

/* --- NVMe ---------------------------------------------------------------------------------- */

/* Reading a log with RAE clear also clears the event that announced it: for others, too. */
static enum permission log_page_needed(uint32_t cdw10, const char **why) {
  uint8_t log = (uint8_t)cdw10;
  bool retain = cdw10 & 1 << 15, specific = cdw10 & 0x7f00;
  if (specific)
    return say(PERMIT_ALL, "a log-specific field makes the drive do more than read", why);
  if (log >= 0x01 && log <= 0x0f && !retain)
    return say(PERMIT_ALL, "without RAE it clears an event that other programs wait for", why);
  return say(PERMIT_READING, READS, why);
}

static enum permission nvme_needed(const struct exchange *x, const char **why) {
  const uint8_t *e = x->cdb;
  uint32_t cdw10 = le32(e + 40);
  if (x->direction == EXCHANGE_OUT)
    return say(PERMIT_ALL, CHANGES, why);
  switch (e[0]) {
    case 0x02: return log_page_needed(cdw10, why);
    case 0x06: /* IDENTIFY */
    case 0x0a: /* GET FEATURES */ return say(PERMIT_READING, READS, why);
    case 0x14: /* DEVICE SELF-TEST: short, extended, abort */
      if (cdw10 == 1 || cdw10 == 2 || cdw10 == 0xf)
        return say(PERMIT_SELF_TESTS, TESTS, why);
      break;
    default: break;
  }
  return say(PERMIT_ALL, CHANGES, why);
}

enum permission permission_needed(const struct exchange *x, const char **why) {
  return x->kind == EXCHANGE_NVME ? nvme_needed(x, why) : scsi_needed(x, why);
}
