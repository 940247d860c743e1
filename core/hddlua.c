/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hddlua, the interpreter: Lua 5.4 with lua5.4's own options, in which `require "hdd"` works from
   wherever the tree is, shipped scripts run by their bare name, and Ctrl-C stops jobs before it
   stops anything else.  The prompt itself is Lua: hdd.prompt. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coroutine.h"
#include "interrupt.h"
#include "place.h"

int luaopen_hdd_core(lua_State *L);

enum { DONE = 0, FAILED = 1, NOT_RUN = 2, NOT_SAVED = 3 };

struct options {
  char **argv;
  int argc;
  int script; /* index of the script's name in argv; argc when there is none */
  bool prompt, version, help, code, no_environment;
};

static bool finalizer_failed; /* an error in a __gc or __close: told, and the exit status */

static void complain(const char *message) {
  fflush(stdout);
  fprintf(stderr, "hddlua: %s\n", message);
}

/* ---- options ---- */

/* Reads the options before the script's name.  NULL, or what is wrong, with the option in *bad. */
static const char *read_options(struct options *o, const char **bad) {
  int i;
  for (i = 1; i < o->argc && o->argv[i][0] == '-' && o->argv[i][1] != '\0'; i++) {
    const char *option = *bad = o->argv[i];
    if (strcmp(option, "--") == 0) {
      i++;
      break;
    } else if (strcmp(option, "--help") == 0) {
      o->help = true;
    } else if (strcmp(option, "--version") == 0 || strcmp(option, "-v") == 0) {
      o->version = true;
      o->code = true; /* no prompt, if this is all */
    } else if (strcmp(option, "-i") == 0) {
      o->prompt = o->version = true;
    } else if (strcmp(option, "-E") == 0) {
      o->no_environment = true;
    } else if (strcmp(option, "-W") == 0) {
      continue;
    } else if (option[1] == 'e' || option[1] == 'l') {
      o->code |= option[1] == 'e';
      if (option[2] == '\0' && (++i >= o->argc || o->argv[i][0] == '-'))
        return "an argument is missing after";
    } else {
      return "unrecognized option";
    }
  }
  o->script = i;
  return NULL;
}

static void print_help(FILE *to) {
  fputs("usage: hddlua [OPTION...] [SCRIPT [ARGUMENT...]]\n"
        "SCRIPT is a file, or the name of a script that comes with hddlua (below).\n"
        "Without one: the prompt, or the script on standard input.\n"
        "  -e CODE     run CODE\n"
        "  -l NAME     require NAME into a global of that name\n"
        "  -l G=NAME   require NAME into the global G\n"
        "  -i          go to the prompt after the script; there, hdd is required already\n"
        "  -v          print the version\n"
        "  -E          ignore the environment: LUA_INIT, LUA_PATH, LUA_CPATH\n"
        "  -W          turn warnings on\n"
        "  --          end of the options\n"
        "  -           run standard input\n"
        "  --help      print this; hddlua SCRIPT --help prints the script's own\n"
        "  --version   print the version\n",
        to);
}

/* ---- errors ---- */

static bool is_interrupted(lua_State *L, int index) {
  bool same;
  index = lua_absindex(L, index);
  interrupt_push(L);
  same = lua_rawequal(L, index, -1);
  lua_pop(L, 1);
  return same;
}

/* The message handler: whatever was raised becomes a text with a traceback, except
   hdd.interrupted. */
static int add_traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (is_interrupted(L, 1)) {
    lua_settop(L, 1);
    return 1;
  }
  if (!message && luaL_callmeta(L, 1, "__tostring"))
    message = lua_tostring(L, -1);
  if (!message)
    message = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  luaL_traceback(L, L, message, 1);
  return 1;
}

static int call(lua_State *L, int nargs, int nresults) {
  int status, base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  status = lua_pcall(L, nargs, nresults, base);
  lua_remove(L, base);
  return status;
}

/* The exit status for what lua_load or call returned; an error is on top, and told. */
static int report(lua_State *L, int status) {
  int number = interrupt_pending();
  if (status == LUA_OK)
    return DONE;
  if (is_interrupted(L, -1)) {
    if (number != SIGPIPE)
      complain("interrupted");
    return 128 + (number != 0 ? number : SIGINT);
  }
  complain(luaL_tolstring(L, -1, NULL));
  return status == LUA_ERRFILE ? NOT_RUN : FAILED;
}

/* lua5.4's manners (off until -W or warn "@on"), but an error in a finalizer is always told:
   nothing else would ever say so. */
static void on_warning(void *state, const char *text, int to_continue) {
  static bool continued, shown;
  bool *on = state;
  if (!continued && !to_continue && text[0] == '@') {
    if (strcmp(text, "@on") == 0 || strcmp(text, "@off") == 0)
      *on = strcmp(text, "@on") == 0;
    return;
  }
  if (!continued) {
    bool failure = to_continue && strcmp(text, "error in ") == 0;
    finalizer_failed |= failure;
    shown = *on || failure;
    if (shown)
      fputs("hddlua: warning: ", stderr);
  }
  if (shown)
    fprintf(stderr, to_continue ? "%s" : "%s\n", text);
  continued = to_continue;
}

/* ---- the end ---- */

/* Did whoever read our standard output go away?  Then what is lost is lost to nobody. */
static bool reader_left(void) {
  struct pollfd out = {.fd = STDOUT_FILENO, .events = 0};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

/* Jobs are stopped and settings restored by the state's end.  Returns the exit status.  os.exit in
   a finalizer brings us here once more: lua_close then goes on with the finalizers left. */
static int leave(lua_State *L, int status) {
  coroutine_track(NULL);
  lua_close(L);
  errno = 0;
  if ((fflush(stdout) != 0 || ferror(stdout)) && !reader_left()) {
    fprintf(stderr, "hddlua: standard output: %s\n",
            errno != 0 ? strerror(errno) : "not all could be written");
    status = status == DONE ? NOT_SAVED : status;
  }
  return status == DONE && finalizer_failed ? FAILED : status;
}

/* os.exit([code]): as in Lua, but the state is always closed, so that jobs end in order. */
static int os_exit(lua_State *L) {
  int status = DONE;
  if (lua_isboolean(L, 1))
    status = lua_toboolean(L, 1) ? DONE : FAILED;
  else
    status = (int)luaL_optinteger(L, 1, DONE);
  exit(leave(L, status));
}

/* ---- running ---- */

static int run_text(lua_State *L, const char *text, const char *name) {
  int status = luaL_loadbuffer(L, text, strlen(text), name);
  return report(L, status == LUA_OK ? call(L, 0, 0) : status);
}

/* `file` NULL: standard input.  Arguments are those that the global `arg` has now. */
static int run_file(lua_State *L, const char *file) {
  int n = 0, status = luaL_loadfile(L, file);
  if (status == LUA_OK) {
    if (lua_getglobal(L, "arg") != LUA_TTABLE)
      luaL_error(L, "'arg' is not a table");
    n = (int)luaL_len(L, -1);
    luaL_checkstack(L, n + 3, "too many arguments to script");
    for (int i = 1; i <= n; i++)
      lua_rawgeti(L, -i, i);
    lua_remove(L, -(n + 1));
    status = call(L, n, 0);
  }
  return report(L, status);
}

static int run_script(lua_State *L, const char *name) {
  const char *file = place_script(name);
  if (!file && !strchr(name, '/')) {
    place_push_scripts(L);
    complain(lua_pushfstring(L,
                             "%s: no such file, nor a script of hddlua's own; these are: %s\n"
                             "(hddlua NAME --help tells what each does)",
                             name, lua_tostring(L, -1)));
    return NOT_RUN;
  }
  return run_file(L, file ? file : name);
}

/* Leaves what require(module) gives, or the error, on top; returns call's status. */
static int require(lua_State *L, const char *module) {
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  return call(L, 1, 1);
}

static int run_require(lua_State *L, const char *module, const char *name) {
  int status = require(L, module);
  if (status != LUA_OK)
    return report(L, status);
  lua_setglobal(L, name);
  return DONE;
}

static int run_library(lua_State *L, const char *argument) {
  const char *equals = strchr(argument, '=');
  if (!equals)
    return run_require(L, argument, argument);
  return run_require(L, equals + 1, lua_pushlstring(L, argument, (size_t)(equals - argument)));
}

/* -e, -l and -W, in their order, up to the first that fails. */
static int run_options(lua_State *L, const struct options *o) {
  int status = DONE;
  for (int i = 1; i < o->script && status == DONE; i++) {
    char letter = o->argv[i][1];
    if (letter == 'W')
      lua_warning(L, "@on", 0);
    if (letter == 'e' || letter == 'l') {
      const char *argument = o->argv[i][2] != '\0' ? o->argv[i] + 2 : o->argv[++i];
      status = letter == 'e' ? run_text(L, argument, "=(command line)") : run_library(L, argument);
    }
  }
  return status;
}

static int run_environment(lua_State *L) {
  const char *name = "=LUA_INIT_5_4", *init = getenv(name + 1);
  if (!init)
    init = getenv((name = "=LUA_INIT") + 1);
  if (!init)
    return DONE;
  return init[0] == '@' ? run_file(L, init + 1) : run_text(L, init, name);
}

static int run_prompt(lua_State *L) {
  luaL_loadstring(L, "require('hdd.prompt').run(...)");
  lua_pushcfunction(L, add_traceback);
  return report(L, call(L, 1, 0));
}

static int print_version(lua_State *L) {
  int status = require(L, "hdd.version");
  if (status != LUA_OK)
    return report(L, status);
  printf("hddlua %s, on %s\n", lua_tostring(L, -1), LUA_COPYRIGHT);
  lua_pop(L, 1);
  return DONE;
}

static int run_all(lua_State *L, const struct options *o) {
  bool has_script = o->script < o->argc;
  bool terminal = !has_script && !o->code && !o->prompt && isatty(STDIN_FILENO);
  int status = DONE;
  if (o->version || terminal)
    status = print_version(L);
  if (status == DONE && !o->no_environment)
    status = run_environment(L);
  if (status == DONE && (o->prompt || terminal))
    status = run_require(L, "hdd", "hdd");
  if (status == DONE)
    status = run_options(L, o);
  if (status == DONE && has_script) {
    const char *name = o->argv[o->script];
    bool is_stdin = strcmp(name, "-") == 0 && strcmp(o->argv[o->script - 1], "--") != 0;
    status = is_stdin ? run_file(L, NULL) : run_script(L, name);
  }
  if (o->prompt || (terminal && status == DONE))
    return run_prompt(L);
  if (status == DONE && !has_script && !o->code)
    return run_file(L, NULL);
  return status;
}

/* ---- the start ---- */

/* The global `arg`: the script's name is at 0, its arguments from 1 on, what came before below. */
static void push_arguments(lua_State *L, const struct options *o) {
  int zero = o->script < o->argc ? o->script : 0;
  lua_createtable(L, o->argc - zero, zero + 1);
  for (int i = 0; i < o->argc; i++) {
    lua_pushstring(L, o->argv[i]);
    lua_rawseti(L, -2, i - zero);
  }
  lua_setglobal(L, "arg");
}

/* The core is linked in: the same one that handles signals here. */
static void open_libraries(lua_State *L) {
  luaL_openlibs(L);
  lua_getglobal(L, "os");
  lua_pushcfunction(L, os_exit);
  lua_setfield(L, -2, "exit");
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_hdd_core);
  lua_setfield(L, -2, "hdd.core");
  lua_pop(L, 2);
  coroutine_track(L);
  if (place_find())
    place_prepare_require(L);
}

/* Everything that may raise: called protected, with the options.  Returns the exit status. */
static int program(lua_State *L) {
  const struct options *o = lua_touserdata(L, 1);
  static bool warnings_on;
  luaL_checkversion(L);
  lua_setwarnf(L, on_warning, &warnings_on);
  if (o->no_environment) {
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  }
  open_libraries(L);
  push_arguments(L, o);
  lua_pushinteger(L, run_all(L, o));
  return 1;
}

static int help(void) {
  lua_State *L = luaL_newstate();
  print_help(stdout);
  if (L && place_find()) {
    place_push_scripts(L);
    printf("scripts: %s\n", lua_tostring(L, -1));
  }
  return L ? leave(L, DONE) : FAILED;
}

/* Were a standard stream closed, the next file opened, a drive perhaps, would take its number, and
   print would write there.  What takes it now refuses to be used, as a closed one does. */
static void occupy_standard_streams(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0)
      (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv) {
  struct options options = {.argc = argc, .argv = argv};
  const char *bad = NULL, *wrong = read_options(&options, &bad);
  lua_State *L;
  int status;
  occupy_standard_streams();
  if (wrong) {
    fprintf(stderr, "hddlua: %s '%s'\n", wrong, bad);
    print_help(stderr);
    return NOT_RUN;
  }
  if (options.help)
    return help();
  L = luaL_newstate();
  if (!L) {
    complain("not enough memory");
    return FAILED;
  }
  interrupt_install();
  lua_pushcfunction(L, program);
  lua_pushlightuserdata(L, &options);
  status = lua_pcall(L, 1, 1, 0);
  status = status == LUA_OK ? (int)lua_tointeger(L, -1) : report(L, status);
  if (status == DONE && interrupt_pending() != 0) /* it ended early, in good order */
    status = 128 + interrupt_pending();
  return leave(L, status);
}
