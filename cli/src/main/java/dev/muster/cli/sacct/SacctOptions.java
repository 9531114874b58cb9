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
    boolean own;

    final SacctFilter filter = new SacctFilter();
    boolean localIds;
    boolean expand;
    int verbose;
    char unit;

    void read(CommandContext c, String name, String v) throws UsageException {
        switch (name) {
            case "accounts" -> list("accounts", v);
            case "allclusters" -> clusters(c, "all");
            case "associations" -> filter.associations(v);
            case "constraints" -> filter.constraints(v);
            case "flags" -> filter.flags(v);
            case "allocations" -> query.put("allocationsOnly", Boolean.TRUE);
            case "allusers" -> {
                query.put("allUsers", Boolean.TRUE);
                users = true;
            }
            case "completion", "file" -> ofCompletion(v);
            case "batch-script" -> text("script");
            case "env-vars" -> text("environment");
            case "brief" -> format = BRIEF;
            case "long" -> format = LONG;
            case "cluster", "clusters" -> clusters(c, v);
            case "delimiter" -> delimiter = v;
            case "duplicates" -> query.put("duplicates", Boolean.TRUE);
            case "starttime" -> start = v;
            case "endtime" -> end = v;
            case "format", "fields" -> {
                format = own ? format + "," + v : v;
                own = true;
            }
            case "gid", "group" -> ids(c, "groupIds", v, false);
            case "uid", "user" -> {
                users = true;
                if (v.equals("-1") || v.isEmpty()) {
                    query.put("allUsers", Boolean.TRUE);
                } else {
                    ids(c, "userIds", v, true);
                }
            }
            case "jobs" -> jobs(v);
            case "name" -> list("names", v);
            case "truncate" -> truncate = true;
            case "ncpus" -> range(c, v, "cpu", "minCpus", "maxCpus");
            case "nnodes" -> range(c, v, "node", "minNodes", "maxNodes");
            case "nodelist" -> nodes(c, v);
            case "noconvert" -> unit = 1;
            case "units" -> units(v);
            case "noheader" -> noHeader = true;
            case "parsable" -> {
                parsable = true;
                trailing = true;
            }
            case "parsable2" -> {
                parsable = true;
                trailing = false;
            }
            case "partition" -> list("partitions", v);
            case "qos" -> list("qos", v);
            case "reason" -> list("reasons", v);
            case "state" -> states(v);
            case "timelimit-max" -> query.put("maxLimitMin", minutes(v));
            case "timelimit-min" -> query.put("minLimitMin", minutes(v));
            case "json", "yaml" -> {
                json = name;
                parser = JsonOutput.requireParser(c, json, v);
            }
            case "wckeys" -> list("wckeys", v);
            case "whole-hetjob" -> wholeHetjob(v);
            // the clusters that are asked for are those named, whether they are in a federation or not
            case "federation", "local" -> {}
            case "verbose" -> verbose++;
            case "use-local-uid" -> localIds = true;
            case "expand-patterns" -> expand = true;
            case "array" -> array = true;
            default -> throw c.bad(1, "--" + name + " is not supported by this version");
        }
    }

    private void ofCompletion(String file) {
        completion = true;
        this.file = file.isEmpty() ? this.file : file;
    }

    private void units(String v) throws UsageException {
        if (v.length() != 1 || "KMGTP".indexOf(Texts.upper(v)) < 0) {
            throw new UsageException(
                    1,
                    List.of(
                            "sacct: error: Invalid unit type '" + v + "'. Possible options are 'KMGTP'",
                            "sacct: fatal: Invalid unit type"));
        }
        unit = Texts.upper(v).charAt(0);
    }

    private void list(String field, String v) {
        List<Object> all = new ArrayList<>(query.list(field));
        all.addAll(Texts.split(v, ','));
        query.put(field, all);
    }

    private void ids(CommandContext c, String field, String v, boolean user) throws UsageException {
        List<Object> all = new ArrayList<>(query.list(field));
        for (String name : Texts.split(v, ',')) {
            int id = user ? c.host().userId(name) : c.host().groupId(name);
            if (id < 0) {
                throw new UsageException(
                        1, List.of("sacct: error: Invalid " + (user ? "user" : "group") + " id: " + name));
            }
            all.add((long) id);
        }
        query.put(field, all);
    }

    private void jobs(String v) throws UsageException {
        List<Object> all = new ArrayList<>(query.list("jobs"));
        for (String id : HostList.split(v)) {
            if (JobIds.fault(id).isPresent()) {
                throw new UsageException(1, List.of("sacct: fatal: " + JobIds.objection(id)));
            }
            all.add(id);
        }
        query.put("jobs", all);
        jobs = true;
    }

    private void wholeHetjob(String v) throws UsageException {
        String word = v.isEmpty() ? "yes" : Texts.lower(v);
        if (!word.equals("yes") && !word.equals("no")) {
            throw new UsageException(
                    1, List.of("sacct: error: Invalid --whole-hetjob value \"" + v + "\". Valid values: [yes|no]."));
        }
        query.put("wholeHetjob", word);
    }

    private void nodes(CommandContext c, String v) throws UsageException {
        switch (HostList.parse(v)) {
            case HostList.Parsed.Ok ok ->
                query.put("nodes", new ArrayList<Object>(ok.list().names()));
            case HostList.Parsed.Invalid bad -> throw c.bad(1, "Invalid argument");
        }
    }

    private void range(CommandContext c, String v, String what, String min, String max) throws UsageException {
        int dash = v.indexOf('-');
        long lo = Digits.parseNumber(dash < 0 ? v : v.substring(0, dash));
        long hi = dash < 0 ? lo : Digits.parseNumber(v.substring(dash + 1));
        if (lo < 0 || hi < lo || hi > Integer.MAX_VALUE) {
            throw c.bad(1, "Invalid numeric value \"" + v + "\" for requested " + what + " range.");
        }
        query.put(min, lo);
        query.put(max, hi);
    }

    private static long minutes(String v) throws UsageException {
        OptionalLong m = Durations.parseMinutes(v);
        if (m.isEmpty() || m.getAsLong() < 0) {
            throw new UsageException(1, List.of("sacct: fatal: Invalid time limit specification"));
        }
        return m.getAsLong();
    }

    private void states(String v) throws UsageException {
        List<Object> all = new ArrayList<>(query.list("states"));
        for (String s : Texts.split(v, ',')) {
            String name = JobRows.stateName(Texts.upper(s));
            if (name.isEmpty()) {
                throw new UsageException(1, List.of("sacct: fatal: unrecognized job state value '" + s + "'"));
            }
            all.add(name);
        }
        query.put("states", all);
        states = true;
    }

    private static long moment(CommandContext c, String text) throws UsageException {
        return switch (Times.parse(text, c.host().nowMs() / 1000, c.host().zone(), true)) {
            case Times.Parsed.Ok ok -> ok.epochSec();
            case Times.Parsed.Invalid bad -> {
                // DD-HH:MM:SS ago is not Slurm's, but a year below 1970 with a clock is what scripts send for "ever"
                if (text.startsWith("1970-01-01")) {
                    yield 1;
                }
                throw new UsageException(
                        1, List.of("Invalid time specification (pos=" + bad.position() + "): " + text));
            }
        };
    }

    /** The defaults of the window depend on what else was asked for. */
    void setWindow(CommandContext c) throws UsageException {
        long now = c.host().nowMs() / 1000;
        long from;
        if (!start.isEmpty()) {
            from = moment(c, start);
        } else if (jobs) {
            from = 0;
        } else {
            from = states ? now : moment(c, "00:00");
        }
        long to = 0;
        if (!end.isEmpty()) {
            to = moment(c, end);
        } else if (states) {
            to = start.isEmpty() ? now : from;
        }
        JobRequest.put(query, "from", from);
        JobRequest.put(query, "to", to);
        long until = to == 0 && !start.isEmpty() ? Math.max(now, 1) : to;
        if (until != 0 && until < from) {
            throw new UsageException(
                    1,
                    List.of("sacct: error: Start time (" + c.time(from) + ") requested is after end time ("
                            + c.time(until) + ")."));
        }
        if (!users && !jobs) {
            if (c.host().uid() == 0) {
                query.put("allUsers", Boolean.TRUE);
            } else {
                query.put("userIds", List.of((long) c.host().uid()));
            }
        } else if (!users) {
            query.put("allUsers", Boolean.TRUE);
        }
    }

    private void clusters(CommandContext c, String v) throws UsageException {
        if (c.host().accountingType().equals("accounting_storage/slurmdbd")) {
            list("clusters", Texts.lower(v));
        } else {
            Clusters.requireKnown(c, v);
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
