/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing a few bytes back to where they were read: for procedures that put in order what they
   changed, also after Ctrl-C, when no job and no queue starts any more. */
#define _GNU_SOURCE
#include <errno.h>
#include <lauxlib.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "core.h"
#include "device.h"
#include "error.h"

enum { PUT_MOST = 1 << 20 };

/* 0 or an errno value: all `length` bytes are on the medium, if the drive does what it says. */
static int put(const struct device *d, const char *bytes, size_t length, int64_t offset) {
  void *buffer;
  int code = posix_memalign(&buffer, 4096, length);
  if (code != 0)
    return code;
  memcpy(buffer, bytes, length);
  struct iovec part = {.iov_base = buffer, .iov_len = length};
  ssize_t n = pwritev2(d->fd, &part, 1, offset, RWF_DSYNC);
  code = n < 0 ? errno : (size_t)n < length ? EIO : 0;
  free(buffer);
  return code;
}

/* put(device, offset, bytes) -> true | nil, message, code.  Blocks until the drive has answered. */
static int core_put(lua_State *L) {
  struct device *d = device_check(L, 1);
  lua_Integer offset = luaL_checkinteger(L, 2);
  size_t length;
  const char *bytes = luaL_checklstring(L, 3, &length);
  size_t block = d->logical_block_size;
  luaL_argcheck(L, length > 0 && length <= PUT_MOST && length % block == 0, 3,
                "not whole logical blocks of at most 1 MiB");
  luaL_argcheck(L, offset >= 0 && offset % (lua_Integer)block == 0, 2,
                "not on a logical block's boundary");
  luaL_argcheck(L, offset <= d->size - (lua_Integer)length, 2, "beyond the end of the device");
  if (atomic_load_explicit(&d->closed, memory_order_relaxed))
    return hdd_fail_with(L, EBADF, "closed");
  if (!d->writable)
    return hdd_fail_with(L, EBADF, "%s: not opened for writing", d->path);
  int code = put(d, bytes, length, offset);
  if (code != 0)
    return hdd_fail(L, code, "write %s at %I", d->path, (LUAI_UACINT)offset);
  lua_pushboolean(L, 1);
  return 1;
}

void put_register(lua_State *L) {
  lua_pushcfunction(L, core_put);
  lua_setfield(L, -2, "put");
}
