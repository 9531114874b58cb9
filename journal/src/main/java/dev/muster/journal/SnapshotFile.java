package dev.muster.journal;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Iterator;
import java.util.UUID;
import java.util.function.Consumer;

/** A snapshot on disk: frames as in the log, closed by one that counts them. */
record SnapshotFile(Path file, long index, UUID clusterId) implements Journal.Snapshot {
    static final String PREFIX = "snapshot-";
    static final String SUFFIX = ".snap";
    private static final int BUFFER_BYTES = 1 << 20;

    static SnapshotFile write(Path directory, UUID clusterId, long index, Iterator<byte[]> items, Disk disk)
            throws IOException {
        Path file = directory.resolve(PREFIX + Segment.digits(index) + SUFFIX);
        Path aside = directory.resolve(PREFIX + Segment.digits(index) + ".tmp");
        Files.deleteIfExists(aside);
        try (FileChannel channel = FileChannel.open(aside, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            disk.write(channel, Frames.fileHeader(Frames.SNAPSHOT_MAGIC, clusterId, index), 0);
            long at = Frames.FILE_HEADER_BYTES;
            ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
            long count = 0;
            while (items.hasNext()) {
                byte[] item = items.next();
                if (buffer.remaining() < Frames.size(item.length)) {
                    at += flush(channel, buffer, at, disk);
                    if (buffer.capacity() < Frames.size(item.length)) {
                        buffer = ByteBuffer.allocateDirect(Frames.size(item.length));
                    }
                }
                Frames.put(buffer, Frames.ITEM, count++, 0, item);
            }
            if (buffer.remaining() < Frames.HEADER_BYTES) {
                at += flush(channel, buffer, at, disk);
            }
            Frames.put(buffer, Frames.END, count, 0, new byte[0]);
            flush(channel, buffer, at, disk);
            channel.force(true);
        }
        Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        disk.syncDirectory(directory);
        return new SnapshotFile(file, index, clusterId);
    }

    private static int flush(FileChannel channel, ByteBuffer buffer, long at, Disk disk) throws IOException {
        int bytes = buffer.flip().remaining();
        disk.write(channel, buffer, at);
        buffer.clear();
        return bytes;
    }

    /** Refuses at the first frame that is not whole: an older snapshot is never a substitute. */
    @Override
    public void read(Consumer<byte[]> items) {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
            ByteBuffer header = ByteBuffer.wrap(in.readNBytes(Frames.FILE_HEADER_BYTES));
            Frames.requireHeader(header, Frames.SNAPSHOT_MAGIC, file);
            Frames.requireCluster(header, clusterId, file);
            if (Frames.firstIndex(header) != index) {
                throw JournalException.damaged(file, 0, "the header says index " + Frames.firstIndex(header)
                    + ", the name says " + index);
            }
            long at = Frames.FILE_HEADER_BYTES;
            for (long count = 0; ; count++) {
                ByteBuffer frame = next(in, at, Files.size(file));
                Frames.requireKnown(frame, 0, Frames.ITEM, Frames.END, file);
                if (Frames.index(frame, 0) != count) {
                    throw JournalException.damaged(file, at, "item " + Frames.index(frame, 0)
                        + " where " + count + " should be");
                }
                if (Frames.kind(frame, 0) == Frames.END) {
                    return;
                }
                items.accept(Frames.payload(frame, 0));
                at += frame.capacity();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(file + ": " + e.getMessage(), e);
        }
    }

    private ByteBuffer next(InputStream in, long at, long fileBytes) throws IOException {
        byte[] head = new byte[Frames.HEADER_BYTES];
        if (in.readNBytes(head, 0, head.length) < head.length) {
            throw JournalException.damaged(file, at, "the snapshot ends without its closing frame");
        }
        int length = Frames.length(ByteBuffer.wrap(head), 0);
        if (length < 0 || length > fileBytes - at - Frames.HEADER_BYTES) {
            throw JournalException.damaged(file, at, "a frame of " + length + " bytes does not fit into the file");
        }
        ByteBuffer frame = ByteBuffer.allocate(Frames.size(length));
        frame.put(head);
        int rest = frame.remaining();
        if (in.readNBytes(frame.array(), Frames.HEADER_BYTES, rest) < rest) {
            throw new EOFException("the file ends inside the frame at offset " + at);
        }
        frame.rewind();
        if (!Frames.valid(frame, 0)) {
            throw JournalException.damaged(file, at, "checksum of the frame is wrong");
        }
        return frame;
    }
}
