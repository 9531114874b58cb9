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
    private static final class Options {
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
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        Options options = new Options();
        for (GetOpt.Hit hit : parsed.hits()) {
            switch (hit.opt().name()) {
                case "help" -> {
                    context.out().println("Usage: strigger [--set | --get | --clear] [OPTIONS]");
                    context.out().println("      --set           create a trigger");
                    context.out().println("      --get           get trigger information");
                    context.out().println("      --clear         delete a trigger");
                    context.out().println("");
                    StriggerHelp.print(context);
                    return 0;
                }
                case "usage" -> {
                    context.out()
                            .println("Usage: strigger [--set | --get | --clear | --version] "
                                    + "[-aAbBcCdDefFgGhHiIjnNopQrtuv]");
                    return 0;
                }
                case "version" -> {
                    context.out().println(Release.LINE);
                    return 0;
                }
                default -> option(context, options, hit);
            }
        }
        checked(context, options);
        return switch (options.modes.iterator().next()) {
            case "set" -> set(context, options);
            case "get" -> get(context, options);
            default -> clear(context, options);
        };
    }

    private static void option(CommandContext context, Options options, GetOpt.Hit hit)
            throws UsageException, SlurmException {
        String name = hit.opt().name();
        String value = hit.value();
        if (EVENTS.contains(name)) {
            options.events.add(name);
            return;
        }
        switch (name) {
            case "set", "get", "clear" -> options.modes.add(name);
            case "flags" -> {
                if (!value.equalsIgnoreCase("perm")) {
                    throw context.bad(1, "Invalid flags " + value);
                }
                options.permanent = true;
            }
            case "id" -> options.id = number(context, "id", value);
            case "jobid" -> options.job = job(context, value);
            case "cluster", "clusters" -> Clusters.requireKnown(context, value);
            case "node" -> {
                options.ofNodes = true;
                options.nodes = value;
            }
            case "noheader" -> options.header = false;
            case "offset" -> options.offset = offset(context, value);
            case "program" -> options.program = value;
            case "quiet" -> options.quiet = true;
            case "user" -> {
                options.user = context.host().userId(value);
                if (options.user < 0) {
                    throw context.bad(1, "Invalid user " + value);
                }
            }
            case "verbose" -> options.verbose = true;
            default -> throw new IllegalStateException(name);
        }
    }

    private static int number(CommandContext context, String option, String value) throws UsageException {
        long n = Digits.parseNumber(value);
        if (n < 1 || n > Integer.MAX_VALUE) {
            throw context.bad(1, "Invalid " + option + " " + value);
        }
        return (int) n;
    }

    /** The number of a job that is named by it, by its SLUID or as a task of an array. */
    private static int job(CommandContext context, String value) throws UsageException, SlurmException {
        int id = JobIds.resolve(context, value);
        if (id == 0) {
            throw new SlurmException(SlurmErrno.INVALID_JOB_ID.number(), SlurmErrno.INVALID_JOB_ID.sentence());
        }
        if (id < 0) {
            throw context.bad(1, "Invalid " + (value.startsWith("s") ? "SLUID " : "jobid ") + value);
        }
        return id;
    }

    private static int offset(CommandContext context, String value) throws UsageException {
        long n = Digits.parseNumber(value.startsWith("-") || value.startsWith("+") ? value.substring(1) : value);
        if (n < 0) {
            throw context.bad(1, "Invalid offset " + value);
        }
        if (n > OFFSET_MAX) {
            throw context.bad(1, "The --offset parameter must be between +/-" + OFFSET_MAX);
        }
        return (int) (value.startsWith("-") ? -n : n);
    }

    private static void checked(CommandContext context, Options options) throws UsageException {
        if (options.modes.size() != 1) {
            throw context.bad(1, "You must use exactly one of the following options: --set, --get or --clear");
        }
        boolean clears = options.modes.contains("clear");
        if (clears && options.id == 0 && options.job == 0 && options.user < 0) {
            throw context.bad(1, "You must specify a --id, --jobid, or --user to clear");
        }
        boolean sets = options.modes.contains("set");
        if (sets && options.events.isEmpty()) {
            throw context.bad(1, NO_EVENT);
        }
        boolean needsJob = !clears && (options.events.contains("fini") || options.events.contains("time"));
        if (needsJob && options.job == 0) {
            throw context.bad(1, "You must specify a --jobid value");
        }
        if (!sets) {
            return;
        }
        program(context, options.program);
        if (options.job != 0 && options.ofNodes) {
            throw context.bad(1, "The --jobid and --node options can not be used together");
        }
    }

    private static void program(CommandContext context, String program) throws UsageException {
        if (program.isEmpty()) {
            throw context.bad(1, "You must specify a --program value");
        }
        if (!program.startsWith("/")) {
            throw context.bad(1, "The --program value must start with \"/\"");
        }
        if (!new File(Texts.words(program).getFirst()).isFile()) {
            throw context.bad(1, "Invalid --program value, file not found");
        }
    }

    private static int set(CommandContext context, Options options) {
        Json.Obj query = new Json.Obj();
        query.put("requestId", context.host().requestId());
        query.put("events", new ArrayList<Object>(options.events));
        JobRequest.put(query, "jobId", options.job);
        JobRequest.put(query, "nodes", options.nodes.equals("*") ? "" : options.nodes);
        JobRequest.put(query, "offsetSeconds", options.offset);
        query.put("program", options.program);
        JobRequest.put(query, "permanent", options.permanent);
        try {
            context.host().controller().call("SetTrigger", query);
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_set_trigger", e);
        }
        if (options.verbose) {
            context.info("trigger set");
        }
        return 0;
    }

    private static int clear(CommandContext context, Options options) {
        Json.Obj query = new Json.Obj();
        query.put("requestId", context.host().requestId());
        JobRequest.put(query, "id", options.id);
        JobRequest.put(query, "jobId", options.job);
        query.put("userId", (long) options.user);
        try {
            context.host().controller().call("ClearTriggers", query);
        } catch (SlurmException e) {
            return options.quiet ? 0 : CommonOptions.reportFailure(context, "slurm_clear_trigger", e);
        }
        if (options.verbose) {
            String other = options.id != 0 ? "trigger " + options.id : "triggers for user " + options.user;
            context.info((options.job != 0 ? "triggers for job " + options.job : other) + " cleared");
        }
        return 0;
    }

    private static int get(CommandContext context, Options options) {
        List<Json.Obj> all;
        try {
            all = context.host()
                    .controller()
                    .call("QueryTriggers", new Json.Obj())
                    .objects("triggers");
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_get_triggers", e);
        }
        if (options.verbose) {
            context.info("Read " + all.size() + " trigger records");
        }
        boolean first = true;
        for (Json.Obj trigger : all) {
            if (matches(trigger, options)) {
                if (first && options.header) {
                    context.out()
                            .println("TRIG_ID RES_TYPE   RES_ID TYPE                                OFFSET "
                                    + "USER     FLAGS PROGRAM");
                }
                first = false;
                context.out().println(row(trigger));
            }
        }
        return 0;
    }

    private static boolean matches(Json.Obj trigger, Options options) {
        return (options.id == 0 || trigger.integer("id") == options.id)
                && (options.job == 0 || trigger.integer("jobId") == options.job)
                && (options.user < 0 || trigger.integer("userId") == options.user)
                && (!options.ofNodes || trigger.integer("jobId") == 0)
                && (options.nodes.isEmpty() || trigger.text("nodes").equals(options.nodes))
                && (options.events.isEmpty() || !disjoint(trigger.texts("events"), options.events));
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

    private static String row(Json.Obj trigger) {
        boolean job = trigger.integer("jobId") != 0;
        List<String> events = trigger.texts("events");
        String resource;
        if (job) {
            resource = Long.toString(trigger.number("jobId"));
        } else if (events.contains(BURST_BUFFER)) {
            resource = "(null)";
        } else if (trigger.text("nodes").isEmpty()) {
            resource = "*";
        } else {
            resource = trigger.text("nodes");
        }

        return String.format(
                "%7d %-9s %7s %-35s %6d %-8s %5s %s",
                trigger.number("id"),
                job ? "job" : kind(events),
                resource,
                events.size() == 1 ? events.getFirst() : "unknown",
                trigger.number("offsetSeconds"),
                trigger.text("userName"),
                trigger.flag("permanent") ? "PERM" : "",
                trigger.text("program"));
    }
}
