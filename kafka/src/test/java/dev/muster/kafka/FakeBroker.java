package dev.muster.kafka;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import java.util.zip.GZIPInputStream;

/** A broker as far as a producer sees one, which reads what comes byte for byte. */
final class FakeBroker implements AutoCloseable {
    private final ServerSocket server;
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    /** {@code topic text}. */
    final List<String> messages = new CopyOnWriteArrayList<>();

    final List<String> requests = new CopyOnWriteArrayList<>();
    /** The error code of replies to messages, as often as {@link #errors} says. */
    volatile int error;

    final AtomicInteger errors = new AtomicInteger();
    volatile String password = "";

    FakeBroker(int port) throws IOException {
        server = new ServerSocket(port, 10, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Socket s = server.accept();
                open.add(s);
                Thread.ofVirtual().start(() -> serve(s));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket s) {
        boolean known = password.isEmpty();
        try (s) {
            DataInputStream in = new DataInputStream(s.getInputStream());
            while (true) {
                DataInputStream request = new DataInputStream(new ByteArrayInputStream(in.readNBytes(in.readInt())));
                int key = request.readShort();
                int version = request.readShort();
                int correlation = request.readInt();
                String client = string(request);
                requests.add(key + " v" + version + " " + client);
                if (!known && key != 17 && key != 36 && key != 18) {
                    return;
                }
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                DataOutputStream out = new DataOutputStream(bytes);
                out.writeInt(correlation);
                switch (key) {
                    case 18 -> versions(version, out, request);
                    case 3 -> metadata(request, out);
                    case 0 -> produce(request, out);
                    case 17 -> {
                        out.writeShort(string(request).equals("PLAIN") ? 0 : 33);
                        out.writeInt(0);
                    }
                    default -> {
                        String said = new String(request.readNBytes(request.readInt()), StandardCharsets.UTF_8);
                        known = said.equals("\0ann\0" + password);
                        out.writeShort(known ? 0 : 58);
                        out.writeShort(-1);
                        out.writeInt(0);
                    }
                }
                if (request.read() >= 0) {
                    throw new IOException("there is more in a request than belongs there");
                }
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                new DataOutputStream(all).writeInt(bytes.size());
                bytes.writeTo(all);
                s.getOutputStream().write(all.toByteArray());
            }
        } catch (IOException e) {
            if (!(e instanceof java.io.EOFException) && !(e instanceof java.net.SocketException)) {
                messages.add("broken: " + e);
            }
        }
    }

    private static String string(DataInputStream in) throws IOException {
        return new String(in.readNBytes(in.readShort()), StandardCharsets.UTF_8);
    }

    private static void string(DataOutputStream out, String text) throws IOException {
        out.writeShort(text.length());
        out.writeBytes(text);
    }

    /** What is spoken here; a newer question than that is answered in the oldest words. */
    private static void versions(int version, DataOutputStream out, DataInputStream request) throws IOException {
        request.readAllBytes();
        int[][] spoken = {{0, 5}, {3, 5}, {17, 1}, {18, 0}, {36, 0}};
        out.writeShort(version == 0 ? 0 : 35);
        out.writeInt(version == 0 ? spoken.length : 1);
        for (int[] one : version == 0 ? spoken : new int[][] {{18, 0}}) {
            out.writeShort(one[0]);
            out.writeShort(one[0] == 18 ? 0 : one[1]);
            out.writeShort(one[1]);
        }
    }

    private void metadata(DataInputStream in, DataOutputStream out) throws IOException {
        int count = in.readInt();
        List<String> asked = new java.util.ArrayList<>();
        for (int i = 0; i < count; i++) {
            asked.add(string(in));
        }
        in.readByte();
        out.writeInt(0);
        out.writeInt(1);
        out.writeInt(4);
        string(out, "localhost");
        out.writeInt(port());
        out.writeShort(-1);
        out.writeShort(-1);
        out.writeInt(4);
        out.writeInt(asked.size());
        for (String topic : asked) {
            out.writeShort(0);
            string(out, topic);
            out.writeByte(0);
            // a partition without a leader, and one with
            out.writeInt(2);
            for (int p = 0; p < 2; p++) {
                out.writeShort(p == 0 ? 5 : 0);
                out.writeInt(p);
                out.writeInt(p == 0 ? -1 : 4);
                out.writeInt(1);
                out.writeInt(4);
                out.writeInt(1);
                out.writeInt(4);
                out.writeInt(0);
            }
        }
    }

    private void produce(DataInputStream in, DataOutputStream out) throws IOException {
        if (in.readShort() != -1) {
            throw new IOException("a transaction");
        }
        in.readShort();
        in.readInt();
        in.readInt();
        String topic = string(in);
        in.readInt();
        int partition = in.readInt();
        byte[] batch = in.readNBytes(in.readInt());
        boolean refuses = errors.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
        if (!refuses) {
            read(topic + "/" + partition, ByteBuffer.wrap(batch));
        }
        out.writeInt(1);
        string(out, topic);
        out.writeInt(1);
        out.writeInt(partition);
        out.writeShort(refuses ? error : 0);
        out.writeLong(0);
        out.writeLong(-1);
        out.writeLong(0);
        out.writeInt(0);
    }

    @SuppressWarnings("ByteBufferBackingArray") // a heap buffer of its own
    private void read(String topic, ByteBuffer b) throws IOException {
        CRC32C crc = new CRC32C();
        crc.update(b.array(), 21, b.capacity() - 21);
        if (b.getLong() != 0
                || b.getInt() != b.capacity() - 12
                || b.getInt() != -1
                || b.get() != 2
                || b.getInt() != (int) crc.getValue()) {
            throw new IOException("the head of a batch");
        }
        int attributes = b.getShort();
        int last = b.getInt();
        b.position(b.position() + 8 + 8 + 8 + 2 + 4);
        int count = b.getInt();
        byte[] rest = new byte[b.remaining()];
        b.get(rest);
        byte[] plain = attributes == 1 ? new GZIPInputStream(new ByteArrayInputStream(rest)).readAllBytes() : rest;
        ByteBuffer records = ByteBuffer.wrap(plain);
        for (int i = 0; i < count; i++) {
            int end = varint(records) + records.position();
            if (records.get() != 0 || varint(records) < 0 || varint(records) != i || varint(records) != -1) {
                throw new IOException("the head of a record");
            }
            byte[] value = new byte[varint(records)];
            records.get(value);
            if (varint(records) != 0 || records.position() != end || last != count - 1) {
                throw new IOException("the end of a record");
            }
            messages.add(topic + " " + new String(value, StandardCharsets.UTF_8));
        }
        if (records.hasRemaining()) {
            throw new IOException("the end of a batch");
        }
    }

    private static int varint(ByteBuffer in) {
        int value = 0;
        for (int shift = 0; ; shift += 7) {
            byte b = in.get();
            value |= (b & 0x7f) << shift;
            if (b >= 0) {
                return value >>> 1 ^ -(value & 1);
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket s : open) {
            s.close();
        }
    }
}
