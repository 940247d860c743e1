/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers in bytes: SCSI's and the record file's are big-endian, ATA's and NVMe's little-endian. */
#ifndef HDD_BYTES_H
#define HDD_BYTES_H

#include <stdint.h>

static inline uint16_t be16(const uint8_t *p) {
  return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be32(const uint8_t *p) {
  return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static inline uint64_t be64(const uint8_t *p) {
  return (uint64_t)be32(p) << 32 | be32(p + 4);
}

static inline uint16_t le16(const uint8_t *p) {
  return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t le32(const uint8_t *p) {
  return le16(p) | (uint32_t)le16(p + 2) << 16;
}

static inline void put_be16(uint8_t *p, uint16_t n) {
  p[0] = (uint8_t)(n >> 8);
  p[1] = (uint8_t)n;
}

static inline void put_be32(uint8_t *p, uint32_t n) {
  put_be16(p, (uint16_t)(n >> 16));
  put_be16(p + 2, (uint16_t)n);
}

static inline void put_be64(uint8_t *p, uint64_t n) {
  put_be32(p, (uint32_t)(n >> 32));
  put_be32(p + 4, (uint32_t)n);
}

static inline void put_le32(uint8_t *p, uint32_t n) {
  for (int i = 0; i < 4; i++)
    p[i] = (uint8_t)(n >> 8 * i);
}

#endif
