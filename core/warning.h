/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of what was not as asked: a job or a queue that did less, or otherwise, than its script
   said never keeps that to itself. */
#ifndef HDD_WARNING_H
#define HDD_WARNING_H

#include <lua.h>

#include "ring.h"

/* Adds a sentence to the list on top of the stack; the format is lua_pushfstring's. */
void warning_add(lua_State *L, const char *format, ...);

/* Adds what there is to say of a ring, of reads that were `cached`, and of `retries`: calls or
   reads that the kernel had no resources for at once. */
void warning_add_common(lua_State *L, const struct ring *r, bool cached, uint64_t retries);

#endif
