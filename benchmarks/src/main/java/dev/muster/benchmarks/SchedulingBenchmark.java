package dev.muster.benchmarks;

import com.sun.management.ThreadMXBean;
import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.scheduler.Scheduler;
import dev.muster.scheduler.forecast.ForecastBuilder;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * What passes and plans cost: a full cluster of nodes of six kinds with a long queue, plain and with limits, licenses,
 * a topology and preemption on. Prints one table, milliseconds of the thread's CPU and by the clock: passes that keep
 * the places of none, 100 or 1000 jobs and start what can start, with what they remember and without; a plan of the
 * whole queue; and how long it takes from a job's end until others are decided on. Usage: SchedulingBenchmark [JOBS
 * [NODES [MIX,... [TIMES [on|off|each [EVENTS [PLACES]]]]]]]; mixes are hpc, arr (50 different requests) and uniq (all
 * different); on, off or each: limits, preemption, licenses, topology (and features), 1000 reservations (of users,
 * flexible, of maintenance to come, daily), or some joined by +. The mix limits is what checking limits costs: the same
 * queue with limits of every kind at each association and QOS that hold no job back, enforced and not, in turns. Not a
 * unit test.
 */
public final class SchedulingBenchmark {
    private static final Set<String> EVERYTHING =
            Set.of("limits", "preemption", "licenses", "topology", "reservations");
    private static final int RESERVATIONS = 1000;
    private static final int TEMPLATES = 1800;
    /**
     * Length of a queue above which each job has its own description, as in slurmctld, so that the heap is comparable.
     */
    private static final int ALIKE_MAX = 200_000;
    /** Passes at most before the measurement: with preemption each pass may start another job. */
    private static final int SETTLE_MAX = 40;
    /** Events between two plans. The first hundred have a row of their own, because their code is not compiled yet. */
    private static final int EVENTS_OF_PLAN = 100;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Random random = new Random(7);
    private final Scheduler scheduler = new Scheduler().withoutConnections();
    private final Core core = new Core(scheduler);
    private final List<Node.Spec> nodes = new ArrayList<>();
    private final List<JobDesc> templates = new ArrayList<>();
    private long ms = 1_000_000_000L;
    /** Jobs whose places are kept while events are measured. */
    private int eventPlaces = 100;

    private SchedulingBenchmark(int nodeCount, Set<String> features) {
        this(nodeCount, features, enforced(features), BenchmarkCluster.policy(nodeCount));
    }

    /** The value of AccountingStorageEnforce that the features need. */
    private static String enforced(Set<String> features) {
        if (features.contains("limits")) {
            return "associations,limits,qos";
        }
        return features.contains("preemption") ? "associations,qos" : "";
    }

    private static String partition(boolean gpu, boolean big) {
        if (gpu) {
            return "gpu";
        }
        return big ? "big" : "main";
    }

    /** @param dice from 0: high is rare, low is the next rarest */
    private static String qos(int dice) {
        if (dice == 0) {
            return "high";
        }
        return dice < 5 ? "low" : "normal";
    }

    private SchedulingBenchmark(int nodeCount, Set<String> features, String enforced, Policy policy) {
        for (int i = 0; i < nodeCount; i++) {
            nodes.add(BenchmarkCluster.node(i));
        }
        Json.Obj options = new Json.Obj();
        if (!enforced.isEmpty()) {
            options.put("accounting_enforce", enforced);
        }
        if (features.contains("licenses")) {
            options.put("licenses", "fluent:500,matlab:2000");
        }
        if (features.contains("slowdown")) {
            options.put("muster_backfill", "slowdown");
        }
        if (features.contains("preemption")) {
            options.put("preempt_type", "preempt/qos").put("preempt_mode", "REQUEUE");
        }
        Json.Obj settings = new Json.Obj()
                .put("clusterName", "bench")
                .put("memoryConsumed", true)
                .put("maxJobCount", 10_000_000L)
                .put("maxJobId", 60_000_000L)
                .put("maxArraySize", 100_001L)
                .put("maxStepCount", 100L)
                .put("firstJobId", 1L)
                .put("enforcePartLimits", "NO")
                .put("minJobAgeS", 300L)
                .put("requeueJobs", true)
                .put("gresTypes", new ArrayList<Object>(List.of("gpu")))
                .put("options", options);
        if (features.contains("topology")) {
            settings.put(
                    "topologies",
                    new ArrayList<Object>(List.of(Json.object(Codec.encode(BenchmarkCluster.tree(nodes))))));
        }
        List<Partition> partitions = List.of(
                BenchmarkCluster.partition("main", 1, nodes, n -> true),
                BenchmarkCluster.partition("gpu", 1, nodes, n -> !n.gres().isEmpty()),
                BenchmarkCluster.partition("big", 1, nodes, n -> n.memoryMb() > 1_000_000),
                BenchmarkCluster.partition("urgent", 2, nodes, n -> true));
        run(new Command.ApplyConfig(Codec.bind(settings, Settings.class), nodes, partitions));
        if (!enforced.isEmpty()) {
            run(new Command.ApplyPolicy(policy));
        }
        for (Node.Spec n : nodes) {
            run(new Command.RegisterNode(new NodeMessages.Register(
                    n.name(),
                    "bench",
                    "boot",
                    "1",
                    0,
                    new NodeMessages.Hardware(
                            n.cpus(), 1, n.sockets(), n.coresPerSocket(), 1, n.memoryMb(), 0, "", "", "", 0),
                    List.of(),
                    "",
                    "")));
        }
    }

    /** One pass over the same queue, with limits enforced and without: both are there, and take turns. */
    private static void limits(int jobs, int nodeCount, int times) {
        String[] enforced = {"associations,qos", "associations,limits,qos"};
        SchedulingBenchmark[] both = new SchedulingBenchmark[enforced.length];
        for (int i = 0; i < both.length; i++) {
            both[i] = new SchedulingBenchmark(nodeCount, Set.of(), enforced[i], BenchmarkCluster.generous());
            both[i].charged = true;
            both[i].occupy(EVERYTHING);
            both[i].queue(jobs, "hpc", Set.of());
            both[i].settle();
        }
        String[] what = {"a second later", "a job has ended"};
        double[][][] cpu = new double[what.length][both.length][times];
        for (int t = -5; t < times; t++) {
            for (int w = 0; w < what.length; w++) {
                for (int i = 0; i < both.length; i++) {
                    both[i].ms += 1000;
                    both[i].core.apply(new Entry(both[i].ms, both[i].ms, 0, "time", List.of()));
                    if (t == -5 && w == 0) {
                        both[i].run(new Command.Tick());
                    }
                    if (w == 1) {
                        both[i].endOne();
                    }
                    double ms = both[i].pass().cpuMs;
                    if (t >= 0) {
                        cpu[w][i][t] = ms;
                    }
                }
            }
        }
        for (int w = 0; w < what.length; w++) {
            Arrays.stream(cpu[w]).forEach(Arrays::sort);
            System.out.printf(
                    Locale.ROOT,
                    "a pass over %d jobs that wait, %s: %.2f ms of CPU without limits, %.2f with limits of every kind,"
                            + " %.3f times%n",
                    jobs,
                    what[w],
                    cpu[w][0][times / 2],
                    cpu[w][1][times / 2],
                    cpu[w][1][times / 2] / cpu[w][0][times / 2]);
        }
    }

    /** The first that runs on one node ends. */
    private void endOne() {
        for (Job job : core.state().jobs().values()) {
            if (job.state().isActive() && job.run().allocation().nodes().size() == 1) {
                end(job);
                return;
            }
        }
    }

    private void end(Job job) {
        run(new Command.CompleteAllocation(0, job.id(), ExitStatus.NONE));
        for (String node : job.run().allocation().nodeNames()) {
            run(new Command.Report(node, new NodeMessages.JobDone(1, job.id(), job.attempt(), "")));
        }
    }

    /** 35 % one core, 25 % part of a node, 30 % whole nodes, 3 % wide, 6 % GPUs, 1 % large memory. */
    private Json.Obj request() {
        int dice = random.nextInt(100);
        Json.Obj r = new Json.Obj();
        if (dice < 35) {
            return r.put("tasks", 1L).put("memPerCpuMb", 1000L * (1 + random.nextInt(8)));
        } else if (dice < 60) {
            return r.put("tasks", 2L + random.nextInt(40))
                    .put("nodesMin", 1L)
                    .put("nodesMax", 1L)
                    .put("memPerCpuMb", 1000L + random.nextInt(3000));
        } else if (dice < 90) {
            long n = Math.min(nodes.size(), 1L << random.nextInt(7));
            return r.put("nodesMin", n).put("nodesMax", n).put("tasks", n).put("exclusive", "NODE");
        } else if (dice < 93) {
            long n = Math.min(nodes.size(), 65 + random.nextInt(700));
            return r.put("nodesMin", n).put("nodesMax", n).put("tasks", n).put("exclusive", "NODE");
        } else if (dice < 99) {
            return r.put("tasks", 1L)
                    .put("tresPerNode", "gres/gpu:" + (1 + random.nextInt(4)))
                    .put("cpusPerTask", 4L + random.nextInt(12));
        }
        return r.put("tasks", 1L)
                .put("memPerNodeMb", 600_000L + 100_000L * random.nextInt(20))
                .put("cpusPerTask", 16L);
    }

    private JobDesc desc(Set<String> features) {
        Json.Obj request = request();
        boolean gpu = request.toString().contains("gpu");
        boolean big = request.toString().contains("memPerNodeMb");
        if (features.contains("licenses") && !gpu && random.nextInt(10) == 0) {
            request.put("licenses", random.nextBoolean() ? "fluent" : "matlab:2");
        }
        if (features.contains("topology") && !gpu && !big && random.nextInt(5) == 0) {
            String half = random.nextBoolean() ? "old" : "fast";
            if (request.number("nodesMin") <= nodes.size() / 2) {
                request.put("features", half);
            }
        }
        Json.Obj d = new Json.Obj()
                .put("kind", "BATCH")
                .put("partition", partition(gpu, big))
                .put("name", "job")
                .put("request", request)
                .put("timing", new Json.Obj().put("timeLimitMin", 10L << random.nextInt(10)))
                .put("files", new Json.Obj().put("workDir", Bytes.of("/home").base64()))
                .put(
                        "payload",
                        new Json.Obj()
                                .put("submitHost", "login")
                                .put("scriptHash", "a".repeat(64))
                                .put("envHash", "b".repeat(64)));
        return Codec.bind(d, JobDesc.class);
    }

    /** Jobs have accounts and QOS though there is nothing else on. */
    private boolean charged;

    private JobDesc owned(JobDesc desc, Set<String> features) {
        int u = random.nextInt(BenchmarkCluster.USERS);
        int dice = random.nextInt(20);
        dev.muster.model.Identity owner =
                new dev.muster.model.Identity(1000 + u, 100, "u" + u, "g", List.of(100), "/home", "/bin/sh");
        JobDesc.Charge c = desc.charge();
        JobDesc out = desc.withOwner(owner);
        String qos = qos(dice);
        if (!features.contains("limits") && !features.contains("preemption") && !charged) {
            return out;
        }
        JobDesc.Timing t = out.timing();
        // a preempted job is behind its preemptors in the queue: before them it would start again before they do
        return out.withCharge(new JobDesc.Charge("a" + u / 10, qos, c.wckey(), "", ""))
                .withTiming(
                        !qos.equals("low")
                                ? t
                                : new JobDesc.Timing(
                                        t.timeLimitMin(),
                                        t.timeMinMin(),
                                        t.beginTime(),
                                        t.deadline(),
                                        t.dependency(),
                                        t.array(),
                                        2_000_000,
                                        t.hold(),
                                        t.prioritySet(),
                                        t.priority(),
                                        t.requeue(),
                                        t.killOnInvalidDependency(),
                                        t.delayBootMin(),
                                        t.siteFactor(),
                                        t.expedite()));
    }

    private int submit(JobDesc desc) {
        Decision.Accepted a =
                run(new Command.SubmitJob(desc.owner().uid(), desc, "", Bytes.EMPTY, Bytes.EMPTY, false, false));
        return ((dev.muster.model.api.JobMessages.SubmitReply) a.reply()).jobId();
    }

    /** Jobs on nearly all nodes, each with some hours left; a node in fifty is empty. */
    private void occupy(Set<String> features) {
        JobDesc plain = Codec.bind(
                new Json.Obj()
                        .put("kind", "BATCH")
                        .put("partition", "main")
                        .put("request", new Json.Obj().put("tasks", 1L))
                        .put("timing", new Json.Obj().put("timeLimitMin", 5000L))
                        .put("payload", new Json.Obj().put("submitHost", "login")),
                JobDesc.class);
        for (Node.Spec n : nodes) {
            if (random.nextInt(50) == 0) {
                continue;
            }
            int jobs = 1 + random.nextInt(3);
            int used = random.nextInt(100) < 92 ? n.cpus() : n.cpus() - random.nextInt(n.cpus() / 4);
            for (int j = 0; j < jobs; j++) {
                int from = used * j / jobs;
                int to = used * (j + 1) / jobs;
                Map<String, IndexSet> gres = j == 0 && !n.gres().isEmpty() && random.nextInt(4) > 0
                        ? Map.of("gpu", IndexSet.range(0, n.gres().getFirst().count() - 1, 1))
                        : Map.of();
                int id = load(plain, features);
                int minutes = 1 + random.nextInt(random.nextBoolean() ? 300 : 4000);
                dev.muster.core.state.Allocation.Share share = new dev.muster.core.state.Allocation.Share(
                        n.name(),
                        dev.muster.core.state.Allocation.Agent.SLURMD,
                        "boot",
                        IndexSet.range(from, to - 1, 1),
                        to - from,
                        n.memoryMb() / (jobs + 1),
                        gres,
                        true,
                        false,
                        0);
                loading.add(new Change.JobStarted(
                        id,
                        1,
                        new dev.muster.core.state.Allocation(1, List.of(share)),
                        minutes,
                        ms + minutes * 60_000L,
                        false));
            }
        }
        loaded();
    }

    /**
     * Reserves one node in ten: a quarter each for users now, flexible ones to come, maintenance to come, and daily
     * hours.
     */
    private void reserve(Set<String> features) {
        for (int i = 0; features.contains("reservations") && i < RESERVATIONS; i++) {
            long start = ms / 1000 + (i % 4 == 0 ? 0 : 600L + random.nextInt(300_000));
            String flags = List.of("IGNORE_JOBS", "IGNORE_JOBS,FLEX", "IGNORE_JOBS,MAINT", "IGNORE_JOBS,DAILY")
                    .get(i % 4);
            run(new Command.CreateReservation(
                    0,
                    "r" + i,
                    Map.of(
                            "starttime",
                            Long.toString(start),
                            "duration",
                            Long.toString(i % 4 == 3 ? 7200 : 3600L * (1 + random.nextInt(40))),
                            "nodes",
                            nodes.get(i * nodes.size() / RESERVATIONS).name(),
                            "users",
                            "u" + random.nextInt(BenchmarkCluster.USERS),
                            "flags",
                            flags),
                    Map.of()));
        }
    }

    private void queue(int jobs, String mix, Set<String> features) {
        for (int i = 0; i < TEMPLATES; i++) {
            templates.add(desc(features));
        }
        for (int i = 0; i < jobs; i++) {
            // a few templates are asked for much more often than the others
            int skewed = (int) (TEMPLATES * Math.pow(random.nextDouble(), 3));
            JobDesc d = templates.get(skewed);
            if (mix.equals("uniq") || mix.equals("hpc") && random.nextInt(100) < 15) {
                d = desc(features);
            } else if (mix.equals("arr")) {
                d = templates.get(random.nextInt(50));
            }
            if (jobs > ALIKE_MAX) {
                load(d, features);
            } else {
                submit(owned(d, features));
            }
        }
        loaded();
    }

    /**
     * A million go into the state directly: the first of each description comes through the front door, others are like
     * it but for their owners, and nothing of theirs is anybody else's, as if each had come over the network.
     */
    private int load(JobDesc desc, Set<String> features) {
        Job like = known.get(desc);
        if (like == null) {
            loaded();
            int id = submit(owned(desc, features));
            like = core.state().jobs().at(id);
            known.put(desc, like);
            lastId = like.id();
            lastSluid = like.sluid();
            return id;
        }
        if (loading.size() >= LOAD) {
            loaded();
        }
        JobDesc own = owned(Codec.bind(Json.object(Codec.encode(like.desc())), JobDesc.class), features);
        lastId++;
        lastSluid++;
        int behind = own.timing().nice() - like.desc().timing().nice();
        loading.add(new Change.JobSubmitted(new Job(
                lastId,
                lastSluid,
                Job.Array.NONE,
                own,
                like.state(),
                0,
                like.reason(),
                "",
                Math.max(1, like.priority() + like.sluid() - lastSluid - behind),
                -1,
                ms / 1000,
                ms / 1000,
                0,
                0,
                List.of(),
                Job.Run.NONE,
                Job.Het.NONE,
                0,
                "")));
        return lastId;
    }

    private void loaded() {
        apply("load", List.copyOf(loading));
        loading.clear();
    }

    /** Jobs that are loaded with one entry. */
    private static final int LOAD = 1000;

    private final java.util.IdentityHashMap<JobDesc, Job> known = new java.util.IdentityHashMap<>();
    private final List<Change> loading = new ArrayList<>();
    private int lastId;
    private long lastSluid;

    /** What all of it takes of the heap. */
    private void heap(String name) {
        System.gc();
        Runtime r = Runtime.getRuntime();
        System.out.printf(
                Locale.ROOT,
                "%s: %d jobs, %d nodes, %.2f GB of heap%n",
                name,
                core.state().jobs().size(),
                nodes.size(),
                (r.totalMemory() - r.freeMemory()) / 1e9);
    }

    private Decision.Accepted run(Command command) {
        DecisionTime now = new DecisionTime(ms, ms);
        if (!(core.decide(command, now) instanceof Decision.Accepted a)) {
            throw new IllegalStateException("refused: " + command + " " + core.decide(command, now));
        }
        apply(command.getClass().getSimpleName(), a.changes());
        return a;
    }

    private void apply(String what, List<Change> changes) {
        if (!changes.isEmpty()) {
            core.apply(new Entry(ms, ms, 0, what, changes));
        }
    }

    private record Cost(double wallMs, double cpuMs, int starts) {}

    /** What something costs this thread. */
    private static Cost cost(java.util.function.IntSupplier what) {
        long cpu = THREADS.getCurrentThreadCpuTime();
        long wall = System.nanoTime();
        int starts = what.getAsInt();
        return new Cost((System.nanoTime() - wall) / 1e6, (THREADS.getCurrentThreadCpuTime() - cpu) / 1e6, starts);
    }

    /** A cluster whose nodes are all taken, with a queue of jobs that wait. */
    static SchedulingBenchmark full(int nodes, int jobs, Set<String> features) {
        SchedulingBenchmark out = new SchedulingBenchmark(nodes, features);
        out.charged = true;
        out.occupy(EVERYTHING);
        out.queue(jobs, "hpc", features);
        out.settle();
        return out;
    }

    /** @return jobs that the pass starts */
    int passASecondLater() {
        ms += 1000;
        core.apply(new Entry(ms, ms, 0, "time", List.of()));
        return scheduler.starts(core.state(), new DecisionTime(ms, ms), 100_000).size();
    }

    private Cost pass() {
        return cost(() -> scheduler
                .starts(core.state(), new DecisionTime(ms, ms), 100_000)
                .size());
    }

    /** What it cost to take up what was decided while jobs started. */
    private final List<Cost> applied = new ArrayList<>();

    /** Starts what can start: the passes that are measured are over a queue in which all jobs wait. */
    private List<Cost> settle() {
        List<Cost> out = new ArrayList<>();
        for (boolean all = false; !all && out.size() < SETTLE_MAX; ) {
            List<Change> made = new ArrayList<>();
            out.add(cost(() -> {
                Decision decided = core.decide(new Command.Schedule(100_000), new DecisionTime(ms, ms));
                made.addAll(((Decision.Accepted) decided).changes());
                return (int) made.stream()
                        .filter(c -> c instanceof Change.JobStarted)
                        .count();
            }));
            applied.add(cost(() -> {
                apply("Schedule", made);
                return 0;
            }));
            all = made.isEmpty();
            ms += 10;
            leave();
        }
        return out;
    }

    /** Nodes report those done that had to go. */
    private void leave() {
        for (Job job : List.copyOf(core.state().jobs().values())) {
            if (job.has(dev.muster.model.job.JobFlag.COMPLETING)) {
                for (String node : job.run().allocation().nodeNames()) {
                    run(new Command.Report(node, new NodeMessages.JobDone(1, job.id(), job.attempt(), "")));
                }
            }
        }
    }

    private void print(String name, Cost cold, List<Cost> warm) {
        double[] cpu = warm.stream().mapToDouble(Cost::cpuMs).sorted().toArray();
        double[] wall = warm.stream().mapToDouble(Cost::wallMs).sorted().toArray();
        int n = cpu.length;
        System.out.printf(
                Locale.ROOT,
                "%-44s %9.1f %9.2f %9.2f %9.2f %9.2f %9.2f %7d%n",
                name,
                cold.cpuMs,
                cpu[0],
                cpu[n / 2],
                cpu[(n * 99 - 1) / 100],
                wall[n / 2],
                wall[(n * 99 - 1) / 100],
                warm.stream().mapToInt(Cost::starts).sum());
    }

    private void plan(int places) {
        scheduler.forecasts().offer(scheduler.forecasts().make(core.state(), new DecisionTime(ms, ms), places));
    }

    /** All rows of a queue. */
    private void rows(String name, int times, int events) {
        scheduler.forecasts().elsewhere(true);
        Cost cold = pass();
        plan(100);
        List<Cost> settling = settle();
        print(name + ", until all wait", settling.getFirst(), settling);
        print("  taking up what was decided", applied.getFirst(), applied);
        for (int places : new int[] {0, 100, 1000}) {
            plan(places);
            Cost first = pass();
            settle();
            List<Cost> warm = new ArrayList<>();
            List<Cost> anew = new ArrayList<>();
            for (int i = 0; i < times; i++) {
                warm.add(pass());
                ms += 10;
            }
            for (int i = 0; i < times; i++) {
                scheduler.queue().classes().forgetShort();
                anew.add(pass());
            }
            print(name + ", " + places + " places kept", places == 0 ? cold : first, warm);
            print("  the same, nothing remembered", first, anew);
        }
        List<Cost> plans = new ArrayList<>();
        int[] planned = {0};
        for (int i = 0; i < Math.max(3, times / 5); i++) {
            plans.add(cost(() -> planned[0] = scheduler
                    .forecasts()
                    .make(core.state(), new DecisionTime(ms, ms), 1000)
                    .size()));
        }
        System.out.printf("%s: %d of %d have a planned start%n", name, planned[0], scheduler.queueLength());
        print("  plan of all", plans.getFirst(), plans);
        List<Cost> soon = new ArrayList<>();
        for (int i = 0; i < Math.max(3, times / 5); i++) {
            soon.add(cost(() -> planned[0] = new ForecastBuilder(
                            scheduler.forecasts().input(core.state(), new DecisionTime(ms, ms), 1000))
                    .soon()
                    .size()));
        }
        print("  of that the days that passes go by", soon.getFirst(), soon);
        events(events);
        heap("in the end");
    }

    /** Jobs end, one after the other: how long until those that take their places are decided on. */
    private void events(int events) {
        List<Integer> running = new ArrayList<>();
        core.state().jobs().values().forEach(j -> {
            if (j.holdsNodes() && j.run().allocation().nodes().size() == 1) {
                running.add(j.id());
            }
        });
        java.util.Collections.shuffle(running, random);
        List<Cost> costs = new ArrayList<>();
        List<Cost> fresh = new ArrayList<>();
        for (int i = 0; i < Math.min(events, running.size()); i++) {
            Job job = core.state().jobs().at(running.get(i));
            ms += 10;
            if (i % EVENTS_OF_PLAN == 0) {
                // as slurmctld does: a pass of its own, when the plan is made
                plan(eventPlaces);
                fresh.add(cost(this::started));
                ms += 10;
            }
            costs.add(cost(() -> {
                end(job);
                return started();
            }));
        }
        if (costs.size() > EVENTS_OF_PLAN) {
            print(
                    "  a job ends until others start, the first " + EVENTS_OF_PLAN,
                    costs.getFirst(),
                    costs.subList(0, EVENTS_OF_PLAN));
            print("  and then", costs.getFirst(), costs.subList(EVENTS_OF_PLAN, costs.size()));
            print("  between them: a new plan is taken up", fresh.getFirst(), fresh);
        }
    }

    private int started() {
        return (int) run(new Command.Schedule(1000)).changes().stream()
                .filter(c -> c instanceof Change.JobStarted)
                .count();
    }

    /** The features of each table that the fourth word of the command line asks for. */
    private static List<Set<String>> tables(String word) {
        return switch (word) {
            case "" -> List.of(Set.of(), EVERYTHING);
            case "each" ->
                List.of(
                        Set.of(),
                        Set.of("limits"),
                        Set.of("preemption"),
                        Set.of("licenses"),
                        Set.of("topology"),
                        Set.of("reservations"),
                        EVERYTHING);
            case "on" -> List.of(EVERYTHING);
            case "off" -> List.of(Set.of());
            default -> List.of(Set.of(word.split("\\+")));
        };
    }

    private static String title(Set<String> features) {
        if (features.isEmpty()) {
            return "plain";
        }
        return features.equals(EVERYTHING) ? "everything on" : String.join(" ", features);
    }

    private static int number(String[] args, int i, int absent) {
        return args.length > i ? Integer.parseInt(args[i]) : absent;
    }

    public static void main(String[] args) {
        int jobs = number(args, 0, 100_000);
        int nodeCount = number(args, 1, 10_000);
        String[] mixes = args.length > 2 ? args[2].split(",") : new String[] {"hpc", "arr", "uniq"};
        int times = number(args, 3, 10);
        int events = number(args, 5, 500);
        if (mixes[0].equals("limits")) {
            limits(jobs, nodeCount, times);
            return;
        }
        System.out.printf(
                Locale.ROOT,
                "%-44s %9s %9s %9s %9s %9s %9s %7s%n",
                jobs + " pending, " + nodeCount + " nodes",
                "cold_cpu",
                "min_cpu",
                "med_cpu",
                "p99_cpu",
                "med_wall",
                "p99_wall",
                "starts");
        for (Set<String> features : tables(args.length < 5 ? "" : args[4])) {
            for (String mix : mixes) {
                SchedulingBenchmark bench = new SchedulingBenchmark(nodeCount, features);
                bench.occupy(features);
                bench.reserve(features);
                bench.queue(jobs, mix, features);
                bench.eventPlaces = number(args, 6, bench.eventPlaces);
                bench.heap("in the queue");
                bench.rows(mix + ", " + title(features), times, events);
            }
        }
    }
}
