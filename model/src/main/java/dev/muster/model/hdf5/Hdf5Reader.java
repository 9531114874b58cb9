package dev.muster.model.hdf5;

import dev.muster.model.hdf5.Hdf5.Column;
import dev.muster.model.hdf5.Hdf5.Group;
import dev.muster.model.hdf5.Hdf5.Source;
import dev.muster.model.hdf5.Hdf5.Table;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Reads what {@link Hdf5Writer} writes and what Slurm's plugin does: groups at once, rows when they are asked for.
 * Anything else that HDF5 may have in its place is refused in words. Nothing that a damaged file says is believed
 * further than the file is long.
 */
public final class Hdf5Reader {
    private static final int SUPERBLOCK = 96;
    private static final int DEPTH_MAX = 16;
    private static final int MEMBERS_MAX = 1 << 20;
    private static final int MESSAGES_MAX = 1 << 12;
    private static final int BLOCK = 1 << 20;
    /** Bytes of a chunk that is held at once. */
    private static final int UNPACKED_MAX = 1 << 28;

    private record Message(int type, ByteBuffer body) {}

    private final Source source;
    private int members;

    private Hdf5Reader(Source source) {
        this.source = source;
    }

    public static Group read(Source source) throws IOException {
        Hdf5Reader r = new Hdf5Reader(source);
        ByteBuffer b = r.bytes(0, SUPERBLOCK);
        if (b.getInt(0) != 0x46444889) {
            throw new IOException("not an HDF5 file");
        }
        if (b.get(8) != 0 || b.get(13) != Hdf5.WORD || b.get(14) != Hdf5.WORD) {
            throw new IOException("HDF5 of another version than the first");
        }
        if (r.node(b.getLong(64), 0) instanceof Group root) {
            return root;
        }
        throw new IOException("no group at the top");
    }

    private ByteBuffer bytes(long at, int count) throws IOException {
        if (at < 0 || count < 0) {
            throw damaged();
        }
        return ByteBuffer.wrap(source.read(at, count)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static IOException damaged() {
        return new IOException("the file is damaged");
    }

    private Hdf5 node(long address, int depth) throws IOException {
        if (depth > DEPTH_MAX || members++ > MEMBERS_MAX) {
            throw damaged();
        }
        try {
            List<Message> messages = messages(address);
            return messages.stream().anyMatch(m -> m.type == 0x11) ? group(messages, depth) : table(messages);
        } catch (java.nio.BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException e) {
            throw damaged();
        }
    }

    private List<Message> messages(long address) throws IOException {
        ByteBuffer head = bytes(address, 16);
        if (head.get(0) != 1) {
            throw new IOException("an object of a newer HDF5");
        }
        List<Message> out = new ArrayList<>();
        List<ByteBuffer> blocks = new ArrayList<>(List.of(bytes(address + 16, head.getInt(8))));
        for (int i = 0; i < blocks.size(); i++) {
            ByteBuffer b = blocks.get(i);
            while (b.remaining() >= 8 && out.size() < MESSAGES_MAX) {
                int type = Short.toUnsignedInt(b.getShort());
                int size = Short.toUnsignedInt(b.getShort());
                b.position(b.position() + 4);
                ByteBuffer body = b.slice(b.position(), size).order(ByteOrder.LITTLE_ENDIAN);
                b.position(b.position() + size);
                if (type == 0x10 && blocks.size() < MESSAGES_MAX) {
                    blocks.add(bytes(body.getLong(0), (int) body.getLong(8)));
                } else {
                    out.add(new Message(type, body));
                }
            }
        }
        return out;
    }

    private static ByteBuffer onlyMessage(List<Message> messages, int type) throws IOException {
        return messages.stream()
                .filter(m -> m.type == type)
                .findFirst()
                .map(Message::body)
                .orElseThrow(Hdf5Reader::damaged);
    }

    // ---- groups

    private Group group(List<Message> messages, int depth) throws IOException {
        ByteBuffer where = onlyMessage(messages, 0x11);
        ByteBuffer heap = bytes(where.getLong(8), 32);
        ByteBuffer names = bytes(heap.getLong(24), (int) heap.getLong(8));
        Map<String, Hdf5> found = new TreeMap<>();
        symbols(where.getLong(0), names, found, depth);
        Map<String, Object> attributes = new TreeMap<>();
        for (Message m : messages) {
            if (m.type == 0x0c) {
                attribute(m.body, attributes);
            }
        }
        return new Group(attributes, found);
    }

    private void symbols(long address, ByteBuffer names, Map<String, Hdf5> out, int depth) throws IOException {
        ByteBuffer head = bytes(address, 8);
        int count = Short.toUnsignedInt(head.getShort(6));
        if (depth > DEPTH_MAX) {
            throw damaged();
        }
        if (head.getInt(0) == 0x444f4e53) {
            ByteBuffer b = bytes(address + 8, count * 40);
            for (int i = 0; i < count; i++) {
                out.put(text(names, (int) b.getLong(i * 40)), node(b.getLong(i * 40 + 8), depth + 1));
            }
            return;
        }
        ByteBuffer b = bytes(address + 24, (2 * count + 1) * Hdf5.WORD);
        for (int i = 0; i < count; i++) {
            symbols(b.getLong((2 * i + 1) * Hdf5.WORD), names, out, depth + 1);
        }
    }

    private static String text(ByteBuffer b, int from) {
        int to = from;
        while (to < b.limit() && b.get(to) != 0) {
            to++;
        }
        byte[] out = new byte[to - from];
        b.get(from, out);
        return new String(out, StandardCharsets.UTF_8);
    }

    private static void attribute(ByteBuffer b, Map<String, Object> out) {
        int nameSize = b.getShort(2);
        int typeSize = b.getShort(4);
        int type = 8 + padded(nameSize);
        int data = type + padded(typeSize) + padded(b.getShort(6));
        int size = b.getInt(type + 4);
        int kind = b.get(type) & 15;
        if (b.get(0) == 1 && kind == 3) {
            ByteBuffer value = b.slice(data, size);
            out.put(text(b, 8), text(value, 0));
        } else if (b.get(0) == 1 && kind == 0 && size == 4) {
            out.put(text(b, 8), b.getInt(data));
        }
    }

    private static int padded(int length) {
        return (length + Hdf5.WORD - 1) / Hdf5.WORD * Hdf5.WORD;
    }

    // ---- tables

    private Table table(List<Message> messages) throws IOException {
        ByteBuffer extent = onlyMessage(messages, 0x01);
        if (extent.get(0) != 1 || extent.get(1) != 1) {
            throw new IOException("a table of another form");
        }
        long rows = extent.getLong(8);
        List<Column> columns = columns(onlyMessage(messages, 0x03));
        int width = columns.size() * Hdf5.CELL;
        ByteBuffer layout = onlyMessage(messages, 0x08);
        if (layout.get(0) != 3 || layout.get(1) != 2 && layout.get(1) != 1) {
            throw new IOException("a table of another layout");
        }
        if (layout.get(1) == 1) {
            long at = layout.getLong(2);
            return new Table(columns, rows, out -> copy(at, at == Hdf5.NOWHERE ? 0 : rows * width, out));
        }
        boolean packed = packed(messages);
        long tree = layout.getLong(3);
        int each = layout.getInt(11);
        return new Table(columns, rows, out -> {
            TreeMap<Long, long[]> chunks = new TreeMap<>();
            if (tree != Hdf5.NOWHERE) {
                chunks(tree, chunks, 0);
            }
            long done = 0;
            for (Map.Entry<Long, long[]> c : chunks.entrySet()) {
                if (c.getKey() != done || done >= rows) {
                    throw damaged();
                }
                long count = Math.min(each, rows - done) * width;
                if (packed && (c.getValue()[1] & 1) == 0) {
                    out.write(unpacked(c.getValue()[0], (int) c.getValue()[2], each * width), 0, (int) count);
                } else {
                    copy(c.getValue()[0], count, out);
                }
                done += each;
            }
        });
    }

    private void copy(long at, long count, OutputStream out) throws IOException {
        for (long done = 0; done < count; done += BLOCK) {
            out.write(source.read(at + done, (int) Math.min(BLOCK, count - done)));
        }
    }

    private byte[] unpacked(long at, int size, int count) throws IOException {
        if (count <= 0 || count > UNPACKED_MAX) {
            throw damaged();
        }
        byte[] out = new byte[count];
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(source.read(at, size));
            if (inflater.inflate(out) != count) {
                throw damaged();
            }
        } catch (DataFormatException e) {
            throw damaged();
        } finally {
            inflater.end();
        }
        return out;
    }

    /** Whether chunks are deflated; no other filter is known. */
    private static boolean packed(List<Message> messages) throws IOException {
        for (Message m : messages) {
            if (m.type == 0x0b && (m.body.get(0) != 1 || m.body.get(1) != 1 || m.body.getShort(8) != 1)) {
                throw new IOException("a table with a filter other than deflate");
            }
        }
        return messages.stream().anyMatch(m -> m.type == 0x0b);
    }

    /** First row of each chunk to its address, its mask of filters and its bytes in the file. */
    private void chunks(long address, TreeMap<Long, long[]> out, int depth) throws IOException {
        ByteBuffer head = bytes(address, 24);
        int count = Short.toUnsignedInt(head.getShort(6));
        if (head.getInt(0) != 0x45455254 || depth > DEPTH_MAX) {
            throw damaged();
        }
        ByteBuffer b = bytes(address + 24, count * 32);
        for (int i = 0; i < count; i++) {
            long child = b.getLong(i * 32 + 24);
            if (head.get(5) == 0) {
                out.put(b.getLong(i * 32 + 8), new long[] {child, b.getInt(i * 32 + 4), b.getInt(i * 32)});
            } else {
                chunks(child, out, depth + 1);
            }
        }
    }

    private static List<Column> columns(ByteBuffer b) throws IOException {
        int count = Short.toUnsignedInt(b.getShort(1));
        if (b.get(0) != 0x16 || b.getInt(4) != count * Hdf5.CELL) {
            throw new IOException("a table of another type");
        }
        List<Column> out = new ArrayList<>();
        int at = 8;
        for (int i = 0; i < count; i++) {
            String name = text(b, at);
            at += padded(name.getBytes(StandardCharsets.UTF_8).length + 1);
            int kind = b.get(at + 32) & 15;
            if (b.getInt(at) != i * Hdf5.CELL || b.getInt(at + 36) != Hdf5.CELL || kind > 1) {
                throw new IOException("a column of another type: " + name);
            }
            out.add(new Column(name, kind == 1));
            at += 32 + (kind == 1 ? 20 : 12);
        }
        return List.copyOf(out);
    }
}
