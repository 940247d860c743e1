/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of what was not as asked; see warning.h. */
#include "warning.h"

#include <stdarg.h>
#include <string.h>

void warning_add(lua_State *L, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  lua_pushvfstring(L, format, ap);
  va_end(ap);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

static void add_of_ring(lua_State *L, const struct ring *r) {
  if (r->notes & RING_NO_SINGLE_ISSUER)
    warning_add(L,
                "io_uring without SINGLE_ISSUER: this kernel (before Linux 6.0) does not know it");
  if (r->notes & RING_NO_TASKRUN)
    warning_add(L,
                "io_uring without the task-run mode asked for: this kernel does not know it; reads "
                "cost more CPU");
  if (r->notes & RING_NO_FIXED_BUFFERS)
    warning_add(L,
                "read buffers (%I bytes) are not registered: %s: a higher limit on locked memory "
                "(ulimit -l) would allow it; reads cost more CPU",
                (LUAI_UACINT)r->buffer_bytes, strerror(r->buffers_error));
  if (r->notes & RING_NO_FIXED_FILE)
    warning_add(L, "the device is not registered with io_uring: reads cost more CPU");
}

void warning_add_common(lua_State *L, const struct ring *r, bool cached, uint64_t retries) {
  add_of_ring(L, r);
  if (cached)
    warning_add(L, "reads went through the page cache: they measure memory as well as the drive");
  if (retries > 0)
    warning_add(L, "the kernel was short of resources %I times (EAGAIN, EBUSY); tried again",
                (LUAI_UACINT)retries);
}
