package dev.muster.journal;

import dev.muster.model.format.ErrorSentence;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Iterator;
import java.util.Set;
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
        try (FileChannel channel = FileChannel.open(
                aside, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), DirectoryLock.OWN_FILE)) {
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
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            new Reading(channel, channel.size()).items(items);
        } catch (IOException e) {
            throw new UncheckedIOException(file + ": " + ErrorSentence.of(e), e);
        }
    }

    /** The file through one buffer, in large pieces: its frames are checked where they lie. */
    private final class Reading {
        private final FileChannel channel;
        private final long fileBytes;
        private ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        /** Offset in the file of the buffer's position. */
        private long at;

        Reading(FileChannel channel, long fileBytes) {
            this.channel = channel;
            this.fileBytes = fileBytes;
            buffer.limit(0);
        }

        void items(Consumer<byte[]> items) throws IOException {
            if (!holds(Frames.FILE_HEADER_BYTES)) {
                throw JournalException.damaged(file, 0, "the file ends inside its header");
            }
            ByteBuffer header = buffer.slice(buffer.position(), Frames.FILE_HEADER_BYTES);
            Frames.requireHeader(header, Frames.SNAPSHOT_MAGIC, file);
            Frames.requireCluster(header, clusterId, file);
            if (Frames.firstIndex(header) != index) {
                throw JournalException.damaged(
                        file, 0, "the header says index " + Frames.firstIndex(header) + ", the name says " + index);
            }
            pass(Frames.FILE_HEADER_BYTES);
            for (long count = 0; ; count++) {
                int bytes = frame();
                int place = buffer.position();
                Frames.requireKnown(buffer, place, Frames.ITEM, Frames.END, file);
                if (Frames.index(buffer, place) != count) {
                    throw JournalException.damaged(
                            file, at, "item " + Frames.index(buffer, place) + " where " + count + " should be");
                }
                if (Frames.kind(buffer, place) == Frames.END) {
                    return;
                }
                items.accept(Frames.payload(buffer, place));
                pass(bytes);
            }
        }

        /**
         * The next frame is in the buffer, at its position, and whole.
         *
         * @return its size in bytes
         */
        private int frame() throws IOException {
            if (!holds(Frames.HEADER_BYTES)) {
                throw JournalException.damaged(file, at, "the snapshot ends without its closing frame");
            }
            int length = Frames.length(buffer, buffer.position());
            if (length < 0 || length > fileBytes - at - Frames.HEADER_BYTES) {
                throw JournalException.damaged(file, at, "a frame of " + length + " bytes does not fit into the file");
            }
            if (!holds(Frames.size(length))) {
                throw new EOFException("the file ends inside the frame at offset " + at);
            }
            if (!Frames.valid(buffer, buffer.position())) {
                throw JournalException.damaged(file, at, "checksum of the frame is wrong");
            }
            return Frames.size(length);
        }

        private void pass(int bytes) {
            buffer.position(buffer.position() + bytes);
            at += bytes;
        }

        /**
         * Reads until the buffer holds that many bytes from its position.
         *
         * @return false at the end of the file
         */
        private boolean holds(int bytes) throws IOException {
            if (buffer.remaining() >= bytes) {
                return true;
            }
            if (buffer.capacity() < bytes) {
                buffer = ByteBuffer.allocate(bytes).put(buffer);
            } else {
                buffer.compact();
            }
            int read = 0;
            while (buffer.position() < bytes && read >= 0) {
                read = channel.read(buffer);
            }
            buffer.flip();
            return buffer.remaining() >= bytes;
        }
    }
}
