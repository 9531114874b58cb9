package dev.muster.cli.list;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.TextTable;
import dev.muster.cli.format.TresText;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.cli.shape.SharesJson;
import dev.muster.json.Json;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/** Runs sshare, which shows each association's share of the cluster and its usage. */
public final class Sshare implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "accounts:A:r",
            "all:a:n",
            "format:o:r",
            "helpformat:e:n",
            "json::o",
            "yaml::o",
            "long:l:n",
            "cluster:M:r",
            "clusters:M:r",
            "noheader:n:n",
            "noheader:h:n",
            "parsable:p:n",
            "parsable2:P:n",
            "partition:m:n",
            "users:u:r",
            "Users:U:n",
            "verbose:v:n",
            "version:V:n",
            "help::n",
            "usage::n");

    /** All columns, in the order in which they are listed. */
    private static final List<TextTable.Column> COLUMNS = List.of(
            new TextTable.Column("Account", -20),
            new TextTable.Column("Cluster", 10),
            new TextTable.Column("EffectvUsage", 13),
            new TextTable.Column("FairShare", 10),
            new TextTable.Column("GrpTRESMins", 30),
            new TextTable.Column("GrpTRESRaw", 30),
            new TextTable.Column("ID", 6),
            new TextTable.Column("LevelFS", 10),
            new TextTable.Column("NormShares", 11),
            new TextTable.Column("NormUsage", 11),
            new TextTable.Column("Partition", 12),
            new TextTable.Column("RawShares", 10),
            new TextTable.Column("RawUsage", 11),
            new TextTable.Column("TRESRunMins", 30),
            new TextTable.Column("User", 10));

    private static final int LISTED_PER_LINE = 4;
    private static final int LISTED_WIDTH = 17;

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
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        Wanted w = new Wanted();
        for (GetOpt.Hit h : p.hits()) {
            if (CommonOptions.answer(c, OPTIONS, "", h)) {
                return 0;
            }
            switch (h.opt().name()) {
                case "helpformat" -> {
                    listed(c);
                    return 0;
                }
                case "cluster", "clusters" -> Clusters.requireKnown(c, h.value());
                case "all" -> w.everybody = true;
                case "accounts" -> w.accounts.addAll(Texts.split(h.value(), ','));
                case "users" -> w.users.addAll(Texts.split(h.value(), ','));
                case "format" -> w.format = h.value();
                case "json", "yaml" -> {
                    w.json = h.opt().name();
                    w.parser = JsonOutput.requireParser(c, w.json, h.value());
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
        if (!w.everybody && w.users.isEmpty()) {
            w.users.add(c.host().userName(c.host().uid()));
        }
        if (w.verbose) {
            c.err()
                    .println("Users requested:\n\t: "
                            + (w.everybody && w.users.isEmpty() ? "all" : String.join("\n\t: ", w.users)));
            c.err()
                    .println("Accounts requested:\n\t: "
                            + (w.accounts.isEmpty() ? "all" : String.join("\n\t: ", w.accounts)));
        }
        List<Json.Obj> rows = selectRows(reply, w);
        if (!w.json.isEmpty()) {
            return JsonOutput.print(
                    c,
                    w.json,
                    w.parser,
                    SharesJson.of(
                            rows,
                            c.host().clusters().isEmpty()
                                    ? ""
                                    : c.host().clusters().getFirst()));
        }
        List<TextTable.Column> columns = columns(c, w, reply.flag("tree"));
        TextTable grid = new TextTable(columns, new TextTable.Style(w.header, w.bars, w.lastBar), c.out());
        grid.header();
        Deque<Integer> above = new ArrayDeque<>();
        for (Json.Obj r : rows) {
            while (!above.isEmpty() && above.peek() >= r.integer("depth")) {
                above.pop();
            }
            int indent = above.size();
            grid.row(columns.stream()
                    .map(k -> value(c, k.title(), r, reply, indent))
                    .toList());
            above.push(r.integer("depth"));
        }
        return 0;
    }

    private static void listed(CommandContext c) {
        for (int i = 0; i < COLUMNS.size(); i += LISTED_PER_LINE) {
            c.out()
                    .println(String.join(
                            " ",
                            COLUMNS.subList(i, Math.min(COLUMNS.size(), i + LISTED_PER_LINE)).stream()
                                    .map(k -> k.title()
                                            + " "
                                                    .repeat(LISTED_WIDTH
                                                            - k.title().length()))
                                    .toList()));
        }
    }

    private static List<Json.Obj> selectRows(Json.Obj reply, Wanted w) {
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

    /** @param tree of the fair tree, which alone has levels */
    private static List<TextTable.Column> columns(CommandContext c, Wanted w, boolean tree) throws UsageException {
        if (w.format.isEmpty()) {
            return standardNames(w, tree).stream()
                    .map(n -> COLUMNS.stream()
                            .filter(k -> k.title().equals(n))
                            .findFirst()
                            .orElseThrow())
                    .toList();
        }
        List<TextTable.Column> out = new ArrayList<>();
        for (String item : Texts.split(w.format, ',')) {
            int percent = item.indexOf('%');
            String name = percent < 0 ? item : item.substring(0, percent);
            TextTable.Column found = COLUMNS.stream()
                    .filter(k -> k.title().toLowerCase(Locale.ROOT).startsWith(Texts.lower(name)))
                    .findFirst()
                    .orElseThrow(() -> c.bad(1, "Invalid field requested: \"" + name + "\""));
            String width = percent < 0 ? "" : item.substring(percent + 1);
            out.add(
                    width.matches("-?[0-9]{1,5}")
                            ? new TextTable.Column(found.title(), Integer.parseInt(width))
                            : found);
        }
        return out;
    }

    private static List<String> standardNames(Wanted w, boolean tree) {
        List<String> names = new ArrayList<>(List.of("Account", "User"));
        if (w.partitions) {
            names.add("Partition");
        }
        names.addAll(List.of("RawShares", "NormShares", "RawUsage"));
        if (w.longForm) {
            names.add("NormUsage");
        }
        names.addAll(List.of("EffectvUsage", "FairShare"));
        if (w.longForm && tree) {
            names.add("LevelFS");
        }
        if (w.longForm) {
            names.addAll(List.of("GrpTRESMins", "TRESRunMins"));
        }
        return names;
    }

    private static String value(CommandContext c, String title, Json.Obj r, Json.Obj reply, int indent) {
        boolean tree = reply.flag("tree");
        boolean root = r.integer("depth") == 0;
        boolean parents = r.text("rawShares").equals("parent");
        return switch (title) {
            case "Account" -> " ".repeat(indent) + r.text("account");
            case "Cluster" ->
                c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst();
            case "ID" -> r.text("id");
            case "User" -> r.text("user");
            case "Partition" -> r.text("partition");
            case "RawShares" -> root ? "" : r.text("rawShares");
            case "NormShares" -> real(root && tree ? 0 : r.real("normShares"));
            case "RawUsage" -> Long.toString(r.number("rawUsage"));
            case "NormUsage" -> root ? "" : real(r.real("normUsage"));
            case "EffectvUsage" -> real(r.real("effectiveUsage"));
            case "FairShare" -> tree && r.text("user").isEmpty() ? "" : real(r.real("fairShare"));
            case "LevelFS" -> {
                if (!tree || root || parents) {
                    yield "";
                }
                if (r.real("level") < 0) {
                    yield "inf";
                }
                yield real(r.real("level"));
            }
            case "GrpTRESMins" -> TresText.ordered(r.text("grpTresMins"));
            case "GrpTRESRaw" -> tracked(r.obj("tresSeconds"), reply, 60);
            default -> tracked(r.obj("tresRunMins"), reply, 1);
        };
    }

    /** A number for each resource that the cluster counts. */
    private static String tracked(Json.Obj of, Json.Obj reply, int unit) {
        List<String> out = new ArrayList<>();
        List<String> names = new ArrayList<>(TresText.EVERYWHERE);
        names.addAll(reply.texts("tracked"));
        names.forEach(name -> out.add(name + "=" + of.number(name) / unit));
        return String.join(",", out);
    }

    private static String real(double value) {
        return String.format(Locale.ROOT, "%.6f", value);
    }
}
