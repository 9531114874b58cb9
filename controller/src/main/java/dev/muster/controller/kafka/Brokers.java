package dev.muster.controller.kafka;

import dev.muster.config.KafkaConf;
import dev.muster.transport.Pem;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Connections to brokers. Belongs to one thread. */
final class Brokers implements AutoCloseable {
    private static final int CONNECT_MS = 5_000;
    private static final int ANSWER_MAX = 16 << 20;

    private record Connection(Socket socket, DataInputStream in) {}

    private final KafkaConf conf;
    private final Map<String, Connection> open = new HashMap<>();
    private final Map<String, Wire.Topic> topics = new HashMap<>();
    private int correlation;

    Brokers(KafkaConf conf) {
        this.conf = conf;
    }

    /** Messages of a topic to one of its partitions; they are durable there, as acks says, when this returns. */
    void send(String topic, List<byte[]> values, long timeMs) throws IOException {
        try {
            Wire.Topic place = topics.containsKey(topic) ? topics.get(topic) : find(topic);
            List<Wire.Partition> led = place.partitions().stream().filter(p -> p.leader() >= 0).toList();
            if (led.isEmpty()) {
                throw new Wire.RefusedException("topic " + topic, 5);
            }
            Wire.Partition to = led.get(ThreadLocalRandom.current().nextInt(led.size()));
            Wire.Broker leader = place.brokers().stream().filter(b -> b.id() == to.leader()).findFirst()
                    .orElseThrow(() -> new Wire.RefusedException("topic " + topic, 5));
            byte[] request = Wire.produce(++correlation, conf.clientId(), conf.acks(), conf.requestMs(), topic, to.id(), Wire.batch(values, timeMs,
                    conf.gzip()));
            Wire.produced(ask(leader.host() + ":" + leader.port(), request), topic);
            topics.put(topic, place);
        } catch (IOException e) {
            topics.remove(topic);
            throw e;
        }
    }

    private Wire.Topic find(String topic) throws IOException {
        IOException last = new IOException("bootstrap.servers is empty");
        for (String server : conf.servers()) {
            try {
                return Wire.topic(ask(server, Wire.metadata(++correlation, conf.clientId(), topic)));
            } catch (Wire.RefusedException e) {
                throw e;
            } catch (IOException e) {
                last = e;
            }
        }
        throw last;
    }

    private DataInputStream ask(String place, byte[] request) throws IOException {
        try {
            Connection c = open.containsKey(place) ? open.get(place) : connect(place);
            return exchange(c, request);
        } catch (IOException e) {
            drop(place);
            throw new IOException(place + ": " + (e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage()), e);
        }
    }

    private static DataInputStream exchange(Connection c, byte[] request) throws IOException {
        c.socket.getOutputStream().write(request);
        c.socket.getOutputStream().flush();
        int length = c.in.readInt();
        if (length < 4 || length > ANSWER_MAX) {
            throw new IOException("the answer is damaged");
        }
        byte[] answer = c.in.readNBytes(length);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(answer));
        if (answer.length < length || in.readInt() != Wire.correlation(request)) {
            throw new IOException("the answer is cut off");
        }
        return in;
    }

    private Connection connect(String place) throws IOException {
        int colon = place.lastIndexOf(':');
        String host = colon < 0 ? place : place.substring(0, colon);
        int port = colon < 0 ? 9092 : Integer.parseInt(place.substring(colon + 1));
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress(host, port), CONNECT_MS);
        if (conf.tls()) {
            SSLSocket secure = (SSLSocket) context().getSocketFactory().createSocket(socket, host, port, true);
            SSLParameters parameters = secure.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            secure.setSSLParameters(parameters);
            socket = secure;
        }
        // the broker's own time for the request, and some more for the way
        socket.setSoTimeout(conf.requestMs() + CONNECT_MS);
        Connection c = new Connection(socket, new DataInputStream(new BufferedInputStream(socket.getInputStream())));
        open.put(place, c);
        if (!conf.user().isEmpty()) {
            Wire.handshaken(exchange(c, Wire.handshake(++correlation, conf.clientId())));
            Wire.authenticated(exchange(c, Wire.authenticate(++correlation, conf.clientId(), conf.user(), conf.password())));
        }
        return c;
    }

    private SSLContext context() throws IOException {
        try {
            TrustManager[] trusted = null;
            if (!conf.authority().isEmpty()) {
                KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
                store.load(null, null);
                List<X509Certificate> all = new ArrayList<>(Pem.certificates(Files.readAllBytes(Path.of(conf.authority()))));
                for (int i = 0; i < all.size(); i++) {
                    store.setCertificateEntry("ca" + i, all.get(i));
                }
                TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
                factory.init(store);
                trusted = factory.getTrustManagers();
            }
            KeyManager[] own = null;
            if (!conf.certificate().isEmpty()) {
                KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
                store.load(null, null);
                store.setKeyEntry("own", Pem.key(Files.readAllBytes(Path.of(conf.key()))), new char[0],
                        Pem.certificates(Files.readAllBytes(Path.of(conf.certificate()))).toArray(X509Certificate[]::new));
                KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
                factory.init(store, new char[0]);
                own = factory.getKeyManagers();
            }
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(own, trusted, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS: " + e.getMessage(), e);
        }
    }

    private void drop(String place) {
        Connection c = open.remove(place);
        if (c != null) {
            closeQuietly(c.socket);
        }
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // gone already
        }
    }

    @Override
    public void close() {
        open.values().forEach(c -> closeQuietly(c.socket));
        open.clear();
    }
}
