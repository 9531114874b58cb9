package dev.muster.journal;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/** One file of the log: written by {@link FileJournal} only, read here. */
record Segment(Path file, long firstIndex) {
    static final String PREFIX = "journal-";
    static final String SUFFIX = ".log";
    static final String SPARE = "spare.tmp";

    /** End of a segment: offset and index of the next frame, and the report of a cut there. */
    record End(long offset, long nextIndex, Optional<RepairReport> torn) {}

    static Path fileFor(Path directory, long firstIndex) {
        return directory.resolve(PREFIX + digits(firstIndex) + SUFFIX);
    }

    static String digits(long number) {
        String text = Long.toString(number);
        return "0".repeat(20 - text.length()) + text;
    }

    /** Makes the zero-filled file that becomes the next segment; its blocks exist, so that a sync moves data only. */
    static void prepare(Path file, long bytes, Disk disk) throws IOException {
        Files.deleteIfExists(file);
        try (FileChannel channel = FileChannel.open(
                file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), DirectoryLock.OWN_FILE)) {
            ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 20);
            for (long at = 0; at < bytes; at += zeros.capacity()) {
                zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - at));
                disk.write(channel, zeros, at);
            }
            channel.force(true);
        }
    }

    /** Turns a prepared file into a segment, durably. */
    static Segment begin(Path prepared, Path directory, UUID clusterId, long firstIndex, Disk disk) throws IOException {
        try (FileChannel channel = FileChannel.open(prepared, StandardOpenOption.WRITE)) {
            disk.write(channel, Frames.fileHeader(Frames.SEGMENT_MAGIC, clusterId, firstIndex), 0);
            disk.sync(channel);
        }
        Path file = fileFor(directory, firstIndex);
        Files.move(prepared, file);
        disk.syncDirectory(directory);
        return new Segment(file, firstIndex);
    }

    /** Hands entries in [from, to] on; checks every frame on the way. */
    long read(long from, long to, Journal.EntryConsumer consumer) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer in = map(file, arena);
            int position = Frames.FILE_HEADER_BYTES;
            long index = firstIndex;
            while (index <= to && position < in.limit() && Frames.valid(in, position)) {
                if (Frames.kind(in, position) == Frames.ENTRY) {
                    if (index >= from) {
                        consumer.entry(index, Frames.payload(in, position));
                    }
                    index++;
                }
                position += Frames.size(Frames.length(in, position));
            }
            return index - 1;
        }
    }

    /** Walks the whole segment. Damage refuses; a torn tail is reported, if this is the last segment. */
    End check(UUID clusterId, boolean last) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer in = map(file, arena);
            Frames.requireHeader(in, Frames.SEGMENT_MAGIC, file);
            Frames.requireCluster(in, clusterId, file);
            if (Frames.firstIndex(in) != firstIndex) {
                throw JournalException.damaged(
                        file,
                        0,
                        "the header says that the first index is " + Frames.firstIndex(in) + ", the name says "
                                + firstIndex);
            }
            int position = Frames.FILE_HEADER_BYTES;
            long index = firstIndex;
            while (Frames.valid(in, position)) {
                Frames.requireKnown(in, position, Frames.ENTRY, Frames.SEAL, file);
                if (Frames.index(in, position) != index) {
                    throw JournalException.damaged(
                            file, position, "index " + Frames.index(in, position) + " where " + index + " should be");
                }
                index += Frames.kind(in, position) == Frames.ENTRY ? 1 : 0;
                position += Frames.size(Frames.length(in, position));
            }
            return end(in, position, index, last);
        }
    }

    private End end(ByteBuffer in, int position, long index, boolean last) {
        if (position >= in.limit() || Frames.zeros(in, position)) {
            return new End(position, index, Optional.empty());
        }
        if (!last) {
            throw JournalException.damaged(file, position, "checksum of entry " + index + " is wrong");
        }
        OptionalLong proof = Frames.proofOfDamage(in, position, index);
        if (proof.isPresent()) {
            throw JournalException.damaged(
                    file,
                    position,
                    "entry " + index + " cannot be read, yet the frame at offset " + proof.getAsLong()
                            + " shows that it was durable");
        }
        int used = Frames.lastUsed(in, position);
        return new End(position, index, Optional.of(new RepairReport(file, position, used - position, index - 1)));
    }

    private static ByteBuffer map(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena)
                    .asByteBuffer()
                    .order(ByteOrder.BIG_ENDIAN);
        }
    }
}
