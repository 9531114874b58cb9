package dev.muster.rest;

import dev.muster.daemon.DaemonLog;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.net.ExtendedSocketOptions;
import jdk.net.UnixDomainPrincipal;

/** The sockets that are listened on. More connections than allowed wait in the kernel until others end. */
final class Listeners implements AutoCloseable {
    private static final int BACKLOG = 1024;
    /** A connection that says nothing for so long is closed. */
    private static final int IDLE_MS = 120_000;

    private final DaemonLog log;
    private final Patience patience = new Patience(IDLE_MS);
    private final Semaphore connections;
    private final List<ServerSocket> ports = new ArrayList<>();
    private final List<ServerSocketChannel> sockets = new ArrayList<>();
    private final List<Path> paths = new ArrayList<>();

    Listeners(int most, DaemonLog log) {
        this.log = log;
        connections = new Semaphore(most);
    }

    /** @param place {@code host:port}, {@code :port}, {@code [::1]:port} or {@code unix:/path} */
    void open(String place) throws Options.Unfit {
        try {
            if (place.startsWith("unix:")) {
                unix(Path.of(place.substring(5)));
            } else {
                tcp(place);
            }
        } catch (IOException e) {
            throw new Options.Unfit("Unable to listen on " + place + ": " + e.getMessage());
        }
    }

    private void unix(Path path) throws IOException, Options.Unfit {
        if (Files.exists(path)) {
            try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                probe.connect(UnixDomainSocketAddress.of(path));
                throw new Options.Unfit("Unable to listen on unix:" + path + ": Address already in use");
            } catch (IOException e) {
                // of one that is gone
                Files.delete(path);
            }
        }
        ServerSocketChannel s = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        s.bind(UnixDomainSocketAddress.of(path), BACKLOG);
        // everybody may ask: who is believed is another question
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
        sockets.add(s);
        paths.add(path);
    }

    private void tcp(String place) throws IOException, Options.Unfit {
        int colon = place.lastIndexOf(':');
        String port = place.substring(colon + 1);
        if (colon < 0 || !port.matches("[0-9]{1,5}") || Integer.parseInt(port) > 65_535 || Integer.parseInt(port) < 1) {
            throw new Options.Unfit("Unable to parse " + place + ": expected host:port or unix:/path");
        }
        String host = place.substring(0, colon).replaceFirst("^\\[(.*)]$", "$1");
        List<InetSocketAddress> all = new ArrayList<>();
        if (host.isEmpty()) {
            all.add(new InetSocketAddress(Integer.parseInt(port)));
        } else {
            for (InetAddress a : InetAddress.getAllByName(host)) {
                all.add(new InetSocketAddress(a, Integer.parseInt(port)));
            }
        }
        IOException last = null;
        int opened = 0;
        for (InetSocketAddress address : all) {
            ServerSocket s = new ServerSocket();
            try {
                s.bind(address, BACKLOG);
                ports.add(s);
                opened++;
            } catch (IOException e) {
                s.close();
                last = e;
            }
        }
        if (opened == 0) {
            throw last;
        }
    }

    /** Begins to serve. */
    void serve(Router router) {
        patience.start();
        for (ServerSocket s : ports) {
            Thread.ofPlatform().name("listen-" + s.getLocalPort()).start(() -> accept(s, router));
        }
        for (int i = 0; i < sockets.size(); i++) {
            ServerSocketChannel s = sockets.get(i);
            String source = "unix:" + paths.get(i);
            Thread.ofPlatform().name("listen-unix").start(() -> accept(s, source, router));
        }
    }

    private void accept(ServerSocket server, Router router) {
        while (!server.isClosed()) {
            connections.acquireUninterruptibly();
            try {
                Socket s = server.accept();
                Thread.ofVirtual().start(() -> tcp(s, router));
            } catch (IOException e) {
                connections.release();
                failed(server.isClosed(), e);
            }
        }
    }

    /** For want of files, say: others end meanwhile. */
    private void failed(boolean closed, IOException e) {
        if (!closed) {
            log.error("cannot accept a connection: " + e.getMessage());
            try {
                Thread.sleep(100);
            } catch (InterruptedException i) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** What gives a connection's place to the next one, once. */
    private Runnable place() {
        AtomicBoolean given = new AtomicBoolean();
        return () -> {
            if (given.compareAndSet(false, true)) {
                connections.release();
            }
        };
    }

    private void tcp(Socket socket, Router router) {
        Runnable free = place();
        try (socket) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(IDLE_MS);
            String source = "[" + socket.getInetAddress().getHostAddress() + "]:" + socket.getPort();
            new Connection(router, source, Optional.empty(), free).serve(socket.getInputStream(),
                    patience.watched(socket.getOutputStream(), socket));
        } catch (IOException e) {
            log.debug("connection lost: " + e.getMessage());
        } finally {
            free.run();
        }
    }

    private void accept(ServerSocketChannel server, String source, Router router) {
        while (server.isOpen()) {
            connections.acquireUninterruptibly();
            try {
                SocketChannel s = server.accept();
                Thread.ofVirtual().start(() -> unix(s, source, router));
            } catch (IOException e) {
                connections.release();
                failed(!server.isOpen(), e);
            }
        }
    }

    private void unix(SocketChannel channel, String source, Router router) {
        Runnable free = place();
        try (channel) {
            UnixDomainPrincipal peer = channel.getOption(ExtendedSocketOptions.SO_PEERCRED);
            new Connection(router, source, Optional.of(new Request.Peer(peer.user().getName(), peer.group().getName())), free)
                    .serve(Channels.newInputStream(channel), patience.watched(Channels.newOutputStream(channel), channel));
        } catch (IOException e) {
            log.debug("connection lost: " + e.getMessage());
        } finally {
            free.run();
        }
    }

    @Override
    public void close() {
        for (ServerSocket s : ports) {
            try {
                s.close();
            } catch (IOException e) {
                log.debug(e.getMessage());
            }
        }
        for (ServerSocketChannel s : sockets) {
            try {
                s.close();
            } catch (IOException e) {
                log.debug(e.getMessage());
            }
        }
        for (Path p : paths) {
            try {
                Files.deleteIfExists(p);
            } catch (IOException e) {
                log.debug(e.getMessage());
            }
        }
    }
}
