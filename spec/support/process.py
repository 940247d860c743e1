#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""process.py JOB RESULT - runs one program for a spec; process.lua is its caller and documents it.

JOB is a JSON file, RESULT another; what the program printed goes to the files that JOB names. The
program gets default signal handling, pipes or a terminal, and what the job's events say: signals,
typed text, a new window size, each so long after the start or after some text was printed.
"""
import fcntl, json, os, pty, pwd, resource, select, signal, struct, subprocess, sys, termios, time


def window(fd, columns, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def child(job, ends, terminal):
    """Becomes the program. `ends` are its standard input, output and error."""
    os.setsid()
    if terminal is not None:
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for i, fd in enumerate(ends):
        os.dup2(fd, i)
    os.closerange(3, 256)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    try:
        for name, value in job.get("limits", {}).items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), (value, value))
        if job.get("user"):
            user = pwd.getpwnam(job["user"])
            os.setgroups([user.pw_gid])
            os.setgid(user.pw_gid)
            os.setuid(user.pw_uid)
        env = dict(os.environ)
        for name, value in job.get("env", {}).items():
            if value is False:
                env.pop(name, None)
            else:
                env[name] = value
        if job.get("cwd"):
            os.chdir(job["cwd"])
        os.execvpe(job["argv"][0], job["argv"], env)
    except OSError as e:
        os.write(2, f"process.py: {job['argv'][0]}: {e.strerror}\n".encode())
    os._exit(127)


def main():
    with open(sys.argv[1]) as f:
        job = json.load(f)
    stdin_read, stdin_write = os.pipe()
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    ends, readers = [stdin_read, out_write, err_write], {out_read: "stdout", err_read: "stderr"}
    master = terminal = None
    if job.get("terminal"):
        t = job["terminal"]
        master, terminal = pty.openpty()
        window(terminal, t.get("columns", 80), t.get("rows", 24))
        streams = t.get("streams") or ["stdin", "stdout", "stderr"]
        ends = [terminal if name in streams else fd for name, fd in zip(("stdin", "stdout", "stderr"), ends)]
        readers[master] = "stdout" if "stdout" in streams else "stderr"
        if "stdin" in streams:
            os.close(stdin_write)
            stdin_write = master
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        child(job, ends, terminal)
    for fd in (stdin_read, out_write, err_write, terminal):
        if fd is not None:
            os.close(fd)
    if "keep_stdin" not in job and stdin_write != master:
        try:
            os.write(stdin_write, job.get("stdin", "").encode())
        except BrokenPipeError:
            pass
        os.close(stdin_write)

    got = {"stdout": bytearray(), "stderr": bytearray()}
    events = [dict(e, at=None if e.get("when") else e.get("after", 0)) for e in job.get("events", [])]
    deadline, timed_out, usage, ended = job.get("timeout_s", 60), False, None, None
    while readers or ended is None:
        now = time.monotonic() - start
        if ended is None:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                ended, code = now, status
        elif now > ended + 2:                   # something it left behind still holds the pipes
            break
        if ended is None and now > deadline:
            timed_out = True
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGKILL)
            deadline = now + 30
        for e in events:
            if e["at"] is None and e["when"].encode() in got["stdout"] + got["stderr"]:
                e["at"] = now + e.get("after", 0)
            if e["at"] is not None and now >= e["at"] and not e.get("done") and ended is None:
                e["done"] = True
                e["done_s"] = now
                if "signal" in e:
                    os.kill(pid, getattr(signal, "SIG" + e["signal"]))
                if "run" in e:
                    subprocess.run(["sh", "-c", e["run"]], check=True)
                if "input" in e:
                    os.write(stdin_write, e["input"].encode())
                if "close" in e:
                    os.close(stdin_write)
                if "window" in e:
                    window(master, *e["window"])
        for fd in select.select(list(readers), [], [], 0.005)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:                     # a terminal whose last user is gone
                data = b""
            if data:
                got[readers[fd]] += data
            else:
                del readers[fd]
    for name in got:
        with open(job[name], "wb") as f:
            f.write(got[name])
    with open(sys.argv[2], "w") as f:
        json.dump({
            "status": os.WEXITSTATUS(code) if os.WIFEXITED(code) else None,
            "signal": os.WTERMSIG(code) if os.WIFSIGNALED(code) else None,
            "elapsed_s": ended, "timed_out": timed_out, "user_s": usage.ru_utime,
            "system_s": usage.ru_stime,
            "events": [e.get("done_s") or False for e in events],
        }, f)


main()
