package dev.muster.cli.sacct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.json.Json;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
import dev.muster.model.format.HostList;
import dev.muster.model.format.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** The options of one run of sacct. */
final class SacctOptions {
    private static final String BRIEF = "jobid,state,exitcode";
    private static final String LONG =
            "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,"
                    + "maxrssnode,maxrsstask,averss,maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,"
                    + "mincputask,avecpu,"
                    + "ntasks,alloccpus,elapsed,state,exitcode,avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,"
                    + "reqmem,"
                    + "consumedenergy,maxdiskread,maxdiskreadnode,maxdiskreadtask,avediskread,maxdiskwrite,"
                    + "maxdiskwritenode,"
                    + "maxdiskwritetask,avediskwrite,reqtres,alloctres,tresusageinave,tresusageinmax,tresusageoutave,"
                    + "tresusageoutmax";

    final Json.Obj query = new Json.Obj();
    String format = "";
    String start = "";
    String end = "";
    String delimiter = "|";
    String json = "";
    String parser = "";
    boolean parsable;
    boolean trailing;
    boolean noHeader;
    boolean users;
    boolean jobs;
    boolean states;
    String text = "";
    /** {@code -c}, and the file of {@code -f}. */
    boolean completion;

    String file = "";
    boolean array;
    boolean truncate;
    /** Whether the format was given. The next one adds to it. */
    boolean ownCluster;

    final SacctFilter filter = new SacctFilter();
    boolean localIds;
    boolean expand;
    int verbose;
    char unit;

    void read(CommandContext context, String name, String value) throws UsageException {
        switch (name) {
            case "accounts" -> list("accounts", value);
            case "allclusters" -> clusters(context, "all");
            case "associations" -> filter.associations(value);
            case "constraints" -> filter.constraints(value);
            case "flags" -> filter.flags(value);
            case "allocations" -> query.put("allocationsOnly", Boolean.TRUE);
            case "allusers" -> {
                query.put("allUsers", Boolean.TRUE);
                users = true;
            }
            case "completion", "file" -> ofCompletion(value);
            case "batch-script" -> text("script");
            case "env-vars" -> text("environment");
            case "brief" -> format = BRIEF;
            case "long" -> format = LONG;
            case "cluster", "clusters" -> clusters(context, value);
            case "delimiter" -> delimiter = value;
            case "duplicates" -> query.put("duplicates", Boolean.TRUE);
            case "starttime" -> start = value;
            case "endtime" -> end = value;
            case "format", "fields" -> {
                format = ownCluster ? format + "," + value : value;
                ownCluster = true;
            }
            case "gid", "group" -> ids(context, "groupIds", value, false);
            case "uid", "user" -> {
                users = true;
                if (value.equals("-1") || value.isEmpty()) {
                    query.put("allUsers", Boolean.TRUE);
                } else {
                    ids(context, "userIds", value, true);
                }
            }
            case "jobs" -> jobs(value);
            case "name" -> list("names", value);
            case "truncate" -> truncate = true;
            case "ncpus" -> range(context, value, "cpu", "minCpus", "maxCpus");
            case "nnodes" -> range(context, value, "node", "minNodes", "maxNodes");
            case "nodelist" -> nodes(context, value);
            case "noconvert" -> unit = 1;
            case "units" -> units(value);
            case "noheader" -> noHeader = true;
            case "parsable" -> {
                parsable = true;
                trailing = true;
            }
            case "parsable2" -> {
                parsable = true;
                trailing = false;
            }
            case "partition" -> list("partitions", value);
            case "qos" -> list("qos", value);
            case "reason" -> list("reasons", value);
            case "state" -> states(value);
            case "timelimit-max" -> query.put("maxLimitMin", minutes(value));
            case "timelimit-min" -> query.put("minLimitMin", minutes(value));
            case "json", "yaml" -> {
                json = name;
                parser = JsonOutput.requireParser(context, json, value);
            }
            case "wckeys" -> list("wckeys", value);
            case "whole-hetjob" -> wholeHetjob(value);
            // the clusters that are asked for are those named, whether they are in a federation or not
            case "federation", "local" -> {}
            case "verbose" -> verbose++;
            case "use-local-uid" -> localIds = true;
            case "expand-patterns" -> expand = true;
            case "array" -> array = true;
            default -> throw context.bad(1, "--" + name + " is not supported by this version");
        }
    }

    private void ofCompletion(String file) {
        completion = true;
        this.file = file.isEmpty() ? this.file : file;
    }

    private void units(String value) throws UsageException {
        if (value.length() != 1 || "KMGTP".indexOf(Texts.upper(value)) < 0) {
            throw new UsageException(
                    1,
                    List.of(
                            "sacct: error: Invalid unit type '" + value + "'. Possible options are 'KMGTP'",
                            "sacct: fatal: Invalid unit type"));
        }
        unit = Texts.upper(value).charAt(0);
    }

    private void list(String field, String value) {
        List<Object> all = new ArrayList<>(query.list(field));
        all.addAll(Texts.split(value, ','));
        query.put(field, all);
    }

    private void ids(CommandContext context, String field, String value, boolean user) throws UsageException {
        List<Object> all = new ArrayList<>(query.list(field));
        for (String name : Texts.split(value, ',')) {
            int id = user ? context.host().userId(name) : context.host().groupId(name);
            if (id < 0) {
                throw new UsageException(
                        1, List.of("sacct: error: Invalid " + (user ? "user" : "group") + " id: " + name));
            }
            all.add((long) id);
        }
        query.put(field, all);
    }

    private void jobs(String value) throws UsageException {
        List<Object> all = new ArrayList<>(query.list("jobs"));
        for (String id : HostList.split(value)) {
            if (JobIds.fault(id).isPresent()) {
                throw new UsageException(1, List.of("sacct: fatal: " + JobIds.objection(id)));
            }
            all.add(id);
        }
        query.put("jobs", all);
        jobs = true;
    }

    private void wholeHetjob(String value) throws UsageException {
        String word = value.isEmpty() ? "yes" : Texts.lower(value);
        if (!word.equals("yes") && !word.equals("no")) {
            throw new UsageException(
                    1,
                    List.of("sacct: error: Invalid --whole-hetjob value \"" + value + "\". Valid values: [yes|no]."));
        }
        query.put("wholeHetjob", word);
    }

    private void nodes(CommandContext context, String value) throws UsageException {
        switch (HostList.parse(value)) {
            case HostList.Parsed.Ok ok ->
                query.put("nodes", new ArrayList<Object>(ok.list().names()));
            case HostList.Parsed.Invalid invalid -> throw context.bad(1, "Invalid argument");
        }
    }

    private void range(CommandContext context, String value, String name, String min, String max)
            throws UsageException {
        int dash = value.indexOf('-');
        long low = Digits.parseNumber(dash < 0 ? value : value.substring(0, dash));
        long hi = dash < 0 ? low : Digits.parseNumber(value.substring(dash + 1));
        if (low < 0 || hi < low || hi > Integer.MAX_VALUE) {
            throw context.bad(1, "Invalid numeric value \"" + value + "\" for requested " + name + " range.");
        }
        query.put(min, low);
        query.put(max, hi);
    }

    private static long minutes(String value) throws UsageException {
        OptionalLong m = Durations.parseMinutes(value);
        if (m.isEmpty() || m.getAsLong() < 0) {
            throw new UsageException(1, List.of("sacct: fatal: Invalid time limit specification"));
        }
        return m.getAsLong();
    }

    private void states(String value) throws UsageException {
        List<Object> all = new ArrayList<>(query.list("states"));
        for (String text : Texts.split(value, ',')) {
            String name = JobRows.stateName(Texts.upper(text));
            if (name.isEmpty()) {
                throw new UsageException(1, List.of("sacct: fatal: unrecognized job state value '" + text + "'"));
            }
            all.add(name);
        }
        query.put("states", all);
        states = true;
    }

    private static long moment(CommandContext context, String text) throws UsageException {
        return switch (Times.parse(
                text, context.host().nowMs() / 1000, context.host().zone(), true)) {
            case Times.Parsed.Ok ok -> ok.epochSec();
            case Times.Parsed.Invalid invalid -> {
                // DD-HH:MM:SS ago is not Slurm's, but a year below 1970 with a clock is what scripts send for "ever"
                if (text.startsWith("1970-01-01")) {
                    yield 1;
                }
                throw new UsageException(
                        1, List.of("Invalid time specification (pos=" + invalid.position() + "): " + text));
            }
        };
    }

    /** The defaults of the window depend on what else was asked for. */
    void setWindow(CommandContext context) throws UsageException {
        long now = context.host().nowMs() / 1000;
        long from;
        if (!start.isEmpty()) {
            from = moment(context, start);
        } else if (jobs) {
            from = 0;
        } else {
            from = states ? now : moment(context, "00:00");
        }
        long to = 0;
        if (!end.isEmpty()) {
            to = moment(context, end);
        } else if (states) {
            to = start.isEmpty() ? now : from;
        }
        JobRequest.put(query, "from", from);
        JobRequest.put(query, "to", to);
        long until = to == 0 && !start.isEmpty() ? Math.max(now, 1) : to;
        if (until != 0 && until < from) {
            throw new UsageException(
                    1,
                    List.of("sacct: error: Start time (" + context.time(from) + ") requested is after end time ("
                            + context.time(until) + ")."));
        }
        if (!users && !jobs) {
            if (context.host().uid() == 0) {
                query.put("allUsers", Boolean.TRUE);
            } else {
                query.put("userIds", List.of((long) context.host().uid()));
            }
        } else if (!users) {
            query.put("allUsers", Boolean.TRUE);
        }
    }

    private void clusters(CommandContext context, String value) throws UsageException {
        if (context.host().accountingType().equals("accounting_storage/slurmdbd")) {
            list("clusters", Texts.lower(value));
        } else {
            Clusters.requireKnown(context, value);
        }
    }

    private void text(String which) throws UsageException {
        if (!text.isEmpty() && !text.equals(which)) {
            throw new UsageException(
                    1, List.of("sacct: fatal: Options --batch-script and --env-vars are mutually exclusive"));
        }
        text = which;
    }

    /** Records of completion have standard formats of their own. */
    void useCompletionFormat() {
        if (format.equals(BRIEF)) {
            format = SacctCompletions.BRIEF;
        } else if (format.equals(LONG)) {
            format = SacctCompletions.LONG;
        } else if (format.isEmpty()) {
            format = SacctCompletions.PLAIN;
        }
    }
}
