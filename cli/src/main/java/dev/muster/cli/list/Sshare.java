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

    private static final class Options {
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
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        Options options = new Options();
        for (GetOpt.Hit hit : parsed.hits()) {
            if (CommonOptions.answer(context, OPTIONS, "", hit)) {
                return 0;
            }
            switch (hit.opt().name()) {
                case "helpformat" -> {
                    listed(context);
                    return 0;
                }
                case "cluster", "clusters" -> Clusters.requireKnown(context, hit.value());
                case "all" -> options.everybody = true;
                case "accounts" -> options.accounts.addAll(Texts.split(hit.value(), ','));
                case "users" -> options.users.addAll(Texts.split(hit.value(), ','));
                case "format" -> options.format = hit.value();
                case "json", "yaml" -> {
                    options.json = hit.opt().name();
                    options.parser = JsonOutput.requireParser(context, options.json, hit.value());
                }
                case "long" -> options.longForm = true;
                case "noheader" -> options.header = false;
                case "parsable" -> {
                    options.bars = true;
                    options.lastBar = true;
                }
                case "parsable2" -> {
                    options.bars = true;
                    options.lastBar = false;
                }
                case "partition" -> options.partitions = true;
                case "Users" -> options.usersOnly = true;
                case "verbose" -> options.verbose = true;
                default -> throw new IllegalStateException(hit.opt().name());
            }
        }
        for (String user : options.users) {
            if (context.host().userId(user) < 0) {
                throw context.bad(1, "Invalid user id: " + user);
            }
        }
        return show(context, options);
    }

    private static int show(CommandContext context, Options options) throws SlurmException, UsageException {
        Json.Obj reply = context.host().controller().call("QueryShares", new Json.Obj());
        if (!options.everybody && options.users.isEmpty()) {
            options.users.add(context.host().userName(context.host().uid()));
        }
        if (options.verbose) {
            context.err()
                    .println("Users requested:\n\t: "
                            + (options.everybody && options.users.isEmpty()
                                    ? "all"
                                    : String.join("\n\t: ", options.users)));
            context.err()
                    .println("Accounts requested:\n\t: "
                            + (options.accounts.isEmpty() ? "all" : String.join("\n\t: ", options.accounts)));
        }
        List<Json.Obj> rows = selectRows(reply, options);
        if (!options.json.isEmpty()) {
            return JsonOutput.print(
                    context,
                    options.json,
                    options.parser,
                    SharesJson.of(
                            rows,
                            context.host().clusters().isEmpty()
                                    ? ""
                                    : context.host().clusters().getFirst()));
        }
        List<TextTable.Column> columns = columns(context, options, reply.flag("tree"));
        TextTable grid = new TextTable(
                columns, new TextTable.Style(options.header, options.bars, options.lastBar), context.out());
        grid.header();
        Deque<Integer> above = new ArrayDeque<>();
        for (Json.Obj row : rows) {
            while (!above.isEmpty() && above.peek() >= row.integer("depth")) {
                above.pop();
            }
            int indent = above.size();
            grid.row(columns.stream()
                    .map(k -> value(context, k.title(), row, reply, indent))
                    .toList());
            above.push(row.integer("depth"));
        }
        return 0;
    }

    private static void listed(CommandContext context) {
        for (int i = 0; i < COLUMNS.size(); i += LISTED_PER_LINE) {
            context.out()
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

    private static List<Json.Obj> selectRows(Json.Obj reply, Options options) {
        List<Json.Obj> out = new ArrayList<>();
        for (Json.Obj row : reply.objects("rows")) {
            boolean isUser = !row.text("user").isEmpty();
            boolean account = options.accounts.isEmpty() || options.accounts.contains(row.text("account"));
            boolean user = isUser ? options.everybody || options.users.contains(row.text("user")) : !options.usersOnly;
            if (account && user) {
                out.add(row);
            }
        }
        return out;
    }

    /** @param tree of the fair tree, which alone has levels */
    private static List<TextTable.Column> columns(CommandContext context, Options options, boolean tree)
            throws UsageException {
        if (options.format.isEmpty()) {
            return standardNames(options, tree).stream()
                    .map(n -> COLUMNS.stream()
                            .filter(k -> k.title().equals(n))
                            .findFirst()
                            .orElseThrow())
                    .toList();
        }
        List<TextTable.Column> out = new ArrayList<>();
        for (String item : Texts.split(options.format, ',')) {
            int percent = item.indexOf('%');
            String name = percent < 0 ? item : item.substring(0, percent);
            TextTable.Column found = COLUMNS.stream()
                    .filter(k -> k.title().toLowerCase(Locale.ROOT).startsWith(Texts.lower(name)))
                    .findFirst()
                    .orElseThrow(() -> context.bad(1, "Invalid field requested: \"" + name + "\""));
            String width = percent < 0 ? "" : item.substring(percent + 1);
            out.add(
                    width.matches("-?[0-9]{1,5}")
                            ? new TextTable.Column(found.title(), Integer.parseInt(width))
                            : found);
        }
        return out;
    }

    private static List<String> standardNames(Options options, boolean tree) {
        List<String> names = new ArrayList<>(List.of("Account", "User"));
        if (options.partitions) {
            names.add("Partition");
        }
        names.addAll(List.of("RawShares", "NormShares", "RawUsage"));
        if (options.longForm) {
            names.add("NormUsage");
        }
        names.addAll(List.of("EffectvUsage", "FairShare"));
        if (options.longForm && tree) {
            names.add("LevelFS");
        }
        if (options.longForm) {
            names.addAll(List.of("GrpTRESMins", "TRESRunMins"));
        }
        return names;
    }

    private static String value(CommandContext context, String title, Json.Obj row, Json.Obj reply, int indent) {
        boolean tree = reply.flag("tree");
        boolean root = row.integer("depth") == 0;
        boolean parents = row.text("rawShares").equals("parent");
        return switch (title) {
            case "Account" -> " ".repeat(indent) + row.text("account");
            case "Cluster" ->
                context.host().clusters().isEmpty()
                        ? ""
                        : context.host().clusters().getFirst();
            case "ID" -> row.text("id");
            case "User" -> row.text("user");
            case "Partition" -> row.text("partition");
            case "RawShares" -> root ? "" : row.text("rawShares");
            case "NormShares" -> real(root && tree ? 0 : row.real("normShares"));
            case "RawUsage" -> Long.toString(row.number("rawUsage"));
            case "NormUsage" -> root ? "" : real(row.real("normUsage"));
            case "EffectvUsage" -> real(row.real("effectiveUsage"));
            case "FairShare" -> tree && row.text("user").isEmpty() ? "" : real(row.real("fairShare"));
            case "LevelFS" -> {
                if (!tree || root || parents) {
                    yield "";
                }
                if (row.real("level") < 0) {
                    yield "inf";
                }
                yield real(row.real("level"));
            }
            case "GrpTRESMins" -> TresText.ordered(row.text("grpTresMins"));
            case "GrpTRESRaw" -> tracked(row.obj("tresSeconds"), reply, 60);
            default -> tracked(row.obj("tresRunMins"), reply, 1);
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
