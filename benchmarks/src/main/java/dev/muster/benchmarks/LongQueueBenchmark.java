package dev.muster.benchmarks;

import dev.muster.controller.engine.Recovery;
import dev.muster.controller.engine.StateReset;
import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.options.SlurmConfOptions;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.journal.FileJournal;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobDesc;
import dev.muster.scheduler.Scheduler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

/**
 * What a long queue costs: heap per pending job, recovery from journal and from snapshot, one pass over the whole
 * queue. Usage: LongQueueBenchmark [JOBS]. Not a unit test.
 */
public final class LongQueueBenchmark {
    private LongQueueBenchmark() {}

    public static void main(String[] args) throws Exception {
        int jobs = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
        Path dir = Files.createTempDirectory("queue-bench");
        FileJournal journal = FileJournal.open(dir, FileJournal.Options.of(UUID.randomUUID(), s -> {}));
        Core core = new Core(new Scheduler().withoutConnections());
        run(core, journal, new Command.ApplyConfig(settings(), nodes(), List.of(partition())), 0);
        long before = usedHeap();
        long start = System.nanoTime();
        for (int i = 0; i < jobs; i++) {
            run(core, journal, new Command.SubmitJob(1000, desc(i), "", Bytes.EMPTY, Bytes.EMPTY, false, false), i);
        }
        journal.durable(journal.lastIndex()).join();
        System.out.printf(
                "submit    %d separate jobs: %.0f jobs/s decided, applied, journalled%n",
                jobs, jobs / ((System.nanoTime() - start) / 1e9));
        System.out.printf(
                "heap      %.0f bytes per pending job (state and index)%n", (usedHeap() - before) / (double) jobs);
        start = System.nanoTime();
        core.planner().starts(core.state(), new DecisionTime(0, 0), 100);
        System.out.printf(
                "pass      %.1f ms over the whole queue, nodes full (first)%n", (System.nanoTime() - start) / 1e6);
        for (int i = 0; i < 5; i++) {
            start = System.nanoTime();
            core.planner().starts(core.state(), new DecisionTime(0, 0), 100);
        }
        System.out.printf(
                "pass      %.1f ms over the whole queue, nodes full (warm)%n", (System.nanoTime() - start) / 1e6);
        journal.close();
        recover(dir, "journal", jobs);
        FileJournal again = FileJournal.open(
                dir, FileJournal.Options.of(FileJournal.clusterIdOf(dir).orElseThrow(), s -> {}));
        start = System.nanoTime();
        again.writeSnapshot(again.lastIndex(), Recovery.items(core.state()));
        System.out.printf("snapshot  %.0f ms to write%n", (System.nanoTime() - start) / 1e6);
        again.truncateBefore(again.lastIndex());
        again.close();
        recover(dir, "snapshot", jobs);
        StateReset.wipe(dir);
    }

    private static void recover(Path dir, String from, int jobs) {
        long start = System.nanoTime();
        FileJournal journal = FileJournal.open(
                dir, FileJournal.Options.of(FileJournal.clusterIdOf(dir).orElseThrow(), s -> {}));
        State state = Recovery.of(journal, (hash, content) -> {}).state();
        Core core = new Core(new Scheduler().withoutConnections());
        core.reset(state);
        System.out.printf(
                "restart   %.0f ms to recover %d jobs from the %s%n",
                (System.nanoTime() - start) / 1e6, state.jobs().size(), from);
        if (state.jobs().size() != jobs) {
            throw new IllegalStateException("jobs are missing");
        }
        journal.close();
    }

    private static void run(Core core, FileJournal journal, Command command, int i) {
        DecisionTime now = new DecisionTime(i, 1_800_000_000_000L + i);
        if (!(core.decide(command, now) instanceof Decision.Accepted a)) {
            throw new IllegalStateException("refused: " + core.decide(command, now));
        }
        Entry entry =
                new Entry(now.tickMs(), now.timeMs(), 0, command.getClass().getSimpleName(), a.changes());
        core.apply(entry);
        journal.append(entry.encode());
    }

    private static long usedHeap() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(100);
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static JobDesc desc(int i) {
        Identity owner = new Identity(1000, 1000, "u", "g", List.of(1000), "/home/u", "/bin/bash");
        Json.Obj d = new Json.Obj()
                .put("kind", "BATCH")
                .put("name", "job" + i)
                .put("request", new Json.Obj().put("tasks", 1L + i % 4).put("nodesMin", 1L))
                .put("timing", new Json.Obj().put("timeLimitMin", 5L + i % 1000))
                .put(
                        "files",
                        new Json.Obj().put("workDir", Bytes.of("/home/u/work").base64()))
                .put(
                        "payload",
                        new Json.Obj()
                                .put("submitPid", 1000L + i)
                                .put("submitHost", "login")
                                .put("umask", 18L)
                                .put(
                                        "submitLine",
                                        Bytes.of("sbatch --wrap=true").base64())
                                .put("scriptHash", "a".repeat(64))
                                .put("envHash", "b".repeat(64)));
        return Codec.bind(d, JobDesc.class).withOwner(owner);
    }

    private static Settings settings() {
        Settings s = Settings.DEFAULT;
        return new Settings(
                "bench",
                0,
                1,
                s.maxJobId(),
                Integer.MAX_VALUE,
                4_000_001,
                false,
                0,
                0,
                0,
                0,
                30,
                300,
                0,
                1,
                300,
                10,
                40000,
                512,
                true,
                "NO",
                false,
                false,
                true,
                false,
                List.of(),
                SlurmConfOptions.NONE);
    }

    private static List<Node.Spec> nodes() {
        List<Node.Spec> out = new java.util.ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            out.add(new Node.Spec(
                    "n" + i,
                    "n" + i,
                    "n" + i,
                    1,
                    8,
                    1,
                    1,
                    8,
                    1,
                    8,
                    1,
                    64000,
                    0,
                    0,
                    List.of(),
                    1,
                    List.of(),
                    IndexSet.empty(),
                    "UNKNOWN",
                    "",
                    i));
        }
        return out;
    }

    private static Partition partition() {
        Json.Obj info = new Json.Obj()
                .put("name", "p")
                .put("isDefault", true)
                .put("state", "UP")
                .put("maxTimeMin", -1L)
                .put("maxNodes", -1L)
                .put("overSubscribe", "NO")
                .put("allowGroups", "ALL");
        return new Partition(
                Codec.bind(info, PartitionInfo.class),
                nodes().stream().map(Node.Spec::name).toList());
    }
}
