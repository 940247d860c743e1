/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which coroutine runs now, so that Ctrl-C reaches Lua code that loops without calling us.

   A hook belongs to one coroutine, and only a running one can be ended; a permanent hook would slow
   every instruction down.  So whoever resumes a coroutine does it through hdd_resume, which keeps
   "the running state" up to date, and the signal's handler sets a hook there and then. */
#ifndef HDD_COROUTINE_H
#define HDD_COROUTINE_H

#include <lua.h>

/* lua_resume for a queue's slot, with the running state kept up to date.  Results and errors are
   lua_resume's.  While it runs, in_slot() is true, and so nothing but the slot's own reads may
   wait: a wait there would hold up the other slots' completions. */
int hdd_resume(lua_State *co, lua_State *from, int nargs, int *nresults);

/* For an interpreter: `L` (its main coroutine) runs now, and coroutine.resume, .wrap and .close
   are replaced by versions that go through here.  With NULL nothing is tracked any more: to be
   called before lua_close. */
void coroutine_track(lua_State *L);

/* Adds in_slot to the module table on top of the stack. */
void coroutine_register(lua_State *L);

/* From the signal's handler: the coroutine that runs now is looked at from now on, and ended with
   hdd.interrupted once interrupt_overdue.  Async-signal-safe. */
void coroutine_interrupt(void);

#endif
