/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a write test writes: each logical block says of itself which drive, place, pass and seed it
   was written for, so that what is found there later tells what became of the write.

   A stamped block of `block_size` bytes, all numbers little-endian:

     offset          bytes
     0               8     magic, "hddstamp"
     8               8     drive: XXH3_64bits of its serial number
     16              8     LBA, in blocks of `block_size` from the start of what was opened
     24              8     seed
     32              4     pass
     36              4     block_size
     40              -     body, words of 64 bits
     block_size - 8  8     checksum: XXH3_64bits of all bytes before it

   Word w of the body, counted from the start of the block, is pool[p % 512] ^ key[p % 4], where
   p = LBA * block_size / 8 + w, pool[i] is the i-th output (from 0) of splitmix64 started at 0, and
   key[0 ... 3] are the first outputs of splitmix64 started at base ^ mix(p * 8 / chunk). There
   chunk = min(block_size, 4096), mix is splitmix64's finaliser, and base is XXH3_64bits of the 32
   bytes drive, seed, pass (64 bits), pattern (64 bits: 0 of stamps, 1 of random blocks).

   Of the plain patterns one byte fills a block (aa, 55, ff, 00), or nothing but body words do
   (random). */
#ifndef HDD_STAMP_H
#define HDD_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stamp_pattern { STAMP_STAMP, STAMP_RANDOM, STAMP_BYTE };

/* The smallest and largest block, bytes: a power of two between them. */
enum { STAMP_BLOCK_LEAST = 512, STAMP_BLOCK_MOST = 65536 };

struct stamp_header {
  uint64_t magic, drive, lba, seed;
  uint32_t pass, block_size;
};

/* What blocks are filled with; plain values, shared by nobody. */
struct stamper {
  enum stamp_pattern pattern;
  uint8_t byte;               /* of STAMP_BYTE */
  struct stamp_header header; /* all but the LBA */
  uint64_t base;
};

/* What was found where another content was expected. */
enum stamp_kind {
  STAMP_BIT_ROT,     /* nearly what was expected */
  STAMP_LOST,        /* an older pass, another seed, another plain pattern */
  STAMP_MISDIRECTED, /* this drive's block of another LBA */
  STAMP_FOREIGN,     /* another drive's */
  STAMP_ZEROES,
  STAMP_UNKNOWN,
  STAMP_KINDS
};

struct stamp_finding {
  enum stamp_kind kind;
  bool stamped;  /* it is, or was, a stamped block: its header is in `header` */
  bool constant; /* one byte fills it: `byte` */
  uint8_t byte;
  struct stamp_header header;
  uint32_t bits;  /* that differ from what was expected */
  uint32_t first; /* byte of the block that differs first */
};

/* The hash of a serial number that stamps carry. */
uint64_t stamp_drive(const char *serial, size_t length);

/* Makes ready what `pattern`, `byte` and `header` describe. */
void stamp_open(struct stamper *s);

/* Fills `bytes` (whole blocks) for the blocks from `lba` on. The buffer is aligned to 16 bytes. */
void stamp_fill(const struct stamper *s, void *buffer, uint64_t lba, size_t bytes);

/* How many blocks from the first on are as they were written. The buffer is aligned to 16 bytes. */
size_t stamp_good(const struct stamper *s, const void *buffer, uint64_t lba, size_t blocks);

/* Tells what became of a block that is not as it was written. `expected` gets the block that it
   should be; it has room for two, and both are aligned to 16 bytes. */
void stamp_judge(const struct stamper *s, const void *block, uint64_t lba, void *expected,
                 struct stamp_finding *f);

#endif
