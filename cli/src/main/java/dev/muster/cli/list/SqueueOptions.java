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
    /** Least seconds that a job has run, and the most; -1 where unset. */
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

    void readEnvironment(CommandContext context) throws UsageException {
        all = context.env().containsKey("SQUEUE_ALL");
        array = context.env().containsKey("SQUEUE_ARRAY");
        priority = context.env().containsKey("SQUEUE_PRIORITY");
        format = context.env("SQUEUE_FORMAT");
        wideFormat = context.env("SQUEUE_FORMAT2");
        sort = context.env("SQUEUE_SORT");
        accounts.addAll(Texts.split(context.env("SQUEUE_ACCOUNT"), ','));
        licenses.addAll(Texts.split(context.env("SQUEUE_LICENSES"), ','));
        names.addAll(Texts.split(context.env("SQUEUE_NAMES"), ','));
        partitions.addAll(Texts.split(context.env("SQUEUE_PARTITION"), ','));
        qos.addAll(Texts.split(context.env("SQUEUE_QOS"), ','));
        if (context.env().containsKey("SQUEUE_STATES")) {
            states(context, context.env("SQUEUE_STATES"));
        }
        if (context.env().containsKey("SQUEUE_USERS")) {
            users(context, context.env("SQUEUE_USERS"));
        }
    }

    void read(CommandContext context, GetOpt.Hit hit) throws UsageException {
        String value = hit.value();
        switch (hit.opt().name()) {
            case "account" -> replace(accounts, value);
            case "all" -> all = true;
            case "array" -> array = true;
            case "cluster", "clusters" -> cluster = Clusters.requireKnown(context, value);
            case "format" -> format = RowFormat.explicit(value);
            case "Format" -> {
                wideFormat =
                        wideFormat.isEmpty() || context.env("SQUEUE_FORMAT2").equals(wideFormat)
                                ? value
                                : wideFormat + "," + value;
                format = wideFormat.isEmpty() ? RowFormat.NO_COLUMNS : "";
            }
            case "hide" -> all = false;
            case "iterate" -> iterateSeconds = seconds(context, value);
            case "jobs" -> {
                jobsBare |= value.isEmpty();
                jobs(context, value);
            }
            case "json", "yaml" -> {
                json = hit.opt().name();
                parser = JsonOutput.requireParser(context, json, value);
            }
            case "licenses" -> replace(licenses, value);
            case "long" -> longForm = true;
            case "me" -> users(context, Integer.toString(context.host().uid()));
            case "notme" -> notMe = true;
            case "name" -> replace(names, value);
            case "node", "nodelist", "nodes" -> replace(nodes, nodeNames(context, value));
            case "noheader" -> noHeader = true;
            case "partition", "partitions" -> replace(partitions, value);
            case "qos" -> replace(qos, value);
            case "reservation" -> replace(reservations, value);
            case "running-over" -> overSeconds = time(context, hit);
            case "running-under" -> underSeconds = time(context, hit);
            case "sort" -> sort = value;
            case "start" -> start = true;
            case "states" -> states(context, value);
            case "steps" -> {
                showSteps = true;
                stepsBare |= value.isEmpty();
                steps(context, value);
            }
            case "user", "users" -> users(context, value);
            case "priority" -> priority = true;
            case "noconvert" -> noConvert = true;
            case "expand-patterns" -> expand = true;
            case "only-job-state" -> onlyState = true;
            case "verbose" -> verbose++;
            // a cluster that is in no federation is all that there is to show
            case "federation" -> federation = true;
            case "local" -> local = true;
            case "sibling" -> sibling = true;
            default -> throw new IllegalStateException(hit.opt().name());
        }
    }

    /** Expands the names of a list of nodes; localhost is this host. */
    private static String nodeNames(CommandContext context, String value) {
        return NodeCalls.expanded(
                context, value.replace("localhost", context.host().hostName()));
    }

    /**
     * Takes the operand that is the list of a bare {@code -j} or {@code -s}.
     *
     * @return the operands that are left
     */
    List<String> takeLists(CommandContext context, List<String> typed) throws UsageException {
        List<String> operands = new ArrayList<>(typed);
        if (jobsBare && jobs.isEmpty() && !operands.isEmpty()) {
            String list = operands.removeFirst();
            noJobs = Texts.split(list, ',').isEmpty();
            jobs(context, list);
        }
        if (stepsBare && steps.isEmpty() && !operands.isEmpty()) {
            steps(context, operands.removeFirst());
        }
        return operands;
    }

    /** A format that is typed stands alone; one of the environment yields to the long one. */
    void requireOneFormat(CommandContext context, GetOpt.Parsed parsed) throws UsageException {
        boolean letters = CommonOptions.isTyped(parsed, "format");
        if (letters && CommonOptions.isTyped(parsed, "Format")) {
            throw context.bad(1, "-O (--Format) is incompatible with -o (--format)");
        }
        if (letters && longForm) {
            throw CommonOptions.formatAndLong(context);
        }
        format = longForm ? "" : format;
    }

    /** {@code --only-job-state} asks for numbers and states alone: what needs more does not go with it. */
    void requireStateOnly(CommandContext context) throws UsageException {
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
                    List.of(context.program()
                            + ": fatal: Option --only-job-state only works alone, with -j (--jobs) and/or "
                            + "-t (--states) parameters, parameters for cluster/federation selection, and "
                            + "the printing options."));
        }
        if (onlyState && format.isEmpty() && wideFormat.isEmpty()) {
            format = STATE_ONLY;
        }
    }

    private void steps(CommandContext context, String list) throws UsageException {
        for (String step : Texts.split(list, ',')) {
            if (!step.matches("[0-9].*\\..*|s[0-9A-Za-z]+\\..*")) {
                throw context.bad(1, "Invalid job_step id: " + step + (step.indexOf('.') < 0 ? ".??" : ""));
            }
            steps.add(step);
        }
    }

    private static void replace(List<String> list, String value) {
        list.clear();
        list.addAll(Texts.split(value, ','));
    }

    /** A time as for limits, in seconds. */
    private static long time(CommandContext context, GetOpt.Hit hit) throws UsageException {
        OptionalLong seconds = Durations.parseSeconds(hit.value());
        if (seconds.isEmpty() || seconds.getAsLong() < 0) {
            throw new UsageException(1, List.of(context.name() + ": fatal: Invalid time limit specification"));
        }
        return seconds.getAsLong();
    }

    /** {@code --running-over} and {@code --running-under}: what has begun, and how long ago. */
    boolean ranAsLong(boolean begun, long seconds) {
        boolean isFiltered = overSeconds >= 0 || underSeconds >= 0;
        return !isFiltered
                || begun && (overSeconds < 0 || seconds > overSeconds) && (underSeconds < 0 || seconds < underSeconds);
    }

    private static int seconds(CommandContext context, String value) throws UsageException {
        long n = Digits.parseNumber(value);
        if (n < 1 || n > Integer.MAX_VALUE) {
            throw new UsageException(1, List.of(context.name() + ": error: --iterate=" + value, ""));
        }
        return (int) n;
    }

    private void jobs(CommandContext context, String value) throws UsageException {
        for (String id : HostList.split(value)) {
            if (!JobIds.isJob(id)) {
                throw context.bad(1, "Invalid job id: " + id);
            }
            jobs.add(id);
        }
    }

    private void users(CommandContext context, String value) {
        usersGiven = true;
        usersText = value;
        for (String name : Texts.split(value, ',')) {
            int uid = context.host().userId(name);
            if (uid < 0) {
                context.error("Invalid user: " + name);
                context.err().println("");
            } else {
                users.add(uid);
            }
        }
    }

    void states(CommandContext context, String value) throws UsageException {
        states.clear();
        statesText = value;
        for (String text : Texts.split(value, ',')) {
            String up = Texts.upper(text);
            if (up.equals("ALL")) {
                allStates = true;
                continue;
            }
            String name = JobRows.stateName(up);
            if (name.isEmpty()) {
                throw new UsageException(
                        1,
                        List.of(
                                context.name() + ": error: Invalid job state specified: " + text,
                                context.name() + ": error: Valid job states include: " + stateNames(),
                                ""));
            }
            states.add(name);
        }
    }

    static String stateNames() {
        StringBuilder text = new StringBuilder();
        for (JobState s : JobState.values()) {
            text.append(text.isEmpty() ? "" : ",").append(Texts.lower(s.name()));
        }
        return text.append(",completing,configuring,expediting,resizing,resv_del_hold,requeued,requeue_fed,"
                        + "requeue_hold,revoked,")
                .append("signaling,special_exit,stage_out,stopped")
                .toString();
    }

    void filters(Json.Obj query) {
        putList(query, "jobs", jobs);
        putList(query, "accounts", accounts);
        putList(query, "partitions", partitions);
        putList(query, "qos", qos);
        putList(query, "names", names);
        putList(query, "reservations", reservations);
        putList(query, "licenses", licenses);
        putList(query, "nodes", nodes);
        if (usersGiven) {
            List<Object> ids = new ArrayList<>();
            for (int uid : users) {
                ids.add((long) uid);
            }
            if (ids.isEmpty()) {
                ids.add(-2L);
            }
            query.put("userIds", ids);
        }
    }

    private static void putList(Json.Obj query, String name, List<String> values) {
        if (!values.isEmpty()) {
            query.put(name, new ArrayList<Object>(values));
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
