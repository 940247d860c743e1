#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""CPU time per I/O of two commands, run in turn (A B A B ...), and the ratio pair by pair.

    pairio.py [--rounds N] [--cpu N] [--base-a CMD] [--base-b CMD] -a CMD -b CMD

Each command is one string, split as a shell splits words. The number of I/Os is
read from what it prints: fio's JSON (total_ios), "ios=N" or "TOTAL=N". CPU time
is the user + system time of the whole process tree as the kernel accounts it,
io_uring's workers included. --base-a names the same command doing one I/O: its
median CPU time is taken off, so that start-up does not count.
"""
import argparse, json, os, re, shlex, statistics, sys, time


def run(words, cpu):
    r, w = os.pipe()
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.dup2(w, 1)
        os.close(r)
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
        try:
            os.execvp(words[0], words)
        except OSError as e:
            os.write(2, f"pairio: {words[0]}: {e.strerror}\n".encode())
            os._exit(127)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        out = f.read().decode(errors="replace")
    _, status, ru = os.wait4(pid, 0)
    if status:
        sys.exit(f"pairio: {' '.join(words)}: wait status {status}")
    return out, ru.ru_utime, ru.ru_stime, time.monotonic() - start


def ios(out):
    if "{" in out and '"jobs"' in out:
        job = json.loads(out[out.index("{"):])["jobs"][0]
        return sum(job[k]["total_ios"] for k in ("read", "write")), job["read"]["iops"] + job["write"]["iops"]
    n = re.search(r"\b(?:ios|TOTAL)=(\d+)", out)
    if not n:
        sys.exit("pairio: no count of I/Os in the output: " + out[-200:])
    rate = re.search(r"\biops=([\d.]+)", out)
    return int(n[1]), float(rate[1]) if rate else None


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=7)
    ap.add_argument("--cpu", type=int)
    ap.add_argument("--base-a")
    ap.add_argument("--base-b")
    ap.add_argument("-a", required=True)
    ap.add_argument("-b", required=True)
    o = ap.parse_args()
    cmd = {"A": shlex.split(o.a), "B": shlex.split(o.b)}
    off = {}
    for k, base in (("A", o.base_a), ("B", o.base_b)):
        us = [run(shlex.split(base), o.cpu)[1:3] for _ in range(5)] if base else [(0, 0)]
        off[k] = tuple(statistics.median(x) for x in zip(*us))
    rows = {"A": [], "B": []}
    for _ in range(o.rounds):
        for k in "AB":
            out, u, s, wall = run(cmd[k], o.cpu)
            n, rate = ios(out)
            rows[k].append(((u + s - sum(off[k])) / n * 1e9, (u - off[k][0]) / n * 1e9, rate or n / wall))
    fmt = lambda v, f: (f + " (" + f + "–" + f + ")") % (statistics.median(v), min(v), max(v))
    for k in "AB":
        c, u, i = zip(*rows[k])
        print(f"{k}: cpu ns/IO {fmt(c, '%.0f')}  user ns/IO {fmt(u, '%.0f')}  kIOPS {fmt([x / 1e3 for x in i], '%.0f')}")
    for name, j in (("cpu", 0), ("user", 1), ("iops", 2)):
        print(f"A/B {name} {fmt([a[j] / b[j] for a, b in zip(rows['A'], rows['B'])], '%.3f')}")


if __name__ == "__main__":
    main()
