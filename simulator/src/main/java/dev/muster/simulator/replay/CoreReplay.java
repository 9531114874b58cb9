package dev.muster.simulator.replay;

import static java.util.Objects.requireNonNull;

import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.options.SchedulingOptions;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.api.JobMessages.SubmitReply;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.scheduler.Scheduler;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * A trace through the real core and its scheduler: jobs are submitted, started by passes over the queue and reported by
 * their nodes. Limits must be whole minutes ({@link Trace#wholeMinutes}), as Slurm's are.
 */
final class CoreReplay {
    private static final long BASE_S = 1_000_000;
    private static final int SECONDS_PER_MINUTE = 60;
    private static final int FIRST_UID = 1000;
    private static final int STARTS_MAX = 10_000;

    private final Core core = new Core(new Scheduler().withoutConnections().withoutPlans());
    private final Trace trace;
    private final long[] startS;
    /** Jobs of the trace by their number here. */
    private final Map<Integer, Integer> indices = new HashMap<>();

    private final PriorityQueue<End> ends =
            new PriorityQueue<>(Comparator.comparingLong(End::atS).thenComparingInt(End::jobId));
    private long nowS;
    private int waiting;
    private int deepest;

    private record End(long atS, int jobId) {}

    private static Node.Spec spec(int order, int cpus) {
        String name = "n" + order;
        return new Node.Spec(
                name,
                name,
                name,
                1,
                cpus,
                1,
                1,
                cpus,
                1,
                cpus,
                1,
                1000,
                0,
                0,
                List.of(),
                1,
                List.of(),
                IndexSet.empty(),
                "UNKNOWN",
                "",
                order);
    }

    private static PartitionInfo partitionInfo() {
        Json.Obj info = new Json.Obj()
                .put("name", "p")
                .put("isDefault", true)
                .put("state", "UP")
                .put("maxTimeMin", -1L)
                .put("maxNodes", -1L)
                .put("maxCpusPerNode", -1L)
                .put("overTimeLimitMin", -1L)
                .put("priorityTier", 1L)
                .put("allowGroups", "ALL")
                .put("allowAccounts", "ALL")
                .put("allowQos", "ALL")
                .put("allocNodes", "ALL")
                .put("overSubscribe", "NO");
        return Codec.bind(info, PartitionInfo.class);
    }

    /** @param cpusPerNode of the machine's equal nodes */
    CoreReplay(Trace trace, int cpusPerNode, Policy policy) {
        this.trace = trace;
        this.startS = new long[trace.jobs().size()];
        Json.Obj options = new Json.Obj();
        switch (policy) {
            case FCFS -> options.put(SchedulingOptions.IN_ORDER, "yes");
            case EASY, SHORT, EXPECTED, SLOWDOWN -> options.put("muster_backfill", policy.word());
            case CONSERVATIVE ->
                throw new IllegalArgumentException("conservative is for the fast replay: the product has no such word");
        }
        Json.Obj settings = new Json.Obj()
                .put("clusterName", "replay")
                .put("memoryConsumed", false)
                .put("maxJobCount", 10_000_000L)
                .put("maxJobId", 60_000_000L)
                .put("maxArraySize", 1001L)
                .put("maxStepCount", 100L)
                .put("firstJobId", 1L)
                .put("enforcePartLimits", "NO")
                .put("minJobAgeS", 0L)
                .put("options", options);
        List<Node.Spec> nodes = new ArrayList<>();
        for (int i = 0; i * cpusPerNode < trace.cpus(); i++) {
            nodes.add(spec(i, cpusPerNode));
        }
        Partition partition = new Partition(
                partitionInfo(), nodes.stream().map(Node.Spec::name).toList());
        run(new Command.ApplyConfig(Codec.bind(settings, Settings.class), nodes, List.of(partition)));
        for (Node.Spec n : nodes) {
            run(new Command.RegisterNode(new NodeMessages.Register(
                    n.name(),
                    "replay",
                    "boot",
                    "1",
                    0,
                    new NodeMessages.Hardware(n.cpus(), 1, 1, n.cpus(), 1, n.memoryMb(), 0, "", "", "", 0),
                    List.of(),
                    "",
                    "")));
        }
    }

    /** Returns when each job of the trace started, in seconds of its time. */
    long[] replay() {
        int next = 0;
        List<Trace.Job> jobs = trace.jobs();
        while (next < jobs.size() || !ends.isEmpty()) {
            long arrival = next < jobs.size() ? jobs.get(next).submitS() : Long.MAX_VALUE;
            nowS = Math.min(arrival, ends.isEmpty() ? Long.MAX_VALUE : ends.peek().atS);
            while (!ends.isEmpty() && ends.peek().atS == nowS) {
                end(ends.poll().jobId);
            }
            while (next < jobs.size() && jobs.get(next).submitS() == nowS) {
                submit(next++);
            }
            deepest = Math.max(deepest, waiting);
            schedule();
        }
        return startS;
    }

    int deepest() {
        return deepest;
    }

    private void submit(int index) {
        Trace.Job job = trace.jobs().get(index);
        Json.Obj desc = new Json.Obj()
                .put("kind", "ALLOCATION")
                .put("request", new Json.Obj().put("tasks", (long) job.cpus()))
                .put("timing", new Json.Obj().put("timeLimitMin", job.limitS() / SECONDS_PER_MINUTE))
                .put(
                        "owner",
                        new Json.Obj().put("uid", (long) FIRST_UID + job.user()).put("user", "u" + job.user()))
                .put("payload", new Json.Obj().put("submitHost", "replay"));
        Decision.Accepted a = run(new Command.SubmitJob(
                FIRST_UID + job.user(), Codec.bind(desc, JobDesc.class), "", Bytes.EMPTY, Bytes.EMPTY, false, false));
        indices.put(((SubmitReply) a.reply()).jobId(), index);
        waiting++;
    }

    private void end(int id) {
        Job job = core.state().jobs().at(id);
        run(new Command.CompleteAllocation(job.desc().owner().uid(), id, ExitStatus.NONE));
        for (String node : job.run().allocation().nodeNames()) {
            run(new Command.Report(node, new NodeMessages.JobDone(1, id, job.attempt(), "")));
        }
    }

    private void schedule() {
        Decision.Accepted a = run(new Command.Schedule(STARTS_MAX));
        a.changes().stream()
                .filter(c -> c instanceof dev.muster.core.state.Change.JobStarted)
                .map(c -> (dev.muster.core.state.Change.JobStarted) c)
                .forEach(c -> {
                    int index = requireNonNull(indices.remove(c.jobId()), "a job starts once");
                    startS[index] = nowS;
                    ends.add(new End(nowS + trace.jobs().get(index).runS(), c.jobId()));
                    waiting--;
                });
    }

    private Decision.Accepted run(Command command) {
        long ms = (BASE_S + nowS) * 1000;
        DecisionTime now = new DecisionTime(ms, ms);
        if (!(core.decide(command, now) instanceof Decision.Accepted a)) {
            throw new IllegalStateException("refused: " + command + " " + core.decide(command, now));
        }
        if (!a.changes().isEmpty()) {
            core.apply(
                    new Entry(now.tickMs(), now.timeMs(), 0, command.getClass().getSimpleName(), a.changes()));
        }
        return a;
    }
}
