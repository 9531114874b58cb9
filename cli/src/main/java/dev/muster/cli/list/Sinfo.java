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

    static final class Wanted {
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
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        Wanted w = new Wanted();
        w.all = c.env().containsKey("SINFO_ALL");
        w.future = c.env().containsKey("SINFO_FUTURE");
        w.format = c.env("SINFO_FORMAT");
        w.sort = c.env("SINFO_SORT");
        if (w.all && c.env().containsKey("SINFO_PARTITION")) {
            throw c.bad(
                    1,
                    "Conflicting options, SINFO_ALL and SINFO_PARTITION, specified. Please choose one or the other.");
        }
        w.partitions.addAll(Texts.split(c.env("SINFO_PARTITION"), ','));
        for (GetOpt.Hit h : p.hits()) {
            if (CommonOptions.answer(c, OPTIONS, "", h)) {
                return 0;
            }
            switch (h.opt().name()) {
                case "helpformat" -> {
                    CommonOptions.inRows(HELP_FORMAT.split("")).forEach(c.out()::println);
                    return 0;
                }
                case "helpstate" -> {
                    STATES.forEach(c.out()::println);
                    return 0;
                }
                default -> option(c, w, h.opt().name(), h.value());
            }
        }
        if (w.longForm && (CommonOptions.isTyped(p, "format") || CommonOptions.isTyped(p, "Format"))) {
            throw CommonOptions.formatAndLong(c);
        }
        if (CommonOptions.isTyped(p, "all") && CommonOptions.isTyped(p, "partition")) {
            throw c.bad(1, "Conflicting options, -a and -p, specified. Please choose one or the other.");
        }
        // the original ignores operands, and scripts rely on it ("sinfo -p x show node")
        if (w.verbose > 0) {
            SinfoReport.options(c, w, format(w, 0, new ArrayList<>()), formatText(w));
        }
        if (w.reservations) {
            return ScontrolReservation.table(c, !w.noHeader);
        }
        return showRepeatedly(c, w);
    }

    /** The format as typed, or the names of the default columns. */
    private static String formatText(Wanted w) {
        if (!w.wideFormat.isEmpty()) {
            return w.wideFormat;
        }
        return w.format.isEmpty() ? defaultFields(w) : w.format;
    }

    private static int showRepeatedly(CommandContext c, Wanted w) throws SlurmException, UsageException {
        int rc = show(c, w);
        c.out().flush();
        while (w.iterateSeconds > 0 && !c.out().isBroken() && c.host().pause(w.iterateSeconds * 1000L)) {
            c.out().println("");
            rc = show(c, w);
            c.out().flush();
        }
        return rc;
    }

    /** The default format in words: as the original writes it, which is not how it can be said on the command line. */
    private static String defaultFields(Wanted w) {
        List<String> out = new ArrayList<>();
        for (String column : defaultFormat(w, 0).substring(1).split(" ?%")) {
            SinfoField field = SinfoField.at(SinfoField.TABLE.byLetter(column.charAt(column.length() - 1)));
            // names of nodes take the room that they need
            out.add(field.longName + ":"
                    + (field == SinfoField.NODE_LIST ? "0" : column.substring(0, column.length() - 1)));
        }
        return String.join(" ,", out);
    }

    private static void option(CommandContext c, Wanted w, String name, String v) throws UsageException {
        switch (name) {
            case "all" -> w.all = true;
            case "cluster", "clusters" -> w.cluster = Clusters.requireKnown(c, v);
            case "dead" -> w.dead = true;
            case "exact" -> w.exact = true;
            case "format" -> {
                w.format = RowFormat.explicit(v);
                w.wideFormat = "";
            }
            case "Format" -> {
                w.format = v.isEmpty() ? RowFormat.NO_COLUMNS : w.format;
                w.wideFormat = w.wideFormat.isEmpty() ? v : w.wideFormat + "," + v;
            }
            case "future" -> w.future = true;
            case "hide" -> w.all = false;
            case "iterate" -> {
                long n = Digits.parseNumber(v);
                if (n < 1 || n > Integer.MAX_VALUE) {
                    throw c.bad(1, "Error: invalid entry for --iterate=" + v);
                }
                w.iterateSeconds = (int) n;
            }
            case "list-reasons" -> w.reasons = true;
            case "long" -> w.longForm = true;
            case "Node" -> w.byNode = true;
            // what it shows has one form only
            case "noconvert" -> {}
            case "noheader" -> w.noHeader = true;
            case "nodes" -> nodes(c, w, v);
            case "partition" -> {
                w.partitions.clear();
                w.partitions.addAll(Texts.split(v, ','));
            }
            case "responding" -> w.responding = true;
            case "sort" -> w.sort = v;
            case "states" -> states(c, w, v);
            case "summarize" -> w.summary = true;
            case "verbose" -> w.verbose++;
            case "federation", "local" -> {}
            case "reservation" -> w.reservations = true;
            case "json", "yaml" -> {
                w.json = name;
                w.parser = JsonOutput.requireParser(c, w.json, v);
            }
            default -> throw new IllegalStateException(name);
        }
    }

    private static void nodes(CommandContext c, Wanted w, String v) throws UsageException {
        switch (HostList.parse(
                NodeCalls.expanded(c, v.replace("localhost", c.host().hostName())))) {
            case HostList.Parsed.Ok ok -> w.nodes.addAll(ok.list().names());
            case HostList.Parsed.Invalid bad -> throw c.bad(1, "'" + v + "' invalid entry for --nodes");
        }
    }

    /**
     * Alternatives with commas between; {@code idle+drain} and {@code idle&drain} want both, {@code ~} and {@code !}
     * the contrary.
     */
    private static void states(CommandContext c, Wanted w, String v) throws UsageException {
        for (String s : Texts.split(v, ',')) {
            String up = Texts.upper(s);
            if (up.equals("ALL")) {
                continue;
            }
            for (String part : Texts.split(up.replace('+', '&'), '&')) {
                String bare = Texts.lower(isNegated(part) ? part.substring(1) : part);
                if (!STATES.contains(bare) && !STATE_WORDS.contains(bare)) {
                    throw new UsageException(
                            1,
                            List.of(
                                    c.name() + ": error: Bad state string: \"" + s + "\"",
                                    c.name() + ": error: valid states: " + String.join(",", STATES)));
                }
            }
            w.states.add(up);
        }
    }

    private static boolean isNegated(String part) {
        return part.startsWith("~") || part.startsWith("!");
    }

    private static boolean inAll(Json.Obj n, String states) {
        for (String part : Texts.split(states.replace('+', '&'), '&')) {
            boolean not = isNegated(part);
            if (inState(n, not ? part.substring(1) : part) == not) {
                return false;
            }
        }
        return true;
    }

    private static boolean inState(Json.Obj n, String state) {
        String base = NodeRows.base(n);
        boolean busy = base.equals("ALLOCATED") || base.equals("MIXED") || NodeRows.has(n, "COMPLETING");
        if (state.endsWith("*")) {
            return NodeRows.has(n, "NOT_RESPONDING") && inState(n, state.substring(0, state.length() - 1));
        }
        return switch (state) {
            // base states, whatever else is said of the node
            case "ALLOC", "ALLOCATED" -> base.equals("ALLOCATED");
            case "MIX", "MIXED" -> base.equals("MIXED");
            case "IDLE" -> base.equals("IDLE");
            case "REBOOT", "BOOT" -> NodeRows.has(n, "REBOOT_ISSUED") || NodeRows.has(n, "REBOOT_REQUESTED");
            case "DOWN" -> base.equals("DOWN");
            case "DRAIN" -> NodeRows.has(n, "DRAIN");
            case "DRAINED" -> NodeRows.has(n, "DRAIN") && !busy;
            case "DRAINING", "DRNG" -> NodeRows.has(n, "DRAIN") && busy;
            case "FAIL" -> NodeRows.has(n, "FAIL");
            case "FAILING" -> NodeRows.has(n, "FAIL") && busy;
            case "COMP", "COMPLETING" -> NodeRows.has(n, "COMPLETING");
            case "NO_RESPOND" -> NodeRows.has(n, "NOT_RESPONDING");
            case "INVAL" -> NodeRows.has(n, "INVALID_REG");
            case "RESV", "RESERVED" -> NodeRows.has(n, "RESERVED");
            case "PLND", "PLANNED" -> NodeRows.has(n, "PLANNED");
            case "UNK", "UNKNOWN" -> base.equals("UNKNOWN");
            case "FUTR", "FUTURE" -> base.equals("FUTURE");
            case "ERR", "ERROR" -> base.equals("ERROR");
            default -> NodeRows.has(n, state);
        };
    }

    private static boolean isWanted(Wanted w, Json.Obj n) {
        if (!isFutureShown(w) && NodeRows.base(n).equals("FUTURE")
                || !w.nodes.isEmpty() && !w.nodes.contains(n.text("name"))) {
            return false;
        }
        boolean responding = !NodeRows.has(n, "NOT_RESPONDING");
        if (w.dead && responding
                || w.responding && !responding
                || w.reasons && n.text("reason").isEmpty()) {
            return false;
        }
        if (w.states.isEmpty()) {
            return true;
        }
        for (String s : w.states) {
            if (inAll(n, s)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isFutureShown(Wanted w) {
        return w.future || w.states.contains("FUTURE") || w.states.contains("FUTR");
    }

    private static String defaultFormat(Wanted w, int widest) {
        if (w.reasons && !w.byNode && !w.summary) {
            return w.longForm ? "%20E %12U %19H %6t %N" : "%20E %9u %19H %N";
        }
        if (w.summary) {
            return "%9P %.5a %.10l %.16F %N";
        }
        if (w.byNode) {
            return "%" + Math.max(9, widest)
                    + (w.longForm ? "N %.6D %.9P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E" : "N %.6D %.9P %6t");
        }
        return w.longForm ? "%9P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %.11i %N" : "%9P %.5a %.10l %.6D %.6t %N";
    }

    private static int show(CommandContext c, Wanted w) throws UsageException {
        List<String> unknown = new ArrayList<>();
        RowFormat format = format(w, WIDEST_UNKNOWN, unknown);
        for (String u : unknown) {
            if (w.wideFormat.isEmpty()) {
                c.err().println("Invalid node format specification: " + u);
            } else {
                c.error("Invalid job format specification: " + u);
            }
        }
        Json.Obj nodes;
        Json.Obj partitions;
        String loaded = "slurm_load_partitions";
        try {
            Json.Obj q = new Json.Obj();
            JobRequest.put(q, "all", w.all || !w.partitions.isEmpty() || !w.json.isEmpty());
            partitions = c.host().controller().call("QueryPartitions", q);
            loaded = "slurm_load_node";
            q.put("all", Boolean.TRUE);
            if (w.json.isEmpty()) {
                q.put("fields", nodeFields(w, format));
            }
            nodes = c.host().controller().call("QueryNodes", q);
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, loaded, e);
        }
        int widest = 0;
        for (Json.Obj n : nodes.objects("nodes")) {
            widest = Math.max(widest, n.text("name").length());
        }
        if (!w.json.isEmpty()) {
            List<Object> out = new ArrayList<>();
            for (SinfoRow r : rows(w, format, partitions.objects("partitions"), nodes.objects("nodes"))) {
                out.add(SinfoJson.row(r));
            }
            return JsonOutput.print(c, w.json, w.parser, new Json.Obj().put("sinfo", out));
        }
        format = format(w, widest, unknown);
        if (w.iterateSeconds > 0 || (w.longForm || w.verbose > 0) && !w.noHeader) {
            c.out().println(Times.strftime(c.host().nowMs() / 1000, c.host().zone(), "%a %b %d %H:%M:%S %Y"));
        }
        List<SinfoRow> rows = rows(w, format, partitions.objects("partitions"), nodes.objects("nodes"));
        sort(c, w, rows);
        print(c, w, format, rows, nodes.number("now"));
        return 0;
    }

    private static RowFormat format(Wanted w, int widest, List<String> unknown) {
        if (Texts.lower(w.wideFormat).matches("all(:.*)?")) {
            return RowFormat.ofLetters(expand("%all"), SinfoField.TABLE, unknown);
        }
        if (!w.wideFormat.isEmpty()) {
            return RowFormat.ofNames(w.wideFormat, SinfoField.TABLE, unknown);
        }
        return RowFormat.ofLetters(
                expand(w.format.isEmpty() ? defaultFormat(w, widest) : w.format), SinfoField.TABLE, unknown);
    }

    /** Returns the fields that columns, sort keys and filters need. */
    private static List<Object> nodeFields(Wanted w, RowFormat format) {
        Set<Object> fields = new LinkedHashSet<>(List.of("name", "state", "flags", "slurmdStartTime"));
        if (w.reasons) {
            fields.add("reason");
        }
        for (RowFormat.Column col : format.columns()) {
            if (col.field() != RowFormat.LITERAL) {
                fields.addAll(Texts.split(SinfoField.at(col.field()).components(), ','));
            }
        }
        for (int i = 0; i < w.sort.length(); i++) {
            int f = SinfoField.TABLE.byLetter(w.sort.charAt(i));
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

    private static List<SinfoRow> rows(Wanted w, RowFormat format, List<Json.Obj> partitions, List<Json.Obj> nodes) {
        Map<String, Json.Obj> byName = new LinkedHashMap<>();
        for (Json.Obj n : nodes) {
            byName.put(n.text("name"), n);
        }
        boolean ofPartitions = !w.reasons
                && !w.byNode
                && format.columns().stream()
                        .anyMatch(col -> col.field() != RowFormat.LITERAL
                                && (SinfoField.at(col.field()) == SinfoField.PARTITION
                                        || SinfoField.at(col.field()) == SinfoField.PARTITION_NAME));
        Map<String, SinfoRow> rows = new LinkedHashMap<>();
        int order = 0;
        for (Json.Obj p : partitions) {
            order++;
            if (!w.partitions.isEmpty() && !w.partitions.contains(p.text("name"))) {
                continue;
            }
            int found = 0;
            for (String name : SinfoRow.hosts(p.text("nodes"))) {
                Json.Obj n = byName.get(name);
                if (n == null || !isWanted(w, n)) {
                    continue;
                }
                found++;
                String key = key(w, format, p, n, order);
                int position = order;
                rows.computeIfAbsent(key, k -> new SinfoRow(p, position)).add(n);
            }
            // where rows are of partitions, a partition without selected nodes has a row without nodes
            if (found == 0 && ofPartitions) {
                int position = order;
                rows.computeIfAbsent(key(w, format, p, new Json.Obj(), order), k -> new SinfoRow(p, position));
            }
        }
        return new ArrayList<>(rows.values());
    }

    /** Returns the values that nodes and partitions of one row share: those of the columns that separate rows. */
    private static String key(Wanted w, RowFormat format, Json.Obj p, Json.Obj n, int order) {
        SinfoRow one = new SinfoRow(p, order);
        if (n.has("name")) {
            one.add(n);
        }
        StringBuilder b = new StringBuilder();
        if (w.byNode) {
            // a node of several partitions has a row in each of them
            b.append(n.text("name")).append('\n').append(order).append('\n');
        }
        for (RowFormat.Column col : format.columns()) {
            if (col.field() == RowFormat.LITERAL) {
                continue;
            }
            SinfoField f = SinfoField.at(col.field());
            if (f.group == SinfoField.Group.PARTITION
                    && (f == SinfoField.PARTITION || f == SinfoField.PARTITION_NAME)) {
                b.append(order);
            } else if (f.group == SinfoField.Group.PARTITION
                    || f.group == SinfoField.Group.KEY && !w.summary
                    || f.group == SinfoField.Group.SIZE && w.exact) {
                b.append(f.key(one));
            }
            b.append('\n');
        }
        return b.toString();
    }

    private static void sort(CommandContext c, Wanted w, List<SinfoRow> rows) throws UsageException {
        String standard = w.byNode ? "N,#P" : "#P,-t";
        rows.sort(SinfoOrder.of(c, w.sort.isEmpty() ? standard : w.sort));
    }

    /** The default partition has its star however narrow the column is. */
    private static String fitting(RowFormat.Column column, String value) {
        boolean cut = column.width() > 0
                && value.length() > column.width()
                && SinfoField.at(column.field()) == SinfoField.PARTITION;
        return cut && value.endsWith("*") ? value.substring(0, column.width() - 1) + "*" : value;
    }

    private static void print(CommandContext c, Wanted w, RowFormat format, List<SinfoRow> rows, long now) {
        List<String> values = new ArrayList<>();
        if (!w.noHeader) {
            if (!w.cluster.isEmpty()) {
                c.out().println("CLUSTER: " + w.cluster);
            }
            for (RowFormat.Column col : format.columns()) {
                values.add(col.field() == RowFormat.LITERAL ? "" : SinfoField.at(col.field()).heading);
            }
            format.print(values, c.out());
        }
        SinfoField.View view = new SinfoField.View(c, now, w.cluster);
        for (SinfoRow row : rows) {
            values.clear();
            for (RowFormat.Column col : format.columns()) {
                values.add(
                        col.field() == RowFormat.LITERAL
                                ? ""
                                : fitting(col, SinfoField.at(col.field()).value(row, view)));
            }
            format.print(values, c.out());
        }
    }
}
