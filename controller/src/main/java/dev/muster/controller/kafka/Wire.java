package dev.muster.controller.kafka;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import java.util.zip.GZIPOutputStream;

/** As much of Kafka's protocol as a producer needs. Requests are of versions that brokers from 1.1 up to the newest take. */
final class Wire {
    static final short PRODUCE = 0;
    static final short METADATA = 3;
    static final short SASL_HANDSHAKE = 17;
    static final short SASL_AUTHENTICATE = 36;
    private static final short PRODUCE_VERSION = 5;
    private static final short METADATA_VERSION = 5;
    /** Lengths that a broker may name: more is not believed. */
    private static final int COUNT_MAX = 1 << 20;
    private static final int GZIP = 1;

    private Wire() {}

    /** The broker's error: its number, and whether trying again may help. */
    static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;
        final int code;

        RefusedException(String what, int code) {
            super(what + ": the broker answers with error " + code + name(code));
            this.code = code;
        }

        private static String name(int code) {
            return switch (code) {
                case 3 -> " (unknown topic or partition)";
                case 5 -> " (there is no leader)";
                case 6 -> " (not the leader)";
                case 10 -> " (the message is too large)";
                case 19, 20 -> " (too few replicas in sync)";
                case 29 -> " (not allowed to write to the topic)";
                case 33, 58 -> " (authentication failed)";
                default -> "";
            };
        }

        /** Those that pass: leaders move, replicas come back, topics are being made. */
        boolean passes() {
            return List.of(3, 5, 6, 7, 8, 9, 13, 14, 19, 20, 56, 74, 75).contains(code);
        }
    }

    /** A partition and who leads it; -1 for nobody. */
    record Partition(int id, int leader) {}

    /** @param brokers {@code id host port} of each */
    record Topic(List<Broker> brokers, List<Partition> partitions) {}

    record Broker(int id, String host, int port) {}

    /** Writes a body. */
    interface Body {
        void to(DataOutputStream out) throws IOException;
    }

    /** A request with its length and header. */
    static byte[] request(short key, short version, int correlation, String client, Body body) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(0);
            out.writeShort(key);
            out.writeShort(version);
            out.writeInt(correlation);
            string(out, client);
            body.to(out);
            byte[] all = bytes.toByteArray();
            ByteBuffer.wrap(all).putInt(0, all.length - 4);
            return all;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The number in a request's header, which its answer begins with. */
    static int correlation(byte[] request) {
        return ByteBuffer.wrap(request).getInt(8);
    }

    private static void string(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeShort(bytes.length);
        out.write(bytes);
    }

    private static String string(DataInputStream in) throws IOException {
        int length = in.readShort();
        return length < 0 ? "" : new String(in.readNBytes(length), StandardCharsets.UTF_8);
    }

    private static int count(DataInputStream in) throws IOException {
        int n = in.readInt();
        if (n > COUNT_MAX) {
            throw new IOException("the broker's answer is damaged");
        }
        return Math.max(0, n);
    }

    // ---- where a topic is

    static byte[] metadata(int correlation, String client, String topic) {
        return request(METADATA, METADATA_VERSION, correlation, client, out -> {
            out.writeInt(1);
            string(out, topic);
            out.writeBoolean(true);
        });
    }

    /** @throws RefusedException if the topic is not there, or not there yet */
    static Topic topic(DataInputStream in) throws IOException {
        in.readInt();
        List<Broker> brokers = new ArrayList<>();
        for (int n = count(in); n > 0; n--) {
            brokers.add(new Broker(in.readInt(), string(in), in.readInt()));
            string(in);
        }
        string(in);
        in.readInt();
        List<Partition> partitions = new ArrayList<>();
        for (int n = count(in); n > 0; n--) {
            int error = in.readShort();
            String name = string(in);
            in.readBoolean();
            for (int p = count(in); p > 0; p--) {
                in.readShort();
                partitions.add(new Partition(in.readInt(), in.readInt()));
                for (int list = 0; list < 3; list++) {
                    in.skipNBytes(4L * count(in));
                }
            }
            if (error != 0) {
                throw new RefusedException("topic " + name, error);
            }
        }
        return new Topic(brokers, partitions);
    }

    // ---- messages

    static byte[] produce(int correlation, String client, int acks, int timeoutMs, String topic, int partition, byte[] batch) {
        return request(PRODUCE, PRODUCE_VERSION, correlation, client, out -> {
            out.writeShort(-1);
            out.writeShort(acks);
            out.writeInt(timeoutMs);
            out.writeInt(1);
            string(out, topic);
            out.writeInt(1);
            out.writeInt(partition);
            out.writeInt(batch.length);
            out.write(batch);
        });
    }

    /** @throws RefusedException if the messages were not taken */
    static void produced(DataInputStream in, String topic) throws IOException {
        for (int n = count(in); n > 0; n--) {
            string(in);
            for (int p = count(in); p > 0; p--) {
                in.readInt();
                int error = in.readShort();
                in.skipNBytes(3 * 8);
                if (error != 0) {
                    throw new RefusedException("topic " + topic, error);
                }
            }
        }
    }

    /** Messages without keys as one batch of records. */
    static byte[] batch(List<byte[]> values, long timeMs, boolean gzip) {
        try {
            ByteArrayOutputStream records = new ByteArrayOutputStream();
            for (int i = 0; i < values.size(); i++) {
                ByteArrayOutputStream one = new ByteArrayOutputStream();
                one.write(0);
                varint(one, 0);
                varint(one, i);
                varint(one, -1);
                varint(one, values.get(i).length);
                one.writeBytes(values.get(i));
                varint(one, 0);
                varint(records, one.size());
                one.writeTo(records);
            }
            byte[] all = gzip ? zipped(records.toByteArray()) : records.toByteArray();
            ByteBuffer out = ByteBuffer.allocate(61 + all.length);
            out.putLong(0).putInt(49 + all.length).putInt(-1).put((byte) 2).putInt(0).putShort((short) (gzip ? GZIP : 0)).putInt(values.size() - 1)
                    .putLong(timeMs).putLong(timeMs).putLong(-1).putShort((short) -1).putInt(-1).putInt(values.size()).put(all);
            CRC32C crc = new CRC32C();
            crc.update(out.array(), 21, out.capacity() - 21);
            out.putInt(17, (int) crc.getValue());
            return out.array();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] zipped(byte[] plain) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(plain);
        }
        return out.toByteArray();
    }

    private static void varint(ByteArrayOutputStream out, int value) {
        int left = value << 1 ^ value >> 31;
        while ((left & ~0x7f) != 0) {
            out.write(left & 0x7f | 0x80);
            left >>>= 7;
        }
        out.write(left);
    }

    // ---- who asks

    static byte[] handshake(int correlation, String client) {
        return request(SASL_HANDSHAKE, (short) 1, correlation, client, out -> string(out, "PLAIN"));
    }

    static void handshaken(DataInputStream in) throws IOException {
        int error = in.readShort();
        if (error != 0) {
            throw new RefusedException("SASL/PLAIN", error);
        }
    }

    static byte[] authenticate(int correlation, String client, String user, String password) {
        byte[] token = ("\0" + user + "\0" + password).getBytes(StandardCharsets.UTF_8);
        return request(SASL_AUTHENTICATE, (short) 0, correlation, client, out -> {
            out.writeInt(token.length);
            out.write(token);
        });
    }

    static void authenticated(DataInputStream in) throws IOException {
        int error = in.readShort();
        String sentence = string(in);
        if (error != 0) {
            throw new RefusedException("SASL/PLAIN" + (sentence.isEmpty() ? "" : " (" + sentence + ")"), error);
        }
    }
}
