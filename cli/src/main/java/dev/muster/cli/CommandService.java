package dev.muster.cli;

import dev.muster.cli.service.ServiceCommand;
import dev.muster.cli.service.ServiceConnection;
import dev.muster.cli.service.ServiceResources;
import dev.muster.transport.MonotonicClock;
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
 * Runs short commands for the launchers of this machine in one warm process, which saves each command the start of a
 * Java machine. It runs as a user of its own (root's service as root) and holds no keys: each caller's launcher brings
 * a session for which the kernel vouches, and reads the files that the caller names. The protocol is in
 * {@code native/README.md}.
 */
public final class CommandService {
    /** More at a time are sent the long way. */
    static final int COMMANDS_MAX = 128;

    private static final int HEARTBEAT_MS = 200;
    /** Threads that wait for the next launcher, so that no other thread is between it and the one that works for it. */
    private static final int WAITING_MAX = 4;

    private static final int ALONE_MS = 10_000;
    /**
     * Time for which the service lets an installation alone that is being replaced, and waits for commands that still
     * run.
     */
    private static final int SETTLE_MS = 3000;

    private static final int PATIENCE_MS = 30_000;

    private final ServiceResources shared = new ServiceResources(Native.launcher(), CommandTable::run);
    private final Semaphore places = new Semaphore(COMMANDS_MAX);
    private final AtomicInteger daemons = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private final ServerSocketChannel server;

    private CommandService(ServerSocketChannel server) {
        this.server = server;
    }

    /** Standard input is the socket that the launcher made, and listens already. */
    public static void main(String[] args) throws IOException {
        if (!(System.inheritedChannel() instanceof ServerSocketChannel server)) {
            System.err.println("muster-commands: no socket");
            System.exit(1);
            return;
        }
        CommandService service = new CommandService(server);
        Thread.ofPlatform().daemon().name("lifetime").start(service::endWithTheLastDaemon);
        AotTraining.inBackground();
        service.serve();
    }

    /**
     * Lives while a daemon of the installation is connected; the first one has a while to come. Where the installation
     * was replaced, the daemons are to start the new one's service.
     */
    private void endWithTheLastDaemon() {
        File program = new File(System.getProperty("java.class.path").split(File.pathSeparator)[0]);
        long installedMs = program.lastModified();
        long aloneSinceMs = MonotonicClock.ms();
        while (MonotonicClock.ms() - aloneSinceMs < ALONE_MS) {
            if (daemons.get() > 0) {
                aloneSinceMs = MonotonicClock.ms();
            }
            if (isReplaced(program, installedMs, System.currentTimeMillis())) {
                finish();
            }
            pause();
        }
        System.exit(0);
    }

    /** Returns whether the program has had another time than at the start for longer than the settling time. */
    static boolean isReplaced(File program, long installedMs, long nowMs) {
        long modifiedMs = program.lastModified();
        return modifiedMs != 0 && modifiedMs != installedMs && (nowMs - modifiedMs > SETTLE_MS || nowMs < modifiedMs);
    }

    /** No new launcher finds it; those that it works for are waited for, and then go on by themselves. */
    private void finish() {
        try {
            close();
        } catch (IOException e) {
            System.exit(0);
        }
        long untilMs = MonotonicClock.ms() + PATIENCE_MS;
        while (places.availablePermits() < COMMANDS_MAX && MonotonicClock.ms() < untilMs) {
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
        work();
        while (server.isOpen()) {
            pause();
        }
    }

    private void work() {
        do {
            waiting.incrementAndGet();
            SocketChannel caller;
            try {
                caller = server.accept();
            } catch (IOException e) {
                waiting.decrementAndGet();
                pause();
                continue;
            }
            if (waiting.decrementAndGet() == 0) {
                Thread.ofPlatform().daemon().name("command").start(this::work);
            }
            handle(caller);
        } while (server.isOpen() && waiting.get() < WAITING_MAX);
    }

    private static void pause() {
        try {
            Thread.sleep(HEARTBEAT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void handle(SocketChannel caller) {
        ServiceConnection connection = new ServiceConnection(caller);
        try {
            ServiceConnection.Frame first = connection.request();
            if (first.type() == 'D') {
                Thread.ofVirtual().start(() -> serveDaemon(connection));
                return;
            }
            ServiceCommand command = new ServiceCommand(connection, shared, first);
            if (command.isLong()) {
                Thread.ofVirtual().start(() -> run(connection, command));
                return;
            }
            run(connection, command);
        } catch (IOException e) {
            connection.close();
        }
    }

    /** Keeps the connection of a daemon, which asks nothing, until its end. */
    private void serveDaemon(ServiceConnection connection) {
        daemons.incrementAndGet();
        try (connection) {
            connection.awaitEnd();
        } finally {
            daemons.decrementAndGet();
        }
    }

    private void run(ServiceConnection connection, ServiceCommand command) {
        boolean placed = places.tryAcquire();
        try (connection) {
            connection.setWorker(Thread.currentThread());
            if (placed) {
                command.run();
            } else {
                connection.send('C', new byte[0]);
            }
        } catch (IOException e) {
            // the caller is gone; what it asked for is over
        } finally {
            if (placed) {
                places.release();
            }
            Thread.interrupted(); // was meant for the command, and comes no more once its connection is closed
        }
    }

    void close() throws IOException {
        server.close();
    }
}
