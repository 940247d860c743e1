/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening a device and finding its size and block sizes; see device.h. */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "core.h"
#include "error.h"
#include "options.h"
#include "table.h"

#define DEVICE "hdd.Device"

/* --- plain C ------------------------------------------------------------------------------- */

struct device *device_share(struct device *d) {
  atomic_fetch_add_explicit(&d->references, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&d->readers, 1, memory_order_relaxed);
  return d;
}

void device_done(struct device *d) {
  if (atomic_fetch_sub_explicit(&d->readers, 1, memory_order_acq_rel) == 1 && d->fd >= 0)
    close(d->fd);
}

void device_release(struct device *d) {
  if (atomic_fetch_sub_explicit(&d->references, 1, memory_order_acq_rel) > 1)
    return;
  free(d);
}

/* The logical block size of the block device that holds a file, from sysfs; 0 when there is none
   (network and memory file systems). */
static unsigned block_size_beneath(dev_t dev) {
  static const char *const form[] = {"/sys/dev/block/%u:%u/queue/logical_block_size",
                                     "/sys/dev/block/%u:%u/../queue/logical_block_size"};
  for (int i = 0; i < 2; i++) {
    char path[96];
    unsigned size = 0;
    snprintf(path, sizeof path, form[i], major(dev), minor(dev));
    FILE *f = fopen(path, "re");
    if (!f)
      continue;
    if (fscanf(f, "%u", &size) != 1)
      size = 0;
    fclose(f);
    if (size > 0)
      return size;
  }
  return 0;
}

/* The alignment that direct reads of a file need: what its file system says (Linux 6.1), else the
   logical block size of the drive beneath. */
static unsigned file_alignment(int fd, dev_t dev) {
#ifdef STATX_DIOALIGN
  struct statx x = {0};
  if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &x) == 0 &&
      (x.stx_mask & STATX_DIOALIGN) && x.stx_dio_offset_align > 0)
    return x.stx_dio_offset_align;
#endif
  unsigned size = block_size_beneath(dev);
  return size > 0 ? size : 512;
}

/* Fills in size and block sizes.  Returns 0 or an errno value; ENOMEDIUM when there is nothing to
   read, ERANGE when the given size is not that of a beginning of it. */
static int measure(struct device *d, const struct stat *st, int64_t given_size) {
  d->block = S_ISBLK(st->st_mode);
  d->logical_block_size = d->physical_block_size = 1;
  if (d->block) {
    uint64_t bytes = 0;
    int logical = 0;
    unsigned physical = 0;
    if (ioctl(d->fd, BLKGETSIZE64, &bytes) != 0 || ioctl(d->fd, BLKSSZGET, &logical) != 0)
      return errno;
    if (bytes > INT64_MAX)
      return EFBIG;
    d->size = (int64_t)bytes;
    d->logical_block_size = d->physical_block_size = (unsigned)logical;
    if (ioctl(d->fd, BLKPBSZGET, &physical) == 0 && physical >= (unsigned)logical)
      d->physical_block_size = physical;
  } else if (S_ISREG(st->st_mode)) {
    d->size = st->st_size;
    if (d->direct) {
      d->logical_block_size = file_alignment(d->fd, st->st_dev);
      d->physical_block_size = d->logical_block_size;
      d->size -= d->size % d->logical_block_size;
    }
  } else {
    d->size = given_size;
  }
  if (given_size > d->size || (given_size > 0 && given_size < d->logical_block_size))
    return ERANGE;
  if (given_size > 0)
    d->size = given_size - given_size % d->logical_block_size;
  return d->size > 0 ? 0 : ENOMEDIUM;
}

static const char *type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFBLK: return "block";
    case S_IFREG: return "file";
    case S_IFCHR: return "character";
    case S_IFDIR: return "directory";
    case S_IFIFO: return "FIFO";
    case S_IFSOCK: return "socket";
    default: return "special file";
  }
}

/* --- Lua ----------------------------------------------------------------------------------- */

/* The userdata holds a pointer: the struct outlives it while a job still reads. */
static struct device **slot_of(lua_State *L, int index) {
  return luaL_checkudata(L, index, DEVICE);
}

struct device *device_check(lua_State *L, int index) {
  return *slot_of(L, index);
}

static int refuse(lua_State *L, int code, const char *path, bool writing) {
  if (writing && (code == EBUSY || code == ETXTBSY || code == EWOULDBLOCK))
    return hdd_fail_with(
        L, EBUSY,
        "%s: in use: it is mounted, swap, part of a RAID or LVM, or another program "
        "writes to it: nothing is written to it as long as that is so",
        path);
  if (writing && (code == EROFS || code == EACCES || code == EPERM))
    return hdd_fail_with(L, code, "%s: open for writing: %s: %s", path, strerror(code),
                         code == EROFS ? "it is read-only" : "run as root; or it is set read-only");
  switch (code) {
    case EACCES:
    case EPERM:
      return hdd_fail_with(L, code,
                           "%s: %s: run as root, or join the group that may read it (disk)", path,
                           strerror(code));
    case ENOMEDIUM: return hdd_fail_with(L, code, "%s: no medium: nothing to read (size 0)", path);
    case EINVAL:
      return hdd_fail_with(L, code,
                           "%s: direct I/O is refused by this file system; buffered reads measure "
                           "the page cache too and must be asked for (buffered = true, --buffered)",
                           path);
    default: return hdd_fail(L, code, "%s", path);
  }
}

/* Is `path` something that can be read at all?  0, or the number of values that say why not. */
static int refuse_type(lua_State *L, const char *path, const struct stat *st, int64_t given_size) {
  if (!S_ISBLK(st->st_mode) && !S_ISREG(st->st_mode) && !S_ISCHR(st->st_mode))
    return hdd_fail_with(L, S_ISDIR(st->st_mode) ? EISDIR : ENOTBLK,
                         "%s: is a %s: give a drive, a partition or a file", path,
                         type_of(st->st_mode));
  if (S_ISCHR(st->st_mode) && given_size == 0)
    return hdd_fail_with(L, ENOTBLK,
                         "%s: is a character device: it has no size of its own, so give one (size)",
                         path);
  if (S_ISREG(st->st_mode) && st->st_size == 0)
    return hdd_fail_with(L, ENODATA, "%s: the file is empty: nothing to read", path);
  return 0;
}

/* Why what is at `path` could not be opened or measured; raises when it is the given size. */
static int refuse_measure(lua_State *L, int code, const char *path, const struct stat *st,
                          const struct device *d, int64_t given_size) {
  if (code == ENOMEDIUM && S_ISREG(st->st_mode))
    return hdd_fail_with(L, ENODATA, "%s: the file is smaller than a logical block of %d bytes",
                         path, (int)d->logical_block_size);
  if (code == ERANGE)
    return hdd_misuse(L, "option 'size': %I: must be from %d to %I bytes, all that %s has",
                      (LUAI_UACINT)given_size, (int)d->logical_block_size, (LUAI_UACINT)d->size,
                      path);
  return refuse(L, code, path, d->writable);
}

/* A device that is not open yet; NULL without memory. */
static struct device *new_device(const char *path, bool buffered, bool character) {
  size_t length = strlen(path) + 1;
  struct device *d = calloc(1, sizeof *d + length);
  if (!d)
    return NULL;
  d->references = d->readers = 1;
  d->fd = -1;
  d->direct = !buffered && !character;
  d->cached = buffered && !character;
  memcpy(d->path, path, length);
  return d;
}

/* One try to open it: for writing, too, if nobody else has it.  A block device is claimed as a mount
   claims it, which fails whatever the mount's namespace; a file is locked.  Returns 0 or an errno
   value. */
static int try_open(struct device *d, mode_t mode) {
  int flags = O_CLOEXEC | O_NOCTTY | (d->direct ? O_DIRECT : 0);
  flags |= d->writable ? O_RDWR | (S_ISBLK(mode) ? O_EXCL : 0) : O_RDONLY;
  d->fd = open(d->path, flags);
  if (d->fd < 0)
    return errno;
  if (d->writable && !S_ISBLK(mode) && flock(d->fd, LOCK_EX | LOCK_NB) != 0) {
    int code = errno;
    close(d->fd);
    d->fd = -1;
    return code;
  }
  return 0;
}

/* Opens it.  The kernel lets go of a ring's files some time after the ring was closed, or its process
   killed: whoever writes again right away waits for that. */
static int open_file(struct device *d, mode_t mode) {
  static const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
  enum { TRIES = 100 };
  int code = try_open(d, mode);
  for (int i = 1; i < TRIES && d->writable && (code == EBUSY || code == EWOULDBLOCK); i++) {
    nanosleep(&pause, NULL);
    code = try_open(d, mode);
  }
  return code;
}

/* The table of the fields that a script sees. */
static void push_fields(lua_State *L, const struct device *d, const struct stat *st) {
  char real[PATH_MAX];
  dev_t number = S_ISREG(st->st_mode) ? st->st_dev : st->st_rdev;
  lua_createtable(L, 0, 12);
  lua_pushstring(L, d->path);
  lua_setfield(L, -2, "path");
  lua_pushstring(L, realpath(d->path, real) ? real : d->path);
  lua_setfield(L, -2, "real_path");
  lua_pushstring(L, type_of(st->st_mode));
  lua_setfield(L, -2, "type");
  set_integer(L, "size", d->size);
  set_integer(L, "logical_block_size", d->logical_block_size);
  set_integer(L, "physical_block_size", d->physical_block_size);
  set_integer(L, "major", major(number)); /* of the device itself, or of a file's file system */
  set_integer(L, "minor", minor(number));
  if (S_ISREG(st->st_mode))
    set_integer(L, "inode", (int64_t)st->st_ino);
  uint64_t diskseq; /* a number that no other disk gets until the next boot: Linux 5.15 */
  if (d->block && ioctl(d->fd, BLKGETDISKSEQ, &diskseq) == 0)
    set_integer(L, "diskseq", (int64_t)diskseq);
  lua_pushboolean(L, d->writable);
  lua_setfield(L, -2, "writable");
  lua_pushboolean(L, d->direct);
  lua_setfield(L, -2, "direct");
}

/* open(path, {size = bytes, buffered = boolean, write = boolean}); whether writing is wanted is for
   hdd.consent to say */
static int device_open(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  int64_t given_size = 0;
  bool buffered = false, write = false;
  if (!lua_isnoneornil(L, 2)) {
    static const char *const known[] = {"size", "buffered", "write", NULL};
    options_known(L, 2, known);
    given_size = option_integer(L, 2, "size", 0, 1, INT64_MAX);
    buffered = option_boolean(L, 2, "buffered", false);
    write = option_boolean(L, 2, "write", false);
  }
  lua_settop(L, 2);

  struct device **slot = lua_newuserdatauv(L, sizeof *slot, 1);
  *slot = NULL; /* closed, so safe to collect... */
  luaL_setmetatable(L, DEVICE);

  struct stat st, opened = {0};
  if (stat(path, &st) != 0) /* first: opening a FIFO would wait for its writer */
    return refuse(L, errno, path, false);
  if (write && S_ISCHR(st.st_mode))
    return hdd_fail_with(L, ENOTBLK,
                         "%s: is a character device: only drives and files are written to", path);
  int refused = refuse_type(L, path, &st, given_size);
  if (refused != 0)
    return refused;
  struct device *d = new_device(path, buffered, S_ISCHR(st.st_mode));
  if (!d)
    return luaL_error(L, "not enough memory");
  *slot = d;
  d->writable = write;
  int code = open_file(d, st.st_mode);
  if (code == 0 && fstat(d->fd, &opened) != 0)
    code = errno;
  if (code == 0 && (opened.st_dev != st.st_dev || opened.st_ino != st.st_ino))
    code = ESTALE; /* the name was given to something else between stat and open */
  if (code == 0)
    code = measure(d, &opened, given_size);
  if (code != 0) {
    if (d->fd >= 0)
      close(d->fd); /* now, not when the collector comes */
    d->fd = -1;
    return refuse_measure(L, code, path, &st, d, given_size);
  }
  push_fields(L, d, &opened);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

/* close, __close and __gc: the script's share ends; jobs notice and the last one closes. */
static int device_close(lua_State *L) {
  struct device **slot = slot_of(L, 1);
  if (*slot && !atomic_exchange(&(*slot)->closed, true)) {
    struct device *d = *slot;
    lua_pushnil(L);
    lua_setiuservalue(L, 1, 1);
    *slot = NULL;
    device_done(d);
    device_release(d);
  }
  return 0;
}

static int device_index(lua_State *L) {
  struct device **slot = slot_of(L, 1);
  const char *key = luaL_checkstring(L, 2);
  if (strcmp(key, "close") == 0) {
    lua_pushcfunction(L, device_close);
  } else if (strcmp(key, "open") == 0) {
    lua_pushboolean(L, *slot != NULL);
  } else if (lua_getiuservalue(L, 1, 1) == LUA_TTABLE) {
    lua_getfield(L, -1, key);
  } else {
    lua_pushnil(L);
  }
  return 1;
}

static int device_tostring(lua_State *L) {
  struct device **slot = slot_of(L, 1);
  if (*slot)
    lua_pushfstring(L, "device %s", (*slot)->path);
  else
    lua_pushliteral(L, "device (closed)");
  return 1;
}

void device_register(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", device_index},
                                  {"__tostring", device_tostring},
                                  {"__close", device_close},
                                  {"__gc", device_close},
                                  {NULL, NULL}};
  luaL_newmetatable(L, DEVICE);
  luaL_setfuncs(L, meta, 0);
  lua_pop(L, 1);
  lua_pushcfunction(L, device_open);
  lua_setfield(L, -2, "open");
}
