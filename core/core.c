/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hdd.core: what only C can give to a script.  Mechanism, no policy: it does not know what a zone
   profile is.  Users reach it through `require "hdd"`. */
#include "core.h"

#include <lauxlib.h>

__attribute__((visibility("default"))) int luaopen_hdd_core(lua_State *L);

int luaopen_hdd_core(lua_State *L) {
  lua_newtable(L);
  system_register(L);
  interrupt_register(L);
  kernel_log_register(L);
  setting_register(L);
  device_register(L);
  histogram_register(L);
  job_register(L);
  queue_register(L);
  put_register(L);
  zones_register(L);
  return 1;
}
