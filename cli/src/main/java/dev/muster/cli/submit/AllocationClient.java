package dev.muster.cli.submit;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.request.ClusterChoice;
import dev.muster.cli.request.JobRequest;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import java.util.ArrayList;
import java.util.List;

/** Requests an allocation and waits for it, for srun and salloc. */
public final class AllocationClient {
    /** Longer than this in the queue is worth a line. */
    private static final int QUIET_WAIT_MS = 300;

    private static final int WAIT_MS = 20_000;

    private final CommandContext context;
    private final JobOptions options;
    /** The components that were submitted last. */
    private List<JobOptions> requested = List.of();

    private List<List<String>> commands = List.of();
    private boolean waitedInQueue;
    private boolean heterogeneous;

    public AllocationClient(CommandContext context, JobOptions options) {
        this.context = context;
        this.options = options;
    }

    /** Sets the programs of the allocation, by components. Jobs show the first word as their command. */
    public AllocationClient running(List<List<String>> programs) {
        commands =
                programs.stream().map(p -> p.subList(0, Math.min(1, p.size()))).toList();
        return this;
    }

    /** Had to wait in the queue: salloc rings the bell then. */
    boolean waitedInQueue() {
        return waitedInQueue;
    }

    /**
     * Submits an ordinary job or, with more than one component, a heterogeneous one.
     *
     * @param names of the components that their options do not name; the last stands for all that follow
     */
    public Json.Obj submit(String kind, List<JobOptions> components, List<String> names, boolean testOnly)
            throws SlurmException, UsageException {
        requested = components;
        List<Object> parts = new ArrayList<>();
        for (int i = 0; i < components.size(); i++) {
            JobOptions component = components.get(i);
            String name = i > 0 && component.has(JobOption.JOB_NAME)
                    ? component.text(JobOption.JOB_NAME)
                    : names.get(Math.min(i, names.size() - 1));
            parts.add(new Json.Obj()
                    .put(
                            "job",
                            new JobRequest(component)
                                    .job(kind, name, i < commands.size() ? commands.get(i) : List.of()))
                    .put("environment", new ArrayList<>()));
        }
        heterogeneous = components.size() > 1;
        Json.Obj query = heterogeneous ? new Json.Obj().put("parts", parts) : (Json.Obj) parts.getFirst();
        query.put("requestId", context.host().requestId());
        JobRequest.put(query, "testOnly", testOnly);
        JobRequest.put(
                query, "immediate", options.has(JobOption.IMMEDIATE) && options.number(JobOption.IMMEDIATE) <= 1);
        Json.Obj reply = patiently(
                context,
                heterogeneous ? "SubmitHet" : "Submit",
                query,
                context.name().equals("srun") && !testOnly && !options.has(JobOption.IMMEDIATE));
        for (String w : reply.texts("warnings")) {
            context.info(w);
        }
        return reply;
    }

    /**
     * Tries of a submission while the number of jobs is at its limit. The nth try follows n seconds after the one
     * before.
     */
    private static final int TRIES_MAX = 15;

    /** @param waits whether it is asked again where the controller takes no more jobs now */
    static Json.Obj patiently(CommandContext context, String message, Json.Obj query, boolean waits)
            throws SlurmException {
        for (int attempt = 1; ; attempt++) {
            try {
                return context.host().controller().call(message, query);
            } catch (SlurmException e) {
                if (!waits || attempt > TRIES_MAX || e.errno() != SlurmErrno.MAX_JOB_COUNT.number()) {
                    throw e;
                }
                context.host().needsOwnProcess();
                if (attempt == 1) {
                    context.error("Slurm job queue full, sleeping and retrying");
                }
                if (!context.host().pause(attempt * 1000L)) {
                    throw e;
                }
            }
        }
    }

    /** Selects the cluster in which the job starts first, if several are named. */
    public void choose(String kind, List<JobOptions> components, List<String> names)
            throws SlurmException, UsageException {
        if (options.has(JobOption.CLUSTERS) && Clusters.needSlurmdbd(context, options.text(JobOption.CLUSTERS))) {
            ClusterChoice.earliest(context, components, () -> submit(kind, components, names, true));
        }
    }

    /** Returns the last sentence of a refusal. Its other sentences are printed in lines of their own. */
    static String lastLine(CommandContext context, SlurmException e) {
        List<String> lines = Texts.split(e.getMessage(), '\n');
        for (int i = 0; i + 1 < lines.size(); i++) {
            context.error(lines.get(i));
        }
        return lines.isEmpty() ? "" : lines.getLast();
    }

    /** Prints which request of the components slurmctld refused, where the refusal's sentence does not name it. */
    static void tellCause(CommandContext context, List<JobOptions> components, SlurmException e) {
        if (e.errno() == SlurmErrno.INVALID_PARTITION_NAME.number()) {
            List<String> lists = components.stream()
                    .filter(o -> o.has(JobOption.PARTITION))
                    .map(o -> o.text(JobOption.PARTITION))
                    .toList();
            if (!lists.isEmpty()) {
                context.error("invalid partition specified: " + unknownPartition(context, lists));
            }
        }
        if (e.errno() == SlurmErrno.INVALID_TASK_MEMORY.number()) {
            context.error("Memory specification can not be satisfied");
        }
    }

    /** Returns the first name in these lists that is not a partition. */
    private static String unknownPartition(CommandContext context, List<String> lists) {
        List<String> names =
                lists.stream().flatMap(l -> Texts.split(l, ',').stream()).toList();
        if (names.size() < 2) {
            return names.isEmpty() ? "(null)" : names.getFirst();
        }
        try {
            Json.Obj all = context.host().controller().call("QueryPartitions", new Json.Obj().put("all", Boolean.TRUE));
            List<String> known =
                    all.objects("partitions").stream().map(p -> p.text("name")).toList();
            return names.stream()
                    .filter(attempt -> !known.contains(attempt))
                    .findFirst()
                    .orElse(lists.getFirst());
        } catch (SlurmException e) {
            return lists.getFirst(); // slurmctld refused one of the lists and did not say which
        }
    }

    /** Prints why there is no allocation; the exit code. */
    public int refused(SlurmException e) {
        String reason = lastLine(context, e);
        tellCause(context, requested, e);
        if (e.errno() == SlurmErrno.INVALID_GRES.number()) {
            context.error(reason);
            return options.exitError(1);
        }
        if (options.has(JobOption.TEST_ONLY)) {
            context.err().println("allocation failure: " + reason);
            return 1;
        }
        boolean first = e.errno() == SlurmErrno.NOT_TOP_PRIORITY.number()
                || options.has(JobOption.IMMEDIATE) && e.errno() == SlurmErrno.NODES_BUSY.number();
        String verb = context.name().equals("salloc") && !first
                ? "Job submit/allocate failed: "
                : "Unable to allocate resources: ";
        context.error(verb + reason);
        boolean busy = context.name().equals("salloc")
                && options.has(JobOption.IMMEDIATE)
                && !context.env("SLURM_EXIT_IMMEDIATE").isEmpty();
        return busy ? (int) Math.max(1, Digits.parseNumber(context.env("SLURM_EXIT_IMMEDIATE"))) : options.exitError(1);
    }

    /** Waits until the nodes are ready; the allocation, or the state of a job that ended before. */
    public Json.Obj await(int jobId, boolean quiet) throws SlurmException {
        boolean isReported = heterogeneous;
        if (isReported) {
            // there the original always speaks of waiting
            queued(jobId, "", quiet);
        }
        Json.Obj allocation = ask(jobId, QUIET_WAIT_MS);
        long patienceS = options.has(JobOption.IMMEDIATE) ? options.number(JobOption.IMMEDIATE) : 0;
        long giveUpMs = patienceS > 1 ? context.host().nowMs() + patienceS * 1000 : Long.MAX_VALUE;
        while (!isOver(allocation) && !allocation.flag("ready")) {
            boolean pending = List.of("", "PENDING").contains(allocation.text("state"));
            if (pending && !isReported) {
                isReported = true;
                queued(jobId, whyItWaits(allocation.text("reason")), quiet);
            } else if (!pending && isReported && !quiet) {
                isReported = false;
                context.info("job " + jobId + " has been allocated resources");
            }
            long leftMs = giveUpMs - context.host().nowMs();
            if (leftMs <= 0) {
                cancel(context, jobId);
                throw timedOut();
            }
            allocation = ask(jobId, (int) Math.min(WAIT_MS, leftMs));
        }
        if (isReported && !quiet && !isOver(allocation)) {
            context.info("job " + jobId + " has been allocated resources");
        }
        return allocation;
    }

    private SlurmException timedOut() {
        String reason = context.name().equals("salloc") ? "Connection timed out" : SlurmErrno.NODES_BUSY.sentence();
        return new SlurmException(SlurmErrno.NODES_BUSY.number(), "Unable to allocate resources: " + reason);
    }

    private void queued(int jobId, String reason, boolean quiet) {
        waitedInQueue = true;
        if (quiet) {
            return;
        }
        if (!reason.isEmpty()) {
            context.info(reason);
        }
        if (context.name().equals("salloc")) {
            context.info("Pending job allocation " + jobId);
        }
        context.info("job " + jobId + " queued and waiting for resources");
    }

    /** Returns Slurm's first line about a job that cannot start now. */
    private static String whyItWaits(String reason) {
        return switch (reason) {
            case "PartitionConfig", "PartitionNodeLimit", "PartitionTimeLimit", "AccountNotAllowed", "QOSNotAllowed" ->
                "Requested partition configuration not available now";
            case "PartitionDown" -> "Partition in DOWN state";
            case "JobHeldUser", "JobHeldAdmin" -> "Job is in held state, pending scheduler release";
            case "Reservation" -> "Requested reservation not usable now";
            case "ReqNodeNotAvail" -> "Required node not available (down, drained or reserved)";
            default -> "";
        };
    }

    Json.Obj ask(int jobId, int waitMs) throws SlurmException {
        Json.Obj query = new Json.Obj();
        query.put("jobId", (long) jobId);
        query.put("waitMs", (long) waitMs);
        return context.host().controller().call("AwaitAllocation", query);
    }

    public static boolean isPending(Json.Obj allocation) {
        return allocation.text("state").equals("PENDING");
    }

    /** Refuses an allocation of a job that does not run, for commands that do not wait for it. */
    public static void mustRun(Json.Obj allocation) throws SlurmException {
        if (isOver(allocation) || isPending(allocation)) {
            SlurmErrno errno = isOver(allocation) ? SlurmErrno.ALREADY_DONE : SlurmErrno.JOB_PENDING;
            throw new SlurmException(errno.number(), errno.sentence());
        }
    }

    public static boolean isOver(Json.Obj allocation) {
        return switch (allocation.text("state")) {
            case "", "PENDING", "RUNNING", "SUSPENDED" -> false;
            default -> true;
        };
    }

    /**
     * Gives the allocation back.
     *
     * @param shellCode as the shell would report the command's end
     */
    public static void complete(CommandContext context, int jobId, int shellCode) {
        Json.Obj query = new Json.Obj();
        query.put("requestId", context.host().requestId());
        query.put("jobId", (long) jobId);
        Json.Obj exit = new Json.Obj();
        if (shellCode > 128) {
            exit.put("signal", (long) shellCode - 128);
        } else if (shellCode > 0) {
            exit.put("code", (long) shellCode);
        }
        JobRequest.put(query, "exit", exit);
        try {
            context.host().controller().call("CompleteAllocation", query);
        } catch (SlurmException e) {
            // the job ended with its last step, or was cancelled: no allocation is left to release
        }
    }

    /** Reports that a user or slurmctld cancelled the job while it was pending. */
    public static void cancelled(CommandContext context, String verb, Json.Obj allocation) {
        boolean prolog = allocation.text("state").equals("CANCELLED")
                && allocation.text("reason").equals("JobLaunchFailure");
        context.info(prolog ? "PrologSlurmctld failed, job killed" : "Job has been cancelled");
        context.error(verb + SlurmErrno.ALREADY_DONE.sentence());
    }

    /** Cancels a job that is not wanted any more. */
    public static void cancel(CommandContext context, int jobId) {
        Json.Obj query = new Json.Obj();
        query.put("requestId", context.host().requestId());
        query.put("jobs", List.of(Integer.toString(jobId)));
        try {
            context.host().controller().call("Cancel", query);
        } catch (SlurmException e) {
            context.error("Unable to cancel job " + jobId + ": " + e.getMessage());
        }
    }
}
