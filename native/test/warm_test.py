"""Tests of the launcher's short path with a service of ours. Usage: warm_test.py LAUNCHER (its long path says "cold ID")."""
import os, shutil, signal, socket, struct, subprocess, sys, tempfile, threading, time

# who began this in the background of a script had interrupts ignored, and programs would take that from us
signal.signal(signal.SIGINT, signal.default_int_handler)
prefix = tempfile.mkdtemp(prefix="warm-test-")
os.makedirs(prefix + "/bin")
os.makedirs(prefix + "/lib/muster/jars/cli")
squeue = prefix + "/bin/squeue"
srun = prefix + "/bin/srun"
shutil.copy(sys.argv[1], squeue)
shutil.copy(sys.argv[1], srun)
# root's commands have a service of their own
path = prefix + "/service" + (".root" if os.getuid() == 0 else "")
open(prefix + "/lib/muster/launcher.conf", "w").write(
    f"java_home={os.environ.get('JAVA_HOME', '')}\ncommand_service={prefix}/service\ncommand_service_uid={os.getuid()}\n")
COLD = b"no program in"       # what the long path says in an installation without jars


class Service:
    """One connection, handled by the given function."""

    def __init__(self, handler):
        self.handler, self.fields, self.error = handler, {}, None
        if os.path.exists(path):
            os.unlink(path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(5)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            self.c = self.listener.accept()[0]
            type, body = self.frame()
            assert type == b"Q"
            at = 0
            while at < len(body):
                end = body.index(b"\n", at)
                name, length = body[at:end].split(b" ")
                self.fields.setdefault(name.decode(), []).append(body[end + 1:end + 1 + int(length)])
                at = end + 2 + int(length)
            self.handler(self)
        except Exception as e:
            self.error = e
        finally:
            self.c.close()
            self.listener.close()

    def exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.c.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def frame(self):
        length, = struct.unpack(">I", self.exactly(4))
        body = self.exactly(length)
        return body[:1], body[1:]

    def send(self, type, body=b""):
        self.c.sendall(struct.pack(">I", len(body) + 1) + type + body)

    def ask(self, type, body):
        self.send(type, body)
        kind, answer = self.frame()
        return answer if kind == b"T" else (struct.unpack(">I", answer[:4])[0], answer[4:])

    def exit(self, code):
        self.send(b"X", struct.pack(">I", code))


def command(handler, *args, **more):
    s = Service(handler)
    done = subprocess.run([squeue, *args], capture_output=True, timeout=20, env={"A": "b", "PATH": "/usr/bin"}, **more)
    if s.error and not isinstance(s.error, (EOFError, ConnectionError)):
        raise s.error
    return done, s


def u32(n):
    return struct.pack(">I", n)


def test_output_and_exit_code():
    def handler(s):
        s.send(b"H")
        s.send(b"O", b"out\xff\n")
        s.send(b"E", b"err\n")
        s.exit(7)
    done, s = command(handler, "-u", "me", cwd="/usr")
    assert (done.stdout, done.stderr, done.returncode) == (b"out\xff\n", b"err\n", 7), done
    assert s.fields["argv"][1:] == [b"-u", b"me"] and s.fields["env"] == [b"A=b", b"PATH=/usr/bin"]
    assert s.fields["cwd"] == [b"/usr"] and s.fields["uid"] == [b"%d" % os.getuid()] and len(s.fields["request_id"][0]) == 32
    assert s.fields["tty"] == [b"000"] and any(l.startswith(b"NOFILE ") for l in s.fields["limit"])


def test_files_and_input_are_the_callers():
    seen = {}

    def handler(s):
        seen["passwd"] = s.ask(b"P", u32(100) + b"/etc/passwd")
        seen["none"] = s.ask(b"P", u32(100) + b"/nonexistent")
        seen["directory"] = s.ask(b"P", u32(100) + b"/etc")
        seen["input"] = s.ask(b"R", u32(1000))
        s.exit(0)
    done, s = command(handler, "/etc/passwd", "--file=/nonexistent", "-D/etc", input=b"script")
    assert done.returncode == 0 and seen["passwd"] == (0, open("/etc/passwd", "rb").read(100))
    assert seen["none"][0] == 2 and seen["directory"][0] == 21 and seen["input"] == (0, b"script")


def test_what_the_command_does_not_name_is_neither_read_nor_written():
    name = prefix + "/written"
    for args, frame in (((), b"P" + u32(100) + b"/etc/passwd"), (("passwd",), b"P" + u32(100) + b"/etc/passwd"), (("/etc",), b"P" + u32(100) + b"/etc/passwd"),
                        (("/etc/passwd",), b"P" + u32(100) + b"/etc/../etc/shadow"), ((name,), b"W" + u32(0o640) + name.encode() + b"\0content")):
        def handler(s):
            s.send(frame[:1], frame[1:])
            s.frame()
        done, s = command(handler, *(args or ("-u", "me")))
        s.thread.join(5)
        assert COLD in done.stderr and isinstance(s.error, Exception), (args, frame, done)
    assert not os.path.exists(name)


def test_only_sack_sockets_are_asked_for_a_session():
    other = prefix + "/other.socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(other)
    listener.listen(1)
    listener.settimeout(0.5)
    seen = {}

    def handler(s):
        s.send(b"S", other.encode() + b"\n")
        seen["answer"] = s.frame()
        s.exit(0)
    done, s = command(handler)
    assert seen["answer"] == (b"T", b""), seen
    try:
        listener.accept()
        assert False, "it was asked"
    except socket.timeout:
        pass


def test_roots_commands_are_not_served_by_another_user():
    if os.getuid() != 0:
        return
    taken = []
    for place, uid in ((prefix + "/service", 0), (path, 65534)):
        if os.path.exists(place):
            os.unlink(place)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(place)
        os.seteuid(uid)
        listener.listen(1)       # the kernel names who listened
        os.seteuid(0)
        listener.settimeout(1)
        done = subprocess.run([squeue, "-u", "me"], capture_output=True, env={"PATH": "/usr/bin"})
        assert COLD in done.stderr, done
        try:
            c = listener.accept()[0]
            c.settimeout(1)
            taken.append(c.recv(10))
        except socket.timeout:
            taken.append(b"")
        listener.close()
        os.unlink(place)
    assert taken == [b"", b""], taken


def test_session_from_the_sack():
    sack = prefix + "/sack"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sack)
    listener.listen(1)

    def vouch():
        c = listener.accept()[0]
        c.sendall(b"token\nkey\n")
        c.close()
    threading.Thread(target=vouch, daemon=True).start()
    seen = []

    def handler(s):
        seen.append(s.ask(b"S", b"/nonexistent\n" + sack.encode()))
        seen.append(s.ask(b"S", b"/nonexistent"))
        s.exit(0)
    command(handler)
    assert seen == [b"token\nkey\n", b""], seen


def is_cold(handler):
    start = time.time()
    done, s = command(handler)
    assert COLD in done.stderr and done.returncode == 1, done
    return time.time() - start


def test_long_path_when_asked_silent_or_lost():
    assert is_cold(lambda s: s.send(b"C")) < 0.5
    assert is_cold(lambda s: None) < 0.5
    assert is_cold(lambda s: s.c.sendall(b"\xff\xff\xff\xff")) < 0.5
    assert 0.9 < is_cold(lambda s: time.sleep(2)) < 1.6


def test_heartbeats_keep_a_slow_command():
    def handler(s):
        for _ in range(6):
            time.sleep(0.25)
            s.send(b"H")
        s.exit(3)
    assert command(handler)[0].returncode == 3


def test_no_way_back_after_output():
    def handler(s):
        s.send(b"O", b"half")
    done, s = command(handler)
    assert (done.stdout, done.returncode) == (b"half", 1) and b"command service ended" in done.stderr and COLD not in done.stderr


def test_a_service_that_is_stuck_after_output_is_given_up():
    def handler(s):
        s.send(b"O", b"half")
        time.sleep(19)
    start = time.time()
    done, s = command(handler)
    assert (done.stdout, done.returncode) == (b"half", 1) and b"command service ended" in done.stderr and 14 < time.time() - start < 18, done


def test_a_closed_reader_ends_it_by_sigpipe():
    s = Service(lambda s: [s.send(b"O", b"x" * 65536) for _ in range(200)])
    p = subprocess.Popen([squeue], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=lambda: __import__("signal").signal(13, 0))
    p.stdout.read(10)
    p.stdout.close()
    assert p.wait(10) == -13


def test_an_interrupt_cancels():
    gone = threading.Event()

    def handler(s):
        s.send(b"O", b"up")
        try:
            s.frame()
        except EOFError:
            gone.set()
    s = Service(handler)
    p = subprocess.Popen([squeue], stdout=subprocess.PIPE)
    assert p.stdout.read(2) == b"up"
    p.send_signal(2)
    assert p.wait(5) == -2 and gone.wait(5)


def test_a_stranger_is_not_trusted():
    if os.getuid() != 0:
        return
    stranger = prefix + "/stranger"
    code = f"""
import os, socket
os.setuid(12345)
s = socket.socket(socket.AF_UNIX); s.bind("{path}"); s.listen(1)
c = s.accept()[0]; print(len(c.recv(10)))
"""
    os.path.exists(path) and os.unlink(path)
    os.chmod(prefix, 0o777)
    p = subprocess.Popen(["/usr/bin/python3", "-c", code], stdout=subprocess.PIPE)
    while not os.path.exists(path):
        time.sleep(0.02)
    done = subprocess.run([squeue], capture_output=True, timeout=10)
    assert COLD in done.stderr and p.communicate(timeout=5)[0].strip() == b"0"


def v(task, stream, offset, fd, data):
    return struct.pack(">IBQB", task, stream, offset, fd) + data


def test_srun_passes_signals_and_streams_input():
    seen = []

    def handler(s):
        s.send(b"V", v(0, 1, 3, 1, b"out") + b"")
        s.send(b"V", v(0, 2, 3, 2, b"err"))
        s.send(b"R", u32(100))          # and nothing comes for a while: other frames pass meanwhile
        seen.append(s.frame())
        s.send(b"O", b"more")
        seen.append(s.frame())
        s.send(b"R", u32(100))
        seen.append(s.frame())
        s.exit(9)
    s = Service(handler)
    p = subprocess.Popen([srun, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.stdout.read(3) == b"out"
    p.send_signal(2)
    assert p.stdout.read(4) == b"more"
    p.stdin.write(b"typed")
    p.stdin.flush()
    time.sleep(0.2)
    p.stdin.close()
    assert p.wait(5) == 9 and p.stderr.read() == b"err"
    assert seen == [(b"G", u32(2)), (b"I", u32(0) + b"typed"), (b"I", u32(0))], seen


def test_a_signal_that_srun_does_nothing_about():
    def handler(s):
        s.send(b"O", b"up")
        assert s.frame() == (b"G", u32(15))
        s.send(b"D", u32(15))
        time.sleep(1)
    s = Service(handler)
    p = subprocess.Popen([srun, "x"], stdout=subprocess.PIPE)
    assert p.stdout.read(2) == b"up"
    p.send_signal(15)
    assert p.wait(5) == -15


def test_what_a_service_has_said_is_read_although_it_takes_no_input_any_more():
    """A step that ends at once: the service asks for input, then comes the end, and it has hung up before the input is there."""
    def handler(s):
        frames = [(b"B", b"{}"), (b"R", u32(100)), (b"V", v(0, 1, 3, 1, b"out")), (b"X", u32(7))]
        s.c.sendall(b"".join(struct.pack(">I", len(body) + 1) + type + body for type, body in frames))
    for _ in range(20):
        Service(handler)
        done = subprocess.run([srun, "x"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
        assert done.stdout == b"out" and done.returncode == 7, done


def test_srun_goes_on_by_itself_also_after_output():
    left = []

    def handler(s):
        s.send(b"B", b"{}")
        s.send(b"V", v(0, 1, 4, 1, b"half"))
        s.send(b"C")
        left.append(s.frame())
    s = Service(handler)
    done = subprocess.run([srun, "x"], capture_output=True, timeout=20)
    end = time.time() + 5
    while not left and time.time() < end:
        time.sleep(0.01)
    assert done.stdout == b"half" and COLD in done.stderr and left == [(b"L", b"")], (done, left)


failed = 0
for name in [n for n in list(globals()) if n.startswith("test_")]:
    try:
        globals()[name]()
        print("ok   ", name, flush=True)
    except Exception as e:
        failed = 1
        import traceback
        traceback.print_exc()
        print("FAILED", name, flush=True)
shutil.rmtree(prefix)
sys.exit(failed)
