package dev.muster.cli;

import java.io.File;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs short commands for the launchers of this machine in one warm process, so that a command costs no start of a Java
 * machine. It runs as an
 * unprivileged user and holds no keys: each caller's launcher brings a session that the kernel's word stands behind,
 * and opens the caller's
 * files. The protocol is in {@code native/README.md}.
 */
public final class CommandService {
    /** More at a time are sent the long way. */
    static final int COMMANDS_MAX = 128;
    private static final int HEARTBEAT_MS = 200;
    private static final int ALONE_MS = 10_000;

    private final ServiceShared shared = new ServiceShared();
    private final Semaphore places = new Semaphore(COMMANDS_MAX);
    private final AtomicInteger daemons = new AtomicInteger();
    private final ServerSocketChannel server;

    private CommandService(ServerSocketChannel server) {
        this.server = server;
    }

    /** @param args socket path, and optionally the slurm.conf that commands without SLURM_CONF use */
    public static void main(String[] args) throws IOException {
        if (args.length < 1) {
            System.err.println("usage: CommandService SOCKET [SLURM_CONF]");
            System.exit(1);
        }
        CommandService service = open(Path.of(args[0]), args.length > 1 ? args[1] : "");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> new File(args[0]).delete()));
        Thread.ofPlatform().daemon().name("lifetime").start(service::endWithTheLastDaemon);
        service.serve();
    }

    /** Lives while a daemon of the installation is connected; the first one has a while to come. */
    private void endWithTheLastDaemon() {
        long aloneSinceMs = System.currentTimeMillis();
        while (System.currentTimeMillis() - aloneSinceMs < ALONE_MS) {
            if (daemons.get() > 0) {
                aloneSinceMs = System.currentTimeMillis();
            }
            pause();
        }
        System.exit(0);
    }

    static CommandService open(Path socket, String conf) throws IOException {
        Files.deleteIfExists(socket);
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket), COMMANDS_MAX);
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw-rw-"));
        CommandService s = new CommandService(server);
        s.shared.defaultConf(conf);
        return s;
    }

    /** Until the socket is closed. */
    void serve() {
        Thread.ofPlatform().daemon().name("heartbeats").start(() -> {
            while (server.isOpen()) {
                shared.heartbeat();
                pause();
            }
        });
        while (server.isOpen()) {
            try {
                SocketChannel caller = server.accept();
                Thread.ofVirtual().start(() -> handle(caller));
            } catch (IOException e) {
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(HEARTBEAT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void handle(SocketChannel caller) {
        boolean placed = places.tryAcquire();
        try (ServiceConnection connection = new ServiceConnection(caller)) {
            if (placed) {
                new ServiceCommand(connection, shared).run(daemons);
            } else {
                connection.send('C', new byte[0]);
            }
        } catch (IOException e) {
            // the caller is gone; what it asked for is over
        } finally {
            if (placed) {
                places.release();
            }
        }
    }

    void close() throws IOException {
        server.close();
    }
}
