package dev.muster.cli.list;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.request.JobRequest;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Runs strigger, which sets, shows and clears triggers: programs that run on an event. */
public final class Strigger implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "set::n",
            "get::n",
            "clear::n",
            "burst_buffer::n",
            "primary_slurmctld_failure:a:n",
            "primary_slurmctld_resumed_operation:A:n",
            "primary_slurmctld_resumed_control:b:n",
            "backup_slurmctld_failure:B:n",
            "backup_slurmctld_resumed_operation:c:n",
            "backup_slurmctld_assumed_control:C:n",
            "down:d:n",
            "draining::n",
            "drained:D:n",
            "primary_slurmctld_acct_buffer_full:e:n",
            "fail:F:n",
            "fini:f:n",
            "flags::r",
            "primary_slurmdbd_failure:g:n",
            "primary_slurmdbd_resumed_operation:G:n",
            "primary_database_failure:h:n",
            "primary_database_resumed_operation:H:n",
            "id:i:r",
            "idle:I:n",
            "jobid:j:r",
            "cluster:M:r",
            "clusters:M:r",
            "node:n:o",
            "noheader:N:n",
            "offset:o:r",
            "program:p:r",
            "quiet:Q:n",
            "reconfig:r:n",
            "resume:R:n",
            "time:t:n",
            "up:u:n",
            "user::r",
            "verbose:v:n",
            "version:V:n",
            "help::n",
            "usage::n");
    private static final Set<String> EVENTS = new TreeSet<>(List.of(
            "burst_buffer",
            "primary_slurmctld_failure",
            "primary_slurmctld_resumed_operation",
            "primary_slurmctld_resumed_control",
            "backup_slurmctld_failure",
            "backup_slurmctld_resumed_operation",
            "backup_slurmctld_assumed_control",
            "down",
            "draining",
            "drained",
            "resume",
            "primary_slurmctld_acct_buffer_full",
            "fail",
            "fini",
            "primary_slurmdbd_failure",
            "primary_slurmdbd_resumed_operation",
            "primary_database_failure",
            "primary_database_resumed_operation",
            "idle",
            "reconfig",
            "time",
            "up"));
    private static final String BURST_BUFFER = "burst_buffer";
    private static final int OFFSET_MAX = 32_000;
    private static final String NO_EVENT = "You must specify a trigger";

    /** The request of the command line. */
    private static final class Wanted {
        private final Set<String> modes = new TreeSet<>();
        private final List<String> events = new ArrayList<>();
        private int id;
        private int job;
        private String nodes = "";
        private boolean ofNodes;
        private int offset;
        private String program = "";
        private boolean permanent;
        /** -1 for any. */
        private int user = -1;

        private boolean header = true;
        private boolean quiet;
        private boolean verbose;
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        Wanted w = new Wanted();
        for (GetOpt.Hit h : p.hits()) {
            switch (h.opt().name()) {
                case "help" -> {
                    c.out().println("Usage: strigger [--set | --get | --clear] [OPTIONS]");
                    c.out().println("      --set           create a trigger");
                    c.out().println("      --get           get trigger information");
                    c.out().println("      --clear         delete a trigger");
                    c.out().println("");
                    StriggerHelp.print(c);
                    return 0;
                }
                case "usage" -> {
                    c.out()
                            .println("Usage: strigger [--set | --get | --clear | --version] "
                                    + "[-aAbBcCdDefFgGhHiIjnNopQrtuv]");
                    return 0;
                }
                case "version" -> {
                    c.out().println(Release.LINE);
                    return 0;
                }
                default -> option(c, w, h);
            }
        }
        checked(c, w);
        return switch (w.modes.iterator().next()) {
            case "set" -> set(c, w);
            case "get" -> get(c, w);
            default -> clear(c, w);
        };
    }

    private static void option(CommandContext c, Wanted w, GetOpt.Hit h) throws UsageException, SlurmException {
        String name = h.opt().name();
        String value = h.value();
        if (EVENTS.contains(name)) {
            w.events.add(name);
            return;
        }
        switch (name) {
            case "set", "get", "clear" -> w.modes.add(name);
            case "flags" -> {
                if (!value.equalsIgnoreCase("perm")) {
                    throw c.bad(1, "Invalid flags " + value);
                }
                w.permanent = true;
            }
            case "id" -> w.id = number(c, "id", value);
            case "jobid" -> w.job = job(c, value);
            case "cluster", "clusters" -> Clusters.requireKnown(c, value);
            case "node" -> {
                w.ofNodes = true;
                w.nodes = value;
            }
            case "noheader" -> w.header = false;
            case "offset" -> w.offset = offset(c, value);
            case "program" -> w.program = value;
            case "quiet" -> w.quiet = true;
            case "user" -> {
                w.user = c.host().userId(value);
                if (w.user < 0) {
                    throw c.bad(1, "Invalid user " + value);
                }
            }
            case "verbose" -> w.verbose = true;
            default -> throw new IllegalStateException(name);
        }
    }

    private static int number(CommandContext c, String option, String value) throws UsageException {
        long n = Digits.parseNumber(value);
        if (n < 1 || n > Integer.MAX_VALUE) {
            throw c.bad(1, "Invalid " + option + " " + value);
        }
        return (int) n;
    }

    /** The number of a job that is named by it, by its SLUID or as a task of an array. */
    private static int job(CommandContext c, String value) throws UsageException, SlurmException {
        int id = JobIds.resolve(c, value);
        if (id == 0) {
            throw new SlurmException(SlurmErrno.INVALID_JOB_ID.number(), SlurmErrno.INVALID_JOB_ID.sentence());
        }
        if (id < 0) {
            throw c.bad(1, "Invalid " + (value.startsWith("s") ? "SLUID " : "jobid ") + value);
        }
        return id;
    }

    private static int offset(CommandContext c, String value) throws UsageException {
        long n = Digits.parseNumber(value.startsWith("-") || value.startsWith("+") ? value.substring(1) : value);
        if (n < 0) {
            throw c.bad(1, "Invalid offset " + value);
        }
        if (n > OFFSET_MAX) {
            throw c.bad(1, "The --offset parameter must be between +/-" + OFFSET_MAX);
        }
        return (int) (value.startsWith("-") ? -n : n);
    }

    private static void checked(CommandContext c, Wanted w) throws UsageException {
        if (w.modes.size() != 1) {
            throw c.bad(1, "You must use exactly one of the following options: --set, --get or --clear");
        }
        boolean clears = w.modes.contains("clear");
        if (clears && w.id == 0 && w.job == 0 && w.user < 0) {
            throw c.bad(1, "You must specify a --id, --jobid, or --user to clear");
        }
        boolean sets = w.modes.contains("set");
        if (sets && w.events.isEmpty()) {
            throw c.bad(1, NO_EVENT);
        }
        boolean needsJob = !clears && (w.events.contains("fini") || w.events.contains("time"));
        if (needsJob && w.job == 0) {
            throw c.bad(1, "You must specify a --jobid value");
        }
        if (!sets) {
            return;
        }
        program(c, w.program);
        if (w.job != 0 && w.ofNodes) {
            throw c.bad(1, "The --jobid and --node options can not be used together");
        }
    }

    private static void program(CommandContext c, String program) throws UsageException {
        if (program.isEmpty()) {
            throw c.bad(1, "You must specify a --program value");
        }
        if (!program.startsWith("/")) {
            throw c.bad(1, "The --program value must start with \"/\"");
        }
        if (!new File(Texts.words(program).getFirst()).isFile()) {
            throw c.bad(1, "Invalid --program value, file not found");
        }
    }

    private static int set(CommandContext c, Wanted w) {
        Json.Obj q = new Json.Obj();
        q.put("requestId", c.host().requestId());
        q.put("events", new ArrayList<Object>(w.events));
        JobRequest.put(q, "jobId", w.job);
        JobRequest.put(q, "nodes", w.nodes.equals("*") ? "" : w.nodes);
        JobRequest.put(q, "offsetSeconds", w.offset);
        q.put("program", w.program);
        JobRequest.put(q, "permanent", w.permanent);
        try {
            c.host().controller().call("SetTrigger", q);
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_set_trigger", e);
        }
        if (w.verbose) {
            c.info("trigger set");
        }
        return 0;
    }

    private static int clear(CommandContext c, Wanted w) {
        Json.Obj q = new Json.Obj();
        q.put("requestId", c.host().requestId());
        JobRequest.put(q, "id", w.id);
        JobRequest.put(q, "jobId", w.job);
        q.put("userId", (long) w.user);
        try {
            c.host().controller().call("ClearTriggers", q);
        } catch (SlurmException e) {
            return w.quiet ? 0 : CommonOptions.reportFailure(c, "slurm_clear_trigger", e);
        }
        if (w.verbose) {
            String other = w.id != 0 ? "trigger " + w.id : "triggers for user " + w.user;
            c.info((w.job != 0 ? "triggers for job " + w.job : other) + " cleared");
        }
        return 0;
    }

    private static int get(CommandContext c, Wanted w) {
        List<Json.Obj> all;
        try {
            all = c.host().controller().call("QueryTriggers", new Json.Obj()).objects("triggers");
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_get_triggers", e);
        }
        if (w.verbose) {
            c.info("Read " + all.size() + " trigger records");
        }
        boolean first = true;
        for (Json.Obj t : all) {
            if (matches(t, w)) {
                if (first && w.header) {
                    c.out()
                            .println("TRIG_ID RES_TYPE   RES_ID TYPE                                OFFSET "
                                    + "USER     FLAGS PROGRAM");
                }
                first = false;
                c.out().println(row(t));
            }
        }
        return 0;
    }

    private static boolean matches(Json.Obj t, Wanted w) {
        return (w.id == 0 || t.integer("id") == w.id)
                && (w.job == 0 || t.integer("jobId") == w.job)
                && (w.user < 0 || t.integer("userId") == w.user)
                && (!w.ofNodes || t.integer("jobId") == 0)
                && (w.nodes.isEmpty() || t.text("nodes").equals(w.nodes))
                && (w.events.isEmpty() || !disjoint(t.texts("events"), w.events));
    }

    private static boolean disjoint(List<String> a, List<String> b) {
        return java.util.Collections.disjoint(a, b);
    }

    /** Nodes, where it is not a daemon that something happens to. */
    private static String kind(List<String> events) {
        String first = events.isEmpty() ? "" : events.getFirst();
        for (String kind : List.of("slurmctld", "slurmdbd", "database")) {
            if (first.contains("_" + kind + "_")) {
                return kind;
            }
        }
        return first.equals(BURST_BUFFER) ? "other" : "node";
    }

    private static String row(Json.Obj t) {
        boolean job = t.integer("jobId") != 0;
        List<String> events = t.texts("events");
        String resource;
        if (job) {
            resource = Long.toString(t.number("jobId"));
        } else if (events.contains(BURST_BUFFER)) {
            resource = "(null)";
        } else if (t.text("nodes").isEmpty()) {
            resource = "*";
        } else {
            resource = t.text("nodes");
        }

        return String.format(
                "%7d %-9s %7s %-35s %6d %-8s %5s %s",
                t.number("id"),
                job ? "job" : kind(events),
                resource,
                events.size() == 1 ? events.getFirst() : "unknown",
                t.number("offsetSeconds"),
                t.text("userName"),
                t.flag("permanent") ? "PERM" : "",
                t.text("program"));
    }
}
