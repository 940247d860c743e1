/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything that was said to a drive and what it answered: kept in memory, written to one file,
   read back and answered from. The file is a libatasmart blob with more chunks;
   docs/recording-file.md describes it. */
#ifndef HDD_RECORDING_H
#define HDD_RECORDING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "exchange.h"

enum {
  RECORDING_MOST = 64 << 20, /* bytes of exchanges that one recording keeps */
  BLOB_PAGE = 512,
  TEXT_MOST = 256
};

/* What was wrong with a file that could be read all the same. */
enum {
  RECORDING_CUT = 1,    /* the last chunk is not whole */
  RECORDING_NO_SUM = 2, /* exchanges without a sum at the end */
  RECORDING_WRONG_SUM = 4,
  RECORDING_BAD_CHUNK = 8, /* a chunk was not what its tag says; it was left out */
  RECORDING_DOUBLE = 16,   /* a chunk that is there twice: the first counts */
  RECORDING_MORE = 32,     /* bytes after the end */
  RECORDING_NEWER = 64     /* of a later version than this one knows */
};

/* Shared by its Lua object and the transports that add to it or answer from it. */
struct recording {
  _Atomic int references;
  pthread_mutex_t lock; /* on everything below: exchanges are added by the worker's thread */
  struct exchange *exchanges;
  uint32_t count, room;
  size_t bytes;     /* that they take in a file */
  uint32_t dropped; /* exchanges beyond RECORDING_MOST, or without memory */

  uint64_t time;                /* s since 1970 */
  char tool[TEXT_MOST];         /* "hddlua 0.1.0" */
  char kernel[TEXT_MOST];       /* "Linux 6.1.0" */
  char device_class[TEXT_MOST]; /* of the path, without a number: "sd", "nvme" */
  bool anonymised;
  char (*notes)[TEXT_MOST];
  uint32_t note_count;

  /* A libatasmart blob's own, where there is no exchange that says so. */
  bool has_identify, has_data, has_thresholds;
  int8_t good; /* SMART status: 1, 0, or -1 when unknown */
  uint8_t identify[BLOB_PAGE], data[BLOB_PAGE], thresholds[BLOB_PAGE];

  unsigned warnings; /* RECORDING_... */
};

struct recording *recording_new(void); /* NULL: no memory */
struct recording *recording_share(struct recording *r);
void recording_release(struct recording *r);

/* Adds a copy of the exchange; what finds no room is counted. */
void recording_add(struct recording *r, const struct exchange *x);

/* Adds a remark.  Returns 0 or ENOMEM. */
int recording_note(struct recording *r, const char *text);

/* Writes the file's bytes to `to` when they fit into `room`, and returns their number. */
size_t recording_write(struct recording *r, uint8_t *to, size_t room);

/* Fills an empty recording from a file's bytes.  Returns 0, ENOMEM, or EBADMSG when it is neither a
   recording nor a blob. */
int recording_read(struct recording *r, const uint8_t *bytes, size_t length);

/* Fills in the page of a blob that is still unknown from what an exchange was about. */
void recording_learn(struct recording *r, const struct exchange *x);

#endif
