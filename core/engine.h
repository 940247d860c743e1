/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job's thread: it keeps `depth` reads (or writes) in flight, takes the time of each right before
   it is submitted and as soon as its completion is there, and counts.  It touches no Lua state, so
   that neither a garbage collection nor a document being saved nor a blocked terminal can colour a
   latency. */
#ifndef HDD_ENGINE_H
#define HDD_ENGINE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "device.h"
#include "flush.h"
#include "pattern.h"
#include "record.h"
#include "ring.h"
#include "tally.h"
#include "verify.h"

enum stop_reason {
  STOP_NONE,
  STOP_IOS,
  STOP_BYTES,
  STOP_PATTERN,
  STOP_ERRORS,
  STOP_MISMATCHES,
  STOP_RUNTIME, /* from here on: what is in flight is waited for RING_DRAIN_S at most */
  STOP_PRECISION,
  STOP_REQUEST,
  STOP_INTERRUPT,
  STOP_CLOSED,
  STOP_LOST,
  STOP_KERNEL /* io_uring itself failed */
};

/* Verify: a read whose content is compared with what a write has put there. */
enum job_operation { JOB_READ, JOB_WRITE, JOB_VERIFY };

enum job_phase { JOB_STARTING, JOB_RAMP, JOB_RUN, JOB_DRAIN, JOB_FINISHED };

#define NEVER INT64_MAX

struct job_limits {
  int64_t ramp_ns, runtime_ns, runtime_min_ns; /* runtime: NEVER if there is no limit */
  uint64_t ios, bytes, errors, mismatches;     /* UINT64_MAX: no limit; mismatches: blocks */
  double precision;                            /* relative half width of the interval; 0: off */
};

struct slot {
  int64_t submitted_ns, offset;
  uint32_t length, done; /* asked for; read so far by parts that came short */
  uint16_t again;        /* times that the kernel asked to try again */
  bool probe;            /* a read of a place that was good, to see whether the drive is there */
  bool busy;
};

struct snapshot {
  struct histogram latency;
  struct series series; /* owns its intervals */
  int64_t at_ns;
};

struct job {
  _Atomic int references; /* its Lua object and its thread */
  /* set before the thread starts */
  struct device *device;
  enum job_operation operation;
  uint32_t unit; /* bytes: what offsets and lengths are multiples of */
  struct job_limits limits;
  struct ring_wish wish;
  unsigned batch; /* reads handed to the kernel in one call */
  unsigned interrupts_at_start;
  struct recorder *recorder; /* owned; or NULL */
  int finished_fd;           /* owned eventfd: finished, or wants Lua to fill or empty a queue */
  int kick_fd;               /* owned eventfd: Lua has filled or emptied one */
  int open_error;            /* why the ring could not be opened, before `ready` is posted */
  sem_t ready;               /* posted when the ring stands, or could not be opened */
  pthread_t thread;
  bool joined;  /* Lua side: the thread has been joined or detached */
  bool reading; /* it has not yet let go of the device's descriptor */

  /* shared */
  alignas(64) _Atomic bool stop;
  _Atomic bool snapshot_wanted;
  _Atomic bool asleep; /* the thread waits for kick_fd */
  _Atomic(struct snapshot *) mail;
  alignas(64) _Atomic int phase; /* enum job_phase; JOB_FINISHED publishes all that follows */
  _Atomic int64_t started_ns;
  _Atomic int64_t oldest_offset; /* of what has been waited for longest, renewed in each silence */
  _Atomic uint64_t issued_bytes; /* ramp and all: what the drive was made to read or write by us */
  _Atomic int64_t done_to;       /* sequential: all before this was answered; -1: not sequential */
  _Atomic int64_t durable_to;    /* and flushed */

  /* the thread's own until it has finished */
  alignas(64) struct ring ring;
  struct slot *slots;
  unsigned *idle, n_idle, in_flight, probes; /* probes: those of in_flight */
  uint64_t in_flight_bytes;                  /* without the probes' */
  struct pattern pattern;
  struct flusher flush;            /* of a job that writes */
  struct verification verify;      /* its stamper is a write's, too */
  uint64_t allowed;                /* reads until the limits must be looked at again */
  bool shorten;                    /* the next read is the last, and the limit on bytes cuts it */
  bool particular;                 /* it is shortened, or a write */
  bool looked_at;                  /* there are records, or what is read is verified */
  bool ramping, pattern_waits;     /* waits: Lua owes offsets, or room for records */
  unsigned fed_since_wake;         /* offsets taken since Lua was asked for more */
  int64_t now;                     /* the latest stamp */
  int64_t tick_ns;                 /* when to look at clocks and flags again */
  int64_t deadline_ns, give_up_ns; /* of submitting; of waiting for the rest */
  enum stop_reason stopping;
  struct snapshot *spare;
  uint64_t failed_in_a_row, probe_at; /* to tell a lost drive from bad sectors */
  int64_t first_failed_offset, first_failed_ns, good_offset, lost_offset;
  /* What was not answered, or by a drive that had gone, begins here at the earliest. */
  int64_t undone_from;
  unsigned shortages; /* calls in a row that the kernel had no resources for */
  uint64_t underruns, retries;
  int kernel_error; /* of a call while it runs */
  const char *kernel_call;
  int64_t cpu_user_ns, cpu_system_ns; /* of the process, from start to finish */
  bool cut_off;                       /* reads were given up: in_flight_at_end of them */
  unsigned in_flight_at_end, n_abandoned;
  int64_t *abandoned; /* their offsets */
  struct tally tally;
};

/* Starts the thread of a job whose upper part is filled in, and waits until its ring stands.
   Returns 0, or an errno value and the call that failed. */
int job_launch(struct job *j, const char **call);

/* The thread's work: reads until there is a reason to stop and what is in flight has been answered,
   or given up (`cut_off`). Posts `ready` once it has begun. */
void job_run(struct job *j);

/* Gives a share back; the last one frees. */
void job_release(struct job *j);

static inline bool job_finished(struct job *j) {
  return atomic_load_explicit(&j->phase, memory_order_acquire) == JOB_FINISHED;
}

#endif
