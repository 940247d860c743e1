/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hot loop of a job; see engine.h. */
#define _GNU_SOURCE
#include "engine.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "clock.h"
#include "interrupt.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

static const int64_t TICK_NS = 100 * 1000000; /* how late a stop may be noticed in a silence */
static const int64_t STARVED_NS = 1000000;    /* the same while Lua owes offsets or room */
enum {
  PROBE_AFTER = 16
}; /* failures in a row, and as many as were in flight: is the drive there? */

static void set_phase(struct job *j, enum job_phase phase) {
  atomic_store_explicit(&j->phase, phase, memory_order_release);
}

/* Ends the submitting, for the first reason there is.  A job that has come to its natural end waits
   for its last reads however long they take, until something else ends it. */
static void stop_for(struct job *j, enum stop_reason reason) {
  if (j->stopping == STOP_NONE) {
    j->stopping = reason;
    set_phase(j, JOB_DRAIN);
  }
  if (reason >= STOP_RUNTIME && j->give_up_ns == NEVER) {
    j->give_up_ns = j->now + RING_DRAIN_S * NS_PER_S;
    if (j->give_up_ns < j->tick_ns)
      j->tick_ns = j->give_up_ns;
  }
}

/* --- submitting ---------------------------------------------------------------------------- */

/* The block of the pattern's stamps in which a place lies. */
static uint64_t stamp_lba(const struct job *j, int64_t offset) {
  return (uint64_t)offset / j->verify.stamper.header.block_size;
}

/* Fills the buffer of slot `i` and queues its write. */
static void queue_write(struct job *j, unsigned i, int64_t offset, uint32_t length) {
  stamp_fill(&j->verify.stamper, ring_buffer(&j->ring, i), stamp_lba(j, offset), length);
  flusher_wrote(&j->flush, offset, length);
  ring_write(&j->ring, i, 0, length, offset);
}

static inline __attribute__((always_inline)) void issue(struct job *j, int64_t offset,
                                                        uint32_t length, bool probe, bool writes) {
  unsigned i = j->idle[--j->n_idle];
  struct slot *s = &j->slots[i];
  s->offset = offset;
  s->length = length;
  s->done = 0;
  s->again = 0;
  s->probe = probe;
  s->busy = true;
  if (writes)
    queue_write(j, i, offset, length);
  else
    ring_read(&j->ring, i, 0, length, offset);
  if (probe)
    j->probes++;
  else
    j->in_flight_bytes += length;
  counter_add(&j->issued_bytes, length);
  s->submitted_ns = now_ns(); /* last, right before the kernel gets it */
  if (j->in_flight++ == 0)
    atomic_store_explicit(&j->tally.counters.quiet_from, s->submitted_ns, memory_order_relaxed);
}

/* How many bytes may be written before the next flush, which is due when there are none. */
static uint64_t unflushed_allowance(struct job *j) {
  uint64_t since = counter_get(&j->issued_bytes) - j->flush.issued;
  j->flush.due = since >= j->flush.every;
  return j->flush.due ? 0 : j->flush.every - since;
}

/* How many reads of a whole block may be issued before a limit has to be looked at again: what was
   issued counts, whether it succeeds or not, but for probes.  0: the limit is reached, unless the
   ramp still runs, or a flush is due. */
static uint64_t allowance(struct job *j) {
  struct counters *c = &j->tally.counters;
  uint64_t ios = counter_get(&c->ios) + counter_get(&c->errors) + j->in_flight - j->probes;
  uint64_t bytes = counter_get(&c->bytes) + j->in_flight_bytes;
  enum stop_reason reached = ios >= j->limits.ios       ? STOP_IOS
                             : bytes >= j->limits.bytes ? STOP_BYTES
                                                        : STOP_NONE;
  if (reached != STOP_NONE) {
    if (!j->ramping)
      stop_for(j, reached);
    return 0;
  }
  uint64_t by_bytes = (j->limits.bytes - bytes) / j->wish.block_size;
  j->shorten = by_bytes == 0;
  j->particular = j->shorten || j->operation == JOB_WRITE;
  if (j->shorten)
    by_bytes = 1;
  if (j->operation == JOB_WRITE) {
    uint64_t room = unflushed_allowance(j), by_flush = (room - 1) / j->wish.block_size + 1;
    if (room == 0)
      return 0;
    if (by_flush < by_bytes)
      by_bytes = by_flush;
  }
  return by_bytes < j->limits.ios - ios ? by_bytes : j->limits.ios - ios;
}

static bool limited(struct job *j) {
  if (unlikely(j->allowed == 0))
    j->allowed = allowance(j);
  return j->allowed == 0;
}

/* The last read of a job with a limit on bytes ends at it, or at the logical block that holds
   it. */
static uint32_t shortened(struct job *j, uint32_t length) {
  uint64_t left = j->limits.bytes - counter_get(&j->tally.counters.bytes) - j->in_flight_bytes;
  uint32_t block = j->unit;
  uint64_t whole = (left + block - 1) / block * block;
  return whole < length ? (uint32_t)whole : length;
}

static __attribute__((noinline)) void issue_particular(struct job *j, int64_t offset,
                                                       uint32_t length) {
  j->allowed--;
  if (j->shorten)
    length = shortened(j, length);
  if (j->operation == JOB_WRITE)
    issue(j, offset, length, false, true);
  else
    issue(j, offset, length, false, false);
}

static __attribute__((noinline)) void issue_probe(struct job *j) {
  issue(j, j->good_offset, j->device->logical_block_size, true, false);
}

static void ask_for_offsets(struct job *j) {
  j->fed_since_wake = 0;
  (void)eventfd_write(j->finished_fd, 1);
}

/* Does Lua owe room for records?  Counted once a drought. */
static bool starved(struct job *j) {
  if (j->recorder && !recorder_room(j->recorder, j->in_flight + 1)) {
    if (!j->pattern_waits)
      j->recorder->waits++;
    recorder_wake(j->recorder);
    return true;
  }
  return false;
}

/* Queues up to `batch` reads and returns how many. */
static unsigned fill(struct job *j) {
  unsigned n = 0;
  bool waited = j->pattern_waits;
  while (n < j->batch && j->n_idle > 0 && !limited(j)) {
    int64_t offset;
    uint32_t length;
    if (unlikely(starved(j))) {
      j->pattern_waits = true;
      break;
    }
    if (unlikely(j->failed_in_a_row >= j->probe_at)) {
      j->probe_at = UINT64_MAX;  /* until its answer */
      if (j->good_offset >= 0) { /* else nothing was ever read: all are failures */
        issue_probe(j);
        n++;
        continue;
      }
    }
    enum pattern_answer answer = pattern_next(&j->pattern, &offset, &length);
    if (likely(answer == PATTERN_GIVES)) {
      j->pattern_waits = false;
      if (j->pattern.kind == PATTERN_FUNCTION && ++j->fed_since_wake >= PATTERN_RING / 2)
        ask_for_offsets(j);
      if (unlikely(j->particular)) {
        issue_particular(j, offset, length);
      } else {
        j->allowed--;
        issue(j, offset, length, false, false);
      }
      n++;
    } else if (answer == PATTERN_ENDS) {
      j->pattern_waits = false;
      stop_for(j, STOP_PATTERN);
      break;
    } else {
      if (!waited) {
        j->underruns++;
        ask_for_offsets(j);
      }
      j->pattern_waits = true;
      break;
    }
  }
  return n;
}

/* What the kernel did not take starts to wait for the drive only when it is offered again. */
static void stamp_again(struct job *j) {
  unsigned n = io_uring_sq_ready(&j->ring.uring);
  int64_t now = now_ns();
  for (unsigned i = 0; i < n; i++)
    j->slots[ring_queued_slot(&j->ring, i)].submitted_ns = now;
}

/* A flush is in flight alone: all that was written has been answered. */
static void issue_flush(struct job *j) {
  j->flush.out = true;
  atomic_store_explicit(&j->oldest_offset, j->flush.from, memory_order_relaxed);
  ring_flush(&j->ring, j->wish.depth);
  j->in_flight = 1;
  atomic_store_explicit(&j->tally.counters.quiet_from, now_ns(), memory_order_relaxed);
}

static inline __attribute__((always_inline)) void release(struct job *j, unsigned i) {
  struct slot *s = &j->slots[i];
  s->busy = false;
  j->in_flight--;
  if (unlikely(s->probe))
    j->probes--;
  else
    j->in_flight_bytes -= s->length;
  j->idle[j->n_idle++] = i;
}

static void undone(struct job *j, int64_t offset) {
  if (offset < j->undone_from)
    j->undone_from = offset;
}

/* What the kernel never took is not in flight: its buffers are ours. */
static void forget_unsubmitted(struct job *j) {
  unsigned n = io_uring_sq_ready(&j->ring.uring);
  for (unsigned i = 0; i < n; i++) {
    unsigned slot = ring_queued_slot(&j->ring, i);
    if (slot == j->wish.depth) {
      j->in_flight = 0; /* a flush: it stays unanswered */
      continue;
    }
    undone(j, j->slots[slot].offset);
    release(j, slot);
  }
  ring_forget(&j->ring);
}

/* An io_uring call failed.  Too few resources (EAGAIN, EBUSY) pass when completions are reaped:
   tried again, within a bound. */
static void trouble(struct job *j, int code) {
  if (code == EINTR || code == ETIME)
    return;
  if ((code == EAGAIN || code == EBUSY) && ++j->shortages < RING_SHORTAGES_MOST) {
    struct timespec pause = timespec_ns(j->shortages > 2 ? STARVED_NS : 0);
    j->retries++;
    nanosleep(&pause, NULL);
    stamp_again(j);
    j->now = now_ns();
    return;
  }
  j->kernel_error = code;
  j->kernel_call = "io_uring_enter";
  forget_unsubmitted(j);
  stop_for(j, STOP_KERNEL);
}

/* Hands what is queued to the kernel and, if `wait`, waits for a completion or the next tick. */
static void enter(struct job *j, bool wait) {
  struct io_uring *uring = &j->ring.uring;
  int rc = 0;
  if (wait && io_uring_cq_ready(uring) == 0) {
    int64_t until = j->give_up_ns < j->tick_ns ? j->give_up_ns : j->tick_ns;
    int64_t ns = until - j->now;
    if (j->pattern_waits && ns > STARVED_NS)
      ns = STARVED_NS;
    struct timespec t = timespec_ns(ns > 0 ? ns : 1);
    struct __kernel_timespec timeout = {.tv_sec = t.tv_sec, .tv_nsec = t.tv_nsec};
    struct io_uring_cqe *cqe;
    rc = io_uring_submit_and_wait_timeout(uring, &cqe, 1, &timeout, NULL);
  } else if (io_uring_sq_ready(uring) > 0) {
    rc = io_uring_submit(uring);
  }
  if (unlikely(rc < 0))
    trouble(j, -rc);
  else
    j->shortages = 0;
}

/* --- completions --------------------------------------------------------------------------- */

/* These say that the drive is gone, not that a sector is bad.  0 stands for the end of a device in
   whose middle we are: a drive that was unplugged answers so for ever. */
static bool says_gone(int code) {
  return code == 0 || code == ENODEV || code == ENXIO || code == ENOMEDIUM || code == ESHUTDOWN ||
         code == ENOTCONN || code == EBADF;
}

static void lost(struct job *j, int64_t offset) {
  uint64_t counted = counter_get(&j->tally.counters.errors);
  j->lost_offset = j->failed_in_a_row > 0 ? j->first_failed_offset : offset;
  /* Of what was in flight beside it some failed before it, and were taken for bad sectors. */
  undone(j, j->lost_offset - (int64_t)j->wish.depth * j->wish.block_size);
  tally_take_back(&j->tally, j->failed_in_a_row < counted ? j->failed_in_a_row : counted);
  stop_for(j, STOP_LOST);
}

static void record(struct job *j, const struct slot *s, int64_t ns, int code) {
  if (j->recorder)
    recorder_add(j->recorder, s->offset, j->now - j->tally.from_ns, ns, code);
}

static void failed(struct job *j, const struct slot *s, int64_t ns, int code) {
  if (j->stopping == STOP_LOST)
    return;
  if (says_gone(code)) {
    lost(j, s->offset);
    return;
  }
  if (j->failed_in_a_row++ == 0) {
    j->first_failed_offset = s->offset;
    j->first_failed_ns = j->now;
  }
  if (j->ramping)
    return;
  record(j, s, ns, code);
  tally_failure(&j->tally, j->now, s->offset, s->length, code, ns);
  if (counter_get(&j->tally.counters.errors) >= j->limits.errors)
    stop_for(j, STOP_ERRORS);
}

static void probed(struct job *j, int result) {
  if (result > 0)
    j->probe_at =
        2 * j->failed_in_a_row + PROBE_AFTER; /* bad sectors, then: ask again when twice as many */
  else if (j->stopping != STOP_LOST)
    lost(j, j->first_failed_offset);
}

/* Not a read in full.  Returns true if what is missing was queued anew. */
static bool continued(struct job *j, unsigned i, int result) {
  struct slot *s = &j->slots[i];
  if (result > 0) { /* came short: the rest is asked for, if it can be */
    s->done += (uint32_t)result;
    j->tally.short_reads++;
    if (s->done % j->device->logical_block_size != 0)
      return false;
  } else if (result != -EAGAIN && result != -EINTR) {
    return false;
  } else {
    j->retries++;
  }
  if (++s->again > RING_AGAIN_MOST)
    return false;
  if (j->operation == JOB_WRITE && !s->probe)
    ring_write(&j->ring, i, s->done, s->length - s->done, s->offset + s->done);
  else
    ring_read(&j->ring, i, s->done, s->length - s->done, s->offset + s->done);
  return true;
}

/* The errno value of a read that did not get all: EIO for one that stays short. */
static int code_of(const struct slot *s, int result) {
  if (result < 0)
    return -result;
  return result == 0 && s->done == 0 ? 0 : EIO;
}

/* Looks at what was read, before its buffer is used again. */
static void verify(struct job *j, unsigned i, const struct slot *s) {
  verification_look(&j->verify, ring_buffer(&j->ring, i), s->offset, s->length);
  if (counter_get(&j->verify.mismatches) >= j->limits.mismatches)
    stop_for(j, STOP_MISMATCHES);
}

/* A read in full that something more is done with than counting it. */
static __attribute__((noinline)) void look_at(struct job *j, unsigned i, int64_t ns) {
  record(j, &j->slots[i], ns, 0);
  if (j->operation == JOB_VERIFY)
    verify(j, i, &j->slots[i]);
}

static __attribute__((noinline)) void flushed(struct job *j, int result) {
  int64_t to = atomic_load_explicit(&j->done_to, memory_order_relaxed);
  j->in_flight = 0;
  flusher_ended(&j->flush, -result, counter_get(&j->issued_bytes), j->now);
  if (j->flush.errors == 0 && to >= 0)
    atomic_store_explicit(&j->durable_to, to, memory_order_relaxed);
}

/* What is no read or write in full: one that came short or failed, a probe, a flush. */
static __attribute__((noinline)) void completed_otherwise(struct job *j, unsigned i, int result) {
  struct slot *s = &j->slots[i];
  if (i == j->wish.depth) {
    flushed(j, result);
  } else if (s->probe) {
    if (result > 0 || !continued(j, i, result)) {
      release(j, i);
      probed(j, result);
    }
  } else if (!continued(j, i, result)) {
    release(j, i);
    failed(j, s, j->now - s->submitted_ns, code_of(s, result));
  }
}

static void completed(struct job *j, unsigned i, int result) {
  struct slot *s = &j->slots[i];
  if (unlikely(result != (int)(s->length - s->done)) || unlikely(s->probe)) {
    completed_otherwise(j, i, result);
    return;
  }
  int64_t ns = j->now - s->submitted_ns;
  release(j, i);
  j->good_offset = s->offset;
  /* One that was in flight at the first failure proves nothing: a drive that leaves ends some
     well. */
  if (unlikely(j->failed_in_a_row > 0) && s->submitted_ns > j->first_failed_ns) {
    j->failed_in_a_row = 0;
    j->probe_at = PROBE_AFTER + j->wish.depth;
  }
  if (likely(!j->ramping)) {
    tally_success(&j->tally, j->now, s->offset, s->length, ns);
    if (unlikely(j->looked_at))
      look_at(j, i, ns);
  }
}

/* The ramp ends with the first completion after its time: from that instant on things count, so
   that n completions later n intervals between completions have passed. */
static void end_ramp(struct job *j) {
  j->ramping = false;
  tally_begin(&j->tally, j->now);
  if (j->limits.runtime_ns != NEVER)
    j->deadline_ns = j->now + j->limits.runtime_ns;
  if (j->deadline_ns < j->tick_ns)
    j->tick_ns = j->deadline_ns;
  if (j->stopping == STOP_NONE)
    set_phase(j, JOB_RUN);
}

/* All before the first that is in flight was answered, if offsets rise. */
static void note_done(struct job *j) {
  if (j->pattern.kind != PATTERN_SEQUENTIAL || j->pattern.loop)
    return;
  int64_t to = j->pattern.next < j->undone_from ? j->pattern.next : j->undone_from;
  for (unsigned i = 0; i < j->wish.depth; i++)
    if (j->slots[i].busy && !j->slots[i].probe && j->slots[i].offset < to)
      to = j->slots[i].offset;
  if (to < j->pattern.start)
    to = j->pattern.start;
  atomic_store_explicit(&j->done_to, to, memory_order_relaxed);
}

static void note_oldest(struct job *j) {
  const struct slot *oldest = NULL;
  for (unsigned i = 0; i < j->wish.depth; i++)
    if (j->slots[i].busy && (!oldest || j->slots[i].submitted_ns < oldest->submitted_ns))
      oldest = &j->slots[i];
  if (oldest)
    atomic_store_explicit(&j->oldest_offset, oldest->offset, memory_order_relaxed);
}

/* Nothing has completed since quiet_from, although something was in flight. */
static void note_silence(struct job *j) {
  int64_t quiet_from = atomic_load_explicit(&j->tally.counters.quiet_from, memory_order_relaxed);
  if (j->ramping || j->now - quiet_from <= j->tally.stall_ns)
    return;
  note_oldest(j);
  tally_stall(&j->tally, quiet_from, j->now - quiet_from,
              atomic_load_explicit(&j->oldest_offset, memory_order_relaxed));
}

/* Accounts for what is there. One clock reading a batch: a latency ends at the reap, and what comes
   during it waits for the next. */
static void reap(struct job *j) {
  struct io_uring *uring = &j->ring.uring;
  unsigned n = io_uring_cq_ready(uring);
  j->now = now_ns();
  if (unlikely(n == 0))
    return;
  int64_t quiet_from = atomic_load_explicit(&j->tally.counters.quiet_from, memory_order_relaxed);
  if (unlikely(j->now - quiet_from > j->tally.stall_ns))
    note_silence(j);
  atomic_store_explicit(&j->tally.counters.quiet_from, j->now, memory_order_relaxed);
  struct io_uring_cq *cq = &uring->cq;
  unsigned head = *cq->khead, mask = *cq->kring_mask;
  for (unsigned k = 0; k < n; k++) {
    const struct io_uring_cqe *cqe = &cq->cqes[(head + k) & mask];
    completed(j, (unsigned)cqe->user_data, cqe->res);
  }
  io_uring_cq_advance(uring, n);
  if (unlikely(j->ramping) && j->now >= j->tally.from_ns + j->limits.ramp_ns)
    end_ramp(j);
}

/* --- clocks and flags ---------------------------------------------------------------------- */

static void send_snapshot(struct job *j) {
  struct snapshot *s = j->spare;
  const struct series *from = &j->tally.series;
  if (!s) {
    s = calloc(1, sizeof *s);
    if (!s || series_open(&s->series, from->capacity, from->length_ns) != 0) {
      free(s);
      return; /* no memory for a look: the job goes on */
    }
  }
  series_advance(&j->tally.series, j->now);
  struct interval *intervals = s->series.intervals;
  memcpy(intervals, from->intervals, from->used * sizeof *intervals);
  s->series = *from;
  s->series.intervals = intervals;
  s->latency = j->tally.latency;
  s->at_ns = j->now;
  j->spare = atomic_exchange_explicit(&j->mail, s, memory_order_acq_rel);
}

static bool precise(struct job *j) {
  double mean, half_width;
  return j->limits.precision > 0 && !j->ramping &&
         j->now - j->tally.from_ns >= j->limits.runtime_min_ns &&
         series_confidence(&j->tally.series, j->now, &mean, &half_width) && mean > 0 &&
         half_width <= j->limits.precision * mean;
}

/* At least every TICK_NS, and whenever a deadline has come. */
static void tick(struct job *j) {
  note_done(j);
  int64_t quiet_from = atomic_load_explicit(&j->tally.counters.quiet_from, memory_order_relaxed);
  if (j->now - quiet_from >= TICK_NS)
    note_oldest(j);
  if (atomic_load_explicit(&j->device->closed, memory_order_relaxed))
    stop_for(j, STOP_CLOSED);
  if (atomic_load_explicit(&hdd_interrupts, memory_order_relaxed) != j->interrupts_at_start)
    stop_for(j, STOP_INTERRUPT);
  if (j->now >= j->deadline_ns)
    stop_for(j, STOP_RUNTIME);
  if (precise(j))
    stop_for(j, STOP_PRECISION);
  if (!j->ramping && atomic_exchange_explicit(&j->snapshot_wanted, false, memory_order_acquire))
    send_snapshot(j);
  if (j->recorder && j->recorder->since_wake > 0)
    recorder_wake(j->recorder); /* few reads a second, too, are seen soon */
  j->tick_ns = j->now + TICK_NS;
  if (j->deadline_ns > j->now && j->deadline_ns < j->tick_ns)
    j->tick_ns = j->deadline_ns;
}

/* Nothing in flight and nothing to submit: Lua owes something. */
static void sleep_until_kicked(struct job *j) {
  eventfd_t n;
  struct pollfd p = {.fd = j->kick_fd, .events = POLLIN};
  atomic_store(&j->asleep, true); /* sequentially consistent: Lua looks at it after writing */
  bool room = !j->recorder || recorder_room(j->recorder, 1);
  bool offsets = j->pattern.kind != PATTERN_FUNCTION || feed_waiting(&j->pattern.offsets, 1) > 0;
  if (!(room && offsets))
    poll(&p, 1, 10);
  atomic_store(&j->asleep, false);
  (void)eventfd_read(j->kick_fd, &n);
  j->now = now_ns();
}

/* --- from begin to end --------------------------------------------------------------------- */

static void begin(struct job *j) {
  int64_t start = now_ns();
  j->now = j->tick_ns = start;
  j->ramping = j->limits.ramp_ns > 0;
  j->deadline_ns = j->give_up_ns = NEVER;
  if (j->limits.runtime_ns != NEVER)
    j->deadline_ns = start + j->limits.ramp_ns + j->limits.runtime_ns;
  j->probe_at = PROBE_AFTER + j->wish.depth;
  j->good_offset = j->lost_offset = -1;
  j->undone_from = INT64_MAX;
  j->looked_at = j->recorder || j->operation == JOB_VERIFY;
  j->slots[j->wish.depth].length = UINT32_MAX / 2;
  bool sequential = j->pattern.kind == PATTERN_SEQUENTIAL && !j->pattern.loop;
  atomic_store_explicit(&j->done_to, sequential ? j->pattern.start : -1, memory_order_relaxed);
  atomic_store_explicit(&j->durable_to, sequential ? j->pattern.start : -1, memory_order_relaxed);
  flusher_begin(&j->flush);
  tally_begin(&j->tally, start);
  atomic_store_explicit(&j->oldest_offset, -1, memory_order_relaxed);
  atomic_store_explicit(&j->started_ns, start, memory_order_relaxed);
  set_phase(j, j->ramping ? JOB_RAMP : JOB_RUN);
}

/* Nothing is in flight.  Begins a flush where one is due, or at the end where something was written
   since the last one: a drive is given its time for that one, even when the job was stopped. */
static bool flushes(struct job *j) {
  bool last = j->stopping != STOP_NONE && j->stopping != STOP_LOST && j->stopping != STOP_KERNEL &&
              !j->flush.last && flusher_dirty(&j->flush);
  if (!last && !(j->flush.due && j->stopping == STOP_NONE))
    return false;
  if (last) {
    j->flush.last = true;
    if (j->give_up_ns != NEVER)
      j->give_up_ns = j->now + FLUSH_ANSWER_S * NS_PER_S;
  }
  note_done(j);
  issue_flush(j);
  return true;
}

static void loop(struct job *j) {
  for (;;) {
    unsigned queued = j->stopping == STOP_NONE ? fill(j) : 0;
    if (j->in_flight > 0 || flushes(j)) {
      enter(j, queued == 0 || j->n_idle == 0);
      reap(j);
    } else if (j->stopping != STOP_NONE) {
      return;
    } else {
      sleep_until_kicked(j);
    }
    if (unlikely(atomic_load_explicit(&j->stop, memory_order_relaxed)))
      stop_for(j, STOP_REQUEST);
    if (unlikely(j->now >= j->tick_ns))
      tick(j);
    if (unlikely(j->now >= j->give_up_ns))
      return;
  }
}

static void note_abandoned(struct job *j) {
  j->cut_off = true;
  j->in_flight_at_end = j->in_flight;
  note_silence(j);
  if (j->flush.out)
    return;
  j->abandoned = malloc(j->in_flight * sizeof *j->abandoned);
  if (!j->abandoned)
    return;
  for (unsigned i = 0; i < j->wish.depth; i++)
    if (j->slots[i].busy)
      j->abandoned[j->n_abandoned++] = j->slots[i].offset;
}

/* A job that ended in its ramp has counted nothing; the part that counts would have begun then. */
static void settle_ramp(struct job *j) {
  int64_t due = j->tally.from_ns + j->limits.ramp_ns;
  if (j->ramping)
    tally_begin(&j->tally, due < j->now ? due : j->now);
}

void job_run(struct job *j) {
  begin(j);
  sem_post(&j->ready);
  loop(j);
  forget_unsubmitted(j);
  note_done(j);
  settle_ramp(j);
  if (j->in_flight > 0)
    note_abandoned(j);
}
