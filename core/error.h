/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the core reports: misuse raises (luaL_argerror and the like); what can go wrong in a correct
   program returns nil, message, code.  `code` is a positive errno value. */
#ifndef HDD_ERROR_H
#define HDD_ERROR_H

#include <lua.h>

/* Pushes nil, "WHAT: REASON", CODE and returns 3; REASON is strerror(code).  WHAT is a format of
   lua_pushfstring (%s %d %f %I %p %c, no widths).  The caller passes the errno value, so that no
   Lua call changes it first. */
int hdd_fail(lua_State *L, int code, const char *what, ...);

/* The same, the whole message being the caller's: used where strerror would not tell a person what
   to do. */
int hdd_fail_with(lua_State *L, int code, const char *message, ...);

/* Raises a message about misuse, with the place in front where the user's own code called us: not
   inside of the library, which only handed the arguments on. */
int hdd_misuse(lua_State *L, const char *message, ...);

/* The symbolic name of an errno value ("EIO"), or "errno 4095" in `scratch` when it has none. */
const char *hdd_errno_name(int code, char scratch[24]);

#endif
