package dev.muster.cli.list;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.NodeCalls;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.NodeRows;
import dev.muster.cli.format.RowFormat;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.scontrol.ScontrolReservation;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.json.Json;
import dev.muster.model.format.Digits;
import dev.muster.model.format.HostList;
import dev.muster.model.format.Times;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Runs sinfo, which shows partitions and nodes; nodes with the same values share a row. */
public final class Sinfo implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "all:a:n",
            "cluster::r",
            "clusters:M:r",
            "dead:d:n",
            "exact:e:n",
            "federation::n",
            "format:o:r",
            "Format:O:r",
            "future:F:n",
            "help::n",
            "helpformat::n",
            "helpstate::n",
            "hide::n",
            "iterate:i:r",
            "json::o",
            "list-reasons:R:n",
            "local::n",
            "long:l:n",
            "Node:N:n",
            "noconvert::n",
            "noheader:h:n",
            "nodes:n:r",
            "partition:p:r",
            "reservation:T:n",
            "responding:r:n",
            "sort:S:r",
            "states:t:r",
            "summarize:s:n",
            "usage::n",
            "verbose:v:n",
            "version:V:n",
            "yaml::o");
    /** The states that can be asked for, by the words sinfo knows. */
    private static final List<String> STATES = List.of(
            "unknown",
            "down",
            "idle",
            "allocated",
            "mixed",
            "future",
            "drain",
            "drained",
            "draining",
            "no_respond",
            "reserved",
            "planned",
            "blocked",
            "cloud",
            "completing",
            "powering_down",
            "powered_down",
            "power_down",
            "powering_up",
            "power_up",
            "inval",
            "fail",
            "maint",
            "reboot",
            "reboot^",
            "external",
            "dynamic_future",
            "dynamic_norm");
    /** Abbreviations and synonyms of the states. */
    private static final Set<String> STATE_WORDS = Set.of(
            "alloc", "comp", "futr", "mix", "plnd", "boot", "reboot_issued", "reboot_requested", "resv", "unk", "drng");

    /** The letters of {@code --helpformat}, in the order of their columns' names. */
    private static final String HELP_FORMAT = "SaVYcOCLdfbeGGgBmoAFnNDhPRMIpEirsXztTZlHuUvw";

    private static final int WIDEST_UNKNOWN = 0;

    static final class Options {
        boolean all;
        boolean dead;
        boolean exact;
        boolean byNode;
        boolean future;
        boolean longForm;
        boolean noHeader;
        boolean reasons;
        boolean reservations;
        boolean responding;
        boolean summary;
        String format = "";
        String wideFormat = "";
        String sort = "";
        String cluster = "";
        String json = "";
        String parser = "";
        final List<String> nodes = new ArrayList<>();
        final List<String> partitions = new ArrayList<>();
        final List<String> states = new ArrayList<>();
        int iterateSeconds;
        int verbose;
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        Options options = new Options();
        options.all = context.env().containsKey("SINFO_ALL");
        options.future = context.env().containsKey("SINFO_FUTURE");
        options.format = context.env("SINFO_FORMAT");
        options.sort = context.env("SINFO_SORT");
        if (options.all && context.env().containsKey("SINFO_PARTITION")) {
            throw context.bad(
                    1,
                    "Conflicting options, SINFO_ALL and SINFO_PARTITION, specified. Please choose one or the other.");
        }
        options.partitions.addAll(Texts.split(context.env("SINFO_PARTITION"), ','));
        for (GetOpt.Hit hit : parsed.hits()) {
            if (CommonOptions.answer(context, OPTIONS, "", hit)) {
                return 0;
            }
            switch (hit.opt().name()) {
                case "helpformat" -> {
                    CommonOptions.inRows(HELP_FORMAT.split("")).forEach(context.out()::println);
                    return 0;
                }
                case "helpstate" -> {
                    STATES.forEach(context.out()::println);
                    return 0;
                }
                default -> option(context, options, hit.opt().name(), hit.value());
            }
        }
        if (options.longForm && (CommonOptions.isTyped(parsed, "format") || CommonOptions.isTyped(parsed, "Format"))) {
            throw CommonOptions.formatAndLong(context);
        }
        if (CommonOptions.isTyped(parsed, "all") && CommonOptions.isTyped(parsed, "partition")) {
            throw context.bad(1, "Conflicting options, -a and -p, specified. Please choose one or the other.");
        }
        // the original ignores operands, and scripts rely on it ("sinfo -p x show node")
        if (options.verbose > 0) {
            SinfoReport.options(context, options, format(options, 0, new ArrayList<>()), formatText(options));
        }
        if (options.reservations) {
            return ScontrolReservation.table(context, !options.noHeader);
        }
        return showRepeatedly(context, options);
    }

    /** The format as typed, or the names of the default columns. */
    private static String formatText(Options options) {
        if (!options.wideFormat.isEmpty()) {
            return options.wideFormat;
        }
        return options.format.isEmpty() ? defaultFields(options) : options.format;
    }

    private static int showRepeatedly(CommandContext context, Options options) throws SlurmException, UsageException {
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

    /** The default format as Slurm prints it, which differs from the syntax of the command line. */
    private static String defaultFields(Options options) {
        List<String> out = new ArrayList<>();
        for (String column : defaultFormat(options, 0).substring(1).split(" ?%")) {
            SinfoField field = SinfoField.at(SinfoField.TABLE.byLetter(column.charAt(column.length() - 1)));
            // names of nodes take the room that they need
            out.add(field.longName + ":"
                    + (field == SinfoField.NODE_LIST ? "0" : column.substring(0, column.length() - 1)));
        }
        return String.join(" ,", out);
    }

    private static void option(CommandContext context, Options options, String name, String value)
            throws UsageException {
        switch (name) {
            case "all" -> options.all = true;
            case "cluster", "clusters" -> options.cluster = Clusters.requireKnown(context, value);
            case "dead" -> options.dead = true;
            case "exact" -> options.exact = true;
            case "format" -> {
                options.format = RowFormat.explicit(value);
                options.wideFormat = "";
            }
            case "Format" -> {
                options.format = value.isEmpty() ? RowFormat.NO_COLUMNS : options.format;
                options.wideFormat = options.wideFormat.isEmpty() ? value : options.wideFormat + "," + value;
            }
            case "future" -> options.future = true;
            case "hide" -> options.all = false;
            case "iterate" -> {
                long n = Digits.parseNumber(value);
                if (n < 1 || n > Integer.MAX_VALUE) {
                    throw context.bad(1, "Error: invalid entry for --iterate=" + value);
                }
                options.iterateSeconds = (int) n;
            }
            case "list-reasons" -> options.reasons = true;
            case "long" -> options.longForm = true;
            case "Node" -> options.byNode = true;
            // what it shows has one form only
            case "noconvert" -> {}
            case "noheader" -> options.noHeader = true;
            case "nodes" -> nodes(context, options, value);
            case "partition" -> {
                options.partitions.clear();
                options.partitions.addAll(Texts.split(value, ','));
            }
            case "responding" -> options.responding = true;
            case "sort" -> options.sort = value;
            case "states" -> states(context, options, value);
            case "summarize" -> options.summary = true;
            case "verbose" -> options.verbose++;
            case "federation", "local" -> {}
            case "reservation" -> options.reservations = true;
            case "json", "yaml" -> {
                options.json = name;
                options.parser = JsonOutput.requireParser(context, options.json, value);
            }
            default -> throw new IllegalStateException(name);
        }
    }

    private static void nodes(CommandContext context, Options options, String value) throws UsageException {
        switch (HostList.parse(NodeCalls.expanded(
                context, value.replace("localhost", context.host().hostName())))) {
            case HostList.Parsed.Ok ok -> options.nodes.addAll(ok.list().names());
            case HostList.Parsed.Invalid invalid -> throw context.bad(1, "'" + value + "' invalid entry for --nodes");
        }
    }

    /**
     * Alternatives with commas between; {@code idle+drain} and {@code idle&drain} want both, {@code ~} and {@code !}
     * the contrary.
     */
    private static void states(CommandContext context, Options options, String value) throws UsageException {
        for (String text : Texts.split(value, ',')) {
            String up = Texts.upper(text);
            if (up.equals("ALL")) {
                continue;
            }
            for (String part : Texts.split(up.replace('+', '&'), '&')) {
                String bare = Texts.lower(isNegated(part) ? part.substring(1) : part);
                if (!STATES.contains(bare) && !STATE_WORDS.contains(bare)) {
                    throw new UsageException(
                            1,
                            List.of(
                                    context.name() + ": error: Bad state string: \"" + text + "\"",
                                    context.name() + ": error: valid states: " + String.join(",", STATES)));
                }
            }
            options.states.add(up);
        }
    }

    private static boolean isNegated(String part) {
        return part.startsWith("~") || part.startsWith("!");
    }

    private static boolean inAll(Json.Obj node, String states) {
        for (String part : Texts.split(states.replace('+', '&'), '&')) {
            boolean not = isNegated(part);
            if (inState(node, not ? part.substring(1) : part) == not) {
                return false;
            }
        }
        return true;
    }

    private static boolean inState(Json.Obj node, String state) {
        String base = NodeRows.base(node);
        boolean busy = base.equals("ALLOCATED") || base.equals("MIXED") || NodeRows.has(node, "COMPLETING");
        if (state.endsWith("*")) {
            return NodeRows.has(node, "NOT_RESPONDING") && inState(node, state.substring(0, state.length() - 1));
        }
        return switch (state) {
            // base states, whatever the node's flags
            case "ALLOC", "ALLOCATED" -> base.equals("ALLOCATED");
            case "MIX", "MIXED" -> base.equals("MIXED");
            case "IDLE" -> base.equals("IDLE");
            case "REBOOT", "BOOT" -> NodeRows.has(node, "REBOOT_ISSUED") || NodeRows.has(node, "REBOOT_REQUESTED");
            case "DOWN" -> base.equals("DOWN");
            case "DRAIN" -> NodeRows.has(node, "DRAIN");
            case "DRAINED" -> NodeRows.has(node, "DRAIN") && !busy;
            case "DRAINING", "DRNG" -> NodeRows.has(node, "DRAIN") && busy;
            case "FAIL" -> NodeRows.has(node, "FAIL");
            case "FAILING" -> NodeRows.has(node, "FAIL") && busy;
            case "COMP", "COMPLETING" -> NodeRows.has(node, "COMPLETING");
            case "NO_RESPOND" -> NodeRows.has(node, "NOT_RESPONDING");
            case "INVAL" -> NodeRows.has(node, "INVALID_REG");
            case "RESV", "RESERVED" -> NodeRows.has(node, "RESERVED");
            case "PLND", "PLANNED" -> NodeRows.has(node, "PLANNED");
            case "UNK", "UNKNOWN" -> base.equals("UNKNOWN");
            case "FUTR", "FUTURE" -> base.equals("FUTURE");
            case "ERR", "ERROR" -> base.equals("ERROR");
            default -> NodeRows.has(node, state);
        };
    }

    private static boolean isWanted(Options options, Json.Obj node) {
        if (!isFutureShown(options) && NodeRows.base(node).equals("FUTURE")
                || !options.nodes.isEmpty() && !options.nodes.contains(node.text("name"))) {
            return false;
        }
        boolean responding = !NodeRows.has(node, "NOT_RESPONDING");
        if (options.dead && responding
                || options.responding && !responding
                || options.reasons && node.text("reason").isEmpty()) {
            return false;
        }
        if (options.states.isEmpty()) {
            return true;
        }
        for (String text : options.states) {
            if (inAll(node, text)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isFutureShown(Options options) {
        return options.future || options.states.contains("FUTURE") || options.states.contains("FUTR");
    }

    private static String defaultFormat(Options options, int widest) {
        if (options.reasons && !options.byNode && !options.summary) {
            return options.longForm ? "%20E %12U %19H %6t %N" : "%20E %9u %19H %N";
        }
        if (options.summary) {
            return "%9P %.5a %.10l %.16F %N";
        }
        if (options.byNode) {
            return "%" + Math.max(9, widest)
                    + (options.longForm ? "N %.6D %.9P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E" : "N %.6D %.9P %6t");
        }
        return options.longForm
                ? "%9P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %.11i %N"
                : "%9P %.5a %.10l %.6D %.6t %N";
    }

    private static int show(CommandContext context, Options options) throws UsageException {
        List<String> unknown = new ArrayList<>();
        RowFormat format = format(options, WIDEST_UNKNOWN, unknown);
        for (String u : unknown) {
            if (options.wideFormat.isEmpty()) {
                context.err().println("Invalid node format specification: " + u);
            } else {
                context.error("Invalid job format specification: " + u);
            }
        }
        Json.Obj nodes;
        Json.Obj partitions;
        String loaded = "slurm_load_partitions";
        try {
            Json.Obj query = new Json.Obj();
            JobRequest.put(query, "all", options.all || !options.partitions.isEmpty() || !options.json.isEmpty());
            partitions = context.host().controller().call("QueryPartitions", query);
            loaded = "slurm_load_node";
            query.put("all", Boolean.TRUE);
            if (options.json.isEmpty()) {
                query.put("fields", nodeFields(options, format));
            }
            nodes = context.host().controller().call("QueryNodes", query);
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, loaded, e);
        }
        int widest = 0;
        for (Json.Obj node : nodes.objects("nodes")) {
            widest = Math.max(widest, node.text("name").length());
        }
        if (!options.json.isEmpty()) {
            List<Object> out = new ArrayList<>();
            for (SinfoRow r : rows(options, format, partitions.objects("partitions"), nodes.objects("nodes"))) {
                out.add(SinfoJson.row(r));
            }
            return JsonOutput.print(context, options.json, options.parser, new Json.Obj().put("sinfo", out));
        }
        format = format(options, widest, unknown);
        if (options.iterateSeconds > 0 || (options.longForm || options.verbose > 0) && !options.noHeader) {
            context.out()
                    .println(Times.strftime(
                            context.host().nowMs() / 1000, context.host().zone(), "%a %b %d %H:%M:%S %Y"));
        }
        List<SinfoRow> rows = rows(options, format, partitions.objects("partitions"), nodes.objects("nodes"));
        sort(context, options, rows);
        print(context, options, format, rows, nodes.number("now"));
        return 0;
    }

    private static RowFormat format(Options options, int widest, List<String> unknown) {
        if (Texts.lower(options.wideFormat).matches("all(:.*)?")) {
            return RowFormat.ofLetters(expand("%all"), SinfoField.TABLE, unknown);
        }
        if (!options.wideFormat.isEmpty()) {
            return RowFormat.ofNames(options.wideFormat, SinfoField.TABLE, unknown);
        }
        return RowFormat.ofLetters(
                expand(options.format.isEmpty() ? defaultFormat(options, widest) : options.format),
                SinfoField.TABLE,
                unknown);
    }

    /** Returns the fields that columns, sort keys and filters need. */
    private static List<Object> nodeFields(Options options, RowFormat format) {
        Set<Object> fields = new LinkedHashSet<>(List.of("name", "state", "flags", "slurmdStartTime"));
        if (options.reasons) {
            fields.add("reason");
        }
        for (RowFormat.Column col : format.columns()) {
            if (col.field() != RowFormat.LITERAL) {
                fields.addAll(Texts.split(SinfoField.at(col.field()).components(), ','));
            }
        }
        for (int i = 0; i < options.sort.length(); i++) {
            int f = SinfoField.TABLE.byLetter(options.sort.charAt(i));
            if (f >= 0) {
                fields.addAll(Texts.split(SinfoField.at(f).components(), ','));
            }
        }
        return new ArrayList<>(fields);
    }

    private static String expand(String format) {
        if (!format.equals("%all")) {
            return format;
        }
        return RowFormat.everyLetter(SinfoField.TABLE, " ");
    }

    private static List<SinfoRow> rows(
            Options options, RowFormat format, List<Json.Obj> partitions, List<Json.Obj> nodes) {
        Map<String, Json.Obj> byName = new LinkedHashMap<>();
        for (Json.Obj node : nodes) {
            byName.put(node.text("name"), node);
        }
        boolean ofPartitions = !options.reasons
                && !options.byNode
                && format.columns().stream()
                        .anyMatch(col -> col.field() != RowFormat.LITERAL
                                && (SinfoField.at(col.field()) == SinfoField.PARTITION
                                        || SinfoField.at(col.field()) == SinfoField.PARTITION_NAME));
        Map<String, SinfoRow> rows = new LinkedHashMap<>();
        int order = 0;
        for (Json.Obj partition : partitions) {
            order++;
            if (!options.partitions.isEmpty() && !options.partitions.contains(partition.text("name"))) {
                continue;
            }
            int found = 0;
            for (String name : SinfoRow.hosts(partition.text("nodes"))) {
                Json.Obj node = byName.get(name);
                if (node == null || !isWanted(options, node)) {
                    continue;
                }
                found++;
                String key = key(options, format, partition, node, order);
                int position = order;
                rows.computeIfAbsent(key, k -> new SinfoRow(partition, position))
                        .add(node);
            }
            // where rows are of partitions, a partition without selected nodes has a row without nodes
            if (found == 0 && ofPartitions) {
                int position = order;
                rows.computeIfAbsent(
                        key(options, format, partition, new Json.Obj(), order), k -> new SinfoRow(partition, position));
            }
        }
        return new ArrayList<>(rows.values());
    }

    /** Returns the values that nodes and partitions of one row share: those of the columns that separate rows. */
    private static String key(Options options, RowFormat format, Json.Obj partition, Json.Obj node, int order) {
        SinfoRow one = new SinfoRow(partition, order);
        if (node.has("name")) {
            one.add(node);
        }
        StringBuilder text = new StringBuilder();
        if (options.byNode) {
            // a node of several partitions has a row in each of them
            text.append(node.text("name")).append('\n').append(order).append('\n');
        }
        for (RowFormat.Column col : format.columns()) {
            if (col.field() == RowFormat.LITERAL) {
                continue;
            }
            SinfoField field = SinfoField.at(col.field());
            if (field.group == SinfoField.Group.PARTITION
                    && (field == SinfoField.PARTITION || field == SinfoField.PARTITION_NAME)) {
                text.append(order);
            } else if (field.group == SinfoField.Group.PARTITION
                    || field.group == SinfoField.Group.KEY && !options.summary
                    || field.group == SinfoField.Group.SIZE && options.exact) {
                text.append(field.key(one));
            }
            text.append('\n');
        }
        return text.toString();
    }

    private static void sort(CommandContext context, Options options, List<SinfoRow> rows) throws UsageException {
        String standard = options.byNode ? "N,#P" : "#P,-t";
        rows.sort(SinfoOrder.of(context, options.sort.isEmpty() ? standard : options.sort));
    }

    /** The default partition has its star however narrow the column is. */
    private static String fitting(RowFormat.Column column, String value) {
        boolean cut = column.width() > 0
                && value.length() > column.width()
                && SinfoField.at(column.field()) == SinfoField.PARTITION;
        return cut && value.endsWith("*") ? value.substring(0, column.width() - 1) + "*" : value;
    }

    private static void print(
            CommandContext context, Options options, RowFormat format, List<SinfoRow> rows, long now) {
        List<String> values = new ArrayList<>();
        if (!options.noHeader) {
            if (!options.cluster.isEmpty()) {
                context.out().println("CLUSTER: " + options.cluster);
            }
            for (RowFormat.Column col : format.columns()) {
                values.add(col.field() == RowFormat.LITERAL ? "" : SinfoField.at(col.field()).heading);
            }
            format.print(values, context.out());
        }
        SinfoField.View view = new SinfoField.View(context, now, options.cluster);
        for (SinfoRow row : rows) {
            values.clear();
            for (RowFormat.Column col : format.columns()) {
                values.add(
                        col.field() == RowFormat.LITERAL
                                ? ""
                                : fitting(col, SinfoField.at(col.field()).value(row, view)));
            }
            format.print(values, context.out());
        }
    }
}
