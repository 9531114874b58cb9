package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.Show;
import dev.muster.model.accounting.Entities.Account;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Cluster;
import dev.muster.model.accounting.Entities.Qos;
import dev.muster.model.accounting.Entities.Resource;
import dev.muster.model.accounting.Entities.Tres;
import dev.muster.model.accounting.Entities.User;
import dev.muster.model.accounting.Entities.Wckey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** The rows that sacctmgr lists: fields by name, values in the form in which they are kept. */
public final class Views {
    private final AssocTree book;
    private final Show show;
    private final Predicate<String> isSystemUser;

    /** @param isSystemUser whether the system knows a user of that name */
    public Views(AssocTree book, Show show, Predicate<String> isSystemUser) {
        this.book = book;
        this.show = show;
        this.isSystemUser = isSystemUser;
    }

    /** Empty if this is not one of the book's entities. */
    public Optional<List<Map<String, String>>> rows() {
        return switch (show.entity()) {
            case "account" -> Optional.of(accounts());
            case "association" -> Optional.of(associations());
            case "cluster" -> Optional.of(clusters());
            case "coordinator" -> Optional.of(coordinators());
            case "problem" -> Optional.of(problems());
            case "qos" -> Optional.of(qos());
            case "resource" -> Optional.of(resources());
            case "tres" -> Optional.of(tres());
            case "user" -> Optional.of(users());
            case "wckey" -> Optional.of(wckeys());
            default -> Optional.empty();
        };
    }

    private boolean has(String option) {
        return show.options().contains(option);
    }

    private boolean fitsCondition(String key, String value) {
        List<String> wanted = ChangeContext.list(show.where(), key);
        return wanted.isEmpty() || wanted.contains(value.toLowerCase(Locale.ROOT));
    }

    private boolean given(String key) {
        return !ChangeContext.list(show.where(), key).isEmpty();
    }

    private boolean alive(boolean deleted) {
        return !deleted || has("withdeleted");
    }

    // ---- associations

    /** An association's fields; numbering of the tree by position. */
    private Map<String, String> assoc(Assoc a, int lft, int rgt) {
        Map<String, String> row = new LinkedHashMap<>();
        row.put("Cluster", a.cluster());
        row.put("Account", a.account());
        row.put("User", a.user());
        row.put("Partition", a.partition());
        row.put("ID", a.key());
        row.put("LFT", a.deleted() ? "" : Integer.toString(lft));
        row.put("RGT", a.deleted() ? "" : Integer.toString(rgt));
        Optional<Assoc> above = book.parent(a);
        boolean ownOnly = has("woplimits") || has("wopinfo");
        row.put("ParentID", above.map(Assoc::key).orElse(a.user().isEmpty() ? "0" : ""));
        row.put("ParentName", a.user().isEmpty() && !has("wopinfo") ? a.parent() : "");
        row.put("Lineage", lineage(a));
        row.put("IsDefault", a.isDefault() ? "1" : "");
        row.put("Depth", Integer.toString(depth(a)));
        row.put("Deleted", a.deleted() ? "1" : "");
        row.putAll(UsageResets.shown(ownOnly || a.deleted() ? limits(a) : EffectiveLimits.limits(book, a)));
        row.put(
                ChangeKeys.FLAGS,
                a.user().isEmpty()
                        ? book.account(a.account()).map(Account::flags).orElse("")
                        : "");
        row.put("RawQOS", a.limit("QOS"));
        if (has("rawqos")) {
            row.put("QOS", ownOnly ? a.limit("QOS") : raw(a));
        }
        return row;
    }

    /** QOS as set on the way up: changes, down to the first whole list. */
    private String raw(Assoc assoc) {
        List<String> out = new ArrayList<>();
        for (Optional<Assoc> at = Optional.of(assoc); at.isPresent(); at = book.parent(at.get())) {
            String qos = at.get().limit("QOS");
            if (!qos.isEmpty()) {
                out.add(qos);
            }
            if (!qos.isEmpty() && !qos.startsWith("+") && !qos.startsWith("-")) {
                break;
            }
        }
        return String.join(",", out);
    }

    /** Limits that are set here and not inherited; of changes to the QOS, those that add. */
    private static Map<String, String> limits(Assoc assoc) {
        Map<String, String> out = new LinkedHashMap<>(assoc.limits());
        List<String> added = new ArrayList<>();
        for (String name : assoc.limit("QOS").split(",")) {
            if (!name.startsWith("-")) {
                added.add(name.startsWith("+") ? name.substring(1) : name);
            }
        }
        if (out.containsKey("QOS")) {
            out.put("QOS", String.join(",", added));
        }
        return out;
    }

    /** The accounts on the way down, then the user: {@code /science/physics/0-ann/}. */
    private String lineage(Assoc assoc) {
        StringBuilder out = new StringBuilder();
        for (Optional<Assoc> at = assoc.user().isEmpty() ? Optional.of(assoc) : book.parentEver(assoc);
                at.isPresent();
                at = book.parentEver(at.get())) {
            if (!at.get().account().equals(AssocTree.ROOT)) {
                out.insert(0, at.get().account() + "/");
            }
        }
        out.insert(0, "/");
        if (!assoc.user().isEmpty()) {
            out.append("0-").append(assoc.user()).append('/');
        }
        return (assoc.partition().isEmpty()
                        ? out
                        : out.append(assoc.partition()).append('/'))
                .toString();
    }

    private int depth(Assoc assoc) {
        int depth = 0;
        for (Optional<Assoc> up = book.parent(assoc); up.isPresent(); up = book.parent(up.get())) {
            depth++;
        }
        return depth;
    }

    /**
     * Rows of the associations of all clusters in order, each tree from its root; then the deleted ones if asked for.
     */
    private List<Map<String, String>> trees() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Cluster cluster : book.clusters()) {
            if (!fitsCondition("cluster", cluster.name())) {
                continue;
            }
            List<Assoc> tree = book.tree(cluster.name());
            Map<Integer, Integer> below = new HashMap<>();
            for (Assoc assoc : tree) {
                for (Optional<Assoc> up = book.parent(assoc); up.isPresent(); up = book.parent(up.get())) {
                    below.merge(up.get().id(), 1, Integer::sum);
                }
            }
            for (int i = 0; i < tree.size(); i++) {
                Assoc assoc = tree.get(i);
                // each entry before it opened once, and those that are not above it closed again
                int lft = 2 * i - depth(assoc) + 1;
                out.add(assoc(assoc, lft, lft + 2 * below.getOrDefault(assoc.id(), 0) + 1));
            }
        }
        if (has("withdeleted")) {
            book.assocsEver().stream()
                    .filter(a -> a.deleted() && fitsCondition("cluster", a.cluster()))
                    .forEach(a -> out.add(assoc(a, 0, 0)));
        }
        return out;
    }

    private List<Map<String, String>> associations() {
        List<String> accounts = ChangeContext.list(show.where(), "account");
        return trees().stream()
                .filter(r -> isOfAccounts(r, accounts)
                        && fitsUser(ShowColumns.of(r, "User"))
                        && fitsOrEmpty("partition", ShowColumns.of(r, "Partition"))
                        && fitsParent(r)
                        && fitsCondition("id", ShowColumns.of(r, "ID"))
                        && fitsCondition("defaultqos", r.getOrDefault("DefaultQOS", ""))
                        && hasQos(r)
                        && (!has("onlydefaults")
                                || ShowColumns.of(r, "IsDefault").equals("1")))
                .toList();
    }

    private boolean isOfAccounts(Map<String, String> row, List<String> accounts) {
        return accounts.isEmpty()
                || accounts.contains(ShowColumns.of(row, "Account"))
                || has("withsubaccounts")
                        && accounts.stream()
                                .anyMatch(a -> book.isBelow(
                                        ShowColumns.of(row, "Cluster"), ShowColumns.of(row, "Account"), a));
    }

    /** Whether a value fits a condition; a condition without a value asks for empty values. */
    private boolean fitsOrEmpty(String key, String value) {
        return !show.where().containsKey(key)
                || (show.where().get(key).isEmpty() ? value.isEmpty() : fitsCondition(key, value));
    }

    private boolean fitsUser(String user) {
        boolean asksForAccounts = show.where().getOrDefault("user", "").isEmpty();
        return fitsOrEmpty("user", user) && (asksForAccounts || !user.isEmpty());
    }

    /** Only associations of users have no parent; a user's parent is its account. */
    private boolean fitsParent(Map<String, String> row) {
        boolean asksForNoParent = show.where().containsKey("parent") && !given("parent");
        if (asksForNoParent) {
            return ShowColumns.of(row, "ParentName").isEmpty();
        }
        return !given("parent")
                || fitsCondition(
                        "parent",
                        ShowColumns.of(row, "User").isEmpty()
                                ? ShowColumns.of(row, "ParentName")
                                : ShowColumns.of(row, "Account"));
    }

    private boolean hasQos(Map<String, String> row) {
        return !given("qos")
                || List.of(row.getOrDefault("QOS", "").split(",")).stream().anyMatch(q -> fitsCondition("qos", q));
    }

    // ---- accounts and users

    private List<Map<String, String>> accounts() {
        List<Map<String, String>> out = new ArrayList<>();
        List<Map<String, String>> trees = has("withassoc") || filtersAssocs() ? trees() : List.of();
        for (Account account : book.accountsEver()) {
            if (!alive(account.deleted())
                    || !fitsCondition("name", account.name())
                    || !fitsCondition("description", account.description())
                    || !fitsCondition("organization", account.organization())) {
                continue;
            }
            List<Map<String, String>> associations = trees.stream()
                    .filter(r -> ShowColumns.of(r, "Account").equals(account.name())
                            && fitsCondition("parent", ShowColumns.of(r, "ParentName"))
                            && hasQos(r)
                            && fitsCondition("defaultqos", r.getOrDefault("DefaultQOS", ""))
                            && fitsCondition("id", ShowColumns.of(r, "ID"))
                            && fitsCondition("account", ShowColumns.of(r, "Account"))
                            && fitsCondition("partition", ShowColumns.of(r, "Partition"))
                            && fitsCondition("user", ShowColumns.of(r, "User")))
                    .toList();
            add(out, account(account), associations);
        }
        return out;
    }

    private Map<String, String> account(Account a) {
        Map<String, String> row = new LinkedHashMap<>();
        row.put("Account", a.name());
        row.put("Descr", a.description());
        row.put("Org", a.organization());
        row.put("Coordinators", String.join(",", a.coordinators()));
        row.put("AllCoordinators", has("withcoord") ? String.join(",", book.coordinators(a.name())) : "");
        row.put("AccountFlags", a.flags());
        if (!has("withassoc")) {
            row.put(ChangeKeys.FLAGS, a.flags());
        }
        row.put("Deleted", a.deleted() ? "1" : "");
        return row;
    }

    private boolean filtersAssocs() {
        return given("parent")
                || given("cluster")
                || given("qos")
                || given("user")
                || given("account")
                || given("partition")
                || given("defaultqos")
                || given("id");
    }

    /**
     * Adds a row for each association with the option withassoc; otherwise one, if any association fits the conditions.
     */
    private void add(List<Map<String, String>> out, Map<String, String> row, List<Map<String, String>> associations) {
        if (!has("withassoc")) {
            if (!filtersAssocs() || !associations.isEmpty()) {
                out.add(row);
            }
            return;
        }
        if (associations.isEmpty() && !filtersAssocs()) {
            out.add(row);
        }
        for (Map<String, String> assoc : associations) {
            Map<String, String> both = new LinkedHashMap<>(assoc);
            both.putAll(row);
            both.put("User", assoc.get("User"));
            both.put("Account", assoc.get("Account"));
            both.put("AssocFlags", assoc.getOrDefault("Flags", ""));
            out.add(both);
        }
    }

    private List<Map<String, String>> users() {
        List<Map<String, String>> out = new ArrayList<>();
        List<Map<String, String>> trees = trees();
        Map<String, List<String>> coordinated = coordinatedAccounts();
        for (User user : book.usersEver()) {
            if (!alive(user.deleted()) || !fitsCondition("name", user.name()) || !fitsAdminLevel(user)) {
                continue;
            }
            Map<String, String> row = user(user, trees, coordinated.getOrDefault(user.name(), List.of()));
            if (!fitsWckey(user)
                    || !fitsCondition("defaultaccount", ShowColumns.of(row, "DefaultAccount"))
                    || !fitsCondition("defaultwckey", ShowColumns.of(row, "DefaultWCKey"))) {
                continue;
            }
            List<Map<String, String>> associations = trees.stream()
                    .filter(r -> ShowColumns.of(r, "User").equals(user.name())
                            && fitsCondition("account", ShowColumns.of(r, "Account"))
                            && fitsCondition("partition", ShowColumns.of(r, "Partition"))
                            && hasQos(r)
                            && fitsCondition("defaultqos", r.getOrDefault("DefaultQOS", "")))
                    .toList();
            if (!has("withassoc") && given("cluster") && associations.isEmpty()) {
                continue;
            }
            add(out, row, associations);
        }
        return out;
    }

    /** Accounts that each user coordinates, those below included, by name of the user. */
    private Map<String, List<String>> coordinatedAccounts() {
        Map<String, List<String>> out = new HashMap<>();
        book.accountsEver().stream()
                .filter(a -> !a.deleted())
                .map(Account::name)
                .sorted()
                .forEach(a -> book.coordinators(a)
                        .forEach(name -> out.computeIfAbsent(name, n -> new ArrayList<>())
                                .add(a)));
        return out;
    }

    private boolean fitsAdminLevel(User user) {
        return !given("adminlevel")
                || AdminLevels.of(show.where().getOrDefault("adminlevel", ""))
                        .filter(l -> l == user.adminLevel())
                        .isPresent();
    }

    private boolean fitsWckey(User user) {
        return !given("wckey")
                || book.wckeysEver().stream()
                        .anyMatch(
                                w -> !w.deleted() && w.user().equals(user.name()) && fitsCondition("wckey", w.name()));
    }

    /**
     * A user's own columns.
     *
     * @param trees the rows of all associations
     * @param coordinated accounts that the user coordinates, those below included
     */
    private Map<String, String> user(User u, List<Map<String, String>> trees, List<String> coordinated) {
        Optional<Map<String, String>> defaultAssoc = trees.stream()
                .filter(r -> ShowColumns.of(r, "User").equals(u.name())
                        && !ShowColumns.of(r, "Deleted").equals("1")
                        && ShowColumns.of(r, "IsDefault").equals("1"))
                .findFirst();
        Map<String, String> row = new LinkedHashMap<>();
        row.put("User", u.name());
        row.put(
                "DefaultAccount",
                defaultAssoc.map(r -> ShowColumns.of(r, "Account")).orElse(""));
        row.put(
                "DefaultQOSID",
                defaultAssoc
                        .map(r -> qosNumber(r.getOrDefault("DefaultQOS", "")))
                        .orElse("0"));
        row.put(
                "DefaultWCKey",
                book.wckeysEver().stream()
                        .filter(w -> !w.deleted() && w.isDefault() && w.user().equals(u.name()))
                        .map(Wckey::name)
                        .findFirst()
                        .orElse(""));
        row.put("AdminLevel", u.adminLevel().name());
        row.put(
                "Coordinators",
                String.join(
                        ",",
                        book.accountsEver().stream()
                                .filter(a -> !a.deleted() && a.coordinators().contains(u.name()))
                                .map(Account::name)
                                .toList()));
        row.put("AllCoordinators", has("withcoord") ? String.join(",", coordinated) : "");
        row.put("UserDeleted", u.deleted() ? "1" : "");
        return row;
    }

    private String qosNumber(String name) {
        return book.qos(name).map(Qos::key).orElse("0");
    }

    private List<Map<String, String>> coordinators() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Account account : book.accountsEver()) {
            for (String user : account.deleted() ? List.<String>of() : account.coordinators()) {
                if (fitsCondition("name", user) && fitsCondition("account", account.name())) {
                    out.add(Map.of("Account", account.name(), "User", user));
                }
            }
        }
        return out;
    }

    // ---- the rest

    private List<Map<String, String>> clusters() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Cluster cluster : book.clustersEver()) {
            if (!alive(cluster.deleted())
                    || !fitsCondition("name", cluster.name())
                    || !fitsCondition("classification", cluster.classification())
                    || !fitsCondition("rpc", Integer.toString(cluster.rpcVersion()))) {
                continue;
            }
            Map<String, String> row = new LinkedHashMap<>();
            book.assoc(cluster.name(), AssocTree.ROOT, "", "").ifPresent(a -> {
                row.putAll(UsageResets.shown(EffectiveLimits.limits(book, a)));
                row.put("RootID", a.key());
            });
            if (!hasQos(row) || !fitsCondition("defaultqos", row.getOrDefault("DefaultQOS", ""))) {
                continue;
            }
            row.put("Cluster", cluster.name());
            row.put("ControlHost", cluster.controlHost());
            row.put("ControlPort", Integer.toString(cluster.controlPort()));
            row.put("RPC", Integer.toString(cluster.rpcVersion()));
            row.put("ClusterNodes", cluster.nodes());
            row.put("NodeCount", Integer.toString(cluster.nodeCount()));
            row.put("TRES", cluster.tres());
            row.put("ClusterFlags", cluster.flags());
            row.put("Classification", cluster.classification());
            row.put("ID", Integer.toString(cluster.id()));
            out.add(row);
        }
        return out;
    }

    private List<Map<String, String>> problems() {
        List<Map<String, String>> out = new ArrayList<>();
        accountsWithoutAssociations(out);
        accountsWithoutUsers(out);
        for (User user : book.usersEver()) {
            if (user.deleted() || given("cluster") || given("account") || !fitsCondition("user", user.name())) {
                continue;
            }
            if (!isSystemUser.test(user.name())) {
                out.add(problem("", "", user.name(), "User does not have a uid"));
            } else if (book.assocsEver().stream()
                    .noneMatch(o -> !o.deleted() && o.user().equals(user.name()))) {
                out.add(problem("", "", user.name(), "User has no Associations"));
            }
        }
        return out;
    }

    private static Map<String, String> problem(String cluster, String account, String user, String sentence) {
        return Map.of("Cluster", cluster, "Account", account, "User", user, "Problem", sentence);
    }

    private void accountsWithoutAssociations(List<Map<String, String>> out) {
        if (given("cluster") || !fitsCondition("user", "")) {
            return;
        }
        for (Account account : book.accountsEver()) {
            if (!account.deleted()
                    && fitsCondition("account", account.name())
                    && book.assocsEver().stream()
                            .noneMatch(o -> !o.deleted() && o.account().equals(account.name()))) {
                out.add(problem("", account.name(), "", "Account has no Associations"));
            }
        }
    }

    private void accountsWithoutUsers(List<Map<String, String>> out) {
        if (!fitsCondition("user", "")) {
            return;
        }
        for (Cluster cluster : book.clusters()) {
            if (!fitsCondition("cluster", cluster.name())) {
                continue;
            }
            List<Assoc> tree = book.tree(cluster.name());
            for (Assoc assoc : tree) {
                if (assoc.user().isEmpty()
                        && fitsCondition("account", assoc.account())
                        && tree.stream().noneMatch(o -> o != assoc && isChild(o, assoc))) {
                    out.add(problem(cluster.name(), assoc.account(), "", "Account has no users"));
                }
            }
        }
    }

    private static boolean isChild(Assoc child, Assoc account) {
        return (child.user().isEmpty() ? child.parent() : child.account()).equals(account.account());
    }

    private List<Map<String, String>> qos() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Qos q : book.qosEver()) {
            if (alive(q.deleted())
                    && fitsCondition("name", q.name())
                    && fitsCondition("id", q.key())
                    && fitsCondition("description", q.limit("Description"))
                    && (!given("preemptmode")
                            || fitsCondition("preemptmode", q.limits().getOrDefault("PreemptMode", "cluster")))) {
                Map<String, String> row = new LinkedHashMap<>(UsageResets.shown(q.limits()));
                row.put("Name", q.name());
                row.put("ID", q.key());
                row.put("Deleted", q.deleted() ? "1" : "");
                out.add(row);
            }
        }
        return out;
    }

    private List<Map<String, String>> resources() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Resource resource : book.resourcesEver()) {
            if (!fits(resource)) {
                continue;
            }
            long sum = resource.allowed().values().stream()
                    .mapToLong(Long::parseLong)
                    .sum();
            Map<String, String> row = new LinkedHashMap<>(Map.of(
                    "Name",
                    resource.name(),
                    "Server",
                    resource.server(),
                    "Type",
                    resource.type(),
                    "Count",
                    Long.toString(resource.count()),
                    "Allocated",
                    Long.toString(sum),
                    "ServerType",
                    resource.manager(),
                    "Description",
                    resource.description(),
                    "ResourceFlags",
                    resource.flags(),
                    "ID",
                    resource.key()));
            row.put("LastConsumed", Long.toString(resource.consumed()));
            row.put("LastUpdate", Long.toString(Math.max(resource.consumedAt(), resource.modified())));
            if (has("withclusters")) {
                resource.allowed().forEach((cluster, percent) -> {
                    if (fitsCondition("cluster", cluster) && fitsCondition("allowed", percent)) {
                        Map<String, String> both = new LinkedHashMap<>(row);
                        both.put("Cluster", cluster);
                        both.put("Allowed", percent);
                        out.add(both);
                    }
                });
            } else {
                out.add(row);
            }
        }
        return out;
    }

    private boolean fits(Resource resource) {
        return alive(resource.deleted())
                && fitsCondition("name", resource.name())
                && fitsCondition("server", resource.server())
                && fitsCondition("description", resource.description())
                && fitsCondition("id", resource.key())
                && fitsCondition("type", resource.type())
                && fitsCondition("servertype", resource.manager())
                && (!given("allowed")
                        || resource.allowed().values().stream().anyMatch(share -> fitsCondition("allowed", share)))
                && (!given("cluster")
                        || resource.allowed().keySet().stream().anyMatch(c -> fitsCondition("cluster", c)));
    }

    private List<Map<String, String>> tres() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Tres t : book.tres()) {
            if (fitsCondition("type", t.type()) && fitsCondition("name", t.name()) && fitsCondition("id", t.key())) {
                out.add(Map.of("Type", t.type(), "Name", t.name(), "ID", t.key()));
            }
        }
        return out;
    }

    private List<Map<String, String>> wckeys() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Wckey wckey : book.wckeysEver()) {
            if (alive(wckey.deleted())
                    && fitsCondition("name", wckey.name())
                    && fitsCondition("cluster", wckey.cluster())
                    && fitsCondition("user", wckey.user())
                    && fitsCondition("id", wckey.key())) {
                out.add(Map.of(
                        "WCKey",
                        (wckey.isDefault() ? "*" : "") + wckey.name(),
                        "Cluster",
                        wckey.cluster(),
                        "User",
                        wckey.user(),
                        "ID",
                        wckey.key()));
            }
        }
        return out;
    }
}
