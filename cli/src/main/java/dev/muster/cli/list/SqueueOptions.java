package dev.muster.cli.list;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.NodeCalls;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.format.RowFormat;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.json.Json;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** The options of one run of squeue, read from the environment and the command line. */
final class SqueueOptions {
    private static final String STATE_ONLY = "%.18i %.2t";

    final List<String> jobs = new ArrayList<>();
    /** A list of none was given. */
    boolean noJobs;

    final List<String> steps = new ArrayList<>();
    final List<String> accounts = new ArrayList<>();
    final List<String> partitions = new ArrayList<>();
    final List<String> qos = new ArrayList<>();
    final List<String> names = new ArrayList<>();
    final List<String> reservations = new ArrayList<>();
    final List<String> licenses = new ArrayList<>();
    final List<String> nodes = new ArrayList<>();
    final List<String> states = new ArrayList<>();
    final List<Integer> users = new ArrayList<>();
    /** {@code -j} or {@code -s} without a value glued to it: the operand that follows is the value. */
    boolean jobsBare;

    boolean stepsBare;
    boolean usersGiven;
    boolean notMe;
    boolean all;
    boolean allStates;
    boolean array;
    boolean showSteps;
    boolean longForm;
    boolean noHeader;
    boolean start;
    String format = "";
    String wideFormat = "";
    String sort = "";
    String cluster = "";
    String json = "";
    String parser = "";
    int iterateSeconds;
    /** Seconds that a job has run at least, and at most; -1 where nothing is said. */
    long overSeconds = -1;

    long underSeconds = -1;
    boolean priority;
    boolean federation;
    boolean sibling;
    boolean local;
    boolean expand;
    boolean noConvert;
    boolean onlyState;
    int verbose;
    /** Users and states as they were typed, for -v. */
    String usersText = "";

    String statesText = "";

    void readEnvironment(CommandContext c) throws UsageException {
        all = c.env().containsKey("SQUEUE_ALL");
        array = c.env().containsKey("SQUEUE_ARRAY");
        priority = c.env().containsKey("SQUEUE_PRIORITY");
        format = c.env("SQUEUE_FORMAT");
        wideFormat = c.env("SQUEUE_FORMAT2");
        sort = c.env("SQUEUE_SORT");
        accounts.addAll(Texts.split(c.env("SQUEUE_ACCOUNT"), ','));
        licenses.addAll(Texts.split(c.env("SQUEUE_LICENSES"), ','));
        names.addAll(Texts.split(c.env("SQUEUE_NAMES"), ','));
        partitions.addAll(Texts.split(c.env("SQUEUE_PARTITION"), ','));
        qos.addAll(Texts.split(c.env("SQUEUE_QOS"), ','));
        if (c.env().containsKey("SQUEUE_STATES")) {
            states(c, c.env("SQUEUE_STATES"));
        }
        if (c.env().containsKey("SQUEUE_USERS")) {
            users(c, c.env("SQUEUE_USERS"));
        }
    }

    void read(CommandContext c, GetOpt.Hit h) throws UsageException {
        String v = h.value();
        switch (h.opt().name()) {
            case "account" -> replace(accounts, v);
            case "all" -> all = true;
            case "array" -> array = true;
            case "cluster", "clusters" -> cluster = Clusters.requireKnown(c, v);
            case "format" -> format = RowFormat.explicit(v);
            case "Format" -> {
                wideFormat =
                        wideFormat.isEmpty() || c.env("SQUEUE_FORMAT2").equals(wideFormat) ? v : wideFormat + "," + v;
                format = wideFormat.isEmpty() ? RowFormat.NO_COLUMNS : "";
            }
            case "hide" -> all = false;
            case "iterate" -> iterateSeconds = seconds(c, v);
            case "jobs" -> {
                jobsBare |= v.isEmpty();
                jobs(c, v);
            }
            case "json", "yaml" -> {
                json = h.opt().name();
                parser = JsonOutput.requireParser(c, json, v);
            }
            case "licenses" -> replace(licenses, v);
            case "long" -> longForm = true;
            case "me" -> users(c, Integer.toString(c.host().uid()));
            case "notme" -> notMe = true;
            case "name" -> replace(names, v);
            case "node", "nodelist", "nodes" ->
                replace(
                        nodes,
                        NodeCalls.expanded(c, v.replace("localhost", c.host().hostName())));
            case "noheader" -> noHeader = true;
            case "partition", "partitions" -> replace(partitions, v);
            case "qos" -> replace(qos, v);
            case "reservation" -> replace(reservations, v);
            case "running-over" -> overSeconds = time(c, h);
            case "running-under" -> underSeconds = time(c, h);
            case "sort" -> sort = v;
            case "start" -> start = true;
            case "states" -> states(c, v);
            case "steps" -> {
                showSteps = true;
                stepsBare |= v.isEmpty();
                steps(c, v);
            }
            case "user", "users" -> users(c, v);
            case "priority" -> priority = true;
            case "noconvert" -> noConvert = true;
            case "expand-patterns" -> expand = true;
            case "only-job-state" -> onlyState = true;
            case "verbose" -> verbose++;
            // a cluster that is in no federation is all that there is to show
            case "federation" -> federation = true;
            case "local" -> local = true;
            case "sibling" -> sibling = true;
            default -> throw new IllegalStateException(h.opt().name());
        }
    }

    /**
     * Takes the operand that is the list of a bare {@code -j} or {@code -s}.
     *
     * @return the operands that are left
     */
    List<String> takeLists(CommandContext c, List<String> typed) throws UsageException {
        List<String> operands = new ArrayList<>(typed);
        if (jobsBare && jobs.isEmpty() && !operands.isEmpty()) {
            String list = operands.removeFirst();
            noJobs = Texts.split(list, ',').isEmpty();
            jobs(c, list);
        }
        if (stepsBare && steps.isEmpty() && !operands.isEmpty()) {
            steps(c, operands.removeFirst());
        }
        return operands;
    }

    /** A format that is typed stands alone; one of the environment yields to the long one. */
    void requireOneFormat(CommandContext c, GetOpt.Parsed p) throws UsageException {
        boolean letters = CommonOptions.isTyped(p, "format");
        if (letters && CommonOptions.isTyped(p, "Format")) {
            throw c.bad(1, "-O (--Format) is incompatible with -o (--format)");
        }
        if (letters && longForm) {
            throw CommonOptions.formatAndLong(c);
        }
        format = longForm ? "" : format;
    }

    /** {@code --only-job-state} asks for numbers and states alone: what needs more does not go with it. */
    void requireStateOnly(CommandContext c) throws UsageException {
        boolean more = usersGiven
                || notMe
                || priority
                || start
                || showSteps
                || longForm
                || Stream.of(accounts, partitions, qos, names, reservations, licenses, nodes)
                        .anyMatch(l -> !l.isEmpty());
        if (onlyState && more) {
            throw new UsageException(
                    1,
                    List.of(c.program() + ": fatal: Option --only-job-state only works alone, with -j (--jobs) and/or "
                            + "-t (--states) parameters, parameters for cluster/federation selection, and "
                            + "the printing options."));
        }
        if (onlyState && format.isEmpty() && wideFormat.isEmpty()) {
            format = STATE_ONLY;
        }
    }

    private void steps(CommandContext c, String list) throws UsageException {
        for (String step : Texts.split(list, ',')) {
            if (!step.matches("[0-9].*\\..*|s[0-9A-Za-z]+\\..*")) {
                throw c.bad(1, "Invalid job_step id: " + step + (step.indexOf('.') < 0 ? ".??" : ""));
            }
            steps.add(step);
        }
    }

    private static void replace(List<String> list, String value) {
        list.clear();
        list.addAll(Texts.split(value, ','));
    }

    /** A time as for limits, in seconds. */
    private static long time(CommandContext c, GetOpt.Hit h) throws UsageException {
        OptionalLong seconds = Durations.parseSeconds(h.value());
        if (seconds.isEmpty() || seconds.getAsLong() < 0) {
            throw new UsageException(1, List.of(c.name() + ": fatal: Invalid time limit specification"));
        }
        return seconds.getAsLong();
    }

    /** {@code --running-over} and {@code --running-under}: what has begun, and how long ago. */
    boolean ranAsLong(boolean begun, long seconds) {
        boolean asked = overSeconds >= 0 || underSeconds >= 0;
        return !asked
                || begun && (overSeconds < 0 || seconds > overSeconds) && (underSeconds < 0 || seconds < underSeconds);
    }

    private static int seconds(CommandContext c, String v) throws UsageException {
        long n = Digits.parseNumber(v);
        if (n < 1 || n > Integer.MAX_VALUE) {
            throw new UsageException(1, List.of(c.name() + ": error: --iterate=" + v, ""));
        }
        return (int) n;
    }

    private void jobs(CommandContext c, String v) throws UsageException {
        for (String id : HostList.split(v)) {
            if (!JobIds.isJob(id)) {
                throw c.bad(1, "Invalid job id: " + id);
            }
            jobs.add(id);
        }
    }

    private void users(CommandContext c, String v) {
        usersGiven = true;
        usersText = v;
        for (String name : Texts.split(v, ',')) {
            int uid = c.host().userId(name);
            if (uid < 0) {
                c.error("Invalid user: " + name);
                c.err().println("");
            } else {
                users.add(uid);
            }
        }
    }

    void states(CommandContext c, String v) throws UsageException {
        states.clear();
        statesText = v;
        for (String s : Texts.split(v, ',')) {
            String up = Texts.upper(s);
            if (up.equals("ALL")) {
                allStates = true;
                continue;
            }
            String name = JobRows.stateName(up);
            if (name.isEmpty()) {
                throw new UsageException(
                        1,
                        List.of(
                                c.name() + ": error: Invalid job state specified: " + s,
                                c.name() + ": error: Valid job states include: " + stateNames(),
                                ""));
            }
            states.add(name);
        }
    }

    static String stateNames() {
        StringBuilder b = new StringBuilder();
        for (JobState s : JobState.values()) {
            b.append(b.isEmpty() ? "" : ",").append(Texts.lower(s.name()));
        }
        return b.append(",completing,configuring,expediting,resizing,resv_del_hold,requeued,requeue_fed,"
                        + "requeue_hold,revoked,")
                .append("signaling,special_exit,stage_out,stopped")
                .toString();
    }

    void filters(Json.Obj q) {
        putList(q, "jobs", jobs);
        putList(q, "accounts", accounts);
        putList(q, "partitions", partitions);
        putList(q, "qos", qos);
        putList(q, "names", names);
        putList(q, "reservations", reservations);
        putList(q, "licenses", licenses);
        putList(q, "nodes", nodes);
        if (usersGiven) {
            List<Object> ids = new ArrayList<>();
            for (int uid : users) {
                ids.add((long) uid);
            }
            if (ids.isEmpty()) {
                ids.add(-2L);
            }
            q.put("userIds", ids);
        }
    }

    private static void putList(Json.Obj q, String name, List<String> values) {
        if (!values.isEmpty()) {
            q.put(name, new ArrayList<Object>(values));
        }
    }

    /** One id typed once: then an unknown job is an error, with several it is just no row. */
    boolean isOneJob() {
        return jobs.size() == 1;
    }

    /** The state filter again: the query for one job asks for it in any state. */
    boolean isInState(Json.Obj job) {
        if (states.isEmpty()) {
            return JobRows.isUnfinished(job);
        }
        if (states.contains(job.text("state"))) {
            return true;
        }
        for (String flag : job.texts("flags")) {
            if (states.contains(flag)) {
                return true;
            }
        }
        return false;
    }
}
