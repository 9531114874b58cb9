package dev.muster.cli.list;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Controller;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.NodeCalls;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.connection.HttpController;
import dev.muster.cli.format.JobField;
import dev.muster.cli.format.JobOrder;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.format.RowFormat;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.shape.ControlJson;
import dev.muster.cli.shape.JobsJson;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
import dev.muster.model.format.HostList;
import dev.muster.model.format.Times;
import dev.muster.model.job.JobState;
import dev.muster.model.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Runs squeue, which lists jobs or steps. */
public final class Squeue implements Command {
    private static final String PLAIN = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
    private static final String LONG = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
    private static final String STATE_ONLY = "%.18i %.2t";
    private static final String START = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";

    /** The letters of {@code --helpformat}, in the order of their columns' names. */
    private static final String HELP_FORMAT = "aFKBokOIXEexfGgiAWcmdjyNCDhPpQqrRnvYzsHSTtVJLlMUuwZ";

    static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "account:A:r",
            "all:a:n",
            "array:r:n",
            "cluster::r",
            "clusters:M:r",
            "expand-patterns::n",
            "federation::n",
            "format:o:r",
            "Format:O:r",
            "help::n",
            "hide::n",
            "helpformat::n",
            "helpstate::n",
            "iterate:i:r",
            "jobs:j:o",
            "json::o",
            "licenses:L:r",
            "local::n",
            "long:l:n",
            "me::n",
            "name:n:r",
            "noconvert::n",
            "node:w:r",
            "nodelist:w:r",
            "nodes:w:r",
            "noheader:h:n",
            "notme::n",
            "only-job-state::n",
            "partition:p:r",
            "partitions:p:r",
            "priority:P:n",
            "qos:q:r",
            "reservation:R:r",
            "running-over::r",
            "running-under::r",
            "sibling::n",
            "sort:S:r",
            "start::n",
            "states:t:r",
            "steps:s:o",
            "usage::n",
            "user:u:r",
            "users:u:r",
            "verbose:v:n",
            "version:V:n",
            "yaml::o");

    /** The options of one run. */
    static final class Wanted {
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
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        Wanted w = new Wanted();
        readEnvironment(c, w);
        for (GetOpt.Hit h : p.hits()) {
            if (CommonOptions.answer(c, OPTIONS, "", h)) {
                return 0;
            }
            if (h.opt().name().startsWith("help")) {
                boolean ofStates = h.opt().name().equals("helpstate");
                (ofStates ? List.of(stateNames().split(",")) : CommonOptions.inRows(HELP_FORMAT.split("")))
                        .forEach(c.out()::println);
                return 0;
            }
            option(c, w, h);
        }
        formats(c, w, p);
        if (w.start && w.states.isEmpty() && !w.allStates) {
            w.states.add(JobState.PENDING.name());
        }
        List<String> operands = new ArrayList<>(p.operands());
        if (w.jobsBare && w.jobs.isEmpty() && !operands.isEmpty()) {
            String list = operands.removeFirst();
            w.noJobs = Texts.split(list, ',').isEmpty();
            jobs(c, w, list);
        }
        if (w.stepsBare && w.steps.isEmpty() && !operands.isEmpty()) {
            steps(c, w, operands.removeFirst());
        }
        if (!operands.isEmpty()) {
            c.error("Unrecognized option: " + operands.getFirst());
            CommonOptions.help(c, OPTIONS, "");
            return 1;
        }
        stateOnly(c, w);
        if (w.verbose > 0) {
            SqueueReport.options(c, w);
        }
        if (!w.json.isEmpty()) {
            return json(c, w);
        }
        int rc = show(c, w);
        c.out().flush();
        while (w.iterateSeconds > 0 && !c.out().isBroken() && c.host().pause(w.iterateSeconds * 1000L)) {
            c.out().println("");
            rc = show(c, w);
            c.out().flush();
        }
        return rc;
    }

    /** {@code --only-job-state} asks for numbers and states alone: what needs more does not go with it. */
    private static void stateOnly(CommandContext c, Wanted w) throws UsageException {
        boolean more = w.usersGiven
                || w.notMe
                || w.priority
                || w.start
                || w.showSteps
                || w.longForm
                || Stream.of(w.accounts, w.partitions, w.qos, w.names, w.reservations, w.licenses, w.nodes)
                        .anyMatch(l -> !l.isEmpty());
        if (w.onlyState && more) {
            throw new UsageException(
                    1,
                    List.of(c.program() + ": fatal: Option --only-job-state only works alone, with -j (--jobs) and/or "
                            + "-t (--states) parameters, parameters for cluster/federation selection, and "
                            + "the printing options."));
        }
        if (w.onlyState && w.format.isEmpty() && w.wideFormat.isEmpty()) {
            w.format = STATE_ONLY;
        }
    }

    /** A format that is typed stands alone; one of the environment yields to the long one. */
    private static void formats(CommandContext c, Wanted w, GetOpt.Parsed p) throws UsageException {
        boolean letters = CommonOptions.isTyped(p, "format");
        if (letters && CommonOptions.isTyped(p, "Format")) {
            throw c.bad(1, "-O (--Format) is incompatible with -o (--format)");
        }
        if (letters && w.longForm) {
            throw CommonOptions.formatAndLong(c);
        }
        w.format = w.longForm ? "" : w.format;
    }

    private static void readEnvironment(CommandContext c, Wanted w) throws UsageException {
        w.all = c.env().containsKey("SQUEUE_ALL");
        w.array = c.env().containsKey("SQUEUE_ARRAY");
        w.priority = c.env().containsKey("SQUEUE_PRIORITY");
        w.format = c.env("SQUEUE_FORMAT");
        w.wideFormat = c.env("SQUEUE_FORMAT2");
        w.sort = c.env("SQUEUE_SORT");
        w.accounts.addAll(Texts.split(c.env("SQUEUE_ACCOUNT"), ','));
        w.licenses.addAll(Texts.split(c.env("SQUEUE_LICENSES"), ','));
        w.names.addAll(Texts.split(c.env("SQUEUE_NAMES"), ','));
        w.partitions.addAll(Texts.split(c.env("SQUEUE_PARTITION"), ','));
        w.qos.addAll(Texts.split(c.env("SQUEUE_QOS"), ','));
        if (c.env().containsKey("SQUEUE_STATES")) {
            states(c, w, c.env("SQUEUE_STATES"));
        }
        if (c.env().containsKey("SQUEUE_USERS")) {
            users(c, w, c.env("SQUEUE_USERS"));
        }
    }

    private static void option(CommandContext c, Wanted w, GetOpt.Hit h) throws UsageException {
        String v = h.value();
        switch (h.opt().name()) {
            case "account" -> replace(w.accounts, v);
            case "all" -> w.all = true;
            case "array" -> w.array = true;
            case "cluster", "clusters" -> w.cluster = Clusters.requireKnown(c, v);
            case "format" -> w.format = RowFormat.explicit(v);
            case "Format" -> {
                w.wideFormat = w.wideFormat.isEmpty() || c.env("SQUEUE_FORMAT2").equals(w.wideFormat)
                        ? v
                        : w.wideFormat + "," + v;
                w.format = w.wideFormat.isEmpty() ? RowFormat.NO_COLUMNS : "";
            }
            case "hide" -> w.all = false;
            case "iterate" -> w.iterateSeconds = seconds(c, v);
            case "jobs" -> {
                w.jobsBare |= v.isEmpty();
                jobs(c, w, v);
            }
            case "json", "yaml" -> {
                w.json = h.opt().name();
                w.parser = JsonOutput.requireParser(c, w.json, v);
            }
            case "licenses" -> replace(w.licenses, v);
            case "long" -> w.longForm = true;
            case "me" -> {
                users(c, w, Integer.toString(c.host().uid()));
            }
            case "notme" -> w.notMe = true;
            case "name" -> replace(w.names, v);
            case "node", "nodelist", "nodes" ->
                replace(
                        w.nodes,
                        NodeCalls.expanded(c, v.replace("localhost", c.host().hostName())));
            case "noheader" -> w.noHeader = true;
            case "partition", "partitions" -> replace(w.partitions, v);
            case "qos" -> replace(w.qos, v);
            case "reservation" -> replace(w.reservations, v);
            case "running-over" -> w.overSeconds = time(c, h);
            case "running-under" -> w.underSeconds = time(c, h);
            case "sort" -> w.sort = v;
            case "start" -> w.start = true;
            case "states" -> states(c, w, v);
            case "steps" -> {
                w.showSteps = true;
                w.stepsBare |= v.isEmpty();
                steps(c, w, v);
            }
            case "user", "users" -> users(c, w, v);
            case "priority" -> w.priority = true;
            case "noconvert" -> w.noConvert = true;
            case "expand-patterns" -> w.expand = true;
            case "only-job-state" -> w.onlyState = true;
            case "verbose" -> w.verbose++;
            // a cluster that is in no federation is all that there is to show
            case "federation" -> w.federation = true;
            case "local" -> w.local = true;
            case "sibling" -> w.sibling = true;
            default -> throw new IllegalStateException(h.opt().name());
        }
    }

    private static void steps(CommandContext c, Wanted w, String list) throws UsageException {
        for (String step : Texts.split(list, ',')) {
            if (!step.matches("[0-9].*\\..*|s[0-9A-Za-z]+\\..*")) {
                throw c.bad(1, "Invalid job_step id: " + step + (step.indexOf('.') < 0 ? ".??" : ""));
            }
            w.steps.add(step);
        }
    }

    private static void replace(List<String> list, String value) {
        list.clear();
        list.addAll(Texts.split(value, ','));
    }

    /** A time as for limits, in seconds. */
    private static long time(CommandContext c, GetOpt.Hit h) throws UsageException {
        java.util.OptionalLong seconds = Durations.parseSeconds(h.value());
        if (seconds.isEmpty() || seconds.getAsLong() < 0) {
            throw new UsageException(1, List.of(c.name() + ": fatal: Invalid time limit specification"));
        }
        return seconds.getAsLong();
    }

    /** {@code --running-over} and {@code --running-under}: what has begun, and how long ago. */
    static boolean ranAsLong(Wanted w, boolean begun, long seconds) {
        boolean asked = w.overSeconds >= 0 || w.underSeconds >= 0;
        return !asked
                || begun
                        && (w.overSeconds < 0 || seconds > w.overSeconds)
                        && (w.underSeconds < 0 || seconds < w.underSeconds);
    }

    private static int seconds(CommandContext c, String v) throws UsageException {
        long n = Digits.parseNumber(v);
        if (n < 1 || n > Integer.MAX_VALUE) {
            throw new UsageException(1, List.of(c.name() + ": error: --iterate=" + v, ""));
        }
        return (int) n;
    }

    private static void jobs(CommandContext c, Wanted w, String v) throws UsageException {
        for (String id : HostList.split(v)) {
            if (!JobIds.isJob(id)) {
                throw c.bad(1, "Invalid job id: " + id);
            }
            w.jobs.add(id);
        }
    }

    private static void users(CommandContext c, Wanted w, String v) {
        w.usersGiven = true;
        w.usersText = v;
        for (String name : Texts.split(v, ',')) {
            int uid = c.host().userId(name);
            if (uid < 0) {
                c.error("Invalid user: " + name);
                c.err().println("");
            } else {
                w.users.add(uid);
            }
        }
    }

    static void states(CommandContext c, Wanted w, String v) throws UsageException {
        w.states.clear();
        w.statesText = v;
        for (String s : Texts.split(v, ',')) {
            String up = Texts.upper(s);
            if (up.equals("ALL")) {
                w.allStates = true;
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
            w.states.add(name);
        }
    }

    private static String stateNames() {
        StringBuilder b = new StringBuilder();
        for (JobState s : JobState.values()) {
            b.append(b.isEmpty() ? "" : ",").append(Texts.lower(s.name()));
        }
        return b.append(
                        ",completing,configuring,expediting,resizing,resv_del_hold,requeued,requeue_fed,requeue_hold,revoked,")
                .append("signaling,special_exit,stage_out,stopped")
                .toString();
    }

    private static int show(CommandContext c, Wanted w) throws UsageException {
        if (!w.noHeader && (w.longForm || w.iterateSeconds > 0 || w.verbose > 0)) {
            long now = c.host().nowMs() / 1000;
            c.out().println(Times.strftime(now, c.host().zone(), "%a %b %d %H:%M:%S %Y"));
        }
        return w.showSteps ? SqueueSteps.show(c, w) : showJobs(c, w);
    }

    private static int json(CommandContext c, Wanted w) throws UsageException {
        if (w.showSteps) {
            try {
                return JsonOutput.print(
                        c,
                        w.json,
                        w.parser,
                        ControlJson.steps(
                                JsonOutput.names(c).cluster(),
                                SqueueSteps.selected(c, w),
                                c.host().nowMs() / 1000));
            } catch (SlurmException e) {
                return CommonOptions.reportFailure(c, "slurm_get_job_steps error", e);
            }
        }
        Json.Obj q = new Json.Obj();
        filters(w, q);
        boolean all = w.allStates || w.states.isEmpty() && isOneJob(w);
        JobRequest.put(q, "allStates", all);
        if (!all) {
            q.put("states", new ArrayList<Object>(w.states));
        }
        q.put("allPartitions", Boolean.TRUE);
        JobRequest.put(q, "expandArrays", w.array);
        q.put("details", Boolean.TRUE);
        try {
            Json.Obj reply = c.host().controller().call("QueryJobs", q);
            Json.Obj picked = new Json.Obj();
            reply.fields().forEach(picked::put);
            Pick pick = new Pick(w, all, c.host().uid());
            picked.put(
                    "jobs",
                    new ArrayList<Object>(
                            reply.objects("jobs").stream().filter(pick::takes).toList()));
            return JsonOutput.print(
                    c,
                    w.json,
                    w.parser,
                    w.onlyState
                            ? ControlJson.states(picked.objects("jobs"))
                            : JobsJson.answer(JsonOutput.names(c), picked, JsonOutput.version(w.parser)));
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_load_jobs error", e);
        }
    }

    private static RowFormat format(CommandContext c, Wanted w) {
        List<String> unknown = new ArrayList<>();
        RowFormat f;
        if (w.format.isEmpty() && !w.wideFormat.isEmpty()) {
            f = RowFormat.ofNames(w.wideFormat, JobField.TABLE, unknown);
        } else {
            String text;
            if (!w.format.isEmpty()) {
                text = w.format;
            } else if (w.start) {
                text = START;
            } else if (w.longForm) {
                text = LONG;
            } else {
                text = PLAIN;
            }

            f = text.equals("%all") ? everything() : RowFormat.ofLetters(text, JobField.TABLE, unknown);
        }
        for (String u : unknown) {
            c.error("Invalid job format specification: " + u);
        }
        return f;
    }

    private static RowFormat everything() {
        return RowFormat.ofLetters(RowFormat.everyLetter(JobField.TABLE, ""), JobField.TABLE, new ArrayList<>());
    }

    /** The first that is no node, as far as the nodes are told. */
    private static String unknown(CommandContext c, List<String> nodes) {
        List<String> known = new ArrayList<>();
        try {
            c.host()
                    .controller()
                    .call("QueryNodes", new Json.Obj().put("fields", List.of("name")))
                    .objects("nodes")
                    .forEach(n -> known.add(n.text("name")));
        } catch (SlurmException e) {
            return nodes.getFirst();
        }
        for (String node : nodes) {
            List<String> names = HostList.parse(node) instanceof HostList.Parsed.Ok ok
                    ? ok.list().names()
                    : List.of(node);
            Optional<String> missing =
                    names.stream().filter(name -> !known.contains(name)).findFirst();
            if (missing.isPresent()) {
                return missing.get();
            }
        }
        return nodes.getFirst();
    }

    /** Reports a wrong sort key below the heading. */
    private static JobOrder order(CommandContext c, Wanted w, RowFormat format, String sort) throws UsageException {
        try {
            return JobOrder.of(c, sort);
        } catch (UsageException e) {
            if (!w.noHeader) {
                header(c, w, format);
            }
            throw e;
        }
    }

    private static int showJobs(CommandContext c, Wanted w) throws UsageException {
        RowFormat format = format(c, w);
        String sort;
        if (!w.sort.isEmpty()) {
            sort = w.sort;
        } else if (w.start) {
            sort = "S";
        } else {
            sort = "P,t,-p";
        }

        JobOrder order = order(c, w, format, sort);
        Optional<Map<String, Long>> tiers = w.priority ? Optional.of(tiers(c)) : Optional.empty();
        Listing listing = new Listing(c, w, format, order, tiers);
        try {
            c.host().controller().rows("QueryJobs", query(c, w, format, sort), "jobs", listing);
        } catch (Json.MalformedException e) {
            return CommonOptions.reportFailure(c, "slurm_load_jobs error", HttpController.unreadable());
        } catch (SlurmException e) {
            if (e.errno() == SlurmErrno.INVALID_NODE_NAME.number() && !w.nodes.isEmpty()) {
                c.error("Invalid node name " + unknown(c, w.nodes));
                return 1;
            }
            return CommonOptions.reportFailure(c, "slurm_load_jobs error", e);
        }
        if (w.verbose > 0) {
            c.out().println("last_update_time=" + listing.lastUpdate + " records=" + listing.pick.seen);
        }
        if (isOneJob(w) && !w.start && listing.pick.seen == 0 && !isThere(c, w.jobs.getFirst())) {
            return CommonOptions.reportFailure(
                    c,
                    "slurm_load_jobs error",
                    new SlurmException(SlurmErrno.INVALID_JOB_ID.number(), SlurmErrno.INVALID_JOB_ID.sentence()));
        }
        if (!w.noHeader) {
            header(c, w, format);
        }
        listing.lines.sort(order);
        listing.lines.forEach(l -> c.out().println(l.text()));
        return 0;
    }

    /** The lines that are printed: a long queue is never held as a whole but as these. */
    private static final class Listing implements Controller.Taker {
        private final CommandContext c;
        private final Wanted w;
        private final RowFormat format;
        private final JobOrder order;
        private final Optional<Map<String, Long>> tiers;
        private final Pick pick;
        private final List<JobOrder.Line> lines = new ArrayList<>();
        private JobField.View view;
        private long lastUpdate;

        Listing(CommandContext c, Wanted w, RowFormat format, JobOrder order, Optional<Map<String, Long>> tiers) {
            this.c = c;
            this.w = w;
            this.format = format;
            this.order = order;
            this.tiers = tiers;
            pick = new Pick(w, w.allStates, c.host().uid());
        }

        @Override
        public void head(Json.Obj head) {
            lastUpdate = head.number("lastUpdate");
            view = new JobField.View(
                    c,
                    head.number("now"),
                    c.env("SLURM_TIME_FORMAT"),
                    w.onlyState ? JobRows.EACH_INDEX : JobRows.indexesShown(c),
                    cluster(c, w),
                    new JobField.Style(w.expand, w.noConvert));
        }

        @Override
        public void row(Json.Obj job) {
            if (pick.takes(job)) {
                tiers.map(t -> byPartition(t, job))
                        .orElse(List.of(job))
                        .forEach(row -> lines.add(order.line(row, line(row, format, view))));
            }
        }
    }

    private static String line(Json.Obj job, RowFormat format, JobField.View view) {
        List<String> values = new ArrayList<>(format.columns().size());
        for (RowFormat.Column col : format.columns()) {
            values.add(
                    col.field() == RowFormat.LITERAL
                            ? ""
                            : JobField.at(col.field()).value(job, view));
        }
        return format.line(values);
    }

    private static Map<String, Long> tiers(CommandContext c) {
        Map<String, Long> tiers = new HashMap<>();
        try {
            Json.Obj q = new Json.Obj();
            q.put("all", Boolean.TRUE);
            for (Json.Obj p : c.host().controller().call("QueryPartitions", q).objects("partitions")) {
                tiers.put(p.text("name"), p.number("priorityTier"));
            }
        } catch (SlurmException e) {
            tiers.clear();
        }
        return tiers;
    }

    /** {@code --priority}: a job that waits for several partitions has a row for each. */
    private static List<Json.Obj> byPartition(Map<String, Long> tiers, Json.Obj job) {
        List<Json.Obj> out = new ArrayList<>();
        List<String> names = job.text("state").equals("PENDING")
                ? Texts.split(job.text("partition"), ',')
                : List.of(job.text("partition"));
        for (String name : names) {
            Json.Obj row = new Json.Obj();
            job.fields().forEach(row::put);
            out.add(row.put("partition", name).put("partitionTier", tiers.getOrDefault(name, 0L)));
        }
        return out;
    }

    private static String cluster(CommandContext c, Wanted w) {
        List<String> known = c.host().clusters();
        if (!w.cluster.isEmpty()) {
            return w.cluster;
        }
        if (known.isEmpty()) {
            return "";
        }
        return known.getFirst();
    }

    /** One id typed once: then an unknown job is an error, with several it is just no row. */
    private static boolean isOneJob(Wanted w) {
        return w.jobs.size() == 1;
    }

    /** A job that is there but is another user's than asked for, or has no such task, is no error. */
    private static boolean isThere(CommandContext c, String job) {
        int end = 0;
        while (end < job.length() && job.charAt(end) >= '0' && job.charAt(end) <= '9') {
            end++;
        }
        Json.Obj q = new Json.Obj()
                .put("jobs", List.of(job.substring(0, end)))
                .put("allStates", Boolean.TRUE)
                .put("allPartitions", Boolean.TRUE)
                .put("fields", List.of("jobId"));
        try {
            return !c.host().controller().call("QueryJobs", q).objects("jobs").isEmpty();
        } catch (SlurmException e) {
            return false;
        }
    }

    private static void header(CommandContext c, Wanted w, RowFormat format) {
        if (!w.cluster.isEmpty()) {
            c.out().println("CLUSTER: " + w.cluster);
        }
        List<String> values = new ArrayList<>();
        for (RowFormat.Column col : format.columns()) {
            values.add(col.field() == RowFormat.LITERAL ? "" : JobField.at(col.field()).heading);
        }
        format.print(values, c.out());
    }

    static Json.Obj query(CommandContext c, Wanted w, RowFormat format, String sort) {
        Json.Obj q = new Json.Obj();
        filters(w, q);
        boolean all = w.allStates || isOneJob(w);
        JobRequest.put(q, "allStates", all);
        if (!all && !w.states.isEmpty()) {
            q.put("states", new ArrayList<Object>(w.states));
        }
        JobRequest.put(q, "allPartitions", w.all);
        JobRequest.put(q, "expandArrays", w.array);
        JobRequest.put(q, "joinArrays", true);
        JobRequest.put(q, "startEstimates", w.start);
        Set<String> fields = new LinkedHashSet<>(List.of(
                "jobId",
                "arrayJobId",
                "arrayTaskId",
                "arrayTasks",
                "arrayMaxRunning",
                "hetJobId",
                "hetOffset",
                "state",
                "flags"));
        if (!w.onlyState) {
            fields.addAll(columns(format, sort));
        }
        if (w.overSeconds >= 0 || w.underSeconds >= 0) {
            fields.add("runSeconds");
        }
        q.put("fields", new ArrayList<Object>(fields));
        return q;
    }

    /** Returns the columns that the format and the sort keys need. */
    private static Set<String> columns(RowFormat format, String sort) {
        Set<String> fields = new LinkedHashSet<>(List.of("partition", "priority", "userId"));
        for (RowFormat.Column col : format.columns()) {
            if (col.field() != RowFormat.LITERAL) {
                fields.addAll(Texts.split(JobField.at(col.field()).components, ','));
            }
        }
        for (int i = 0; i < sort.length(); i++) {
            int f = JobField.TABLE.byLetter(sort.charAt(i));
            if (f >= 0) {
                fields.addAll(Texts.split(JobField.at(f).components, ','));
            }
        }
        return fields;
    }

    static void filters(Wanted w, Json.Obj q) {
        putList(q, "jobs", w.jobs);
        putList(q, "accounts", w.accounts);
        putList(q, "partitions", w.partitions);
        putList(q, "qos", w.qos);
        putList(q, "names", w.names);
        putList(q, "reservations", w.reservations);
        putList(q, "licenses", w.licenses);
        putList(q, "nodes", w.nodes);
        if (w.usersGiven) {
            List<Object> ids = new ArrayList<>();
            for (int uid : w.users) {
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

    /** Selects the jobs that pass the options besides the controller's filters, the same for every form of output. */
    private static final class Pick {
        private final Wanted w;
        private final boolean allStates;
        private final int uid;
        private final Set<String> named = new LinkedHashSet<>();
        /** Jobs that were looked at. */
        private int seen;

        Pick(Wanted w, boolean allStates, int uid) {
            this.w = w;
            this.allStates = allStates;
            this.uid = uid;
        }

        boolean takes(Json.Obj j) {
            seen++;
            boolean is = !w.noJobs
                    && !(w.notMe && j.integer("userId") == uid)
                    && (allStates || isInState(w, j))
                    && ranAsLong(w, !j.text("state").equals("PENDING"), JobRows.used(j));
            // an id typed twice is still one job
            return is && (w.jobs.size() < 2 || named.add(JobRows.id(j, 0)));
        }
    }

    /** The state filter again: the query for one job asks for it in any state. */
    private static boolean isInState(Wanted w, Json.Obj job) {
        if (w.states.isEmpty()) {
            return JobRows.isUnfinished(job);
        }
        if (w.states.contains(job.text("state"))) {
            return true;
        }
        for (String flag : job.texts("flags")) {
            if (w.states.contains(flag)) {
                return true;
            }
        }
        return false;
    }
}
