/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command as a script writes it: a table that becomes the bytes that go to the drive. */
#include <lauxlib.h>
#include <string.h>

#include "../error.h"
#include "ata.h"
#include "bytes.h"
#include "commands.h"

static const lua_Integer LONGEST_S = 86400;

/* Data that go out, or the number of bytes that are to come in. */
static const char *read_data(lua_State *L, struct exchange *x) {
  size_t n;
  const char *data = field_bytes(L, 2, "data", &n);
  lua_Integer length = field_integer(L, 2, "length", 0, 0, DATA_MOST);
  if (n > DATA_MOST)
    hdd_misuse(L, "'data': %I bytes: one command carries at most %d", (LUAI_UACINT)n, DATA_MOST);
  if (data && length > 0)
    hdd_misuse(L, "'data' goes out, 'length' is what is to come in: give one of them");
  x->direction = data ? EXCHANGE_OUT : length > 0 ? EXCHANGE_IN : EXCHANGE_NO_DATA;
  x->length = data ? (uint32_t)n : (uint32_t)length;
  return data;
}

static const char *read_ata(lua_State *L, struct exchange *x) {
  static const char *const names[] = {"non-data", "pio-in", "pio-out", "dma-in", "dma-out", NULL};
  static const uint8_t protocols[] = {ATA_NON_DATA, ATA_PIO_IN, ATA_PIO_OUT, ATA_DMA, ATA_DMA};
  lua_getfield(L, 2, "protocol");
  int protocol = luaL_checkoption(L, -1, "non-data", names);
  bool extended = field_boolean(L, 2, "extended");
  lua_Integer wide = extended ? 0xffff : 0xff;
  struct ata_command c = {
      .protocol = protocols[protocol],
      .to_device = protocol == 2 || protocol == 4,
      .extended = extended,
      .registers = field_boolean(L, 2, "registers"),
      .command = (uint8_t)field_integer(L, 2, "command", -1, 0, 0xff),
      .features = (uint16_t)field_integer(L, 2, "features", 0, 0, wide),
      .count = (uint16_t)field_integer(L, 2, "count", 0, 0, wide),
      .lba = (uint64_t)field_integer(L, 2, "lba", 0, 0, extended ? 0xffffffffffff : 0xfffffff),
      .device = (uint8_t)field_integer(L, 2, "device", 0, 0, 0xff),
  };
  lua_Integer form = field_integer(L, 2, "form", 16, 12, 16);
  size_t n;
  const char *data = field_bytes(L, 2, "data", &n);
  uint32_t sectors = protocol == 0 ? 0 : c.count;
  if (lua_getfield(L, 2, "command") == LUA_TNIL)
    hdd_misuse(L, "'command': an ATA command code expected");
  if (protocol > 0 && (sectors == 0 || sectors > DATA_MOST / BLOB_PAGE))
    hdd_misuse(L, "'count': %d: sectors of 512 bytes, from 1 to %d", (int)sectors,
               DATA_MOST / BLOB_PAGE);
  if (c.to_device ? n != (size_t)sectors * BLOB_PAGE : data != NULL)
    hdd_misuse(L, "'data': %I bytes: must be 512 for each sector that goes out (%d)",
               (LUAI_UACINT)n, c.to_device ? (int)sectors : 0);
  if (!ata_pack(&c, (int)form, x))
    hdd_misuse(L, "the 12 byte form carries no 48 bit command");
  x->length = sectors * BLOB_PAGE;
  return data;
}

static const char *read_scsi(lua_State *L, struct exchange *x) {
  size_t n;
  const char *cdb = field_bytes(L, 2, "cdb", &n);
  if (!cdb || n < 6 || n > 32) {
    hdd_misuse(L, "'cdb': a command block of 6 to 32 bytes expected");
    return NULL;
  }
  memcpy(x->cdb, cdb, n);
  x->cdb_length = (uint8_t)n;
  x->kind = EXCHANGE_SCSI;
  return read_data(L, x);
}

static const char *read_nvme(lua_State *L, struct exchange *x) {
  static const char *const fields[] = {"cdw10", "cdw11", "cdw12", "cdw13", "cdw14", "cdw15"};
  x->kind = EXCHANGE_NVME;
  x->cdb_length = 64;
  lua_Integer opcode = field_integer(L, 2, "opcode", -1, 0, 0xff);
  if (opcode < 0)
    hdd_misuse(L, "'opcode': an NVMe admin command expected");
  x->cdb[0] = (uint8_t)opcode;
  put_le32(x->cdb + 4, (uint32_t)field_integer(L, 2, "nsid", 0, 0, 0xffffffff));
  for (int i = 0; i < 6; i++)
    put_le32(x->cdb + 40 + 4 * (size_t)i,
             (uint32_t)field_integer(L, 2, fields[i], 0, 0, 0xffffffff));
  return read_data(L, x);
}

const char *command_read(lua_State *L, struct exchange *x) {
  static const char *const kinds[] = {"ata", "scsi", "nvme", NULL};
  const char *data;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_getfield(L, 2, "kind");
  switch (luaL_checkoption(L, -1, NULL, kinds)) {
    case 0: data = read_ata(L, x); break;
    case 1: data = read_scsi(L, x); break;
    default: data = read_nvme(L, x); break;
  }
  lua_getfield(L, 2, "timeout");
  lua_Number timeout = luaL_optnumber(L, -1, 20);
  if (!(timeout > 0) || timeout > (lua_Number)LONGEST_S)
    hdd_misuse(L, "'timeout': seconds above 0, at most %I", (LUAI_UACINT)LONGEST_S);
  x->timeout_ms = timeout < 0.001 ? 1 : (uint32_t)(timeout * 1000);
  return data;
}
