#!/usr/bin/env python3
"""Unauthenticated load on a port: attack.py KIND PORT NUMBER SECONDS, where KIND is idle, slow, big or garbage."""
import os, random, resource, select, socket, sys, time

kind, port, number, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
number = min(number, hard - 100)
end = time.time() + seconds
host = '127.0.0.1'


def connect():
    s = socket.socket()
    s.settimeout(5)
    try:
        # several addresses of this host, so that no single one has all
        s.bind(('127.0.0.%d' % random.randint(2, 9), 0))
        s.connect((host, port))
        return s
    except OSError:
        s.close()
        return None


def idle():
    """Keeps NUMBER connections open that say nothing; those that are closed are opened anew."""
    held, opened = {}, 0
    poll = select.poll()
    while time.time() < end:
        for _ in range(min(200, number - len(held))):
            s = connect()
            if s is None:
                break
            held[s.fileno()] = s
            poll.register(s, select.POLLIN | select.POLLHUP)
            opened += 1
        for fd, _ in poll.poll(50):
            poll.unregister(fd)
            held.pop(fd).close()
    print('idle', port, 'opened', opened, 'held at the end', len(held))


def slow():
    """NUMBER heads and bodies that come byte by byte."""
    held, cut = [], 0
    while time.time() < end:
        while len(held) < number and time.time() < end:
            s = connect()
            if s is None:
                break
            try:
                s.sendall(b'POST /muster/v1/Ping HTTP/1.1\r\n' + (b'Content-Length: 1000000\r\n\r\n' if len(held) % 2 else b'X: '))
            except OSError:
                continue
            held.append(s)
        for s in list(held):
            try:
                s.send(b'a')
            except OSError:
                held.remove(s)
                s.close()
                cut += 1
        time.sleep(0.2)
    print('slow', port, 'cut off', cut)


def big():
    """Bodies of 62 MiB without a credential."""
    piece, sent = os.urandom(1 << 16), 0
    while time.time() < end:
        for _ in range(number):
            s = connect()
            if s is None:
                time.sleep(0.05)
                continue
            try:
                s.sendall(b'POST /muster/v1/Submit HTTP/1.1\r\nContent-Length: 65011712\r\n\r\n')
                for _ in range(992):
                    s.sendall(piece)
                    sent += len(piece)
            except OSError:
                pass
            s.close()
            if time.time() > end:
                break
    print('big', port, 'MiB taken', sent >> 20)


def garbage():
    """NUMBER MiB of random bytes, chunked nonsense and handshakes of other protocols."""
    sent, heads = 0, [b'', b'\x16\x03\x01\x02\x00', b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
                      b'POST /muster/v1/Ping HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFF\r\n', b'GET / HTTP/1.1\r\nX: ']
    while sent < number << 20 and time.time() < end:
        s = connect()
        if s is None:
            time.sleep(0.05)
            continue
        try:
            s.sendall(random.choice(heads))
            for _ in range(64):
                piece = os.urandom(1 << 15)
                s.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
        sent += 1 << 10
        s.close()
    print('garbage', port, 'MiB', sent >> 20)


{'idle': idle, 'slow': slow, 'big': big, 'garbage': garbage}[kind]()
