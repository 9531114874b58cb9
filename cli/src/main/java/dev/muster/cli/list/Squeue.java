package dev.muster.cli.list;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Controller;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.connection.HttpController;
import dev.muster.cli.format.JobField;
import dev.muster.cli.format.JobOrder;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.format.RowFormat;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.shape.ControlJson;
import dev.muster.cli.shape.JobsJson;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.model.format.Times;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Runs squeue, which lists jobs or steps. */
public final class Squeue implements Command {
    private static final String PLAIN = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
    private static final String LONG = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
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

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        SqueueOptions w = new SqueueOptions();
        w.readEnvironment(c);
        for (GetOpt.Hit h : p.hits()) {
            if (CommonOptions.answer(c, OPTIONS, "", h)) {
                return 0;
            }
            if (h.opt().name().startsWith("help")) {
                boolean ofStates = h.opt().name().equals("helpstate");
                (ofStates
                                ? List.of(SqueueOptions.stateNames().split(","))
                                : CommonOptions.inRows(HELP_FORMAT.split("")))
                        .forEach(c.out()::println);
                return 0;
            }
            w.read(c, h);
        }
        w.requireOneFormat(c, p);
        if (w.start && w.states.isEmpty() && !w.allStates) {
            w.states.add(JobState.PENDING.name());
        }
        List<String> operands = w.takeLists(c, p.operands());
        if (!operands.isEmpty()) {
            c.error("Unrecognized option: " + operands.getFirst());
            CommonOptions.help(c, OPTIONS, "");
            return 1;
        }
        w.requireStateOnly(c);
        if (w.verbose > 0) {
            SqueueReport.options(c, w);
        }
        if (!w.json.isEmpty()) {
            return json(c, w);
        }
        return showRepeatedly(c, w);
    }

    private static int showRepeatedly(CommandContext c, SqueueOptions w) throws UsageException {
        int rc = show(c, w);
        c.out().flush();
        while (w.iterateSeconds > 0 && !c.out().isBroken() && c.host().pause(w.iterateSeconds * 1000L)) {
            c.out().println("");
            rc = show(c, w);
            c.out().flush();
        }
        return rc;
    }

    private static int show(CommandContext c, SqueueOptions w) throws UsageException {
        if (!w.noHeader && (w.longForm || w.iterateSeconds > 0 || w.verbose > 0)) {
            long now = c.host().nowMs() / 1000;
            c.out().println(Times.strftime(now, c.host().zone(), "%a %b %d %H:%M:%S %Y"));
        }
        return w.showSteps ? SqueueSteps.show(c, w) : showJobs(c, w);
    }

    private static int json(CommandContext c, SqueueOptions w) throws UsageException {
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
        w.filters(q);
        boolean all = w.allStates || w.states.isEmpty() && w.isOneJob();
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

    private static RowFormat format(CommandContext c, SqueueOptions w) {
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
    private static JobOrder order(CommandContext c, SqueueOptions w, RowFormat format, String sort)
            throws UsageException {
        try {
            return JobOrder.of(c, sort);
        } catch (UsageException e) {
            if (!w.noHeader) {
                header(c, w, format);
            }
            throw e;
        }
    }

    private static int showJobs(CommandContext c, SqueueOptions w) throws UsageException {
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
        if (w.isOneJob() && !w.start && listing.pick.seen == 0 && !isThere(c, w.jobs.getFirst())) {
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
        private final SqueueOptions w;
        private final RowFormat format;
        private final JobOrder order;
        private final Optional<Map<String, Long>> tiers;
        private final Pick pick;
        private final List<JobOrder.Line> lines = new ArrayList<>();

        @SuppressWarnings("NullAway.Init") // the head of an answer comes before its rows
        private JobField.View view;

        private long lastUpdate;

        Listing(
                CommandContext c,
                SqueueOptions w,
                RowFormat format,
                JobOrder order,
                Optional<Map<String, Long>> tiers) {
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

    private static String cluster(CommandContext c, SqueueOptions w) {
        List<String> known = c.host().clusters();
        if (!w.cluster.isEmpty()) {
            return w.cluster;
        }
        if (known.isEmpty()) {
            return "";
        }
        return known.getFirst();
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

    private static void header(CommandContext c, SqueueOptions w, RowFormat format) {
        if (!w.cluster.isEmpty()) {
            c.out().println("CLUSTER: " + w.cluster);
        }
        List<String> values = new ArrayList<>();
        for (RowFormat.Column col : format.columns()) {
            values.add(col.field() == RowFormat.LITERAL ? "" : JobField.at(col.field()).heading);
        }
        format.print(values, c.out());
    }

    static Json.Obj query(CommandContext c, SqueueOptions w, RowFormat format, String sort) {
        Json.Obj q = new Json.Obj();
        w.filters(q);
        boolean all = w.allStates || w.isOneJob();
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

    /** Selects the jobs that pass the options besides the controller's filters, the same for every form of output. */
    private static final class Pick {
        private final SqueueOptions w;
        private final boolean allStates;
        private final int uid;
        private final Set<String> named = new LinkedHashSet<>();
        /** Jobs that were looked at. */
        private int seen;

        Pick(SqueueOptions w, boolean allStates, int uid) {
            this.w = w;
            this.allStates = allStates;
            this.uid = uid;
        }

        boolean takes(Json.Obj j) {
            seen++;
            boolean is = !w.noJobs
                    && !(w.notMe && j.integer("userId") == uid)
                    && (allStates || w.isInState(j))
                    && w.ranAsLong(!j.text("state").equals("PENDING"), JobRows.used(j));
            // an id typed twice is still one job
            return is && (w.jobs.size() < 2 || named.add(JobRows.id(j, 0)));
        }
    }
}
