/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job's Lua object, for the files that make it up: job.c (start, look, stop), job_feed.c (what it
   wants of Lua while it runs), job_outcome.c (its results). */
#ifndef HDD_JOB_H
#define HDD_JOB_H

#include <lua.h>
#include <stdbool.h>

#include "engine.h"

#define JOB "hdd.Job"

/* What Lua gave, as it was at the start (a table of options may be used again for the next job);
   what Lua will get; and the drive, which must not be collected, and so closed, under a running
   job. */
enum {
  PATTERN_VALUE = 1,
  RECORDS_VALUE,
  HISTOGRAM_VALUE,
  OUTCOME,
  PROBLEM,
  DEVICE_VALUE,
  USER_VALUES = DEVICE_VALUE
};

struct job_handle {
  struct job *job;
  uint64_t fed; /* offsets that the pattern function has given */
  bool fed_all; /* it returned nil, raised, or gave as many as the job will read */
};

/* The job at stack index 1, or raises. */
struct job_handle *job_check(lua_State *L);

/* Waits for the thread that has published its result: it ends within microseconds, unless a stuck
   drive keeps it. */
void job_join(struct job *j);

/* Fills the ring of a function pattern; the job is on top of the stack.  False when the function
   raised: then the job stops, and the error is its PROBLEM. */
bool job_feed(lua_State *L, struct job_handle *h);

/* Sets records_error in the table on top when the file of records is full, or gone: said at once,
   while the job goes on. */
void job_set_records_error(lua_State *L, const struct job *j);

/* Sets done_to_bytes and durable_to_bytes in the table on top, where the pattern has them. */
void job_set_positions(lua_State *L, struct job *j);

/* The methods of the other files. */
int job_attend(lua_State *L);
int job_snapshot(lua_State *L);
int job_outcome(lua_State *L);

#endif
