"""Tests of slurmstepd against real processes. Usage: stepd_test.py PATH_OF_SLURMSTEPD [names]. As root, more is tested."""
import os, pwd, re, shutil, signal, socket, struct, subprocess, sys, tempfile, time

STEPD = os.path.abspath(sys.argv[1])
ROOT = os.geteuid() == 0
USER = pwd.getpwnam("nobody") if ROOT else pwd.getpwuid(os.geteuid())
ALL = 0xFFFFFFFF


def entry(name, value):
    value = value if isinstance(value, bytes) else str(value).encode()
    return name.encode() + b" %d\n" % len(value) + value + b"\n"


def undated(text):
    """Messages without the time that they begin with."""
    return re.sub(rb"(?m)^\[[^]]*\] ", b"", text)


class Step:
    def __init__(self, argv, tasks=1, stdin="null", stdout="stream", stderr="stream", extra=(), task_extra=()):
        self.dir = tempfile.mkdtemp(prefix="stepd-")
        os.chmod(self.dir, 0o711)
        self.step = os.path.join(self.dir, "step")
        os.mkdir(self.step, 0o700)
        spec = [("job", 7), ("step", "0"), ("attempt", 1), ("uid", USER.pw_uid), ("gid", USER.pw_gid),
                ("groups", USER.pw_gid if ROOT else ""), ("cwd", "/tmp"), ("umask", "022"), ("env", "PATH=/usr/bin:/bin")]
        spec += list(extra) + [("argv", a) for a in argv]
        for t in range(tasks):
            spec += [("task", t), ("stdin", stdin), ("stdout", stdout), ("stderr", stderr)] + list(task_extra)
        with open(self.step + "/spec", "wb") as f:
            f.write(b"".join(entry(*e) for e in spec))
        os.chmod(self.step + "/spec", 0o600)
        done = subprocess.run([STEPD, self.step + "/spec"], capture_output=True, timeout=20, close_fds=False)
        self.started = done.returncode == 0
        self.error = done.stderr.decode()
        self.pid = int(done.stdout.split()[1]) if self.started else None       # no process: 0 would be this one's group

    def status(self, wait=10.0, state="complete"):
        end = time.time() + wait
        while True:
            text = open(self.step + "/status").read() if os.path.exists(self.step + "/status") else ""
            text = text.rpartition("\nend\n")[0].rpartition("\nend\n")[2] + "\n"      # the last whole record
            if f"state {state}\n" in text or time.time() > end:
                return text
            time.sleep(0.01)

    def task(self, n=0):
        for line in self.status().splitlines():
            if line.startswith(f"task id={n} "):
                return dict(w.split("=", 1) for w in line.split(" reason=")[0].split()[1:])
        raise AssertionError("no task in " + self.status())

    def gone(self, wait=10.0):
        end = time.time() + wait
        while os.path.exists(f"/proc/{self.pid}") and time.time() < end:
            if open(f"/proc/{self.pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z":
                return True
            time.sleep(0.02)
        return not os.path.exists(f"/proc/{self.pid}")

    def log(self):
        return open(self.step + "/log").read()


class Client:
    def __init__(self, step):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(15)
        self.s.connect(step.step + "/socket")
        self.out, self.exits, self.ends, self.results, self.limits, self.complete = {}, {}, set(), [], {}, None
        self.skipped = False

    def send(self, type, task=ALL, stream=0, offset=0, data=b""):
        self.s.sendall(struct.pack(">IcIBQ", 14 + len(data), type, task, stream, offset) + data)

    def exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.s.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def frame(self, ack=True):
        length, = struct.unpack(">I", self.exactly(4))
        type, task, stream, offset = struct.unpack(">cIBQ", self.exactly(14))
        data = self.exactly(length - 14)
        if type == b"O":
            at, text = self.out.get((task, stream), (offset, b""))
            self.skipped |= at + len(text) != offset
            self.out[task, stream] = (at, text + data)
            if ack:
                self.send(b"a", task, stream, offset + len(data))
        elif type == b"X":
            self.exits[task] = (offset, data.decode())
        elif type == b"E":
            self.ends.add((task, stream))
        elif type == b"R":
            self.results.append((stream, data))
        elif type == b"L":
            self.limits[task] = offset
        elif type == b"F":
            self.complete = data.decode()
        return type

    def until(self, condition, ack=True):
        while not condition():
            self.frame(ack)

    def run(self):
        try:
            self.until(lambda: self.complete is not None)
        except EOFError:
            pass
        return self

    def text(self, stream=1, task=0):
        return self.out.get((task, stream), (0, b""))[1]


def attached(step, offset=0, role=b"p"):
    c = Client(step)
    c.send(b"A", offset=offset, data=role)
    return c


def test_exit_137_is_not_a_kill():
    step = Step(["sh", "-c", "exit 137"], stdout="null", stderr="null")
    assert step.task()["status"] == str(137 << 8), step.status()
    step = Step(["sh", "-c", "kill -9 $$"], stdout="null", stderr="null")
    assert step.task()["status"] == "9", step.status()
    assert step.gone()


def test_core_flag_and_usage():
    step = Step(["sh", "-c", "ulimit -c 0; kill -SEGV $$"], stdout="null", stderr="null")
    assert int(step.task()["status"]) & 0x7f == signal.SIGSEGV
    step = Step(["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"], stdout="null", stderr="null")
    assert int(step.task()["utime_us"]) > 10000 and int(step.task()["maxrss_kb"]) > 500


def test_output_by_offset():
    c = attached(Step(["sh", "-c", "echo out; echo err >&2"])).run()
    assert c.text(1) == b"out\n" and c.text(2) == b"err\n" and c.exits[0][0] == 0 and c.complete == ""


def test_many_tasks():
    c = attached(Step(["sh", "-c", "echo $$"], tasks=20, task_extra=[("env", "X=1")])).run()
    assert len(c.exits) == 20 and all(c.text(1, t).strip().isdigit() for t in range(20))


def test_slow_reader_blocks_no_other():
    step = Step(["sh", "-c", 'if [ -n "$BIG" ]; then head -c 5000000 /dev/zero; else echo quick; fi'], tasks=1,
                task_extra=[("env", "BIG=1")])
    quick = attached(step, role=b"o")
    slow = attached(step)
    time.sleep(0.5)
    quick.until(lambda: len(quick.text(1)) >= 1 << 20, ack=False)
    kept = len(quick.text(1))
    assert kept == 1 << 20, kept          # no more is read than is kept
    slow.run()
    assert len(slow.text(1)) == 5000000 and not slow.skipped and slow.exits[0][0] == 0
    assert step.gone()


def test_exit_is_told_before_unread_output():
    step = Step(["sh", "-c", "head -c 900000 /dev/zero; exit 3"])
    assert step.task()["status"] == str(3 << 8)
    time.sleep(0.1)
    assert not step.gone(0.2), "must stay until its output is acknowledged"
    c = attached(step)
    c.until(lambda: c.exits)
    assert len(c.text(1)) < 900000
    c.run()
    assert len(c.text(1)) == 900000 and step.gone()


def test_reattach_continues():
    step = Step(["sh", "-c", "head -c 700000 /dev/zero; sleep 0.3; head -c 700000 /dev/zero; echo end"])
    first = attached(step)
    first.until(lambda: len(first.text(1)) >= 100000)
    have = len(first.text(1))
    first.s.close()
    second = attached(step, offset=have).run()
    assert second.out[0, 1][0] == have and have + len(second.text(1)) == 1400004 and not second.skipped
    assert step.gone()


def test_the_end_waits_for_the_last_attachment():
    step = Step(["sh", "-c", "echo $SLURM_PROCID of two"], tasks=2)
    step.status()
    c = Client(step)
    for task, stream in ((0, 1), (0, 2), (1, 1), (1, 2)):
        time.sleep(0.1)
        c.send(b"A", task, stream, 0, b"p" if (task, stream) == (1, 2) else b"p+")
    c.run()
    assert c.complete == "" and c.text(1, 0) and c.text(1, 1), c.out
    assert step.gone()


def test_the_port_of_its_slurmd_is_not_kept():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.set_inheritable(True)
    step = Step(["sleep", "2"])
    port = listener.getsockname()[1]
    listener.close()
    again = socket.socket()
    again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    again.bind(("127.0.0.1", port))
    again.listen()
    again.close()
    attached(step).run()


def test_finish_bounds_the_linger():
    step = Step(["echo", "unread"])
    assert not step.gone(0.3)
    Client(step).send(b"K", offset=200)
    assert step.gone(3)


def test_a_step_nobody_can_find_leaves():
    step = Step(["echo", "unread"])
    step.status()
    shutil.rmtree(step.dir)
    assert step.gone(8)


def test_stdin_and_its_end():
    step = Step(["cat"], stdin="stream")
    c = attached(step)
    data = os.urandom(600000)
    sent = 0
    while sent < len(data):
        c.until(lambda: c.limits.get(0, 0) > sent)
        n = min(c.limits[0] - sent, 50000, len(data) - sent)
        c.send(b"I", 0, 0, sent, data[sent:sent + n])
        sent += n
    c.send(b"i", 0)
    c.run()
    assert c.text(1) == data and c.exits[0][0] == 0


def test_stdin_repeated_after_reattach():
    step = Step(["cat"], stdin="stream")
    c = attached(step)
    c.send(b"I", 0, 0, 0, b"hello ")
    c.until(lambda: c.text(1) == b"hello ")
    c.s.close()
    c = attached(step, offset=6)
    c.send(b"I", 0, 0, 0, b"hello world\n")
    c.send(b"i", 0)
    c.run()
    assert c.text(1) == b"world\n"


def test_task_that_never_reads_stdin():
    step = Step(["sh", "-c", "exec sleep 0.3"], stdin="stream")
    c = attached(step)
    c.until(lambda: 0 in c.limits)
    c.send(b"I", 0, 0, 0, b"x" * 200000)
    c.run()
    assert c.exits[0][0] == 0 and step.gone()


def test_pty():
    step = Step(["sh", "-c", "stty size; tty; read x; echo got $x"], stdin="pty", stdout="pty", stderr="pty",
                extra=[("rows", 33), ("columns", 99)])
    c = attached(step)
    c.until(lambda: b"/dev/pts" in c.text(1))
    c.send(b"I", 0, 0, 0, b"word\r")
    c.run()
    assert b"33 99" in c.text(1) and b"got word" in c.text(1), c.text(1)


def test_pty_window_size():
    step = Step(["sh", "-c", "trap 'stty size; exit 5' WINCH; echo ready; while :; do sleep 0.05; done"], stdin="pty", stdout="pty", stderr="pty")
    c = attached(step)
    c.until(lambda: b"ready" in c.text(1))
    c.send(b"w", data=struct.pack(">HH", 50, 132))
    c.run()
    assert b"50 132" in c.text(1) and c.exits[0][0] == 5 << 8, c.text(1)


def test_directory_that_is_not_there():
    c = attached(Step(["pwd"], extra=[("cwd", "/nonexistent")])).run()
    assert c.text(1) == b"/tmp\n"
    assert undated(c.text(2)) == b"error: couldn't chdir to `/nonexistent': No such file or directory: going to /tmp instead\n"


def test_time_of_a_message():
    """The form of the time follows LogTimeFormat."""
    day = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
    short = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    for form, pattern in [("", day + r"\.\d{3}"), ("iso8601_ms", day + r"\.\d{3}"), ("iso8601", day), ("rfc5424", day + r"[+-]\d\d:\d\d"),
                          ("rfc5424_ms", day + r"\.\d{3}[+-]\d\d:\d\d"), ("rfc3339", day + r"[+-]\d\d:\d\d"), ("short", short),
                          ("short,format_stderr", short), ("format_stderr", day + r"\.\d{3}"), ("clock", r"\d+"),
                          ("thread_id", short + r"\.\d{6} +\d+ slurmstepd   0x[0-9a-f]+")]:
        text = attached(Step(["nosuchprog"], extra=[("log_time", form)])).run().text(2).decode()
        assert re.fullmatch(r"\[" + pattern + r"\] error: execve\(\): nosuchprog: No such file or directory\n", text), (form, text)


def test_program_that_is_not_there():
    c = attached(Step(["nosuchprog"])).run()
    assert undated(c.text(2)) == b"error: execve(): nosuchprog: No such file or directory\n" and c.exits[0][0] == 2 << 8
    c = attached(Step(["/etc/passwd"])).run()
    assert undated(c.text(2)) == b"error: execve(): /etc/passwd: Permission denied\n" and c.exits[0][0] == 13 << 8
    c = attached(Step(["sh", "-c", "printf '#!/no/interp\\n' >$F; chmod 755 $F; exec $F"], extra=[("env", "F=/tmp/stepd-i%d" % os.getpid())])).run()


def test_output_that_cannot_be_opened_fails_the_launch():
    step = Step(["true"], stdout="file t /proc/nonexistent/x", stderr="same")
    assert step.task()["status"] == "53" and "Could not open stdout file /proc/nonexistent/x" in step.status()
    assert step.gone()


def test_output_files():
    d = tempfile.mkdtemp(prefix="stepd-out-")
    os.chown(d, USER.pw_uid, USER.pw_gid)
    step = Step(["sh", "-c", "echo one; echo two >&2"], stdout=f"file t {d}/o", stderr="same")
    step.status()
    assert open(d + "/o").read() == "one\ntwo\n" and os.stat(d + "/o").st_uid == USER.pw_uid
    Step(["echo", "three"], stdout=f"file a {d}/o", stderr="same").status()
    assert open(d + "/o").read() == "one\ntwo\nthree\n"
    Step(["echo", "x"], tasks=5, stdout=f"file t {d}/o", stderr="same").status()
    assert open(d + "/o").read() == "x\n" * 5
    shutil.rmtree(d)


def test_an_observer_may_type():
    step = Step(["cat"], stdin="stream", stderr="stream", stdout="stream")
    c, o = attached(step), attached(step, role=b"o")
    c.send(b"I", 0, 0, 0, b"one\n")
    c.until(lambda: c.text() == b"one\n")
    o.send(b"J", 0, 0, 0, b"injected\n")
    c.until(lambda: c.text() == b"one\ninjected\n")
    c.send(b"I", 0, 0, 0, b"one\ntwo\n")          # its own offsets do not know of that
    c.until(lambda: c.text() == b"one\ninjected\ntwo\n")
    o.s.settimeout(15)
    for _ in range(12):
        o.send(b"J", ALL, 0, 0, b"z" * 65536)
    o.send(b"j")
    c.run()
    assert c.text() == b"one\ninjected\ntwo\n" + b"z" * 65536 * 12 and c.exits[0][0] == 0, len(c.text())


def test_labelled_files():
    d = tempfile.mkdtemp(prefix="stepd-lab-")
    os.chown(d, USER.pw_uid, USER.pw_gid)
    step = Step(["sh", "-c", "echo one; echo two >&2; printf 'no end'"], stdout=f"file T {d}/o", stderr="same", task_extra=[("label", " 3: ")])
    step.status()
    assert step.gone() and open(d + "/o").read() == " 3: one\n 3: two\n 3: no end\n", open(d + "/o").read()
    assert os.stat(d + "/o").st_uid == USER.pw_uid
    Step(["sh", "-c", "echo a; echo b >&2"], stdout=f"file A {d}/o", stderr=f"file T {d}/e", task_extra=[("label", "0: ")]).gone()
    assert open(d + "/o").read().endswith("end\n0: a\n") and open(d + "/e").read() == "0: b\n"
    Step(["sh", "-c", "seq 200000"], tasks=3, stdout=f"file T {d}/many", stderr="same", task_extra=[("label", "x: ")]).gone()
    lines = open(d + "/many").read().splitlines()
    assert len(lines) == 600000 and all(line.startswith("x: ") for line in lines), len(lines)
    Step(["sh", "-c", "head -c 200000 /dev/zero | tr '\\0' y"], stdout=f"file T {d}/long", stderr="same", task_extra=[("label", "0: ")]).gone()
    assert "".join(x[3:] for x in open(d + "/long").read().splitlines()) == "y" * 200000
    Step(["sh", "-c", "echo a; echo b >&2"], stdout=f"file T {d}/new/of/7/o", stderr=f"file T {d}/new/e").gone()
    assert open(d + "/new/of/7/o").read() == "a\n" and os.stat(d + "/new/of/7").st_uid == USER.pw_uid, "directories are the user's"
    step = Step(["echo", "x"], stdout="file T /proc/nonexistent/x", stderr="same")
    assert step.task()["status"] == "53" and "Could not open stdout file /proc/nonexistent/x" in step.status()
    shutil.rmtree(d)


def test_files_are_opened_as_the_user():
    if not ROOT:
        return
    d = tempfile.mkdtemp(prefix="stepd-own-")
    os.chmod(d, 0o777)
    secret = d + "/secret"
    open(secret, "w").write("root's")
    os.chmod(secret, 0o600)
    os.symlink(secret, d + "/link")
    step = Step(["echo", "overwritten"], stdout=f"file t {d}/link", stderr="same")
    assert step.task()["status"] == "53" and open(secret).read() == "root's"
    step = Step(["echo", "overwritten"], stdout=f"file T {d}/link", stderr="same")
    assert step.task()["status"] == "53" and open(secret).read() == "root's"
    shutil.rmtree(d)


def test_identity_descriptors_and_signals():
    c = attached(Step(["sh", "-c", "id -u; id -G; ls /proc/self/fd | tr '\\n' ' '; grep -E 'Sig(Blk|Ign)' /proc/self/status"])).run()
    lines = c.text(1).decode().split("\n")
    assert lines[0] == str(USER.pw_uid) and lines[2].startswith("0 1 2 3 "), lines
    assert "SigBlk:\t0000000000000000" in c.text(1).decode() and "SigIgn:\t0000000000000000" in c.text(1).decode(), lines


def test_leftovers_are_killed():
    marker = "98%d" % os.getpid()
    step = Step(["sh", "-c", f"(setsid sh -c 'setsid sleep {marker} & exit' &) ; sleep 0.2"], stdout="null", stderr="null")
    assert step.task()["status"] == "0" and step.gone()
    assert subprocess.run(["pgrep", "-f", f"^sleep {marker}"], capture_output=True).stdout == b""


def test_by_groups_those_that_left_are_let_go():
    left, stayed = "97%d" % os.getpid(), "96%d" % os.getpid()
    step = Step(["sh", "-c", f"setsid sleep {left} & sleep {stayed} & echo out; sleep 0.3"], extra=[("pgid", 1)])
    c = attached(step)
    c.run()
    found = [subprocess.run(["pgrep", "-f", f"^sleep {m}"], capture_output=True).stdout.split() for m in (left, stayed)]
    for pid in found[0]:
        os.kill(int(pid), 9)
    assert len(found[0]) == 1 and found[1] == [] and c.text(1) == b"out\n" and c.exits[0][0] == 0 and step.gone()


def test_signals_reach_the_tree_or_the_tasks():
    script = "trap 'echo shell' USR1; sh -c 'trap \"echo inner; exit\" USR1; echo ready; while :; do sleep 0.05; done' & wait; wait; echo done"
    step = Step(["sh", "-c", script])
    c = attached(step)
    c.until(lambda: b"ready" in c.text(1))
    c.send(b"S", stream=1, offset=signal.SIGUSR1)
    c.until(lambda: b"shell" in c.text(1))
    assert b"inner" not in c.text(1)
    c.send(b"S", stream=0, offset=signal.SIGKILL)
    c.run()
    assert c.exits[0][0] == 9 and step.gone()


def test_a_step_is_stopped_at_once_where_nobody_makes_ready_for_it():
    def states():
        lines = subprocess.run(["ps", "-eo", "stat=,args="], capture_output=True, text=True).stdout.splitlines()
        return [line.split()[0][0] for line in lines if mark in line and os.path.basename(line.split()[1]) in ("sh", "bash", "sleep")]
    for trap, stopped in (("", True), ("trap 'echo ready to stop' TSTP; ", False)):
        mark = "0.0531" if stopped else "0.0532"
        step = Step(["bash", "-c", f"{trap}sh -c 'while :; do echo on; sleep {mark}; done' & while :; do sleep {mark}; done"])
        c = attached(step)
        c.until(lambda: c.text(1).count(b"on") > 2)
        c.send(b"S", stream=3, offset=signal.SIGTSTP)
        if stopped:
            time.sleep(0.3)
            # D: a shell whose child was stopped between vfork and exec
            assert "T" in states() and set(states()) <= {"T", "D"} and len(states()) >= 2, states()
        else:
            # the shell's own child has to go on for that
            c.until(lambda: b"ready to stop" in c.text(1))
            assert "T" not in states() and len(states()) >= 2
        said = c.text(1).count(b"on")
        c.send(b"S", stream=0, offset=signal.SIGCONT)
        c.until(lambda: c.text(1).count(b"on") > said + 3)
        c.send(b"S", stream=0, offset=signal.SIGKILL)
        c.run()
        assert step.gone()


def test_stepd_ignores_signals():
    step = Step(["sleep", "0.6"], stdout="null", stderr="null")
    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE):
        os.kill(step.pid, s)
    assert step.task()["status"] == "0" and "ignored signal 15" in step.log()


def test_external_step_stays_until_terminated():
    step = Step([], tasks=0, extra=[("external", 1)])
    assert step.started, step.error
    assert not step.gone(0.3)
    Client(step).send(b"S", stream=2)
    assert step.gone(3) and "state complete" in step.status()


def test_task_prolog_and_epilog():
    d = tempfile.mkdtemp(prefix="stepd-hook-")
    os.chmod(d, 0o777)
    open(d + "/pro", "w").write("#!/bin/sh\necho export COLOUR=blue sky\necho 'export  SPACED = 2'\n"
                            "echo 'print  hello'\necho 'unset  GONE '\necho unset PATH too\n")
    open(d + "/epi", "w").write(f"#!/bin/sh\nid -u > {d}/epilog-ran\necho told >&2\necho not told\nexit 4\n")
    for f in ("/pro", "/epi"):
        os.chmod(d + f, 0o755)
    step = Step(["sh", "-c", "echo $COLOUR \"$SPACED\" $GONE; [ $PATH ] && echo path"], extra=[("env", "GONE=here"), ("task_prolog", d + "/pro"), ("task_epilog", d + "/epi")])
    c = attached(step).run()
    assert c.text(1) == b"hello\nblue sky  2\npath\n", c.text(1)
    assert undated(c.text(2)) == b"told\nerror: --task-epilog failed status=4\n", c.text(2)
    assert open(d + "/epilog-ran").read().strip() == str(USER.pw_uid)
    shutil.rmtree(d)


def test_name_of_the_program():
    """Which file a program's name means; that is also the program's own name."""
    d = tempfile.mkdtemp(prefix="stepd-name-")
    os.chmod(d, 0o755)
    os.mkdir(d + "/bin", 0o755)
    for name in ("x.sh", "bin/x.sh", "bin/found"):
        open(d + "/" + name, "w").write("#!/bin/sh\necho \"$0\"\n")
        os.chmod(d + "/" + name, 0o755)
    for tasks in (1, 2):
        for name, expected in [("./x.sh", "DIR/./x.sh"), ("../DIR/x.sh", "DIR/../DIR/x.sh"), ("bin/x.sh", "bin/x.sh"), ("found", "DIR/bin/found"),
                               ("DIR/bin/x.sh", "DIR/bin/x.sh")]:
            argv = [w.replace("../DIR", "../" + os.path.basename(d)).replace("DIR", d) for w in name.split()]
            c = attached(Step(argv, tasks=tasks, extra=[("cwd", d)], task_extra=[("env", f"PATH={d}/bin:/usr/bin:/bin")])).run()
            text = b"".join(c.text(1, task=t) for t in range(tasks)).decode().replace("../" + os.path.basename(d), "../DIR").replace(d, "DIR")
            assert text == (expected + "\n") * tasks, (name, tasks, text)
    shutil.rmtree(d)


def test_words_of_failing_hooks():
    """Each way in which a task hook fails: what the task's standard error has, and the task's exit code."""
    d = tempfile.mkdtemp(prefix="stepd-hook-")
    os.chmod(d, 0o755)
    for name, mode, text in [("three", 0o755, "exit 3"), ("killed", 0o755, "kill -9 $$"), ("closed", 0o644, "exit 0")]:
        open(d + "/" + name, "w").write("#!/bin/sh\n" + text + "\n")
        os.chmod(d + "/" + name, mode)
    missing = "run_command: {} can not be executed (DIR/none) No such file or directory\n{} did not exit normally. reason: Run command failed - configuration error"
    closed = "run_command: {} can not be executed (DIR/closed) Permission denied\n{} did not exit normally. reason: Run command failed - configuration error"
    for key, program, expected, code in [
            ("task_prolog", "three", "TaskProlog failed status=3", 3),
            ("task_prolog", "none", missing.replace("{}", "slurm task_prolog") + "\nTaskProlog failed status=1", 1),
            ("task_prolog", "closed", closed.replace("{}", "slurm task_prolog") + "\nTaskProlog failed status=1", 1),
            ("task_prolog", "killed", "slurm task_prolog did not exit normally. reason: \nTaskProlog failed status=1", 1),
            ("user_task_prolog", "three", "--task-prolog failed status=3", 3),
            ("user_task_prolog", "none", missing.replace("{}", "user task_prolog") + "\n--task-prolog failed status=1", 1),
            ("user_task_epilog", "three", "TaskEpilog failed status=3", 0),
            ("user_task_epilog", "none", "execve(DIR/none): No such file or directory\nTaskEpilog failed status=127", 0),
            ("user_task_epilog", "closed", "execve(DIR/closed): Permission denied\nCould not run user task_epilog [DIR/closed]: access denied\n"
             "TaskEpilog failed status=127", 0),
            ("user_task_epilog", "killed", "TaskEpilog failed status=9", 0),
            ("task_epilog", "three", "--task-epilog failed status=3", 0),
            ("task_epilog", "none", "execve(DIR/none): No such file or directory\n--task-epilog failed status=127", 0)]:
        c = attached(Step(["true"], extra=[(key, d + "/" + program)])).run()
        lines = re.sub(r"(?m)^error: ", "", undated(c.text(2)).decode()).replace(d, "DIR").rstrip("\n")
        assert (lines, c.exits[0][0]) == (expected, code << 8), (key, program, lines, c.exits)
    shutil.rmtree(d)


def test_tasks_await_their_caller():
    step = Step(["sh", "-c", "echo begun"], extra=[("await_caller", 1)])
    assert "begun no\n" in step.status(0.1, "running")     # no task can have run yet
    watcher = attached(step, role=b"o")
    watcher.s.settimeout(0.3)
    try:
        watcher.until(lambda: watcher.text(1))
        raise AssertionError("it began without its caller")
    except TimeoutError:
        pass
    assert attached(step).run().text(1) == b"begun\n"
    ended = Step(["sh", "-c", "echo begun"], extra=[("await_caller", 1)])
    Client(ended).send(b"S", stream=2)
    assert ended.gone(3) and "state complete" in ended.status()


def test_limits_nice_and_affinity():
    step = Step(["sh", "-c", "ulimit -n; nice; grep Cpus_allowed_list /proc/self/status"],
                extra=[("rlimit", "NOFILE 99"), ("nice", 5)], task_extra=[("cpus", "0")])
    text = attached(step).run().text(1).decode().split()
    assert text == ["99", "5", "Cpus_allowed_list:", "0"], text


def test_garbage_is_refused():
    step = Step(["sleep", "0.5"], stdout="null", stderr="null")
    for junk in (b"\xff" * 100, struct.pack(">IcIBQ", 14, b"?", 0, 0, 0), b"\0\0\0\1x"):
        c = Client(step)
        c.s.sendall(junk)
        try:
            c.run()
        except (ConnectionError, socket.timeout):
            pass
    assert step.task()["status"] == "0"
    bad = tempfile.mkdtemp(prefix="stepd-")
    open(bad + "/spec", "wb").write(b"job 99\nx\n")
    os.chmod(bad + "/spec", 0o600)
    assert b"malformed" in subprocess.run([STEPD, bad + "/spec"], capture_output=True).stderr


def test_strangers_may_not_connect():
    if not ROOT:
        return
    step = Step(["sleep", "0.7"], stdout="null", stderr="null")
    os.chmod(step.step, 0o711)
    os.chmod(step.step + "/socket", 0o777)
    code = f"import socket; s=socket.socket(socket.AF_UNIX); s.connect('{step.step}/socket'); s.settimeout(5); print(len(s.recv(9)))"
    out = subprocess.run(["setpriv", "--reuid=12345", "--clear-groups", "/usr/bin/python3", "-c", code], capture_output=True)
    assert out.stdout.strip() == b"0" or b"reset" in out.stderr.lower(), out


def test_messages_to_the_task():
    d = tempfile.mkdtemp(prefix="stepd-msg-")
    os.chown(d, USER.pw_uid, USER.pw_gid)
    step = Step(["sleep", "0.5"], stdout=f"file t {d}/o", stderr="same")
    time.sleep(0.1)
    c = Client(step)
    c.send(b"A", data=b"n")
    c.send(b"M", data=b"*** JOB 7 ON n1 CANCELLED ***")
    c.run()
    assert undated(open(d + "/o", "rb").read()) == b"error: *** JOB 7 ON n1 CANCELLED ***\n"
    step = Step(["sleep", "0.5"])
    c = attached(step)
    while c.frame() != b"T":
        pass
    c.send(b"M", data=b"text")
    c.run()
    assert undated(c.text(2)) == b"error: text\n"
    shutil.rmtree(d)


def test_killed_stepd_leaves_a_trace():
    step = Step(["sh", "-c", "exec sleep 60"], stdout="null", stderr="null")
    task = int([w for w in step.status(0.1, "running").split() if w.startswith("pid=")][0][4:])
    c = attached(step)
    os.kill(step.pid, signal.SIGKILL)
    try:
        c.run()
    except (EOFError, ConnectionError):
        pass
    assert c.complete is None and "state running" in step.status(0.1) and "begun no" not in step.status(0.1)
    os.kill(task, signal.SIGKILL)


class Server:
    """slurmstepd --serve with its requests and answers."""
    def __init__(self):
        self.process = subprocess.Popen([STEPD, "--serve" + " " * 64], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.dirs = {}

    def ask(self, id, argv, directory=None, extra=()):
        d = directory or tempfile.mkdtemp(prefix="stepd-")
        self.dirs[id] = d
        spec = [("job", id), ("step", "batch"), ("attempt", 1), ("uid", USER.pw_uid), ("gid", USER.pw_gid),
                ("groups", USER.pw_gid if ROOT else ""), ("cwd", "/tmp"), ("env", "PATH=/usr/bin:/bin")] + list(extra)
        spec += [("task", 0), ("stdin", "null"), ("stdout", "null"), ("stderr", "null")] + [("argv", a) for a in argv]
        text = b"".join(entry(*e) for e in spec)
        self.process.stdin.write(b"%d %d %d\n" % (id, len(d), len(text)) + d.encode() + text)
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().decode().strip()


def test_server_starts_steps_and_tells_their_ends():
    server = Server()
    for id in (1, 2, 3):
        server.ask(id, ["sh", "-c", "exit %d" % id])
    heard = [server.answer() for _ in range(6)]
    for id in (1, 2, 3):
        first, last = [h for h in heard if h.startswith("%d " % id)]
        assert first.split()[1] == "ok" and last == "%d ended" % id, heard
        assert "status=%d " % (id << 8) in open(server.dirs[id] + "/status").read()
        shutil.rmtree(server.dirs[id])
    server.ask(4, ["true"], "/nonexistent/directory")
    assert "No such file" in server.answer() and server.answer() == "4 ended"
    server.ask(5, ["true"], extra=[("nonsense", "1")])
    assert "bad entry" in server.answer() and server.answer() == "5 ended"
    server.process.stdin.close()
    assert server.process.wait(5) == 0


RUNTIME = """#!/bin/sh
case $1 in
create) (n=0; while [ ! -e go ] && [ $n -lt 100 ]; do sleep 0.02; n=$((n+1)); done; exec sh -c "$2") </dev/null >/dev/null 2>&1 & echo $! > pid;;
start) [ "$2" = refuse ] && exit 4; touch go;;
state) kill -0 $(cat pid) 2>/dev/null && echo "{\\"pid\\": $(cat pid), \\"status\\": \\"running\\"}" || echo '{"status": "stopped"}';;
esac
"""


def test_a_container_that_is_created_and_started_ends_as_its_first_process():
    for command, start, code in (("exit 7", "start", 7), ("kill -TERM $$", "start", -15), ("true", "start refuse", 4)):
        with tempfile.TemporaryDirectory() as place:
            runtime = place + "/runtime"
            with open(runtime, "w") as out:
                out.write(RUNTIME)
            os.chmod(runtime, 0o755)
            process = subprocess.run([sys.argv[1], "--container", place, f"{runtime} create '{command}'", f"{runtime} {start}", f"{runtime} state"],
                                     timeout=20)
            open(place + "/go", "w").close()
            assert process.returncode == code, (command, process.returncode)


def test_steps_outlive_their_server():
    for end in ("closed", "killed"):
        server = Server()
        server.ask(1, ["sh", "-c", "sleep 0.7; exit 9"])
        pid = int(server.answer().split()[2])
        assert open(f"/proc/{pid}/comm").read() == "slurmstepd\n" and open(f"/proc/{pid}/cmdline").read().startswith("slurmstepd: [1.batch]")
        assert open(f"/proc/{server.process.pid}/comm").read() == "stepstarter\n"
        if end == "closed":
            server.process.stdin.close()
        else:
            server.process.kill()
        server.process.wait(5)
        assert os.path.exists(f"/proc/{pid}")
        deadline = time.time() + 5
        while "status=2304 " not in open(server.dirs[1] + "/status").read():
            assert time.time() < deadline
            time.sleep(0.02)
        shutil.rmtree(server.dirs[1])


def test_status_file_is_begun_anew_when_it_is_long():
    many = 300      # one record each time a task ends, each with a line per task
    step = Step(["true"], tasks=many, stdout="null", stderr="null")
    text = step.status()
    assert text.count("phase=done") == many and os.path.getsize(step.step + "/status") < 600_000
    assert not os.path.exists(step.step + "/status.new")


def test_namespaces_are_kept_whatever_processor_made_the_one_around():
    if os.geteuid() or subprocess.call(["unshare", "-m", "true"], stderr=subprocess.DEVNULL):
        print("      skipped: no mount namespaces here")
        return
    cpus = sorted(os.sched_getaffinity(0))[:4]
    for around in cpus:
        for own in cpus:
            place = tempfile.mkdtemp(prefix="stepd-ns-")
            script = (f"taskset -c {own} {STEPD} --namespace make {place}/.ns private,pid {place}= && grep -c ' {place}/.ns' /proc/self/mounts"
                      f" && {STEPD} --namespace drop {place}/.ns && ! grep ' {place}' /proc/self/mounts")
            r = subprocess.run(["taskset", "-c", str(around), "unshare", "-m", "sh", "-c", script], capture_output=True, text=True)
            assert r.returncode == 0 and r.stdout == "2\n", (around, own, r)


def test_a_namespace_that_cannot_be_made_leaves_no_mount():
    if os.geteuid() or subprocess.call(["unshare", "-m", "true"], stderr=subprocess.DEVNULL):
        print("      skipped: no mount namespaces here")
        return
    place = tempfile.mkdtemp(prefix="stepd-ns-")
    script = f"{STEPD} --namespace make {place}/.ns private,pid {place}/missing={place}; echo $?; grep -c {place} /proc/self/mounts"
    r = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True)
    assert r.stdout == "1\n0\n" and "cannot mount" in r.stderr, r


def main():
    names = sys.argv[2:] or [n for n in globals() if n.startswith("test_")]
    failed = 0
    for name in names:
        start = time.time()
        try:
            globals()[name]()
            print(f"ok    {name} {time.time() - start:.2f} s", flush=True)
        except Exception as e:
            failed += 1
            import traceback
            traceback.print_exc()
            print(f"FAILED {name}: {type(e).__name__} {e}", flush=True)
    for d in os.listdir("/tmp"):
        if d.startswith("stepd-") and not failed:
            shutil.rmtree("/tmp/" + d, ignore_errors=True)
    sys.exit(1 if failed else 0)


main()
