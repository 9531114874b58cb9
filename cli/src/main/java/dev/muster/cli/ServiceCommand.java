package dev.muster.cli;

import dev.muster.model.Json;
import dev.muster.transport.Client;
import dev.muster.transport.Frames;
import dev.muster.transport.Session;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One command for one launcher: its request is the host the command sees, its connection the streams and files. */
final class ServiceCommand implements Host {
    private static final int STDIN_CHUNK = 64 << 10;
    private static final int ANSWER_HEAD = 4;

    private final ServiceConnection connection;
    private final ServiceShared shared;
    private final List<String> argv = new ArrayList<>();
    private final Map<String, String> env = new LinkedHashMap<>();
    private final Map<String, Long> limits = new LinkedHashMap<>();
    private final Map<String, String> fields = new LinkedHashMap<>();
    private ClientConf conf;
    private Session session;
    private ZoneId zone;
    private boolean requestIdUsed;

    ServiceCommand(ServiceConnection connection, ServiceShared shared) {
        this.connection = connection;
        this.shared = shared;
    }

    /** @param daemons counts connections of daemons, which ask nothing and only stay */
    void run(java.util.concurrent.atomic.AtomicInteger daemons) throws IOException {
        ServiceConnection.Frame first = connection.request();
        if (first.type() == 'D') {
            daemons.incrementAndGet();
            try {
                connection.awaitEnd();
            } finally {
                daemons.decrementAndGet();
            }
            return;
        }
        if (first.type() != 'Q' || !parse(first.bytes()) || argv.isEmpty()) {
            throw new IOException("not a request");
        }
        shared.entered(connection);
        try {
            execute();
        } finally {
            shared.left(connection);
        }
    }

    private void execute() throws IOException {
        Output out = new Output(sink('O'), false);
        Output err = new Output(sink('E'), true);
        int rc;
        try {
            rc = Commands.run(new CommandContext(fields.getOrDefault("name", ""), argv.getFirst(),
                    argv.subList(1, argv.size()), env, this, out, err, stdin()));
        } catch (OutOfMemoryError | RuntimeException e) {
            // too much for this process, or a mistake in it: the caller's own process may do better
            if (!connection.hasSpoken()) {
                connection.send('C', new byte[0]);
                return;
            }
            err.println(fields.get("name") + ": fatal: the command service failed: " + e);
            err.flush();
            rc = 1;
        }
        connection.send('X', new byte[] {(byte) (rc >> 24), (byte) (rc >> 16), (byte) (rc >> 8), (byte) rc});
    }

    /** Entries {@code name length\n<bytes>\n}. */
    private boolean parse(byte[] raw) {
        int at = 0;
        while (at < raw.length) {
            int line = at;
            while (line < raw.length && raw[line] != '\n') {
                line++;
            }
            String head = new String(raw, at, line - at, StandardCharsets.ISO_8859_1);
            int blank = head.lastIndexOf(' ');
            long length = blank < 0 ? -1 : OptionCheck.parseNumber(head.substring(blank + 1));
            if (length < 0 || length > raw.length - line - 1) {
                return false;
            }
            entry(head.substring(0, blank), RawText.decode(raw, line + 1, line + 1 + (int) length));
            at = line + 1 + (int) length + 1;
        }
        return true;
    }

    private void entry(String name, String value) {
        switch (name) {
            case "argv" -> argv.add(value);
            case "env" -> {
                int eq = value.indexOf('=', 1);
                if (eq > 0) {
                    env.putIfAbsent(value.substring(0, eq), value.substring(eq + 1));
                }
            }
            case "limit" -> {
                int blank = value.indexOf(' ');
                String soft = value.substring(blank + 1);
                if (blank > 0) {
                    limits.put(value.substring(0, blank), soft.equals("-1") ? -1L : OptionCheck.parseNumber(soft));
                }
            }
            default -> fields.put(name, value);
        }
    }

    private OutputStream sink(char type) {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                connection.send(type, new byte[] {(byte) b});
            }

            @Override
            public void write(byte[] data, int from, int length) throws IOException {
                connection.send(type, data, from, length);
            }
        };
    }

    private InputStream stdin() {
        return new InputStream() {
            private byte[] have = new byte[0];
            private int at;
            private boolean ended;

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] into, int from, int length) throws IOException {
                if (at == have.length && !ended) {
                    have = ask('R', number(STDIN_CHUNK), "standard input");
                    at = 0;
                    ended = have.length == 0;
                }
                if (ended) {
                    return -1;
                }
                int n = Math.min(length, have.length - at);
                System.arraycopy(have, at, into, from, n);
                at += n;
                return n;
            }
        };
    }

    private static byte[] number(int n) {
        return new byte[] {(byte) (n >> 24), (byte) (n >> 16), (byte) (n >> 8), (byte) n};
    }

    /** Asks the launcher for something only its caller may do; the answer's bytes. */
    private byte[] ask(char type, byte[] question, String what) throws IOException {
        connection.send(type, question);
        ServiceConnection.Frame a = connection.answer();
        byte[] b = a.bytes();
        if (a.type() != 'A' || b.length < ANSWER_HEAD) {
            throw new IOException("unexpected answer");
        }
        if ((b[0] | b[1] | b[2] | b[3]) != 0) {
            throw new java.io.FileNotFoundException(what);
        }
        return java.util.Arrays.copyOfRange(b, ANSWER_HEAD, b.length);
    }

    private static byte[] joined(byte[] a, byte[] b) {
        byte[] out = java.util.Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, out, a.length, b.length);
        return out;
    }

    private int field(String name) {
        return (int) Math.max(0, OptionCheck.parseNumber(fields.getOrDefault(name, "0")));
    }

    private ClientConf conf() throws SlurmException {
        if (conf == null) {
            String path = env.getOrDefault("SLURM_CONF", "");
            try {
                conf = shared.conf(path, this::readFile);
            } catch (IOException e) {
                throw new SlurmException(-1, "Could not establish a configuration source: unable to read " + path);
            }
        }
        return conf;
    }

    private Session session() throws SlurmException {
        if (session == null) {
            try {
                String sockets = String.join("\n", conf().sackSockets()) + "\n";
                connection.send('S', RawText.encode(sockets));
                ServiceConnection.Frame t = connection.answer();
                if (t.type() == 'T' && t.bytes().length > 0) {
                    session = Session.fromBytes(t.bytes());
                }
            } catch (IOException e) {
                throw new SlurmException(-1, "the caller is gone");
            } catch (IllegalArgumentException e) {
                session = null;
            }
            if (session == null) {
                // no daemon here vouches for the caller; its own process may read the key or ask munge
                throw new NoSessionException();
            }
        }
        return session;
    }

    /** Sends the command the long way. */
    private static final class NoSessionException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NoSessionException() {
            super("no session", null, false, false);
        }
    }

    @Override
    public String workDir() {
        return fields.getOrDefault("cwd", "/");
    }

    @Override
    public long nowMs() {
        return System.currentTimeMillis();
    }

    @Override
    public ZoneId zone() {
        if (zone == null) {
            zone = ProcessHost.zoneOf(env.getOrDefault("TZ", ""));
        }
        return zone;
    }

    @Override
    public int uid() {
        return field("uid");
    }

    @Override
    public int gid() {
        return field("gid");
    }

    @Override
    public int pid() {
        return field("pid");
    }

    @Override
    public int umask() {
        return field("umask") & 0777;
    }

    @Override
    public Map<String, Long> limits() {
        return limits;
    }

    @Override
    public String hostName() {
        return shared.hostName;
    }

    @Override
    public String userName(int uid) {
        return shared.names.userName(uid);
    }

    @Override
    public int userId(String nameOrId) {
        return shared.names.userId(nameOrId);
    }

    @Override
    public int groupId(String nameOrId) {
        return shared.names.groupId(nameOrId);
    }

    @Override
    public byte[] readFile(String path, int maxBytes) throws IOException {
        return ask('P', joined(number(maxBytes), RawText.encode(path)), path);
    }

    @Override
    public void writeFile(String path, byte[] content, int mode) throws IOException {
        byte[] head = joined(number(mode), joined(RawText.encode(path), new byte[1]));
        ask('W', joined(head, content), path);
    }

    @Override
    public boolean isTty(int fd) {
        String tty = fields.getOrDefault("tty", "000");
        return fd < tty.length() && tty.charAt(fd) == '1';
    }

    @Override
    public Controller controller() {
        return (message, request) -> shared.call(conf(), session(), message, request);
    }

    @Override
    public Json.Obj callNode(String address, int port, String message, Json.Obj request) throws SlurmException {
        Session mine = session();
        return HttpController.ask(new Client(address, port, () -> mine, shared::nonce), message, request);
    }

    @Override
    public boolean pause(long ms) {
        try {
            Thread.sleep(ms);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    @Override
    public List<String> clusters() {
        try {
            return List.of(conf().clusterName);
        } catch (SlurmException e) {
            return List.of();
        }
    }

    @Override
    public String requestId() {
        String given = fields.getOrDefault("request_id", "");
        if (!requestIdUsed && !given.isEmpty()) {
            requestIdUsed = true;
            return given;
        }
        return shared.nonce();
    }

    @Override
    public List<String> controllers() {
        List<String> out = new ArrayList<>();
        try {
            for (ClientConf.Server s : conf().servers) {
                out.add(s.name());
            }
        } catch (SlurmException e) {
            out.clear();
        }
        return out;
    }

    @Override
    public Frames openStream(String address, int port, String name) throws IOException {
        throw new IOException("streams are not served here");
    }

    @Override
    public void onSignal(String name, Runnable handler) {
        // signals reach the launcher, whose end ends the command
    }
}
