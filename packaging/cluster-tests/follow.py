"""What follow.sh wants of those who look on. Arguments: slurmrestd's port, a token of root's, slurmrestd's process."""
import fcntl, json, os, pty, re, select, signal, socket, struct, subprocess, sys, termios, threading, time

port, token, restd = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
SLOW, JOBS, ROUNDS = 40, 400, 70
fails = 0


def check(what, good, more=''):
    global fails
    print(f"{'ok  ' if good else 'FAIL'} {what}{f': {more}' if more != '' else ''}", flush=True)
    fails += 0 if good else 1


def sh(*args):
    return subprocess.run(args, capture_output=True, text=True, timeout=60).stdout.strip()


def memory():
    """Mebibytes of slurmrestd."""
    return int(re.search(r'VmRSS:\s+(\d+)', open(f'/proc/{restd}/status').read())[1]) // 1024


class Stream:
    """One that reads when it is told to, with little room in the kernel."""
    def __init__(self, path='/muster/v1/events', seen='', room=4096):
        self.s = socket.socket()
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.s.connect(('127.0.0.1', port))
        more = f'Last-Event-ID: {seen}\r\n' if seen else ''
        self.s.sendall(f'GET {path} HTTP/1.0\r\nX-SLURM-USER-TOKEN: {token}\r\nAccept: text/event-stream\r\n{more}\r\n'.encode())
        self.text = b''
        self.events = []

    def read(self, seconds, until=lambda e: False):
        end = time.time() + seconds
        while True:
            while b'\n\n' in self.text:
                block, self.text = self.text.split(b'\n\n', 1)
                e = dict(line.split(': ', 1) for line in block.decode().split('\n') if ': ' in line and line[0] != ':')
                if 'event' in e:
                    self.events.append(e)
                    if until(e):
                        return True
            self.s.settimeout(max(.05, end - time.time()))
            try:
                part = self.s.recv(1 << 16)
            except (TimeoutError, socket.timeout):
                return False
            if not part or time.time() > end:
                return False
            self.text += part


def named(name):
    return lambda e: e['event'] == name


def streams():
    jobs = [sh('sbatch', '--parsable', '-b', 'now+1day', '-J', 'x' * 60, '-o', '/dev/null', '--wrap', 'true') for _ in range(JOBS)]
    slow = [Stream() for _ in range(SLOW)]
    check('slow readers are greeted', all(s.read(10, named('hello')) for s in slow))
    fast = Stream(room=1 << 20)
    fast.read(10, named('hello'))
    reading = threading.Thread(target=lambda: fast.read(120, lambda e: f'last of {ROUNDS}' in e.get('data', '')))
    reading.start()
    before, began = memory(), time.time()
    for i in range(ROUNDS):
        sh('scontrol', ['hold', 'release'][i % 2], ','.join(jobs))
        time.sleep(.4)      # what happens together is told together
    sh('scontrol', 'update', f'jobid={jobs[0]}', f'jobname=last of {ROUNDS}')
    reading.join()
    fast.read(1.5)
    size = sum(len(e['data']) for e in fast.events)
    check('who reads is told all of it meanwhile', any(f'last of {ROUNDS}' in e['data'] for e in fast.events), f'{size / 1048576:.1f} MiB in {time.time() - began:.0f} s')
    check('and nothing is lost on the way to him', not any(e['event'] == 'reset' for e in fast.events))
    check('more than is kept for who is slow', size > 9 << 20)
    grown = memory() - before
    check(f'{SLOW} readers that do not read cost no memory', grown < 120, f'{grown} MiB more, {memory()} in all')
    one = slow[0]
    check('one that reads again is told to begin anew', one.read(20, named('reset')), f'after {len(one.events)} events')
    sh('scontrol', 'update', f'jobid={jobs[1]}', 'jobname=after')
    check('and goes on', one.read(10, lambda e: 'after' in e.get('data', '')))
    # ---- back again
    ids = [e['id'] for e in fast.events if 'id' in e]
    fast.s.close()
    sh('scontrol', 'update', f'jobid={jobs[2]}', 'jobname=meanwhile')
    back = Stream(seen=ids[-1], room=1 << 20)
    check('who comes back is told what he missed', back.read(10, lambda e: 'meanwhile' in e.get('data', '')) and not any(e['event'] in ('hello', 'reset') for e in back.events))
    check('and not what he knew', not any(f'last of {ROUNDS}' in e['data'] for e in back.events))
    old = Stream(seen=ids[0], room=1 << 20)
    old.read(10, lambda e: 'meanwhile' in e.get('data', ''))
    known = {j['job_id'] for e in old.events if e['event'] == 'jobs' for j in json.loads(e['data'])['jobs']}
    check('who was away for longer than anything is kept is told how all of it is now', known >= set(map(int, jobs)), f'{len(known)} jobs in {len(old.events)} events')
    check('so is what is no revision', Stream(seen='x.1').read(10, named('reset')))
    many = [Stream() for _ in range(300)]
    check('there may be many', all(s.read(20, named('hello')) for s in many[::30]), f'{memory()} MiB with {300 + SLOW}')
    sh('scancel', '-n', 'x' * 60)
    for s in slow + many:
        s.s.close()
    check('other requests are answered beside them', json.loads(sh('curl', '-s', '-H', f'X-SLURM-USER-TOKEN: {token}', f'localhost:{port}/slurm/v0.0.45/ping'))['errors'] == [])
    sh('scancel', *jobs)


class Terminal:
    """A command in a terminal of its own."""
    def __init__(self, *args, rows=24, columns=100):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(args[0], args)
        self.size(rows, columns)
        self.text = ''

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds, until):
        end = time.time() + seconds
        while time.time() < end and not until(self.text):
            if select.select([self.fd], [], [], .1)[0]:
                try:
                    self.text += os.read(self.fd, 1 << 16).decode(errors='replace')
                except OSError:
                    break
        return until(self.text)

    def screen(self):
        return self.text.split('\033[H\033[2J')[-1]

    def ends(self, signum):
        os.kill(self.pid, signum)
        for _ in range(100):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(.05)
        return None


def terminals():
    top = Terminal('muster', 'top')
    check('top shows the machine', top.read(15, lambda t: 'CPUs  [' in t and '2 idle' in t), top.screen()[:60])
    job = sh('sbatch', '--parsable', '-J', 'watched', '-o', '/dev/null', '--wrap', 'sleep 8')
    check('and a job as it comes', top.read(10, lambda t: re.search(rf'{job} +watched .*RUNNING', t)))
    check('its time runs', top.read(12, lambda t: re.search(rf'{job} +watched .*00:00:0[4-7]', t)))
    top.size(10, 60)
    top.text = ''
    check('a smaller terminal is filled and not more', top.read(10, lambda t: t.count('\033[H') > 1) and max(len(x) for x in top.screen().replace('\r', '').split('\n')) <= 60)
    watch = Terminal('muster', 'watch', job)
    check('watch tells how it goes', watch.read(20, lambda t: re.search(rf'{job} .*COMPLETED', t)), watch.text.strip().replace('\r\n', ' | '))
    check('and how it ended', os.waitstatus_to_exitcode(os.waitpid(watch.pid, 0)[1]) == 0)
    check('top ends at an interrupt', top.ends(signal.SIGINT) in (0, -2, 130))
    other = Terminal('muster', 'top')
    other.read(15, lambda t: 'q ends' in t)
    os.write(other.fd, b'xyzq')
    check('q ends it', os.waitstatus_to_exitcode(os.waitpid(other.pid, 0)[1]) == 0)
    check('typed keys do not appear', 'xyzq' not in other.text)
    bad = subprocess.Popen(['muster', 'watch', sh('sbatch', '--parsable', '-o', '/dev/null', '--wrap', 'sleep 1; exit 3')], stdout=subprocess.PIPE, text=True)
    check('a bad end is its status', bad.wait(30) == 1 and 'FAILED' in bad.stdout.read())
    everything = Terminal('muster', 'watch', columns=200)
    time.sleep(2)
    for _ in range(10):
        sh('scontrol', 'update', 'nodename=n2', 'state=drain', 'reason=a fan')
        sh('scontrol', 'update', 'nodename=n2', 'state=resume')
        if everything.read(1.5, lambda t: 'node n2 IDLE -> IDLE+DRAIN (a fan)' in t and 'IDLE+DRAIN -> IDLE' in t):
            break
    check('watch without jobs tells of nodes', 'IDLE+DRAIN -> IDLE' in everything.text, everything.text[:200].replace('\r\n', ' | '))
    check('watch ends at an interrupt', everything.ends(signal.SIGINT) in (0, -2, 130))


streams()
terminals()
sys.exit(1 if fails else 0)
