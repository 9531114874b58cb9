package dev.muster.core.state;

import dev.muster.core.options.LicenseRequest;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.accounting.DbdMessages.RemoteLicense;
import dev.muster.model.accounting.DbdMessages.UserPolicy;
import dev.muster.model.accounting.DbdMessages.WckeyPolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Associations, QOS and users of this cluster, by the last word of slurmdbd. They hold while slurmdbd is away.
 *
 * @param places an association's number by its user, account and partition
 * @param defaults the number of a user's default association
 * @param privileged administrators, operators and coordinators by their user id
 * @param licenses of servers outside, {@code name@server:count}
 * @param remotes what else is known of these
 * @param limitsAccrual some association or QOS says how many jobs may grow older at once
 */
public record Accounts(
        Table<Integer, AssocPolicy> assocs,
        Table<Integer, QosPolicy> qos,
        Table<String, UserPolicy> users,
        Table<String, WckeyPolicy> wckeys,
        Table<String, Integer> places,
        Table<String, Integer> defaults,
        Table<String, String> defaultWckeys,
        Table<Integer, UserPolicy> privileged,
        boolean limitsAccrual,
        List<String> licenses,
        List<RemoteLicense> remotes) {

    public static final Accounts NONE = new Accounts(
            Table.empty(),
            Table.empty(),
            Table.empty(),
            Table.empty(),
            Table.empty(),
            Table.empty(),
            Table.empty(),
            Table.empty(),
            false,
            List.of(),
            List.of());
    private static final List<String> ACCRUAL =
            List.of("GrpJobsAccrue", "MaxJobsAccrue", "MaxJobsAccruePU", "MaxJobsAccruePA");

    private static String place(String user, String account, String partition) {
        return user + "\n" + account + "\n" + partition;
    }

    private static String wckey(WckeyPolicy w) {
        return w.user() + "\n" + w.name();
    }

    /** Tests that no policy was ever given. */
    public boolean isEmpty() {
        return assocs.size() == 0;
    }

    /** Returns the user's place in an account: the one for the partition if there is one. */
    public Optional<AssocPolicy> assoc(String user, String account, String partition) {
        return places.find(place(user, account, partition))
                .or(() -> places.find(place(user, account, "")))
                .map(assocs::at);
    }

    public Optional<AssocPolicy> defaultOf(String user) {
        return defaults.find(user).map(assocs::at);
    }

    /** "" if the user has none. */
    public String defaultWckey(String user) {
        return defaultWckeys.find(user).orElse("");
    }

    public boolean hasWckey(String user, String name) {
        return wckeys.has(user + "\n" + name);
    }

    public Optional<AssocPolicy> parent(AssocPolicy a) {
        return assocs.find(a.parentId());
    }

    /** Tests whether the account, or one above it, is among those. */
    public boolean isUnder(String account, Predicate<String> those) {
        if (those.test(account)) {
            return true;
        }
        for (Optional<AssocPolicy> a = assoc("", account, ""); a.isPresent(); a = parent(a.get())) {
            if (those.test(a.get().account())) {
                return true;
            }
        }
        return false;
    }

    public List<String> qosNames() {
        return qos.values().stream().map(QosPolicy::name).toList();
    }

    public Optional<QosPolicy> qos(String name) {
        return qos.values().stream()
                .filter(q -> q.name().equalsIgnoreCase(name))
                .findFirst();
    }

    /**
     * Returns the differences of a new policy; empty if there are none.
     *
     * @param used how many of each license the cluster's jobs have
     */
    public Optional<Change.PolicyChanged> changed(Policy p, Map<String, Integer> used) {
        Change.PolicyChanged change = new Change.PolicyChanged(
                put(assocs, p.assocs(), AssocPolicy::id),
                gone(assocs, p.assocs(), AssocPolicy::id),
                put(qos, p.qos(), QosPolicy::id),
                gone(qos, p.qos(), QosPolicy::id),
                put(users, p.users(), UserPolicy::user),
                gone(users, p.users(), UserPolicy::user),
                put(wckeys, p.wckeys(), Accounts::wckey),
                gone(wckeys, p.wckeys(), Accounts::wckey),
                p.licenses(),
                licenses.equals(p.licenses()) && plain(remotes).equals(p.remotes()) ? remotes : missing(p, used));
        boolean same = change.assocs().isEmpty()
                && change.assocsGone().isEmpty()
                && change.qos().isEmpty()
                && change.qosGone().isEmpty()
                && change.users().isEmpty()
                && change.usersGone().isEmpty()
                && change.wckeys().isEmpty()
                && change.wckeysGone().isEmpty()
                && licenses.equals(p.licenses())
                && remotes.equals(change.remotes());
        return same ? Optional.empty() : Optional.of(change);
    }

    private static List<RemoteLicense> plain(List<RemoteLicense> all) {
        return all.stream().map(r -> r.missing(0)).toList();
    }

    /**
     * Returns the licenses that are used outside of any cluster: the servers' reported use, less this cluster's jobs
     * and the shares left to other clusters.
     */
    private static List<RemoteLicense> missing(Policy p, Map<String, Integer> used) {
        Map<String, Integer> shares = new HashMap<>();
        p.licenses()
                .forEach(text -> LicenseRequest.parse(text)
                        .ifPresent(w -> w.items().forEach(i -> shares.put(i.name(), i.count()))));
        return p.remotes().stream()
                .map(r -> {
                    long share = shares.getOrDefault(r.name(), 0);
                    long beyond = r.consumed() - used.getOrDefault(r.name(), 0) - Math.max(0, r.count() - share);
                    return r.missing((int) Math.clamp(beyond, 0, share));
                })
                .toList();
    }

    private static <K extends Comparable<? super K>, V> List<V> put(
            Table<K, V> old, List<V> fresh, Function<V, K> key) {
        return fresh.stream()
                .filter(v -> !old.find(key.apply(v)).filter(v::equals).isPresent())
                .toList();
    }

    private static <K extends Comparable<? super K>, V> List<K> gone(
            Table<K, V> old, List<V> fresh, Function<V, K> key) {
        Set<K> kept = new HashSet<>();
        fresh.forEach(v -> kept.add(key.apply(v)));
        List<K> out = new ArrayList<>();
        for (K k : old.keys()) {
            if (!kept.contains(k)) {
                out.add(k);
            }
        }
        return out;
    }

    /** Returns the record that rebuilds these accounts. */
    Optional<Change> snapshot() {
        boolean nothing = isEmpty() && qos.size() == 0 && licenses.isEmpty();
        return nothing
                ? Optional.empty()
                : Optional.of(new Change.PolicyChanged(
                        List.copyOf(assocs.values()),
                        List.of(),
                        List.copyOf(qos.values()),
                        List.of(),
                        List.copyOf(users.values()),
                        List.of(),
                        List.copyOf(wckeys.values()),
                        List.of(),
                        licenses,
                        remotes));
    }

    private static Table<String, String> withoutDefault(Table<String, String> standard, WckeyPolicy old) {
        return standard.find(old.user()).filter(old.name()::equals).isPresent()
                ? standard.without(old.user())
                : standard;
    }

    private static boolean limitsAccrual(Map<String, String> limits) {
        return ACCRUAL.stream().anyMatch(name -> !limits.getOrDefault(name, "").isEmpty());
    }

    Accounts with(Change.PolicyChanged c) {
        Table<Integer, AssocPolicy> a = assocs;
        Table<String, Integer> p = places;
        for (int id : c.assocsGone()) {
            AssocPolicy old = a.at(id);
            a = a.without(id);
            p = p.without(place(old.user(), old.account(), old.partition()));
        }
        for (AssocPolicy fresh : c.assocs()) {
            a = a.with(fresh.id(), fresh);
            p = p.with(place(fresh.user(), fresh.account(), fresh.partition()), fresh.id());
        }
        Table<String, Integer> d = defaultAssocs(c);
        Table<Integer, QosPolicy> q = qos;
        for (int id : c.qosGone()) {
            q = q.without(id);
        }
        for (QosPolicy fresh : c.qos()) {
            q = q.with(fresh.id(), fresh);
        }
        Table<String, UserPolicy> u = users;
        Table<Integer, UserPolicy> m = privileged;
        for (String name : c.usersGone()) {
            m = m.without(u.at(name).uid());
            u = u.without(name);
        }
        for (UserPolicy fresh : c.users()) {
            Optional<UserPolicy> old = u.find(fresh.user());
            m = old.isPresent() ? m.without(old.get().uid()) : m;
            m = fresh.uid() > 0 && fresh.isPrivileged() ? m.with(fresh.uid(), fresh) : m;
            u = u.with(fresh.user(), fresh);
        }
        Table<String, WckeyPolicy> w = wckeys;
        for (String key : c.wckeysGone()) {
            w = w.without(key);
        }
        for (WckeyPolicy fresh : c.wckeys()) {
            w = w.with(wckey(fresh), fresh);
        }
        boolean accrual = a.values().stream().anyMatch(x -> limitsAccrual(x.limits()))
                || q.values().stream().anyMatch(x -> limitsAccrual(x.limits()));
        return new Accounts(a, q, u, w, p, d, defaultWckeys(c), m, accrual, c.licenses(), c.remotes());
    }

    /** Returns each user's default association after the change; removals come first so that a default can move. */
    private Table<String, Integer> defaultAssocs(Change.PolicyChanged c) {
        Table<String, Integer> out = defaults;
        for (int id : c.assocsGone()) {
            AssocPolicy old = assocs.at(id);
            out = old.isDefault() ? withoutDefault(out, old) : out;
        }
        for (AssocPolicy fresh : c.assocs()) {
            out = fresh.isDefault() ? out : withoutDefault(out, fresh);
        }
        for (AssocPolicy fresh : c.assocs()) {
            out = fresh.isDefault() ? out.with(fresh.user(), fresh.id()) : out;
        }
        return out;
    }

    private static Table<String, Integer> withoutDefault(Table<String, Integer> defaults, AssocPolicy assoc) {
        boolean isIt = defaults.find(assoc.user()).filter(n -> n == assoc.id()).isPresent();
        return isIt ? defaults.without(assoc.user()) : defaults;
    }

    /** Returns each user's default wckey after the change. */
    private Table<String, String> defaultWckeys(Change.PolicyChanged c) {
        Table<String, String> out = defaultWckeys;
        for (String key : c.wckeysGone()) {
            out = withoutDefault(out, wckeys.at(key));
        }
        for (WckeyPolicy fresh : c.wckeys()) {
            out = withoutDefault(out, fresh);
        }
        for (WckeyPolicy fresh : c.wckeys()) {
            out = fresh.isDefault() ? out.with(fresh.user(), fresh.name()) : out;
        }
        return out;
    }
}
