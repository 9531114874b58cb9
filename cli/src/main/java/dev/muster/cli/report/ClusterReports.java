package dev.muster.cli.report;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reports of {@code cluster …} and {@code user …}: usage by cluster, account, user and wckey. */
final class ClusterReports {
    private static final UseTable.Field CLUSTER = new UseTable.Field("cluster", 2, "Cluster", "Cluster", 9);
    private static final UseTable.Field TRES_NAME = new UseTable.Field("tresname", 5, "TRES", "TRES Name", 14);
    private static final UseTable.Field TRES_COUNT = new UseTable.Field("trescount", 5, "Count", "TRES Count", 10);
    private static final List<UseTable.Field> UTILIZATION = List.of(
            CLUSTER,
            TRES_NAME,
            TRES_COUNT,
            new UseTable.Field("count", 2, "Count", "TRES Count", 10),
            use("allocated", 1, "Allocated", "Allocated"),
            use("down", 1, "Down", "Down"),
            use("planneddown", 1, "PlannedDown", "PLND Down"),
            use("idle", 1, "Idle", "Idle"),
            use("overcommitted", 1, "OverCommitted", "Over Comm"),
            use("planned", 7, "Planned", "Planned"),
            use("reserved", 3, "Planned", "Planned"),
            use("reported", 3, "Reported", "Reported"));
    private static final int TOP = 10;

    private final CommandContext context;
    private final SreportSwitches switches;
    private final ReportRequest request;
    private final UsageSource source;

    ClusterReports(CommandContext context, SreportSwitches switches, ReportRequest request) {
        this.context = context;
        this.switches = switches;
        this.request = request;
        this.source = new UsageSource(context, switches, request);
    }

    private static UseTable.Field use(String name, int minimum, String key, String title) {
        return new UseTable.Field(name, minimum, key, title, 0);
    }

    private static List<UseTable.Field> fields(int account) {
        return List.of(
                new UseTable.Field("accounts", 1, "Account", "Account", account),
                CLUSTER,
                new UseTable.Field("login", 1, "User", "Login", 9),
                new UseTable.Field("proper", 1, "Proper", "Proper Name", 15),
                new UseTable.Field("wckey", 1, "WCKey", "WCKey", 15),
                new UseTable.Field("qos", 1, "QOS", "QOS", 12),
                TRES_NAME,
                TRES_COUNT,
                new UseTable.Field("count", 2, "Count", "TRES Count", 10),
                use("used", 1, "Used", "Used"),
                use("energy", 1, "Energy", "Energy"));
    }

    private List<String> format(String standard, String last) {
        if (!request.format.isEmpty()) {
            return request.format;
        }
        return ReportRequest.split(standard + (switches.tres.isEmpty() ? "" : ",tresname") + last);
    }

    private int done(UseTable table) {
        return table.wrong() || request.wrong ? 1 : 0;
    }

    int utilization() throws UsageException {
        List<String> tres = source.tres();
        boolean all = switches.tres.equalsIgnoreCase("ALL");
        UseTable.withoutNodes(tres, !all, "the Cluster Utilization report");
        UseTable table = new UseTable(
                context, switches, UTILIZATION, format("cluster", ",allocated,down,planneddown,idle,planned,reported"));
        List<UseTable.Row> rows = new ArrayList<>();
        Map<String, List<Json.Obj>> clusters = new LinkedHashMap<>();
        source.rows("utilization", new Json.Obj())
                .forEach(r -> clusters.computeIfAbsent(r.text("Cluster"), k -> new ArrayList<>())
                        .add(r));
        for (List<Json.Obj> cluster : clusters.values()) {
            for (String name : tres) {
                cluster.stream()
                        .filter(r -> r.text("TRES").equals(name) && !name.equals("node"))
                        .forEach(r -> {
                            UseTable.Row row = UseTable.Row.of(
                                    Map.of("Cluster", r.text("Cluster"), "TRES", name, "Count", r.text("Count")));
                            long reported = UsageSource.number(r, "Reported");
                            for (String key :
                                    List.of("Allocated", "Down", "PlannedDown", "Idle", "Planned", "OverCommitted")) {
                                row.use(key, UsageSource.number(r, key), reported);
                            }
                            // the share of the time asked for that there are records of: holes in accounting show here
                            row.use("Reported", reported, UsageSource.number(r, "Count") * (request.to - request.from));
                            rows.add(row);
                        });
            }
        }
        table.print(List.of("Cluster Utilization " + request.spanText(), UseTable.usage(switches, "CPU")), rows);
        return done(table);
    }

    /**
     * Rows of a place, one for each resource.
     *
     * @param place texts of the row
     */
    private void add(List<UseTable.Row> rows, Json.Obj r, Map<String, String> place, Map<String, Long> totals)
            throws UsageException {
        String cluster = r.text("Cluster");
        for (String name : source.tres()) {
            UseTable.Row row = UseTable.Row.of(place);
            row.texts().put("Cluster", cluster);
            row.texts().put("TRES", name);
            row.texts().put("Proper", source.properName(place.getOrDefault("User", "")));
            row.texts()
                    .put(
                            "Count",
                            Long.toString(
                                    Math.round((double) UsageSource.number(r, name) / (request.to - request.from))));
            rows.add(row.use("Used", UsageSource.number(r, name), totals.getOrDefault(cluster + " " + name, 0L))
                    .use("Energy", UsageSource.number(r, "energy"), totals.getOrDefault(cluster + " energy", 0L)));
        }
    }

    private void checkRequest() throws UsageException {
        UseTable.withoutNodes(
                source.tres(),
                switches.unit.percent() && !switches.tres.equalsIgnoreCase("ALL"),
                "percent format reports");
    }

    /**
     * Whether the account was asked for, or one above it.
     *
     * @param above names from the account up, as earlier rows gave them
     */
    private boolean below(List<String> above) {
        List<String> accounts = request.list("accounts");
        return accounts.isEmpty() || above.stream().anyMatch(accounts::contains);
    }

    int accountsByUser() throws UsageException {
        checkRequest();
        boolean tree = request.flags.contains("tree");
        UseTable table = new UseTable(
                context,
                switches,
                fields(tree ? -20 : 15),
                format("cluster,accounts,login,proper", ",used" + energy()));
        Map<String, Long> totals = source.totals();
        List<String> users = request.list("users");
        List<UseTable.Row> rows = new ArrayList<>();
        List<String> above = new ArrayList<>();
        int shift = 0;
        for (Json.Obj row : source.rows("accounts", new Json.Obj())) {
            String account = row.text("Account");
            String user = row.text("User");
            int depth = (int) UsageSource.number(row, "Depth");
            if (user.isEmpty()) {
                while (above.size() > depth) {
                    above.removeLast();
                }
                above.add(account);
            }
            boolean shown = users.isEmpty()
                    ? below(above)
                    : users.contains(user)
                            && (request.list("accounts").isEmpty()
                                    || request.list("accounts").contains(account));
            if (!shown) {
                continue;
            }
            if (user.isEmpty()
                    && request.list("accounts").contains(account)
                    && !below(above.subList(0, above.size() - 1))) {
                shift = depth;
            }
            String indent = tree && users.isEmpty() ? " ".repeat(Math.max(0, depth - shift)) : "";
            add(rows, row, Map.of("Account", indent + account, "User", user), totals);
        }
        table.print(
                List.of(
                        "Cluster/Account/User Utilization " + request.spanWithLength(),
                        UseTable.usage(switches, "CPU")),
                rows);
        return done(table);
    }

    private String energy() {
        return switches.tres.isEmpty() ? ",energy" : "";
    }

    /** Rows of users that were asked for, those with the most use first, cluster by cluster. */
    private Map<String, List<Json.Obj>> users(String kind) throws UsageException {
        List<String> users = request.list("users");
        List<String> accounts = request.list("accounts");
        List<String> keys = request.list("wckeys");
        Map<String, List<Json.Obj>> out = new LinkedHashMap<>();
        for (Json.Obj row : source.rows(kind, new Json.Obj())) {
            if (!row.text("User").isEmpty()
                    && (users.isEmpty() || users.contains(row.text("User")))
                    && (accounts.isEmpty() || accounts.contains(row.text("Account")))
                    && (keys.isEmpty() || keys.contains(row.text("WCKey")))) {
                out.computeIfAbsent(row.text("Cluster"), k -> new ArrayList<>()).add(row);
            }
        }
        return out;
    }

    private Comparator<Json.Obj> largestFirst() throws UsageException {
        String first = source.tres().getFirst();
        return Comparator.<Json.Obj>comparingLong(r -> -UsageSource.number(r, first))
                .thenComparing(r -> r.text("User"))
                .thenComparing(r -> r.text("Account"));
    }

    int usersByAccount() throws UsageException {
        checkRequest();
        UseTable table = new UseTable(
                context, switches, fields(15), format("cluster,login,proper,accounts", ",used" + energy()));
        return users(table, "accounts", Integer.MAX_VALUE, "Cluster/User/Account Utilization ");
    }

    int usersByWckey() throws UsageException {
        checkRequest();
        UseTable table = new UseTable(context, switches, fields(15), format("cluster,login,proper,wckey", ",used"));
        return users(table, "wckeys", Integer.MAX_VALUE, "Cluster/User/WCKey Utilization ");
    }

    private int users(UseTable table, String kind, int top, String title) throws UsageException {
        Map<String, Long> totals = source.totals();
        List<UseTable.Row> rows = new ArrayList<>();
        for (List<Json.Obj> cluster : users(kind).values()) {
            List<Json.Obj> sorted = new ArrayList<>(request.flags.contains("group") ? grouped(cluster) : cluster);
            sorted.sort(largestFirst());
            for (Json.Obj row : sorted.subList(0, Math.min(top, sorted.size()))) {
                add(
                        rows,
                        row,
                        Map.of("Account", row.text("Account"), "User", row.text("User"), "WCKey", row.text("WCKey")),
                        totals);
            }
        }
        table.print(List.of(title + request.spanWithLength(), UseTable.usage(switches, "CPU")), rows);
        return done(table);
    }

    /** Merges rows to one for each user, with the names of all accounts. */
    private static List<Json.Obj> grouped(List<Json.Obj> rows) {
        Map<String, Json.Obj> out = new LinkedHashMap<>();
        for (Json.Obj row : rows) {
            Json.Obj sum = out.get(row.text("User"));
            if (sum == null) {
                sum = new Json.Obj()
                        .put("Cluster", row.text("Cluster"))
                        .put("User", row.text("User"))
                        .put("Account", row.text("Account"));
                out.put(row.text("User"), sum);
            } else {
                sum.put("Account", sum.text("Account") + ", " + row.text("Account"));
            }
            for (String key : row.fields().keySet()) {
                if (!List.of("Cluster", "User", "Account", "Depth", "WCKey").contains(key)) {
                    sum.put(key, Long.toString(UsageSource.number(sum, key) + UsageSource.number(row, key)));
                }
            }
        }
        return List.copyOf(out.values());
    }

    int accountsByQos() throws UsageException {
        return byTwoColumns(
                "cluster,accounts,qos",
                ",used" + energy(),
                "qos",
                new Column("Account", "accounts"),
                new Column("QOS", "qos"));
    }

    int wckeysByUser() throws UsageException {
        return byTwoColumns(
                "cluster,wckey,login,proper",
                ",used",
                "wckeys",
                new Column("WCKey", "wckeys"),
                new Column("User", "users"));
    }

    /** @param condition the list that selects values of the column; an empty list selects all */
    private record Column(String key, String condition) {
        boolean selects(ReportRequest request, Json.Obj row) {
            List<String> wanted = request.list(condition);
            return wanted.isEmpty() || wanted.contains(row.text(key));
        }
    }

    /** A report with a row for each pair of values of two columns, in the order of accounting. */
    private int byTwoColumns(String standard, String last, String kind, Column first, Column second)
            throws UsageException {
        checkRequest();
        UseTable table = new UseTable(context, switches, fields(15), format(standard, last));
        Map<String, Long> totals = source.totals();
        List<UseTable.Row> rows = new ArrayList<>();
        for (Json.Obj row : source.rows(kind, new Json.Obj())) {
            if (first.selects(request, row) && second.selects(request, row)) {
                add(rows, row, Map.of(first.key, row.text(first.key), second.key, row.text(second.key)), totals);
            }
        }
        table.print(
                List.of(
                        "Cluster/" + first.key + "/" + second.key + " Utilization " + request.spanWithLength(),
                        UseTable.usage(switches, "CPU")),
                rows);
        return done(table);
    }

    int top() throws UsageException {
        checkRequest();
        int count = TOP;
        String typed = request.lists.getOrDefault("topcount", "");
        if (!typed.isEmpty()) {
            if (typed.matches("\\d{1,9}|-1")) {
                count = Integer.parseInt(typed);
            } else {
                context.error("Invalid value for TopCount (" + typed + ")");
                request.wrong = true;
            }
        }
        UseTable table = new UseTable(
                context, switches, fields(15), format("cluster,login,proper,accounts", ",used" + energy()));
        return users(
                table,
                "accounts",
                count < 0 ? Integer.MAX_VALUE : count,
                "Top " + (count < 0 ? "ALL" : count) + " Users ");
    }
}
