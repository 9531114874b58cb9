package dev.muster.journal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The layout of files and frames, all big endian.
 *
 * <pre>
 * file header, 64 bytes          frame, padded to 8 bytes
 *  0 magic            8           0 CRC32C of all that follows   4
 *  8 format version   2           4 length of the payload        4
 * 10 zero             6           8 version                      1
 * 16 cluster id      16           9 kind                         1
 * 32 first index      8          10 zero                         2
 * 40 zero            20          12 back                         4
 * 60 CRC32C of 0..59  4          16 index                        8
 *                                24 payload
 * </pre>
 *
 * {@code back} is the distance to the first entry that was not yet durable when the frame was written. It tells a torn
 * batch from damage: a bad frame with a good one after it is damage exactly if the good one says that the bad one was
 * durable before.
 */
final class Frames {
    static final int FILE_HEADER_BYTES = 64;
    static final int HEADER_BYTES = 24;
    static final int FORMAT_VERSION = 1;
    static final int FRAME_VERSION = 1;
    static final long SEGMENT_MAGIC = 0x4D55535445524A4CL; // MUSTERJL
    static final long SNAPSHOT_MAGIC = 0x4D55535445525350L; // MUSTERSP

    /** An entry of the log. */
    static final int ENTRY = 1;
    /** The journal was closed in order: everything before its index, that of the next entry, is durable. */
    static final int SEAL = 2;
    /** An item of a snapshot. */
    static final int ITEM = 3;
    /** The end of a snapshot; its index is the number of items. */
    static final int END = 4;

    private static final int ALIGN = 8;

    private Frames() {}

    static int size(int payloadBytes) {
        return (HEADER_BYTES + payloadBytes + ALIGN - 1) & -ALIGN;
    }

    /** Puts a frame at the buffer's position, which must be inside an aligned, zero-padded place. */
    static void put(ByteBuffer to, int kind, long index, long back, byte[] payload) {
        int start = to.position();
        int end = start + size(payload.length);
        to.putInt(0)
                .putInt(payload.length)
                .put((byte) FRAME_VERSION)
                .put((byte) kind)
                .putShort((short) 0);
        to.putInt((int) Math.min(back, Integer.MAX_VALUE)).putLong(index).put(payload);
        while (to.position() < end) {
            to.put((byte) 0);
        }
        to.putInt(start, crc(to, start, payload.length));
    }

    private static int crc(ByteBuffer in, int start, int payloadBytes) {
        CRC32C crc = new CRC32C();
        if (in.hasArray()) {
            crc.update(in.array(), in.arrayOffset() + start + 4, HEADER_BYTES - 4 + payloadBytes);
        } else {
            crc.update(in.slice(start + 4, HEADER_BYTES - 4 + payloadBytes));
        }
        return (int) crc.getValue();
    }

    /** True when the bytes at {@code index} are a whole frame with a right checksum, of whatever kind. */
    static boolean valid(ByteBuffer in, int index) {
        if (index + HEADER_BYTES > in.limit()) {
            return false;
        }
        int length = in.getInt(index + 4);
        if (length < 0 || length > in.limit() - index - HEADER_BYTES || in.get(index + 8) == 0) {
            return false;
        }
        return in.getInt(index) == crc(in, index, length);
    }

    static int length(ByteBuffer in, int index) {
        return in.getInt(index + 4);
    }

    static int kind(ByteBuffer in, int index) {
        return in.get(index + 9) & 0xFF;
    }

    static long back(ByteBuffer in, int index) {
        return in.getInt(index + 12);
    }

    static long index(ByteBuffer in, int index) {
        return in.getLong(index + 16);
    }

    static byte[] payload(ByteBuffer in, int index) {
        byte[] bytes = new byte[length(in, index)];
        in.get(index + HEADER_BYTES, bytes);
        return bytes;
    }

    /** Refuses a frame that is whole but that this version does not understand. */
    static void requireKnown(ByteBuffer in, int index, int firstKind, int lastKind, Path file) {
        int version = in.get(index + 8) & 0xFF;
        int kind = kind(in, index);
        if (version != FRAME_VERSION) {
            throw new JournalException(file + " at offset " + index + ": frame version " + version
                    + " is not known here (newest known: " + FRAME_VERSION + "); it was written by a newer Muster");
        }
        if (kind < firstKind || kind > lastKind) {
            throw new JournalException(file + " at offset " + index + ": frame kind " + kind
                    + " is not known here; it was written by a newer Muster");
        }
    }

    static boolean zeros(ByteBuffer in, int from) {
        return lastUsed(in, from) == from;
    }

    /** The end of what is not zero at or after {@code from}. */
    static int lastUsed(ByteBuffer in, int from) {
        int index = in.limit();
        while (index - Long.BYTES >= from && in.getLong(index - Long.BYTES) == 0) {
            index -= Long.BYTES;
        }
        while (index > from && in.get(index - 1) == 0) {
            index--;
        }
        return index;
    }

    /** Offset of a whole frame after {@code bad} that was written when entry {@code index} was durable already. */
    static OptionalLong proofOfDamage(ByteBuffer in, int bad, long index) {
        int end = lastUsed(in, bad);
        for (int position = bad + ALIGN; position < end; position += ALIGN) {
            if (position + HEADER_BYTES > in.limit()) {
                break;
            }
            long found = index(in, position);
            if (found >= index && found - back(in, position) > index && valid(in, position)) {
                return OptionalLong.of(position);
            }
        }
        return OptionalLong.empty();
    }

    static ByteBuffer fileHeader(long magic, UUID clusterId, long firstIndex) {
        ByteBuffer header = ByteBuffer.allocate(FILE_HEADER_BYTES).order(ByteOrder.BIG_ENDIAN);
        header.putLong(magic).putShort((short) FORMAT_VERSION).position(16);
        header.putLong(clusterId.getMostSignificantBits()).putLong(clusterId.getLeastSignificantBits());
        header.putLong(firstIndex);
        header.putInt(FILE_HEADER_BYTES - 4, headerCrc(header));
        return header.rewind();
    }

    private static int headerCrc(ByteBuffer in) {
        CRC32C crc = new CRC32C();
        crc.update(in.slice(0, FILE_HEADER_BYTES - 4));
        return (int) crc.getValue();
    }

    static UUID clusterId(ByteBuffer in) {
        return new UUID(in.getLong(16), in.getLong(24));
    }

    static long firstIndex(ByteBuffer in) {
        return in.getLong(32);
    }

    /** Refuses a file that is not ours, not whole, or of a newer format. */
    static void requireHeader(ByteBuffer in, long magic, Path file) {
        if (in.limit() < FILE_HEADER_BYTES) {
            throw JournalException.damaged(file, 0, "the file is shorter than its header (" + in.limit() + " bytes)");
        }
        if (in.getLong(0) != magic) {
            throw JournalException.damaged(file, 0, "not a file of this journal (wrong magic)");
        }
        if (in.getInt(FILE_HEADER_BYTES - 4) != headerCrc(in)) {
            throw JournalException.damaged(file, 0, "checksum of the file header is wrong");
        }
        int version = in.getShort(8);
        if (version != FORMAT_VERSION) {
            throw new JournalException(file + ": format version " + version + " is not known here (newest known: "
                    + FORMAT_VERSION + "); it was written by a newer Muster");
        }
    }

    static void requireCluster(ByteBuffer in, UUID expected, Path file) {
        if (!clusterId(in).equals(expected)) {
            throw new JournalException(file + " belongs to cluster " + clusterId(in) + ", not to " + expected);
        }
    }
}
