/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which coroutine runs now; see coroutine.h. */
#include "coroutine.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "interrupt.h"

/* Instructions between two looks at the clock: some 20 us, so that the look costs nothing. */
#define HOOK_COUNT 5000

static _Atomic(lua_State *) running; /* NULL when nobody tracks */
static lua_State *outermost;         /* the main coroutine */
static atomic_bool looking;          /* a signal came: what is resumed gets the hook, too */
static unsigned slots;               /* hdd_resume calls that have not returned */

static void hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (interrupt_pending() == 0) {
    lua_sethook(L, NULL, 0, 0);
    atomic_store(&looking, false);
    if (interrupt_pending() != 0) /* a signal that came just now must not be lost */
      coroutine_interrupt();
  } else if (!atomic_load_explicit(&looking, memory_order_relaxed)) {
    lua_sethook(L, NULL, 0, 0);
  } else if (interrupt_overdue()) {
    /* Once for each coroutine: whoever catches it is left in peace, as is all else once the
       outermost one has been told.  A resumer is told in its turn, some time later. */
    lua_sethook(L, NULL, 0, 0);
    interrupt_grace();
    if (L == outermost)
      atomic_store(&looking, false);
    interrupt_raise(L);
  }
}

void coroutine_interrupt(void) {
  lua_State *L = atomic_load(&running);
  if (!L)
    return;
  atomic_store(&looking, true);
  lua_sethook(L, hook, LUA_MASKCOUNT, HOOK_COUNT);
}

/* `running` changes before `looking` is read, so a signal between the two finds the state that
   the hook is set on, or is found by us. */
static lua_State *enter(lua_State *co) {
  lua_State *resumer = atomic_load_explicit(&running, memory_order_relaxed);
  if (resumer) {
    atomic_store_explicit(&running, co, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&looking, memory_order_relaxed))
      lua_sethook(co, hook, LUA_MASKCOUNT, HOOK_COUNT);
  }
  return resumer;
}

/* The resumer gets its hook when the signal came meanwhile, or killed what was resumed. */
static void leave(lua_State *resumer, bool looked, bool failed) {
  if (!resumer)
    return;
  atomic_store_explicit(&running, resumer, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&looking, memory_order_relaxed) && (failed || !looked))
    lua_sethook(resumer, hook, LUA_MASKCOUNT, HOOK_COUNT);
}

static int resume(lua_State *co, lua_State *from, int nargs, int *nresults) {
  bool looked = atomic_load_explicit(&looking, memory_order_relaxed);
  lua_State *resumer = enter(co);
  int status = lua_resume(co, from, nargs, nresults);
  leave(resumer, looked, status != LUA_OK && status != LUA_YIELD);
  return status;
}

int hdd_resume(lua_State *co, lua_State *from, int nargs, int *nresults) {
  int status;
  slots++;
  status = resume(co, from, nargs, nresults);
  slots--;
  return status;
}

/* lua_resetthread runs the coroutine's pending __close, in that coroutine. */
static int close_thread(lua_State *co) {
  bool looked = atomic_load_explicit(&looking, memory_order_relaxed);
  lua_State *resumer = enter(co);
  int status = lua_resetthread(co);
  leave(resumer, looked, status != LUA_OK);
  return status;
}

static lua_State *check_coroutine(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co, 1, "coroutine");
  return co;
}

/* Resume `co` with the `nargs` values on top of L.  Returns how many results are on top of L then,
   or -1 with the error there. */
static int resume_with(lua_State *L, lua_State *co, int nargs) {
  int nresults, status;
  if (!lua_checkstack(co, nargs)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, co, nargs);
  status = resume(co, L, nargs, &nresults);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, nresults + 1)) {
    lua_pop(co, nresults);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, nresults);
  return nresults;
}

static int coroutine_resume(lua_State *L) {
  lua_State *co = check_coroutine(L);
  int n = resume_with(L, co, lua_gettop(L) - 1);
  lua_pushboolean(L, n >= 0);
  if (n < 0)
    n = 1;
  lua_insert(L, -(n + 1));
  return n + 1;
}

/* A failed wrap closes what the coroutine held, then raises its error; a message gets the place of
   the call in front. */
static int wrapped(lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  int n = resume_with(L, co, lua_gettop(L));
  if (n < 0) {
    int status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
      status = close_thread(co);
      lua_xmove(co, L, 1);
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
      luaL_where(L, 1);
      lua_insert(L, -2);
      lua_concat(L, 2);
    }
    return lua_error(L);
  }
  return n;
}

static int coroutine_wrap(lua_State *L) {
  lua_State *co;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  lua_pushcclosure(L, wrapped, 1);
  return 1;
}

/* What coroutine.status would say, if that forbids closing. */
static const char *unclosable(lua_State *L, lua_State *co) {
  lua_Debug ar;
  if (co == L)
    return "running";
  if (lua_status(co) == LUA_OK && lua_getstack(co, 0, &ar))
    return "normal";
  return NULL;
}

static int coroutine_close(lua_State *L) {
  lua_State *co = check_coroutine(L);
  const char *why = unclosable(L, co);
  if (why)
    return luaL_error(L, "cannot close a %s coroutine", why);
  if (close_thread(co) == LUA_OK) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushboolean(L, 0);
  lua_xmove(co, L, 1);
  return 2;
}

/* in_slot() -> boolean: is this code called, at whatever remove, from a queue's slot? */
static int in_slot(lua_State *L) {
  lua_pushboolean(L, slots > 0);
  return 1;
}

void coroutine_register(lua_State *L) {
  lua_pushcfunction(L, in_slot);
  lua_setfield(L, -2, "in_slot");
}

void coroutine_track(lua_State *L) {
  static const luaL_Reg replaced[] = {
      {"resume", coroutine_resume},
      {"wrap", coroutine_wrap},
      {"close", coroutine_close},
      {NULL, NULL},
  };
  outermost = L;
  atomic_store(&running, L);
  if (!L)
    return;
  luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 0);
  luaL_setfuncs(L, replaced, 0);
  lua_pop(L, 1);
}
