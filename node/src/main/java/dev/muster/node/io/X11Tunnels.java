package dev.muster.node.io;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.X11Attach;
import dev.muster.model.node.NodeMessages.X11Connect;
import dev.muster.node.cgroup.Namespaces;
import dev.muster.node.config.Settings;
import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import dev.muster.transport.Caller;
import dev.muster.transport.Frames;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Displays of jobs with {@code --x11}: a port on the node's loopback leads to the display of the user that called srun
 * or salloc. That command holds an {@code x11} stream open, is told of each connection and fetches it by a stream of
 * its own, so that a window that is not read stops no other. The cookie is given to the job's user alone. The port
 * outlives a restart of slurmd, open windows do not.
 */
public final class X11Tunnels implements AutoCloseable {
    static final int PORT_OF_DISPLAY_0 = 6000;
    static final int DISPLAY_FIRST = 20;
    static final int DISPLAY_LAST = 99;
    /** Windows of one job at a time; further ones are closed at once. */
    static final int CONNECTIONS_MAX = 512;
    /** How long a program waits for the command that leads to the display. */
    static final long FETCH_MS = 15_000;

    static final int CHUNK_BYTES = 64 << 10;
    private static final int XAUTH_SECONDS = 20;
    private static final int ACCEPT_PAUSE_MS = 100;
    private static final int FAMILY_LOCAL = 256;
    private static final int OUTPUT_BYTES_MAX = 4096;
    private static final String COOKIE_KIND = "MIT-MAGIC-COOKIE-1";
    private static final String REMEMBERED = "x11";
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Settings settings;
    private final DaemonLog log;
    private final JobSpool spool;
    private final Namespaces namespaces;
    private final Map<String, Tunnel> tunnels = new ConcurrentHashMap<>();

    public X11Tunnels(Settings settings, DaemonLog log, JobSpool spool, Namespaces namespaces) {
        this.settings = settings;
        this.log = log;
        this.spool = spool;
        this.namespaces = namespaces;
    }

    /** @param authority the file with the cookie, as the job sees it */
    public record Display(int number, String authority) {
        public List<String> environment() {
            return List.of("DISPLAY=localhost:" + number + ".0", "XAUTHORITY=" + authority);
        }
    }

    private static final class Tunnel {
        final int ownerUid;
        final Display display;
        final ServerSocket server;
        final Map<Integer, Socket> waiting = new ConcurrentHashMap<>();
        final List<Socket> open = Collections.synchronizedList(new ArrayList<>());
        volatile @Nullable Frames control;
        int last;

        Tunnel(int ownerUid, Display display, ServerSocket server) {
            this.ownerUid = ownerUid;
            this.display = display;
            this.server = server;
        }
    }

    private static String key(int jobId, int attempt) {
        return jobId + "." + attempt;
    }

    /** The job's display on this node, opened if it is not there yet; empty where none was asked for. */
    public synchronized Optional<Display> of(JobShare share) throws IOException {
        if (share.x11Cookie().isEmpty()) {
            return Optional.empty();
        }
        Tunnel known = tunnels.get(key(share.jobId(), share.attempt()));
        if (known != null) {
            return Optional.of(known.display);
        }
        Optional<Display> before = remembered(share);
        ServerSocket server = before.isPresent() ? bound(before.get().number()) : anyPort();
        int number = server.getLocalPort() - PORT_OF_DISPLAY_0;
        Display display;
        try {
            display = before.isPresent() ? before.get() : new Display(number, authority(share, number));
        } catch (IOException e) {
            server.close();
            throw e;
        }
        Tunnel tunnel = new Tunnel(share.owner().uid(), display, server);
        tunnels.put(key(share.jobId(), share.attempt()), tunnel);
        if (before.isEmpty()) {
            Files.writeString(file(share), number + " " + display.authority());
        }
        Thread.ofVirtual().name("x11-" + share.jobId()).start(() -> accept(tunnel));
        return Optional.of(display);
    }

    private Path file(JobShare share) {
        return spool.jobDirectory(share.jobId(), share.attempt()).resolve(REMEMBERED);
    }

    private Optional<Display> remembered(JobShare share) {
        return Os.read(file(share))
                .filter(t -> t.indexOf(' ') > 0)
                .map(t ->
                        new Display(Integer.parseInt(t.substring(0, t.indexOf(' '))), t.substring(t.indexOf(' ') + 1)));
    }

    private static ServerSocket bound(int display) throws IOException {
        return new ServerSocket(
                PORT_OF_DISPLAY_0 + display, CONNECTIONS_MAX, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    }

    private static ServerSocket anyPort() throws IOException {
        List<Integer> displays = new ArrayList<>();
        for (int d = DISPLAY_FIRST; d <= DISPLAY_LAST; d++) {
            displays.add(d);
        }
        Collections.shuffle(displays);
        for (int d : displays) {
            try {
                return bound(d);
            } catch (IOException taken) {
                // the next number
            }
        }
        throw new IOException("no display is free for X11 forwarding");
    }

    // ---- the cookie

    private String authority(JobShare share, int number) throws IOException {
        if (settings.around().homeXauthority()) {
            return xauth(share, "add " + name(number) + " " + COOKIE_KIND + " " + share.x11Cookie() + "\n")
                    + "/.Xauthority";
        }
        Path inside = settings.tmpFs();
        Path made = namespaces
                .outside(share.jobId(), inside)
                .resolve(".Xauthority-" + HexFormat.of().toHexDigits(RANDOM.nextInt()));
        // the directory may be the user's: what is written is what was just made, whatever the name has become
        try (SeekableByteChannel out = Files.newByteChannel(
                made,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            out.write(ByteBuffer.wrap(entry(number, share.x11Cookie())));
        }
        Os.own(made, share.owner().uid(), share.owner().gid());
        return inside.resolve(made.getFileName()).toString();
    }

    private static String name(int number) {
        return Os.hostName() + "/unix:" + number;
    }

    /** Returns the entry as xauth writes it. A display on the loopback is looked up by the host's own name. */
    static byte[] entry(int number, String cookie) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeShort(FAMILY_LOCAL);
        byte[][] parts = {
            Os.hostName().getBytes(StandardCharsets.UTF_8),
            Integer.toString(number).getBytes(StandardCharsets.US_ASCII),
            COOKIE_KIND.getBytes(StandardCharsets.US_ASCII),
            HexFormat.of().parseHex(cookie)
        };
        for (byte[] part : parts) {
            out.writeShort(part.length);
            out.write(part);
        }
        return bytes.toByteArray();
    }

    /**
     * Changes the user's own file as the user; the home directory. The cookie goes by stdin: arguments are there for
     * all to see.
     */
    private static String xauth(JobShare share, String order) throws IOException {
        String script = "echo \"$HOME\"; exec xauth -q -f \"$HOME/.Xauthority\" source - >/dev/null 2>&1";
        List<String> command = Os.uid() == 0
                ? List.of("su", share.owner().user(), "-s", "/bin/sh", "-c", script)
                : List.of("/bin/sh", "-c", script);
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(new File("/")).redirectError(ProcessBuilder.Redirect.DISCARD);
        String home = builder.environment().getOrDefault("HOME", "/");
        builder.environment().clear();
        builder.environment().put("PATH", "/usr/local/bin:/usr/bin:/bin");
        builder.environment().put("HOME", home);
        Process process = builder.start();
        try (OutputStream to = process.getOutputStream()) {
            to.write(order.getBytes(StandardCharsets.UTF_8));
        }
        byte[] output = process.getInputStream().readNBytes(OUTPUT_BYTES_MAX);
        try {
            if (!process.waitFor(XAUTH_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException("xauth failed for user " + share.owner().user());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        return new String(output, StandardCharsets.UTF_8).strip();
    }

    // ---- connections

    private void accept(Tunnel tunnel) {
        while (!tunnel.server.isClosed()) {
            try {
                Socket socket = tunnel.server.accept();
                tunnel.open.removeIf(Socket::isClosed);
                if (tunnel.open.size() >= CONNECTIONS_MAX) {
                    socket.close();
                    continue;
                }
                socket.setTcpNoDelay(true);
                tunnel.open.add(socket);
                int connection = ++tunnel.last;
                tunnel.waiting.put(connection, socket);
                Thread.ofVirtual().start(() -> offer(tunnel, connection, socket));
            } catch (IOException e) {
                log.debug("x11: " + ErrorSentence.of(e));
                if (!tunnel.server.isClosed()) {
                    pause();
                }
            }
        }
    }

    /** Descriptors come back when others end. */
    private static void pause() {
        try {
            Thread.sleep(ACCEPT_PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tells the command of the connection, as soon as there is one; without an answer it is closed. */
    private static void offer(Tunnel tunnel, int connection, Socket socket) {
        long endNs = System.nanoTime() + FETCH_MS * 1_000_000;
        Frames notified = null;
        try {
            while (tunnel.waiting.containsKey(connection) && System.nanoTime() < endNs) {
                Frames control = tunnel.control;
                if (control != null && control != notified) {
                    notified = control;
                    try {
                        control.send(Codec.encode(new X11Connect(connection)));
                    } catch (IOException e) {
                        notified = null; // gone: another may come
                    }
                }
                Thread.sleep(notified == null ? 50 : 200);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (tunnel.waiting.remove(connection) != null) {
            closeQuietly(socket);
        }
    }

    private @Nullable Tunnel newest(int jobId) {
        return tunnels.entrySet().stream()
                .filter(e -> e.getKey().startsWith(jobId + "."))
                .max(java.util.Comparator.comparingInt(
                        e -> Integer.parseInt(e.getKey().substring(e.getKey().indexOf('.') + 1))))
                .map(Map.Entry::getValue)
                .orElse(null);
    }

    /** A stream of the command that was asked for the display. */
    public void handle(Caller caller, Frames frames) {
        try (frames) {
            X11Attach attach = Codec.decode(frames.receive(), X11Attach.class);
            Tunnel tunnel =
                    attach.attempt() > 0 ? tunnels.get(key(attach.jobId(), attach.attempt())) : newest(attach.jobId());
            if (tunnel == null) {
                return; // not yet, or no more: the command asks again as long as there is reason to
            }
            if (caller.uid() != 0 && caller.uid() != settings.slurmUserId() && caller.uid() != tunnel.ownerUid) {
                log.error("x11: uid " + caller.uid() + " may not reach the display of job " + attach.jobId());
                return;
            }
            if (attach.connection() == 0) {
                control(tunnel, frames);
            } else {
                Socket socket = tunnel.waiting.remove(attach.connection());
                if (socket != null) {
                    pump(socket, frames);
                }
            }
        } catch (IOException | Json.MalformedException e) {
            log.debug("x11: " + ErrorSentence.of(e));
        }
    }

    private static void control(Tunnel tunnel, Frames frames) throws IOException {
        tunnel.control = frames;
        try {
            while (true) {
                frames.receive();
            }
        } finally {
            if (tunnel.control == frames) {
                tunnel.control = null;
            }
        }
    }

    private static void pump(Socket socket, Frames frames) throws IOException {
        Thread.ofVirtual().start(() -> upwards(socket, frames));
        try (socket) {
            OutputStream out = socket.getOutputStream();
            while (true) {
                out.write(frames.receive());
                out.flush();
            }
        }
    }

    private static void upwards(Socket socket, Frames frames) {
        byte[] chunk = new byte[CHUNK_BYTES];
        try (frames;
                socket) {
            InputStream in = socket.getInputStream();
            for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
                frames.send(Arrays.copyOf(chunk, n));
            }
        } catch (IOException e) {
            // either side is gone: both are closed
        }
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // it is closed either way
        }
    }

    // ---- the end

    private static void stop(Tunnel tunnel) {
        try {
            tunnel.server.close();
        } catch (IOException e) {
            // it is closed either way
        }
        Frames control = tunnel.control;
        if (control != null) {
            control.close();
        }
        List.copyOf(tunnel.open).forEach(X11Tunnels::closeQuietly);
    }

    /** The job is over on this node. */
    public synchronized void close(JobShare share) {
        Tunnel tunnel = tunnels.remove(key(share.jobId(), share.attempt()));
        if (tunnel != null) {
            stop(tunnel);
        }
        Optional<Display> display = tunnel == null ? remembered(share) : Optional.of(tunnel.display);
        if (display.isEmpty()) {
            return;
        }
        try {
            if (settings.around().homeXauthority()) {
                xauth(share, "remove " + name(display.get().number()) + "\n");
            } else {
                Files.deleteIfExists(
                        namespaces.outside(share.jobId(), Path.of(display.get().authority())));
            }
        } catch (IOException e) {
            log.error("cannot remove the X11 cookie of job " + share.jobId() + ": " + ErrorSentence.reason(e));
        }
    }

    /** slurmd ends; the jobs go on, and the next one opens their ports again. */
    @Override
    public synchronized void close() {
        tunnels.values().forEach(X11Tunnels::stop);
        tunnels.clear();
    }
}
