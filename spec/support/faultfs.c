/* SPDX-License-Identifier: GPL-3.0-or-later */
/* faultfs: one file through FUSE whose reads go wrong where the command line says so.

     faultfs [--log FILE] [--no-direct] [--claim SIZE] [--wrap] [--fail-flush N] [--rule RULE]...
             BACKING FOLDER

   serves FOLDER/disk, with the bytes and the size of BACKING, until it gets SIGTERM or is unmounted.
   Reads do not wait for one another: a late one is overtaken.  It is done mounting when FOLDER/disk
   is there.  --no-direct refuses to open the file with O_DIRECT, as a file system that cannot.
   --claim says another size than BACKING has: what is written beyond is lost, and zeroes are read
   there; with --wrap it comes round again at the beginning.
   The Nth flush (fsync) fails with EIO.

   RULE is a list of words with commas between them.  The first rule that fits a read decides.
   Which reads:     at=OFFSET    that touch the bytes from OFFSET on,
                    length=N     so many of them (to the end of the file);
                    every=N      that start at a multiple of N;
                    nth=N        each Nth of those;
                    after=N      not the first N of those;
                    times=N      at most N;
                    idle=MS      that come after so long without any read (the first one does).
   What becomes of them:
                    delay=MS     the answer is late by that much (before what else is said);
                    error=NAME   EIO, ENODATA, ENODEV, ENXIO, ETIMEDOUT, EINVAL, or a number;
                    short=N      only N bytes are read (0: none); short=half: half of what was asked;
                    hang         no answer, until faultfs ends.
   Numbers may end in k, M or G (binary).  The log has a line for each read, as it is answered:
   time since the start in us, offset, length, result (bytes or -errno), delay in ms. */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 312

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RULES = 64, READ_MAX = 1 << 20, DISK = 2, SHORT_NONE = -1, SHORT_HALF = -2 };

struct rule {
  uint64_t at, length, every, nth, after, times, idle_ms; /* 0: not said, except at */
  uint64_t delay_ms;
  int error;         /* errno value, 0: none */
  int64_t shortened; /* bytes, or one of SHORT_... */
  bool hang;
  uint64_t met, used; /* reads that fitted its place; reads it was applied to */
};

struct read { /* one that waits on a thread of its own */
  fuse_req_t request;
  uint64_t offset;
  size_t length;
  struct rule rule;
};

static struct rule rules[RULES];
static int rule_count;
static int backing = -1;
static uint64_t size, true_size; /* as it says, and of BACKING */
static bool refuse_direct, wraps;
static uint64_t flushes, fail_flush; /* so many have been asked for; the one that fails */
static FILE *record;
static uint64_t start_ns, last_read_ns;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what, const char *why) {
  fprintf(stderr, "faultfs: %s: %s\n", what, why);
  exit(2);
}

static uint64_t number(const char *text) {
  char *end;
  uint64_t n = strtoull(text, &end, 0);
  switch (*end) {
    case 'k': n <<= 10, end++; break;
    case 'M': n <<= 20, end++; break;
    case 'G': n <<= 30, end++; break;
  }
  if (end == text || *end != 0)
    fail(text, "is not a number");
  return n;
}

static int error_number(const char *name) {
  static const struct {
    const char *name;
    int code;
  } known[] = {
      {"EIO", EIO},       {"ENODATA", ENODATA},     {"ENODEV", ENODEV},
      {"ENXIO", ENXIO},   {"ETIMEDOUT", ETIMEDOUT}, {"EINVAL", EINVAL},
      {"EILSEQ", EILSEQ}, {"EREMOTEIO", EREMOTEIO}, {"ENOLINK", ENOLINK},
      {"EAGAIN", EAGAIN},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(name, known[i].name) == 0)
      return known[i].code;
  return (int)number(name);
}

static void rule_parse(char *text) {
  if (rule_count == RULES)
    fail(text, "too many rules");
  struct rule *r = &rules[rule_count++];
  r->shortened = SHORT_NONE;
  for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
    char *value = strchr(word, '=');
    if (value != NULL)
      *value++ = 0;
    if (strcmp(word, "hang") == 0 && value == NULL)
      r->hang = true;
    else if (value == NULL)
      fail(word, "needs a value");
    else if (strcmp(word, "at") == 0)
      r->at = number(value);
    else if (strcmp(word, "length") == 0)
      r->length = number(value);
    else if (strcmp(word, "every") == 0)
      r->every = number(value);
    else if (strcmp(word, "nth") == 0)
      r->nth = number(value);
    else if (strcmp(word, "after") == 0)
      r->after = number(value);
    else if (strcmp(word, "times") == 0)
      r->times = number(value);
    else if (strcmp(word, "idle") == 0)
      r->idle_ms = number(value);
    else if (strcmp(word, "delay") == 0)
      r->delay_ms = number(value);
    else if (strcmp(word, "error") == 0)
      r->error = error_number(value);
    else if (strcmp(word, "short") == 0)
      r->shortened = strcmp(value, "half") == 0 ? SHORT_HALF : (int64_t)number(value);
    else
      fail(word, "no such word in a rule");
  }
}

/* The rule for a read, or one that changes nothing. */
static struct rule rule_for(uint64_t offset, uint64_t length, uint64_t idle_ms) {
  for (struct rule *r = rules; r < rules + rule_count; r++) {
    if (offset + length <= r->at || (r->length > 0 && offset >= r->at + r->length))
      continue;
    if ((r->every > 0 && offset % r->every != 0) || (r->idle_ms > 0 && idle_ms < r->idle_ms))
      continue;
    r->met++;
    if ((r->nth > 0 && r->met % r->nth != 0) || r->met <= r->after ||
        (r->times > 0 && r->used == r->times))
      continue;
    r->used++;
    return *r;
  }
  return (struct rule){.shortened = SHORT_NONE};
}

/* Where the bytes at `offset` really are: at `*at`, and the next `returned` of at most `length`; none at
   all when `*at` is -1. */
static size_t piece(uint64_t offset, size_t length, off_t *at) {
  uint64_t within = wraps ? offset % true_size : offset;
  uint64_t most = within < true_size ? true_size - within : length;
  *at = within < true_size ? (off_t)within : -1;
  return most < length ? (size_t)most : length;
}

static ssize_t backing_read(char *data, size_t length, uint64_t offset) {
  for (size_t done = 0, n; done < length; done += n) {
    off_t at;
    n = piece(offset + done, length - done, &at);
    memset(data + done, 0, n);
    if (at >= 0 && pread(backing, data + done, n, at) != (ssize_t)n)
      return -1;
  }
  return (ssize_t)length;
}

static ssize_t backing_write(const char *data, size_t length, uint64_t offset) {
  for (size_t done = 0, n; done < length; done += n) {
    off_t at;
    n = piece(offset + done, length - done, &at);
    if (at >= 0 && pwrite(backing, data + done, n, at) != (ssize_t)n)
      return -1;
  }
  return (ssize_t)length;
}

static void answer(fuse_req_t request, uint64_t offset, size_t length, const struct rule *r) {
  char *data = NULL;
  ssize_t got = -r->error;
  if (r->error == 0) {
    size_t want = r->shortened == SHORT_NONE        ? length
                  : r->shortened == SHORT_HALF      ? length / 2
                  : (uint64_t)r->shortened < length ? (size_t)r->shortened
                                                    : length;
    data = malloc(length + 1);
    got = data == NULL ? -ENOMEM : backing_read(data, want, offset);
    if (got == -1)
      got = -errno;
  }
  if (record != NULL)
    fprintf(record, "%llu,%llu,%zu,%zd,%llu\n", (unsigned long long)((now_ns() - start_ns) / 1000),
            (unsigned long long)offset, length, got, (unsigned long long)r->delay_ms);
  if (got < 0)
    fuse_reply_err(request, (int)-got);
  else
    fuse_reply_buf(request, data, (size_t)got);
  free(data);
}

static void *answer_late(void *argument) {
  struct read *read = argument;
  uint64_t ms = read->rule.delay_ms;
  struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
  nanosleep(&t, NULL);
  if (!read->rule.hang)
    answer(read->request, read->offset, read->length, &read->rule);
  free(read);
  return NULL;
}

static void on_read(fuse_req_t request, fuse_ino_t node, size_t length, off_t at,
                    struct fuse_file_info *info) {
  (void)node, (void)info;
  uint64_t now = now_ns(), offset = (uint64_t)at;
  uint64_t idle_ms = last_read_ns == 0 ? UINT64_MAX : (now - last_read_ns) / 1000000;
  last_read_ns = now;
  if (offset >= size)
    length = 0;
  else if (length > size - offset)
    length = (size_t)(size - offset);
  struct rule rule = rule_for(offset, length, idle_ms);
  if (rule.delay_ms == 0 && !rule.hang) {
    answer(request, offset, length, &rule);
    return;
  }
  struct read *read = malloc(sizeof *read);
  pthread_t thread;
  if (read != NULL) {
    *read = (struct read){request, offset, length, rule};
    if (pthread_create(&thread, NULL, answer_late, read) == 0) {
      pthread_detach(thread);
      return;
    }
  }
  free(read);
  fuse_reply_err(request, ENOMEM);
}

static void on_write(fuse_req_t request, fuse_ino_t node, const char *data, size_t length, off_t at,
                     struct fuse_file_info *info) {
  (void)node, (void)info;
  ssize_t n = backing_write(data, length, (uint64_t)at);
  if (n < 0)
    fuse_reply_err(request, errno);
  else
    fuse_reply_write(request, (size_t)n);
}

static void on_fsync(fuse_req_t request, fuse_ino_t node, int data, struct fuse_file_info *info) {
  (void)node, (void)data, (void)info;
  fuse_reply_err(request, ++flushes == fail_flush ? EIO : 0);
}

static bool describe(fuse_ino_t node, struct stat *st) {
  memset(st, 0, sizeof *st);
  st->st_ino = node;
  st->st_mode = node == DISK ? S_IFREG | 0644 : S_IFDIR | 0755;
  st->st_nlink = 1;
  st->st_size = node == DISK ? (off_t)size : 0;
  st->st_blksize = 4096;
  st->st_blocks = st->st_size / 512;
  return node == DISK || node == FUSE_ROOT_ID;
}

static void on_getattr(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  struct stat st;
  (void)info;
  if (describe(node, &st))
    fuse_reply_attr(request, &st, 0);
  else
    fuse_reply_err(request, ENOENT);
}

static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name) {
  struct fuse_entry_param entry = {.ino = DISK};
  if (parent != FUSE_ROOT_ID || strcmp(name, "disk") != 0) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  describe(DISK, &entry.attr);
  fuse_reply_entry(request, &entry);
}

static void on_open(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info) {
  if (node != DISK)
    fuse_reply_err(request, EISDIR);
  else if (refuse_direct && (info->flags & O_DIRECT))
    fuse_reply_err(request, EINVAL);
  else {
    info->direct_io = !refuse_direct; /* each read reaches us as it was sent */
    fuse_reply_open(request, info);
  }
}

static void on_init(void *data, struct fuse_conn_info *connection) {
  (void)data;
  connection->max_read = READ_MAX; /* as the mount's option says: libfuse wants to hear it twice */
  connection->max_background = 4096; /* else no more than 12 direct reads reach us at a time */
  connection->want |= connection->capable & FUSE_CAP_ASYNC_DIO;
}

static const struct fuse_lowlevel_ops operations = {
    .init = on_init,
    .lookup = on_lookup,
    .getattr = on_getattr,
    .open = on_open,
    .read = on_read,
    .write = on_write,
    .fsync = on_fsync,
};

int main(int argc, char **argv) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (strcmp(argv[i], "--no-direct") == 0)
      refuse_direct = true;
    else if (i + 1 < argc && strcmp(argv[i], "--rule") == 0)
      rule_parse(argv[++i]);
    else if (i + 1 < argc && strcmp(argv[i], "--claim") == 0)
      size = number(argv[++i]);
    else if (strcmp(argv[i], "--wrap") == 0)
      wraps = true;
    else if (i + 1 < argc && strcmp(argv[i], "--fail-flush") == 0)
      fail_flush = number(argv[++i]);
    else if (i + 1 < argc && strcmp(argv[i], "--log") == 0) {
      record = fopen(argv[++i], "w");
      if (record == NULL)
        fail(argv[i], strerror(errno));
      setvbuf(record, NULL, _IOLBF, 0);
    } else
      fail(argv[i], "unknown option");
  }
  if (argc - i != 2)
    fail("usage", "faultfs [--log FILE] [--no-direct] [--claim SIZE] [--wrap] [--fail-flush N] "
                  "[--rule RULE]... BACKING FOLDER");
  struct stat st;
  backing = open(argv[i], O_RDWR | O_CLOEXEC);
  if (backing < 0 || fstat(backing, &st) != 0)
    fail(argv[i], strerror(errno));
  true_size = (uint64_t)st.st_size;
  if (size == 0)
    size = true_size;
  start_ns = now_ns();

  char *words[] = {"faultfs", "-o", "fsname=faultfs,max_read=1048576", NULL};
  struct fuse_args args = FUSE_ARGS_INIT(3, words);
  struct fuse_session *session = fuse_session_new(&args, &operations, sizeof operations, NULL);
  if (session == NULL || fuse_set_signal_handlers(session) != 0 ||
      fuse_session_mount(session, argv[i + 1]) != 0)
    fail(argv[i + 1], "cannot mount");
  int rc = fuse_session_loop(session); /* the slow ones are on threads of their own */
  fuse_session_unmount(session);
  _exit(rc == 0 ? 0 : 1); /* hung reads still sleep: nothing is to be freed under them */
}
