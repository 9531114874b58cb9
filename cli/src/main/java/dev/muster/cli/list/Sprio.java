package dev.muster.cli.list;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.format.NaturalOrder;
import dev.muster.cli.format.RowFormat;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.json.Json;
import dev.muster.model.format.HostList;
import dev.muster.model.format.Sluid;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Runs sprio, which shows the priority factors of waiting jobs. priority/basic has no factors, which sprio says in
 * Slurm's words.
 */
public final class Sprio implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "federation::n",
            "noheader:h:n",
            "jobs:j:o",
            "local::n",
            "long:l:n",
            "cluster:M:r",
            "clusters:M:r",
            "norm:n:n",
            "format:o:r",
            "sort:S:r",
            "sibling::n",
            "partition:p:r",
            "user:u:r",
            "users:u:r",
            "verbose:v:n",
            "version:V:n",
            "weights:w:n",
            "help::n",
            "usage::n");
    private static final String LETTERS = "AaBbcFfiJjNnoPpQqrSsTtuYy";
    private static final String[] TITLES = {
        "AGE",
        "AGE",
        "ASSOC",
        "ASSOC",
        "CLUSTER",
        "FAIRSHARE",
        "FAIRSHARE",
        "JOBID",
        "JOBSIZE",
        "JOBSIZE",
        "NICE",
        "QOSNAME",
        "ACCOUNT",
        "PARTITION",
        "PARTITION",
        "QOS",
        "QOS",
        "PARTITION",
        "SITE",
        "SLUID",
        "TRES",
        "TRES",
        "USER",
        "PRIORITY",
        "PRIORITY"
    };
    private static final double PRIORITY_MAX = 4294967295.0;

    private static final class Options {
        boolean header = true;
        boolean longForm;
        boolean norm;
        boolean weights;
        boolean sibling;
        String format = "";
        String sort = "";
        final List<String> jobs = new ArrayList<>();
        final List<String> partitions = new ArrayList<>();
        final List<Integer> users = new ArrayList<>();
        boolean byUser;
        int verbose;
        String usersText = "";
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        Options options = new Options();
        options.format = context.env("SPRIO_FORMAT");
        options.sibling = context.env().containsKey("SPRIO_SIBLING");
        for (GetOpt.Hit hit : parsed.hits()) {
            if (CommonOptions.answer(context, OPTIONS, "", hit)) {
                return 0;
            }
            switch (hit.opt().name()) {
                case "cluster", "clusters" -> Clusters.requireKnown(context, hit.value());
                case "noheader" -> options.header = false;
                case "long" -> options.longForm = true;
                case "norm" -> options.norm = true;
                case "weights" -> options.weights = true;
                case "format" -> options.format = RowFormat.explicit(hit.value());
                case "sort" -> options.sort = hit.value();
                case "partition" -> options.partitions.addAll(Texts.split(hit.value(), ','));
                case "jobs" -> jobs(context, options, hit.value());
                case "user", "users" -> users(context, options, hit.value());
                case "verbose" -> options.verbose++;
                case "sibling" -> options.sibling = true;
                case "federation", "local" -> {}
                default -> throw new IllegalStateException(hit.opt().name());
            }
        }
        List<String> operands = new ArrayList<>(parsed.operands());
        if (CommonOptions.isTyped(parsed, "jobs") && options.jobs.isEmpty() && !operands.isEmpty()) {
            jobs(context, options, operands.removeFirst());
        }
        if (!operands.isEmpty()) {
            context.error("Unrecognized option: " + operands.getFirst());
            CommonOptions.help(context, OPTIONS, "");
            return 1;
        }
        if (options.verbose > 0) {
            report(context, options);
        }
        return show(context, options);
    }

    /** Prints the options in force for {@code -v}. */
    private static void report(CommandContext context, Options options) {
        context.out().println("-----------------------------");
        context.out().println("format     = " + (options.format.isEmpty() ? "(null)" : options.format));
        context.out().println("job_flag   = " + (options.jobs.isEmpty() ? 0 : 1));
        context.out().println("jobs       = " + (options.jobs.isEmpty() ? "(null)" : String.join(",", options.jobs)));
        context.out()
                .println("partition  = "
                        + (options.partitions.isEmpty() ? "(null)" : String.join(",", options.partitions)));
        context.out().println("users      = " + (options.usersText.isEmpty() ? "(null)" : options.usersText));
        context.out().println("verbose    = " + options.verbose);
        context.out().println("-----------------------------\n\n");
    }

    private static void jobs(CommandContext context, Options options, String ids) throws UsageException {
        for (String id : HostList.split(ids)) {
            if (!JobIds.isJob(id)) {
                throw context.bad(1, "Invalid job id: " + id);
            }
            options.jobs.add(id);
        }
    }

    private static void users(CommandContext context, Options options, String names) throws UsageException {
        options.byUser = true;
        options.usersText = names;
        for (String name : Texts.split(names, ',')) {
            int uid = context.host().userId(name);
            if (uid < 0) {
                throw context.bad(1, "Invalid user: " + name);
            }
            options.users.add(uid);
        }
    }

    private static int show(CommandContext context, Options options) throws SlurmException, UsageException {
        Json.Obj reply = context.host().controller().call("QueryPriorities", new Json.Obj());
        if (!CommonOptions.isMultifactor(context, reply.text("type"))) {
            return 1;
        }
        List<Json.Obj> rows = new ArrayList<>();
        for (Json.Obj row : reply.objects("rows")) {
            if (isWanted(options, row)) {
                rows.add(row);
            }
        }
        if (rows.isEmpty() && !options.weights && !options.jobs.isEmpty()) {
            context.out().println("Unable to find jobs matching user/id(s) specified");
            return 0;
        }
        Json.Obj weights = reply.obj("weights");
        weights.put("tres", reply.text("tres"));
        List<String> unknown = new ArrayList<>();
        RowFormat format = RowFormat.ofLetters(
                options.format.isEmpty() ? standard(options, weights) : options.format, FIELDS, unknown);
        for (String letter : unknown) {
            context.error("Invalid job format specification: " + letter);
        }
        format = format.known();
        if (options.header) {
            format.print(titles(format), context.out());
        }
        if (options.weights) {
            format.print(weightRow(format, weights), context.out());
            return 0;
        }
        sort(rows, options.sort, weights);
        for (Json.Obj row : rows) {
            List<String> values = new ArrayList<>();
            for (RowFormat.Column column : format.columns()) {
                values.add(
                        column.field() == RowFormat.LITERAL ? "" : value(row, LETTERS.charAt(column.field()), weights));
            }
            format.print(values, context.out());
        }
        return 0;
    }

    private static boolean isWanted(Options options, Json.Obj row) {
        return (options.jobs.isEmpty() || options.jobs.stream().anyMatch(id -> isOfJob(row, id)))
                && (options.partitions.isEmpty() || options.partitions.contains(row.text("partitionName")))
                && (!options.byUser || options.users.contains(row.integer("userId")));
    }

    private static final RowFormat.Fields FIELDS = new RowFormat.Fields() {
        @Override
        public int byLetter(char letter) {
            return LETTERS.indexOf(letter);
        }

        @Override
        public int byName(String name) {
            return -1;
        }
    };

    /** All factors, whether they have weight or not. */
    private static final String LONG =
            "%.15i %9r %.8u %.8o %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10n %.10Q %.11N %.20T";

    private static final String LONG_NORM = "%.15i %9r %.8u %.8o %10y %10a %10b %10f %10j %10p %10n %10q %20t";

    /** Factors without weight have no column. */
    private static String standard(Options options, Json.Obj weights) {
        if (options.longForm && !options.norm) {
            return LONG;
        }
        if (options.longForm) {
            return LONG_NORM;
        }
        StringBuilder out = new StringBuilder("%.15i %9r").append(options.sibling ? " %.8c" : "");
        out.append(options.byUser ? " %.8u" : "");
        String side = options.norm ? "" : ".";
        out.append(options.norm ? " %10y" : " %.10Y %.10S");
        String[][] columns = {
            {"age", "A"}, {"assoc", "B"}, {"fairshare", "F"}, {"size", "J"}, {"partition", "P"}, {"qos", "Q"}
        };
        for (String[] column : columns) {
            if (weights.number(column[0]) != 0) {
                out.append(" %")
                        .append(side)
                        .append("10")
                        .append(options.norm ? column[1].toLowerCase(Locale.ROOT) : column[1]);
            }
        }
        if (!weights.text("tres").isEmpty()) {
            out.append(options.norm ? " %20t" : " %.20T");
        }
        return out.toString();
    }

    private static boolean isOfJob(Json.Obj row, String id) {
        if (id.length() > 10 && Sluid.parse(id).isPresent()) {
            return Sluid.parse(id).getAsLong() == row.number("sluid");
        }
        int bar = id.indexOf('_');
        String jobId = Long.toString(row.number("jobId"));
        String array = Long.toString(row.number("arrayJobId"));
        return id.equals(jobId)
                || bar < 0 && id.equals(array)
                || bar > 0
                        && id.substring(0, bar).equals(array)
                        && (row.integer("arrayTaskId") < 0
                                || id.substring(bar + 1).equals(Long.toString(row.number("arrayTaskId"))));
    }

    private static List<String> titles(RowFormat format) {
        List<String> out = new ArrayList<>();
        format.columns().forEach(column -> out.add(column.field() == RowFormat.LITERAL ? "" : TITLES[column.field()]));
        return out;
    }

    private static List<String> weightRow(RowFormat format, Json.Obj weights) {
        List<String> out = new ArrayList<>();
        for (RowFormat.Column column : format.columns()) {
            out.add(
                    column.field() == RowFormat.LITERAL
                            ? ""
                            : switch (LETTERS.charAt(column.field())) {
                                case 'A', 'a' -> Long.toString(weights.number("age"));
                                case 'B', 'b' -> Long.toString(weights.number("assoc"));
                                case 'F', 'f' -> Long.toString(weights.number("fairshare"));
                                case 'J', 'j' -> Long.toString(weights.number("size"));
                                case 'P', 'p' -> Long.toString(weights.number("partition"));
                                case 'Q', 'q' -> Long.toString(weights.number("qos"));
                                case 'S' -> "1";
                                case 'T', 't' -> weights.text("tres").isEmpty() ? "(null)" : weights.text("tres");
                                case 'i' -> "Weights";
                                default -> "";
                            });
        }
        return out;
    }

    private static String weighted(Json.Obj row, String factor, Json.Obj weights, String weight) {
        return Long.toString((long) Math.rint(row.real(factor) * weights.number(weight)));
    }

    /** Formats a value as C does: halfway between two numbers, it rounds to the even one. */
    private static String fixed(double value, int digits) {
        return new java.math.BigDecimal(value)
                .setScale(digits, java.math.RoundingMode.HALF_EVEN)
                .toPlainString();
    }

    private static String norm(double value) {
        return fixed(value, 7);
    }

    private static String value(Json.Obj row, char letter, Json.Obj weights) {
        return switch (letter) {
            case 'A' -> weighted(row, "age", weights, "age");
            case 'a' -> norm(row.real("age"));
            case 'B' -> weighted(row, "assoc", weights, "assoc");
            case 'b' -> norm(row.real("assoc"));
            case 'c' -> "(null)";
            case 'F' -> weighted(row, "fairShare", weights, "fairshare");
            case 'f' -> norm(row.real("fairShare"));
            case 'i' -> JobRows.id(row, 0);
            case 'J' -> weighted(row, "size", weights, "size");
            case 'j' -> norm(row.real("size"));
            case 'N' -> Long.toString(row.number("nice"));
            case 'n' -> row.text("qosName").isEmpty() ? "(null)" : row.text("qosName");
            case 'o' -> row.text("account").isEmpty() ? "(null)" : row.text("account");
            case 'P' -> weighted(row, "partition", weights, "partition");
            case 'p' -> norm(row.real("partition"));
            case 'Q' -> weighted(row, "qos", weights, "qos");
            case 'q' -> norm(row.real("qos"));
            case 'r' -> row.text("partitionName");
            case 'S' -> Long.toString(row.number("site"));
            case 's' -> Sluid.text(row.number("sluid"));
            case 'T' -> tres(row.obj("tresWeighted"), false);
            case 't' -> tres(row.obj("tres"), true);
            case 'u' -> row.text("user");
            case 'Y' -> Long.toString(row.number("priority"));
            default -> String.format(Locale.ROOT, "%.14f", row.number("priority") / PRIORITY_MAX);
        };
    }

    private static String tres(Json.Obj values, boolean norm) {
        List<String> out = new ArrayList<>();
        for (String name : values.fields().keySet()) {
            out.add(name + "=" + (norm ? fixed(values.real(name), 2) : Long.toString(values.number(name))));
        }
        return String.join(",", out);
    }

    /** {@code -Y,i}: by these columns, a minus for the largest first; by job otherwise. */
    private static void sort(List<Json.Obj> rows, String order, Json.Obj weights) throws UsageException {
        Comparator<Json.Obj> comparator = Comparator.comparingLong(r -> r.number("jobId"));
        List<Comparator<Json.Obj>> all = new ArrayList<>();
        boolean down = false;
        for (int i = 0; i < order.length(); i++) {
            char letter = order.charAt(i);
            if (letter == '-' || letter == '+') {
                down = letter == '-';
            } else if (LETTERS.indexOf(letter) >= 0) {
                Comparator<Json.Obj> one = letter == 'i'
                        ? comparator
                        : (a, b) -> NaturalOrder.compare(value(a, letter, weights), value(b, letter, weights));
                all.add(down ? one.reversed() : one);
                down = false;
            } else if (letter != ',') {
                throw new UsageException(1, List.of("sprio: error: Invalid sort specification: " + order));
            }
        }
        for (Comparator<Json.Obj> one : all.reversed()) {
            comparator = one.thenComparing(comparator);
        }
        rows.sort(comparator);
    }
}
