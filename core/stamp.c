/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filling and judging blocks; see stamp.h.  Everything in here works in the cache at several bytes
   a nanosecond: one pass that fills, one that hashes. */
#include "stamp.h"

#include <pthread.h>
#include <stdalign.h>
#include <string.h>
#include <xxhash.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "stamps are written as words are kept");
_Static_assert(sizeof(struct stamp_header) == 40, "the header has no holes");

static const uint64_t MAGIC = UINT64_C(0x706d617473646468); /* "hddstamp" */
static const uint64_t GOLDEN = UINT64_C(0x9e3779b97f4a7c15);

enum { POOL_BYTES = 4096, CHECKSUM_BYTES = 8 };

/* Words that are moved and compared at a time; pairs of them, as a key has four words. */
typedef uint64_t vector __attribute__((vector_size(16), may_alias));
typedef uint64_t word __attribute__((may_alias));

static alignas(64) uint64_t pool[POOL_BYTES / sizeof(uint64_t)];
static pthread_once_t pool_once = PTHREAD_ONCE_INIT;

static inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static void fill_pool(void) {
  for (size_t i = 0; i < sizeof pool / sizeof *pool; i++)
    pool[i] = mix((i + 1) * GOLDEN);
}

uint64_t stamp_drive(const char *serial, size_t length) {
  return XXH3_64bits(serial, length);
}

void stamp_open(struct stamper *s) {
  pthread_once(&pool_once, fill_pool);
  uint64_t salt[] = {s->header.drive, s->header.seed, s->header.pass, s->pattern == STAMP_RANDOM};
  s->header.magic = MAGIC;
  s->base = XXH3_64bits(salt, sizeof salt);
}

/* --- filling ------------------------------------------------------------------------------- */

static inline size_t chunk_of(const struct stamper *s) {
  return s->header.block_size < POOL_BYTES ? s->header.block_size : POOL_BYTES;
}

static inline void key_of(const struct stamper *s, uint64_t chunk_number, vector key[2]) {
  uint64_t state = s->base ^ mix(chunk_number);
  key[0] = (vector){mix(state + GOLDEN), mix(state + 2 * GOLDEN)};
  key[1] = (vector){mix(state + 3 * GOLDEN), mix(state + 4 * GOLDEN)};
}

/* The body words of one chunk, whose number counts chunks from the start of the device. */
static inline void fill_chunk(const struct stamper *s, vector *to, uint64_t number, size_t chunk) {
  const vector *from = (const vector *)((const char *)pool + number * chunk % POOL_BYTES);
  vector key[2];
  key_of(s, number, key);
  for (size_t i = 0; i < chunk / sizeof *to; i += 2) {
    to[i] = from[i] ^ key[0];
    to[i + 1] = from[i + 1] ^ key[1];
  }
}

static void fill_bodies(const struct stamper *s, char *to, uint64_t lba, size_t bytes) {
  size_t chunk = chunk_of(s);
  uint64_t number = lba * (s->header.block_size / chunk);
  for (size_t at = 0; at < bytes; at += chunk)
    fill_chunk(s, (vector *)(to + at), number++, chunk);
}

static inline word *checksum_at(const void *block, size_t size) {
  return (word *)((uintptr_t)block + size - CHECKSUM_BYTES);
}

static void fill_stamps(const struct stamper *s, char *to, uint64_t lba, size_t bytes) {
  struct stamp_header header = s->header;
  size_t size = header.block_size;
  for (char *end = to + bytes; to < end; to += size) {
    header.lba = lba++;
    fill_bodies(s, to, header.lba, size);
    memcpy(to, &header, sizeof header);
    *checksum_at(to, size) = XXH3_64bits(to, size - CHECKSUM_BYTES);
  }
}

void stamp_fill(const struct stamper *s, void *buffer, uint64_t lba, size_t bytes) {
  switch (s->pattern) {
    case STAMP_STAMP: fill_stamps(s, buffer, lba, bytes); break;
    case STAMP_RANDOM: fill_bodies(s, buffer, lba, bytes); break;
    default: memset(buffer, s->byte, bytes);
  }
}

/* --- comparing ----------------------------------------------------------------------------- */

static bool intact(const void *block, size_t size) {
  return *checksum_at(block, size) == XXH3_64bits(block, size - CHECKSUM_BYTES);
}

static inline bool good_stamp(const struct stamper *s, const char *block, uint64_t lba) {
  struct stamp_header header = s->header;
  header.lba = lba;
  return memcmp(block, &header, sizeof header) == 0 && intact(block, header.block_size);
}

static bool constant(const char *block, size_t size, uint8_t byte) {
  uint64_t eight = byte * UINT64_C(0x0101010101010101);
  vector expected = {eight, eight}, even = {0}, odd = {0};
  const vector *v = (const vector *)block;
  for (size_t i = 0; i < size / sizeof *v; i += 2) {
    even |= v[i] ^ expected;
    odd |= v[i + 1] ^ expected;
  }
  even |= odd;
  return (even[0] | even[1]) == 0;
}

static bool good_chunk(const struct stamper *s, const vector *v, uint64_t number, size_t chunk) {
  const vector *from = (const vector *)((const char *)pool + number * chunk % POOL_BYTES);
  vector key[2], even = {0}, odd = {0};
  key_of(s, number, key);
  for (size_t i = 0; i < chunk / sizeof *v; i += 2) {
    even |= v[i] ^ from[i] ^ key[0];
    odd |= v[i + 1] ^ from[i + 1] ^ key[1];
  }
  even |= odd;
  return (even[0] | even[1]) == 0;
}

static bool good_random(const struct stamper *s, const char *block, uint64_t lba) {
  size_t size = s->header.block_size, chunk = chunk_of(s);
  uint64_t number = lba * (size / chunk);
  for (size_t at = 0; at < size; at += chunk)
    if (!good_chunk(s, (const vector *)(block + at), number++, chunk))
      return false;
  return true;
}

size_t stamp_good(const struct stamper *s, const void *buffer, uint64_t lba, size_t blocks) {
  const char *block = buffer;
  size_t size = s->header.block_size;
  for (size_t n = 0; n < blocks; n++, block += size) {
    bool good = s->pattern == STAMP_STAMP    ? good_stamp(s, block, lba + n)
                : s->pattern == STAMP_RANDOM ? good_random(s, block, lba + n)
                                             : constant(block, size, s->byte);
    if (!good)
      return n;
  }
  return blocks;
}

/* --- judging ------------------------------------------------------------------------------- */

struct difference {
  uint32_t bits, first, equal_words;
};

static struct difference compare(const void *found, const void *expected, size_t size) {
  const word *a = found, *b = expected;
  struct difference d = {.first = (uint32_t)size};
  for (size_t i = 0; i < size / sizeof *a; i++) {
    uint64_t wrong = a[i] ^ b[i];
    if (wrong == 0) {
      d.equal_words++;
      continue;
    }
    if (d.first == size)
      d.first = (uint32_t)(i * sizeof *a) + (uint32_t)__builtin_ctzll(wrong) / 8;
    d.bits += (uint32_t)__builtin_popcountll(wrong);
  }
  return d;
}

/* Content that has nothing to do with what was expected differs in half of its bits, and in all of
   its words but those of the header that two stamps of a drive share. */
static bool nearly(const struct difference *d, size_t size) {
  return d->bits < size * 8 / 4 || d->equal_words >= size / sizeof(uint64_t) / 4;
}

static enum stamp_kind kind_of(const struct stamper *s, const struct stamp_header *h,
                               uint64_t lba) {
  return h->drive != s->header.drive ? STAMP_FOREIGN
         : h->lba != lba             ? STAMP_MISDIRECTED
         : h->pass != s->header.pass || h->seed != s->header.seed || s->pattern != STAMP_STAMP
             ? STAMP_LOST
             : STAMP_BIT_ROT;
}

/* Is it a stamped block, if only by most of its bits?  Then its header is f->header. */
static bool was_stamped(const struct stamper *s, const void *block, void *scratch,
                        struct stamp_finding *f) {
  memcpy(&f->header, block, sizeof f->header);
  size_t size = s->header.block_size;
  if (f->header.magic != MAGIC || f->header.block_size != size)
    return false;
  if (intact(block, size))
    return true;
  struct stamper other = {.pattern = STAMP_STAMP, .header = f->header};
  stamp_open(&other);
  stamp_fill(&other, scratch, f->header.lba, size);
  struct difference d = compare(block, scratch, size);
  return nearly(&d, size);
}

void stamp_judge(const struct stamper *s, const void *block, uint64_t lba, void *expected,
                 struct stamp_finding *f) {
  size_t size = s->header.block_size;
  *f = (struct stamp_finding){.kind = STAMP_UNKNOWN};
  stamp_fill(s, expected, lba, size);
  struct difference d = compare(block, expected, size);
  f->bits = d.bits;
  f->first = d.first;
  f->byte = *(const uint8_t *)block;
  f->constant = constant(block, size, f->byte);
  f->stamped = was_stamped(s, block, (char *)expected + size, f);
  if (f->stamped)
    f->kind = kind_of(s, &f->header, lba);
  else if (nearly(&d, size))
    f->kind = STAMP_BIT_ROT;
  else if (f->constant && f->byte == 0)
    f->kind = STAMP_ZEROES;
  else if (f->constant && (f->byte == 0xaa || f->byte == 0x55 || f->byte == 0xff))
    f->kind = STAMP_LOST;
}
