/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record file's bytes; see recording.h, and docs/recording-file.md for the format. */
#define _GNU_SOURCE
#include <errno.h>
#include <sha256.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "recording.h"

#define VERSION 1

enum { TAG_BYTES = 4, HEADER_BYTES = 8, ANONYMISED = 1 };

/* --- writing ------------------------------------------------------------------------------- */

/* Bytes that are counted whether they fit or not. */
struct sink {
  uint8_t *to;
  size_t room, used, chunk; /* chunk: where the last one's header is */
};

static void put(struct sink *s, const void *bytes, size_t n) {
  if (n > 0 && s->used <= s->room && n <= s->room - s->used)
    memcpy(s->to + s->used, bytes, n);
  s->used += n;
}

static void put_u8(struct sink *s, unsigned n) {
  put(s, &(uint8_t){(uint8_t)n}, 1);
}

static void put_u32(struct sink *s, uint32_t n) {
  uint8_t bytes[4];
  put_be32(bytes, n);
  put(s, bytes, sizeof bytes);
}

/* A length of one byte, and the bytes. */
static void put_short(struct sink *s, const void *bytes, size_t n) {
  put_u8(s, (unsigned)n);
  put(s, bytes, n);
}

static void begin_chunk(struct sink *s, const char *tag) {
  s->chunk = s->used;
  put(s, tag, TAG_BYTES);
  put_u32(s, 0);
}

static void end_chunk(struct sink *s) {
  if (s->used <= s->room)
    put_be32(s->to + s->chunk + TAG_BYTES, (uint32_t)(s->used - s->chunk - HEADER_BYTES));
}

static void put_chunk(struct sink *s, const char *tag, const void *bytes, size_t n) {
  begin_chunk(s, tag);
  put(s, bytes, n);
  end_chunk(s);
}

static void put_header(struct sink *s, const struct recording *r) {
  uint8_t time[8];
  begin_chunk(s, "HREC");
  put_u8(s, VERSION);
  put_u8(s, r->anonymised ? ANONYMISED : 0);
  put_be64(time, r->time);
  put(s, time, sizeof time);
  put_short(s, r->tool, strlen(r->tool));
  put_short(s, r->kernel, strlen(r->kernel));
  put_short(s, r->device_class, strlen(r->device_class));
  end_chunk(s);
}

static void put_exchange(struct sink *s, const struct exchange *x, uint32_t sequence) {
  bool out = x->direction == EXCHANGE_OUT;
  begin_chunk(s, "XCMD");
  put_u32(s, sequence);
  put_u8(s, x->kind);
  put_u8(s, x->direction);
  put_short(s, x->cdb, x->cdb_length);
  put_u32(s, out ? x->length : 0);
  put(s, x->data, out ? x->length : 0);
  put_u8(s, x->result);
  put_u8(s, x->status);
  put_u8(s, x->host);
  put_u8(s, x->driver);
  put_short(s, x->sense, x->sense_length);
  put_u32(s, out ? 0 : x->length);
  put(s, x->data, out ? 0 : x->length);
  put_u32(s, x->microseconds);
  end_chunk(s);
}

static void put_blob(struct sink *s, const struct recording *r) {
  uint8_t good[4];
  if (r->has_identify)
    put_chunk(s, "IDFY", r->identify, BLOB_PAGE);
  put_be32(good, r->good > 0);
  if (r->good >= 0)
    put_chunk(s, "SMST", good, sizeof good);
  if (r->has_data)
    put_chunk(s, "SMDT", r->data, BLOB_PAGE);
  if (r->has_thresholds)
    put_chunk(s, "SMTH", r->thresholds, BLOB_PAGE);
}

size_t recording_write(struct recording *r, uint8_t *to, size_t room) {
  struct sink s = {.to = to, .room = room};
  uint8_t sum[SHA256_DIGEST_LENGTH] = {0};
  pthread_mutex_lock(&r->lock);
  put_blob(&s, r); /* first, so that what knows blobs alone finds them at once */
  put_header(&s, r);
  for (uint32_t i = 0; i < r->count; i++)
    put_exchange(&s, &r->exchanges[i], i + 1);
  for (uint32_t i = 0; i < r->note_count; i++)
    put_chunk(&s, "NOTE", r->notes[i], strlen(r->notes[i]));
  pthread_mutex_unlock(&r->lock);
  if (s.used <= s.room) {
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, to, s.used);
    SHA256Final(sum, &context);
  }
  put_chunk(&s, "HSUM", sum, sizeof sum);
  return s.used;
}

/* --- reading ------------------------------------------------------------------------------- */

/* A chunk's bytes, taken from the front; `short_of` once there were too few. */
struct source {
  const uint8_t *at;
  size_t left;
  bool short_of;
};

static const uint8_t *take(struct source *s, size_t n) {
  const uint8_t *at = s->at;
  if (n > s->left) {
    s->short_of = true;
    return NULL;
  }
  s->at += n;
  s->left -= n;
  return at;
}

static uint8_t take_u8(struct source *s) {
  const uint8_t *p = take(s, 1);
  return p ? p[0] : 0;
}

static uint32_t take_u32(struct source *s) {
  const uint8_t *p = take(s, 4);
  return p ? be32(p) : 0;
}

/* A length of one byte, and the bytes, into room for `most`.  Returns their number. */
static uint8_t take_short(struct source *s, void *to, size_t most) {
  uint8_t n = take_u8(s);
  const uint8_t *p = take(s, n);
  if (!p)
    return 0;
  if (n > most) {
    s->short_of = true;
    return 0;
  }
  memcpy(to, p, n);
  return n;
}

static void read_header(struct recording *r, struct source *s) {
  uint8_t version = take_u8(s), flags = take_u8(s);
  const uint8_t *time = take(s, 8);
  if (version != VERSION)
    r->warnings |= RECORDING_NEWER; /* its fields may mean something else */
  else if (time) {
    r->time = be64(time);
    r->anonymised = flags & ANONYMISED;
    r->tool[take_short(s, r->tool, TEXT_MOST - 1)] = '\0';
    r->kernel[take_short(s, r->kernel, TEXT_MOST - 1)] = '\0';
    r->device_class[take_short(s, r->device_class, TEXT_MOST - 1)] = '\0';
  }
  if (s->short_of)
    r->warnings |= RECORDING_BAD_CHUNK;
}

static void read_exchange(struct recording *r, struct source *s) {
  struct exchange x = {0};
  take_u32(s); /* the sequence: they stand in their order */
  x.kind = take_u8(s);
  x.direction = take_u8(s);
  x.cdb_length = take_short(s, x.cdb, sizeof x.cdb);
  uint32_t given = take_u32(s);
  const uint8_t *out = take(s, given);
  x.result = take_u8(s);
  x.status = take_u8(s);
  x.host = take_u8(s);
  x.driver = take_u8(s);
  x.sense_length = take_short(s, x.sense, sizeof x.sense);
  uint32_t came = take_u32(s);
  const uint8_t *in = take(s, came);
  x.microseconds = take_u32(s);
  bool known = x.kind == EXCHANGE_SCSI || (x.kind == EXCHANGE_NVME && x.cdb_length == 64);
  if (s->short_of || !known || x.direction > EXCHANGE_OUT || x.cdb_length == 0 ||
      given > DATA_MOST || came > DATA_MOST || (x.direction != EXCHANGE_OUT && given > 0) ||
      (x.direction != EXCHANGE_IN && came > 0)) {
    r->warnings |= RECORDING_BAD_CHUNK;
    return;
  }
  x.length = x.transferred = x.direction == EXCHANGE_OUT ? given : came;
  x.data = (uint8_t *)(x.direction == EXCHANGE_OUT ? out : in); /* copied by recording_add */
  recording_add(r, &x);
}

static void read_note(struct recording *r, struct source *s) {
  char text[TEXT_MOST];
  size_t n = s->left < TEXT_MOST - 1 ? s->left : TEXT_MOST - 1;
  memcpy(text, s->at, n);
  text[n] = '\0';
  (void)recording_note(r, text);
}

/* A blob's page; the first of its kind counts, and it before what exchanges say. */
static void read_page(struct recording *r, struct source *s, unsigned kind, unsigned *seen,
                      bool *has, uint8_t page[BLOB_PAGE]) {
  if (s->left != BLOB_PAGE) {
    r->warnings |= RECORDING_BAD_CHUNK;
  } else if (*seen & kind) {
    r->warnings |= RECORDING_DOUBLE;
  } else {
    memcpy(page, s->at, BLOB_PAGE);
    *seen |= kind;
    *has = true;
  }
}

static void read_status(struct recording *r, struct source *s, unsigned kind, unsigned *seen) {
  if (s->left != 4 || be32(s->at) > 1)
    r->warnings |= RECORDING_BAD_CHUNK;
  else if (*seen & kind)
    r->warnings |= RECORDING_DOUBLE;
  else
    r->good = (int8_t)be32(s->at);
  *seen |= kind;
}

static void check_sum(struct recording *r, const uint8_t *bytes, size_t before, struct source *s) {
  uint8_t sum[SHA256_DIGEST_LENGTH];
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, bytes, before);
  SHA256Final(sum, &context);
  if (s->left != sizeof sum || memcmp(sum, s->at, sizeof sum) != 0)
    r->warnings |= RECORDING_WRONG_SUM;
}

int recording_read(struct recording *r, const uint8_t *bytes, size_t length) {
  enum { IDENTIFY = 1, DATA = 2, THRESHOLDS = 4, STATUS = 8, HEADER = 16, SUM = 32 };
  static const char known[][TAG_BYTES + 1] = {"IDFY", "SMST", "SMDT", "SMTH",
                                              "HREC", "XCMD", "NOTE"};
  unsigned seen = 0;
  size_t at = 0;
  bool ours = false;
  for (size_t i = 0; i < sizeof known / sizeof *known && length >= HEADER_BYTES; i++)
    ours = ours || memcmp(bytes, known[i], TAG_BYTES) == 0;
  if (!ours)
    return EBADMSG;
  while (length - at >= HEADER_BYTES && !(seen & SUM)) {
    const uint8_t *tag = bytes + at;
    size_t size = be32(bytes + at + TAG_BYTES);
    if (size > length - at - HEADER_BYTES)
      break;
    struct source s = {.at = tag + HEADER_BYTES, .left = size};
    if (memcmp(tag, "IDFY", TAG_BYTES) == 0)
      read_page(r, &s, IDENTIFY, &seen, &r->has_identify, r->identify);
    else if (memcmp(tag, "SMST", TAG_BYTES) == 0)
      read_status(r, &s, STATUS, &seen);
    else if (memcmp(tag, "SMDT", TAG_BYTES) == 0)
      read_page(r, &s, DATA, &seen, &r->has_data, r->data);
    else if (memcmp(tag, "SMTH", TAG_BYTES) == 0)
      read_page(r, &s, THRESHOLDS, &seen, &r->has_thresholds, r->thresholds);
    else if (memcmp(tag, "HREC", TAG_BYTES) == 0 && !(seen & HEADER))
      read_header(r, &s), seen |= HEADER;
    else if (memcmp(tag, "XCMD", TAG_BYTES) == 0)
      read_exchange(r, &s);
    else if (memcmp(tag, "NOTE", TAG_BYTES) == 0)
      read_note(r, &s);
    else if (memcmp(tag, "HSUM", TAG_BYTES) == 0)
      check_sum(r, bytes, at, &s), seen |= SUM;
    at += HEADER_BYTES + size; /* what is not known is passed over */
  }
  if (at < length)
    r->warnings |= seen & SUM ? RECORDING_MORE : RECORDING_CUT;
  if (!(seen & SUM) && (seen & HEADER || r->count > 0))
    r->warnings |= RECORDING_NO_SUM;
  if (r->count == 0 && !(seen & (IDENTIFY | DATA | HEADER)))
    return EBADMSG;
  return 0;
}
