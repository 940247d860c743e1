/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers from a recording, or from a libatasmart blob; see transport.h.  The order in which things
   are asked matters only where it mattered on the drive: an SCT table is read after its key was
   written, and the same command may be asked again for what has changed since. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "ata.h"
#include "bytes.h"
#include "transport.h"

static bool same(const struct exchange *recorded, const struct exchange *x) {
  return recorded->kind == x->kind && recorded->cdb_length == x->cdb_length &&
         recorded->direction == x->direction && memcmp(recorded->cdb, x->cdb, x->cdb_length) == 0 &&
         (x->direction != EXCHANGE_OUT ||
          (recorded->length == x->length && memcmp(recorded->data, x->data, x->length) == 0));
}

/* The next one of its kind after what was answered last; when there is none, the last one before:
   a drive that is asked more often than the recorded one stays as it was at last. */
static const struct exchange *find(struct transport *t, const struct exchange *x) {
  const struct recording *r = t->replayed;
  for (uint32_t i = t->position; i < r->count; i++)
    if (same(&r->exchanges[i], x)) {
      t->position = i + 1;
      return &r->exchanges[i];
    }
  for (uint32_t i = t->position; i-- > 0;)
    if (same(&r->exchanges[i], x))
      return &r->exchanges[i];
  return NULL;
}

static void give(struct exchange *x, const uint8_t *data, uint32_t length) {
  x->transferred = length < x->length ? length : x->length;
  if (x->transferred > 0)
    memcpy(x->data, data, x->transferred);
}

/* Sense data with registers, as libata returns them. */
static void answer_registers(struct exchange *x, uint8_t key, uint8_t ascq,
                             const uint8_t registers[12]) {
  static const uint8_t start[] = {0x72, 0, 0, 0, 0, 0, 0, 14, 0x09, 0x0c};
  memset(x->sense, 0, sizeof x->sense);
  memcpy(x->sense, start, sizeof start);
  x->sense[1] = key;
  x->sense[3] = ascq;
  memcpy(x->sense + 10, registers, 12);
  x->sense_length = 22;
  x->status = 0x02;
  x->driver = 0x08;
}

/* What was never asked, or never answered: as a drive that does not have it. */
static void abort_it(struct exchange *x, bool ata) {
  static const uint8_t aborted[12] = {[1] = 0x04, [11] = 0x51};
  if (x->kind == EXCHANGE_NVME) {
    x->sense_length = NVME_ANSWER;
    put_be16(x->sense, 0x4002); /* invalid field, do not retry */
    put_be32(x->sense + 2, 0);
  } else if (ata) {
    answer_registers(x, 0x0b, 0, aborted);
  } else {
    static const uint8_t illegal[18] = {0x70, 0, 0x05, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x20};
    memcpy(x->sense, illegal, sizeof illegal);
    x->sense_length = sizeof illegal;
    x->status = 0x02;
    x->driver = 0x08;
  }
}

/* A blob has the answers to four commands. */
static bool answer_from_blob(const struct recording *r, const struct ata_command *c,
                             struct exchange *x) {
  const uint8_t *page = NULL;
  if (c->command == 0xec && r->has_identify)
    page = r->identify;
  else if (c->command == 0xb0 && c->features == 0xd0 && r->has_data)
    page = r->data;
  else if (c->command == 0xb0 && c->features == 0xd1 && r->has_thresholds)
    page = r->thresholds;
  if (page && x->direction == EXCHANGE_IN) {
    give(x, page, BLOB_PAGE);
    return true;
  }
  if (c->command != 0xb0 || c->features != 0xda || r->good < 0)
    return false;
  const uint8_t registers[12] = {
      [7] = r->good ? 0x4f : 0xf4, [9] = r->good ? 0xc2 : 0x2c, [11] = 0x50};
  answer_registers(x, 0x01, 0x1d, registers);
  return true;
}

void replay_carry(struct transport *t, struct exchange *x) {
  struct recording *r = t->replayed;
  struct ata_command command;
  bool ata = ata_unpack(x, &command);
  memset(x->sense, 0, sizeof x->sense);
  x->status = x->host = x->driver = x->sense_length = x->result = 0;
  x->transferred = 0;
  x->microseconds = 0;
  pthread_mutex_lock(&r->lock);
  const struct exchange *recorded = find(t, x);
  if (recorded) {
    x->result = recorded->result;
    x->status = recorded->status;
    x->host = recorded->host;
    x->driver = recorded->driver;
    x->sense_length = recorded->sense_length;
    memcpy(x->sense, recorded->sense, sizeof x->sense);
    x->microseconds = recorded->microseconds;
    if (x->direction == EXCHANGE_IN)
      give(x, recorded->data, recorded->length);
    else
      x->transferred = x->length;
  } else if (!ata || !answer_from_blob(r, &command, x)) {
    abort_it(x, ata);
  }
  pthread_mutex_unlock(&r->lock);
}
