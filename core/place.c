/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where hddlua's own files are; see place.h. */
#define _GNU_SOURCE
#include "place.h"

#include <dirent.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE "hdd/version.lua" /* a module that is there if any is */

static char lua_folder[PATH_MAX], c_folder[PATH_MAX], scripts_folder[PATH_MAX];

/* Formats a path into `to`; false when it is too long. */
__attribute__((format(printf, 2, 3))) static bool path(char to[PATH_MAX], const char *format, ...) {
  va_list ap;
  int n;
  va_start(ap, format);
  n = vsnprintf(to, PATH_MAX, format, ap);
  va_end(ap);
  return n >= 0 && n < PATH_MAX;
}

static bool is_file(const char *name) {
  struct stat s;
  return stat(name, &s) == 0 && !S_ISDIR(s.st_mode);
}

/* Cuts the last component off; false when there is none. */
static bool to_parent(char *folder) {
  char *slash = strrchr(folder, '/');
  if (!slash)
    return false;
  *slash = '\0';
  return true;
}

/* In the build tree: `top` is the folder that holds lua/ and scripts/. */
static bool find_tree(const char *folder, const char *top) {
  char module[PATH_MAX];
  return path(module, "%s/lua/" MODULE, top) && is_file(module) &&
         path(lua_folder, "%s/lua", top) && path(c_folder, "%s", folder) &&
         path(scripts_folder, "%s/scripts", top);
}

static bool find_installed(const char *prefix) {
  char module[PATH_MAX];
  return path(module, "%s/share/lua/5.4/" MODULE, prefix) && is_file(module) &&
         path(lua_folder, "%s/share/lua/5.4", prefix) && path(c_folder, "%s/lib/lua/5.4", prefix) &&
         path(scripts_folder, "%s/share/hddlua/scripts", prefix);
}

/* build/hddlua, build/FLAVOUR/hddlua, or PREFIX/bin/hddlua; the kernel gives the path without
   links and dots. */
bool place_find(void) {
  char folder[PATH_MAX], above[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
  if (n < 0)
    return false;
  folder[n] = '\0';
  if (!to_parent(folder))
    return false;
  strcpy(above, folder);
  if (!to_parent(above))
    return false;
  return find_tree(folder, above) || find_installed(above) ||
         (to_parent(above) && find_tree(folder, above));
}

/* With the package table below them, puts the templates on top in front of its `field`. */
static void prepend(lua_State *L, const char *field) {
  lua_pushliteral(L, ";");
  lua_getfield(L, -3, field);
  lua_concat(L, 3);
  lua_setfield(L, -2, field);
}

static bool is_no_older(const char *name, const char *source) {
  struct stat compiled, text;
  if (stat(name, &compiled) != 0 || stat(source, &text) != 0)
    return false;
  return compiled.st_mtim.tv_sec != text.st_mtim.tv_sec
             ? compiled.st_mtim.tv_sec > text.st_mtim.tv_sec
             : compiled.st_mtim.tv_nsec >= text.st_mtim.tv_nsec;
}

/* One of package.searchers: our own modules, compiled, as parsing them is most of a short script's
   start; not those whose source someone has changed since. */
static int search_compiled(lua_State *L) {
  static const char *const endings[] = {"", "/init"};
  const char *module = luaL_checkstring(L, 1);
  char name[PATH_MAX], source[PATH_MAX];
  if (strcmp(module, "hdd") != 0 && strncmp(module, "hdd.", 4) != 0)
    return 0;
  module = luaL_gsub(L, module, ".", "/");
  for (int i = 0; i < 2; i++)
    if (path(name, "%s/%s%s.luac", c_folder, module, endings[i]) &&
        path(source, "%s/%s%s.lua", lua_folder, module, endings[i]) && is_no_older(name, source) &&
        luaL_loadfilex(L, name, "b") == LUA_OK) {
      lua_pushstring(L, source);
      return 2;
    }
  return 0;
}

void place_prepare_require(lua_State *L) {
  lua_getglobal(L, "package");
  lua_pushfstring(L, "%s/?.lua;%s/?/init.lua", lua_folder, lua_folder);
  prepend(L, "path");
  lua_pushfstring(L, "%s/?.so", c_folder);
  prepend(L, "cpath");
  lua_getfield(L, -1, "searchers");
  for (lua_Integer i = luaL_len(L, -1); i >= 2; i--) {
    lua_geti(L, -1, i);
    lua_seti(L, -2, i + 1);
  }
  lua_pushcfunction(L, search_compiled);
  lua_seti(L, -2, 2); /* after package.preload */
  lua_pop(L, 2);
}

const char *place_script(const char *name) {
  static char script[PATH_MAX];
  if (is_file(name))
    return name;
  if (strchr(name, '/') || scripts_folder[0] == '\0' ||
      !path(script, "%s/%s.lua", scripts_folder, name) || !is_file(script))
    return NULL;
  return script;
}

static int is_script(const struct dirent *entry) {
  const char *dot = strrchr(entry->d_name, '.');
  return entry->d_name[0] != '.' && dot && strcmp(dot, ".lua") == 0;
}

void place_push_scripts(lua_State *L) {
  struct dirent **entries = NULL;
  int n = scandir(scripts_folder, &entries, is_script, alphasort);
  char names[2048] = ""; /* plain C: malloc'ed memory must not sit across a call that may raise */
  size_t used = 0;
  for (int i = 0; i < n; i++) {
    int length = (int)strlen(entries[i]->d_name) - (int)strlen(".lua");
    if (used + (size_t)length + 3 < sizeof names)
      used += (size_t)sprintf(names + used, "%s%.*s", used ? ", " : "", length, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  lua_pushlstring(L, names, used);
}
