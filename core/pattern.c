/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the next read goes; see pattern.h. */
#include "pattern.h"

#include <stdlib.h>

static uint32_t shortened(const struct pattern *p, int64_t offset, int64_t end) {
  int64_t left = end - offset;
  return left < (int64_t)p->block ? (uint32_t)left : p->block;
}

static enum pattern_answer sequential(struct pattern *p, int64_t *offset, uint32_t *length) {
  if (p->next >= p->end) {
    if (!p->loop)
      return PATTERN_ENDS;
    p->next = p->start;
  }
  *offset = p->next;
  *length = shortened(p, p->next, p->end);
  p->next += *length;
  return PATTERN_GIVES;
}

static int64_t min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static enum pattern_answer strided(struct pattern *p, int64_t *offset, uint32_t *length) {
  if (p->next >= p->zone_end) {
    /* compare before adding: zone_end + skip may pass 2^63 */
    if (p->skip >= p->end - p->zone_end) {
      if (!p->loop)
        return PATTERN_ENDS;
      p->next = p->start;
    } else {
      p->next = p->zone_end + p->skip;
    }
    p->zone_end = p->next + min64(p->zone, p->end - p->next);
  }
  *offset = p->next;
  *length = shortened(p, p->next, p->zone_end);
  p->next += *length;
  return PATTERN_GIVES;
}

static enum pattern_answer list(struct pattern *p, int64_t *offset, uint32_t *length) {
  if (p->list_next == p->list_length) {
    if (!p->loop)
      return PATTERN_ENDS;
    p->list_next = 0;
  }
  *offset = p->list[p->list_next++];
  *length = shortened(p, *offset, p->end);
  return PATTERN_GIVES;
}

static enum pattern_answer function(struct pattern *p, int64_t *offset, uint32_t *length) {
  uint64_t word;
  if (p->no_more)
    return PATTERN_ENDS;
  if (!feed_take(&p->offsets, &word))
    return PATTERN_WAITS;
  if (word == PATTERN_NO_MORE) {
    p->no_more = true; /* asked again, the answer is the same */
    return PATTERN_ENDS;
  }
  *offset = (int64_t)word;
  *length = shortened(p, *offset, p->end);
  return PATTERN_GIVES;
}

enum pattern_answer pattern_next_other(struct pattern *p, int64_t *offset, uint32_t *length) {
  switch (p->kind) {
    case PATTERN_SEQUENTIAL: return sequential(p, offset, length);
    case PATTERN_STRIDED: return strided(p, offset, length);
    case PATTERN_LIST: return list(p, offset, length);
    default: return function(p, offset, length);
  }
}

void pattern_close(struct pattern *p) {
  free(p->list);
  p->list = NULL;
  feed_close(&p->offsets);
}
