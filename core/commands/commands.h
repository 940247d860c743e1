/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rooms of hdd.commands.  Each function adds its room's functions and classes to the module
   table on top of the stack. */
#ifndef HDD_COMMANDS_H
#define HDD_COMMANDS_H

#include <lua.h>

#include "recording.h"
#include "transport.h"

void transport_register(lua_State *L); /* open */
void recording_register(lua_State *L); /* recording, decode */
void atasmart_register(lua_State *L);  /* atasmart */

/* The recording at `index`, or raises. */
struct recording *recording_check(lua_State *L, int index);

/* Pushes a transport that answers from the recording. */
int transport_push_replay(lua_State *L, struct recording *r);

/* Reads the command of the table at 2, or raises.  Returns what goes out, which stays on the stack;
   NULL: nothing. */
const char *command_read(lua_State *L, struct exchange *x);

/* --- for tables ---------------------------------------------------------------------------- */

/* The integer field `key` of the table at `index`, in its range, or raises; `absent` if nil. */
lua_Integer field_integer(lua_State *L, int index, const char *key, lua_Integer absent,
                          lua_Integer least, lua_Integer most);
bool field_boolean(lua_State *L, int index, const char *key);

/* The string field `key`, which stays on the stack; NULL when nil. */
const char *field_bytes(lua_State *L, int index, const char *key, size_t *length);

/* Sets fields of the table on top. */
void set_integer(lua_State *L, const char *key, lua_Integer n);
void set_boolean(lua_State *L, const char *key, bool b);
void set_bytes(lua_State *L, const char *key, const void *bytes, size_t n);
void set_string(lua_State *L, const char *key, const char *text); /* NULL: leaves it out */

#endif
