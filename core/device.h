/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An open drive, partition, loop device, file, or character device of a given size: opened for
   reading alone, unless asked otherwise, and past the page cache, unless asked otherwise. */
#ifndef HDD_DEVICE_H
#define HDD_DEVICE_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

/* Owned by its Lua object and by each job and queue that reads from it: the last one to be done
   with reading closes the descriptor, the last one to let go of the struct frees it. A read that a
   stuck drive never answers so keeps its descriptor for as long as it takes, and a finished job
   none. */
struct device {
  _Atomic int references;
  _Atomic int readers;
  _Atomic bool closed; /* by the script: jobs stop, nothing new starts */
  int fd;
  int64_t size;                 /* bytes; of a file read directly, down to a whole logical block */
  unsigned logical_block_size;  /* bytes: what offsets and lengths must be multiples of */
  unsigned physical_block_size; /* bytes */
  bool direct;                  /* past the page cache */
  bool cached;                  /* through it; neither of a character device */
  bool block;                   /* a block device, not a file */
  bool writable;                /* and nobody else's: claimed, or a file locked */
  char path[];                  /* as the script gave it */
};

/* The device at `index` of the stack, or raises; it may be closed. */
struct device *device_check(lua_State *L, int index);

/* Takes a share in the device and in its descriptor. */
struct device *device_share(struct device *d);

/* Gives the share in the descriptor back, then that in the device. */
void device_done(struct device *d);
void device_release(struct device *d);

#endif
