/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * floor - the least a random (or sequential) reader over io_uring costs.
 *
 * One thread, one ring, one target, one block size. Registered buffers and a
 * registered file unless told otherwise; the next offset comes from a
 * splitmix64 step. Latency recording is optional, into a log-linear histogram.
 * Prints one line of key=value pairs; user_ns and sys_ns are CPU time per I/O of
 * the whole process (io_uring's worker threads included), thread_* of the
 * submitting thread alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <liburing.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif
#include "hist.h"

enum lat { LAT_OFF, LAT_IO, LAT_BATCH, LAT_TSC };

static struct {
	unsigned depth, bs, batch, wait_min;
	double runtime;
	uint64_t ios, size;
	int cpu;
	enum lat lat;
	clockid_t clock;
	bool sqpoll, iopoll, fixed, direct, nonblock, seq, nop, defer, coop, dump, getev;
} o = { .depth = 32, .bs = 4096, .batch = 1, .wait_min = 1, .runtime = 0, .cpu = -1,
	.fixed = true, .direct = true, .lat = LAT_IO, .clock = CLOCK_MONOTONIC };

static volatile sig_atomic_t stop;
static void on_alarm(int s) { (void)s; stop = 1; }

static inline uint64_t now_ns(clockid_t c)
{
	struct timespec t;
	clock_gettime(c, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t splitmix(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double tv(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

static void die(const char *what, int err)
{
	fprintf(stderr, "floor: %s: %s\n", what, strerror(err));
	exit(1);
}

static double tsc_per_ns(void)
{
#ifdef __x86_64__
	uint64_t t0 = now_ns(CLOCK_MONOTONIC_RAW), c0 = __rdtsc(), t1;
	while ((t1 = now_ns(CLOCK_MONOTONIC_RAW)) - t0 < 20000000)
		;
	return (double)(__rdtsc() - c0) / (double)(t1 - t0);
#else
	return 1;
#endif
}

static inline uint64_t stamp(enum lat m)
{
#ifdef __x86_64__
	if (m == LAT_TSC)
		return __rdtsc();
#endif
	return now_ns(o.clock);
}

static struct io_uring ring;
static struct hist h;
static uint64_t done, errors, waits, submits;
static int first_err;

/* Raw record of every I/O: 16 bytes, written out a MiB at a time. */
struct rec { uint64_t at; uint32_t ns, blk; };
#define TRACE_N 65536
static struct rec *tr;
static unsigned tr_n;
static int tr_fd = -1;
static uint32_t *slot_blk;

static void trace_flush(void)
{
	size_t len = tr_n * sizeof *tr;
	if (len && write(tr_fd, tr, len) != (ssize_t)len) {
		perror("floor: trace");
		exit(1);
	}
	tr_n = 0;
}

static inline void trace_add(uint64_t at, uint64_t ns, unsigned slot)
{
	tr[tr_n] = (struct rec){ at, ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns, slot_blk[slot] };
	if (++tr_n == TRACE_N)
		trace_flush();
}

/* The loop, specialised for each latency mode so that "off" pays nothing. */
static inline __attribute__((always_inline)) void
run(const enum lat m, const bool fixed, const bool trace, int fd, char *buf, uint64_t blocks, uint64_t *start,
    unsigned *free_slots, double per_ns)
{
	const unsigned depth = o.depth, bs = o.bs, batch = o.batch;
	const uint64_t limit = o.ios ? o.ios : UINT64_MAX;
	unsigned nfree = depth, inflight = 0;
	uint64_t rng = 42, issued = 0, seq = 0, t = 0;
	const unsigned flags = fixed ? IOSQE_FIXED_FILE : 0;

	while (done < limit && (!stop || inflight)) {
		unsigned room = nfree < batch ? nfree : batch, n = 0;
		if (stop)
			room = 0;
		if (issued + room > limit)
			room = (unsigned)(limit - issued);
		if (m == LAT_BATCH && room)
			t = stamp(m);
		for (; n < room; n++) {
			struct io_uring_sqe *s = io_uring_get_sqe(&ring);
			if (!s)
				break;
			unsigned slot = free_slots[--nfree];
			uint64_t blk;
			if (o.seq) {
				blk = seq;
				if (++seq == blocks)
					seq = 0;
			} else {
				blk = (uint64_t)(((unsigned __int128)splitmix(&rng) * blocks) >> 64);
			}
			if (o.nop)
				io_uring_prep_nop(s);
			else if (fixed)
				io_uring_prep_read_fixed(s, fd, buf + (size_t)slot * bs, bs,
							 blk * bs, (int)slot);
			else
				io_uring_prep_read(s, fd, buf + (size_t)slot * bs, bs, blk * bs);
			s->flags |= o.nop ? 0 : flags;
			s->user_data = slot;
			if (trace)
				slot_blk[slot] = (uint32_t)blk;
			if (m == LAT_IO || m == LAT_TSC)
				start[slot] = stamp(m);
			else if (m == LAT_BATCH)
				start[slot] = t;
		}
		issued += n;
		inflight += n;
		/* Wait only when no more may be queued. */
		bool full = nfree == 0 || issued == limit || stop;
		unsigned want = full ? (o.wait_min < inflight ? o.wait_min : inflight) : 0;
		if (want && io_uring_cq_ready(&ring) >= want)
			want = 0;
		if (n || want) {
			int r = want ? io_uring_submit_and_wait(&ring, want) :
				o.getev ? io_uring_submit_and_get_events(&ring) : io_uring_submit(&ring);
			if (r < 0 && r != -EINTR && r != -EBUSY && r != -EAGAIN)
				die("submit", -r);
			submits++;
			waits += want != 0;
		} else if (o.iopoll && inflight) {
			struct io_uring_cqe *c;
			io_uring_peek_cqe(&ring, &c);
		}

		unsigned head, got = 0;
		struct io_uring_cqe *c;
		if (m == LAT_BATCH && io_uring_cq_ready(&ring))
			t = stamp(m);
		io_uring_for_each_cqe(&ring, head, c) {
			unsigned slot = (unsigned)c->user_data;
			if (__builtin_expect(c->res != (o.nop ? 0 : (int)bs), 0)) {
				if (!errors++)
					first_err = c->res;
			}
			if (m != LAT_OFF) {
				uint64_t e = m == LAT_BATCH ? t : stamp(m);
				uint64_t d = e - start[slot];
				if (m == LAT_TSC)
					d = (uint64_t)((double)d * per_ns);
				hist_add(&h, d);
				if (trace)
					trace_add(e, d, slot);
			}
			free_slots[nfree++] = slot;
			got++;
		}
		io_uring_cq_advance(&ring, got);
		inflight -= got;
		done += got;
	}
}

static uint64_t target_size(int fd)
{
	struct stat st;
	uint64_t n = 0;
	if (fstat(fd, &st))
		die("fstat", errno);
	if (S_ISBLK(st.st_mode) && ioctl(fd, BLKGETSIZE64, &n))
		die("BLKGETSIZE64", errno);
	if (S_ISREG(st.st_mode))
		n = (uint64_t)st.st_size;
	return n ? n : (uint64_t)1 << 30;
}

int main(int argc, char **argv)
{
	enum { O_SQ = 256, O_IOP, O_NOF, O_NODIR, O_NONB, O_SEQ, O_NOP, O_DEFER, O_COOP, O_CPU,
	       O_CLK, O_SIZE, O_DUMP, O_WAIT, O_TRACE,
	       O_GETEV };
	static const struct option lo[] = {
		{ "depth", 1, 0, 'd' }, { "bs", 1, 0, 'b' }, { "runtime", 1, 0, 'r' },
		{ "ios", 1, 0, 'n' }, { "latency", 1, 0, 'l' }, { "batch", 1, 0, 'B' },
		{ "wait", 1, 0, O_WAIT }, { "sqpoll", 0, 0, O_SQ }, { "iopoll", 0, 0, O_IOP },
		{ "nofixed", 0, 0, O_NOF }, { "buffered", 0, 0, O_NODIR },
		{ "nonblock", 0, 0, O_NONB }, { "seq", 0, 0, O_SEQ }, { "nop", 0, 0, O_NOP },
		{ "defer", 0, 0, O_DEFER }, { "coop", 0, 0, O_COOP }, { "cpu", 1, 0, O_CPU },
		{ "clock", 1, 0, O_CLK }, { "size", 1, 0, O_SIZE }, { "dump", 0, 0, O_DUMP },
		{ "trace", 1, 0, O_TRACE }, { "getevents", 0, 0, O_GETEV },
		{ 0 }
	};
	int c;
	while ((c = getopt_long(argc, argv, "d:b:r:n:l:B:", lo, NULL)) != -1) {
		switch (c) {
		case 'd': o.depth = (unsigned)strtoul(optarg, NULL, 0); break;
		case 'b': o.bs = (unsigned)strtoul(optarg, NULL, 0); break;
		case 'r': o.runtime = strtod(optarg, NULL); break;
		case 'n': o.ios = strtoull(optarg, NULL, 0); break;
		case 'l':
			o.lat = !strcmp(optarg, "off") ? LAT_OFF : !strcmp(optarg, "batch") ? LAT_BATCH :
				!strcmp(optarg, "tsc") ? LAT_TSC : LAT_IO;
			break;
		case 'B': o.batch = (unsigned)strtoul(optarg, NULL, 0); break;
		case O_WAIT: o.wait_min = (unsigned)strtoul(optarg, NULL, 0); break;
		case O_SQ: o.sqpoll = true; break;
		case O_IOP: o.iopoll = true; break;
		case O_NOF: o.fixed = false; break;
		case O_NODIR: o.direct = false; break;
		case O_NONB: o.nonblock = true; break;
		case O_SEQ: o.seq = true; break;
		case O_NOP: o.nop = true; break;
		case O_DEFER: o.defer = true; break;
		case O_GETEV: o.getev = true; break;
		case O_COOP: o.coop = true; break;
		case O_CPU: o.cpu = atoi(optarg); break;
		case O_CLK: o.clock = !strcmp(optarg, "raw") ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC; break;
		case O_SIZE: o.size = strtoull(optarg, NULL, 0); break;
		case O_DUMP: o.dump = true; break;
		case O_TRACE:
			tr_fd = open(optarg, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
			if (tr_fd < 0)
				die(optarg, errno);
			tr = malloc(TRACE_N * sizeof *tr);
			break;
		default: return 2;
		}
	}
	if (optind >= argc || !o.depth || !o.bs || !o.batch || (!o.ios && o.runtime <= 0)) {
		fprintf(stderr, "usage: floor [--depth N] [--bs N] (--runtime S | --ios N)\n"
			"  [--latency off|on|batch|tsc] [--batch N] [--wait N] [--sqpoll] [--iopoll]\n"
			"  [--nofixed] [--buffered] [--nonblock] [--seq] [--nop] [--defer] [--getevents] [--coop]\n"
			"  [--cpu N] [--clock mono|raw] [--size BYTES] [--dump] [--trace FILE] TARGET\n");
		return 2;
	}
	if (o.cpu >= 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET(o.cpu, &set);
		if (sched_setaffinity(0, sizeof set, &set))
			die("sched_setaffinity", errno);
	}

	int fd = open(argv[optind], O_RDONLY | O_CLOEXEC | (o.direct ? O_DIRECT : 0) |
				    (o.nonblock ? O_NONBLOCK : 0));
	if (fd < 0)
		die(argv[optind], errno);
	uint64_t blocks = (o.size ? o.size : target_size(fd)) / o.bs;
	if (!blocks)
		die("target smaller than a block", EINVAL);

	size_t len = (size_t)o.depth * o.bs;
	char *buf = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (buf == MAP_FAILED)
		die("mmap", errno);

	struct io_uring_params p = { 0 };
	if (o.sqpoll) {
		p.flags |= IORING_SETUP_SQPOLL;
		p.sq_thread_idle = 1000;
	}
	if (o.iopoll)
		p.flags |= IORING_SETUP_IOPOLL;
	if (o.coop)
		p.flags |= IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER;
	if (o.defer)
		p.flags |= IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER;
	int r = io_uring_queue_init_params(o.depth, &ring, &p);
	if (r < 0)
		die("io_uring_queue_init", -r);
	io_uring_register_ring_fd(&ring);
	int use = fd;
	if (o.fixed) {
		struct iovec *v = calloc(o.depth, sizeof *v);
		for (unsigned i = 0; i < o.depth; i++)
			v[i] = (struct iovec){ buf + (size_t)i * o.bs, o.bs };
		if ((r = io_uring_register_buffers(&ring, v, o.depth)) < 0)
			die("register_buffers", -r);
		if ((r = io_uring_register_files(&ring, &fd, 1)) < 0)
			die("register_files", -r);
		free(v);
		use = 0;
	}

	slot_blk = calloc(o.depth, sizeof *slot_blk);
	uint64_t *start = calloc(o.depth, sizeof *start);
	unsigned *fs = calloc(o.depth, sizeof *fs);
	for (unsigned i = 0; i < o.depth; i++)
		fs[i] = o.depth - 1 - i;
	double per_ns = o.lat == LAT_TSC ? 1 / tsc_per_ns() : 1;
	hist_init(&h);

	if (o.runtime > 0) {
		struct sigaction sa = { .sa_handler = on_alarm };
		struct itimerval it = { .it_value = { (time_t)o.runtime,
			(suseconds_t)((o.runtime - (double)(time_t)o.runtime) * 1e6) } };
		sigaction(SIGALRM, &sa, NULL);
		setitimer(ITIMER_REAL, &it, NULL);
	}
	struct rusage a, b, ta, tb;
	getrusage(RUSAGE_SELF, &a);
	getrusage(RUSAGE_THREAD, &ta);
	uint64_t t0 = now_ns(CLOCK_MONOTONIC);
	if (tr && o.lat == LAT_BATCH)
		run(LAT_BATCH, o.fixed, true, use, buf, blocks, start, fs, per_ns);
	else if (tr)
		run(LAT_IO, o.fixed, true, use, buf, blocks, start, fs, per_ns);
	else if (o.lat == LAT_OFF && o.fixed)
		run(LAT_OFF, true, false, use, buf, blocks, start, fs, per_ns);
	else if (o.lat == LAT_OFF)
		run(LAT_OFF, false, false, use, buf, blocks, start, fs, per_ns);
	else if (o.lat == LAT_IO && o.fixed)
		run(LAT_IO, true, false, use, buf, blocks, start, fs, per_ns);
	else if (o.lat == LAT_IO)
		run(LAT_IO, false, false, use, buf, blocks, start, fs, per_ns);
	else if (o.lat == LAT_BATCH)
		run(LAT_BATCH, o.fixed, false, use, buf, blocks, start, fs, per_ns);
	else
		run(LAT_TSC, o.fixed, false, use, buf, blocks, start, fs, per_ns);
	if (tr)
		trace_flush();
	uint64_t t1 = now_ns(CLOCK_MONOTONIC);
	getrusage(RUSAGE_SELF, &b);
	getrusage(RUSAGE_THREAD, &tb);

	double s = (double)(t1 - t0) * 1e-9, n = (double)(done ? done : 1);
	printf("ios=%llu errors=%llu secs=%.6f iops=%.0f mbps=%.1f user_ns=%.1f sys_ns=%.1f "
	       "thread_user_ns=%.1f thread_sys_ns=%.1f enters=%.3f waits=%.3f nvcsw=%ld nivcsw=%ld maxrss_kb=%ld",
	       (unsigned long long)done, (unsigned long long)errors, s, (double)done / s,
	       (double)done * o.bs / s * 1e-6,
	       (tv(b.ru_utime) - tv(a.ru_utime)) * 1e9 / n, (tv(b.ru_stime) - tv(a.ru_stime)) * 1e9 / n,
	       (tv(tb.ru_utime) - tv(ta.ru_utime)) * 1e9 / n, (tv(tb.ru_stime) - tv(ta.ru_stime)) * 1e9 / n,
	       (double)submits / n, (double)waits / n, b.ru_nvcsw - a.ru_nvcsw,
	       b.ru_nivcsw - a.ru_nivcsw, b.ru_maxrss);
	if (h.count)
		printf(" lat_min=%llu lat_mean=%.1f p50=%llu p90=%llu p99=%llu p999=%llu lat_max=%llu",
		       (unsigned long long)h.min, (double)h.sum / (double)h.count,
		       (unsigned long long)hist_quantile(&h, .5), (unsigned long long)hist_quantile(&h, .9),
		       (unsigned long long)hist_quantile(&h, .99), (unsigned long long)hist_quantile(&h, .999),
		       (unsigned long long)h.max);
	putchar('\n');
	if (o.dump)
		for (unsigned i = 0; i < HIST_N; i++)
			if (h.b[i])
				printf("%llu %llu\n", (unsigned long long)hist_value(i), (unsigned long long)h.b[i]);
	if (errors)
		fprintf(stderr, "floor: %llu of %llu I/Os failed or came short; the first gave %d (%s)\n",
			(unsigned long long)errors, (unsigned long long)done, first_err,
			first_err < 0 ? strerror(-first_err) : "bytes");
	return errors ? 1 : 0;
}
