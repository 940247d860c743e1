/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rooms of hdd.core.  Each function adds its room's functions and classes to the module table
   on top of the stack. */
#ifndef HDD_CORE_H
#define HDD_CORE_H

#include <lua.h>

void device_register(lua_State *L);    /* open */
void histogram_register(lua_State *L); /* histogram */
void job_register(lua_State *L);       /* start */
void queue_register(lua_State *L);     /* queue */
void interrupt_register(lua_State *L); /* poll, signals */
void setting_register(lua_State *L);   /* setting */
void system_register(lua_State *L);    /* now, fsync, isatty, window_size, time */

#endif
