"""Asks over and over: restload.py ADDRESS|SOCKET PATH SECONDS CONNECTIONS [HEADER: VALUE]... prints answers/s, bytes of one, codes, answers."""
import http.client, socket, sys, threading, time
address, path, seconds, count = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
headers = dict(h.split(": ", 1) for h in sys.argv[5:])
class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(address)
done, codes, size, lock = 0, {}, 0, threading.Lock()
end = time.time() + seconds
def work():
    global done, size
    c = None
    while time.time() < end:
        try:
            if c is None:
                c = Unix("localhost") if address.startswith("/") else http.client.HTTPConnection(address)
            c.request("GET", path, headers=headers)
            r = c.getresponse()
            n = 0
            while True:
                b = r.read(1 << 18)
                if not b:
                    break
                n += len(b)
            with lock: done += 1; codes[r.status] = codes.get(r.status, 0) + 1; size = max(size, n)
        except (OSError, http.client.HTTPException) as e:
            c = None
            with lock: codes[type(e).__name__] = codes.get(type(e).__name__, 0) + 1
            time.sleep(0.01)
began = time.time()
threads = [threading.Thread(target=work) for _ in range(count)]
[t.start() for t in threads]; [t.join() for t in threads]
print("%.2f %d %s %d" % (done / (time.time() - began), size, ",".join("%s:%d" % e for e in sorted(codes.items(), key=str)), done))
