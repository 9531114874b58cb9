package dev.muster.cli.list;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.request.JobRequest;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Runs scancel, which cancels or signals jobs and steps. */
public final class Scancel implements Command {
    /** A step is given by its number: scancel takes no {@code 12.batch}, for which {@code --batch} is. */
    private static final Pattern NAMED_STEP = Pattern.compile("\\.[a-zA-Z]");

    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "account:A:r",
            "admin-comment::r",
            "batch:b:n",
            "cluster::r",
            "clusters:M:r",
            "cron:c:n",
            "ctld::n",
            "full:f:n",
            "help::n",
            "hurry:H:n",
            "interactive:i:n",
            "jobname:n:r",
            "me::n",
            "name:n:r",
            "nodelist:w:r",
            "partition:p:r",
            "qos:q:r",
            "quiet:Q:n",
            "reservation:R:r",
            "sibling:S:r",
            "signal:s:r",
            "state:t:r",
            "usage::n",
            "user:u:r",
            "verbose:v:n",
            "version:V:n",
            "wckey::r");

    private static final List<String> ACTIVE = List.of("PENDING", "RUNNING", "SUSPENDED");

    private static final class Options {
        final Json.Obj request = new Json.Obj();
        int signal;
        boolean signalGiven;
        boolean filtered;
        boolean interactive;
        /** {@code --ctld}: one request, which takes those that the caller may cancel. */
        boolean atOnce;

        int verbose;
        String filters = "";
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        Options options = new Options();
        environment(context, options);
        for (GetOpt.Hit hit : parsed.hits()) {
            if (CommonOptions.answer(context, OPTIONS, "[job_id[_array_id][.step_id]...]", hit)) {
                return 0;
            }
            option(context, options, hit.opt().name(), hit.value());
        }
        List<String> jobs = new ArrayList<>();
        for (String operand : parsed.operands()) {
            for (String id : HostList.split(operand)) {
                if (!JobIds.isJobOrStep(id) && !id.endsWith("_")
                        || NAMED_STEP.matcher(id).find()) {
                    throw context.bad(1, "Invalid " + (JobIds.isSluidLike(id) ? "SLUID " : "job id ") + id);
                }
                jobs.add(id.endsWith("_") ? id.substring(0, id.length() - 1) : id);
            }
        }
        if (jobs.isEmpty() && !options.filtered) {
            throw context.bad(1, "No job identification provided");
        }
        if (options.interactive) {
            jobs = confirmed(context, options, jobs);
            if (jobs.isEmpty()) {
                return 0;
            }
        }
        return cancel(context, options, jobs);
    }

    private static void environment(CommandContext context, Options options) throws UsageException {
        String[][] table = {
            {"SCANCEL_ACCOUNT", "account"},
            {"SCANCEL_NAME", "name"},
            {"SCANCEL_PARTITION", "partition"},
            {"SCANCEL_QOS", "qos"},
            {"SCANCEL_STATE", "state"},
            {"SCANCEL_USER", "user"},
            {"SCANCEL_WCKEY", "wckey"}
        };
        for (String[] row : table) {
            String value = context.env(row[0]);
            if (!value.isEmpty()) {
                option(context, options, row[1], value);
            }
        }
        options.verbose +=
                Texts.isNumber(context.env("SCANCEL_VERBOSE")) ? Integer.parseInt(context.env("SCANCEL_VERBOSE")) : 0;
        String[] flags = {
            "SCANCEL_BATCH",
            "batch",
            "SCANCEL_FULL",
            "full",
            "SCANCEL_HURRY",
            "hurry",
            "SCANCEL_INTERACTIVE",
            "interactive",
            "SCANCEL_CRON",
            "cron",
            "SCANCEL_CTLD",
            "ctld"
        };
        for (int i = 0; i < flags.length; i += 2) {
            String value = context.env(flags[i]);
            if (value.equalsIgnoreCase("true")
                    || value.equals("1")
                    || value.equalsIgnoreCase("yes")
                    || value.equalsIgnoreCase("t")) {
                option(context, options, flags[i + 1], "");
            }
        }
    }

    private static void option(CommandContext context, Options options, String name, String value)
            throws UsageException {
        switch (name) {
            case "account" -> filter(options, "accounts", "account", value);
            case "batch" -> options.request.put("batchOnly", Boolean.TRUE);
            case "cluster", "clusters" -> Clusters.requireKnown(context, value);
            case "cron" -> options.request.put("cronAllowed", Boolean.TRUE);
            case "full" -> options.request.put("full", Boolean.TRUE);
            case "hurry" -> options.request.put("hurry", Boolean.TRUE);
            case "interactive" -> options.interactive = true;
            case "name", "jobname" -> filter(options, "names", "job_name", value);
            case "nodelist" -> filter(options, "nodes", "nodelist", value);
            case "partition" -> filter(options, "partitions", "partition", value);
            case "qos" -> filter(options, "qos", "qos", value);
            case "reservation" -> filter(options, "reservations", "reservation", value);
            case "wckey" -> filter(options, "wckeys", "wckey", value);
            case "quiet" -> options.verbose = -1;
            case "verbose" -> options.verbose++;
            case "ctld" -> options.atOnce = true;
            case "me" ->
                user(
                        options,
                        context.host().uid(),
                        context.host().userName(context.host().uid()));
            case "user" -> {
                int uid = context.host().userId(value);
                if (uid < 0) {
                    throw context.bad(1, "Invalid user name: " + value);
                }
                user(options, uid, value);
            }
            case "state" -> state(options, value);
            case "signal" -> {
                options.signal = Signals.number(value);
                options.signalGiven = true;
                if (options.signal <= 0) {
                    throw new UsageException(1, List.of("Unknown job signal: " + value));
                }
            }
            case "admin-comment" -> options.request.put("adminComment", value);
            case "sibling" -> throw context.bad(1, "--" + name + " is not supported by this cluster");
            default -> throw new IllegalStateException(name);
        }
    }

    private static void filter(Options options, String field, String shown, String value) {
        // jobs of one name, whatever is in it
        options.request.put(
                field, field.equals("names") ? List.of(value) : new ArrayList<Object>(Texts.split(value, ',')));
        options.filtered = true;
        options.filters += (options.filters.isEmpty() ? "" : ",") + shown + "=" + value + " ";
    }

    private static void user(Options options, int uid, String name) {
        options.request.put("userIds", List.of((long) uid));
        options.filtered = true;
        options.filters += (options.filters.isEmpty() ? "" : ",") + "user_name=" + name + " ";
    }

    private static void state(Options options, String value) throws UsageException {
        List<Object> states = new ArrayList<>();
        for (String text : Texts.split(value, ',')) {
            String name = JobRows.stateName(Texts.upper(text));
            if (!name.equals("PENDING") && !name.equals("RUNNING") && !name.equals("SUSPENDED")) {
                throw new UsageException(
                        1,
                        List.of(
                                "Invalid job state specified: " + text,
                                "Valid job states are PENDING, RUNNING, and SUSPENDED"));
            }
            states.add(name);
        }
        options.request.put("states", states);
        options.filtered = true;
        options.filters += (options.filters.isEmpty() ? "" : ",") + "state=" + value + " ";
    }

    private static int cancel(CommandContext context, Options options, List<String> jobs) throws SlurmException {
        options.request.put("requestId", context.host().requestId());
        // of steps alone, every process is killed at once; jobs are asked to end first
        boolean steps = !jobs.isEmpty() && jobs.stream().allMatch(j -> j.indexOf('.') > 0);
        JobRequest.put(options.request, "signal", options.signal == 0 && steps ? Signals.KILL : options.signal);
        if (!jobs.isEmpty()) {
            options.request.put("jobs", new ArrayList<Object>(jobs));
        }
        if (options.atOnce) {
            options.request.put("ctld", Boolean.TRUE);
        } else if (options.filtered) {
            options.request.put("tellsOthers", Boolean.TRUE);
        }
        Json.Obj reply;
        try {
            reply = context.host().controller().call("Cancel", options.request);
        } catch (SlurmException e) {
            if (jobs.isEmpty()) {
                throw e;
            }
            reply = new Json.Obj();
            Json.Obj one = new Json.Obj();
            one.put("job", jobs.getFirst());
            one.put("errno", (long) e.errno());
            one.put("error", e.getMessage());
            reply.put("errors", List.of(one));
        }
        if (options.verbose > 0) {
            describe(context, options, jobs, reply);
        }
        int rc = 0;
        for (Json.Obj e : reply.objects("errors")) {
            rc = Math.max(rc, report(context, options, e));
        }
        // slurmctld changed some of the jobs and reports the others
        return options.atOnce ? 0 : rc;
    }

    /** Says with {@code -v} which jobs and steps were signalled. */
    private static void describe(CommandContext context, Options options, List<String> jobs, Json.Obj reply) {
        List<String> done = reply.texts("done");
        for (String id :
                jobs.isEmpty() || options.filtered ? done.stream().distinct().toList() : jobs) {
            String kind;
            if (options.request.flag("batchOnly")) {
                kind = "batch job ";
            } else if (options.request.flag("full")) {
                kind = "full job ";
            } else if (id.indexOf('.') < 0) {
                kind = "job ";
            } else {
                kind = "step ";
            }
            context.info((options.signalGiven ? "Signal " + options.signal + " to " : "Terminating ") + kind + id);
        }
        if (jobs.isEmpty() && done.isEmpty() && reply.objects("errors").isEmpty()) {
            context.error("No active jobs match ALL job filters, including: " + options.filters);
        }
    }

    /** A job that is gone or unknown is no failure of a plain cancel, only -v mentions it. */
    private static int report(CommandContext context, Options options, Json.Obj e) throws SlurmException {
        int errno = e.integer("errno");
        boolean gone = errno == SlurmErrno.INVALID_JOB_ID.number() || errno == SlurmErrno.ALREADY_DONE.number();
        if (gone) {
            return reportGone(context, options, e);
        }
        context.error(killError(e.text("job"), e.text("error")));
        return errno & 0xff;
    }

    /** Reports a job or step that is unknown or has ended. */
    private static int reportGone(CommandContext context, Options options, Json.Obj e) throws SlurmException {
        String job = e.text("job");
        int dot = job.indexOf('.');
        boolean plain = !options.signalGiven && !options.request.flag("batchOnly") && !options.interactive && dot < 0;
        if (plain) {
            if (options.verbose > 0) {
                context.error(killError(job, e.text("error")));
            }
            return 0;
        }
        String ofStep = dot < 0 ? job : job.substring(0, dot);
        boolean noJob = dot < 0 || !isActive(context, ofStep);
        if (options.verbose >= 0) {
            // where the job does not have the step, the error names the job alone
            String kind = dot < 0 ? "job id " : "job step id ";
            context.error("Kill job error on " + kind + (noJob ? job : ofStep) + ": "
                    + (noJob ? SlurmErrno.INVALID_JOB_ID.sentence() : e.text("error")));
        }
        return noJob ? 1 : e.integer("errno") & 0xff;
    }

    private static String killError(String job, String error) {
        return "Kill job error on " + (job.indexOf('.') < 0 ? "job id " : "job step id ") + job + ": " + error;
    }

    /** Returns whether the job exists and has not ended. */
    private static boolean isActive(CommandContext context, String job) throws SlurmException {
        Json.Obj query = new Json.Obj().put("jobs", List.of(job)).put("fields", List.of("state"));
        try {
            return context.host().controller().call("QueryJobs", query).objects("jobs").stream()
                    .anyMatch(j -> ACTIVE.contains(j.text("state")));
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.INVALID_JOB_ID.number()) {
                throw e;
            }
            return false;
        }
    }

    private static List<String> confirmed(CommandContext context, Options options, List<String> jobs)
            throws SlurmException {
        List<String> steps = jobs.stream().filter(j -> j.indexOf('.') > 0).toList();
        List<String> candidates =
                jobs.isEmpty() || options.filtered && steps.isEmpty() ? matching(context, options, jobs) : jobs;
        List<String> out = new ArrayList<>();
        for (String id : candidates) {
            String about;
            try {
                about = about(context, id);
            } catch (SlurmException e) {
                if (e.errno() != SlurmErrno.INVALID_JOB_ID.number()) {
                    throw e;
                }
                about = "";
            }
            if (about.isEmpty()) {
                out.add(id); // unknown or ended: the controller refuses it in its words
                continue;
            }
            context.out().print("Cancel " + (id.indexOf('.') < 0 ? "job_id=" : "step_id=") + id + about + " [y/n]? ");
            context.out().flush();
            String answer = readLine(context);
            if (answer.startsWith("y") || answer.startsWith("Y")) {
                out.add(id);
            }
        }
        return out;
    }

    /** Name and partition of a job that has not ended; empty for one that has. */
    private static String about(CommandContext context, String id) throws SlurmException {
        int dot = id.indexOf('.');
        Json.Obj query = new Json.Obj();
        query.put("jobs", List.of(dot < 0 ? id : id.substring(0, dot)));
        query.put("fields", List.of("name", "partition", "state"));
        for (Json.Obj job : context.host().controller().call("QueryJobs", query).objects("jobs")) {
            if (ACTIVE.contains(job.text("state"))) {
                return " name=" + job.text("name") + " partition=" + job.text("partition");
            }
        }
        return "";
    }

    private static List<String> matching(CommandContext context, Options options, List<String> jobs)
            throws SlurmException {
        Json.Obj query = new Json.Obj();
        if (!jobs.isEmpty()) {
            query.put("jobs", new ArrayList<Object>(jobs));
        }
        for (String f : List.of(
                "userIds", "accounts", "partitions", "qos", "names", "states", "nodes", "reservations", "wckeys")) {
            if (options.request.has(f)) {
                query.put(f, options.request.raw(f));
            }
        }
        query.put("fields", List.of("jobId", "arrayJobId", "arrayTaskId", "arrayTasks", "arrayMaxRunning", "state"));
        List<String> out = new ArrayList<>();
        for (Json.Obj job : context.host().controller().call("QueryJobs", query).objects("jobs")) {
            out.add(JobRows.id(job, 0));
        }
        return out;
    }

    private static String readLine(CommandContext context) {
        StringBuilder text = new StringBuilder();
        try {
            for (int ch = context.in().read();
                    ch >= 0 && ch != '\n';
                    ch = context.in().read()) {
                text.append((char) ch);
            }
        } catch (IOException e) {
            return "";
        }
        return text.toString().strip();
    }
}
