package dev.muster.rest.http;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.PeerIds;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PushbackInputStream;
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
import javax.net.ssl.SSLContext;

/**
 * The sockets that are listened on. More connections than allowed wait until others end, all but one of each socket in
 * the kernel.
 */
public final class Listeners implements AutoCloseable {
    public static final String HTTPS = "https://";
    /** First byte of a TLS record with a handshake (RFC 8446, 5.1). */
    private static final int HANDSHAKE = 0x16;

    private static final int BACKLOG = 1024;
    /** Time after which an idle connection is closed. */
    private static final int IDLE_MS = 120_000;

    private final DaemonLog log;
    private final WriteTimeout patience = new WriteTimeout(IDLE_MS);
    private final ReadBounds bounds = ReadBounds.ofHeap();
    private final Semaphore connections;
    private final Optional<SSLContext> tls;
    private final List<Port> ports = new ArrayList<>();
    private final List<ServerSocketChannel> sockets = new ArrayList<>();
    private final List<Path> paths = new ArrayList<>();

    /** @param encrypted nothing else is served there */
    private record Port(ServerSocket socket, boolean encrypted) {}

    /** @param tls where connections may be encrypted: those that begin as TLS does, are */
    public Listeners(int maximum, Optional<SSLContext> tls, DaemonLog log) {
        this.tls = tls;
        this.log = log;
        connections = new Semaphore(maximum);
    }

    /**
     * @param place {@code host:port}, {@code :port}, {@code [::1]:port}, any of these behind {@code https://}, or
     *     {@code unix:/path}
     */
    public void open(String place) throws StartupException {
        try {
            if (place.startsWith("unix:")) {
                unix(Path.of(place.substring(5).replaceFirst("^//+", "/")));
            } else if (place.startsWith(HTTPS) && tls.isEmpty()) {
                throw new StartupException("Unable to listen on " + place
                        + ": there is no certificate (restd_cert_file of TLSParameters)");
            } else {
                tcp(place.startsWith(HTTPS) ? place.substring(HTTPS.length()) : place, place.startsWith(HTTPS));
            }
        } catch (IOException e) {
            throw new StartupException("Unable to listen on " + place + ": " + ErrorSentence.reason(e));
        }
    }

    private void unix(Path path) throws IOException, StartupException {
        if (Files.exists(path)) {
            try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                probe.connect(UnixDomainSocketAddress.of(path));
                throw new StartupException("Unable to listen on unix:" + path + ": Address already in use");
            } catch (IOException e) {
                // of one that is gone
                Files.delete(path);
            }
        }
        ServerSocketChannel s = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        s.bind(UnixDomainSocketAddress.of(path), BACKLOG);
        // all users may connect: each request is authenticated
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
        sockets.add(s);
        paths.add(path);
    }

    private void tcp(String place, boolean encrypted) throws IOException, StartupException {
        int colon = place.lastIndexOf(':');
        String port = place.substring(colon + 1);
        if (colon < 0 || !port.matches("[0-9]{1,5}") || Integer.parseInt(port) > 65_535 || Integer.parseInt(port) < 1) {
            throw new StartupException("Unable to parse " + place + ": expected host:port or unix:/path");
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
                ports.add(new Port(s, encrypted));
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
    public void serve(RequestHandler handler) {
        patience.start();
        bounds.start();
        for (Port p : ports) {
            Thread.ofPlatform().name("listen-" + p.socket.getLocalPort()).start(() -> orEnd(() -> accept(p, handler)));
        }
        for (int i = 0; i < sockets.size(); i++) {
            ServerSocketChannel s = sockets.get(i);
            String source = "unix:" + paths.get(i);
            Thread.ofPlatform().name("listen-unix").start(() -> orEnd(() -> accept(s, source, handler)));
        }
    }

    /**
     * A socket that is open and not served any more would look alive: the process ends instead, and is started again.
     */
    private void orEnd(Runnable loop) {
        try {
            loop.run();
        } catch (RuntimeException | Error e) {
            log.error("fatal: connections cannot be accepted any more: " + e);
            Runtime.getRuntime().halt(1);
        }
    }

    private void accept(Port port, RequestHandler handler) {
        ServerSocket server = port.socket;
        while (!server.isClosed()) {
            try {
                Socket s = server.accept();
                // only then: a socket without clients takes no place of the others
                connections.acquireUninterruptibly();
                Thread.ofVirtual().start(() -> tcp(s, port.encrypted, handler));
            } catch (IOException e) {
                failed(server.isClosed(), e);
            }
        }
    }

    /** Waits a moment after a failed accept: where files are used up, other connections end meanwhile. */
    private void failed(boolean closed, IOException e) {
        if (!closed) {
            log.error("cannot accept a connection: " + ErrorSentence.of(e));
            try {
                Thread.sleep(100);
            } catch (InterruptedException i) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Releases a connection's place, once. */
    private Runnable place() {
        AtomicBoolean given = new AtomicBoolean();
        return () -> {
            if (given.compareAndSet(false, true)) {
                connections.release();
            }
        };
    }

    private void tcp(Socket socket, boolean encrypted, RequestHandler handler) {
        Runnable free = place();
        ReadBounds.Reading reading = bounds.of(socket, false);
        try (socket) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(IDLE_MS);
            String source = "[" + socket.getInetAddress().getHostAddress() + "]:" + socket.getPort();
            Wire wire = wire(socket);
            if (wire.secure || !encrypted) {
                new Connection(handler, source, Optional.empty(), wire.secure, free, reading)
                        .serve(wire.in, patience.watched(wire.out, socket));
            }
        } catch (IOException e) {
            log.debug("connection lost: " + ErrorSentence.of(e));
        } finally {
            reading.end();
            free.run();
        }
    }

    private record Wire(InputStream in, OutputStream out, boolean secure) {}

    /** The connection, by TLS if its first byte is that of a handshake. */
    private Wire wire(Socket socket) throws IOException {
        if (tls.isEmpty()) {
            return new Wire(socket.getInputStream(), socket.getOutputStream(), false);
        }
        int first = socket.getInputStream().read();
        byte[] begun = first < 0 ? new byte[0] : new byte[] {(byte) first};
        if (first != HANDSHAKE) {
            PushbackInputStream in = new PushbackInputStream(socket.getInputStream());
            if (first >= 0) {
                in.unread(first);
            }
            return new Wire(in, socket.getOutputStream(), false);
        }
        Socket over = tls.get().getSocketFactory().createSocket(socket, new ByteArrayInputStream(begun), true);
        return new Wire(over.getInputStream(), over.getOutputStream(), true);
    }

    private void accept(ServerSocketChannel server, String source, RequestHandler handler) {
        while (server.isOpen()) {
            try {
                SocketChannel s = server.accept();
                connections.acquireUninterruptibly();
                Thread.ofVirtual().start(() -> unix(s, source, handler));
            } catch (IOException e) {
                failed(!server.isOpen(), e);
            }
        }
    }

    private void unix(SocketChannel channel, String source, RequestHandler handler) {
        Runnable free = place();
        ReadBounds.Reading reading = bounds.of(channel, true);
        try (channel) {
            PeerIds peer = PeerIds.of(channel);
            new Connection(handler, source, Optional.of(new Request.Peer(peer.uid(), peer.gid())), false, free, reading)
                    .serve(
                            Channels.newInputStream(channel),
                            patience.watched(Channels.newOutputStream(channel), channel));
        } catch (IOException e) {
            log.debug("connection lost: " + ErrorSentence.of(e));
        } finally {
            reading.end();
            free.run();
        }
    }

    @Override
    public void close() {
        for (Port p : ports) {
            try {
                p.socket.close();
            } catch (IOException e) {
                log.debug(ErrorSentence.of(e));
            }
        }
        for (ServerSocketChannel s : sockets) {
            try {
                s.close();
            } catch (IOException e) {
                log.debug(ErrorSentence.of(e));
            }
        }
        for (Path p : paths) {
            try {
                Files.deleteIfExists(p);
            } catch (IOException e) {
                log.debug(ErrorSentence.of(e));
            }
        }
    }
}
