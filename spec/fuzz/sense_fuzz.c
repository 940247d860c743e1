/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libFuzzer's target for answers: any command block and any sense data are looked at, judged, and held
   against the table of permitted commands. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/commands/ata.h"
#include "../../core/commands/permitted.h"
#include "../../core/commands/sense.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static uint8_t next(const uint8_t **at, size_t *left) {
  if (*left == 0)
    return 0;
  (*left)--;
  return *(*at)++;
}

/* A command block of a task file carries it there and back, in both forms. */
static void pack_again(const struct ata_command *c) {
  struct exchange x = {0};
  struct ata_command again;
  if (c->protocol < ATA_NON_DATA || c->protocol > ATA_DMA)
    return;
  for (int form = 12; form <= 16; form += 4) {
    if (!ata_pack(c, form, &x))
      continue;
    assert(ata_unpack(&x, &again));
    assert(again.command == c->command && again.features == c->features && again.count == c->count);
    assert(again.lba == c->lba && again.extended == c->extended && again.protocol == c->protocol);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  static uint8_t data[512];
  struct exchange x = {.data = data, .length = sizeof data};
  struct ata_command c;
  struct sense s;
  const char *why = NULL;
  char text[40];
  x.kind = next(&bytes, &length) & 1 ? EXCHANGE_NVME : EXCHANGE_SCSI;
  x.direction = next(&bytes, &length) % 3;
  x.result = next(&bytes, &length);
  x.result = x.result < 192 ? 0 : x.result;
  x.status = next(&bytes, &length) & 0x2a;
  x.host = next(&bytes, &length);
  x.host = x.host < 192 ? 0 : x.host;
  x.driver = next(&bytes, &length) & 0x08;
  x.transferred = (uint32_t)next(&bytes, &length) * 2;
  x.cdb_length = next(&bytes, &length) % (CDB_MOST + 1);
  for (unsigned i = 0; i < x.cdb_length; i++)
    x.cdb[i] = next(&bytes, &length);
  if (x.kind == EXCHANGE_NVME)
    x.cdb_length = 64;
  /* In memory of its own, so that reading beyond it is seen. */
  size_t n = length < SENSE_MOST ? length : SENSE_MOST;
  uint8_t *sense = malloc(n + 1);
  assert(sense);
  memcpy(sense, bytes, n);
  sense_parse(sense, n, true, &s);
  sense_parse(sense, n, false, &s);
  assert(!s.has_registers);
  memcpy(x.sense, sense, n);
  x.sense_length = (uint8_t)n;
  memcpy(data, sense, n < sizeof data ? n : sizeof data);
  free(sense);

  enum verdict v = verdict_of(&x, &s, text, sizeof text);
  assert(v < VERDICTS && strlen(text) < sizeof text);
  assert((v == ANSWERED) == (text[0] == '\0'));
  enum permission needed = permission_needed(&x, &why);
  assert(why && needed <= PERMIT_NEVER);
  if (needed == PERMIT_READING)
    assert(x.direction != EXCHANGE_OUT || (ata_unpack(&x, &c) && (uint8_t)c.lba == 0xe0));
  if (ata_unpack(&x, &c))
    pack_again(&c);
  return 0;
}
