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
 * Reads files of {@link Hdf5Writer} and of Slurm's plugin: groups at once, rows on demand. Other features of HDF5 are
 * refused with a sentence. Sizes and offsets of a damaged file are checked against the length of the file.
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
        Hdf5Reader reader = new Hdf5Reader(source);
        ByteBuffer buffer = reader.bytes(0, SUPERBLOCK);
        if (buffer.getInt(0) != 0x46444889) {
            throw new IOException("not an HDF5 file");
        }
        if (buffer.get(8) != 0 || buffer.get(13) != Hdf5.WORD || buffer.get(14) != Hdf5.WORD) {
            throw new IOException("HDF5 of another version than the first");
        }
        if (reader.node(buffer.getLong(64), 0) instanceof Group root) {
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
            ByteBuffer buffer = blocks.get(i);
            while (buffer.remaining() >= 8 && out.size() < MESSAGES_MAX) {
                int type = Short.toUnsignedInt(buffer.getShort());
                int size = Short.toUnsignedInt(buffer.getShort());
                buffer.position(buffer.position() + 4);
                ByteBuffer body = buffer.slice(buffer.position(), size).order(ByteOrder.LITTLE_ENDIAN);
                buffer.position(buffer.position() + size);
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
        for (Message message : messages) {
            if (message.type == 0x0c) {
                attribute(message.body, attributes);
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
            ByteBuffer buffer = bytes(address + 8, count * 40);
            for (int i = 0; i < count; i++) {
                out.put(text(names, (int) buffer.getLong(i * 40)), node(buffer.getLong(i * 40 + 8), depth + 1));
            }
            return;
        }
        ByteBuffer buffer = bytes(address + 24, (2 * count + 1) * Hdf5.WORD);
        for (int i = 0; i < count; i++) {
            symbols(buffer.getLong((2 * i + 1) * Hdf5.WORD), names, out, depth + 1);
        }
    }

    private static String text(ByteBuffer buffer, int from) {
        int to = from;
        while (to < buffer.limit() && buffer.get(to) != 0) {
            to++;
        }
        byte[] out = new byte[to - from];
        buffer.get(from, out);
        return new String(out, StandardCharsets.UTF_8);
    }

    private static void attribute(ByteBuffer buffer, Map<String, Object> out) {
        int nameSize = buffer.getShort(2);
        int typeSize = buffer.getShort(4);
        int type = 8 + padded(nameSize);
        int data = type + padded(typeSize) + padded(buffer.getShort(6));
        int size = buffer.getInt(type + 4);
        int kind = buffer.get(type) & 15;
        if (buffer.get(0) == 1 && kind == 3) {
            ByteBuffer value = buffer.slice(data, size);
            out.put(text(buffer, 8), text(value, 0));
        } else if (buffer.get(0) == 1 && kind == 0 && size == 4) {
            out.put(text(buffer, 8), buffer.getInt(data));
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
        for (Message message : messages) {
            if (message.type == 0x0b
                    && (message.body.get(0) != 1 || message.body.get(1) != 1 || message.body.getShort(8) != 1)) {
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
        ByteBuffer buffer = bytes(address + 24, count * 32);
        for (int i = 0; i < count; i++) {
            long child = buffer.getLong(i * 32 + 24);
            if (head.get(5) == 0) {
                out.put(buffer.getLong(i * 32 + 8), new long[] {child, buffer.getInt(i * 32 + 4), buffer.getInt(i * 32)
                });
            } else {
                chunks(child, out, depth + 1);
            }
        }
    }

    private static List<Column> columns(ByteBuffer buffer) throws IOException {
        int count = Short.toUnsignedInt(buffer.getShort(1));
        if (buffer.get(0) != 0x16 || buffer.getInt(4) != count * Hdf5.CELL) {
            throw new IOException("a table of another type");
        }
        List<Column> out = new ArrayList<>();
        int index = 8;
        for (int i = 0; i < count; i++) {
            String name = text(buffer, index);
            index += padded(name.getBytes(StandardCharsets.UTF_8).length + 1);
            int kind = buffer.get(index + 32) & 15;
            if (buffer.getInt(index) != i * Hdf5.CELL || buffer.getInt(index + 36) != Hdf5.CELL || kind > 1) {
                throw new IOException("a column of another type: " + name);
            }
            out.add(new Column(name, kind == 1));
            index += 32 + (kind == 1 ? 20 : 12);
        }
        return List.copyOf(out);
    }
}
