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

    private static final class Wanted {
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
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        Wanted w = new Wanted();
        w.format = c.env("SPRIO_FORMAT");
        w.sibling = c.env().containsKey("SPRIO_SIBLING");
        for (GetOpt.Hit h : p.hits()) {
            if (CommonOptions.answer(c, OPTIONS, "", h)) {
                return 0;
            }
            switch (h.opt().name()) {
                case "cluster", "clusters" -> Clusters.requireKnown(c, h.value());
                case "noheader" -> w.header = false;
                case "long" -> w.longForm = true;
                case "norm" -> w.norm = true;
                case "weights" -> w.weights = true;
                case "format" -> w.format = RowFormat.explicit(h.value());
                case "sort" -> w.sort = h.value();
                case "partition" -> w.partitions.addAll(Texts.split(h.value(), ','));
                case "jobs" -> jobs(c, w, h.value());
                case "user", "users" -> users(c, w, h.value());
                case "verbose" -> w.verbose++;
                case "sibling" -> w.sibling = true;
                case "federation", "local" -> {}
                default -> throw new IllegalStateException(h.opt().name());
            }
        }
        List<String> operands = new ArrayList<>(p.operands());
        if (CommonOptions.isTyped(p, "jobs") && w.jobs.isEmpty() && !operands.isEmpty()) {
            jobs(c, w, operands.removeFirst());
        }
        if (!operands.isEmpty()) {
            c.error("Unrecognized option: " + operands.getFirst());
            CommonOptions.help(c, OPTIONS, "");
            return 1;
        }
        if (w.verbose > 0) {
            report(c, w);
        }
        return show(c, w);
    }

    /** Prints the options in force for {@code -v}. */
    private static void report(CommandContext c, Wanted w) {
        c.out().println("-----------------------------");
        c.out().println("format     = " + (w.format.isEmpty() ? "(null)" : w.format));
        c.out().println("job_flag   = " + (w.jobs.isEmpty() ? 0 : 1));
        c.out().println("jobs       = " + (w.jobs.isEmpty() ? "(null)" : String.join(",", w.jobs)));
        c.out().println("partition  = " + (w.partitions.isEmpty() ? "(null)" : String.join(",", w.partitions)));
        c.out().println("users      = " + (w.usersText.isEmpty() ? "(null)" : w.usersText));
        c.out().println("verbose    = " + w.verbose);
        c.out().println("-----------------------------\n\n");
    }

    private static void jobs(CommandContext c, Wanted w, String ids) throws UsageException {
        for (String id : HostList.split(ids)) {
            if (!JobIds.isJob(id)) {
                throw c.bad(1, "Invalid job id: " + id);
            }
            w.jobs.add(id);
        }
    }

    private static void users(CommandContext c, Wanted w, String names) throws UsageException {
        w.byUser = true;
        w.usersText = names;
        for (String name : Texts.split(names, ',')) {
            int uid = c.host().userId(name);
            if (uid < 0) {
                throw c.bad(1, "Invalid user: " + name);
            }
            w.users.add(uid);
        }
    }

    private static int show(CommandContext c, Wanted w) throws SlurmException, UsageException {
        Json.Obj reply = c.host().controller().call("QueryPriorities", new Json.Obj());
        if (!CommonOptions.isMultifactor(c, reply.text("type"))) {
            return 1;
        }
        List<Json.Obj> rows = new ArrayList<>();
        for (Json.Obj r : reply.objects("rows")) {
            if (isWanted(w, r)) {
                rows.add(r);
            }
        }
        if (rows.isEmpty() && !w.weights && !w.jobs.isEmpty()) {
            c.out().println("Unable to find jobs matching user/id(s) specified");
            return 0;
        }
        Json.Obj weights = reply.obj("weights");
        weights.put("tres", reply.text("tres"));
        List<String> unknown = new ArrayList<>();
        RowFormat format = RowFormat.ofLetters(w.format.isEmpty() ? standard(w, weights) : w.format, FIELDS, unknown);
        for (String letter : unknown) {
            c.error("Invalid job format specification: " + letter);
        }
        format = format.known();
        if (w.header) {
            format.print(titles(format), c.out());
        }
        if (w.weights) {
            format.print(weightRow(format, weights), c.out());
            return 0;
        }
        sort(rows, w.sort, weights);
        for (Json.Obj r : rows) {
            List<String> values = new ArrayList<>();
            for (RowFormat.Column column : format.columns()) {
                values.add(
                        column.field() == RowFormat.LITERAL ? "" : value(r, LETTERS.charAt(column.field()), weights));
            }
            format.print(values, c.out());
        }
        return 0;
    }

    private static boolean isWanted(Wanted w, Json.Obj row) {
        return (w.jobs.isEmpty() || w.jobs.stream().anyMatch(id -> isOfJob(row, id)))
                && (w.partitions.isEmpty() || w.partitions.contains(row.text("partitionName")))
                && (!w.byUser || w.users.contains(row.integer("userId")));
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
    private static String standard(Wanted w, Json.Obj weights) {
        if (w.longForm && !w.norm) {
            return LONG;
        }
        if (w.longForm) {
            return LONG_NORM;
        }
        StringBuilder out = new StringBuilder("%.15i %9r").append(w.sibling ? " %.8c" : "");
        out.append(w.byUser ? " %.8u" : "");
        String side = w.norm ? "" : ".";
        out.append(w.norm ? " %10y" : " %.10Y %.10S");
        String[][] columns = {
            {"age", "A"}, {"assoc", "B"}, {"fairshare", "F"}, {"size", "J"}, {"partition", "P"}, {"qos", "Q"}
        };
        for (String[] column : columns) {
            if (weights.number(column[0]) != 0) {
                out.append(" %")
                        .append(side)
                        .append("10")
                        .append(w.norm ? column[1].toLowerCase(Locale.ROOT) : column[1]);
            }
        }
        if (!weights.text("tres").isEmpty()) {
            out.append(w.norm ? " %20t" : " %.20T");
        }
        return out.toString();
    }

    private static boolean isOfJob(Json.Obj r, String id) {
        if (id.length() > 10 && Sluid.parse(id).isPresent()) {
            return Sluid.parse(id).getAsLong() == r.number("sluid");
        }
        int bar = id.indexOf('_');
        String own = Long.toString(r.number("jobId"));
        String array = Long.toString(r.number("arrayJobId"));
        return id.equals(own)
                || bar < 0 && id.equals(array)
                || bar > 0
                        && id.substring(0, bar).equals(array)
                        && (r.integer("arrayTaskId") < 0
                                || id.substring(bar + 1).equals(Long.toString(r.number("arrayTaskId"))));
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

    private static String weighted(Json.Obj r, String factor, Json.Obj weights, String weight) {
        return Long.toString((long) Math.rint(r.real(factor) * weights.number(weight)));
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

    private static String value(Json.Obj r, char letter, Json.Obj weights) {
        return switch (letter) {
            case 'A' -> weighted(r, "age", weights, "age");
            case 'a' -> norm(r.real("age"));
            case 'B' -> weighted(r, "assoc", weights, "assoc");
            case 'b' -> norm(r.real("assoc"));
            case 'c' -> "(null)";
            case 'F' -> weighted(r, "fairShare", weights, "fairshare");
            case 'f' -> norm(r.real("fairShare"));
            case 'i' -> JobRows.id(r, 0);
            case 'J' -> weighted(r, "size", weights, "size");
            case 'j' -> norm(r.real("size"));
            case 'N' -> Long.toString(r.number("nice"));
            case 'n' -> r.text("qosName").isEmpty() ? "(null)" : r.text("qosName");
            case 'o' -> r.text("account").isEmpty() ? "(null)" : r.text("account");
            case 'P' -> weighted(r, "partition", weights, "partition");
            case 'p' -> norm(r.real("partition"));
            case 'Q' -> weighted(r, "qos", weights, "qos");
            case 'q' -> norm(r.real("qos"));
            case 'r' -> r.text("partitionName");
            case 'S' -> Long.toString(r.number("site"));
            case 's' -> Sluid.text(r.number("sluid"));
            case 'T' -> tres(r.obj("tresWeighted"), false);
            case 't' -> tres(r.obj("tres"), true);
            case 'u' -> r.text("user");
            case 'Y' -> Long.toString(r.number("priority"));
            default -> String.format(Locale.ROOT, "%.14f", r.number("priority") / PRIORITY_MAX);
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
        Comparator<Json.Obj> by = Comparator.comparingLong(r -> r.number("jobId"));
        List<Comparator<Json.Obj>> all = new ArrayList<>();
        boolean down = false;
        for (int i = 0; i < order.length(); i++) {
            char letter = order.charAt(i);
            if (letter == '-' || letter == '+') {
                down = letter == '-';
            } else if (LETTERS.indexOf(letter) >= 0) {
                Comparator<Json.Obj> one = letter == 'i'
                        ? by
                        : (a, b) -> NaturalOrder.compare(value(a, letter, weights), value(b, letter, weights));
                all.add(down ? one.reversed() : one);
                down = false;
            } else if (letter != ',') {
                throw new UsageException(1, List.of("sprio: error: Invalid sort specification: " + order));
            }
        }
        for (Comparator<Json.Obj> one : all.reversed()) {
            by = one.thenComparing(by);
        }
        rows.sort(by);
    }
}
