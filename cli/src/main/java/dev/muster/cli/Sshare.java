package dev.muster.cli;

import dev.muster.cli.shape.SharesJson;
import dev.muster.model.Json;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/** Who has which share of the cluster, and how much of it was used. */
final class Sshare implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table("accounts:A:r", "all:a:n", "format:o:r", "helpformat:e:n", "json::o", "yaml::o",
            "long:l:n",
            "cluster:M:r", "clusters:M:r", "noheader:n:n", "parsable:p:n", "parsable2:P:n", "partition:m:n", "users:u:r", "Users:U:n", "verbose:v:n",
            "version:V:n", "help:h:n", "usage::n");

    /** @param width negative: left side */
    private record Column(String name, int width) {}

    private static final List<Column> COLUMNS = List.of(new Column("Account", -20), new Column("User", 10), new Column("Partition", 12),
            new Column("RawShares", 10), new Column("NormShares", 11), new Column("RawUsage", 11), new Column("NormUsage", 11),
            new Column("EffectvUsage", 13), new Column("FairShare", 10), new Column("LevelFS", 10), new Column("GrpTRESMins", 30),
            new Column("GrpTRESRaw", 30), new Column("TRESRunMins", 30));

    private static final class Wanted {
        boolean everybody;
        boolean header = true;
        boolean longForm;
        boolean partitions;
        boolean bars;
        boolean lastBar;
        boolean usersOnly;
        boolean verbose;
        String format = "";
        String json = "";
        String parser = "";
        final List<String> accounts = new ArrayList<>();
        final List<String> users = new ArrayList<>();
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = Standard.parse(c, OPTIONS);
        Wanted w = new Wanted();
        for (GetOpt.Hit h : p.hits()) {
            if (Standard.told(c, OPTIONS, "", h)) {
                return 0;
            }
            switch (h.opt().name()) {
                case "helpformat" -> {
                    c.out().println(String.join(" ", COLUMNS.stream().map(Column::name).toList()));
                    return 0;
                }
                case "cluster", "clusters" -> Clusters.checked(c, h.value());
                case "all" -> w.everybody = true;
                case "accounts" -> w.accounts.addAll(Texts.split(h.value(), ','));
                case "users" -> w.users.addAll(Texts.split(h.value(), ','));
                case "format" -> w.format = h.value();
                case "json", "yaml" -> {
                    w.json = h.opt().name();
                    w.parser = h.value();
                }
                case "long" -> w.longForm = true;
                case "noheader" -> w.header = false;
                case "parsable" -> {
                    w.bars = true;
                    w.lastBar = true;
                }
                case "parsable2" -> {
                    w.bars = true;
                    w.lastBar = false;
                }
                case "partition" -> w.partitions = true;
                case "Users" -> w.usersOnly = true;
                case "verbose" -> w.verbose = true;
                default -> throw new IllegalStateException(h.opt().name());
            }
        }
        for (String user : w.users) {
            if (c.host().userId(user) < 0) {
                throw c.bad(1, "Invalid user id: " + user);
            }
        }
        return show(c, w);
    }

    private static int show(CommandContext c, Wanted w) throws SlurmException, UsageException {
        Json.Obj reply = c.host().controller().call("QueryShares", new Json.Obj());
        if (w.json.isEmpty() && !Standard.isMultifactor(c, reply.text("type"))) {
            return 1;
        }
        if (!w.everybody && w.users.isEmpty()) {
            w.users.add(c.host().userName(c.host().uid()));
        }
        if (w.verbose) {
            c.err().println("Users requested:\n\t: " + (w.everybody && w.users.isEmpty() ? "all" : String.join("\n\t: ", w.users)));
            c.err().println("Accounts requested:\n\t: " + (w.accounts.isEmpty() ? "all" : String.join("\n\t: ", w.accounts)));
        }
        List<Json.Obj> rows = wanted(reply, w);
        if (!w.json.isEmpty()) {
            return JsonOutput.print(c, w.json, w.parser, SharesJson.of(rows, c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst()));
        }
        List<Column> columns = columns(c, w);
        if (w.header) {
            header(c, columns, w);
        }
        Deque<Integer> above = new ArrayDeque<>();
        for (Json.Obj r : rows) {
            while (!above.isEmpty() && above.peek() >= r.integer("depth")) {
                above.pop();
            }
            line(c, columns, r, w, reply.flag("tree"), above.size());
            above.push(r.integer("depth"));
        }
        return 0;
    }

    private static List<Json.Obj> wanted(Json.Obj reply, Wanted w) {
        List<Json.Obj> out = new ArrayList<>();
        for (Json.Obj r : reply.objects("rows")) {
            boolean isUser = !r.text("user").isEmpty();
            boolean account = w.accounts.isEmpty() || w.accounts.contains(r.text("account"));
            boolean user = isUser ? w.everybody || w.users.contains(r.text("user")) : !w.usersOnly;
            if (account && user) {
                out.add(r);
            }
        }
        return out;
    }

    private static List<Column> columns(CommandContext c, Wanted w) throws UsageException {
        if (w.format.isEmpty()) {
            List<String> names = new ArrayList<>(List.of("Account", "User"));
            if (w.partitions) {
                names.add("Partition");
            }
            names.addAll(List.of("RawShares", "NormShares", "RawUsage"));
            names.addAll(w.longForm ? List.of("NormUsage", "EffectvUsage", "FairShare", "LevelFS", "GrpTRESMins", "TRESRunMins")
                    : List.of("EffectvUsage", "FairShare"));
            return names.stream().map(n -> COLUMNS.stream().filter(k -> k.name.equals(n)).findFirst().orElseThrow()).toList();
        }
        List<Column> out = new ArrayList<>();
        for (String item : Texts.split(w.format, ',')) {
            int percent = item.indexOf('%');
            String name = percent < 0 ? item : item.substring(0, percent);
            Column found = COLUMNS.stream().filter(k -> k.name.toLowerCase(Locale.ROOT).startsWith(Texts.lower(name))).findFirst()
                    .orElseThrow(() -> c.bad(1, "Invalid field requested: \"" + name + "\""));
            String width = percent < 0 ? "" : item.substring(percent + 1);
            out.add(width.matches("-?[0-9]{1,5}") ? new Column(found.name, Integer.parseInt(width)) : found);
        }
        return out;
    }

    private static void header(CommandContext c, List<Column> columns, Wanted w) {
        print(c, columns, columns.stream().map(Column::name).toList(), w);
        if (!w.bars) {
            print(c, columns, columns.stream().map(k -> "-".repeat(Math.abs(k.width))).toList(), w);
        }
    }

    private static void print(CommandContext c, List<Column> columns, List<String> values, Wanted w) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < columns.size(); i++) {
            if (w.bars) {
                out.append(values.get(i)).append(w.lastBar || i + 1 < columns.size() ? "|" : "");
            } else {
                RowFormat.append(out, values.get(i), Math.abs(columns.get(i).width), columns.get(i).width > 0);
                out.append(' ');
            }
        }
        c.out().println(out.toString());
    }

    private static void line(CommandContext c, List<Column> columns, Json.Obj r, Wanted w, boolean tree, int indent) {
        List<String> values = new ArrayList<>();
        boolean root = r.integer("depth") == 0;
        boolean user = !r.text("user").isEmpty();
        for (Column k : columns) {
            values.add(switch (k.name) {
                case "Account" -> " ".repeat(indent) + r.text("account");
                case "User" -> r.text("user");
                case "Partition" -> r.text("partition");
                case "RawShares" -> root ? "" : r.text("rawShares");
                case "NormShares" -> real(root && tree ? 0 : r.real("normShares"));
                case "RawUsage" -> Long.toString(r.number("rawUsage"));
                case "NormUsage" -> real(r.real("normUsage"));
                case "EffectvUsage" -> real(r.real("effectiveUsage"));
                case "FairShare" -> user ? real(r.real("fairShare")) : "";
                case "LevelFS" -> root ? "" : r.real("level") < 0 ? "inf" : real(r.real("level"));
                case "GrpTRESMins" -> r.text("grpTresMins");
                case "GrpTRESRaw" -> "billing=" + r.number("rawUsage");
                default -> minutes(r.obj("tresRunMins"));
            });
        }
        print(c, columns, values, w);
    }

    private static String minutes(Json.Obj m) {
        StringBuilder out = new StringBuilder();
        for (String name : List.of("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages")) {
            out.append(out.isEmpty() ? "" : ",").append(name).append('=').append(m.number(name));
        }
        for (String name : m.fields().keySet()) {
            out.append(name.startsWith("gres/") ? "," + name + "=" + m.number(name) : "");
        }
        return out.toString();
    }

    private static String real(double value) {
        return String.format(Locale.ROOT, "%.6f", value);
    }
}
