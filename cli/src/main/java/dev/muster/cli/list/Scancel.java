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

    private static final class Wanted {
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
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        Wanted w = new Wanted();
        environment(c, w);
        for (GetOpt.Hit h : p.hits()) {
            if (CommonOptions.answer(c, OPTIONS, "[job_id[_array_id][.step_id]...]", h)) {
                return 0;
            }
            option(c, w, h.opt().name(), h.value());
        }
        List<String> jobs = new ArrayList<>();
        for (String operand : p.operands()) {
            for (String id : HostList.split(operand)) {
                if (!JobIds.isJobOrStep(id) && !id.endsWith("_")
                        || NAMED_STEP.matcher(id).find()) {
                    throw c.bad(1, "Invalid " + (JobIds.isSluidLike(id) ? "SLUID " : "job id ") + id);
                }
                jobs.add(id.endsWith("_") ? id.substring(0, id.length() - 1) : id);
            }
        }
        if (jobs.isEmpty() && !w.filtered) {
            throw c.bad(1, "No job identification provided");
        }
        if (w.interactive) {
            jobs = confirmed(c, w, jobs);
            if (jobs.isEmpty()) {
                return 0;
            }
        }
        return cancel(c, w, jobs);
    }

    private static void environment(CommandContext c, Wanted w) throws UsageException {
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
            String v = c.env(row[0]);
            if (!v.isEmpty()) {
                option(c, w, row[1], v);
            }
        }
        w.verbose += Texts.isNumber(c.env("SCANCEL_VERBOSE")) ? Integer.parseInt(c.env("SCANCEL_VERBOSE")) : 0;
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
            String v = c.env(flags[i]);
            if (v.equalsIgnoreCase("true") || v.equals("1") || v.equalsIgnoreCase("yes") || v.equalsIgnoreCase("t")) {
                option(c, w, flags[i + 1], "");
            }
        }
    }

    private static void option(CommandContext c, Wanted w, String name, String v) throws UsageException {
        switch (name) {
            case "account" -> filter(w, "accounts", "account", v);
            case "batch" -> w.request.put("batchOnly", Boolean.TRUE);
            case "cluster", "clusters" -> Clusters.requireKnown(c, v);
            case "cron" -> w.request.put("cronAllowed", Boolean.TRUE);
            case "full" -> w.request.put("full", Boolean.TRUE);
            case "hurry" -> w.request.put("hurry", Boolean.TRUE);
            case "interactive" -> w.interactive = true;
            case "name", "jobname" -> filter(w, "names", "job_name", v);
            case "nodelist" -> filter(w, "nodes", "nodelist", v);
            case "partition" -> filter(w, "partitions", "partition", v);
            case "qos" -> filter(w, "qos", "qos", v);
            case "reservation" -> filter(w, "reservations", "reservation", v);
            case "wckey" -> filter(w, "wckeys", "wckey", v);
            case "quiet" -> w.verbose = -1;
            case "verbose" -> w.verbose++;
            case "ctld" -> w.atOnce = true;
            case "me" -> user(w, c.host().uid(), c.host().userName(c.host().uid()));
            case "user" -> {
                int uid = c.host().userId(v);
                if (uid < 0) {
                    throw c.bad(1, "Invalid user name: " + v);
                }
                user(w, uid, v);
            }
            case "state" -> state(w, v);
            case "signal" -> {
                w.signal = Signals.number(v);
                w.signalGiven = true;
                if (w.signal <= 0) {
                    throw new UsageException(1, List.of("Unknown job signal: " + v));
                }
            }
            case "admin-comment" -> w.request.put("adminComment", v);
            case "sibling" -> throw c.bad(1, "--" + name + " is not supported by this cluster");
            default -> throw new IllegalStateException(name);
        }
    }

    private static void filter(Wanted w, String field, String shown, String v) {
        // jobs of one name, whatever is in it
        w.request.put(field, field.equals("names") ? List.of(v) : new ArrayList<Object>(Texts.split(v, ',')));
        w.filtered = true;
        w.filters += (w.filters.isEmpty() ? "" : ",") + shown + "=" + v + " ";
    }

    private static void user(Wanted w, int uid, String name) {
        w.request.put("userIds", List.of((long) uid));
        w.filtered = true;
        w.filters += (w.filters.isEmpty() ? "" : ",") + "user_name=" + name + " ";
    }

    private static void state(Wanted w, String v) throws UsageException {
        List<Object> states = new ArrayList<>();
        for (String s : Texts.split(v, ',')) {
            String name = JobRows.stateName(Texts.upper(s));
            if (!name.equals("PENDING") && !name.equals("RUNNING") && !name.equals("SUSPENDED")) {
                throw new UsageException(
                        1,
                        List.of(
                                "Invalid job state specified: " + s,
                                "Valid job states are PENDING, RUNNING, and SUSPENDED"));
            }
            states.add(name);
        }
        w.request.put("states", states);
        w.filtered = true;
        w.filters += (w.filters.isEmpty() ? "" : ",") + "state=" + v + " ";
    }

    private static int cancel(CommandContext c, Wanted w, List<String> jobs) throws SlurmException {
        w.request.put("requestId", c.host().requestId());
        // of steps alone, every process is killed at once; jobs are asked to end first
        boolean steps = !jobs.isEmpty() && jobs.stream().allMatch(j -> j.indexOf('.') > 0);
        JobRequest.put(w.request, "signal", w.signal == 0 && steps ? Signals.KILL : w.signal);
        if (!jobs.isEmpty()) {
            w.request.put("jobs", new ArrayList<Object>(jobs));
        }
        if (w.atOnce) {
            w.request.put("ctld", Boolean.TRUE);
        } else if (w.filtered) {
            w.request.put("tellsOthers", Boolean.TRUE);
        }
        Json.Obj reply;
        try {
            reply = c.host().controller().call("Cancel", w.request);
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
        if (w.verbose > 0) {
            describe(c, w, jobs, reply);
        }
        int rc = 0;
        for (Json.Obj e : reply.objects("errors")) {
            rc = Math.max(rc, report(c, w, e));
        }
        // slurmctld changed some of the jobs and reports the others
        return w.atOnce ? 0 : rc;
    }

    /** Says with {@code -v} which jobs and steps were signalled. */
    private static void describe(CommandContext c, Wanted w, List<String> jobs, Json.Obj reply) {
        List<String> done = reply.texts("done");
        for (String id : jobs.isEmpty() || w.filtered ? done.stream().distinct().toList() : jobs) {
            String kind;
            if (w.request.flag("batchOnly")) {
                kind = "batch job ";
            } else if (w.request.flag("full")) {
                kind = "full job ";
            } else if (id.indexOf('.') < 0) {
                kind = "job ";
            } else {
                kind = "step ";
            }
            c.info((w.signalGiven ? "Signal " + w.signal + " to " : "Terminating ") + kind + id);
        }
        if (jobs.isEmpty() && done.isEmpty() && reply.objects("errors").isEmpty()) {
            c.error("No active jobs match ALL job filters, including: " + w.filters);
        }
    }

    /** A job that is gone or unknown is no failure of a plain cancel, only -v mentions it. */
    private static int report(CommandContext c, Wanted w, Json.Obj e) throws SlurmException {
        int errno = e.integer("errno");
        boolean gone = errno == SlurmErrno.INVALID_JOB_ID.number() || errno == SlurmErrno.ALREADY_DONE.number();
        if (gone) {
            return reportGone(c, w, e);
        }
        c.error(killError(e.text("job"), e.text("error")));
        return errno & 0xff;
    }

    /** Reports a job or step that is unknown or has ended. */
    private static int reportGone(CommandContext c, Wanted w, Json.Obj e) throws SlurmException {
        String job = e.text("job");
        int dot = job.indexOf('.');
        boolean plain = !w.signalGiven && !w.request.flag("batchOnly") && !w.interactive && dot < 0;
        if (plain) {
            if (w.verbose > 0) {
                c.error(killError(job, e.text("error")));
            }
            return 0;
        }
        String ofStep = dot < 0 ? job : job.substring(0, dot);
        boolean noJob = dot < 0 || !isActive(c, ofStep);
        if (w.verbose >= 0) {
            // where the job does not have the step, the error names the job alone
            String kind = dot < 0 ? "job id " : "job step id ";
            c.error("Kill job error on " + kind + (noJob ? job : ofStep) + ": "
                    + (noJob ? SlurmErrno.INVALID_JOB_ID.sentence() : e.text("error")));
        }
        return noJob ? 1 : e.integer("errno") & 0xff;
    }

    private static String killError(String job, String error) {
        return "Kill job error on " + (job.indexOf('.') < 0 ? "job id " : "job step id ") + job + ": " + error;
    }

    /** Returns whether the job exists and has not ended. */
    private static boolean isActive(CommandContext c, String job) throws SlurmException {
        Json.Obj q = new Json.Obj().put("jobs", List.of(job)).put("fields", List.of("state"));
        try {
            return c.host().controller().call("QueryJobs", q).objects("jobs").stream()
                    .anyMatch(j -> ACTIVE.contains(j.text("state")));
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.INVALID_JOB_ID.number()) {
                throw e;
            }
            return false;
        }
    }

    private static List<String> confirmed(CommandContext c, Wanted w, List<String> jobs) throws SlurmException {
        List<String> steps = jobs.stream().filter(j -> j.indexOf('.') > 0).toList();
        List<String> candidates = jobs.isEmpty() || w.filtered && steps.isEmpty() ? matching(c, w, jobs) : jobs;
        List<String> out = new ArrayList<>();
        for (String id : candidates) {
            String about;
            try {
                about = about(c, id);
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
            c.out().print("Cancel " + (id.indexOf('.') < 0 ? "job_id=" : "step_id=") + id + about + " [y/n]? ");
            c.out().flush();
            String answer = readLine(c);
            if (answer.startsWith("y") || answer.startsWith("Y")) {
                out.add(id);
            }
        }
        return out;
    }

    /** Name and partition of a job that has not ended; empty for one that has. */
    private static String about(CommandContext c, String id) throws SlurmException {
        int dot = id.indexOf('.');
        Json.Obj q = new Json.Obj();
        q.put("jobs", List.of(dot < 0 ? id : id.substring(0, dot)));
        q.put("fields", List.of("name", "partition", "state"));
        for (Json.Obj j : c.host().controller().call("QueryJobs", q).objects("jobs")) {
            if (ACTIVE.contains(j.text("state"))) {
                return " name=" + j.text("name") + " partition=" + j.text("partition");
            }
        }
        return "";
    }

    private static List<String> matching(CommandContext c, Wanted w, List<String> jobs) throws SlurmException {
        Json.Obj q = new Json.Obj();
        if (!jobs.isEmpty()) {
            q.put("jobs", new ArrayList<Object>(jobs));
        }
        for (String f : List.of(
                "userIds", "accounts", "partitions", "qos", "names", "states", "nodes", "reservations", "wckeys")) {
            if (w.request.has(f)) {
                q.put(f, w.request.raw(f));
            }
        }
        q.put("fields", List.of("jobId", "arrayJobId", "arrayTaskId", "arrayTasks", "arrayMaxRunning", "state"));
        List<String> out = new ArrayList<>();
        for (Json.Obj j : c.host().controller().call("QueryJobs", q).objects("jobs")) {
            out.add(JobRows.id(j, 0));
        }
        return out;
    }

    private static String readLine(CommandContext c) {
        StringBuilder b = new StringBuilder();
        try {
            for (int ch = c.in().read(); ch >= 0 && ch != '\n'; ch = c.in().read()) {
                b.append((char) ch);
            }
        } catch (IOException e) {
            return "";
        }
        return b.toString().strip();
    }
}
