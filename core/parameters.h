/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a job, from the Lua table that describes it: checked, defaults filled in.  Misuse
   raises and names the option, its value and the allowed ones. */
#ifndef HDD_PARAMETERS_H
#define HDD_PARAMETERS_H

#include <lua.h>

#include "engine.h"

struct parameters {
  enum job_operation operation;
  uint32_t unit; /* bytes: what offsets and lengths are multiples of */
  struct job_limits limits;
  struct ring_wish wish;
  struct tally_wish tally;
  struct pattern pattern; /* list and ring not yet there */
  struct stamper stamper; /* of a write or a verify */
  uint64_t flush_bytes;   /* of a write; UINT64_MAX: at its end alone */
  unsigned batch;
};

/* Reads the table at `index`, raising on misuse; owns nothing afterwards. */
void parameters_read(lua_State *L, int index, const struct device *d, struct parameters *p);

/* Fills the list of a list pattern from the table at `index`, or opens the ring of a function
   pattern.  Returns 0 or ENOMEM; raises when an offset is none. */
int parameters_open_pattern(lua_State *L, int index, uint32_t unit, struct pattern *p);

/* The integer at `index` as an offset that the pattern may read at, or raises naming the `i`th. */
int64_t parameters_offset(lua_State *L, int index, uint32_t unit, const struct pattern *p,
                          lua_Integer i);

#endif
