/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ctrl-C and its kin (SIGINT, SIGTERM, SIGHUP): what the rest of the core needs to know of them.

   The first signal is remembered, stops all jobs (they look at hdd_interrupts) and wakes whatever
   waits in hdd.core's poll; what was measured so far is handed over, and the next call that would
   start something raises hdd.interrupted.  A second one, while the first is still pending, restores
   changed settings and ends the process with 128 + its number.

   hddlua installs the handlers for good; in a stock interpreter they are there only between
   interrupt_wait_begin and interrupt_wait_end. */
#ifndef HDD_INTERRUPT_H
#define HDD_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

/* The number of interrupts so far, on a cache line that nobody else writes. A job, which looks at
   it with each tick, stops when it differs from what it was at its start. */
extern _Atomic unsigned hdd_interrupts;

/* The signal that waits to be acted upon (SIGINT, SIGTERM or SIGHUP), 0 when none does. */
int interrupt_pending(void);

/* A signal is pending, and Lua code has run for a grace time since it came, or since a wait of ours
   returned: the script is not saving what it got, it runs on without knowing. */
bool interrupt_overdue(void);

/* Lua is given its grace time anew. */
void interrupt_grace(void);

/* Around each wait of ours on the Lua thread; may be nested.  Nothing between them may raise. */
void interrupt_wait_begin(void);
void interrupt_wait_end(void);

/* Install the handlers for good, and one for SIGPIPE: a reader of our output that goes away must
   not cost a measurement, so writes return EPIPE.  (After a quarter of a million in a row it counts
   as an interrupt.) */
void interrupt_install(void);

/* Push hdd.interrupted, the value that is raised: always the same one. */
void interrupt_push(lua_State *L);

/* Raise it. */
int interrupt_raise(lua_State *L);

#endif
