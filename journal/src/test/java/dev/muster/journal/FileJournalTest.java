package dev.muster.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileJournalTest {
    private static final UUID CLUSTER = new UUID(1, 2);
    private static final int SEGMENT_BYTES = 4096;

    @TempDir
    private Path dir;

    private final List<String> log = new ArrayList<>();

    private FileJournal open() {
        return open(Disk.REAL);
    }

    private FileJournal open(Disk disk) {
        return FileJournal.open(dir, new FileJournal.Options(CLUSTER, SEGMENT_BYTES, log::add), disk);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> read(Journal journal, long from) {
        List<String> found = new ArrayList<>();
        journal.replay(from, (index, entry) -> found.add(index + "=" + new String(entry, StandardCharsets.UTF_8)));
        return found;
    }

    /** Writes entries 1..n, each durable before the next, and dies without sealing. */
    private void writeAndDie(int n) throws Exception {
        try (FileJournal journal = open()) {
            for (int i = 1; i <= n; i++) {
                journal.durable(journal.append(bytes("entry " + i))).get();
            }
        }
        Path last = segments().getLast();
        int seal = offsets(last).getLast();
        overwrite(last, seal, new byte[Frames.HEADER_BYTES]);
    }

    private List<Path> segments() throws IOException {
        try (var files = Files.list(dir)) {
            return files.filter(f -> f.getFileName().toString().endsWith(".log"))
                    .sorted()
                    .toList();
        }
    }

    private static List<Integer> offsets(Path segment) throws IOException {
        var in = java.nio.ByteBuffer.wrap(Files.readAllBytes(segment));
        List<Integer> offsets = new ArrayList<>();
        int at = Frames.FILE_HEADER_BYTES;
        while (Frames.valid(in, at)) {
            offsets.add(at);
            at += Frames.size(Frames.length(in, at));
        }
        return offsets;
    }

    private static void overwrite(Path file, long offset, byte[] with) throws IOException {
        try (RandomAccessFile raf = new RandomAccessFile(file.toFile(), "rw")) {
            raf.seek(offset);
            raf.write(with);
        }
    }

    private static void flip(Path file, long offset) throws IOException {
        try (RandomAccessFile raf = new RandomAccessFile(file.toFile(), "rw")) {
            raf.seek(offset);
            int old = raf.read();
            raf.seek(offset);
            raf.write(old ^ 0x40);
        }
    }

    @Test
    void entriesComeBackInOrderAcrossSegmentsAndRestarts() throws Exception {
        List<String> expected = new ArrayList<>();
        for (int run = 0; run < 3; run++) {
            try (FileJournal journal = open()) {
                assertThat(read(journal, 1)).isEqualTo(expected);
                for (int i = 0; i < 100; i++) {
                    String text = "run " + run + " " + "x".repeat(i);
                    long index = journal.append(bytes(text));
                    expected.add(index + "=" + text);
                }
            }
        }
        assertThat(segments().size()).isGreaterThan(3);
        try (FileJournal journal = open()) {
            assertThat(journal.lastIndex()).isEqualTo(300);
            assertThat(journal.durableIndex()).isEqualTo(300);
            assertThat(read(journal, 251)).isEqualTo(expected.subList(250, 300));
            assertThat(journal.repair()).isEmpty();
        }
        assertThat(FileJournal.clusterIdOf(dir)).contains(CLUSTER);
    }

    @Test
    void aTailTornAtAnyByteIsCutAndReported() throws Exception {
        writeAndDie(5);
        Path segment = segments().getLast();
        byte[] whole = Files.readAllBytes(segment);
        int start = offsets(segment).get(4);
        int used = Frames.lastUsed(java.nio.ByteBuffer.wrap(whole), start);
        for (int keep = start; keep < used; keep++) {
            byte[] torn = whole.clone();
            java.util.Arrays.fill(torn, keep, torn.length, (byte) 0);
            Files.write(segment, torn);
            log.clear();
            try (FileJournal journal = open()) {
                assertThat(journal.lastIndex()).isEqualTo(4);
                boolean bytesLeft = Frames.lastUsed(java.nio.ByteBuffer.wrap(torn), start) > start;
                assertThat(journal.repair().isPresent()).as("cut at %s", keep).isEqualTo(bytesLeft);
                if (bytesLeft) {
                    assertThat(log.getFirst()).contains(segment.toString()).contains("offset " + start);
                }
                assertThat(journal.append(bytes("again"))).isEqualTo(5);
            }
            try (FileJournal journal = open()) {
                assertThat(read(journal, 5)).containsExactly("5=again");
            }
        }
    }

    @Test
    void aFileCutShortLosesOnlyItsTail() throws Exception {
        writeAndDie(5);
        Path segment = segments().getLast();
        byte[] whole = Files.readAllBytes(segment);
        int start = offsets(segment).get(4);
        for (int length = start - 7; length < start + 30; length++) {
            Files.write(segment, java.util.Arrays.copyOf(whole, length));
            try (FileJournal journal = open()) {
                long kept = journal.lastIndex();
                assertThat(kept).isBetween(3L, 4L);
                journal.append(bytes("more"));
            }
            try (FileJournal journal = open()) {
                assertThat(read(journal, journal.lastIndex()))
                        .hasSize(1)
                        .first()
                        .asString()
                        .endsWith("=more");
            }
        }
    }

    @Test
    void anyFlippedByteBeforeTheLastFrameRefuses() throws Exception {
        writeAndDie(6);
        Path segment = segments().getLast();
        List<Integer> offsets = offsets(segment);
        byte[] whole = Files.readAllBytes(segment);
        for (int at = 0; at < offsets.get(5); at++) {
            Files.write(segment, whole);
            if (padding(whole, offsets, at)) {
                continue;
            }
            flip(segment, at);
            assertThatThrownBy(this::open)
                    .as("byte %s", at)
                    .isInstanceOf(JournalException.class)
                    .hasMessageContaining(segment.toString())
                    .hasMessageContaining("offset");
        }
    }

    private static boolean padding(byte[] whole, List<Integer> offsets, int at) {
        for (int start : offsets) {
            int end = start + Frames.HEADER_BYTES + Frames.length(java.nio.ByteBuffer.wrap(whole), start);
            if (at >= end && at < Frames.size(end - start - Frames.HEADER_BYTES) + start) {
                return true;
            }
        }
        return false;
    }

    @Test
    void aSealProvesThatTheLastEntryWasDurable() throws Exception {
        try (FileJournal journal = open()) {
            journal.append(bytes("only"));
        }
        flip(segments().getLast(), Frames.FILE_HEADER_BYTES + Frames.HEADER_BYTES);
        assertThatThrownBy(this::open).hasMessageContaining("shows that it was durable");
    }

    @Test
    void aTornBatchIsCutEvenIfItsLaterPagesReachedTheDisk() throws Exception {
        Gate gate = new Gate();
        FileJournal journal = open(gate);
        journal.durable(journal.append(bytes("first"))).get();
        gate.close();
        journal.append(bytes("blocker"));
        gate.entered.await();
        long last = 0;
        for (int i = 0; i < 5; i++) {
            last = journal.append(bytes("batch " + i));
        }
        CompletableFuture<Long> durable = journal.durable(last);
        gate.open();
        durable.get();
        journal.close();
        Path segment = segments().getLast();
        List<Integer> offsets = offsets(segment);
        overwrite(segment, offsets.getLast(), new byte[Frames.HEADER_BYTES]);
        flip(segment, offsets.get(3) + Frames.HEADER_BYTES);
        try (FileJournal again = open()) {
            assertThat(again.lastIndex()).isEqualTo(3);
            assertThat(again.repair().orElseThrow().offset()).isEqualTo((long) offsets.get(3));
        }
        try (FileJournal again = open()) {
            assertThat(read(again, 1)).containsExactly("1=first", "2=blocker", "3=batch 0");
        }
    }

    @Test
    void aMissingSegmentRefuses() throws Exception {
        try (FileJournal journal = open()) {
            for (int i = 0; i < 300; i++) {
                journal.append(bytes("entry " + i));
            }
        }
        List<Path> files = segments();
        Path middle = files.get(1);
        byte[] held = Files.readAllBytes(middle);
        Files.delete(middle);
        assertThatThrownBy(this::open)
                .hasMessageContaining("segment missing")
                .hasMessageContaining(files.get(0).toString())
                .hasMessageContaining("offset");
        Files.write(middle, held);
        Files.delete(files.get(0));
        assertThatThrownBy(this::open)
                .hasMessageContaining("neither in a snapshot nor before")
                .hasMessageContaining(middle.toString());
    }

    @Test
    void anEmptySegmentRefuses() throws Exception {
        writeAndDie(2);
        Path segment = segments().getLast();
        Files.write(segment, new byte[0]);
        assertThatThrownBy(this::open).hasMessageContaining(segment + " at offset 0");
    }

    @Test
    void anotherClustersJournalRefuses() throws Exception {
        writeAndDie(1);
        assertThatThrownBy(() -> FileJournal.open(dir, FileJournal.Options.of(new UUID(9, 9), log::add)))
                .hasMessageContaining("belongs to cluster " + CLUSTER);
    }

    @Test
    void aSecondHolderIsRefusedByPid() throws IOException {
        try (FileJournal first = open()) {
            assertThat(first.lastIndex()).isZero();
            assertThatThrownBy(this::open)
                    .hasMessage(dir + " is in use by process "
                            + ProcessHandle.current().pid());
            String inode = ":" + Files.getAttribute(dir.resolve(DirectoryLock.FILE_NAME), "unix:ino") + " ";
            assertThat(Files.readString(Path.of("/proc/locks")))
                    .as("the refused one has not dropped the first one's lock")
                    .contains(inode);
        }
        open().close();
    }

    @Test
    void aSecondProcessIsRefusedByPid() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process holder = new ProcessBuilder(
                        java, "-cp", System.getProperty("java.class.path"), HoldLock.class.getName(), dir.toString())
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(holder.inputReader().readLine()).isEqualTo("held");
            assertThatThrownBy(this::open).hasMessage(dir + " is in use by process " + holder.pid());
        } finally {
            holder.destroyForcibly().waitFor();
        }
        open().close();
    }

    /** Holds a journal until it is killed. */
    static final class HoldLock {
        public static void main(String[] args) throws Exception {
            FileJournal.open(Path.of(args[0]), FileJournal.Options.of(CLUSTER, System.err::println));
            System.out.println("held");
            Thread.sleep(60_000);
        }
    }

    @Test
    void oneSyncCoversAllWaitingAppends() throws Exception {
        Gate gate = new Gate();
        try (FileJournal journal = open(gate)) {
            gate.close();
            journal.append(bytes("blocker"));
            gate.entered.await();
            int before = gate.syncs.get();
            List<Long> told = new ArrayList<>();
            journal.onDurable(told::add);
            long last = 0;
            for (int i = 0; i < 20; i++) {
                last = journal.append(bytes("entry " + i));
            }
            assertThat(journal.durableIndex()).isZero();
            CompletableFuture<Long> durable = journal.durable(last);
            assertThat(durable).isNotDone();
            gate.open();
            assertThat(durable.get()).isEqualTo(21);
            assertThat(gate.syncs.get() - before).isEqualTo(1);
            assertThat(told).containsExactly(1L, 21L);
        }
    }

    /** A disk whose sync can be held up, and that counts. */
    private static final class Gate implements Disk {
        final AtomicInteger syncs = new AtomicInteger();
        final CountDownLatch entered = new CountDownLatch(1);
        private volatile CountDownLatch barrier = new CountDownLatch(0);

        void close() {
            barrier = new CountDownLatch(1);
        }

        void open() {
            barrier.countDown();
        }

        @Override
        public void sync(FileChannel channel) throws IOException {
            syncs.incrementAndGet();
            if (barrier.getCount() > 0) {
                entered.countDown();
            }
            try {
                barrier.await(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            channel.force(false);
        }
    }

    @Test
    void aFailedSyncEndsTheJournalAndIsNotRepeated() throws Exception {
        AtomicInteger syncs = new AtomicInteger();
        FileJournal journal = open(new Disk() {
            @Override
            public void sync(FileChannel channel) throws IOException {
                if (syncs.incrementAndGet() > 3) {
                    throw new IOException("Input/output error");
                }
            }
        });
        List<String> failures = new ArrayList<>();
        journal.onFailure(e -> failures.add(e.getMessage()));
        journal.durable(journal.append(bytes("good"))).get();
        CompletableFuture<Long> bad = journal.durable(journal.append(bytes("bad")));
        assertThatThrownBy(bad::get).isInstanceOf(ExecutionException.class).hasMessageContaining("Input/output error");
        assertThatThrownBy(() -> journal.append(bytes("later")))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining(segments().getLast().toString());
        journal.close();
        assertThat(syncs).hasValue(4);
        assertThat(failures).hasSize(1);
        assertThat(journal.durableIndex()).isEqualTo(1);
    }

    /** Errors as the Java library reports them, and the reason that administrators read. */
    private static final Map<Exception, String> REASONS = Map.of(
            new IOException("No space left on device"), "No space left on device",
            new IOException("Disk quota exceeded"), "Disk quota exceeded",
            new FileSystemException("f", null, "Read-only file system"), "f: Read-only file system",
            new ReadOnlyFileSystemException(), "Read-only file system",
            new AccessDeniedException("f"), "f: Permission denied",
            new NoSuchFileException("f"), "f: No such file or directory",
            new FileSystemException("f"), "f: Input/output error",
            new IOException(new IOException("Stale file handle")), "Stale file handle",
            new ClosedByInterruptException(), "closed by interrupt");

    @Test
    void aFailedWriteIsToldByItsReason() {
        for (Map.Entry<Exception, String> e : REASONS.entrySet()) {
            AtomicInteger broken = new AtomicInteger();
            FileJournal journal = open(new Disk() {
                @Override
                public void write(FileChannel channel, java.nio.ByteBuffer bytes, long offset) throws IOException {
                    if (broken.get() == 1 && bytes.limit() != SEGMENT_BYTES) {
                        throwIt(e.getKey());
                    }
                    Disk.super.write(channel, bytes, offset);
                }
            });
            broken.set(1);
            assertThatThrownBy(journal.durable(journal.append(bytes("lost")))::get)
                    .as(e.getValue())
                    .cause()
                    .hasMessageMatching("journal " + dir + "/[^ ]+ at offset [0-9]+: " + e.getValue());
            journal.close();
        }
    }

    @Test
    void aJournalThatCannotBeOpenedIsToldByItsReason() throws IOException {
        for (Map.Entry<Exception, String> e : REASONS.entrySet()) {
            if (e.getKey() instanceof IOException) {
                assertThatThrownBy(() -> open(new Disk() {
                            @Override
                            public void syncDirectory(Path directory) throws IOException {
                                throwIt(e.getKey());
                            }
                        }))
                        .as(e.getValue())
                        .hasMessage("cannot open the journal in " + dir + ": " + e.getValue());
            }
        }
        Path file = Files.createFile(dir.resolve("file"));
        assertThatThrownBy(() -> FileJournal.open(file, new FileJournal.Options(CLUSTER, SEGMENT_BYTES, log::add)))
                .hasMessage("cannot open the journal in " + file + ": " + file + ": File exists");
    }

    private static void throwIt(Exception e) throws IOException {
        if (e instanceof IOException io) {
            throw io;
        }
        throw (RuntimeException) e;
    }

    @Test
    void snapshotAndTailRebuildAndOldSegmentsGo() throws Exception {
        try (FileJournal journal = open()) {
            for (int i = 1; i <= 300; i++) {
                journal.append(bytes("entry " + i));
            }
            journal.durable(300).get();
            journal.writeSnapshot(
                    250,
                    List.of(bytes("a"), bytes("b".repeat(3_000_000)), bytes("c"))
                            .iterator());
            journal.retainFrom(() -> 200);
            assertThat(journal.truncateBefore(251)).isBetween(2L, 200L);
            journal.retainFrom(() -> Long.MAX_VALUE);
            long first = journal.truncateBefore(251);
            assertThat(first).isBetween(201L, 251L);
            assertThatThrownBy(() -> journal.replay(1, (i, e) -> {})).hasMessageContaining("no longer held");
        }
        try (FileJournal journal = open()) {
            Journal.Snapshot snapshot = journal.latestSnapshot().orElseThrow();
            List<Integer> lengths = new ArrayList<>();
            snapshot.read(item -> lengths.add(item.length));
            assertThat(snapshot.index()).isEqualTo(250);
            assertThat(lengths).containsExactly(1, 3_000_000, 1);
            assertThat(read(journal, 251))
                    .hasSize(50)
                    .startsWith("251=entry 251")
                    .endsWith("300=entry 300");
        }
    }

    @Test
    void aDamagedSnapshotRefusesAndIsNeverReplacedByAnOlderOne() throws Exception {
        try (FileJournal journal = open()) {
            journal.durable(journal.append(bytes("one"))).get();
            journal.writeSnapshot(1, List.of(bytes("state one"), bytes("more")).iterator());
        }
        Path snapshot = dir.resolve("snapshot-00000000000000000001.snap");
        byte[] whole = Files.readAllBytes(snapshot);
        for (int at = 0; at < whole.length; at++) {
            Files.write(snapshot, whole);
            flip(snapshot, at);
            if (at >= 97 && whole[at] == 0 && !readFails()) {
                continue; // padding
            }
            assertThatThrownBy(this::readSnapshot)
                    .as("byte %s", at)
                    .isInstanceOf(RuntimeException.class)
                    .hasMessageContaining(snapshot.toString());
        }
        for (int length = 0; length < whole.length; length++) {
            Files.write(snapshot, java.util.Arrays.copyOf(whole, length));
            assertThatThrownBy(this::readSnapshot).as("length %s", length).hasMessageContaining(snapshot.toString());
        }
    }

    @Test
    void newestSnapshotCountsWhateverWasWrittenLast() throws Exception {
        writeAndDie(30);
        try (FileJournal journal = open()) {
            journal.writeSnapshot(20, List.of(bytes("twenty")).iterator());
            journal.writeSnapshot(10, List.of(bytes("ten")).iterator());
            assertThat(journal.latestSnapshot().orElseThrow().index()).isEqualTo(20);
            journal.writeSnapshot(25, List.of(bytes("more")).iterator());
        }
        try (var files = Files.list(dir)) {
            assertThat(files.map(f -> f.getFileName().toString()).filter(n -> n.endsWith(".snap")))
                    .containsExactly("snapshot-00000000000000000025.snap");
        }
    }

    private boolean readFails() {
        try {
            readSnapshot();
            return false;
        } catch (RuntimeException e) {
            return true;
        }
    }

    private void readSnapshot() {
        try (FileJournal journal = open()) {
            journal.latestSnapshot().orElseThrow().read(item -> {});
        }
    }

    @Test
    void aLogThatEndsBeforeItsSnapshotRefuses() throws Exception {
        writeAndDie(3);
        try (FileJournal journal = open()) {
            journal.writeSnapshot(3, List.of(bytes("three")).iterator());
        }
        Path segment = segments().getLast();
        int second = offsets(segment).get(1);
        byte[] whole = Files.readAllBytes(segment);
        java.util.Arrays.fill(whole, second, whole.length, (byte) 0);
        Files.write(segment, whole);
        assertThatThrownBy(this::open)
                .hasMessageContaining("it ends with entry 1")
                .hasMessageContaining("covers entries up to 3");
    }

    @Test
    void anUnknownKindOrVersionRefusesByName() throws Exception {
        writeAndDie(2);
        Path segment = segments().getLast();
        int second = offsets(segment).get(1);
        for (String what : List.of("kind 9", "version 2")) {
            var frame = java.nio.ByteBuffer.allocate(Frames.size(7));
            Frames.put(frame, what.startsWith("kind") ? 9 : Frames.ENTRY, 2, 0, bytes("entry 2"));
            if (what.startsWith("version")) {
                frame.put(8, (byte) 2);
                var crc = new java.util.zip.CRC32C();
                crc.update(frame.array(), 4, Frames.HEADER_BYTES - 4 + 7);
                frame.putInt(0, (int) crc.getValue());
            }
            overwrite(segment, second, frame.array());
            assertThatThrownBy(this::open)
                    .hasMessageContaining("frame " + what)
                    .hasMessageContaining("newer Muster")
                    .hasMessageContaining(segment + " at offset " + second);
        }
    }

    @Test
    void theQueueIsBoundedAndAFullDiskStallsWithoutLoss() throws Exception {
        AtomicInteger full = new AtomicInteger();
        Disk disk = new Disk() {
            @Override
            public void write(FileChannel channel, java.nio.ByteBuffer bytes, long offset) throws IOException {
                if (bytes.limit() == SEGMENT_BYTES && full.get() == 1) {
                    throw new IOException("No space left on device");
                }
                Disk.super.write(channel, bytes, offset);
            }
        };
        try (FileJournal journal = open(disk)) {
            full.set(1);
            CompletableFuture<Long> last = null;
            for (int i = 0; i < 300; i++) {
                last = journal.durable(journal.append(bytes("entry " + i)));
            }
            while (!journal.spaceLow()) {
                Thread.sleep(5);
            }
            assertThat(last).isNotDone();
            full.set(0);
            assertThat(last.get(10, TimeUnit.SECONDS)).isEqualTo(300);
            while (journal.spaceLow()) {
                Thread.sleep(5);
            }
        }
        try (FileJournal journal = open()) {
            assertThat(read(journal, 1)).hasSize(300);
        }
    }

    @Test
    void theCheckedInJournalOfFormatOneIsReplayed() throws Exception {
        Path golden = Path.of(FileJournalTest.class.getResource("/golden/v1").toURI());
        try (var files = Files.list(golden)) {
            for (Path file : files.toList()) {
                Files.copy(file, dir.resolve(file.getFileName()));
            }
        }
        try (FileJournal journal = open()) {
            List<String> items = new ArrayList<>();
            journal.latestSnapshot().orElseThrow().read(item -> items.add(new String(item, StandardCharsets.UTF_8)));
            assertThat(items).containsExactly("state item 0", "state item 1");
            assertThat(journal.latestSnapshot().orElseThrow().index()).isEqualTo(100);
            assertThat(journal.firstIndex()).isGreaterThan(1);
            assertThat(read(journal, 101))
                    .hasSize(20)
                    .startsWith("101=golden entry 101")
                    .endsWith("120=golden entry 120");
        }
    }

    /** Writes the golden journal of the current format; run by hand when the format grows a version. */
    static final class WriteGolden {
        public static void main(String[] args) throws Exception {
            Path to = Path.of(args[0]);
            try (FileJournal journal =
                    FileJournal.open(to, new FileJournal.Options(CLUSTER, SEGMENT_BYTES, System.err::println))) {
                for (int i = 1; i <= 120; i++) {
                    journal.durable(journal.append(bytes("golden entry " + i))).get();
                }
                journal.writeSnapshot(
                        100,
                        List.of(bytes("state item 0"), bytes("state item 1")).iterator());
                journal.truncateBefore(101);
            }
            Files.deleteIfExists(to.resolve(Segment.SPARE));
            Files.deleteIfExists(to.resolve(DirectoryLock.FILE_NAME));
        }
    }
}
