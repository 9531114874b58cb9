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

    private final CommandContext c;
    private final JobOptions o;
    /** The components that were submitted last. */
    private List<JobOptions> asked = List.of();

    private List<List<String>> commands = List.of();
    private boolean waitedInQueue;
    private boolean heterogeneous;

    public AllocationClient(CommandContext c, JobOptions o) {
        this.c = c;
        this.o = o;
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
        asked = components;
        List<Object> parts = new ArrayList<>();
        for (int i = 0; i < components.size(); i++) {
            JobOptions own = components.get(i);
            String name = i > 0 && own.has(JobOption.JOB_NAME)
                    ? own.text(JobOption.JOB_NAME)
                    : names.get(Math.min(i, names.size() - 1));
            parts.add(new Json.Obj()
                    .put("job", new JobRequest(own).job(kind, name, i < commands.size() ? commands.get(i) : List.of()))
                    .put("environment", new ArrayList<>()));
        }
        heterogeneous = components.size() > 1;
        Json.Obj q = heterogeneous ? new Json.Obj().put("parts", parts) : (Json.Obj) parts.getFirst();
        q.put("requestId", c.host().requestId());
        JobRequest.put(q, "testOnly", testOnly);
        JobRequest.put(q, "immediate", o.has(JobOption.IMMEDIATE) && o.number(JobOption.IMMEDIATE) <= 1);
        Json.Obj reply = patiently(
                c,
                heterogeneous ? "SubmitHet" : "Submit",
                q,
                c.name().equals("srun") && !testOnly && !o.has(JobOption.IMMEDIATE));
        for (String w : reply.texts("warnings")) {
            c.info(w);
        }
        return reply;
    }

    /**
     * Tries of a submission while the number of jobs is at its limit. The nth try follows n seconds after the one
     * before.
     */
    private static final int TRIES_MAX = 15;

    /** @param waits whether it is asked again where the controller takes no more jobs now */
    static Json.Obj patiently(CommandContext c, String message, Json.Obj q, boolean waits) throws SlurmException {
        for (int n = 1; ; n++) {
            try {
                return c.host().controller().call(message, q);
            } catch (SlurmException e) {
                if (!waits || n > TRIES_MAX || e.errno() != SlurmErrno.MAX_JOB_COUNT.number()) {
                    throw e;
                }
                c.host().needsOwnProcess();
                if (n == 1) {
                    c.error("Slurm job queue full, sleeping and retrying");
                }
                if (!c.host().pause(n * 1000L)) {
                    throw e;
                }
            }
        }
    }

    /** Selects the cluster in which the job starts first, if several are named. */
    public void choose(String kind, List<JobOptions> components, List<String> names)
            throws SlurmException, UsageException {
        if (o.has(JobOption.CLUSTERS) && Clusters.needSlurmdbd(c, o.text(JobOption.CLUSTERS))) {
            ClusterChoice.earliest(c, components, () -> submit(kind, components, names, true));
        }
    }

    /** Returns the last sentence of a refusal. Its other sentences are printed in lines of their own. */
    static String lastLine(CommandContext c, SlurmException e) {
        List<String> lines = Texts.split(e.getMessage(), '\n');
        for (int i = 0; i + 1 < lines.size(); i++) {
            c.error(lines.get(i));
        }
        return lines.isEmpty() ? "" : lines.getLast();
    }

    /** Prints which request of the components slurmctld refused, where the refusal's sentence does not name it. */
    static void tellCause(CommandContext c, List<JobOptions> components, SlurmException e) {
        if (e.errno() == SlurmErrno.INVALID_PARTITION_NAME.number()) {
            List<String> lists = components.stream()
                    .filter(o -> o.has(JobOption.PARTITION))
                    .map(o -> o.text(JobOption.PARTITION))
                    .toList();
            if (!lists.isEmpty()) {
                c.error("invalid partition specified: " + unknownPartition(c, lists));
            }
        }
        if (e.errno() == SlurmErrno.INVALID_TASK_MEMORY.number()) {
            c.error("Memory specification can not be satisfied");
        }
    }

    /** Returns the first name in these lists that is not a partition. */
    private static String unknownPartition(CommandContext c, List<String> lists) {
        List<String> names =
                lists.stream().flatMap(l -> Texts.split(l, ',').stream()).toList();
        if (names.size() < 2) {
            return names.isEmpty() ? "(null)" : names.getFirst();
        }
        try {
            Json.Obj all = c.host().controller().call("QueryPartitions", new Json.Obj().put("all", Boolean.TRUE));
            List<String> known =
                    all.objects("partitions").stream().map(p -> p.text("name")).toList();
            return names.stream().filter(n -> !known.contains(n)).findFirst().orElse(lists.getFirst());
        } catch (SlurmException e) {
            return lists.getFirst(); // slurmctld refused one of the lists and did not say which
        }
    }

    /** Prints why there is no allocation; the exit code. */
    public int refused(SlurmException e) {
        String why = lastLine(c, e);
        tellCause(c, asked, e);
        if (e.errno() == SlurmErrno.INVALID_GRES.number()) {
            c.error(why);
            return o.exitError(1);
        }
        if (o.has(JobOption.TEST_ONLY)) {
            c.err().println("allocation failure: " + why);
            return 1;
        }
        boolean first = e.errno() == SlurmErrno.NOT_TOP_PRIORITY.number()
                || o.has(JobOption.IMMEDIATE) && e.errno() == SlurmErrno.NODES_BUSY.number();
        String verb =
                c.name().equals("salloc") && !first ? "Job submit/allocate failed: " : "Unable to allocate resources: ";
        c.error(verb + why);
        boolean busy = c.name().equals("salloc")
                && o.has(JobOption.IMMEDIATE)
                && !c.env("SLURM_EXIT_IMMEDIATE").isEmpty();
        return busy ? (int) Math.max(1, Digits.parseNumber(c.env("SLURM_EXIT_IMMEDIATE"))) : o.exitError(1);
    }

    /** Waits until the nodes are ready; the allocation, or the state of a job that ended before. */
    public Json.Obj await(int jobId, boolean quiet) throws SlurmException {
        boolean told = heterogeneous;
        if (told) {
            // there the original always speaks of waiting
            queued(jobId, "", quiet);
        }
        Json.Obj a = ask(jobId, QUIET_WAIT_MS);
        long patienceS = o.has(JobOption.IMMEDIATE) ? o.number(JobOption.IMMEDIATE) : 0;
        long giveUpMs = patienceS > 1 ? c.host().nowMs() + patienceS * 1000 : Long.MAX_VALUE;
        while (!isOver(a) && !a.flag("ready")) {
            boolean pending = List.of("", "PENDING").contains(a.text("state"));
            if (pending && !told) {
                told = true;
                queued(jobId, whyItWaits(a.text("reason")), quiet);
            } else if (!pending && told && !quiet) {
                told = false;
                c.info("job " + jobId + " has been allocated resources");
            }
            long leftMs = giveUpMs - c.host().nowMs();
            if (leftMs <= 0) {
                cancel(c, jobId);
                throw timedOut();
            }
            a = ask(jobId, (int) Math.min(WAIT_MS, leftMs));
        }
        if (told && !quiet && !isOver(a)) {
            c.info("job " + jobId + " has been allocated resources");
        }
        return a;
    }

    private SlurmException timedOut() {
        String reason = c.name().equals("salloc") ? "Connection timed out" : SlurmErrno.NODES_BUSY.sentence();
        return new SlurmException(SlurmErrno.NODES_BUSY.number(), "Unable to allocate resources: " + reason);
    }

    private void queued(int jobId, String why, boolean quiet) {
        waitedInQueue = true;
        if (quiet) {
            return;
        }
        if (!why.isEmpty()) {
            c.info(why);
        }
        if (c.name().equals("salloc")) {
            c.info("Pending job allocation " + jobId);
        }
        c.info("job " + jobId + " queued and waiting for resources");
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
        Json.Obj q = new Json.Obj();
        q.put("jobId", (long) jobId);
        q.put("waitMs", (long) waitMs);
        return c.host().controller().call("AwaitAllocation", q);
    }

    public static boolean isPending(Json.Obj allocation) {
        return allocation.text("state").equals("PENDING");
    }

    /** Refuses an allocation of a job that does not run, for commands that do not wait for it. */
    public static void mustRun(Json.Obj allocation) throws SlurmException {
        if (isOver(allocation) || isPending(allocation)) {
            SlurmErrno why = isOver(allocation) ? SlurmErrno.ALREADY_DONE : SlurmErrno.JOB_PENDING;
            throw new SlurmException(why.number(), why.sentence());
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
    public static void complete(CommandContext c, int jobId, int shellCode) {
        Json.Obj q = new Json.Obj();
        q.put("requestId", c.host().requestId());
        q.put("jobId", (long) jobId);
        Json.Obj exit = new Json.Obj();
        if (shellCode > 128) {
            exit.put("signal", (long) shellCode - 128);
        } else if (shellCode > 0) {
            exit.put("code", (long) shellCode);
        }
        JobRequest.put(q, "exit", exit);
        try {
            c.host().controller().call("CompleteAllocation", q);
        } catch (SlurmException e) {
            // it ended with its last step, or was cancelled: there is nothing left to give back
        }
    }

    /** Reports that a user or slurmctld cancelled the job while it was pending. */
    public static void cancelled(CommandContext c, String verb, Json.Obj allocation) {
        boolean prolog = allocation.text("state").equals("CANCELLED")
                && allocation.text("reason").equals("JobLaunchFailure");
        c.info(prolog ? "PrologSlurmctld failed, job killed" : "Job has been cancelled");
        c.error(verb + SlurmErrno.ALREADY_DONE.sentence());
    }

    /** Cancels a job that is not wanted any more. */
    public static void cancel(CommandContext c, int jobId) {
        Json.Obj q = new Json.Obj();
        q.put("requestId", c.host().requestId());
        q.put("jobs", List.of(Integer.toString(jobId)));
        try {
            c.host().controller().call("Cancel", q);
        } catch (SlurmException e) {
            c.error("Unable to cancel job " + jobId + ": " + e.getMessage());
        }
    }
}
