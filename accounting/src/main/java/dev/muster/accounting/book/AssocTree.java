package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.Account;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Cluster;
import dev.muster.model.accounting.Entities.Entity;
import dev.muster.model.accounting.Entities.Qos;
import dev.muster.model.accounting.Entities.Resource;
import dev.muster.model.accounting.Entities.Transaction;
import dev.muster.model.accounting.Entities.Tres;
import dev.muster.model.accounting.Entities.User;
import dev.muster.model.accounting.Entities.Wckey;
import dev.muster.model.accounting.LimitField;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * All entities at one moment. One that was published is only read; a change is made to a copy, which remembers what has
 * to be written, and becomes the next one once that is in the database.
 */
public final class AssocTree {
    /** The account at the top of every cluster's tree. */
    public static final String ROOT = "root";
    /** The resources that every cluster has, by number from 1. */
    private static final List<String> STANDARD_TRES =
            List.of("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages");

    private final TreeMap<String, Cluster> clusters;
    private final TreeMap<String, Account> accounts;
    private final TreeMap<String, User> users;
    private final TreeMap<Integer, Assoc> assocs;
    private final HashMap<String, Integer> assocByPlace;
    private final TreeMap<Integer, Qos> qos;
    private final TreeMap<Integer, Tres> tres;
    private final TreeMap<Integer, Wckey> wckeys;
    private final TreeMap<Integer, Resource> resources;
    private final long version;
    private final List<Entity> written = new ArrayList<>();
    private final List<Transaction> transactions = new ArrayList<>();

    private AssocTree(@Nullable AssocTree from, long version) {
        this.version = version;
        clusters = new TreeMap<>(from == null ? Map.of() : from.clusters);
        accounts = new TreeMap<>(from == null ? Map.of() : from.accounts);
        users = new TreeMap<>(from == null ? Map.of() : from.users);
        assocs = new TreeMap<>(from == null ? Map.of() : from.assocs);
        assocByPlace = new HashMap<>(from == null ? Map.of() : from.assocByPlace);
        qos = new TreeMap<>(from == null ? Map.of() : from.qos);
        tres = new TreeMap<>(from == null ? Map.of() : from.tres);
        wckeys = new TreeMap<>(from == null ? Map.of() : from.wckeys);
        resources = new TreeMap<>(from == null ? Map.of() : from.resources);
    }

    /** Makes the book from the rows of the database. */
    public static AssocTree of(Collection<Entity> entities, long version) {
        AssocTree book = new AssocTree(null, version);
        entities.forEach(book::place);
        return book;
    }

    /** A draft once it is written: the same, with nothing left to write. */
    public static AssocTree of(AssocTree draft) {
        return new AssocTree(draft, draft.version);
    }

    /** A new database: the root user and account, the QOS normal, and the standard resources. */
    public static AssocTree initial(long now) {
        AssocTree book = new AssocTree(null, 1);
        int id = 1;
        for (String name : STANDARD_TRES) {
            int slash = name.indexOf('/');
            book.put(new Tres(
                    id++, slash < 0 ? name : name.substring(0, slash), slash < 0 ? "" : name.substring(slash + 1)));
        }
        // numbers below 1000 are the standard ones'
        book.put(new Tres(1000, "dynamic_offset", ""));
        book.put(new User(ROOT, AdminLevel.ADMINISTRATOR, now, now, false));
        book.put(new Account(ROOT, "default root account", ROOT, "", List.of(), now, now, false));
        book.put(new Qos(1, "normal", new TreeMap<>(Map.of("Description", "Normal QOS default")), now, now, false));
        return book;
    }

    /** A copy to be changed. */
    public AssocTree draft() {
        return new AssocTree(this, version + 1);
    }

    /** Grows with every change. */
    public long version() {
        return version;
    }

    private void place(Entity entity) {
        switch (entity) {
            case Cluster cluster -> clusters.put(cluster.name(), cluster);
            case Account account -> accounts.put(account.name(), account);
            case User user -> users.put(user.name(), user);
            case Assoc assoc -> {
                // another place than before: its user got a new name
                Assoc before = assocs.put(assoc.id(), assoc);
                if (before != null) {
                    assocByPlace.remove(
                            placeKey(before.cluster(), before.account(), before.user(), before.partition()),
                            assoc.id());
                }
                assocByPlace.put(
                        placeKey(assoc.cluster(), assoc.account(), assoc.user(), assoc.partition()), assoc.id());
            }
            case Qos q -> qos.put(q.id(), q);
            case Tres t -> tres.put(t.id(), t);
            case Wckey wckey -> wckeys.put(wckey.id(), wckey);
            case Resource resource -> resources.put(resource.id(), resource);
        }
    }

    /** Adds or replaces an entity. */
    public void put(Entity entity) {
        place(entity);
        written.add(entity);
    }

    void log(long now, String action, String actor, String cluster, String name, String info) {
        transactions.add(new Transaction(0, now, action, actor, cluster, name, info));
    }

    /** Entities that have to be written to the database. */
    public List<Entity> written() {
        return written;
    }

    public List<Transaction> transactions() {
        return transactions;
    }

    private static String placeKey(String cluster, String account, String user, String partition) {
        return cluster + "\n" + account + "\n" + user + "\n" + partition;
    }

    // ---- looking up: deleted ones are left out unless a method says otherwise

    public Optional<Cluster> cluster(String name) {
        return Optional.ofNullable(clusters.get(name)).filter(c -> !c.deleted());
    }

    public List<Cluster> clusters() {
        return clusters.values().stream().filter(c -> !c.deleted()).toList();
    }

    Collection<Cluster> clustersEver() {
        return clusters.values();
    }

    public Optional<Account> account(String name) {
        return Optional.ofNullable(accounts.get(name)).filter(a -> !a.deleted());
    }

    /** Names of all accounts that are not deleted. */
    public List<String> accountNames() {
        return accounts.values().stream()
                .filter(a -> !a.deleted())
                .map(Account::name)
                .toList();
    }

    Collection<Account> accountsEver() {
        return accounts.values();
    }

    public Optional<User> user(String name) {
        return Optional.ofNullable(users.get(name)).filter(u -> !u.deleted());
    }

    Collection<User> usersEver() {
        return users.values();
    }

    public Optional<Assoc> assoc(int id) {
        return Optional.ofNullable(assocs.get(id)).filter(a -> !a.deleted());
    }

    /** Also one that was deleted. */
    public Optional<Assoc> assocOfNumber(int id) {
        return Optional.ofNullable(assocs.get(id));
    }

    /** The number of a user's association: that for the partition, else that for all. 0 if there never was one. */
    public int assocNumber(String cluster, String account, String user, String partition) {
        return assocEver(cluster, account, user, partition)
                .or(() -> assocEver(cluster, account, user, ""))
                .map(Assoc::id)
                .orElse(0);
    }

    /** The number of a user's key; 0 if there never was one. */
    public int wckeyNumber(String cluster, String user, String name) {
        if (name.isEmpty()) {
            return 0;
        }
        String plain = Wckey.plain(name);
        return wckeys.values().stream()
                .filter(w -> w.cluster().equals(cluster)
                        && w.user().equals(user)
                        && w.name().equals(plain))
                .mapToInt(Wckey::id)
                .findFirst()
                .orElse(0);
    }

    /** The key that a user's jobs are charged to unless they say another; "" if none. */
    public String defaultWckey(String cluster, String user) {
        return wckeys.values().stream()
                .filter(w -> !w.deleted()
                        && w.isDefault()
                        && w.cluster().equals(cluster)
                        && w.user().equals(user))
                .map(Wckey::name)
                .findFirst()
                .orElse("");
    }

    /** Also one that was deleted. */
    Optional<Assoc> assocEver(String cluster, String account, String user, String partition) {
        return Optional.ofNullable(assocByPlace.get(placeKey(cluster, account, user, partition)))
                .map(assocs::get);
    }

    public Optional<Assoc> assoc(String cluster, String account, String user, String partition) {
        return assocEver(cluster, account, user, partition).filter(a -> !a.deleted());
    }

    Collection<Assoc> assocsEver() {
        return assocs.values();
    }

    public Optional<Qos> qos(String name) {
        return qos.values().stream()
                .filter(q -> !q.deleted() && q.name().equals(name))
                .findFirst();
    }

    /** Also one that was deleted. */
    public Optional<Qos> qosOfNumber(int id) {
        return Optional.ofNullable(qos.get(id));
    }

    Collection<Qos> qosEver() {
        return qos.values();
    }

    public List<Qos> qos() {
        return qos.values().stream().filter(q -> !q.deleted()).toList();
    }

    /** The made-up one that reserves numbers is none. */
    public List<Tres> tres() {
        return tres.values().stream()
                .filter(t -> !t.type().equals("dynamic_offset"))
                .toList();
    }

    Collection<Wckey> wckeysEver() {
        return wckeys.values();
    }

    Collection<Resource> resourcesEver() {
        return resources.values();
    }

    /** The entity of any kind as it stands, for saying what it was before. */
    int nextId(Function<AssocTree, TreeMap<Integer, ?>> of) {
        TreeMap<Integer, ?> table = of.apply(this);
        return table.isEmpty() ? 1 : table.lastKey() + 1;
    }

    int nextAssoc() {
        return nextId(b -> b.assocs);
    }

    int nextQos() {
        return nextId(b -> b.qos);
    }

    int nextWckey() {
        return nextId(b -> b.wckeys);
    }

    int nextResource() {
        return nextId(b -> b.resources);
    }

    int nextTres() {
        return nextId(b -> b.tres);
    }

    int nextCluster() {
        return clusters.values().stream().mapToInt(Cluster::id).max().orElse(0) + 1;
    }

    // ---- the tree

    /**
     * Coordinators of an account and of all accounts above it in the cluster's tree: they coordinate what is below,
     * too. With the flag UsersAreCoords an account's users are its coordinators.
     */
    public Set<String> coordinators(String cluster, String account) {
        Set<String> out = new LinkedHashSet<>();
        String at = account;
        while (!at.isEmpty()) {
            account(at).ifPresent(a -> out.addAll(a.coordinators()));
            Optional<Assoc> here = assoc(cluster, at, "", "");
            String of = at;
            if (here.isPresent() && usersCoordinate(of)) {
                assocs.values().stream()
                        .filter(a -> !a.deleted()
                                && a.cluster().equals(cluster)
                                && a.account().equals(of)
                                && !a.user().isEmpty())
                        .forEach(a -> out.add(a.user()));
            }
            at = here.map(Assoc::parent).orElse("");
        }
        return out;
    }

    private boolean usersCoordinate(String account) {
        return account(account)
                .filter(a -> List.of(a.flags().split(",")).contains(LimitField.USERS_ARE_COORDS))
                .isPresent();
    }

    /**
     * Returns the coordinators of an account on any cluster, sorted by name; see {@link #coordinators(String, String)}.
     */
    public Set<String> coordinators(String account) {
        Set<String> out =
                new TreeSet<>(account(account).map(Account::coordinators).orElse(List.of()));
        clusters().forEach(c -> out.addAll(coordinators(c.name(), account)));
        return out;
    }

    /** The association above, empty for the root. */
    public Optional<Assoc> parent(Assoc assoc) {
        if (!assoc.user().isEmpty()) {
            return assoc(assoc.cluster(), assoc.account(), "", "");
        }
        return assoc.parent().isEmpty() ? Optional.empty() : assoc(assoc.cluster(), assoc.parent(), "", "");
    }

    /**
     * Returns the {@link #parent} of an association even where it was deleted: the lineage of a deleted association
     * goes over deleted accounts.
     */
    public Optional<Assoc> parentEver(Assoc assoc) {
        String account = assoc.user().isEmpty() ? assoc.parent() : assoc.account();
        return account.isEmpty() ? Optional.empty() : assocEver(assoc.cluster(), account, "", "");
    }

    /** A cluster's associations from the root down: an account, its users by name, then the accounts below it. */
    public List<Assoc> tree(String cluster) {
        return tree(cluster, false);
    }

    /** Like {@link #tree}, with deleted associations, as past jobs refer to them. */
    public List<Assoc> treeEver(String cluster) {
        return tree(cluster, true);
    }

    private List<Assoc> tree(String cluster, boolean deleted) {
        Map<String, List<Assoc>> below = new HashMap<>();
        for (Assoc assoc : assocs.values()) {
            if ((deleted || !assoc.deleted()) && assoc.cluster().equals(cluster)) {
                below.computeIfAbsent(
                                (assoc.user().isEmpty() ? "a" + assoc.parent() : "u" + assoc.account()),
                                k -> new ArrayList<>())
                        .add(assoc);
            }
        }
        List<Assoc> out = new ArrayList<>();
        assocEver(cluster, ROOT, "", "").filter(a -> deleted || !a.deleted()).ifPresent(root -> walk(root, below, out));
        return out;
    }

    private static void walk(Assoc account, Map<String, List<Assoc>> below, List<Assoc> out) {
        out.add(account);
        below.getOrDefault("u" + account.account(), List.of()).stream()
                .sorted((x, y) -> {
                    int byUser = x.user().compareTo(y.user());
                    // the association without a partition sorts first
                    return byUser != 0 ? byUser : x.partition().compareTo(y.partition());
                })
                .forEach(out::add);
        below.getOrDefault("a" + account.account(), List.of()).stream()
                .sorted((x, y) -> x.account().compareTo(y.account()))
                .forEach(child -> walk(child, below, out));
    }

    /** Whether the account is at or below another in a cluster's tree. */
    boolean isBelow(String cluster, String account, String above) {
        String at = account;
        while (!at.isEmpty()) {
            if (at.equals(above)) {
                return true;
            }
            at = assoc(cluster, at, "", "").map(Assoc::parent).orElse("");
        }
        return false;
    }
}
