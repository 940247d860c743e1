/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queue and its slots, for the files that make them up: queue.c (the ring, and handing
   completions over), queue_slot.c (a read that looks like a blocking call). */
#ifndef HDD_QUEUE_H
#define HDD_QUEUE_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "device.h"
#include "ring.h"
#include "tally.h"

struct queue;

struct queue_slot {
  uint64_t magic;      /* SLOT_MAGIC: that it is one is looked at for each read, so cheaply */
  struct queue *queue; /* NULL once it is closed */
  lua_State *co;       /* its coroutine, anchored in the queue's slots; NULL when it has ended */
  unsigned index;
  bool reading, wants_data;
  uint16_t again; /* times that the kernel asked to try again */
  uint32_t length;
  int64_t offset, submitted_ns;
};

struct queue {
  struct device *device; /* shared; NULL when closed */
  bool cached;
  bool handing; /* one of its slots runs now */
  bool defer;   /* DEFER_TASKRUN: to be waited for through event_fd, once that is open */
  int event_fd; /* owned; -1: not open */
  struct ring ring;
  unsigned depth, live, in_flight;
  uint32_t block;
  struct queue_slot **slots; /* userdata, anchored */
  struct io_uring_cqe *reaped;
  uint64_t issued_bytes, retries;
  struct tally tally;
};

/* Adds the slots' metatable to the registry. */
void slot_register(lua_State *L);

/* Pushes a new slot, whose coroutine is `co`. */
void slot_push(lua_State *L, struct queue *q, unsigned index, lua_State *co);

/* Hands what is queued to the kernel.  Returns 0, or an errno value: then it is queued no more. */
int queue_submit(struct queue *q);

/* Counts the read that a slot waits for, and pushes onto its coroutine what slot:read returns: ns[,
   data], or nil, message, code. Returns their number. */
int slot_push_answer(struct queue_slot *s, int result, int64_t now);

/* Resumes a slot's coroutine with `nargs` values.  When it has ended the slot is free; when it
   raised, so do we, with its traceback. */
void slot_resume(lua_State *L, struct queue_slot *s, int nargs);

#endif
