package dev.muster.cli.service;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Controller;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.Output;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.RowLines;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.connection.HttpController;
import dev.muster.cli.connection.PendingRequests;
import dev.muster.cli.connection.ProcessHost;
import dev.muster.cli.connection.RequestIds;
import dev.muster.cli.connection.Sessions;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.Frames;
import dev.muster.transport.Session;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One command of the command service. The launcher's request is the host that the command sees, and its connection
 * carries the streams and files.
 */
public final class ServiceCommand implements Host {
    /** Commands that ask slurmdbd. */
    private static final Set<String> OF_ACCOUNTING = Set.of("sacct", "sacctmgr", "sreport");

    private static final int STDIN_CHUNK = 64 << 10;
    private static final int ANSWER_HEAD = 4;
    private static final int POSITION_BYTES = 14;

    private final ServiceConnection connection;
    private final ServiceResources shared;
    private final List<String> argv = new ArrayList<>();
    private final Map<String, String> env = new LinkedHashMap<>();
    private final Map<String, Long> limits = new LinkedHashMap<>();
    private final Map<String, String> fields = new LinkedHashMap<>();
    private @Nullable ClientConf conf;
    private @Nullable Session session;
    private @Nullable ZoneId zone;
    /** Held while what is in flight changes, and while it is ended. */
    private final PendingRequests inFlight = new PendingRequests();

    private long sessionMs;
    private Optional<RequestIds> requestIds = Optional.empty();
    private final Map<Integer, Runnable> handlers = new ConcurrentHashMap<>();
    private final List<Frames> streams = new ArrayList<>();
    private final Delivery delivery = new Delivery();
    private boolean isKnownSession;
    private volatile boolean over;

    /** @throws IOException if the frame is not a request */
    public ServiceCommand(ServiceConnection connection, ServiceResources shared, ServiceConnection.Frame request)
            throws IOException {
        this.connection = connection;
        this.shared = shared;
        if (request.type() != 'Q' || !parse(request.bytes()) || argv.isEmpty()) {
            throw new IOException("not a request");
        }
    }

    /** Takes as long as its step. */
    public boolean isLong() {
        return fields.getOrDefault("name", "").equals("srun");
    }

    public void run() throws IOException {
        shared.entered(connection);
        try {
            execute();
        } finally {
            shared.left(connection);
        }
    }

    /** Output of a step that is sent with its position; guarded by itself. */
    private static final class Delivery {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        /** The thread that writes to {@link #bytes}, null for none. */
        private volatile @Nullable Thread thread;

        private char stream = 'O';
        private boolean lost;
    }

    private void execute() throws IOException {
        String name = fields.getOrDefault("name", "");
        boolean step = isLong();
        if (step && !shared.steps.tryAcquire()) {
            connection.send('C', new byte[0]);
            return;
        }
        Output out = new Output(sink('O'), false);
        Output err = new Output(sink('E'), true);
        int rc;
        try {
            connection.whenGone(inFlight::giveUpAll);
            if (step) {
                connection.onSignal(this::signalled);
                connection.readBeside();
            }
            if (OF_ACCOUNTING.contains(name) && settings().authType.equals("auth/munge")) {
                needsOwnProcess(); // before anything is printed: then it would be too late
            }
            rc = shared.run(new CommandContext(
                    name, argv.getFirst(), argv.subList(1, argv.size()), env, this, out, err, stdin()));
        } catch (OutOfMemoryError | RuntimeException e) {
            // too much for this process, or a mistake in it: the caller's own process may do better
            if (!connection.hasSpoken() || step) {
                connection.send('C', new byte[0]);
                return;
            }
            err.println(name + ": fatal: the command service failed: " + e);
            err.flush();
            rc = 1;
        } finally {
            end();
            if (step) {
                shared.steps.release();
            }
        }
        connection.send('X', new byte[] {(byte) (rc >> 24), (byte) (rc >> 16), (byte) (rc >> 8), (byte) rc});
    }

    /** Ends the command with all its threads and connections. */
    private void end() {
        over = true;
        synchronized (streams) {
            streams.forEach(Frames::close);
            streams.clear();
        }
    }

    private void signalled(int number) {
        Runnable handler = handlers.get(number);
        if (handler != null) {
            Thread.ofVirtual().start(handler);
        } else if (number != Signals.CONT) {
            try {
                connection.send('D', number(number));
            } catch (IOException e) {
                // it is gone
            }
        }
    }

    /** Entries {@code name length\n<bytes>\n}. */
    private boolean parse(byte[] raw) {
        int index = 0;
        while (index < raw.length) {
            int line = index;
            while (line < raw.length && raw[line] != '\n') {
                line++;
            }
            String head = new String(raw, index, line - index, StandardCharsets.ISO_8859_1);
            int blank = head.lastIndexOf(' ');
            long length = blank < 0 ? -1 : Digits.parseNumber(head.substring(blank + 1));
            if (length < 0 || length > raw.length - line - 1) {
                return false;
            }
            entry(head.substring(0, blank), RawText.decode(raw, line + 1, line + 1 + (int) length));
            index = line + 1 + (int) length + 1;
        }
        return true;
    }

    private void entry(String name, String value) {
        switch (name) {
            case "argv" -> argv.add(value);
            case "env" -> {
                int equalSign = value.indexOf('=', 1);
                if (equalSign > 0) {
                    env.putIfAbsent(value.substring(0, equalSign), value.substring(equalSign + 1));
                }
            }
            case "limit" -> {
                int blank = value.indexOf(' ');
                String soft = value.substring(blank + 1);
                if (blank > 0) {
                    limits.put(value.substring(0, blank), soft.equals("-1") ? -1L : Digits.parseNumber(soft));
                }
            }
            default -> fields.put(name, value);
        }
    }

    private OutputStream sink(char type) {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] data, int from, int length) throws IOException {
                if (Thread.currentThread() == delivery.thread) {
                    delivery.stream = type;
                    delivery.bytes.write(data, from, length);
                } else {
                    connection.send(type, data, from, length);
                }
            }
        };
    }

    /** Sends bytes and position in one frame, so that the process that resumes the step knows exactly what arrived. */
    @Override
    public long deliver(int task, int stream, LongSupplier write) {
        synchronized (delivery) {
            delivery.bytes.reset();
            long upTo;
            delivery.thread = Thread.currentThread();
            try {
                upTo = write.getAsLong();
            } finally {
                delivery.thread = null;
            }
            if (delivery.lost || delivery.bytes.size() == 0) {
                return delivery.lost ? 0 : upTo;
            }
            byte[] head = ByteBuffer.allocate(POSITION_BYTES)
                    .putInt(task)
                    .put((byte) stream)
                    .putLong(upTo)
                    .put((byte) (delivery.stream == 'E' ? 2 : 1))
                    .array();
            try {
                connection.send('V', joined(head, delivery.bytes.toByteArray()));
                return upTo;
            } catch (IOException e) {
                delivery.lost = true; // the bytes are lost: neither they nor those that follow are acknowledged
                return 0;
            }
        }
    }

    private InputStream stdin() {
        return new InputStream() {
            private byte[] have = new byte[0];
            private int position;
            private boolean ended;

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] into, int from, int length) throws IOException {
                if (position == have.length && !ended) {
                    have = ask('R', 'I', number(STDIN_CHUNK), "standard input");
                    position = 0;
                    ended = have.length == 0;
                }
                if (ended) {
                    return -1;
                }
                int n = Math.min(length, have.length - position);
                System.arraycopy(have, position, into, from, n);
                position += n;
                return n;
            }
        };
    }

    private static byte[] number(int n) {
        return new byte[] {(byte) (n >> 24), (byte) (n >> 16), (byte) (n >> 8), (byte) n};
    }

    /** Asks the launcher for something only its caller may do; the answer's bytes. */
    private byte[] ask(char type, char answer, byte[] question, String name) throws IOException {
        connection.send(type, question);
        byte[] b = connection.answer(answer).bytes();
        if (b.length < ANSWER_HEAD) {
            throw new IOException("unexpected answer");
        }
        if ((b[0] | b[1] | b[2] | b[3]) != 0) {
            throw new java.io.FileNotFoundException(name);
        }
        return java.util.Arrays.copyOfRange(b, ANSWER_HEAD, b.length);
    }

    private static byte[] joined(byte[] a, byte[] b) {
        byte[] out = java.util.Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, out, a.length, b.length);
        return out;
    }

    private int field(String name) {
        return (int) Math.max(0, Digits.parseNumber(fields.getOrDefault(name, "0")));
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

    /**
     * The caller's, from its launcher, or from an earlier launcher of the same user and group: the kernel says who
     * connected, and the sack socket asks the kernel in the same way.
     */
    private synchronized Session ownSession() throws SlurmException {
        Session current = session;
        boolean first = current == null && !isKnownSession;
        if (current == null || Session.isOld(sessionMs, nowMs())) {
            String sockets = String.join("\n", conf().sackSockets()) + "\n";
            String who = connection.peer() + "\n" + sockets;
            Optional<ServiceResources.VerifiedSession> known = first ? shared.vouched(who, nowMs()) : Optional.empty();
            isKnownSession = known.isPresent();
            if (isKnownSession) {
                session = known.get().session();
                sessionMs = known.get().sinceMs();
                return session;
            }
            long startMs = nowMs();
            Optional<Session> fresh = freshSession(sockets);
            if (fresh.isPresent()) {
                current = fresh.get();
                shared.vouch(who, new ServiceResources.VerifiedSession(current, startMs));
            } else if (current == null) {
                // no daemon here vouches for the caller; its own process may read the key or ask munge
                throw new OwnProcessException();
            }
            session = current;
            sessionMs = startMs;
        }
        return current;
    }

    /** Opens the session: daemons that take tokens get the caller's token, where there is one. */
    private Session session() throws SlurmException {
        String token = env.getOrDefault(Sessions.JWT, "");
        return token.isEmpty() ? ownSession() : Sessions.ofJwt(token);
    }

    private Optional<Session> freshSession(String sockets) throws SlurmException {
        try {
            connection.send('S', RawText.encode(sockets));
            byte[] answer = connection.answer('T').bytes();
            return answer.length == 0 ? Optional.empty() : Optional.of(Session.fromBytes(answer));
        } catch (IOException e) {
            if (session != null) {
                return Optional.empty(); // to say that the caller is gone, the old one must do
            }
            throw new SlurmException(-1, "the caller is gone");
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Sends the command the long way. */
    private static final class OwnProcessException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OwnProcessException() {
            super("a process of its own", null, false, false);
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
    public String groupName(int gid) {
        return shared.names.groupName(gid);
    }

    @Override
    public byte[] readFile(String path, int maxBytes) throws IOException {
        return ask('P', 'A', joined(number(maxBytes), RawText.encode(path)), path);
    }

    /** No process but the caller's own writes files. */
    @Override
    public void writeFile(String path, byte[] content, int mode) throws IOException {
        needsOwnProcess();
    }

    @Override
    public boolean isTty(int fd) {
        String tty = fields.getOrDefault("tty", "000");
        return fd < tty.length() && tty.charAt(fd) == '1';
    }

    /** How one daemon is asked. */
    private interface Route {
        Client.Response ask(String message, Json.Obj request, Optional<Client.Lines> lines) throws SlurmException;
    }

    private static Controller over(Route way) {
        return new Controller() {
            @Override
            public Json.Obj call(String message, Json.Obj request) throws SlurmException {
                return HttpController.answer(way.ask(message, request, Optional.empty()));
            }

            @Override
            public byte[] bytes(String message, Json.Obj request) throws SlurmException {
                return HttpController.bytes(way.ask(message, request, Optional.empty()));
            }

            @Override
            public void rows(String message, Json.Obj request, String list, Taker taker) throws SlurmException {
                RowLines lines = new RowLines(taker);
                lines.finish(
                        HttpController.bytes(way.ask(message, request.put("lines", Boolean.TRUE), Optional.of(lines))),
                        list);
            }
        };
    }

    @Override
    public Controller controller() {
        return over((message, request, lines) -> {
            if (connection.isGone()) {
                if (connection.isLeft()) {
                    throw new SlurmException(-1, "left to the caller");
                }
                Thread.interrupted(); // has told what it had to tell; what is asked now is the tidying up
            }
            boolean again = HttpController.isRetried(message, env.getOrDefault("SLURM_STEPMGR", ""));
            Client.Response response = shared.call(conf(), again, session(), message, request, inFlight, lines);
            if (isKnownSession && HttpController.errno(response) == SlurmErrno.PROTOCOL_AUTHENTICATION_ERROR.number()) {
                session = null; // an earlier command's is not good any more
                response = shared.call(conf(), again, session(), message, request, inFlight, lines);
            }
            return response;
        });
    }

    @Override
    public Controller accounting() {
        return over((message, request, lines) -> {
            if (conf().authType.equals("auth/munge")) {
                needsOwnProcess();
            }
            return shared.callAccounting(conf(), session(), message, request, inFlight, lines);
        });
    }

    @Override
    public ClientConf settings() {
        try {
            return conf();
        } catch (SlurmException e) {
            return ClientConf.standard();
        }
    }

    @Override
    public void needsOwnProcess() {
        throw new OwnProcessException();
    }

    @Override
    public Json.Obj callNode(String address, int port, String message, Json.Obj request) throws SlurmException {
        Session current = ownSession();
        return HttpController.callOnce(
                new Client(address, port, () -> current, shared::nonce)
                        .to(Audience.SLURMD)
                        .connectWithin(conf().connectMs)
                        .over(conf().tls()),
                message,
                request,
                inFlight);
    }

    @Override
    public boolean pause(long ms) {
        try {
            Thread.sleep(ms);
            return !over;
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
        if (requestIds.isEmpty()) {
            String given = fields.getOrDefault("request_id", "");
            requestIds = Optional.of(new RequestIds(given.matches("[0-9a-f]{32}") ? given : shared.nonce()));
        }
        return requestIds.get().next();
    }

    @Override
    public Json.Obj callController(int index, String message, Json.Obj request) throws SlurmException {
        if (controllers().size() > 1) {
            needsOwnProcess();
        }
        return controller().call(message, request);
    }

    @Override
    public Json.Obj callAccounting(int index, String message, Json.Obj request) throws SlurmException {
        if (accountingHosts().size() > 1) {
            needsOwnProcess();
        }
        return accounting().call(message, request);
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
    public Frames openStream(String address, int port, String name) throws IOException, SlurmException {
        Session session = ownSession();
        Client client = new Client(address, port, () -> session, shared::nonce)
                .to(Audience.SLURMD)
                .connectWithin(conf().connectMs)
                .over(conf().tls());
        Frames frames;
        try {
            frames = client.stream("/muster/v1/stream/" + name, "muster-" + name);
        } catch (IOException e) {
            client.close();
            throw e;
        }
        synchronized (streams) {
            if (!over) {
                streams.add(frames);
                return frames;
            }
        }
        frames.close();
        throw new IOException("the command is over");
    }

    @Override
    public void onSignal(String name, Runnable handler) {
        handlers.put(Signals.number(name), handler);
    }

    @Override
    public void giveUp(Thread asking) {
        inFlight.giveUp(asking);
    }

    @Override
    public void startBackground(String name, Runnable work) {
        Thread.ofVirtual().name(name).start(work);
    }

    @Override
    public boolean isCallerGone() {
        return connection.isGone() && !connection.isLeft();
    }

    @Override
    public boolean isCallerStopped() {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid() + "/stat"), StandardCharsets.ISO_8859_1);
            return "Tt".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) >= 0;
        } catch (IOException | IndexOutOfBoundsException e) {
            return false; // gone: which the connection tells
        }
    }

    @Override
    public void checkpoint(Json.Obj state) {
        try {
            connection.send('B', Json.print(state));
        } catch (IOException e) {
            // the reader notices
        }
    }
}
