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
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        SqueueOptions options = new SqueueOptions();
        options.readEnvironment(context);
        for (GetOpt.Hit hit : parsed.hits()) {
            if (CommonOptions.answer(context, OPTIONS, "", hit)) {
                return 0;
            }
            if (hit.opt().name().startsWith("help")) {
                boolean ofStates = hit.opt().name().equals("helpstate");
                (ofStates
                                ? List.of(SqueueOptions.stateNames().split(","))
                                : CommonOptions.inRows(HELP_FORMAT.split("")))
                        .forEach(context.out()::println);
                return 0;
            }
            options.read(context, hit);
        }
        options.requireOneFormat(context, parsed);
        if (options.start && options.states.isEmpty() && !options.allStates) {
            options.states.add(JobState.PENDING.name());
        }
        List<String> operands = options.takeLists(context, parsed.operands());
        if (!operands.isEmpty()) {
            context.error("Unrecognized option: " + operands.getFirst());
            CommonOptions.help(context, OPTIONS, "");
            return 1;
        }
        options.requireStateOnly(context);
        if (options.verbose > 0) {
            SqueueReport.options(context, options);
        }
        if (!options.json.isEmpty()) {
            return json(context, options);
        }
        return showRepeatedly(context, options);
    }

    private static int showRepeatedly(CommandContext context, SqueueOptions options) throws UsageException {
        int rc = show(context, options);
        context.out().flush();
        while (options.iterateSeconds > 0
                && !context.out().isBroken()
                && context.host().pause(options.iterateSeconds * 1000L)) {
            context.out().println("");
            rc = show(context, options);
            context.out().flush();
        }
        return rc;
    }

    private static int show(CommandContext context, SqueueOptions options) throws UsageException {
        if (!options.noHeader && (options.longForm || options.iterateSeconds > 0 || options.verbose > 0)) {
            long now = context.host().nowMs() / 1000;
            context.out().println(Times.strftime(now, context.host().zone(), "%a %b %d %H:%M:%S %Y"));
        }
        return options.showSteps ? SqueueSteps.show(context, options) : showJobs(context, options);
    }

    private static int json(CommandContext context, SqueueOptions options) throws UsageException {
        if (options.showSteps) {
            try {
                return JsonOutput.print(
                        context,
                        options.json,
                        options.parser,
                        ControlJson.steps(
                                JsonOutput.names(context).cluster(),
                                SqueueSteps.selected(context, options),
                                context.host().nowMs() / 1000));
            } catch (SlurmException e) {
                return CommonOptions.reportFailure(context, "slurm_get_job_steps error", e);
            }
        }
        Json.Obj query = new Json.Obj();
        options.filters(query);
        boolean all = options.allStates || options.states.isEmpty() && options.isOneJob();
        JobRequest.put(query, "allStates", all);
        if (!all) {
            query.put("states", new ArrayList<Object>(options.states));
        }
        query.put("allPartitions", Boolean.TRUE);
        JobRequest.put(query, "expandArrays", options.array);
        query.put("details", Boolean.TRUE);
        try {
            Json.Obj reply = context.host().controller().call("QueryJobs", query);
            Json.Obj picked = new Json.Obj();
            reply.fields().forEach(picked::put);
            RowFilter pick = new RowFilter(options, all, context.host().uid());
            picked.put(
                    "jobs",
                    new ArrayList<Object>(
                            reply.objects("jobs").stream().filter(pick::takes).toList()));
            return JsonOutput.print(
                    context,
                    options.json,
                    options.parser,
                    options.onlyState
                            ? ControlJson.states(picked.objects("jobs"))
                            : JobsJson.answer(JsonOutput.names(context), picked, JsonOutput.version(options.parser)));
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_jobs error", e);
        }
    }

    private static RowFormat format(CommandContext context, SqueueOptions options) {
        List<String> unknown = new ArrayList<>();
        RowFormat f;
        if (options.format.isEmpty() && !options.wideFormat.isEmpty()) {
            f = RowFormat.ofNames(options.wideFormat, JobField.TABLE, unknown);
        } else {
            String text;
            if (!options.format.isEmpty()) {
                text = options.format;
            } else if (options.start) {
                text = START;
            } else if (options.longForm) {
                text = LONG;
            } else {
                text = PLAIN;
            }

            f = text.equals("%all") ? everything() : RowFormat.ofLetters(text, JobField.TABLE, unknown);
        }
        for (String u : unknown) {
            context.error("Invalid job format specification: " + u);
        }
        return f;
    }

    private static RowFormat everything() {
        return RowFormat.ofLetters(RowFormat.everyLetter(JobField.TABLE, ""), JobField.TABLE, new ArrayList<>());
    }

    /** Returns the first name that is not among the known nodes. */
    private static String unknown(CommandContext context, List<String> nodes) {
        List<String> known = new ArrayList<>();
        try {
            context.host()
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
    private static JobOrder order(CommandContext context, SqueueOptions options, RowFormat format, String sort)
            throws UsageException {
        try {
            return JobOrder.of(context, sort);
        } catch (UsageException e) {
            if (!options.noHeader) {
                header(context, options, format);
            }
            throw e;
        }
    }

    private static int showJobs(CommandContext context, SqueueOptions options) throws UsageException {
        RowFormat format = format(context, options);
        String sort;
        if (!options.sort.isEmpty()) {
            sort = options.sort;
        } else if (options.start) {
            sort = "S";
        } else {
            sort = "P,t,-p";
        }

        JobOrder order = order(context, options, format, sort);
        Optional<Map<String, Long>> tiers = options.priority ? Optional.of(tiers(context)) : Optional.empty();
        Listing listing = new Listing(context, options, format, order, tiers);
        try {
            context.host().controller().rows("QueryJobs", query(context, options, format, sort), "jobs", listing);
        } catch (Json.MalformedException e) {
            return CommonOptions.reportFailure(context, "slurm_load_jobs error", HttpController.unreadable());
        } catch (SlurmException e) {
            if (e.errno() == SlurmErrno.INVALID_NODE_NAME.number() && !options.nodes.isEmpty()) {
                context.error("Invalid node name " + unknown(context, options.nodes));
                return 1;
            }
            return CommonOptions.reportFailure(context, "slurm_load_jobs error", e);
        }
        if (options.verbose > 0) {
            context.out().println("last_update_time=" + listing.lastUpdate + " records=" + listing.pick.seen);
        }
        if (options.isOneJob()
                && !options.start
                && listing.pick.seen == 0
                && !isThere(context, options.jobs.getFirst())) {
            return CommonOptions.reportFailure(
                    context,
                    "slurm_load_jobs error",
                    new SlurmException(SlurmErrno.INVALID_JOB_ID.number(), SlurmErrno.INVALID_JOB_ID.sentence()));
        }
        if (!options.noHeader) {
            header(context, options, format);
        }
        listing.lines.sort(order);
        listing.lines.forEach(l -> context.out().println(l.text()));
        return 0;
    }

    /** The lines that are printed: a long queue is never held as a whole but as these. */
    private static final class Listing implements Controller.Taker {
        private final CommandContext context;
        private final SqueueOptions options;
        private final RowFormat format;
        private final JobOrder order;
        private final Optional<Map<String, Long>> tiers;
        private final RowFilter pick;
        private final List<JobOrder.Line> lines = new ArrayList<>();

        @SuppressWarnings("NullAway.Init") // the head of an answer comes before its rows
        private JobField.View view;

        private long lastUpdate;

        Listing(
                CommandContext context,
                SqueueOptions options,
                RowFormat format,
                JobOrder order,
                Optional<Map<String, Long>> tiers) {
            this.context = context;
            this.options = options;
            this.format = format;
            this.order = order;
            this.tiers = tiers;
            pick = new RowFilter(options, options.allStates, context.host().uid());
        }

        @Override
        public void head(Json.Obj head) {
            lastUpdate = head.number("lastUpdate");
            view = new JobField.View(
                    context,
                    head.number("now"),
                    context.env("SLURM_TIME_FORMAT"),
                    options.onlyState ? JobRows.EACH_INDEX : JobRows.indexesShown(context),
                    cluster(context, options),
                    new JobField.Style(options.expand, options.noConvert));
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

    private static Map<String, Long> tiers(CommandContext context) {
        Map<String, Long> tiers = new HashMap<>();
        try {
            Json.Obj query = new Json.Obj();
            query.put("all", Boolean.TRUE);
            for (Json.Obj partition :
                    context.host().controller().call("QueryPartitions", query).objects("partitions")) {
                tiers.put(partition.text("name"), partition.number("priorityTier"));
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

    private static String cluster(CommandContext context, SqueueOptions options) {
        List<String> known = context.host().clusters();
        if (!options.cluster.isEmpty()) {
            return options.cluster;
        }
        if (known.isEmpty()) {
            return "";
        }
        return known.getFirst();
    }

    /** A job that is there but is another user's than asked for, or has no such task, is no error. */
    private static boolean isThere(CommandContext context, String job) {
        int end = 0;
        while (end < job.length() && job.charAt(end) >= '0' && job.charAt(end) <= '9') {
            end++;
        }
        Json.Obj query = new Json.Obj()
                .put("jobs", List.of(job.substring(0, end)))
                .put("allStates", Boolean.TRUE)
                .put("allPartitions", Boolean.TRUE)
                .put("fields", List.of("jobId"));
        try {
            return !context.host()
                    .controller()
                    .call("QueryJobs", query)
                    .objects("jobs")
                    .isEmpty();
        } catch (SlurmException e) {
            return false;
        }
    }

    private static void header(CommandContext context, SqueueOptions options, RowFormat format) {
        if (!options.cluster.isEmpty()) {
            context.out().println("CLUSTER: " + options.cluster);
        }
        List<String> values = new ArrayList<>();
        for (RowFormat.Column col : format.columns()) {
            values.add(col.field() == RowFormat.LITERAL ? "" : JobField.at(col.field()).heading);
        }
        format.print(values, context.out());
    }

    static Json.Obj query(CommandContext context, SqueueOptions options, RowFormat format, String sort) {
        Json.Obj query = new Json.Obj();
        options.filters(query);
        boolean all = options.allStates || options.isOneJob();
        JobRequest.put(query, "allStates", all);
        if (!all && !options.states.isEmpty()) {
            query.put("states", new ArrayList<Object>(options.states));
        }
        JobRequest.put(query, "allPartitions", options.all);
        JobRequest.put(query, "expandArrays", options.array);
        JobRequest.put(query, "joinArrays", true);
        JobRequest.put(query, "startEstimates", options.start);
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
        if (!options.onlyState) {
            fields.addAll(columns(format, sort));
        }
        if (options.overSeconds >= 0 || options.underSeconds >= 0) {
            fields.add("runSeconds");
        }
        query.put("fields", new ArrayList<Object>(fields));
        return query;
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
    private static final class RowFilter {
        private final SqueueOptions options;
        private final boolean allStates;
        private final int uid;
        private final Set<String> named = new LinkedHashSet<>();
        /** Number of jobs tested. */
        private int seen;

        RowFilter(SqueueOptions options, boolean allStates, int uid) {
            this.options = options;
            this.allStates = allStates;
            this.uid = uid;
        }

        boolean takes(Json.Obj job) {
            seen++;
            boolean is = !options.noJobs
                    && !(options.notMe && job.integer("userId") == uid)
                    && (allStates || options.isInState(job))
                    && options.ranAsLong(!job.text("state").equals("PENDING"), JobRows.used(job));
            // an id typed twice is still one job
            return is && (options.jobs.size() < 2 || named.add(JobRows.id(job, 0)));
        }
    }
}
