/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One command to a drive and its answer, as they go over the wire: what the transports carry, the
   recorder keeps and the replayer answers from. */
#ifndef HDD_EXCHANGE_H
#define HDD_EXCHANGE_H

#include <stdint.h>

enum exchange_kind {
  EXCHANGE_SCSI = 1, /* `cdb` is a SCSI command block; ATA PASS-THROUGH is one, too */
  EXCHANGE_NVME = 2  /* `cdb` is an admin submission entry of 64 bytes, its addresses left 0 */
};

enum exchange_direction { EXCHANGE_NO_DATA, EXCHANGE_IN, EXCHANGE_OUT };

enum {
  CDB_MOST = 64,
  SENSE_MOST = 64,
  DATA_MOST = 1 << 20, /* bytes that one command may carry */
  NVME_ANSWER = 6      /* "sense" of NVMe: status field (16 bits), dword 0 (32), big-endian */
};

struct exchange {
  uint8_t kind, direction;
  uint8_t cdb_length;
  uint8_t cdb[CDB_MOST];
  uint32_t length; /* bytes that are wanted or given */
  uint8_t *data;   /* as many; zeros where nothing came */
  uint32_t timeout_ms;

  uint8_t result;               /* 0: there is an answer; else the errno value of the failed call */
  uint8_t status, host, driver; /* of SCSI, as Linux gives them */
  uint8_t sense_length;
  uint8_t sense[SENSE_MOST];
  uint32_t transferred; /* bytes that came or went, as far as the transport knows */
  uint32_t microseconds;
};

#endif
