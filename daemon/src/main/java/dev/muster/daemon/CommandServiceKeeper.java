package dev.muster.daemon;

import java.io.File;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Keeps this installation's command services running while a daemon of it does: starts each that is not there, and again when it ends. A service
 * lives as long as a daemon is connected with the frame {@code D}. The program that becomes the service makes its socket and gives up what it
 * may beforehand ({@code native/service.c}); this class only starts it. Root's commands have a service of their own, which runs as root.
 */
public final class CommandServiceKeeper {
    private static final int PAUSE_MS = 1000;
    private static final int START_WAIT_MS = 10_000;
    private static final String PROGRAM = "sbin/muster-commands";
    private static final String OF_ROOT = ".root";
    /** {@code u32 length, 'D'}: this connection is a daemon's. */
    private static final byte[] DAEMON_FRAME = {0, 0, 0, 1, 'D'};

    private final Path prefix;
    private final Path socket;
    private final boolean ofRoot;
    private final boolean starts;
    private final DaemonLog log;
    private boolean complained;

    private CommandServiceKeeper(Path prefix, Path socket, boolean ofRoot, boolean starts, DaemonLog log) {
        this.prefix = prefix;
        this.socket = ofRoot ? socket.resolveSibling(socket.getFileName() + OF_ROOT) : socket;
        this.ofRoot = ofRoot;
        this.starts = starts;
        this.log = log;
    }

    /** A number for this process's network: a service in another one cannot reach this one's controller. */
    private static String network() {
        try {
            return Files.getAttribute(Path.of("/proc/self/ns/net"), "unix:ino").toString();
        } catch (IOException e) {
            return "0";
        }
    }

    /** Keeps them on threads of their own, if the installation has them configured. */
    public static void start(Optional<String> prefix, DaemonLog log) {
        if (prefix.isEmpty()) {
            return;
        }
        TreeMap<String, String> conf = new TreeMap<>();
        try {
            for (String line : Files.readAllLines(Path.of(prefix.get(), "lib/muster/launcher.conf"))) {
                int equals = line.indexOf('=');
                if (equals > 0) {
                    conf.put(line.substring(0, equals), line.substring(equals + 1));
                }
            }
        } catch (IOException e) {
            log.debug("no launcher.conf: " + e.getMessage());
        }
        String pattern = conf.getOrDefault("command_service", "");
        if (pattern.isEmpty()) {
            return;
        }
        Path socket = Path.of(pattern.replace("%n", network()));
        long uid = ownUid();
        boolean starts = uid == 0 || Long.toString(uid).equals(conf.get("command_service_uid"));
        keep(new CommandServiceKeeper(Path.of(prefix.get()), socket, false, starts, log));
        if (uid == 0) {
            keep(new CommandServiceKeeper(Path.of(prefix.get()), socket, true, true, log));
        }
    }

    private static void keep(CommandServiceKeeper keeper) {
        Thread.ofPlatform().daemon().name("command-service").start(keeper::keep);
    }

    private static long ownUid() {
        try {
            return ((Number) Files.getAttribute(Path.of("/proc/self"), "unix:uid")).longValue();
        } catch (IOException e) {
            return -1;
        }
    }

    private void keep() {
        while (true) {
            try (SocketChannel channel = connect()) {
                channel.write(ByteBuffer.wrap(DAEMON_FRAME));
                ByteBuffer ignored = ByteBuffer.allocate(64);
                while (channel.read(ignored) >= 0) {
                    ignored.clear();
                }
            } catch (IOException | RuntimeException e) {
                log.debug("command service: " + e.getMessage());
            }
            try {
                Thread.sleep(PAUSE_MS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private SocketChannel connect() throws IOException {
        try {
            return SocketChannel.open(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            if (!starts) {
                throw e;
            }
            return startAndConnect();
        }
    }

    /** The program's lock decides which of a host's daemons starts the service; the others wait for it. */
    private SocketChannel startAndConnect() throws IOException {
        File said = File.createTempFile("muster-commands", ".err");
        Process process = spawn(said);
        long endNs = System.nanoTime() + START_WAIT_MS * 1_000_000L;
        try {
            while (true) {
                try {
                    return SocketChannel.open(UnixDomainSocketAddress.of(socket));
                } catch (IOException e) {
                    if (System.nanoTime() > endNs) {
                        throw e;
                    }
                    complain(process, said);
                }
                Thread.sleep(100);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            said.delete();
        }
    }

    /** Once: without the service commands only take longer. */
    private void complain(Process process, File said) throws IOException {
        if (process.isAlive() || complained) {
            return;
        }
        String why = Files.readString(said.toPath()).strip();
        if (!why.isEmpty() && !why.contains("cannot lock")) {
            complained = true;
            log.info("commands are slower than they could be, the command service does not start: " + why);
        }
    }

    /** @param said has its standard error: a pipe would end with this daemon, which the service outlives */
    private Process spawn(File said) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(prefix.resolve(PROGRAM).toString(), ofRoot ? "root" : "users")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .redirectError(said).directory(new File("/"));
        builder.environment().clear();
        builder.environment().put("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        Process process = builder.start();
        log.verbose("command service started");
        return process;
    }
}
