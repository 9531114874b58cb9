package dev.muster.cli.sacct;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.RowFormat;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.PackedAnswer;
import dev.muster.model.format.Digits;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.Times;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs sacct, which shows jobs and steps from accounting. */
public final class Sacct implements Command {
    private static final String PLAIN = "jobid,jobname,partition,account,alloccpus,state,exitcode";
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "accounts:A:r",
            "allclusters:L:n",
            "associations:x:r",
            "allocations:X:n",
            "allusers:a:n",
            "batch-script:B:n",
            "brief:b:n",
            "cluster::r",
            "clusters:M:r",
            "completion:c:n",
            "constraints:C:r",
            "delimiter::r",
            "duplicates:D:n",
            "endtime:E:r",
            "env-vars::n",
            "federation::n",
            "fields:o:r",
            "file:f:r",
            "flags:F:r",
            "format:o:r",
            "gid:g:r",
            "group::r",
            "help:h:n",
            "helpformat:e:n",
            "jobs:j:r",
            "json::o",
            "local::n",
            "long:l:n",
            "name::r",
            "ncpus:I:r",
            "nnodes:i:r",
            "noconvert::n",
            "nodelist:N:r",
            "noheader:n:n",
            "parsable:p:n",
            "parsable2:P:n",
            "partition:r:r",
            "qos:q:r",
            "reason:R:r",
            "starttime:S:r",
            "state:s:r",
            "timelimit-max:K:r",
            "timelimit-min:k:r",
            "truncate:T:n",
            "uid::r",
            "units::r",
            "usage::n",
            "use-local-uid::n",
            "user:u:r",
            "verbose:v:n",
            "version:V:n",
            "wckeys:W:r",
            "whole-hetjob::o",
            "expand-patterns::n",
            "array::n",
            "yaml::o");
    /** Long formats of other columns leave the last place of a cut value to a plus. */
    private static final char CUT = '+';

    /** Rows of jobs in each part of an answer: what is in memory at once. */
    private static final long JOBS_AT_ONCE = 250_000;

    private static final long WITH_STEPS_AT_ONCE = 150_000;
    /** Bits of a number that an exit code keeps. */
    private static final int EXIT_MASK = 0xff;

    /** @param width positive: right side; negative: left side */
    private record Column(SacctField field, int width) {}

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = GetOpt.parse(OPTIONS, context.args(), false);
        if (!parsed.error().isEmpty()) {
            throw new UsageException(1, List.of(context.program() + ": " + parsed.error()));
        }
        SacctOptions options = new SacctOptions();
        options.format = context.env("SACCT_FORMAT");
        for (GetOpt.Hit hit : parsed.hits()) {
            switch (hit.opt().name()) {
                case "version" -> {
                    context.out().println(Release.LINE);
                    return 0;
                }
                case "help" -> {
                    SacctHelp.print(context, OPTIONS);
                    return 0;
                }
                case "usage" -> {
                    context.out().println("Usage: sacct [options]");
                    context.out().println("\tUse --help for help");
                    return 0;
                }
                case "helpformat" -> {
                    helpFormat(context);
                    return 0;
                }
                default -> options.read(context, hit.opt().name(), hit.value());
            }
        }
        if (!parsed.operands().isEmpty()) {
            List<String> words = new ArrayList<>(List.of("sacct: error: Unknown arguments:"));
            parsed.operands().forEach(word -> words.add("sacct: error:  " + word));
            throw new UsageException(1, words);
        }
        if (options.query.has("minLimitMin") && !options.query.has("maxLimitMin")) {
            // alone it is the limit itself
            options.query.put("maxLimitMin", options.query.number("minLimitMin"));
        }
        if (options.completion) {
            options.useCompletionFormat();
        }
        List<Column> columns = columns(options);
        options.setWindow(context);
        if (options.completion) {
            return completions(context, options, columns);
        }
        qosThere(context, options);
        report(context, options);
        return options.text.isEmpty() ? show(context, options, columns) : texts(context, options);
    }

    private static void helpFormat(CommandContext context) {
        StringBuilder line = new StringBuilder();
        SacctField[] all = SacctField.values();
        for (int i = 0; i < all.length; i++) {
            RowFormat.append(line, all[i].title, 19, false);
            line.append(' ');
            if (i % 4 == 3 || i == all.length - 1) {
                context.out().println(line.toString());
                line.setLength(0);
            }
        }
    }

    /** {@code -v} tells which jobs are looked for, {@code -vv} the options as well. */
    private static void report(CommandContext context, SacctOptions options) {
        if (options.verbose == 0) {
            return;
        }
        String from = options.query.number("from") == 0 ? "Epoch 0" : clock(context, options.query.number("from"));
        long to = options.query.number("to") == 0 ? context.host().nowMs() / 1000 : options.query.number("to");
        context.info("Jobs " + (options.states ? String.join(",", options.query.texts("states")) : "Eligible")
                + " in the time window from " + from + " to " + clock(context, to));
        if (options.verbose > 1) {
            context.info("debug:  Options selected:\n\topt_completion=no\n\topt_dup="
                    + yes(options.query.flag("duplicates"))
                    + "\n\topt_field_list="
                    + (options.format.isEmpty() ? "(null)" : options.format + ",") + "\n\topt_help=0\n\topt_no_steps="
                    + yes(options.query.flag("allocationsOnly")) + "\n\topt_whole_hetjob="
                    + (options.query.text("wholeHetjob").isEmpty() ? "(null)" : options.query.text("wholeHetjob")));
        }
    }

    private static String clock(CommandContext context, long sec) {
        return Times.strftime(sec, context.host().zone(), "%a %b %d %H:%M:%S %Y");
    }

    private static String yes(boolean on) {
        return on ? "yes" : "no";
    }

    /** Fields of earlier versions, with the message of sacct about each. */
    private static final Map<String, String> REMOVED_FIELDS = Map.of(
            "reqgres",
            "ReqGRES has been removed, please use ReqTRES",
            "allocgres",
            "AllocGRES has been removed, please use AllocTRES");

    private static List<Column> columns(SacctOptions options) throws UsageException {
        String format = options.format.isEmpty() ? PLAIN : options.format;
        List<Column> out = new ArrayList<>();
        for (String item : Texts.split(format, ',')) {
            int percent = item.indexOf('%');
            String name = (percent < 0 ? item : item.substring(0, percent)).strip();
            if (name.equalsIgnoreCase("all")) {
                for (SacctField f : SacctField.values()) {
                    out.add(new Column(f, f.width));
                }
                continue;
            }
            Optional<SacctField> field = SacctField.of(name);
            String former = REMOVED_FIELDS.getOrDefault(Texts.lower(name), "");
            if (!former.isEmpty()) {
                throw new UsageException(1, List.of("sacct: fatal: " + former));
            }
            if (field.isEmpty()) {
                throw new UsageException(1, List.of("sacct: error: Invalid field requested: \"" + name + "\""));
            }
            int width = field.get().width;
            if (percent >= 0) {
                String size = item.substring(percent + 1).strip();
                boolean left = size.startsWith("-");
                long n = Digits.parseNumber(left ? size.substring(1) : size);
                if (n > 0 && n < Integer.MAX_VALUE) {
                    width = (int) (left ? -n : n);
                }
            }
            out.add(new Column(field.get(), width));
        }
        return out;
    }

    private static int show(CommandContext context, SacctOptions options, List<Column> columns) throws UsageException {
        if (!options.json.isEmpty()) {
            return SacctDocument.print(
                    context,
                    options.json,
                    options.parser,
                    options.query,
                    options.filter,
                    () -> queryAccounting(context, options));
        }
        if (columns.stream().allMatch(col -> col.field.needs().isPresent())) {
            List<Object> fields = new ArrayList<>(columns.stream()
                    .flatMap(col -> col.field.needs().orElseThrow().stream())
                    .distinct()
                    .toList());
            // none at all would stand for all of them
            fields.add("jobId");
            fields.addAll(AccountedOrder.FIELDS);
            fields.addAll(options.filter.fields());
            options.query.put("fields", fields);
        }
        options.query.put("limit", options.query.flag("allocationsOnly") ? JOBS_AT_ONCE : WITH_STEPS_AT_ONCE);
        options.query.put("packed", options.filter.isEmpty());
        Rows rows = null;
        long next;
        do {
            byte[] reply;
            try {
                reply = queryAccounting(context, options);
            } catch (SlurmException e) {
                return failed(context, e);
            }
            if (rows == null) {
                Map<String, String> numbers = columns.stream().anyMatch(col -> col.field == SacctField.QOSRAW)
                        ? qosNumbers(context)
                        : Map.of();
                rows = new Rows(context, options, columns, numbers);
                if (!options.noHeader) {
                    header(context, options, columns);
                }
            }
            next = PackedAnswer.isPacked(reply)
                    ? rows.take(new PackedAnswer.Reader(reply))
                    : rows.take(picked(options, Json.object(reply)));
            options.query.put("fromJob", next);
        } while (next > 0);
        rows.order.end();
        return 0;
    }

    /** Prints the jobs of an answer in their order; what comes in several parts is printed as it comes. */
    private static final class Rows {
        private final CommandContext context;
        private final SacctOptions options;
        private final List<Column> columns;
        private final Map<String, String> numbers;
        private final AccountedOrder order = new AccountedOrder(this::print);

        @SuppressWarnings("NullAway.Init") // take() sets it before rows are printed
        private SacctField.View view;

        private Rows(CommandContext context, SacctOptions options, List<Column> columns, Map<String, String> numbers) {
            this.context = context;
            this.options = options;
            this.columns = columns;
            this.numbers = numbers;
        }

        private void print(AccountedOrder.Entry e) {
            view.cluster(e.cluster());
            entry(context, options, columns, e.job(), e.steps(), view);
        }

        /** Returns number of the job to go on from, 0 if that was all. */
        private long take(Json.Obj reply) {
            view = new SacctField.View(
                    context, reply.number("now"), options.unit, options.expand, options.localIds, numbers);
            for (Json.Obj entry : reply.objects("jobs")) {
                String cluster = entry.text("cluster").isEmpty() ? reply.text("cluster") : entry.text("cluster");
                order.add(new AccountedOrder.Entry(cluster, entry.obj("job"), entry.objects("steps")));
            }
            return part(reply.number("next"));
        }

        private long take(PackedAnswer.Reader reply) {
            view = new SacctField.View(context, reply.now(), options.unit, options.expand, options.localIds, numbers);
            while (reply.advance()) {
                String cluster = reply.jobCluster().isEmpty() ? reply.cluster() : reply.jobCluster();
                order.add(new AccountedOrder.Entry(cluster, reply.job(), reply.steps()));
            }
            return part(reply.next());
        }

        private long part(long next) {
            if (next > 0) {
                order.stream();
            }
            return next;
        }
    }

    /**
     * Applies {@code --associations} (slurmdbd adds the number to each row), {@code --flags} and {@code --constraints}.
     */
    private static Json.Obj picked(SacctOptions options, Json.Obj reply) {
        if (options.filter.isEmpty()) {
            return reply;
        }
        Json.Obj out = new Json.Obj();
        reply.fields().forEach(out::put);
        return out.put(
                "jobs",
                new ArrayList<Object>(reply.objects("jobs").stream()
                        .filter(j -> options.filter.test(j.obj("job")))
                        .toList()));
    }

    private static void entry(
            CommandContext context,
            SacctOptions options,
            List<Column> columns,
            Json.Obj whole,
            List<Json.Obj> all,
            SacctField.View view) {
        Json.Obj job = truncated(options, whole, view);
        List<Json.Obj> steps = options.truncate
                ? all.stream().map(s -> truncated(options, s, view)).toList()
                : all;
        sumUsage(job, steps);
        if (wantsJob(options, job)) {
            for (Json.Obj one : options.array ? byTask(job) : List.of(job)) {
                row(context, options, columns, one, one, view);
            }
        }
        if (!options.query.flag("allocationsOnly")) {
            for (Json.Obj step : steps) {
                row(context, options, columns, job, step, view);
            }
        }
    }

    /** {@code --truncate}: what of it lies in the window that was asked for. */
    private static Json.Obj truncated(SacctOptions options, Json.Obj row, SacctField.View view) {
        long start = row.number("startTime");
        if (!options.truncate || start <= 0) {
            return row;
        }
        long from = options.query.number("from");
        long to = options.query.number("to") > 0 ? options.query.number("to") : view.now();
        long end = row.number("endTime");
        Json.Obj out = new Json.Obj();
        row.fields().forEach(out::put);
        return out.put("startTime", Math.max(start, from)).put("endTime", end > 0 ? Math.min(end, to) : to);
    }

    private static void qosThere(CommandContext context, SacctOptions options) throws UsageException {
        List<String> wanted = options.query.texts("qos");
        Map<String, String> known = wanted.isEmpty() ? Map.of() : qosNumbers(context);
        for (String name : known.isEmpty() ? List.<String>of() : wanted) {
            if (!known.containsKey(Texts.lower(name)) && !known.containsValue(name)) {
                throw new UsageException(
                        1,
                        List.of(
                                "sacct: error: You gave a bad qos '" + name + "'. Valid QOS's are "
                                        + String.join(",", known.keySet()),
                                "sacct: fatal: problem processing qos list"));
            }
        }
    }

    /** Returns the QOS of slurmdbd; none without slurmdbd. */
    private static Map<String, String> qosNumbers(CommandContext context) {
        Map<String, String> out = new LinkedHashMap<>();
        if (!context.host().accountingType().equals("accounting_storage/slurmdbd")) {
            return out;
        }
        try {
            context.host()
                    .accounting()
                    .call(
                            "Show",
                            new Json.Obj()
                                    .put("entity", "qos")
                                    .put("where", new Json.Obj())
                                    .put("options", new ArrayList<Object>(List.of("withdeleted"))))
                    .objects("rows")
                    .forEach(q -> out.put(q.text("Name"), q.text("ID")));
        } catch (SlurmException e) {
            context.error("the numbers of QOS: " + e.getMessage());
        }
        return out;
    }

    /** {@code --array}: a row for each task of those that wait together. */
    private static List<Json.Obj> byTask(Json.Obj job) {
        List<Json.Obj> out = new ArrayList<>();
        IndexSet tasks = IndexSet.parse(job.text("arrayTasks"));
        for (int t = tasks.first(); t >= 0; t = tasks.next(t + 1)) {
            Json.Obj one = new Json.Obj();
            job.fields().forEach(one::put);
            out.add(one.put("arrayTaskId", (long) t).put("arrayTasks", ""));
        }
        return out.isEmpty() ? List.of(job) : out;
    }

    private static Json.Obj ask(CommandContext context, SacctOptions options) throws SlurmException {
        return Json.object(queryAccounting(context, options));
    }

    /**
     * slurmctld waits until its own newest rows are there; slurmdbd answers for other clusters, and while slurmctld is
     * away.
     */
    private static byte[] queryAccounting(CommandContext context, SacctOptions options) throws SlurmException {
        boolean separate = context.host().accountingType().equals("accounting_storage/slurmdbd");
        List<Object> named = options.query.list("clusters");
        if (!separate || named.isEmpty()) {
            try {
                return context.host().controller().bytes("QueryAccounting", options.query);
            } catch (SlurmException e) {
                if (!separate || e.errno() != SlurmErrno.CTLD_CONNECT.number()) {
                    throw e;
                }
            }
        }
        if (named.isEmpty()) {
            options.query.put("clusters", new ArrayList<Object>(context.host().clusters()));
        } else if (named.size() == 1 && String.valueOf(named.getFirst()).equalsIgnoreCase("all")) {
            options.query.put("clusters", new ArrayList<>());
        }
        return context.host().accounting().bytes("QueryAccounting", options.query);
    }

    static int failed(CommandContext context, SlurmException e) {
        context.out().flush();
        if (e.errno() == SlurmErrno.DISABLED.number()) {
            context.err().println("Slurm accounting storage is disabled");
        } else {
            context.error(e.getMessage());
        }
        return e.errno() == SlurmErrno.DB_QUERY_TOO_WIDE.number() ? e.errno() & EXIT_MASK : 1;
    }

    /** Only steps were named: then the job's own row is not wanted. */
    private static boolean wantsJob(SacctOptions options, Json.Obj job) {
        boolean anyStep = false;
        for (String id : options.query.texts("jobs")) {
            int dot = id.indexOf('.');
            String name = dot < 0 ? id : id.substring(0, dot);
            boolean same = name.equals(SacctField.shownId(job))
                    || name.equals(Integer.toString(job.integer("jobId")))
                    || name.equals(Integer.toString(job.integer("arrayJobId")))
                    || name.equals(Integer.toString(job.integer("hetJobId")));
            if (dot < 0 && same) {
                return true;
            }
            anyStep |= dot >= 0 && same;
        }
        return !anyStep;
    }

    /**
     * Adds up the steps of a job. The nodes' meters measure the batch script and the external step over the same time
     * as the other steps, so the job's energy is the larger of their reading and the other steps' sum.
     */
    private static void sumUsage(Json.Obj job, List<Json.Obj> steps) {
        long user = 0;
        long system = 0;
        long stepsJ = 0;
        long wholeJ = 0;
        for (Json.Obj step : steps) {
            user += step.obj("usage").number("userCpuUs");
            system += step.obj("usage").number("systemCpuUs");
            long used = step.obj("usage").number("energyJ");
            stepsJ += step.integer("stepId") >= 0 ? used : 0;
            wholeJ = Math.max(wholeJ, step.integer("stepId") >= 0 ? 0 : used);
        }
        job.put(
                "usage",
                new Json.Obj()
                        .put("userCpuUs", user)
                        .put("systemCpuUs", system)
                        .put("energyJ", Math.max(stepsJ, wholeJ)));
    }

    private static int completions(CommandContext context, SacctOptions options, List<Column> columns)
            throws UsageException {
        boolean more = options.array
                || options.expand
                || !options.text.isEmpty()
                || !options.json.isEmpty()
                || !options.filter.isEmpty();
        if (more) {
            throw context.bad(1, "records of completion are listed in columns, with what is written there alone");
        }
        if (!options.users) {
            options.query.fields().remove("userIds"); // every user that can read the file sees all of it
        }
        boolean[] begun = {options.noHeader};
        int rc = SacctCompletions.show(
                context,
                options.file,
                options.query,
                !options.start.isEmpty() || !options.end.isEmpty(),
                columns.stream().map(Column::field).toList(),
                values -> {
                    if (!begun[0]) {
                        header(context, options, columns);
                        begun[0] = true;
                    }
                    StringBuilder line = new StringBuilder();
                    for (int i = 0; i < values.size(); i++) {
                        value(line, options, columns.get(i), values.get(i), i == values.size() - 1);
                    }
                    context.out().println(line.toString());
                });
        if (!begun[0]) {
            header(context, options, columns);
        }
        return rc;
    }

    private static void header(CommandContext context, SacctOptions options, List<Column> columns) {
        StringBuilder line = new StringBuilder();
        StringBuilder dashes = new StringBuilder();
        for (int i = 0; i < columns.size(); i++) {
            int width = Math.abs(columns.get(i).width);
            String title = columns.get(i).field.title;
            // a title that does not fit ends without a sign of it
            value(
                    line,
                    options,
                    columns.get(i),
                    options.parsable || title.length() <= width ? title : title.substring(0, width),
                    i == columns.size() - 1);
            dashes.repeat('-', Math.abs(columns.get(i).width)).append(' ');
        }
        context.out().println(line.toString());
        if (!options.parsable) {
            context.out().println(dashes.toString());
        }
    }

    private static void row(
            CommandContext context,
            SacctOptions options,
            List<Column> columns,
            Json.Obj job,
            Json.Obj step,
            SacctField.View view) {
        StringBuilder line = view.line();
        for (int i = 0; i < columns.size(); i++) {
            value(line, options, columns.get(i), columns.get(i).field.value(job, step, view), i == columns.size() - 1);
        }
        context.out().println(line.toString());
    }

    private static void value(StringBuilder line, SacctOptions options, Column column, String text, boolean last) {
        if (options.parsable) {
            line.append(text);
            if (options.trailing || !last) {
                line.append(options.delimiter);
            }
            return;
        }
        int width = Math.abs(column.width);
        RowFormat.append(
                line, text.length() > width ? text.substring(0, width - 1) + CUT : text, width, column.width > 0);
        line.append(' ');
    }

    /** Prints the stored script or environment of each job: {@code --batch-script} and {@code --env-vars}. */
    private static int texts(CommandContext context, SacctOptions options) throws UsageException {
        if (!options.jobs) {
            throw new UsageException(
                    1,
                    List.of("sacct: fatal: When requesting "
                            + (options.text.equals("script") ? "job scripts" : "job environment")
                            + " you must also request specific jobs with the '-j' option."));
        }
        options.query.put("text", options.text);
        Json.Obj reply;
        try {
            reply = ask(context, options);
        } catch (SlurmException e) {
            return failed(context, e);
        }
        for (Json.Obj entry : reply.objects("jobs")) {
            String id = SacctField.shownId(entry.obj("job"));
            if (!options.noHeader) {
                context.out()
                        .println(
                                options.text.equals("script")
                                        ? "Batch Script for " + id
                                        : "Environment used for " + id + " (must be batch to display)");
                context.out().println("-".repeat(80));
            }
            byte[] text = Bytes.fromBase64(entry.text("text")).toArray();
            if (options.text.equals("environment")) {
                for (int i = 0; i < text.length; i++) {
                    text[i] = text[i] == 0 ? (byte) '\n' : text[i];
                }
            }
            if (text.length == 0) {
                context.out().println("NONE");
            }
            context.out().write(text, 0, text.length);
            if (text.length > 0 && text[text.length - 1] != '\n') {
                context.out().println("");
            }
        }
        return 0;
    }
}
