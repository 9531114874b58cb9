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
    private final Book book;
    private final Show show;
    private final Predicate<String> isSystemUser;

    /** @param isSystemUser whether the system knows a user of that name */
    public Views(Book book, Show show, Predicate<String> isSystemUser) {
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

    private boolean named(String key, String value) {
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
        row.putAll(UsageResets.shown(ownOnly || a.deleted() ? own(a) : EffectiveLimits.limits(book, a)));
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

    /** What is added and taken away on the way up, as it is set, down to a list that stands for itself. */
    private String raw(Assoc a) {
        List<String> out = new ArrayList<>();
        for (Optional<Assoc> at = Optional.of(a); at.isPresent(); at = book.parent(at.get())) {
            String own = at.get().limit("QOS");
            if (!own.isEmpty()) {
                out.add(own);
            }
            if (!own.isEmpty() && !own.startsWith("+") && !own.startsWith("-")) {
                break;
            }
        }
        return String.join(",", out);
    }

    /** What is set here and not inherited; of QOS that are added or taken away, those that are added. */
    private static Map<String, String> own(Assoc a) {
        Map<String, String> out = new LinkedHashMap<>(a.limits());
        List<String> added = new ArrayList<>();
        for (String name : a.limit("QOS").split(",")) {
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
    private String lineage(Assoc a) {
        StringBuilder out = new StringBuilder();
        for (Optional<Assoc> at = a.user().isEmpty() ? Optional.of(a) : book.parentEver(a);
                at.isPresent();
                at = book.parentEver(at.get())) {
            if (!at.get().account().equals(Book.ROOT)) {
                out.insert(0, at.get().account() + "/");
            }
        }
        out.insert(0, "/");
        if (!a.user().isEmpty()) {
            out.append("0-").append(a.user()).append('/');
        }
        return (a.partition().isEmpty() ? out : out.append(a.partition()).append('/')).toString();
    }

    private int depth(Assoc a) {
        int depth = 0;
        for (Optional<Assoc> up = book.parent(a); up.isPresent(); up = book.parent(up.get())) {
            depth++;
        }
        return depth;
    }

    /** Of all clusters in order, each tree from its root; then the deleted ones if they are wanted. */
    private List<Map<String, String>> trees() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Cluster c : book.clusters()) {
            if (!named("cluster", c.name())) {
                continue;
            }
            List<Assoc> tree = book.tree(c.name());
            Map<Integer, Integer> below = new HashMap<>();
            for (Assoc a : tree) {
                for (Optional<Assoc> up = book.parent(a); up.isPresent(); up = book.parent(up.get())) {
                    below.merge(up.get().id(), 1, Integer::sum);
                }
            }
            for (int i = 0; i < tree.size(); i++) {
                Assoc a = tree.get(i);
                // each entry before it opened once, and those that are not above it closed again
                int lft = 2 * i - depth(a) + 1;
                out.add(assoc(a, lft, lft + 2 * below.getOrDefault(a.id(), 0) + 1));
            }
        }
        if (has("withdeleted")) {
            book.assocsEver().stream()
                    .filter(a -> a.deleted() && named("cluster", a.cluster()))
                    .forEach(a -> out.add(assoc(a, 0, 0)));
        }
        return out;
    }

    private List<Map<String, String>> associations() {
        List<String> accounts = ChangeContext.list(show.where(), "account");
        return trees().stream()
                .filter(r -> {
                    boolean account = accounts.isEmpty()
                            || accounts.contains(r.get("Account"))
                            || has("withsubaccounts")
                                    && accounts.stream()
                                            .anyMatch(x -> book.isBelow(r.get("Cluster"), r.get("Account"), x));
                    boolean user = !show.where().containsKey("user")
                            || (show.where().get("user").isEmpty()
                                    ? r.get("User").isEmpty()
                                    : named("user", r.get("User"))
                                            && !r.get("User").isEmpty());
                    boolean partition = !show.where().containsKey("partition")
                                    || show.where().get("partition").isEmpty()
                            ? !show.where().containsKey("partition")
                                    || r.get("Partition").isEmpty()
                            : named("partition", r.get("Partition"));
                    // an empty one is that of users
                    boolean noParent = show.where().containsKey("parent") && !given("parent");
                    boolean parent;
                    if (noParent) {
                        parent = r.get("ParentName").isEmpty();
                    } else {
                        parent = !given("parent")
                                || named("parent", r.get("User").isEmpty() ? r.get("ParentName") : r.get("Account"));
                    }

                    return account
                            && user
                            && partition
                            && parent
                            && named("id", r.get("ID"))
                            && named("defaultqos", r.getOrDefault("DefaultQOS", ""))
                            && hasQos(r)
                            && (!has("onlydefaults") || r.get("IsDefault").equals("1"));
                })
                .toList();
    }

    private boolean hasQos(Map<String, String> row) {
        return !given("qos")
                || List.of(row.getOrDefault("QOS", "").split(",")).stream().anyMatch(q -> named("qos", q));
    }

    // ---- accounts and users

    private List<Map<String, String>> accounts() {
        List<Map<String, String>> out = new ArrayList<>();
        List<Map<String, String>> trees = has("withassoc") || filtersAssocs() ? trees() : List.of();
        for (Account a : book.accountsEver()) {
            if (!alive(a.deleted())
                    || !named("name", a.name())
                    || !named("description", a.description())
                    || !named("organization", a.organization())) {
                continue;
            }
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
            List<Map<String, String>> own = trees.stream()
                    .filter(r -> r.get("Account").equals(a.name())
                            && (!given("parent") || named("parent", r.get("ParentName")))
                            && hasQos(r)
                            && named("defaultqos", r.getOrDefault("DefaultQOS", ""))
                            && named("id", r.get("ID"))
                            && named("account", r.get("Account"))
                            && (!given("partition") || named("partition", r.get("Partition")))
                            && (!given("user") || named("user", r.get("User"))))
                    .toList();
            add(out, row, own);
        }
        return out;
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

    /** With associations: a row for each; otherwise one, if any association fits what was asked for. */
    private void add(List<Map<String, String>> out, Map<String, String> row, List<Map<String, String>> own) {
        if (!has("withassoc")) {
            if (!filtersAssocs() || !own.isEmpty()) {
                out.add(row);
            }
            return;
        }
        if (own.isEmpty() && !filtersAssocs()) {
            out.add(row);
        }
        for (Map<String, String> assoc : own) {
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
        Map<String, List<String>> coordinated = new HashMap<>();
        book.accountsEver().stream()
                .filter(a -> !a.deleted())
                .map(Account::name)
                .sorted()
                .forEach(a -> book.coordinators(a)
                        .forEach(name -> coordinated
                                .computeIfAbsent(name, n -> new ArrayList<>())
                                .add(a)));
        for (User u : book.usersEver()) {
            if (!alive(u.deleted())
                    || !named("name", u.name())
                    || given("adminlevel")
                            && AdminLevels.of(show.where().get("adminlevel"))
                                    .filter(l -> l == u.adminLevel())
                                    .isEmpty()) {
                continue;
            }
            List<Map<String, String>> mine = trees.stream()
                    .filter(r ->
                            r.get("User").equals(u.name()) && !r.get("Deleted").equals("1"))
                    .toList();
            Map<String, String> row = new LinkedHashMap<>();
            String standard = mine.stream()
                    .filter(r -> r.get("IsDefault").equals("1"))
                    .map(r -> r.get("Account"))
                    .findFirst()
                    .orElse("");
            row.put("User", u.name());
            row.put("DefaultAccount", standard);
            row.put(
                    "DefaultQOSID",
                    mine.stream()
                            .filter(r -> r.get("IsDefault").equals("1"))
                            .map(r -> qosNumber(r.getOrDefault("DefaultQOS", "")))
                            .findFirst()
                            .orElse("0"));
            row.put(
                    "DefaultWCKey",
                    book.wckeysEver().stream()
                            .filter(w ->
                                    !w.deleted() && w.isDefault() && w.user().equals(u.name()))
                            .map(Wckey::name)
                            .findFirst()
                            .orElse(""));
            row.put("AdminLevel", u.adminLevel().name());
            row.put(
                    "Coordinators",
                    String.join(
                            ",",
                            book.accountsEver().stream()
                                    .filter(a ->
                                            !a.deleted() && a.coordinators().contains(u.name()))
                                    .map(Account::name)
                                    .toList()));
            row.put(
                    "AllCoordinators",
                    has("withcoord") ? String.join(",", coordinated.getOrDefault(u.name(), List.of())) : "");
            row.put("UserDeleted", u.deleted() ? "1" : "");
            if (given("wckey")
                            && book.wckeysEver().stream()
                                    .noneMatch(
                                            w -> !w.deleted() && w.user().equals(u.name()) && named("wckey", w.name()))
                    || given("defaultaccount") && !named("defaultaccount", standard)
                    || !named("defaultwckey", row.get("DefaultWCKey"))) {
                continue;
            }
            List<Map<String, String>> own = trees.stream()
                    .filter(r -> r.get("User").equals(u.name())
                            && (!given("account") || named("account", r.get("Account")))
                            && (!given("partition") || named("partition", r.get("Partition")))
                            && hasQos(r)
                            && named("defaultqos", r.getOrDefault("DefaultQOS", "")))
                    .toList();
            if (!has("withassoc") && given("cluster") && own.isEmpty()) {
                continue;
            }
            add(out, row, own);
        }
        return out;
    }

    private String qosNumber(String name) {
        return book.qos(name).map(Qos::key).orElse("0");
    }

    private List<Map<String, String>> coordinators() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Account a : book.accountsEver()) {
            for (String user : a.deleted() ? List.<String>of() : a.coordinators()) {
                if (named("name", user) && named("account", a.name())) {
                    out.add(Map.of("Account", a.name(), "User", user));
                }
            }
        }
        return out;
    }

    // ---- the rest

    private List<Map<String, String>> clusters() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Cluster c : book.clustersEver()) {
            if (!alive(c.deleted())
                    || !named("name", c.name())
                    || !named("classification", c.classification())
                    || !named("rpc", Integer.toString(c.rpcVersion()))) {
                continue;
            }
            Map<String, String> row = new LinkedHashMap<>();
            book.assoc(c.name(), Book.ROOT, "", "").ifPresent(a -> {
                row.putAll(UsageResets.shown(EffectiveLimits.limits(book, a)));
                row.put("RootID", a.key());
            });
            if (!hasQos(row) || !named("defaultqos", row.getOrDefault("DefaultQOS", ""))) {
                continue;
            }
            row.put("Cluster", c.name());
            row.put("ControlHost", c.controlHost());
            row.put("ControlPort", Integer.toString(c.controlPort()));
            row.put("RPC", Integer.toString(c.rpcVersion()));
            row.put("ClusterNodes", c.nodes());
            row.put("NodeCount", Integer.toString(c.nodeCount()));
            row.put("TRES", c.tres());
            row.put("ClusterFlags", c.flags());
            row.put("Classification", c.classification());
            row.put("ID", Integer.toString(c.id()));
            out.add(row);
        }
        return out;
    }

    private List<Map<String, String>> problems() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Account a : book.accountsEver()) {
            boolean homeless = !a.deleted()
                    && book.assocsEver().stream()
                            .noneMatch(o -> !o.deleted() && o.account().equals(a.name()));
            if (homeless && !given("cluster") && named("account", a.name()) && named("user", "")) {
                out.add(Map.of(
                        "Cluster", "", "Account", a.name(), "User", "", "Problem", "Account has no Associations"));
            }
        }
        for (Cluster c : book.clusters()) {
            List<Assoc> tree = book.tree(c.name());
            for (Assoc a : tree) {
                boolean childless = a.user().isEmpty()
                        && tree.stream()
                                .noneMatch(o -> o != a
                                        && (o.user().isEmpty()
                                                ? o.parent().equals(a.account())
                                                : o.account().equals(a.account())));
                if (named("cluster", c.name()) && named("account", a.account()) && named("user", "") && childless) {
                    out.add(Map.of(
                            "Cluster",
                            c.name(),
                            "Account",
                            a.account(),
                            "User",
                            "",
                            "Problem",
                            "Account has no users"));
                }
            }
        }
        for (User u : book.usersEver()) {
            boolean asked = !u.deleted() && !given("cluster") && !given("account") && named("user", u.name());
            if (asked && !isSystemUser.test(u.name())) {
                out.add(Map.of("Cluster", "", "Account", "", "User", u.name(), "Problem", "User does not have a uid"));
            } else if (asked
                    && book.assocsEver().stream()
                            .noneMatch(o -> !o.deleted() && o.user().equals(u.name()))) {
                out.add(Map.of("Cluster", "", "Account", "", "User", u.name(), "Problem", "User has no Associations"));
            }
        }
        return out;
    }

    private List<Map<String, String>> qos() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Qos q : book.qosEver()) {
            if (alive(q.deleted())
                    && named("name", q.name())
                    && named("id", q.key())
                    && named("description", q.limit("Description"))
                    && (!given("preemptmode")
                            || named("preemptmode", q.limits().getOrDefault("PreemptMode", "cluster")))) {
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
        for (Resource r : book.resourcesEver()) {
            if (!alive(r.deleted())
                    || !named("name", r.name())
                    || !named("server", r.server())
                    || !named("description", r.description())
                    || !named("id", r.key())
                    || !named("type", r.type())
                    || !named("servertype", r.manager())
                    || given("allowed") && r.allowed().values().stream().noneMatch(share -> named("allowed", share))
                    || given("cluster") && r.allowed().keySet().stream().noneMatch(c -> named("cluster", c))) {
                continue;
            }
            long sum = r.allowed().values().stream().mapToLong(Long::parseLong).sum();
            Map<String, String> row = new LinkedHashMap<>(Map.of(
                    "Name",
                    r.name(),
                    "Server",
                    r.server(),
                    "Type",
                    r.type(),
                    "Count",
                    Long.toString(r.count()),
                    "Allocated",
                    Long.toString(sum),
                    "ServerType",
                    r.manager(),
                    "Description",
                    r.description(),
                    "ResourceFlags",
                    r.flags(),
                    "ID",
                    r.key()));
            row.put("LastConsumed", Long.toString(r.consumed()));
            row.put("LastUpdate", Long.toString(Math.max(r.consumedAt(), r.modified())));
            if (has("withclusters")) {
                r.allowed().forEach((cluster, percent) -> {
                    if (named("cluster", cluster) && named("allowed", percent)) {
                        Map<String, String> both = new LinkedHashMap<>(row);
                        both.put("Cluster", cluster);
                        both.put("Allowed", percent);
                        out.add(both);
                    }
                });
            }
            if (!has("withclusters")) {
                out.add(row);
            }
        }
        return out;
    }

    private List<Map<String, String>> tres() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Tres t : book.tres()) {
            if (named("type", t.type()) && named("name", t.name()) && named("id", t.key())) {
                out.add(Map.of("Type", t.type(), "Name", t.name(), "ID", t.key()));
            }
        }
        return out;
    }

    private List<Map<String, String>> wckeys() {
        List<Map<String, String>> out = new ArrayList<>();
        for (Wckey w : book.wckeysEver()) {
            if (alive(w.deleted())
                    && named("name", w.name())
                    && named("cluster", w.cluster())
                    && named("user", w.user())
                    && named("id", w.key())) {
                out.add(Map.of(
                        "WCKey",
                        (w.isDefault() ? "*" : "") + w.name(),
                        "Cluster",
                        w.cluster(),
                        "User",
                        w.user(),
                        "ID",
                        w.key()));
            }
        }
        return out;
    }
}
