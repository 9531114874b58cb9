package dev.muster.benchmarks;

import dev.muster.journal.Disk;
import dev.muster.journal.FileJournal;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** Prints records and fdatasyncs per second with 1, 8 and 64 writers that each wait for their own record. */
final class JournalBenchmark {
    private static final int ENTRY_BYTES = 256;
    private static final long RUN_NS = 3_000_000_000L;

    private JournalBenchmark() {}

    public static void main(String[] args) throws Exception {
        Path base = Files.createTempDirectory(Path.of(args.length > 0 ? args[0] : "target"), "journal-bench");
        System.out.printf("%8s %12s %14s %10s %10s%n", "writers", "records/s", "fdatasyncs/s", "p50 us", "p99 us");
        for (int writers : new int[] {1, 8, 64}) {
            run(base.resolve("w" + writers), writers);
        }
    }

    private static void run(Path dir, int writers) throws Exception {
        AtomicLong syncs = new AtomicLong();
        Disk disk = new Disk() {
            @Override
            public void sync(FileChannel channel) throws java.io.IOException {
                syncs.incrementAndGet();
                channel.force(false);
            }
        };
        List<List<Long>> times = new ArrayList<>();
        try (FileJournal journal =
                FileJournal.open(dir, FileJournal.Options.of(new UUID(1, 1), System.err::println), disk)) {
            long start = System.nanoTime();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < writers; i++) {
                List<Long> mine = new ArrayList<>();
                times.add(mine);
                threads.add(Thread.ofVirtual().start(() -> {
                    byte[] entry = new byte[ENTRY_BYTES];
                    while (System.nanoTime() - start < RUN_NS) {
                        long begin = System.nanoTime();
                        journal.durable(journal.append(entry)).join();
                        mine.add(System.nanoTime() - begin);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            List<Long> all = new ArrayList<>();
            times.forEach(all::addAll);
            all.sort(null);
            System.out.printf(
                    "%8d %12.0f %14.0f %10d %10d%n",
                    writers,
                    all.size() / seconds,
                    syncs.get() / seconds,
                    all.get(all.size() / 2) / 1000,
                    all.get(all.size() * 99 / 100) / 1000);
        }
    }
}
