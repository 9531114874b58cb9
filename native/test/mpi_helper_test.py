"""Tests of mpi-helper in the place of stepd, its tasks and the slurmds between nodes. Usage: mpi_helper_test.py PATH_OF_MPI_HELPER [names]."""
import os, select, socket, struct, subprocess, sys, tempfile, threading, time

HELPER = os.path.abspath(sys.argv[1])


class Node:
    """A helper with its tasks' sockets, stepd's control socket and the socket that slurmd connects to."""

    def __init__(self, index, ranks, size, nodes, kind="pmi2", extra=()):
        self.place = tempfile.mkdtemp(prefix="mpi-helper-") + "/listener"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.place)
        listener.listen(8)
        listener.setblocking(False)
        self.control, control = socket.socketpair()
        pairs = {r: socket.socketpair() for r in ranks}
        self.tasks = {r: Task(p[0]) for r, p in pairs.items()}
        lines = [f"control {control.fileno()}", f"listener {listener.fileno()}", f"kind {kind}", "job 7", "step 0", "id 7.0", "namespace slurm.pmix.7.0", f"index {index}", "width 2", f"size {size}",
                 f"uid {os.getuid()}", f"gid {os.getgid()}", "ports 12000-12001"] + list(extra)
        lines += [f"node n{i} {list_of}" for i, list_of in enumerate(nodes)]
        lines += [f"task {r} {p[1].fileno()}" for r, p in pairs.items()]
        fds = [control.fileno(), listener.fileno()] + [p[1].fileno() for p in pairs.values()]
        self.process = subprocess.Popen([HELPER], stdin=subprocess.PIPE, pass_fds=fds)
        self.process.stdin.write(("\n".join(lines) + "\n").encode())
        self.process.stdin.close()
        for s in [control, listener] + [p[1] for p in pairs.values()]:
            s.close()
        self.control.settimeout(20)
        self.heard = b""

    def line(self):
        while b"\n" not in self.heard:
            more = self.control.recv(65536)
            if not more:
                return None
            self.heard += more
        line, _, self.heard = self.heard.partition(b"\n")
        return line.decode()

    def lines_until(self, last):
        out = []
        while not out or out[-1] not in (last, None):
            out.append(self.line())
        return out

    def connect(self, preface):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(10)
        s.connect(self.place)
        s.sendall(preface)
        return s

    def finish(self):
        self.control.sendall(b"finish\n")
        return self.process.wait(timeout=20)


class Task:
    def __init__(self, s):
        self.s, self.heard = s, b""
        s.settimeout(20)

    def send(self, text):
        self.s.sendall(text.encode() if isinstance(text, str) else text)

    def exactly(self, n):
        while len(self.heard) < n:
            more = self.s.recv(65536)
            assert more, "the helper closed the socket"
            self.heard += more
        out, self.heard = self.heard[:n], self.heard[n:]
        return out

    def old(self, text):
        self.send(text + "\n")
        return self.old_line()

    def old_line(self):
        line = b""
        while not line.endswith(b"\n"):
            line += self.exactly(1)
        return line[:-1].decode()

    def ask(self, text):
        self.send("%6d%s" % (len(text), text))
        return self.answer()

    def answer(self):
        return self.exactly(int(self.exactly(6))).decode()

    def is_closed(self):
        try:
            return self.s.recv(1) == b""
        except ConnectionResetError:
            return True


def pass_bytes(parent, child, number):
    """A slurmd between two helpers: passes what comes on either connection."""
    ends = [parent.connect(b"child %d\n" % number), child.connect(b"parent\n")]

    def work():
        try:
            while True:
                for s in select.select(ends, [], [], 20)[0]:
                    data = s.recv(65536)
                    if not data:
                        return
                    ends[1 - ends.index(s)].sendall(data)
        except OSError:
            pass
        finally:
            for s in ends:
                s.close()
    threading.Thread(target=work, daemon=True).start()
    return ends


def test_pmi1():
    node = Node(0, [0, 1], 2, ["0-1"])
    assert node.line() == "ready"
    a, b = node.tasks[0], node.tasks[1]
    for t in (a, b):
        assert t.old("cmd=init pmi_version=1 pmi_subversion=1") == "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
    assert a.old("cmd=get_maxes") == "cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=1024"
    assert a.old("cmd=get_my_kvsname") == "cmd=my_kvsname kvsname=7.0"
    assert a.old("cmd=get kvsname=7.0 key=PMI_process_mapping").endswith("value=(vector,(0,1,2))")
    assert a.old("cmd=put kvsname=7.0 key=k0 value=v0") == "cmd=put_result rc=0 msg=success"
    assert a.old("cmd=put kvsname=7.0 key=%s value=v" % ("k" * 65)).startswith("cmd=put_result rc=-1")
    a.send("cmd=barrier_in\n")
    assert b.old("cmd=barrier_in") == a.old_line() == "cmd=barrier_out"
    assert b.old("cmd=get kvsname=7.0 key=k0") == "cmd=get_result rc=0 msg=success value=v0"
    assert b.old("cmd=getbyidx kvsname=7.0 idx=0") == "cmd=getbyidx_results rc=0 nextidx=1 key=k0 val=v0"
    assert b.old("cmd=getbyidx kvsname=7.0 idx=-1").startswith("cmd=getbyidx_results rc=-2")
    assert a.old("cmd=publish_name service=s port=p") == "cmd=publish_result rc=0 info=ok"
    assert b.old("cmd=lookup_name service=s") == "cmd=lookup_result rc=0 info=ok port=p"
    assert b.old("cmd=unpublish_name service=s").startswith("cmd=unpublish_result rc=0")
    assert b.old("cmd=lookup_name service=s") == "cmd=lookup_result rc=-1 info=service_not_found"
    a.send("mcmd=spawn\nnprocs=1\n")
    assert a.old("endcmd") == "cmd=spawn_result rc=-1 msg=not_supported"
    a.send("cmd=abort exitcode=3\n")
    assert node.line() == "abort"
    assert node.finish() == 0


def test_pmi2_on_three_nodes_whose_lines_break():
    nodes = [Node(i, [2 * i, 2 * i + 1], 6, ["0-1", "2-3", "4-5"]) for i in range(3)]
    for n in nodes:
        assert n.line() == "ready"
    tasks = [n.tasks[r] for n in nodes for r in n.tasks]
    for r, t in enumerate(tasks):
        assert t.old("cmd=init pmi_version=2 pmi_subversion=0") == "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0"
        assert f"rank={r};size=6;" in t.ask(f"cmd=fullinit;thrid=9;pmijobid=7.0;pmirank={r};threaded=FALSE;")
    links = [pass_bytes(nodes[0], nodes[i], i) for i in (1, 2)]
    for turn in range(3):
        for r, t in enumerate(tasks):
            assert "rc=0;" in t.ask(f"cmd=kvs-put;key=k{turn}.{r};value=a;;b{'x' * 900}{r};")
        for t in tasks:
            t.send("    14cmd=kvs-fence;")
        for s in links[turn % 2] if turn else ():
            s.close()
        links[turn % 2] = pass_bytes(nodes[0], nodes[1 + turn % 2], 1 + turn % 2) if turn else links[turn % 2]
        for t in tasks:
            assert "rc=0;" in t.answer()
        for r in range(6):
            assert f"value=a;;b{'x' * 900}{r};" in tasks[5 - r].ask(f"cmd=kvs-get;jobid=7.0;key=k{turn}.{r};")
    assert "found=TRUE;value=port;" in (tasks[5].ask("cmd=name-publish;name=n;port=port;"), tasks[2].ask("cmd=name-lookup;name=n;"))[1]
    assert "found=FALSE;" in tasks[2].ask("cmd=info-getnodeattr;key=a;wait=FALSE;")
    waiting = "cmd=info-getnodeattr;thrid=5;key=a;wait=TRUE;"
    tasks[2].send("%6d%s" % (len(waiting), waiting))
    time.sleep(0.1)
    assert "rc=0;" in tasks[3].ask("cmd=info-putnodeattr;key=a;value=v;")
    assert "found=TRUE;value=v;" in tasks[2].answer()
    # one thread of a task waits for an attribute while another enters a fence: each answer names its own
    waiting = "cmd=info-getnodeattr;thrid=5;key=b;wait=TRUE;"
    tasks[2].send("%6d%s" % (len(waiting), waiting))
    fence = "cmd=kvs-fence;thrid=6;"
    for t in tasks:
        t.send("%6d%s" % (len(fence), fence))
    assert all("cmd=kvs-fence-response;thrid=6;" in t.answer() for t in tasks)
    assert "rc=0;" in tasks[3].ask("cmd=info-putnodeattr;key=b;value=w;")
    assert "cmd=info-getnodeattr-response;thrid=5;rc=0;found=TRUE;value=w;" in tasks[2].answer()
    assert "rc=-1;" in tasks[2].ask("cmd=spawn;ncmds=1;")
    for n in nodes:
        assert n.finish() == 0


def test_a_task_that_breaks_the_protocol_loses_its_socket_alone():
    node = Node(0, [0, 1, 2], 3, ["0-2"])
    assert node.line() == "ready"
    a, b, c = (node.tasks[r] for r in range(3))
    for junk in (b"\n=\n ====  \ncmd=\ncmd\n", b"cmd=getbyidx idx=99999999999999999999\n", b"cmd=init pmi_version=x\n"):
        a.send(junk)
    assert b.old("cmd=init pmi_version=2") == "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0"
    b.send(b"xxxxxx")
    assert b.is_closed()
    try:
        c.send(b"y" * (1 << 20) + b"z" * 70000)
    except (BrokenPipeError, ConnectionResetError):
        pass                    # it was closed before it had taken all
    assert c.is_closed()
    assert a.old_line().startswith("cmd=") and a.old("cmd=get_appnum") is not None
    assert node.finish() == 0


def test_a_neighbour_that_breaks_the_protocol_is_let_go_or_ends_the_step():
    node = Node(0, [0], 2, ["0", "1"])
    assert node.line() == "ready"
    for junk in (b"nonsense\n", b"child 5\n", b"child 0\n", b"x" * 40, b"child 1\n" + b"\0" * 8 + b"Z", b"child 1\n" + b"\0" * 8 + b"D\xff\xff\xff\xff",
                 b"child 1\n" + b"\0" * 7 + b"\1", b"child 1\n" + b"\0" * 8 + b"A" + b"\xff" * 8):
        s = node.connect(junk)
        try:
            while s.recv(4096):
                continue
        except ConnectionResetError:
            pass
    message = struct.pack(">IBIIIB", 14, 3, 1, 9, 1, 0)
    s = node.connect(b"child 1\n" + b"\0" * 8 + b"D" + struct.pack(">I", len(message)) + message)
    assert node.line() == "error mpi: node n1 sent what is no message" and node.line() == "abort" and node.process.wait(10) == 1


def test_settings_that_are_not_complete_end_it():
    for extra, words in ((["size x"], "error mpi: bad number in a setting: x"), (["colour red"], "error mpi: unknown setting colour")):
        node = Node(0, [0], 1, ["0"], extra=extra)
        assert node.line() == words and node.line() == "abort" and node.process.wait(10) == 1, words


def test_pmix():
    if subprocess.run([HELPER, "--has", "pmix"], stderr=subprocess.DEVNULL).returncode:
        print("      skipped: no libpmix here")
        return
    place = tempfile.mkdtemp(prefix="mpi-helper-pmix-")
    node = Node(0, [0, 1], 2, ["0-1"], "pmix", [f"directory {place}", f"client_directory {place}/c", "timeout 5"])
    lines = node.lines_until("ready")
    variables = [line.split(" ", 2)[2].partition("=") for line in lines if line and line.startswith("env 1 ")]
    assert ("PMIX_RANK", "=", "1") in variables and ("SLURM_PMIX_MAPPING_SERV", "=", "(vector,(0,1,2))") in variables, lines
    node.control.sendall(b"exit 0\nexit 1\n")
    assert node.finish() == 0


def test_what_there_is():
    out = subprocess.run([HELPER, "--list"], capture_output=True, text=True)
    assert out.returncode == 0 and out.stdout.split()[:2] == ["none", "pmi2"]
    assert subprocess.run([HELPER, "--has", "bogus"], capture_output=True).returncode == 1 and subprocess.run([HELPER, "x"], capture_output=True).returncode == 2


def main():
    failed = 0
    for name in sys.argv[2:] or [n for n in globals() if n.startswith("test_")]:
        start = time.time()
        try:
            globals()[name]()
            print(f"ok    {name} {time.time() - start:.2f} s", flush=True)
        except Exception as e:
            failed += 1
            import traceback
            traceback.print_exc()
            print(f"FAILED {name}: {type(e).__name__} {e}", flush=True)
    sys.exit(1 if failed else 0)


main()
