package dev.muster.accounting.db;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.mariadb.jdbc.Configuration;
import org.mariadb.jdbc.util.ConfigurableSocketFactory;

/** Lets the driver speak to a server through its Unix socket: {@code localhost} means that to every MySQL program. */
public final class UnixSocketFactory extends ConfigurableSocketFactory {
    /** The driver's option that names the socket. */
    static final String PATH = "musterSocket";

    private String path = "";

    @Override
    public void setConfiguration(Configuration configuration, String host) {
        path = configuration.nonMappedOptions().getProperty(PATH, "");
    }

    @Override
    public Socket createSocket() {
        return new UnixSocket(path);
    }

    @Override
    public Socket createSocket(String host, int port) {
        return createSocket();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress local, int localPort) {
        return createSocket();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) {
        return createSocket();
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) {
        return createSocket();
    }

    /** The part of a socket that the driver uses. Options of TCP have no effect. */
    private static final class UnixSocket extends Socket {
        private final String path;
        private @Nullable SocketChannel channel;

        UnixSocket(String path) {
            this.path = path;
        }

        @Override
        public void connect(SocketAddress ignored) throws IOException {
            channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
        }

        @Override
        public void connect(SocketAddress ignored, int timeoutMs) throws IOException {
            connect(ignored);
        }

        @Override
        public InputStream getInputStream() {
            return Channels.newInputStream(connected());
        }

        @Override
        public OutputStream getOutputStream() {
            return Channels.newOutputStream(connected());
        }

        private SocketChannel connected() {
            return requireNonNull(channel, "the driver connects first");
        }

        @Override
        public void close() throws IOException {
            if (channel != null) {
                channel.close();
            }
        }

        @Override
        public boolean isConnected() {
            return channel != null && channel.isConnected();
        }

        @Override
        public boolean isClosed() {
            return channel != null && !channel.isOpen();
        }

        @Override
        public void setSoTimeout(int ms) {
            // a local server that hangs is ended by its administrator, not by a clock
        }

        @Override
        public int getSoTimeout() {
            return 0;
        }

        @Override
        public void setTcpNoDelay(boolean on) {}

        @Override
        public void setKeepAlive(boolean on) {}

        @Override
        public void setSoLinger(boolean on, int seconds) {}

        @Override
        public void shutdownInput() throws IOException {
            connected().shutdownInput();
        }

        @Override
        public void shutdownOutput() throws IOException {
            connected().shutdownOutput();
        }
    }
}
