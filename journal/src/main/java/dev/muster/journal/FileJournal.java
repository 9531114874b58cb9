package dev.muster.journal;

import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The journal in files of one directory. One thread writes: it takes all that is queued, writes it and syncs once, so
 * that the more callers wait, the less each pays. An error of a write or sync ends the journal: the kernel may have
 * dropped the pages, and a second sync would lie.
 */
public final class FileJournal implements Journal {
    /** Entries waiting to be written; {@code append} waits beyond. */
    static final int MAX_QUEUED_ENTRIES = 65_536;

    static final long MAX_QUEUED_BYTES = 64L << 20;
    private static final int WRITE_BUFFER_BYTES = 1 << 20;

    /**
     * How to open a journal.
     *
     * @param log receives sentences for the daemon's log
     */
    public record Options(UUID clusterId, int segmentBytes, Consumer<String> log) {
        public static final int DEFAULT_SEGMENT_BYTES = 16 << 20;

        public static Options of(UUID clusterId, Consumer<String> log) {
            return new Options(clusterId, DEFAULT_SEGMENT_BYTES, log);
        }
    }

    private record Waiter(long index, CompletableFuture<Long> future) {}

    private final Path directory;
    private final Options options;
    private final Disk disk;
    private final DirectoryLock directoryLock;
    private final SegmentSupply supply;
    private final Thread writer;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition notEmpty = lock.newCondition();
    private final Condition notFull = lock.newCondition();
    private ArrayList<byte[]> queue = new ArrayList<>();
    private long queuedBytes;
    private long lastIndex;
    private boolean closing;
    private volatile @Nullable JournalException failure;
    private volatile long durableIndex;
    private final PriorityQueue<Waiter> waiters = new PriorityQueue<>((a, b) -> Long.compare(a.index, b.index));
    private final List<LongConsumer> durableListeners = new ArrayList<>();
    private final List<Consumer<JournalException>> failureListeners = new ArrayList<>();
    private final ArrayDeque<Segment> segments = new ArrayDeque<>();
    private Optional<SnapshotFile> snapshot;
    private final Optional<RepairReport> repair;
    private LongSupplier lowestNeeded = () -> Long.MAX_VALUE;

    // Only the writer thread touches these.
    private FileChannel channel;
    private long writeOffset;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(WRITE_BUFFER_BYTES);

    /** Id of the cluster of the journal in a directory; empty without a journal. */
    public static Optional<UUID> clusterIdOf(Path directory) {
        try {
            return Files.isDirectory(directory) ? DirectoryScan.clusterIdOf(directory) : Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(directory + ": " + ErrorSentence.of(e), e);
        }
    }

    /**
     * Opens the directory, making it if it is absent.
     *
     * @throws JournalException when another process has it, when it belongs to another cluster, or when it is damaged
     */
    public static FileJournal open(Path directory, Options options) {
        return open(directory, options, Disk.REAL);
    }

    /** A journal on this disk: slow or faulty ones in tests and benchmarks. */
    public static FileJournal open(Path directory, Options options, Disk disk) {
        try {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            DirectoryLock held = DirectoryLock.take(directory);
            try {
                return new FileJournal(directory, options, disk, held);
            } catch (IOException | RuntimeException e) {
                held.close();
                throw e;
            }
        } catch (IOException e) {
            throw new JournalException("cannot open the journal in " + directory + ": " + ErrorSentence.of(e), e);
        }
    }

    private FileJournal(Path directory, Options options, Disk disk, DirectoryLock directoryLock) throws IOException {
        this.directory = directory;
        this.options = options;
        this.disk = disk;
        this.directoryLock = directoryLock;
        DirectoryScan scan = DirectoryScan.of(directory, options.clusterId());
        segments.addAll(scan.segments());
        snapshot = scan.snapshot();
        repair = scan.end().torn();
        lastIndex = scan.end().nextIndex() - 1;
        durableIndex = lastIndex;
        supply = new SegmentSupply(directory, options, disk);
        if (segments.isEmpty()) {
            Path prepared = directory.resolve(Segment.SPARE);
            Segment.prepare(prepared, options.segmentBytes(), disk);
            segments.add(Segment.begin(prepared, directory, options.clusterId(), lastIndex + 1, disk));
        }
        channel = FileChannel.open(segments.getLast().file(), StandardOpenOption.WRITE);
        writeOffset = Math.max(scan.end().offset(), Frames.FILE_HEADER_BYTES);
        if (repair.isPresent()) {
            cut(repair.get());
        }
        // A killed process may have left entries that only the page cache holds: they count as durable from here on.
        disk.sync(channel);
        disk.syncDirectory(directory);
        supply.start();
        writer = Thread.ofPlatform().name("journal-writer").daemon(true).start(this::writeLoop);
    }

    private void cut(RepairReport torn) throws IOException {
        options.log().accept(torn.sentence());
        disk.write(channel, ByteBuffer.allocate((int) torn.cutBytes()), torn.offset());
    }

    @Override
    public long append(byte[] entry) {
        if (Frames.size(entry.length) > maxFrameBytes()) {
            throw new IllegalArgumentException("entry of " + entry.length + " bytes is larger than a segment allows");
        }
        lock.lock();
        try {
            while (failure == null
                    && !closing
                    && (queue.size() >= MAX_QUEUED_ENTRIES || queuedBytes >= MAX_QUEUED_BYTES)) {
                notFull.awaitUninterruptibly();
            }
            requireAlive();
            queue.add(entry);
            queuedBytes += entry.length;
            if (queue.size() == 1) {
                notEmpty.signal();
            }
            return ++lastIndex;
        } finally {
            lock.unlock();
        }
    }

    private int maxFrameBytes() {
        return options.segmentBytes() - Frames.FILE_HEADER_BYTES - Frames.HEADER_BYTES;
    }

    private void requireAlive() {
        if (failure != null) {
            throw new JournalException(ErrorSentence.of(failure), failure);
        }
        if (closing) {
            throw new JournalException("the journal in " + directory + " is closed");
        }
    }

    private void writeLoop() {
        ArrayList<byte[]> batch = new ArrayList<>();
        try {
            while (true) {
                batch.clear();
                batch = take(batch);
                if (failure != null) {
                    channel.close();
                    return;
                }
                if (batch.isEmpty()) {
                    break;
                }
                writeBatch(batch);
            }
            put(Frames.SEAL, durableIndex + 1, new byte[0]);
            flush();
            disk.sync(channel);
            channel.close();
        } catch (IOException | RuntimeException | Error e) {
            fail(new JournalException(
                    "journal " + segments.getLast().file() + " at offset " + writeOffset + ": " + ErrorSentence.of(e),
                    e));
        }
    }

    /** Waits for entries; an empty list means that the journal closes. The caller's list becomes the new queue. */
    private ArrayList<byte[]> take(ArrayList<byte[]> empty) {
        lock.lock();
        try {
            while (queue.isEmpty() && !closing) {
                notEmpty.awaitUninterruptibly();
            }
            ArrayList<byte[]> taken = queue;
            queue = empty;
            queuedBytes = 0;
            notFull.signalAll();
            return taken;
        } finally {
            lock.unlock();
        }
    }

    private void writeBatch(List<byte[]> batch) throws IOException {
        long index = durableIndex;
        for (byte[] entry : batch) {
            if (writeOffset + buffer.position() + Frames.size(entry.length) + Frames.HEADER_BYTES
                    > options.segmentBytes()) {
                flush();
                disk.sync(channel);
                announce(index);
                roll(index + 1);
            }
            put(Frames.ENTRY, ++index, entry);
        }
        flush();
        disk.sync(channel);
        announce(index);
    }

    private void put(int kind, long index, byte[] payload) throws IOException {
        int bytes = Frames.size(payload.length);
        long back = index - durableIndex - 1;
        if (bytes > buffer.capacity()) {
            flush();
            ByteBuffer large = ByteBuffer.allocate(bytes);
            Frames.put(large, kind, index, back, payload);
            disk.write(channel, large.flip(), writeOffset);
            writeOffset += bytes;
            return;
        }
        if (bytes > buffer.remaining()) {
            flush();
        }
        Frames.put(buffer, kind, index, back, payload);
    }

    private void flush() throws IOException {
        int bytes = buffer.flip().remaining();
        disk.write(channel, buffer, writeOffset);
        writeOffset += bytes;
        buffer.clear();
    }

    private void roll(long firstIndex) throws IOException {
        Path prepared = supply.take();
        Segment next = Segment.begin(prepared, directory, options.clusterId(), firstIndex, disk);
        supply.more();
        channel.close();
        channel = FileChannel.open(next.file(), StandardOpenOption.WRITE);
        writeOffset = Frames.FILE_HEADER_BYTES;
        lock.lock();
        try {
            segments.add(next);
        } finally {
            lock.unlock();
        }
    }

    private void announce(long index) {
        List<Waiter> done = new ArrayList<>();
        List<LongConsumer> listeners;
        lock.lock();
        try {
            if (failure != null) {
                return; // ended meanwhile: the callers have been told
            }
            durableIndex = index;
            while (!waiters.isEmpty() && waiters.peek().index <= index) {
                done.add(waiters.poll());
            }
            listeners = List.copyOf(durableListeners);
        } finally {
            lock.unlock();
        }
        for (LongConsumer listener : listeners) {
            listener.accept(index);
        }
        for (Waiter waiter : done) {
            waiter.future.complete(index);
        }
    }

    /**
     * Fails the journal from outside: its owner may not write any more. Entries that are not durable yet are dropped.
     */
    void end(JournalException reason) {
        fail(reason);
        lock.lock();
        try {
            closing = true;
            queue.clear();
            notEmpty.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void fail(JournalException e) {
        List<Waiter> lost;
        List<Consumer<JournalException>> listeners;
        lock.lock();
        try {
            if (failure != null) {
                return;
            }
            failure = e;
            lost = List.copyOf(waiters);
            waiters.clear();
            notFull.signalAll();
            listeners = List.copyOf(failureListeners);
        } finally {
            lock.unlock();
        }
        options.log().accept(e.getMessage());
        for (Waiter waiter : lost) {
            waiter.future.completeExceptionally(e);
        }
        for (Consumer<JournalException> listener : listeners) {
            listener.accept(e);
        }
    }

    @Override
    public long lastIndex() {
        lock.lock();
        try {
            return lastIndex;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long durableIndex() {
        return durableIndex;
    }

    @Override
    public long firstIndex() {
        lock.lock();
        try {
            return segments.getFirst().firstIndex();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onDurable(LongConsumer listener) {
        lock.lock();
        try {
            durableListeners.add(listener);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onFailure(Consumer<JournalException> listener) {
        JournalException happened;
        lock.lock();
        try {
            failureListeners.add(listener);
            happened = failure;
        } finally {
            lock.unlock();
        }
        if (happened != null) {
            listener.accept(happened);
        }
    }

    @Override
    public CompletableFuture<Long> durable(long index) {
        CompletableFuture<Long> future = new CompletableFuture<>();
        lock.lock();
        try {
            if (index <= durableIndex) {
                future.complete(durableIndex);
            } else if (failure != null) {
                future.completeExceptionally(failure);
            } else {
                waiters.add(new Waiter(index, future));
            }
        } finally {
            lock.unlock();
        }
        return future;
    }

    @Override
    public long replay(long fromIndex, EntryConsumer consumer) {
        long to = durableIndex;
        List<Segment> held;
        lock.lock();
        try {
            held = List.copyOf(segments);
        } finally {
            lock.unlock();
        }
        if (fromIndex < held.getFirst().firstIndex()) {
            throw new JournalException("entry " + fromIndex + " is no longer held in " + directory + "; the oldest is "
                    + held.getFirst().firstIndex());
        }
        long last = fromIndex - 1;
        for (int i = 0; i < held.size(); i++) {
            boolean passed = i + 1 < held.size() && held.get(i + 1).firstIndex() <= fromIndex;
            if (!passed && held.get(i).firstIndex() <= to) {
                last = Math.max(last, read(held.get(i), fromIndex, to, consumer));
            }
        }
        if (last < to) {
            throw new JournalException("entry " + (last + 1) + " cannot be read again from " + directory);
        }
        return last;
    }

    private static long read(Segment segment, long from, long to, EntryConsumer consumer) {
        try {
            return segment.read(from, to, consumer);
        } catch (IOException e) {
            throw new UncheckedIOException(segment.file() + ": " + ErrorSentence.of(e), e);
        }
    }

    @Override
    public Optional<Snapshot> latestSnapshot() {
        lock.lock();
        try {
            return snapshot.map(s -> s);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void writeSnapshot(long index, Iterator<byte[]> items) {
        requireAlive();
        if (index > durableIndex) {
            throw new IllegalArgumentException("snapshot at " + index + " is ahead of durable " + durableIndex);
        }
        try {
            SnapshotFile written = SnapshotFile.write(directory, options.clusterId(), index, items, disk);
            Optional<SnapshotFile> useless;
            lock.lock();
            try {
                // the newest counts, whichever is finished last
                boolean late = snapshot.filter(s -> s.index() > index).isPresent();
                useless = late ? Optional.of(written) : snapshot.filter(s -> s.index() < index);
                snapshot = late ? snapshot : Optional.of(written);
            } finally {
                lock.unlock();
            }
            if (useless.isPresent()) {
                Files.deleteIfExists(useless.get().file());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write a snapshot into " + directory + ": " + ErrorSentence.of(e), e);
        }
    }

    @Override
    public void retainFrom(LongSupplier lowestNeeded) {
        lock.lock();
        try {
            this.lowestNeeded = lowestNeeded;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long truncateBefore(long index) {
        if (failure != null) {
            return firstIndex(); // its files may be another writer's
        }
        List<Path> gone = new ArrayList<>();
        long first;
        lock.lock();
        try {
            long covered = snapshot.isPresent() ? snapshot.get().index() + 1 : 0;
            long limit = Math.min(Math.min(index, covered), lowestNeeded.getAsLong());
            while (segments.size() > 1) {
                Segment oldest = segments.removeFirst();
                if (segments.getFirst().firstIndex() > limit) {
                    segments.addFirst(oldest);
                    break;
                }
                gone.add(oldest.file());
            }
            first = segments.getFirst().firstIndex();
        } finally {
            lock.unlock();
        }
        try {
            // Oldest first: a crash in between leaves no hole.
            for (Path file : gone) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove a segment: " + ErrorSentence.of(e), e);
        }
        return first;
    }

    @Override
    public Optional<RepairReport> repair() {
        return repair;
    }

    @Override
    public boolean spaceLow() {
        return supply.low();
    }

    /** Writes what is queued, seals the log and lets the directory go. */
    @Override
    public void close() {
        lock.lock();
        try {
            closing = true;
            notEmpty.signalAll();
            notFull.signalAll();
        } finally {
            lock.unlock();
        }
        supply.hurry();
        boolean interrupted = false;
        while (writer.isAlive()) {
            try {
                writer.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        supply.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            directoryLock.close();
        } catch (IOException e) {
            throw new UncheckedIOException(directory + ": " + ErrorSentence.of(e), e);
        }
    }
}
