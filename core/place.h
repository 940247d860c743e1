/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where hddlua's own files are: beside the executable in the build tree, else below the prefix that
   it was installed to.  A tree may be moved, and several may be on one machine. */
#ifndef HDD_PLACE_H
#define HDD_PLACE_H

#include <lua.h>
#include <stdbool.h>

/* Looks once, from /proc/self/exe.  False when there is nothing of ours around. */
bool place_find(void);

/* Puts our folders in front of package.path and package.cpath, and makes require prefer the
   compiled ones of our modules. */
void place_prepare_require(lua_State *L);

/* The file to run for `name`: a file of that very path, else the shipped script of that bare name.
   NULL when there is neither.  Valid until the next call. */
const char *place_script(const char *name);

/* Pushes the names of the shipped scripts ("qdsweep, zoneprofile"). */
void place_push_scripts(lua_State *L);

#endif
