/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hdd.signature: the file systems, partition tables, RAID and LVM members that libblkid recognises on
   a device or in a file.  A module of its own: only who is about to write needs it. */
#define _GNU_SOURCE
#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../error.h"
#include "../table.h"

__attribute__((visibility("default"))) int luaopen_hdd_signature(lua_State *L);

#define PROBE "hdd.signature.probe"

struct probe {
  blkid_probe blkid;
  int fd;
};

static int probe_close(lua_State *L) {
  struct probe *p = luaL_checkudata(L, 1, PROBE);
  if (p->blkid)
    blkid_free_probe(p->blkid);
  if (p->fd >= 0)
    close(p->fd);
  *p = (struct probe){.fd = -1};
  return 0;
}

/* Returns 0 or an errno value. */
static int begin(struct probe *p, const char *path) {
  p->blkid = blkid_new_probe();
  if (!p->blkid)
    return ENOMEM;
  p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (p->fd < 0)
    return errno;
  if (blkid_probe_set_device(p->blkid, p->fd, 0, 0) != 0)
    return errno != 0 ? errno : EIO;
  blkid_probe_enable_superblocks(p->blkid, 1);
  blkid_probe_set_superblocks_flags(p->blkid, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE |
                                                  BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID |
                                                  BLKID_SUBLKS_MAGIC);
  blkid_probe_enable_partitions(p->blkid, 1);
  blkid_probe_set_partitions_flags(p->blkid, BLKID_PARTS_MAGIC);
  return 0;
}

/* Sets `key` in the table on top to what blkid calls `name`, if it knows. */
static bool set_value(lua_State *L, blkid_probe p, const char *key, const char *name) {
  const char *text;
  if (blkid_probe_lookup_value(p, name, &text, NULL) != 0)
    return false;
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
  return true;
}

static void set_offset(lua_State *L, blkid_probe p, const char *name) {
  const char *text;
  if (blkid_probe_lookup_value(p, name, &text, NULL) != 0)
    return;
  lua_pushinteger(L, strtoll(text, NULL, 10));
  lua_setfield(L, -2, "offset_bytes");
}

static void push_signature(lua_State *L, blkid_probe p) {
  lua_createtable(L, 0, 5);
  if (set_value(L, p, "type", "TYPE")) {
    set_value(L, p, "usage", "USAGE");
    set_value(L, p, "label", "LABEL");
    set_value(L, p, "uuid", "UUID");
    set_offset(L, p, "SBMAGIC_OFFSET");
    return;
  }
  set_value(L, p, "type", "PTTYPE");
  set_value(L, p, "uuid", "PTUUID");
  set_offset(L, p, "PTMAGIC_OFFSET");
  lua_pushliteral(L, "partition table");
  lua_setfield(L, -2, "usage");
}

/* The numbers of what was looked at, so that the caller knows that it is what he means. */
static void push_place(lua_State *L, int fd) {
  struct stat st = {0};
  (void)fstat(fd, &st);
  dev_t number = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
  lua_createtable(L, 0, 3);
  set_integer(L, "major", major(number));
  set_integer(L, "minor", minor(number));
  if (S_ISREG(st.st_mode))
    set_integer(L, "inode", st.st_ino);
}

/* find(path) -> list of {type, usage, offset_bytes, label, uuid}, {major, minor, inode} | nil, message,
   code.  Reads only. */
static int find(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  struct probe *p = lua_newuserdatauv(L, sizeof *p, 0);
  *p = (struct probe){.fd = -1};
  luaL_setmetatable(L, PROBE);
  lua_toclose(L, -1);
  int code = begin(p, path), rc;
  if (code != 0)
    return hdd_fail(L, code, "look for a file system on %s", path);
  lua_newtable(L);
  errno = 0;
  while ((rc = blkid_do_probe(p->blkid)) == 0) {
    push_signature(L, p->blkid);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
  if (rc < 0)
    return hdd_fail(L, errno != 0 ? errno : EIO, "look for a file system on %s", path);
  push_place(L, p->fd);
  return 2;
}

int luaopen_hdd_signature(lua_State *L) {
  static const luaL_Reg functions[] = {{"find", find}, {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__close", probe_close}, {"__gc", probe_close}, {NULL, NULL}};
  luaL_newmetatable(L, PROBE);
  luaL_setfuncs(L, meta, 0);
  luaL_newlib(L, functions);
  return 1;
}
