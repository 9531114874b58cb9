package dev.muster.model.hdf5;

import dev.muster.model.hdf5.Hdf5.Column;
import dev.muster.model.hdf5.Hdf5.Group;
import dev.muster.model.hdf5.Hdf5.Table;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Writes a file from its beginning to its end. What is referred to stands before what refers to it; only the superblock
 * looks ahead.
 */
@SuppressWarnings("ByteBufferBackingArray") // its buffers are allocated here and used whole
public final class Hdf5Writer {
    private static final int SUPERBLOCK = 96;
    private static final int SYMBOL = 40;
    private static final int SYMBOL_CACHED = 1;
    private static final int TREE_HEAD = 24;
    /** Least number of rows in a chunk of a table. */
    private static final int CHUNK_ROWS = 10;

    private static final int ZEROS = 8192;

    /** @param bytes of a known length, which is written before them */
    private record Piece(long length, Hdf5.Rows bytes) {}

    private record Message(int type, int flags, byte[] body) {}

    /** Addresses of a group's parts. */
    private record Place(long header, long tree, long heap) {}

    private final List<Piece> pieces = new ArrayList<>();
    private long end = SUPERBLOCK;

    private Hdf5Writer() {}

    public static void write(Group root, OutputStream out) throws IOException {
        Hdf5Writer w = new Hdf5Writer();
        Place top = w.group(root);
        out.write(w.superblock(top));
        for (Piece p : w.pieces) {
            CountingStream counted = new CountingStream(out, p.length);
            p.bytes.writeTo(counted);
            counted.fill();
        }
    }

    /** Passes on exactly what was announced; what is missing is zero, so that no address is wrong. */
    private static final class CountingStream extends OutputStream {
        private final OutputStream out;
        private long remaining;

        CountingStream(OutputStream out, long remaining) {
            this.out = out;
            this.remaining = remaining;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] b, int off, int len) throws IOException {
            int count = (int) Math.min(remaining, len);
            out.write(b, off, count);
            remaining -= count;
        }

        void fill() throws IOException {
            byte[] zeros = new byte[ZEROS];
            while (remaining > 0) {
                write(zeros, 0, zeros.length);
            }
        }
    }

    private long place(long length, Hdf5.Rows bytes) {
        long at = end;
        pieces.add(new Piece(length, bytes));
        end += length;
        return at;
    }

    private long place(byte[] bytes) {
        int length = padded(bytes.length);
        return place(length, out -> out.write(bytes));
    }

    private static int padded(int length) {
        return (length + Hdf5.WORD - 1) / Hdf5.WORD * Hdf5.WORD;
    }

    private static ByteBuffer room(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] name(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private byte[] superblock(Place top) {
        ByteBuffer buffer = room(SUPERBLOCK);
        buffer.put(
                new byte[] {(byte) 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0, 0, 0, 0, 0, Hdf5.WORD, Hdf5.WORD, 0
                });
        buffer.putShort((short) (Hdf5.LEAF / 2))
                .putShort((short) (Hdf5.FAN / 2))
                .putInt(0);
        buffer.putLong(0).putLong(Hdf5.NOWHERE).putLong(end).putLong(Hdf5.NOWHERE);
        buffer.putLong(0)
                .putLong(top.header)
                .putInt(SYMBOL_CACHED)
                .putInt(0)
                .putLong(top.tree)
                .putLong(top.heap);
        return buffer.array();
    }

    // ---- groups

    private Place group(Group group) {
        List<Map.Entry<byte[], Long>> members = new ArrayList<>();
        group.members()
                .forEach((name, member) -> members.add(Map.entry(
                        name(name),
                        switch (member) {
                            case Group g -> group(g).header;
                            case Table table -> table(table);
                        })));
        // readers look for names by their bytes
        members.sort((a, b) -> Arrays.compareUnsigned(a.getKey(), b.getKey()));
        long[] offsets = new long[members.size()];
        long heap = heap(members, offsets);
        long tree = tree(members, offsets);
        List<Message> messages = new ArrayList<>();
        messages.add(new Message(
                0x11, 0, room(2 * Hdf5.WORD).putLong(tree).putLong(heap).array()));
        group.attributes().forEach((name, value) -> messages.add(new Message(0x0c, 0, attribute(name, value))));
        return new Place(header(messages), tree, heap);
    }

    /** Names, each from an even offset on; the first is the empty one. */
    private long heap(List<Map.Entry<byte[], Long>> members, long[] offsets) {
        int size = Hdf5.WORD;
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = size;
            size += padded(members.get(i).getKey().length + 1);
        }
        ByteBuffer names = room(size);
        for (int i = 0; i < offsets.length; i++) {
            names.put((int) offsets[i], members.get(i).getKey());
        }
        long data = place(names.array());
        ByteBuffer buffer =
                room(32).put(name("HEAP")).putInt(0).putLong(size).putLong(1).putLong(data);
        return place(buffer.array());
    }

    /** @param lastName offset of the last name below it */
    private record Node(long at, long lastName) {}

    private long tree(List<Map.Entry<byte[], Long>> members, long[] offsets) {
        List<Node> level = new ArrayList<>();
        for (int from = 0; from < offsets.length; from += Hdf5.LEAF) {
            int to = Math.min(offsets.length, from + Hdf5.LEAF);
            ByteBuffer buffer = room(8 + Hdf5.LEAF * SYMBOL)
                    .put(name("SNOD"))
                    .put((byte) 1)
                    .put((byte) 0)
                    .putShort((short) (to - from));
            for (int i = from; i < to; i++) {
                buffer.putLong(offsets[i])
                        .putLong(members.get(i).getValue())
                        .putLong(0)
                        .putLong(0)
                        .putLong(0);
            }
            level.add(new Node(place(buffer.array()), offsets[to - 1]));
        }
        for (int height = 0; height == 0 || level.size() > 1; height++) {
            level = above(level, height);
        }
        return level.getFirst().at;
    }

    private List<Node> above(List<Node> below, int height) {
        int size = TREE_HEAD + (2 * Hdf5.FAN + 1) * Hdf5.WORD;
        List<Node> out = new ArrayList<>();
        int count = Math.max(1, (below.size() + Hdf5.FAN - 1) / Hdf5.FAN);
        long first = end;
        long before = 0;
        for (int n = 0; n < count; n++) {
            List<Node> children = below.subList(n * Hdf5.FAN, Math.min(below.size(), (n + 1) * Hdf5.FAN));
            ByteBuffer buffer = room(size)
                    .put(name("TREE"))
                    .put((byte) 0)
                    .put((byte) height)
                    .putShort((short) children.size());
            buffer.putLong(n == 0 ? Hdf5.NOWHERE : first + (n - 1L) * size)
                    .putLong(n == count - 1 ? Hdf5.NOWHERE : first + (n + 1L) * size);
            buffer.putLong(before);
            for (Node child : children) {
                buffer.putLong(child.at).putLong(child.lastName);
                before = child.lastName;
            }
            out.add(new Node(place(buffer.array()), before));
        }
        return out;
    }

    // ---- tables

    private long table(Table t) {
        long each = Math.max(CHUNK_ROWS, (t.rows() + Hdf5.CHUNKS - 1) / Hdf5.CHUNKS);
        int chunks = (int) ((t.rows() + each - 1) / each);
        long chunk = each * t.width();
        long data = place(chunks * chunk, t.data());
        long tree = chunks == 0 ? Hdf5.NOWHERE : chunkTree(data, chunks, each, t.width());
        byte[] type = type(t.columns());
        List<Message> messages = new ArrayList<>();
        messages.add(new Message(0x01, 0, extent(t.rows(), Hdf5.NOWHERE)));
        messages.add(new Message(0x03, 1, type));
        messages.add(new Message(0x05, 1, new byte[] {2, 3, 2, 1, 0, 0, 0, 0}));
        ByteBuffer layout = room(19).put((byte) 3)
                .put((byte) 2)
                .put((byte) 2)
                .putLong(tree)
                .putInt((int) each)
                .putInt(t.width());
        messages.add(new Message(0x08, 0, layout.array()));
        return header(messages);
    }

    private long chunkTree(long data, int chunks, long each, int width) {
        ByteBuffer buffer = room(TREE_HEAD + (Hdf5.CHUNKS + 1) * 3 * Hdf5.WORD + Hdf5.CHUNKS * Hdf5.WORD);
        buffer.put(name("TREE"))
                .put((byte) 1)
                .put((byte) 0)
                .putShort((short) chunks)
                .putLong(Hdf5.NOWHERE)
                .putLong(Hdf5.NOWHERE);
        for (int i = 0; i < chunks; i++) {
            buffer.putInt((int) (each * width))
                    .putInt(0)
                    .putLong(i * each)
                    .putLong(0)
                    .putLong(data + i * each * width);
        }
        buffer.putInt(0).putInt(0).putLong(chunks * each).putLong(width);
        return place(buffer.array());
    }

    private static byte[] extent(long size, long max) {
        return room(24).put((byte) 1)
                .put((byte) 1)
                .put((byte) 1)
                .put((byte) 0)
                .putInt(0)
                .putLong(size)
                .putLong(max)
                .array();
    }

    private static byte[] type(List<Column> columns) {
        ByteBuffer buffer = room(columns.stream()
                        .mapToInt(c -> padded(name(c.name()).length + 1) + 32 + (c.real() ? 20 : 12))
                        .sum()
                + 8);
        buffer.put((byte) 0x16)
                .put((byte) columns.size())
                .put((byte) (columns.size() >> 8))
                .put((byte) 0)
                .putInt(columns.size() * Hdf5.CELL);
        for (int i = 0; i < columns.size(); i++) {
            byte[] name = name(columns.get(i).name());
            buffer.put(Arrays.copyOf(name, padded(name.length + 1)))
                    .putInt(i * Hdf5.CELL)
                    .put(new byte[28]);
            if (columns.get(i).real()) {
                buffer.put(new byte[] {0x11, 0x20, 0x3f, 0})
                        .putInt(Hdf5.CELL)
                        .putShort((short) 0)
                        .putShort((short) 64);
                buffer.put(new byte[] {52, 11, 0, 52}).putInt(1023);
            } else {
                buffer.put(new byte[] {0x10, 0, 0, 0})
                        .putInt(Hdf5.CELL)
                        .putShort((short) 0)
                        .putShort((short) 64);
            }
        }
        return buffer.array();
    }

    // ---- what both have

    private static byte[] attribute(String name, Object value) {
        byte[] key = name(name);
        byte[] text;
        if (value instanceof String s) {
            if (s.isEmpty()) {
                text = new byte[1];
            } else {
                text = name(s);
            }
        } else {
            text = new byte[0];
        }

        byte[] type = value instanceof String
                ? room(8).put(new byte[] {0x13, 0, 0, 0}).putInt(text.length).array()
                : room(12).put(new byte[] {0x10, 8, 0, 0})
                        .putInt(4)
                        .putShort((short) 0)
                        .putShort((short) 32)
                        .array();
        byte[] data =
                value instanceof String ? text : room(4).putInt((Integer) value).array();
        byte[] extent = extent(1, 1);
        ByteBuffer buffer = room(8 + padded(key.length + 1) + padded(type.length) + extent.length + data.length);
        buffer.putShort((short) 1)
                .putShort((short) (key.length + 1))
                .putShort((short) type.length)
                .putShort((short) extent.length);
        buffer.put(Arrays.copyOf(key, padded(key.length + 1)))
                .put(Arrays.copyOf(type, padded(type.length)))
                .put(extent)
                .put(data);
        return buffer.array();
    }

    private long header(List<Message> messages) {
        int size = messages.stream().mapToInt(m -> 8 + padded(m.body.length)).sum();
        ByteBuffer buffer = room(16 + size)
                .put((byte) 1)
                .put((byte) 0)
                .putShort((short) messages.size())
                .putInt(1)
                .putInt(size)
                .putInt(0);
        for (Message message : messages) {
            buffer.putShort((short) message.type)
                    .putShort((short) padded(message.body.length))
                    .put((byte) message.flags)
                    .put(new byte[3]);
            buffer.put(Arrays.copyOf(message.body, padded(message.body.length)));
        }
        return place(buffer.array());
    }
}
