/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording in memory; see recording.h.  recording_file.c reads and writes it. */
#define _GNU_SOURCE
#include "recording.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ata.h"
#include "sense.h"

enum { NOTES_MOST = 256, EXCHANGE_OVERHEAD = 32 };

struct recording *recording_new(void) {
  struct recording *r = calloc(1, sizeof *r);
  if (!r)
    return NULL;
  pthread_mutex_init(&r->lock, NULL);
  r->references = 1;
  r->good = -1;
  return r;
}

struct recording *recording_share(struct recording *r) {
  atomic_fetch_add_explicit(&r->references, 1, memory_order_relaxed);
  return r;
}

void recording_release(struct recording *r) {
  if (atomic_fetch_sub_explicit(&r->references, 1, memory_order_acq_rel) > 1)
    return;
  for (uint32_t i = 0; i < r->count; i++)
    free(r->exchanges[i].data);
  free(r->exchanges);
  free(r->notes);
  pthread_mutex_destroy(&r->lock);
  free(r);
}

/* One more place in an array that grows; NULL: no memory. */
static void *grown(void *array, uint32_t count, uint32_t *room, size_t size) {
  if (count < *room)
    return array;
  uint32_t more = *room ? *room * 2 : 16;
  void *larger = reallocarray(array, more, size);
  if (larger)
    *room = more;
  return larger;
}

static bool add(struct recording *r, const struct exchange *x) {
  uint32_t length = x->direction == EXCHANGE_IN ? x->transferred : x->length;
  size_t bytes = EXCHANGE_OVERHEAD + (size_t)x->cdb_length + x->sense_length + length;
  if (bytes > RECORDING_MOST - r->bytes)
    return false;
  struct exchange *larger = grown(r->exchanges, r->count, &r->room, sizeof *larger);
  if (!larger)
    return false;
  r->exchanges = larger;
  uint8_t *data = malloc(length > 0 ? length : 1);
  if (!data)
    return false;
  if (length > 0)
    memcpy(data, x->data, length);
  struct exchange *copy = &r->exchanges[r->count++];
  *copy = *x;
  copy->data = data;
  copy->length = length;
  r->bytes += bytes;
  return true;
}

void recording_add(struct recording *r, const struct exchange *x) {
  pthread_mutex_lock(&r->lock);
  if (add(r, x))
    recording_learn(r, x);
  else
    r->dropped++;
  pthread_mutex_unlock(&r->lock);
}

int recording_note(struct recording *r, const char *text) {
  int code = 0;
  pthread_mutex_lock(&r->lock);
  char(*larger)[TEXT_MOST] =
      r->note_count < NOTES_MOST ? reallocarray(r->notes, r->note_count + 1, TEXT_MOST) : NULL;
  if (larger) {
    r->notes = larger;
    strncpy(r->notes[r->note_count], text, TEXT_MOST - 1);
    r->notes[r->note_count++][TEXT_MOST - 1] = '\0';
  } else {
    code = ENOMEM;
  }
  pthread_mutex_unlock(&r->lock);
  return code;
}

static void learn_page(const struct exchange *x, bool *has, uint8_t page[BLOB_PAGE]) {
  if (*has || x->direction != EXCHANGE_IN || x->transferred < BLOB_PAGE)
    return;
  memcpy(page, x->data, BLOB_PAGE);
  *has = true;
}

void recording_learn(struct recording *r, const struct exchange *x) {
  struct ata_command c;
  struct sense s;
  if (!ata_unpack(x, &c) || verdict_of(x, &s, NULL, 0) != ANSWERED)
    return;
  if (c.command == 0xec)
    learn_page(x, &r->has_identify, r->identify);
  else if (c.command == 0xb0 && c.features == 0xd0)
    learn_page(x, &r->has_data, r->data);
  else if (c.command == 0xb0 && c.features == 0xd1)
    learn_page(x, &r->has_thresholds, r->thresholds);
  else if (c.command == 0xb0 && c.features == 0xda && s.has_registers && r->good < 0) {
    unsigned signature = s.registers.lba >> 8 & 0xffff;
    r->good = signature == 0xc24f ? 1 : signature == 0x2cf4 ? 0 : -1;
  }
}
