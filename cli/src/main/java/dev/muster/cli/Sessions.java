package dev.muster.cli;

import dev.muster.transport.Caller;
import dev.muster.transport.Munge;
import dev.muster.transport.Session;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Proves who the caller is: by the cluster key if it may be read, else by a daemon's sack socket, else by munge. */
final class Sessions {
    static final String SACK_SOCKET = "/run/slurm/sack.socket";
    private static final byte[] SACK_REQUEST = "session\n".getBytes(StandardCharsets.US_ASCII);
    private static final int ANSWER_BYTES_MAX = 8192;
    private static final int KEY_BYTES_MIN = 16;
    private static final int KEY_BYTES_MAX = 65_536;

    private Sessions() {}

    static Session open(ClientConf conf, ProcessHost host) throws SlurmException {
        Optional<byte[]> key = clusterKey(conf);
        if (key.isPresent()) {
            return Session.issue(key.get(), conf.clusterName, new Caller(host.uid(), host.gid()), host.nowMs(),
                    host.random(16));
        }
        Optional<Session> sack = fromSack(conf, host);
        if (sack.isPresent()) {
            return sack.get();
        }
        if (conf.authType.equals("auth/munge")) {
            Optional<Session> munge = new Munge(conf.authInfo("socket"))
                    .session(host.random(32), Math.max(0, host.userId(conf.slurmUser)));
            if (munge.isPresent()) {
                return munge.get();
            }
        }
        throw new SlurmException(1007, "Protocol authentication error");
    }

    private static Optional<byte[]> clusterKey(ClientConf conf) {
        String named = conf.authInfo("key");
        try (FileInputStream in = new FileInputStream(named.isEmpty() ? conf.directory() + "/slurm.key" : named)) {
            byte[] key = in.readNBytes(KEY_BYTES_MAX);
            return key.length < KEY_BYTES_MIN ? Optional.empty() : Optional.of(key);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static Optional<Session> fromSack(ClientConf conf, ProcessHost host) {
        String named = conf.authInfo("sack");
        String path = !named.isEmpty() ? named : host.setting("SLURM_SACK_SOCKET").isEmpty() ? SACK_SOCKET
                : host.setting("SLURM_SACK_SOCKET");
        byte[] answer = Native.isThere() ? Native.exchangeUnix(path, SACK_REQUEST) : exchange(path);
        if (answer == null || answer.length == 0) {
            return Optional.empty();
        }
        try {
            return Optional.of(Session.fromBytes(answer));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static byte[] exchange(String path) {
        try (SocketChannel s = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            s.connect(UnixDomainSocketAddress.of(path));
            s.write(ByteBuffer.wrap(SACK_REQUEST));
            s.shutdownOutput();
            ByteBuffer in = ByteBuffer.allocate(ANSWER_BYTES_MAX);
            while (in.hasRemaining() && s.read(in) >= 0) {
                continue;
            }
            byte[] out = new byte[in.position()];
            in.flip().get(out);
            return out;
        } catch (IOException | UnsupportedOperationException e) {
            return new byte[0];
        }
    }
}
