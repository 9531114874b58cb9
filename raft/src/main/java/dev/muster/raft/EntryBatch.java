package dev.muster.raft;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * Entries of the journal in one entry of the replicated log: index of the first (8 bytes), then length (4 bytes) and
 * bytes of each. One batch costs one round of messages and one sync on each member.
 *
 * @param first index in the journal of the first entry
 */
record EntryBatch(long first, List<byte[]> entries) {
    private static final int HEADER_BYTES = 8;

    /** Bytes of an entry in a batch. */
    static int bytes(byte[] entry) {
        return Integer.BYTES + entry.length;
    }

    ByteString encode() {
        int bytes = HEADER_BYTES;
        for (byte[] entry : entries) {
            bytes += bytes(entry);
        }
        ByteBuffer out = ByteBuffer.allocate(bytes).putLong(first);
        for (byte[] entry : entries) {
            out.putInt(entry.length).put(entry);
        }
        return ByteString.copyFrom(out.flip());
    }

    /** @throws IllegalArgumentException if that is no batch */
    static EntryBatch decode(ByteString bytes) {
        ByteBuffer in = bytes.asReadOnlyByteBuffer();
        if (in.remaining() < HEADER_BYTES) {
            throw new IllegalArgumentException("a batch of " + in.remaining() + " bytes");
        }
        long first = in.getLong();
        List<byte[]> entries = new ArrayList<>();
        while (in.hasRemaining()) {
            int length = in.remaining() < Integer.BYTES ? -1 : in.getInt();
            if (length < 0 || length > in.remaining()) {
                throw new IllegalArgumentException("a batch with an entry of " + length + " bytes");
            }
            byte[] entry = new byte[length];
            in.get(entry);
            entries.add(entry);
        }
        return new EntryBatch(first, entries);
    }

    /** Index of the last entry. */
    long last() {
        return first + entries.size() - 1;
    }
}
