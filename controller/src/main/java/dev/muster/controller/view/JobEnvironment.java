package dev.muster.controller.view;

import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.tres.SharedGpus;
import dev.muster.json.Bytes;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.Distribution;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.GpuVariables;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.MpiBootstrap;
import dev.muster.model.job.ResourceRequest;
import dev.muster.model.job.StepId;
import dev.muster.model.job.TresPerTask;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The SLURM_* variables of jobs, steps and tasks. */
public final class JobEnvironment {
    private final State state;
    private final Job job;
    private final Allocation allocation;
    private final Map<String, String> vars = new LinkedHashMap<>();
    /** {@code srun --preserve-env}: what the step's tasks have of srun's environment and not of the step. */
    private static final List<String> PRESERVED =
            List.of("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "SLURM_NPROCS", "SLURM_NTASKS", "SLURM_TASKS_PER_NODE");
    /** SLURM_JOB_END_TIME of a job without a time limit: 365 days after its start. */
    private static final long UNLIMITED_SECONDS = 31_536_000;
    /** SLURM_STEP_ID of a batch script. */
    private static final String BATCH_STEP = "-5";
    /** Submitted variables that jobs do not get. */
    private final Set<String> removed = new HashSet<>();

    private JobEnvironment(State state, Job job) {
        this.state = state;
        this.job = job;
        this.allocation = job.run().allocation();
    }

    /** Returns the variables of an allocation, for all programs in it; salloc sets them for its command, too. */
    static Map<String, String> ofAllocation(State state, Job job) {
        JobEnvironment e = new JobEnvironment(state, job);
        e.job();
        e.components();
        return e.vars;
    }

    /** Variables for prologs and epilogs of nodes, but not for those of slurmctld. */
    private static final List<String> NODE_ONLY =
            List.of("SLURM_NODELIST", "SLURM_JOB_NTASKS", "SLURM_JOB_CORE_SPEC_COUNT", "SLURM_JOB_CORE_SPEC_TYPE");

    /** Returns the variables of prolog and epilog, where nothing is the user's to choose freely. */
    public static List<String> ofHooks(State state, Job job) {
        JobDesc d = job.desc();
        Map<String, String> v = new LinkedHashMap<>();
        v.put("SLURM_JOB_ID", Integer.toString(job.id()));
        v.put("SLURM_JOBID", Integer.toString(job.id()));
        v.put("SLURM_JOB_USER", d.owner().user());
        v.put("SLURM_JOB_SLUID", dev.muster.model.format.Sluid.text(job.shownSluid()));
        v.put("SLURM_JOB_UID", Integer.toString(d.owner().uid()));
        v.put("SLURM_JOB_GID", Integer.toString(d.owner().gid()));
        v.put("SLURM_JOB_GROUP", d.owner().group());
        v.put("SLURM_JOB_NAME", d.name());
        v.put("SLURM_JOB_PARTITION", d.partition());
        v.put("SLURM_JOB_ACCOUNT", d.charge().account());
        v.put("SLURM_JOB_NODELIST", HostListCache.of(job.run().allocation()));
        v.put("SLURM_NODELIST", HostListCache.of(job.run().allocation()));
        v.put(
                "SLURM_JOB_NTASKS",
                Integer.toString(Math.max(
                        1,
                        d.request().tasks() > 0
                                ? d.request().tasks()
                                : d.request().nodesMin())));
        int specialized = d.request().threadSpec() > 0
                ? d.request().threadSpec()
                : d.request().coreSpec();
        v.put("SLURM_JOB_CORE_SPEC_COUNT", Integer.toString(Math.max(0, specialized)));
        v.put("SLURM_JOB_CORE_SPEC_TYPE", d.request().threadSpec() > 0 ? "threads" : "cores");
        v.put(
                "SLURM_JOB_NUM_NODES",
                Integer.toString(job.run().allocation().nodes().size()));
        v.put("SLURM_JOB_START_TIME", Long.toString(job.run().startTime()));
        v.put("SLURM_JOB_WORK_DIR", d.files().workDir().text());
        v.put("SLURM_CLUSTER_NAME", state.settings().clusterName());
        v.put("SLURM_JOB_RESTART_COUNT", Integer.toString(job.restarts()));
        v.put(
                "SLURM_JOB_CPUS_PER_NODE",
                TasksPerNode.text(job.run().allocation().nodes().stream()
                        .map(Allocation.Share::cpus)
                        .toList()));
        v.put("SLURM_JOB_OVERSUBSCRIBE", JobViews.oversubscribe(state, job));
        v.put("SLURM_JOB_EXCLUSIVE", JobViews.exclusiveUse(state, job));
        optional(v, "SLURM_JOB_LICENSES", d.request().licenses());
        if (d.kind() == JobDesc.Kind.BATCH) {
            v.put("SLURM_JOB_STDIN", JobPaths.stdin(job).text());
            v.put("SLURM_JOB_STDOUT", JobPaths.stdout(job).text());
            v.put("SLURM_JOB_STDERR", JobPaths.stderr(job).text());
        }
        optional(v, "SLURM_JOB_COMMENT", d.extras().comment());
        optional(v, "SLURM_JOB_EXTRA", d.extras().extra());
        optional(v, "SLURM_JOB_CONSTRAINTS", d.request().features());
        optional(v, "SLURM_JOB_RESERVATION", d.charge().reservation());
        optional(v, "SLURM_JOB_QOS", d.charge().qos());
        v.put("SLURM_JOB_END_TIME", Long.toString(new JobEnvironment(state, job).plannedEnd()));
        if (job.isArrayTask()) {
            v.put("SLURM_ARRAY_JOB_ID", Integer.toString(job.array().jobId()));
            v.put("SLURM_ARRAY_TASK_ID", Integer.toString(job.array().task()));
        }
        return v.entrySet().stream().map(x -> x.getKey() + "=" + x.getValue()).toList();
    }

    /** Returns the end of the job's time limit; a year after its start without a limit. */
    private long plannedEnd() {
        return job.run().limitMin() >= 0 ? job.run().plannedEnd() : job.run().startTime() + UNLIMITED_SECONDS;
    }

    private static void optional(Map<String, String> v, String name, String value) {
        if (!value.isEmpty()) {
            v.put(name, value);
        }
    }

    /** Returns the variables of an epilog that a prolog does not have. */
    public static List<String> ofEpilog(Job job) {
        return endings(job).entrySet().stream()
                .map(x -> x.getKey() + "=" + x.getValue())
                .toList();
    }

    /**
     * Returns how a job ended, as variables: the job of an srun is its step, and srun may have told how that ended
     * before its nodes do.
     */
    private static Map<String, String> endings(Job job) {
        ExitStatus exit = job.run().exit();
        int derived = job.run().derivedExit().waitStatus();
        Map<String, String> ended = job.run().endTime() == 0
                ? Map.of()
                : Map.of("SLURM_JOB_END_TIME", Long.toString(job.run().endTime()));
        Map<String, String> out = new TreeMap<>(ended);
        out.putAll(Map.of(
                "SLURM_JOB_EXIT_CODE",
                Integer.toString(exit.code() << 8 | exit.signal()),
                "SLURM_JOB_EXIT_CODE2",
                exit.code() + ":" + exit.signal(),
                "SLURM_JOB_DERIVED_EC",
                Integer.toString(
                        job.desc().kind() == JobDesc.Kind.RUN ? Math.max(derived, exit.waitStatus()) : derived)));
        return out;
    }

    /**
     * Returns the variables of slurmctld's programs, as in Slurm, "(null)" included. context "": none of its scripts.
     */
    public static Map<String, String> ofController(State state, Job job, String context) {
        JobEnvironment e = new JobEnvironment(state, job);
        JobDesc d = job.desc();
        Map<String, String> v = new LinkedHashMap<>();
        for (String entry : ofHooks(state, job)) {
            int equals = entry.indexOf('=');
            v.put(entry.substring(0, equals), entry.substring(equals + 1));
        }
        NODE_ONLY.forEach(v::remove);
        if (job.run().startTime() > 0) {
            v.put("SLURM_JOB_END_TIME", Long.toString(e.plannedEnd()));
        } else {
            v.remove("SLURM_JOB_START_TIME");
        }
        if (d.files().stderr().isEmpty()) {
            v.remove("SLURM_JOB_STDERR");
        }
        v.merge("SLURM_JOB_ACCOUNT", "(null)", (given, none) -> given.isEmpty() ? none : given);
        e.array();
        v.putAll(e.vars);
        if (job.run().allocation().isEmpty()) {
            v.remove("SLURM_JOB_NODELIST");
            v.remove("SLURM_JOB_CPUS_PER_NODE");
        }
        if (job.state().isTerminal() || context.startsWith("epilog")) {
            v.putAll(endings(job));
        }
        if (!context.isEmpty()) {
            v.put("SLURM_SCRIPT_CONTEXT", context);
        }
        return v;
    }

    /** Returns the batch script's environment: the submitted one with Slurm's variables over it. */
    public static List<Bytes> ofBatch(State state, Job job, Bytes submitted) {
        JobEnvironment e = new JobEnvironment(state, job);
        e.job();
        e.components();
        Allocation.Share script = e.allocation.ofScript();
        e.put("SLURM_NODEID", 0);
        e.put("SLURM_PROCID", 0);
        e.put("SLURM_LOCALID", 0);
        e.put("SLURM_GTIDS", 0);
        e.put("SLURM_TASKS_PER_NODE", TasksPerNode.text(TasksPerNode.of(job)));
        e.put("SLURM_CPUS_ON_NODE", e.usable(script));
        e.address(script.node());
        e.oomKillStep("");
        e.put("ENVIRONMENT", "BATCH");
        e.put("SLURM_STEP_ID", BATCH_STEP);
        e.put("SLURM_STEPID", BATCH_STEP);
        e.put("HOSTNAME", script.node());
        e.gpus(script.node(), script.gres());
        e.optional("SLURM_JOB_GPUS", list(script.gres().getOrDefault("gpu", IndexSet.empty())));
        e.parts(script.node(), script.gres());
        e.unseen(script.node(), script.gres());
        e.vars.putAll(MpiBootstrap.variables(
                Submitted.from(submitted).ofMpi(),
                !state.settings().options().steps().bootstrapsHydra()));
        return e.over(submitted);
    }

    private int usable(Allocation.Share share) {
        return share.usableCpus(job.desc().request().threadsUsed());
    }

    private void address(String node) {
        Topology t = state.settings().topology("");
        put("SLURM_TOPOLOGY_ADDR", t.address(node, false));
        put("SLURM_TOPOLOGY_ADDR_PATTERN", t.address(node, true));
    }

    /**
     * A numbered step's for each of its nodes, without what differs between its tasks. What all nodes are told alike is
     * made once: for a step on thousands of nodes it would else be most of what its launch takes.
     */
    static final class OfStep {
        /** Variables with a value of their own on each node of a step, apart from devices. */
        private static final List<String> OWN = List.of(
                "SLURM_NODEID",
                "SLURM_GTIDS",
                "SLURM_CPUS_ON_NODE",
                "SLURM_TOPOLOGY_ADDR",
                "SLURM_TOPOLOGY_ADDR_PATTERN",
                "SLURM_SRUN_COMM_PORT",
                "SLURM_STEP_LAUNCHER_PORT");

        private final State state;
        private final Job job;
        private final Step step;
        private final Bytes submitted;
        private final CombinedStep whole;
        private final Map<String, Integer> places = new HashMap<>();
        /** The first node's without devices, and where in it its own entries are; none before there is one. */
        private List<Bytes> one = List.of();

        private final int[] ownPlaces = new int[OWN.size()];

        OfStep(State state, Job job, Step step, Bytes submitted) {
            this.state = state;
            this.job = job;
            this.step = step;
            this.submitted = submitted;
            whole = CombinedStep.of(state, job, step);
            for (int i = 0; i < whole.parts().size(); i++) {
                places.putIfAbsent(whole.parts().get(i).node(), i);
            }
        }

        CombinedStep whole() {
            return whole;
        }

        /** Returns the index of the part's node among the step's. */
        int index(Step.Part part) {
            return places.getOrDefault(part.node(), 0);
        }

        List<Bytes> on(Step.Part part) {
            boolean plain = part.gres().isEmpty() && state.nodes().has(part.node());
            if (!plain) {
                return made(part);
            }
            if (one.isEmpty()) {
                one = made(part);
                for (int i = 0; i < one.size(); i++) {
                    String entry = one.get(i).text();
                    int own = OWN.indexOf(entry.substring(0, Math.max(0, entry.indexOf('='))));
                    if (own >= 0) {
                        ownPlaces[own] = i; // a node that slurm.conf names has each of them
                    }
                }
                return one;
            }
            JobEnvironment e = new JobEnvironment(state, job);
            e.own(part, index(part));
            List<Bytes> out = new ArrayList<>(one);
            for (int i = 0; i < ownPlaces.length; i++) {
                out.set(ownPlaces[i], Bytes.of(OWN.get(i) + "=" + e.vars.get(OWN.get(i))));
            }
            return out;
        }

        private List<Bytes> made(Step.Part part) {
            JobEnvironment e = new JobEnvironment(state, job);
            e.job();
            e.components();
            // a step that asks for memory has it alone: only what its caller knows of it counts for steps in it
            e.vars.keySet().removeIf(name -> name.startsWith("SLURM_MEM_PER_"));
            e.together(step, whole);
            e.alike(step, whole);
            e.own(part, index(part));
            e.gpus(part.node(), part.gres());
            e.optional(
                    step.desc().interactive() ? "SLURM_JOB_GPUS" : "SLURM_STEP_GPUS",
                    list(part.gres().getOrDefault("gpu", IndexSet.empty())));
            e.number(
                    "SLURM_SHARDS_ON_NODE",
                    part.gres().getOrDefault("shard", IndexSet.empty()).count());
            e.parts(part.node(), part.gres());
            e.unseen(part.node(), part.gres());
            if (step.desc().preserveEnv()) {
                List<String> callers = Submitted.from(submitted).names;
                e.vars.keySet().removeIf(name -> PRESERVED.contains(name) && callers.contains(name));
            }
            return e.over(submitted);
        }
    }

    private void alike(Step step, CombinedStep whole) {
        String perNode = TasksPerNode.text(
                whole.parts().stream().map(p -> p.tasks().size()).toList());
        put("SLURM_STEP_ID", StepId.variable(step.id()));
        put("SLURM_STEPID", StepId.variable(step.id()));
        put("SLURM_NTASKS", whole.tasks());
        put("SLURM_NPROCS", whole.tasks());
        put("SLURM_STEP_NUM_NODES", whole.parts().size());
        put("SLURM_STEP_NUM_TASKS", whole.tasks());
        put("SLURM_STEP_NODELIST", HostListCache.of(whole.parts()));
        put("SLURM_STEP_TASKS_PER_NODE", perNode);
        put("SLURM_TASKS_PER_NODE", perNode);
        put("SLURM_NNODES", whole.parts().size());
        put("SLURM_SRUN_COMM_HOST", step.desc().submitHost());
        if (!step.ports().isEmpty()) {
            put("SLURM_STEP_RESV_PORTS", step.ports().print(0));
        }
        boolean own = job.desc().kind() == JobDesc.Kind.RUN;
        if (!own || !step.desc().request().distribution().isEmpty()) {
            // an srun that made the job for its step passes on what it was asked for alone
            put("SLURM_DISTRIBUTION", distribution(step, whole));
        }
        plane(step.desc().request().distribution());
        if (step.desc().request().cpusPerTask() > 0) {
            put("SLURM_CPUS_PER_TASK", step.desc().request().cpusPerTask());
        }
        optional(
                TresPerTask.VARIABLE,
                TresPerTask.of(
                        step.desc().request().cpusPerTask(),
                        step.desc().request().tresPerTask()));
        put("SLURM_JOB_NODES", allocation.nodes().size());
        optional("SLURM_JOB_GROUP", job.desc().owner().group());
        oomKillStep(step.desc().oomKillStep());
    }

    /** @param ofStep the step's own value; "" for the value of the job or the configuration */
    private void oomKillStep(String ofStep) {
        String ofJob = job.desc().extras().oomKillStep();
        String value;
        if (!ofStep.isEmpty()) {
            value = ofStep;
        } else if (!ofJob.isEmpty()) {
            value = ofJob;
        } else {
            value = state.settings().options().steps().oomKillStep();
        }

        put("SLURM_OOM_KILL_STEP", value.equals("1") ? 1 : 0);
    }

    private void own(Step.Part part, int index) {
        put("SLURM_NODEID", index);
        put(
                "SLURM_GTIDS",
                part.tasks().stream().map(String::valueOf).collect(java.util.stream.Collectors.joining(",")));
        put("SLURM_CPUS_ON_NODE", part.cpus());
        address(part.node());
        // where the step's streams are served
        state.nodes().find(part.node()).ifPresent(n -> {
            put("SLURM_SRUN_COMM_PORT", n.spec().port());
            put("SLURM_STEP_LAUNCHER_PORT", n.spec().port());
        });
    }

    private static String distribution(Step step, CombinedStep whole) {
        Distribution d =
                Distribution.parse(step.desc().request().distribution()).orElse(Distribution.UNSET);
        String spread = whole.tasks() <= whole.parts().size() ? "cyclic" : "block";
        return d.equals(Distribution.UNSET) ? spread : d.text();
    }

    private void plane(String distribution) {
        Distribution.parse(distribution)
                .filter(d -> d.nodes() == Distribution.Nodes.PLANE)
                .ifPresent(d -> put("SLURM_DIST_PLANESIZE", d.plane()));
    }

    private void put(String name, Object value) {
        vars.put(name, String.valueOf(value));
    }

    private void job() {
        JobDesc d = job.desc();
        ResourceRequest r = d.request();
        state.buffers()
                .environment(job.id())
                .forEach(entry -> put(entry.substring(0, entry.indexOf('=')), entry.substring(entry.indexOf('=') + 1)));
        put("SLURM_JOB_ID", job.id());
        put("SLURM_JOBID", job.id());
        put("SLURM_JOB_NAME", d.name());
        put("SLURM_JOB_UID", d.owner().uid());
        put("SLURM_JOB_GID", d.owner().gid());
        put("SLURM_JOB_USER", d.owner().user());
        put("SLURM_JOB_SLUID", dev.muster.model.format.Sluid.text(job.shownSluid()));
        put("SLURM_JOB_PARTITION", partition());
        put("SLURM_JOB_NODELIST", HostListCache.of(allocation));
        put("SLURM_NODELIST", HostListCache.of(allocation));
        put("SLURM_JOB_NUM_NODES", allocation.nodes().size());
        put("SLURM_NNODES", allocation.nodes().size());
        put(
                "SLURM_JOB_CPUS_PER_NODE",
                TasksPerNode.text(allocation.nodes().stream().map(this::usable).toList()));
        put("SLURM_JOB_START_TIME", job.run().startTime());
        if (d.extras().stepMgr() && !allocation.isEmpty()) {
            put(
                    "SLURM_STEPMGR",
                    state.members(job).getFirst().run().allocation().nodes().stream()
                            .findFirst()
                            .orElse(allocation.nodes().getFirst())
                            .node());
        }
        optional("SLURM_CONTAINER_TYPE", d.extras().containerType());
        optional("SLURM_JOB_LICENSES", d.request().licenses());
        number("SLURM_JOB_SEGMENT_SIZE", r.segment());
        put("SLURM_JOB_END_TIME", plannedEnd());
        put("SLURM_CLUSTER_NAME", state.settings().clusterName());
        put("SLURM_SUBMIT_HOST", d.payload().submitHost());
        put("SLURM_SUBMIT_DIR", d.files().workDir().text());
        put("SLURM_TASKS_PER_NODE", TasksPerNode.text(TasksPerNode.of(job)));
        put("SLURM_PRIO_PROCESS", 0);
        put("SLURM_JOB_RESTART_COUNT", job.restarts());
        put("SLURM_RESTART_COUNT", job.restarts());
        optional("SLURM_JOB_ACCOUNT", d.charge().account());
        optional("SLURM_JOB_QOS", d.charge().qos());
        put("SLURM_JOB_OVERSUBSCRIBE", JobViews.oversubscribe(state, job));
        put("SLURM_JOB_EXCLUSIVE", JobViews.exclusiveUse(state, job));
        optional("SLURM_JOB_RESERVATION", d.charge().reservation());
        optional("SLURM_JOB_COMMENT", d.extras().comment());
        if (job.restarts() == 0) {
            vars.remove("SLURM_JOB_RESTART_COUNT");
            vars.remove("SLURM_RESTART_COUNT");
        }
        request(r);
        array();
    }

    /** Variables of the request: sruns in the job take them as defaults. */
    private void request(ResourceRequest r) {
        if (r.tasks() > 0 || r.tasksPerNode() > 0) {
            int tasks = r.tasks() > 0
                    ? r.tasks()
                    : r.tasksPerNode() * allocation.nodes().size();
            put("SLURM_NTASKS", tasks);
            put("SLURM_NPROCS", tasks);
        }
        number("SLURM_NTASKS_PER_NODE", r.tasksPerNode());
        // CPUs that its memory brings are no wish for CPUs per task, which each srun in the job would take over
        int perTask = r.cpusPerTaskTyped() > 0 ? r.cpusPerTask() : 0;
        number("SLURM_CPUS_PER_TASK", perTask);
        optional(TresPerTask.VARIABLE, TresPerTask.of(perTask, r.tresPerTask()));
        PartitionLimits.Memory memory = PartitionLimits.memory(state, job);
        number("SLURM_MEM_PER_NODE", memory.perNodeMb());
        number("SLURM_MEM_PER_CPU", memory.perCpuMb());
        number("SLURM_THREADS_PER_CORE", r.threadsUsed());
        optional(
                "SLURM_DISTRIBUTION",
                Distribution.parse(r.distribution()).orElse(Distribution.UNSET).text());
        plane(r.distribution());
        if (r.overcommit()) {
            put("SLURM_OVERCOMMIT", 1);
        }
    }

    /** Variables of each component, with its offset behind the name. */
    private static final List<String> OF_COMPONENTS = List.of(
            "SLURM_CPUS_PER_TASK",
            "SLURM_DISTRIBUTION",
            "SLURM_DIST_PLANESIZE",
            "SLURM_JOB_ACCOUNT",
            "SLURM_JOB_CPUS_PER_NODE",
            "SLURM_JOB_ID",
            "SLURM_JOB_NAME",
            "SLURM_JOB_NODELIST",
            "SLURM_JOB_NUM_NODES",
            "SLURM_JOB_PARTITION",
            "SLURM_JOB_QOS",
            "SLURM_JOB_RESERVATION",
            "SLURM_MEM_PER_CPU",
            "SLURM_MEM_PER_NODE",
            "SLURM_NNODES",
            "SLURM_NODELIST",
            "SLURM_NPROCS",
            "SLURM_NTASKS",
            "SLURM_NTASKS_PER_NODE",
            "SLURM_TASKS_PER_NODE",
            "SLURM_THREADS_PER_CORE",
            TresPerTask.VARIABLE);

    /** Variables without a plain form: steps of other components would read options from it. */
    private static final List<String> OF_NO_OTHER = List.of(
            "SLURM_CPUS_PER_TASK",
            "SLURM_DISTRIBUTION",
            "SLURM_DIST_PLANESIZE",
            "SLURM_NTASKS_PER_NODE",
            "SLURM_THREADS_PER_CORE",
            TresPerTask.VARIABLE);

    private void components() {
        if (!job.isHet()) {
            return;
        }
        put("SLURM_JOB_ID", job.het().jobId());
        put("SLURM_JOBID", job.het().jobId());
        put("SLURM_HET_SIZE", job.het().members().size());
        OF_NO_OTHER.forEach(vars::remove);
        for (Job component : state.members(job)) {
            JobEnvironment e = new JobEnvironment(state, component);
            e.job();
            for (String name : OF_COMPONENTS) {
                if (e.vars.containsKey(name)) {
                    put(name + "_HET_GROUP_" + component.het().offset(), e.vars.get(name));
                }
            }
        }
    }

    /** Sets the variables of a step of several components, which sees their nodes as those of one job. */
    private void together(Step step, CombinedStep whole) {
        if (step.het().isEmpty() && !StepId.isComponent(step.id())) {
            return;
        }
        String nodes = dev.muster.model.format.HostList.of(
                        whole.shares().stream().map(Allocation.Share::node).toList())
                .compressed();
        put("SLURM_JOB_NODELIST", nodes);
        put("SLURM_NODELIST", nodes);
        put("SLURM_JOB_NUM_NODES", whole.shares().size());
        if (!step.het().isEmpty()) {
            put(
                    "SLURM_JOB_CPUS_PER_NODE",
                    TasksPerNode.text(
                            whole.shares().stream().map(Allocation.Share::cpus).toList()));
        }
    }

    private void array() {
        if (!job.isArrayTask()) {
            return;
        }
        put("SLURM_ARRAY_JOB_ID", job.array().jobId());
        put("SLURM_ARRAY_TASK_ID", job.array().task());
        put("SLURM_ARRAY_TASK_COUNT", job.array().size());
        ArraySpec spec = arraySpec;
        if (!spec.text.equals(job.desc().timing().array())) {
            spec = ArraySpec.of(job.desc().timing().array());
            arraySpec = spec;
        }
        spec.variables.forEach(this::put);
    }

    /**
     * The tasks of an array begin one after the other and are told the same of it.
     *
     * @param text as in --array
     */
    private record ArraySpec(String text, Map<String, String> variables) {
        static ArraySpec of(String text) {
            List<IndexSet.Spec> spec = IndexSet.parseArray(text, IndexSet.MAX_INDEX);
            if (spec.isEmpty()) {
                return new ArraySpec(text, Map.of());
            }
            IndexSet all = spec.getFirst().indexes();
            int second = all.next(all.first() + 1);
            Map<String, String> out = new LinkedHashMap<>();
            out.put("SLURM_ARRAY_TASK_MIN", Integer.toString(all.first()));
            out.put("SLURM_ARRAY_TASK_MAX", Integer.toString(all.last()));
            out.put("SLURM_ARRAY_TASK_STEP", Integer.toString(second < 0 ? 1 : second - all.first()));
            return new ArraySpec(text, out);
        }
    }

    private static volatile ArraySpec arraySpec = new ArraySpec("", Map.of());

    private String partition() {
        return job.desc().partition();
    }

    private void optional(String name, String value) {
        if (!value.isEmpty()) {
            put(name, value);
        }
    }

    private void number(String name, long value) {
        if (value > 0) {
            put(name, value);
        }
    }

    /** Devices by index: in a step's environment those of its node. */
    private void gpus(String node, Map<String, IndexSet> gres) {
        IndexSet gpus = gres.getOrDefault("gpu", IndexSet.empty());
        if (gpus.isEmpty()) {
            return;
        }
        devices(state, node, gpus).forEach(this::put);
        put("SLURM_GPUS_ON_NODE", gpus.count());
    }

    /**
     * Hides GPUs of other jobs: a job without a GPU loses the variables that name GPUs, on clusters that allocate them.
     */
    private void unseen(String node, Map<String, IndexSet> gres) {
        if (state.settings().gresTypes().contains("gpu")
                && gres.getOrDefault("gpu", IndexSet.empty()).isEmpty()) {
            Stream.concat(
                            devices(state, node, IndexSet.empty()).keySet().stream(),
                            Stream.of("SLURM_GPUS_ON_NODE", "SLURM_STEP_GPUS"))
                    .filter(name -> !vars.containsKey(name))
                    .forEach(removed::add);
        }
    }

    /** Variables of a shared GPU: its index, and for mps the share in percent. */
    private void parts(String node, Map<String, IndexSet> gres) {
        partsOfGpus(state, node, gres).forEach(this::put);
    }

    static Map<String, String> partsOfGpus(State state, String node, Map<String, IndexSet> gres) {
        Map<String, String> out = new LinkedHashMap<>();
        List<dev.muster.core.state.Node.Gres> devices =
                state.nodes().find(node).map(n -> n.spec().gres()).orElse(List.of());
        gres.forEach((name, parts) -> {
            SharedGpus.Parts all = SharedGpus.parts(devices, name);
            if (!all.isEmpty() && !parts.isEmpty()) {
                IndexSet gpus = all.gpusOf(parts);
                out.putAll(devices(state, node, gpus));
                if (name.equals("mps")) {
                    out.put(
                            "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                            Integer.toString(parts.count() * 100 / all.count(gpus)));
                }
            }
        });
        return out;
    }

    static String list(IndexSet set) {
        StringBuilder ids = new StringBuilder();
        for (int i = set.first(); i >= 0; i = set.next(i + 1)) {
            ids.append(ids.isEmpty() ? "" : ",").append(i);
        }
        return ids.toString();
    }

    /** Returns the variables by which programs find the GPUs they may use. */
    static Map<String, String> devices(State state, String node, IndexSet gpus) {
        String ids = list(gpus);
        Map<String, String> out = new LinkedHashMap<>();
        List<String> flags = state.nodes()
                .find(node)
                .map(n -> n.spec().gres().stream()
                        .filter(g -> g.name().equals("gpu"))
                        .flatMap(g -> g.flags().stream())
                        .toList())
                .orElse(List.of());
        for (String name : GpuVariables.of(flags)) {
            out.put(name, ids);
        }
        return out;
    }

    /**
     * A submitted environment in its entries. That of the tasks of an array, or of a step's nodes, is taken apart once.
     */
    private record Submitted(Bytes whole, List<String> names, List<Bytes> entries, boolean hasPriority) {
        private static volatile Submitted last = of(Bytes.EMPTY);

        static Submitted from(Bytes whole) {
            Submitted known = last;
            if (known.whole != whole) {
                known = of(whole);
                last = known;
            }
            return known;
        }

        /** @param whole entries joined by NUL */
        private static Submitted of(Bytes whole) {
            List<String> names = new ArrayList<>();
            List<Bytes> entries = new ArrayList<>();
            byte[] all = whole.toArray();
            int start = 0;
            for (int i = 0; i <= all.length; i++) {
                if (i == all.length || all[i] == 0) {
                    if (i > start) {
                        int equals = start;
                        while (equals < i && all[equals] != '=') {
                            equals++;
                        }
                        names.add(new String(all, start, equals - start, StandardCharsets.UTF_8));
                        entries.add(Bytes.of(java.util.Arrays.copyOfRange(all, start, i)));
                    }
                    start = i + 1;
                }
            }
            return new Submitted(whole, names, entries, whole.text().contains("SLURM_PRIO_PROCESS="));
        }

        /** Returns the variables that tell mpirun how to start its daemons. */
        private Map<String, String> ofMpi() {
            Map<String, String> out = new HashMap<>();
            for (int i = 0; i < names.size(); i++) {
                if (MpiBootstrap.concerns(names.get(i))) {
                    out.put(names.get(i), valueAt(i));
                }
            }
            return out;
        }

        private String valueAt(int i) {
            String entry = entries.get(i).text();
            return entry.substring(entry.indexOf('=') + 1);
        }
    }

    /** Returns the submitted entries without those that Slurm sets, then Slurm's. */
    private List<Bytes> over(Bytes environment) {
        Submitted submitted = Submitted.from(environment);
        if (submitted.hasPriority) {
            vars.remove("SLURM_PRIO_PROCESS"); // only the command knows it
        }
        int typed = submitted.names.indexOf(TresPerTask.VARIABLE);
        if (typed >= 0
                && vars.containsKey(TresPerTask.VARIABLE)
                && TresPerTask.areSame(submitted.valueAt(typed), vars.get(TresPerTask.VARIABLE))) {
            vars.remove(TresPerTask.VARIABLE); // it stays in the user's own words
        }
        List<Bytes> out = new ArrayList<>(submitted.entries.size() + vars.size());
        for (int i = 0; i < submitted.entries.size(); i++) {
            if (!vars.containsKey(submitted.names.get(i)) && !removed.contains(submitted.names.get(i))) {
                out.add(submitted.entries.get(i));
            }
        }
        vars.forEach((k, v) -> out.add(Bytes.of(k + "=" + v)));
        return out;
    }
}
