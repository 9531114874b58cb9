package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.AssocRef;
import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.DbdMessages.Changed;
import dev.muster.model.accounting.Entities.Account;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Cluster;
import dev.muster.model.accounting.Entities.User;
import dev.muster.model.accounting.Entities.Wckey;
import dev.muster.model.accounting.LimitField;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** One change to a draft of the book, by somebody. Either all of it is done or, with sentences why, nothing. */
public final class Changes {
    /** Slurm's number for a refusal by permission. */
    static final int ACCESS_DENIED = 2002;
    /** The key of an account's flags, which are a property of the account and not a limit. */
    static final String FLAGS = "Flags";
    /** A setting of a new user: without an association, which other requests add. */
    static final String ALONE = "alone";
    private static final int ERROR = -1;
    /** The setting that is none: what was had is forgotten. */
    static final String USAGE = "rawusage";

    /**
     * What a site says of changes.
     *
     * @param preservesUsers users' names keep their capitals
     * @param coordinators   may change what is below their accounts
     * @param noDefaults     users need no default account, and get one only where it is named
     * @param absolute       a resource's shares are counts, not hundredths
     * @param preservesResources resources' names keep their capitals
     * @param clusterQos     what the jobs of a new cluster may be under
     * @param active         the jobs of associations that have not ended
     */
    public record Rules(boolean preservesUsers, boolean coordinators, boolean noDefaults, boolean absolute, boolean preservesResources,
            String clusterQos, Function<Collection<Assoc>, List<Active>> active) {
        public Rules(boolean preservesUsers, boolean coordinators, boolean noDefaults, boolean absolute, boolean preservesResources,
                String clusterQos) {
            this(preservesUsers, coordinators, noDefaults, absolute, preservesResources, clusterQos, of -> List.of());
        }

        public static final Rules STANDARD = new Rules(false, true, false, false, false, STANDARD_QOS);
    }

    /** A job that has not ended, and what it is charged to. @param wckey "*" for none */
    public record Active(int jobId, Assoc assoc, String qos, String wckey) {}

    /** The QOS that there always is. */
    public static final String STANDARD_QOS = "normal";

    /** Those of DefaultQOS, if there are all of them. */
    public static String clusterQos(Book book, String wanted) {
        String lower = wanted.toLowerCase(Locale.ROOT).strip();
        return !lower.isEmpty() && List.of(lower.split(",")).stream().allMatch(q -> book.qos(q).isPresent()) ? lower : STANDARD_QOS;
    }

    final Book book;
    final String actor;
    final Change change;
    final long now;
    final List<String> names = new ArrayList<>();
    private static final List<String> CLASSES = List.of("capability", "capacity", "capapacity");
    final List<AssocRef> assocs = new ArrayList<>();
    final List<String> more = new ArrayList<>();
    final List<String> errors = new ArrayList<>();
    final Rules rules;
    private final AdminLevel level;
    private final ChangeRights rights;
    int errno = ERROR;

    /**
     * @param actor      the caller's user name
     * @param superuser  root or SlurmUser
     * @param now        seconds since 1970
     */
    public Changes(Book draft, String actor, boolean superuser, Change change, long now) {
        this(draft, actor, superuser, change, now, Rules.STANDARD);
    }

    public Changes(Book draft, String actor, boolean superuser, Change change, long now, Rules rules) {
        this.rules = rules;
        this.book = draft;
        this.actor = actor;
        this.change = change;
        this.now = now;
        level = superuser ? AdminLevel.ADMINISTRATOR : draft.user(actor).map(User::adminLevel).orElse(AdminLevel.NONE);
        rights = new ChangeRights(draft, actor);
    }

    /** Does it. */
    public Changed run() {
        if (!permitted()) {
            return denied();
        }
        Optional<String> refused = RequestFilters.refused(change);
        if (refused.isPresent()) {
            errors.add(refused.get());
            return result();
        }
        if (change.verb().equals("delete") && change.where().values().stream().allMatch(String::isBlank)) {
            errors.add(" No conditions given to remove, not executing.");
            return result();
        }
        if (sets("Flags") && List.of("user", "cluster").contains(change.entity())) {
            errors.add(" The setting 'Flags' of '" + change.verb() + " " + change.entity() + "' is not supported by this version");
            return result();
        }
        String what = change.verb() + " " + change.entity();
        if (change.verb().equals("modify") && sets(USAGE)) {
            new UsageResets(this).run();
            return result();
        }
        switch (what) {
            case "add cluster" -> addClusters();
            case "clean cluster" -> cleanClusters();
            case "add account" -> new TreeChanges(this).addAccounts();
            case "add user" -> new TreeChanges(this).addUsers();
            case "add coordinator" -> coordinators(true);
            case "delete coordinator" -> coordinators(false);
            case "add qos", "modify qos", "delete qos" -> new QosChanges(this).run();
            case "add resource", "modify resource", "delete resource" -> new ResourceChanges(this).run();
            case "modify cluster" -> modifyClusters();
            case "modify account" -> new TreeUpdates(this).accounts();
            case "modify user" -> new TreeUpdates(this).users();
            case "delete cluster" -> deleteClusters();
            case "delete account" -> new Removals(this).accounts();
            case "delete user" -> new Removals(this).users();
            default -> errors.add("Requested operation not supported on this system");
        }
        return errors.isEmpty() && level == AdminLevel.NONE && !rights.isWithinRealm() ? denied() : result();
    }

    private Changed result() {
        return new Changed(List.copyOf(names), List.copyOf(assocs), List.copyOf(more), List.copyOf(errors), errors.isEmpty() ? 0 : errno);
    }

    private Changed denied() {
        errno = ACCESS_DENIED;
        errors.add("Access/permission denied");
        return result();
    }

    private boolean permitted() {
        return ChangeRights.suffices(level, ChangeRights.of(change))
                || rules.coordinators && ChangeRights.of(change) == ChangeRights.Level.COORDINATOR && rights.isCoordinator();
    }

    // ---- words

    /** Names in lower case, as Slurm keeps them. */
    static List<String> list(Map<String, String> from, String key) {
        return list(from, key, false);
    }

    private static List<String> list(Map<String, String> from, String key, boolean asTyped) {
        List<String> out = new ArrayList<>();
        for (String word : from.getOrDefault(key, "").split(",")) {
            String name = asTyped ? word.strip() : word.strip().toLowerCase(Locale.ROOT);
            if (!name.isEmpty() && !out.contains(name)) {
                out.add(name);
            }
        }
        return out;
    }

    /** Whether a value fits the condition; one that is given and empty wants the empty value. */
    boolean fits(String key, String value) {
        List<String> wanted = where(key);
        return wanted.isEmpty() ? !change.where().containsKey(key) || value.isEmpty() : wanted.contains(value);
    }

    List<String> where(String key) {
        boolean users = key.equals("user") || key.equals("name") && List.of("user", "coordinator").contains(change.entity());
        boolean resources = key.equals("name") && change.entity().equals("resource");
        return list(change.where(), key, rules.preservesUsers && users || rules.preservesResources && resources);
    }

    String set(String key) {
        return change.set().getOrDefault(key, "");
    }

    boolean sets(String key) {
        return change.set().containsKey(key);
    }

    static AssocRef ref(Assoc a) {
        return new AssocRef(a.cluster(), a.account(), a.user(), a.partition(), a.parent());
    }

    void log(String action, String cluster, String name, String info) {
        book.log(now, action, actor, cluster, name, info);
    }

    // ---- limits

    /** The limits that are set here over the old ones; errors are noted. Whether any is set tells {@link #setsLimits}. */
    TreeMap<String, String> limits(Map<String, String> old, List<LimitField> table) {
        TreeMap<String, String> out = new TreeMap<>(old);
        for (LimitField field : table) {
            boolean isAccounts = table == LimitField.ASSOC && field.name().equals(FLAGS);
            if (sets(field.name()) && !isAccounts) {
                String value = Values.applied(book, field, old.getOrDefault(field.name(), ""), set(field.name()), table == LimitField.QOS, errors);
                if (value.isEmpty() && field.kind() == LimitField.Kind.SHARES) {
                    out.put(field.name(), "1");
                } else if (value.isEmpty()) {
                    out.remove(field.name());
                } else {
                    out.put(field.name(), value);
                }
            }
        }
        return out;
    }

    boolean setsLimits(List<LimitField> table) {
        return table.stream().anyMatch(f -> sets(f.name()) && !(table == LimitField.ASSOC && f.name().equals(FLAGS)));
    }

    /** Applies the change's flags to an account's flags and records errors. Flags hold on every cluster. */
    String accountFlags(String old) {
        if (sets("accountflags")) {
            return set("accountflags");
        }
        LimitField field = LimitField.ASSOC.stream().filter(f -> f.name().equals(FLAGS)).findFirst().orElseThrow();
        return sets(FLAGS) ? Values.applied(book, field, old, set(FLAGS), false, errors) : old;
    }

    /** What is set, for the log of transactions. */
    String info() {
        return String.join(", ", change.set().entrySet().stream().map(e -> e.getKey() + "='" + e.getValue() + "'").toList());
    }

    // ---- clusters

    private void addClusters() {
        List<String> wanted = where("name");
        if (wanted.isEmpty()) {
            errors.add(" Need name of cluster to add.");
        }
        for (String name : wanted) {
            if (book.cluster(name).isPresent()) {
                errors.add(" This cluster " + name + " already exists.  Not adding.");
            }
        }
        if (!errors.isEmpty()) {
            return;
        }
        for (String name : wanted) {
            TreeMap<String, String> limits = limits(Map.of("Fairshare", "1", "QOS", clusterQos(book, rules.clusterQos)), LimitField.ASSOC);
            beginCluster(book, name, limits, now);
            if (sets("classification")) {
                book.cluster(name).ifPresent(this::classify);
            }
            log("Add Clusters", name, name, info());
            names.add(name);
        }
    }

    /** A cluster with the root account and its root user. */
    static void beginCluster(Book book, String name, Map<String, String> limits, long now) {
        int id = book.clustersEver().stream().filter(c -> c.name().equals(name)).findFirst().map(Cluster::id).orElseGet(book::nextCluster);
        book.put(new Cluster(name, id, "", 0, 0, "", "", "", 0, "", now, now, false));
        int root = book.assocEver(name, Book.ROOT, "", "").map(Assoc::id).orElseGet(book::nextAssoc);
        book.put(new Assoc(root, name, Book.ROOT, "", "", "", false, limits, now, now, false));
        int user = book.assocEver(name, Book.ROOT, Book.ROOT, "").map(Assoc::id).orElseGet(book::nextAssoc);
        book.put(new Assoc(user, name, Book.ROOT, Book.ROOT, "", "", true, new TreeMap<>(Map.of("Fairshare", "1")), now, now, false));
    }

    private void modifyClusters() {
        for (Cluster c : book.clusters()) {
            List<String> wanted = where("name");
            Optional<Assoc> root = book.assoc(c.name(), Book.ROOT, "", "");
            if (!wanted.isEmpty() && !wanted.contains(c.name()) || root.isEmpty()) {
                continue;
            }
            if (setsLimits(LimitField.ASSOC)) {
                new TreeUpdates(this).limits(List.of(root.get()));
            }
            if (sets("classification")) {
                classify(c);
            }
            names.add(c.name());
            log("Modify Clusters", c.name(), c.name(), info());
        }
    }

    private void classify(Cluster c) {
        String typed = set("classification").toLowerCase(Locale.ROOT);
        if (!typed.isEmpty() && !CLASSES.contains(typed)) {
            errors.add(" '" + set("classification") + "' is no classification: these are " + String.join(", ", CLASSES));
            return;
        }
        String name = typed.isEmpty() ? "" : Character.toUpperCase(typed.charAt(0)) + typed.substring(1);
        book.put(new Cluster(c.name(), c.id(), c.controlHost(), c.controlPort(), c.rpcVersion(), name, c.flags(), c.nodes(),
                c.nodeCount(), c.tres(), c.created(), now, false));
    }

    /** Everything of the tree but its root goes, and so do the keys; the cluster itself and its past stay. */
    private void cleanClusters() {
        for (String name : where("name")) {
            List.copyOf(book.assocsEver()).stream().filter(a -> a.cluster().equals(name) && !a.deleted())
                    .filter(a -> !(a.account().equals(Book.ROOT) && (a.user().isEmpty() || a.user().equals(Book.ROOT))))
                    .forEach(a -> book.put(Removals.deleted(a, now)));
            List.copyOf(book.wckeysEver()).stream().filter(w -> w.cluster().equals(name) && !w.deleted()).forEach(w -> book.put(new Wckey(w.id(),
                    w.cluster(), w.user(), w.name(), false, w.created(), now, true)));
            names.add(name);
            log("Modify Clusters", name, name, "clean");
        }
    }

    /** What jobs are charged to stays: they have to end first. */
    boolean isActive(Collection<Assoc> doomed) {
        return refuses(rules.active().apply(doomed));
    }

    /** Returns whether jobs of these QOS have not ended: the QOS stay until they have. */
    boolean isActiveQos(Collection<String> doomed) {
        List<Assoc> all = book.assocsEver().stream().filter(a -> !a.deleted()).toList();
        return !doomed.isEmpty() && refuses(rules.active().apply(all).stream()
                .filter(j -> List.of(j.qos().split(",")).stream().anyMatch(doomed::contains)).toList());
    }

    private boolean refuses(List<Active> jobs) {
        if (jobs.isEmpty()) {
            return false;
        }
        errors.add(" Error with request: Job(s) active, cancel job(s) before remove");
        jobs.forEach(j -> errors.add("  JobID = " + AssocText.pad(Integer.toString(j.jobId()), 10) + " C = " + AssocText.pad(j.assoc().cluster(), 10)
                + " A = " + AssocText.pad(j.assoc().account(), 10) + " U = " + AssocText.pad(j.assoc().user(), 9)
                + " Q = " + AssocText.pad(j.qos(), 9) + " W = " + AssocText.pad(j.wckey().isEmpty() ? "*" : j.wckey(), 9)));
        return true;
    }

    private void deleteClusters() {
        for (String name : where("name")) {
            Optional<Cluster> found = book.cluster(name);
            if (found.isEmpty()) {
                continue;
            }
            Cluster c = found.get();
            if (isActive(book.tree(name))) {
                return;
            }
            book.put(new Cluster(name, c.id(), "", 0, c.rpcVersion(), c.classification(), c.flags(), c.nodes(), c.nodeCount(), c.tres(),
                    c.created(), now, true));
            List.copyOf(book.assocsEver()).stream().filter(a -> a.cluster().equals(name) && !a.deleted())
                    .forEach(a -> book.put(Removals.deleted(a, now)));
            names.add(name);
            log("Remove Clusters", name, name, "");
        }
    }

    // ---- coordinators

    private void coordinators(boolean add) {
        List<String> users = where("name");
        List<String> accounts = where("account");
        if (add && (users.isEmpty() || accounts.isEmpty())) {
            errors.add(" You need to specify " + (users.isEmpty() ? "a user" : "an account") + " list here.");
            return;
        }
        for (String account : accounts) {
            if (book.account(account).isEmpty()) {
                errors.add(" You specified a non-existent account '" + account + "'.");
            }
        }
        for (String user : users) {
            if (book.user(user).isEmpty()) {
                errors.add(" You specified a non-existent user '" + user + "'.");
            }
        }
        if (!errors.isEmpty()) {
            return;
        }
        for (Account a : List.copyOf(book.accountsEver())) {
            boolean meant = !a.deleted() && (accounts.contains(a.name()) || accounts.isEmpty() && !add);
            if (!meant) {
                continue;
            }
            List<String> now1 = new ArrayList<>(a.coordinators());
            for (String user : users.isEmpty() && !add ? a.coordinators() : users) {
                if (add ? !now1.contains(user) && now1.add(user) : now1.remove(user)) {
                    assocs.add(new AssocRef("", a.name(), user, "", ""));
                    log(add ? "Add Account Coord" : "Remove Account Coord", "", user, a.name());
                }
            }
            if (!now1.equals(a.coordinators())) {
                book.put(new Account(a.name(), a.description(), a.organization(), a.flags(), List.copyOf(now1), a.created(), now, false));
            }
        }
        names.addAll(users);
        more.addAll(accounts);
    }
}
