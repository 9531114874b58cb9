package dev.muster.cli.list;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.submit.AllocationClient;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import java.util.List;
import java.util.Locale;

/**
 * Runs swait, which waits until a job has no running step and no step of {@code srun --async} in its queue. Exit codes:
 * 0 all ended, 1 timeout, 2 a mistake in the arguments.
 */
public final class Swait implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "autocomplete::r", "help:h:n", "quiet:Q:n", "timeout::r", "usage::n", "verbose:v:n", "version:V:n");
    private static final int MISTAKE = 2;
    /** How long one request waits, in milliseconds; the controller may answer earlier. */
    private static final long WAIT_MS = 30_000;

    private static final long RETRY_MS = 1000;

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = GetOpt.parse(OPTIONS, context.args(), false);
        if (!parsed.error().isEmpty()) {
            throw new UsageException(
                    MISTAKE,
                    List.of(context.program() + ": " + parsed.error(), "Try \"swait --help\" for more information"));
        }
        long timeoutMs = Long.MAX_VALUE;
        int verbose = 0;
        for (GetOpt.Hit hit : parsed.hits()) {
            switch (hit.opt().name()) {
                case "quiet" -> verbose = -1;
                case "verbose" -> verbose++;
                case "version" -> {
                    context.out().println(Release.LINE);
                    return 0;
                }
                case "help" -> {
                    help(context);
                    return 0;
                }
                case "usage" -> {
                    context.out()
                            .println("Usage: swait [-hQvV] [--timeout=SECS] [--usage] [<jobid>[_<task>] | s<sluid>]");
                    return 0;
                }
                case "autocomplete" -> {
                    complete(context, hit.value());
                    return 0;
                }
                case "timeout" -> {
                    long seconds = Digits.parseNumber(hit.value());
                    if (seconds < 0 || seconds > Integer.MAX_VALUE) {
                        throw context.bad(
                                MISTAKE,
                                "--timeout: invalid value '" + hit.value() + "': it is to be a non-negative integer");
                    }
                    timeoutMs = seconds * 1000;
                }
                default -> throw new IllegalStateException(hit.opt().name());
            }
        }
        if (parsed.operands().size() > 1) {
            throw context.bad(MISTAKE, "too many positional arguments");
        }
        int jobId = job(
                context, parsed.operands().isEmpty() ? "" : parsed.operands().getFirst());
        if (verbose > 0) {
            context.info("waiting for the steps of JobId=" + jobId);
        }
        return await(context, jobId, timeoutMs, verbose);
    }

    private static void complete(CommandContext context, String typed) {
        for (GetOpt.Opt o : OPTIONS) {
            String option = "--" + o.name() + (o.arg() == GetOpt.Arg.NONE ? "" : "=");
            if (option.startsWith(typed)) {
                context.out().println(option);
            }
        }
    }

    private static void help(CommandContext context) {
        context.out().println("""
            Usage: swait [OPTIONS] [jobid]
            Waits until no step of the job runs and no step of srun --async is queued. Without a job's id, the job \
            that the command runs in.

            Options:
                  --timeout=SECS          give up after so many seconds
              -Q, --quiet                 errors only
              -v, --verbose               say more of what is done
              -V, --version               output version information and exit
              -h, --help                  show this help message
                  --usage                 display brief usage message

            Exit status:
              0  no step is left
              1  the time was over first
              2  the job is not known, or something else went wrong\
            """);
    }

    /** The number of the job that is meant. */
    private static int job(CommandContext context, String typed) throws SlurmException, UsageException {
        boolean isOwnJob = typed.isEmpty();
        String id = isOwnJob ? ownJob(context) : typed;
        requireOneJob(context, id);
        int bar = id.indexOf('_');
        String master = bar < 0 ? id : id.substring(0, bar);
        boolean number = Digits.parseNumber(master) > 0;
        if (!number && !JobIds.isJob(id) || bar >= 0 && Digits.parseNumber(id.substring(bar + 1)) < 0) {
            throw context.bad(MISTAKE, id + ": cannot parse job id");
        }
        String label = (number ? "JobId=" : "SLUID ") + master;
        List<Json.Obj> found = findJobs(context, master);
        if (found.isEmpty()) {
            String manager = id.equals(context.env("SLURM_JOB_ID")) ? context.env("SLURM_STEPMGR") : "";
            throw context.bad(
                    MISTAKE,
                    (manager.isEmpty() ? "cannot load " + label : "subscribe to stepmgr " + manager + " failed") + ": "
                            + SlurmErrno.INVALID_JOB_ID.sentence());
        }
        Json.Obj meant = isOwnJob
                ? found.stream()
                        .filter(j ->
                                !number || Integer.toString(j.integer("jobId")).equals(master))
                        .filter(j -> !JobRows.isPending(j))
                        .findFirst()
                        .orElse(found.getFirst())
                : selectedJob(context, found, label, id, bar);
        if (JobRows.isPending(meant)) {
            throw context.bad(MISTAKE, label + " is still pending");
        }
        return meant.integer("jobId");
    }

    private static String ownJob(CommandContext context) {
        String sluid = context.env("SLURM_JOB_SLUID");
        return sluid.isEmpty() ? context.env("SLURM_JOB_ID") : sluid;
    }

    /** Refuses steps, ranges of array tasks and components. */
    private static void requireOneJob(CommandContext context, String id) throws UsageException {
        if (id.isEmpty()) {
            throw context.bad(MISTAKE, "no job id given and SLURM_JOB_SLUID/SLURM_JOB_ID are not set");
        }
        if (id.indexOf('.') >= 0) {
            throw context.bad(MISTAKE, "swait operates on a job, not a step: " + id);
        }
        if (id.indexOf('[') >= 0) {
            throw context.bad(MISTAKE, id + ": array-task ranges are not supported, pass one task offset");
        }
        if (id.indexOf('+') >= 0) {
            throw context.bad(MISTAKE, id + ": het-job offsets are not supported");
        }
    }

    private static Json.Obj selectedJob(CommandContext context, List<Json.Obj> found, String label, String id, int bar)
            throws UsageException {
        Json.Obj first = found.getFirst();
        if (bar >= 0 && first.integer("arrayJobId") == 0) {
            throw context.bad(MISTAKE, label + " is not an array job");
        }
        if (bar < 0) {
            boolean array = Integer.toString(first.integer("arrayJobId")).equals(id);
            if (array) {
                throw context.bad(MISTAKE, label + " is an array job: pass a specific task offset, as " + id + "_0");
            }
            return first;
        }
        int task = (int) Digits.parseNumber(id.substring(bar + 1));
        return found.stream()
                .filter(j -> j.text("arrayTasks").isEmpty() && JobRows.taskId(j) == task)
                .findFirst()
                .orElseThrow(() -> context.bad(MISTAKE, "array task " + id + " not found"));
    }

    private static List<Json.Obj> findJobs(CommandContext context, String id) throws SlurmException {
        long number = Digits.parseNumber(id);
        if (number > Integer.MAX_VALUE) {
            return List.of();
        }
        Json.Obj query = new Json.Obj();
        query.put("jobs", List.of(id));
        query.put("allStates", Boolean.TRUE);
        query.put("fields", List.of("jobId", "arrayJobId", "arrayTaskId", "arrayTasks", "state"));
        try {
            return context.host().controller().call("QueryJobs", query).objects("jobs");
        } catch (SlurmException e) {
            if (e.errno() == SlurmErrno.INVALID_JOB_ID.number()) {
                return List.of();
            }
            throw e;
        }
    }

    private static int await(CommandContext context, int jobId, long timeoutMs, int verbose) throws UsageException {
        long endMs =
                timeoutMs == Long.MAX_VALUE ? Long.MAX_VALUE : context.host().nowMs() + timeoutMs;
        while (true) {
            long leftMs = endMs - context.host().nowMs();
            try {
                Json.Obj query =
                        new Json.Obj().put("jobId", (long) jobId).put("waitMs", Math.clamp(leftMs, 0L, WAIT_MS));
                Json.Obj job = context.host().controller().call("AwaitSteps", query);
                if (AllocationClient.isOver(job) || job.flag("ready")) {
                    return 0;
                }
            } catch (SlurmException e) {
                if (e.errno() == SlurmErrno.INVALID_JOB_ID.number()) {
                    return 0; // it is over, and known no more
                }
                if (e.errno() == SlurmErrno.ACCESS_DENIED.number()
                        || context.host().nowMs() >= endMs) {
                    throw context.bad(MISTAKE, String.format(Locale.ROOT, "JobId=%d: %s", jobId, e.getMessage()));
                }
                if (verbose >= 0) {
                    context.info(e.getMessage() + ", asking again");
                }
                context.host()
                        .pause(Math.min(
                                RETRY_MS, Math.max(1, endMs - context.host().nowMs())));
            }
            if (context.host().nowMs() >= endMs) {
                if (verbose > 0) {
                    context.info("the time is over, steps are left of JobId=" + jobId);
                }
                return 1;
            }
        }
    }
}
