/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libFuzzer's target for the record file: any bytes are read, written, read again, and replayed. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/commands/ata.h"
#include "../../core/commands/recording.h"
#include "../../core/commands/sense.h"
#include "../../core/commands/transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* What was read is written, and read back as the same. */
static void write_again(struct recording *r) {
  size_t n = recording_write(r, NULL, 0);
  uint8_t *file = malloc(n);
  struct recording *again = recording_new();
  assert(file && again);
  assert(recording_write(r, file, n) == n);
  assert(recording_read(again, file, n) == 0);
  assert(again->warnings == 0 && again->count == r->count);
  assert(again->has_identify == r->has_identify && again->good == r->good);
  recording_release(again);
  free(file);
}

/* Every recorded command is asked again, and some that were not. */
static void replay(struct recording *r) {
  static uint8_t data[4096];
  struct transport *t = transport_new();
  struct exchange x = {0};
  struct sense s;
  char text[64];
  assert(t);
  t->replayed = recording_share(r);
  for (uint32_t i = 0; i < r->count && i < 64; i++) {
    x = r->exchanges[i];
    if (x.direction == EXCHANGE_IN) {
      x.data = data;
      x.length = sizeof data;
    }
    transport_carry(t, &x);
    assert(x.transferred <= x.length);
    verdict_of(&x, &s, text, sizeof text);
  }
  static const struct ata_command identify = {.protocol = ATA_PIO_IN, .command = 0xec, .count = 1};
  x = (struct exchange){.data = data, .length = 512};
  assert(ata_pack(&identify, 16, &x));
  transport_carry(t, &x);
  assert(verdict_of(&x, &s, text, sizeof text) < VERDICTS);
  transport_release(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  struct recording *r = recording_new();
  assert(r);
  if (recording_read(r, bytes, length) == 0) {
    if (r->has_identify || r->count > 0 || r->time > 0)
      write_again(r);
    replay(r);
  }
  recording_release(r);
  return 0;
}
