/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rooms of hdd.core.  Each function adds its room's functions and classes to the module table
   on top of the stack. */
#ifndef HDD_CORE_H
#define HDD_CORE_H

#include <lua.h>

void device_register(lua_State *L);     /* open */
void histogram_register(lua_State *L);  /* histogram */
void job_register(lua_State *L);        /* start, Job */
void queue_register(lua_State *L);      /* queue, Queue */
void interrupt_register(lua_State *L);  /* poll, interrupted and what belongs to it, in_slot */
void kernel_log_register(lua_State *L); /* kernel_log, KernelLog */
void setting_register(lua_State *L);    /* setting */
void system_register(lua_State *L);     /* now, time, fsync, isatty, window_size, rename */
void put_register(lua_State *L);        /* put */
void zones_register(lua_State *L);      /* zones */

#endif
