package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.Account;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Cluster;
import dev.muster.model.accounting.Entities.User;
import dev.muster.model.accounting.Entities.Wckey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Deleting accounts and users: they are marked, with all that hangs below them. */
final class Removals {
    private final ChangeContext c;
    private final Book book;

    Removals(ChangeContext changes) {
        this.c = changes;
        this.book = changes.book;
    }

    static Assoc deleted(Assoc a, long now) {
        return new Assoc(
                a.id(),
                a.cluster(),
                a.account(),
                a.user(),
                a.partition(),
                a.parent(),
                false,
                new TreeMap<>(Map.of("Fairshare", "1")),
                a.created(),
                now,
                true);
    }

    private boolean fitsCondition(String key, String value) {
        return c.fits(key, value);
    }

    void accounts() {
        if (c.where("name").contains(Book.ROOT)) {
            c.errors.add(" You are not allowed to remove the root account.\n Use remove cluster instead.");
            return;
        }
        if (c.change.where().containsKey("partition")) {
            partitions();
            return;
        }
        boolean onSomeClusters = !c.where("cluster").isEmpty();
        List<Account> doomed =
                book.accountsEver().stream().filter(this::isMeant).toList();
        Set<Assoc> subtree = atOrBelow(doomed);
        if (refuseDefaultAccounts(subtree) || c.refuseActive(subtree)) {
            return;
        }
        Set<String> accountsOfSubtree = new LinkedHashSet<>();
        subtree.forEach(a -> {
            accountsOfSubtree.add(a.account());
            book.put(deleted(a, c.now));
            c.log("Remove Associations", a.cluster(), "id_assoc=" + a.id(), "");
            if (onSomeClusters && a.user().isEmpty()) {
                c.assocs.add(ChangeContext.ref(a));
            }
        });
        for (Account a : doomed) {
            if (removeIfOnNoCluster(a) && !onSomeClusters) {
                c.names.add(a.name());
            }
        }
        for (String name : accountsOfSubtree) {
            book.account(name)
                    .filter(a -> !doomed.contains(a) && !a.name().equals(Book.ROOT))
                    .ifPresent(this::removeIfOnNoCluster);
        }
    }

    private boolean isMeant(Account a) {
        return !a.deleted()
                && !a.name().equals(Book.ROOT)
                && fitsCondition("name", a.name())
                && fitsCondition("description", a.description())
                && fitsCondition("organization", a.organization())
                && parented(a);
    }

    /** Associations of accounts and of everything below them, on the clusters that the request names. */
    private Set<Assoc> atOrBelow(List<Account> accounts) {
        Set<Assoc> out = new LinkedHashSet<>();
        for (Cluster cluster : book.clusters()) {
            if (!fitsCondition("cluster", cluster.name())) {
                continue;
            }
            for (Assoc a : book.tree(cluster.name())) {
                if (accounts.stream().anyMatch(d -> book.isBelow(cluster.name(), a.account(), d.name()))) {
                    out.add(a);
                }
            }
        }
        return out;
    }

    /** Marks an account as deleted unless a cluster still has an association of it. Returns whether it was marked. */
    private boolean removeIfOnNoCluster(Account a) {
        boolean onACluster = book.clusters().stream()
                .anyMatch(cl -> book.assoc(cl.name(), a.name(), "", "").isPresent());
        if (!onACluster) {
            book.put(new Account(
                    a.name(), a.description(), a.organization(), a.flags(), List.of(), a.created(), c.now, true));
            c.log("Remove Accounts", "", a.name(), "");
        }
        return !onACluster;
    }

    /** Removes only the users' associations in the named partitions; the accounts stay. */
    private void partitions() {
        Set<Assoc> gone = new LinkedHashSet<>();
        for (Cluster cluster : book.clusters()) {
            book.tree(cluster.name()).stream()
                    .filter(a -> !a.user().isEmpty()
                            && fitsCondition("cluster", a.cluster())
                            && fitsCondition("name", a.account())
                            && fitsCondition("partition", a.partition()))
                    .forEach(gone::add);
        }
        if (!refuseDefaults(gone) && !c.refuseActive(gone)) {
            gone.forEach(a -> {
                book.put(deleted(a, c.now));
                c.log("Remove Associations", a.cluster(), "id_assoc=" + a.id(), "");
                c.assocs.add(ChangeContext.ref(a));
            });
        }
    }

    private boolean parented(Account a) {
        List<String> parents = c.where("parent");
        return parents.isEmpty()
                || book.clusters().stream()
                        .anyMatch(cl -> book.assoc(cl.name(), a.name(), "", "")
                                .filter(x -> parents.contains(x.parent()))
                                .isPresent());
    }

    /** Refuses to remove an account that is the default of a user with further accounts. */
    private boolean refuseDefaultAccounts(Set<Assoc> gone) {
        List<Assoc> left = c.rules.noDefaults()
                ? List.of()
                : gone.stream()
                        .filter(a -> a.isDefault() && !a.user().isEmpty() && keepsOthers(a, gone))
                        .sorted(Comparator.comparing(Assoc::user))
                        .toList();
        if (left.isEmpty()) {
            return false;
        }
        c.errors.add(" Error with request: You can not remove the default account of a user");
        left.forEach(a -> c.errors.add(line(a)));
        c.errors.add(" Please either remove the accounts listed above from list and resubmit,\n"
                + " or change these users' default accounts to remove the account(s).\n Changes Discarded");
        return true;
    }

    private boolean keepsOthers(Assoc a, Set<Assoc> gone) {
        List<Assoc> left = book.tree(a.cluster()).stream()
                .filter(o -> o.user().equals(a.user()) && !gone.contains(o))
                .toList();
        return !left.isEmpty() && left.stream().noneMatch(Assoc::isDefault);
    }

    private static String line(Assoc a) {
        return "  C = " + AssocText.pad(a.cluster(), 15) + " A = " + AssocText.pad(a.account(), 10) + " U = "
                + AssocText.pad(a.user(), 9);
    }

    /** A user that keeps other associations must keep its default one. */
    private boolean refuseDefaults(Set<Assoc> gone) {
        List<String> lines = new ArrayList<>();
        for (Assoc a : gone) {
            if (a.isDefault() && keepsOthers(a, gone)) {
                lines.add(line(a));
            }
        }
        if (lines.isEmpty() || c.rules.noDefaults()) {
            return false;
        }
        c.errors.add(" Error with request: You can not remove the default account of a user");
        c.errors.addAll(lines);
        c.errors.add(" You must change the default account of these users or remove the users completely from the "
                + "affected clusters to allow"
                + " these changes.\n Changes Discarded");
        return true;
    }

    /** Only the users' right to these keys goes. */
    private void wckeys() {
        for (Wckey w : List.copyOf(book.wckeysEver())) {
            if (!w.deleted()
                    && fitsCondition("name", w.user())
                    && fitsCondition("cluster", w.cluster())
                    && fitsCondition("wckey", w.name())) {
                book.put(new Wckey(w.id(), w.cluster(), w.user(), w.name(), false, w.created(), c.now, true));
                c.log("Remove WCKeys", w.cluster(), w.name(), "");
                c.names.add("C = " + AssocText.pad(w.cluster(), 10) + " W = " + AssocText.pad(w.name(), 20) + " U = "
                        + AssocText.pad(w.user(), 9));
            }
        }
    }

    void users() {
        if (!c.where("wckey").isEmpty()) {
            wckeys();
            return;
        }
        boolean narrowed = !c.where("account").isEmpty()
                || !c.where("cluster").isEmpty()
                || c.change.where().containsKey("partition");
        List<User> meant = book.usersEver().stream().filter(this::isMeant).toList();
        Set<Assoc> gone = associations(meant);
        if (narrowed && refuseDefaults(gone) || c.refuseActive(gone)) {
            return;
        }
        gone.forEach(a -> {
            book.put(deleted(a, c.now));
            c.log("Remove Associations", a.cluster(), "id_assoc=" + a.id(), "");
            if (narrowed) {
                c.assocs.add(ChangeContext.ref(a));
            }
        });
        for (User u : meant) {
            boolean left = book.clusters().stream()
                    .anyMatch(cl ->
                            book.tree(cl.name()).stream().anyMatch(a -> a.user().equals(u.name())));
            boolean touched = gone.stream().anyMatch(a -> a.user().equals(u.name()));
            if (left || narrowed && !touched) {
                continue;
            }
            remove(u);
            (narrowed ? c.more : c.names).add(u.name());
        }
    }

    private boolean isMeant(User u) {
        return !u.deleted() && fitsCondition("name", u.name()) && hasAdminLevel(u) && hasDefaultAccount(u);
    }

    private boolean hasAdminLevel(User u) {
        return c.where("adminlevel").isEmpty()
                || AdminLevels.of(c.where("adminlevel").getFirst())
                        .filter(l -> l == u.adminLevel())
                        .isPresent();
    }

    private boolean hasDefaultAccount(User u) {
        return c.where("defaultaccount").isEmpty()
                || book.assocsEver().stream()
                        .anyMatch(a -> !a.deleted()
                                && a.isDefault()
                                && a.user().equals(u.name())
                                && c.where("defaultaccount").contains(a.account()));
    }

    /** Associations of users on the clusters, accounts and partitions that the request names. */
    private Set<Assoc> associations(List<User> users) {
        Set<Assoc> out = new LinkedHashSet<>();
        for (Cluster cluster : book.clusters()) {
            book.tree(cluster.name()).stream()
                    .filter(a -> !a.user().isEmpty()
                            && users.stream().anyMatch(u -> u.name().equals(a.user()))
                            && fitsCondition("cluster", a.cluster())
                            && fitsCondition("account", a.account())
                            && fitsCondition("partition", a.partition()))
                    .forEach(out::add);
        }
        return out;
    }

    private void remove(User u) {
        book.put(new User(u.name(), u.adminLevel(), u.created(), c.now, true));
        List.copyOf(book.accountsEver()).stream()
                .filter(a -> a.coordinators().contains(u.name()))
                .forEach(a -> book.put(new Account(
                        a.name(),
                        a.description(),
                        a.organization(),
                        a.flags(),
                        a.coordinators().stream()
                                .filter(n -> !n.equals(u.name()))
                                .toList(),
                        a.created(),
                        c.now,
                        a.deleted())));
        List.copyOf(book.wckeysEver()).stream()
                .filter(w -> !w.deleted() && w.user().equals(u.name()))
                .forEach(w ->
                        book.put(new Wckey(w.id(), w.cluster(), w.user(), w.name(), false, w.created(), c.now, true)));
        c.log("Remove Users", "", u.name(), "");
    }
}
