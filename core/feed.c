/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queue of words between two threads; see feed.h. */
#include "feed.h"

#include <errno.h>
#include <stdlib.h>

int feed_open(struct feed *f, uint64_t capacity) {
  *f = (struct feed){.capacity = capacity};
  f->words = malloc(capacity * sizeof *f->words);
  return f->words ? 0 : ENOMEM;
}

void feed_close(struct feed *f) {
  free(f->words);
  f->words = NULL;
}
