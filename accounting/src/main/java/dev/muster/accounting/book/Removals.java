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
    private final ChangeContext context;
    private final AssocTree book;

    Removals(ChangeContext changes) {
        this.context = changes;
        this.book = changes.book;
    }

    static Assoc deleted(Assoc assoc, long now) {
        return new Assoc(
                assoc.id(),
                assoc.cluster(),
                assoc.account(),
                assoc.user(),
                assoc.partition(),
                assoc.parent(),
                false,
                new TreeMap<>(Map.of("Fairshare", "1")),
                assoc.created(),
                now,
                true);
    }

    private boolean fitsCondition(String key, String value) {
        return context.fits(key, value);
    }

    void accounts() {
        if (context.where("name").contains(AssocTree.ROOT)) {
            context.errors.add(" You are not allowed to remove the root account.\n Use remove cluster instead.");
            return;
        }
        if (context.change.where().containsKey("partition")) {
            partitions();
            return;
        }
        boolean onSomeClusters = !context.where("cluster").isEmpty();
        List<Account> doomed =
                book.accountsEver().stream().filter(this::isMeant).toList();
        Set<Assoc> subtree = atOrBelow(doomed);
        if (refuseDefaultAccounts(subtree) || context.refuseActive(subtree)) {
            return;
        }
        Set<String> accountsOfSubtree = new LinkedHashSet<>();
        subtree.forEach(a -> {
            accountsOfSubtree.add(a.account());
            book.put(deleted(a, context.now));
            context.log("Remove Associations", a.cluster(), "id_assoc=" + a.id(), "");
            if (onSomeClusters && a.user().isEmpty()) {
                context.assocs.add(ChangeContext.ref(a));
            }
        });
        for (Account account : doomed) {
            if (removeIfOnNoCluster(account) && !onSomeClusters) {
                context.names.add(account.name());
            }
        }
        for (String name : accountsOfSubtree) {
            book.account(name)
                    .filter(a -> !doomed.contains(a) && !a.name().equals(AssocTree.ROOT))
                    .ifPresent(this::removeIfOnNoCluster);
        }
    }

    private boolean isMeant(Account account) {
        return !account.deleted()
                && !account.name().equals(AssocTree.ROOT)
                && fitsCondition("name", account.name())
                && fitsCondition("description", account.description())
                && fitsCondition("organization", account.organization())
                && parented(account);
    }

    /** Associations of accounts and of everything below them, on the clusters that the request names. */
    private Set<Assoc> atOrBelow(List<Account> accounts) {
        Set<Assoc> out = new LinkedHashSet<>();
        for (Cluster cluster : book.clusters()) {
            if (!fitsCondition("cluster", cluster.name())) {
                continue;
            }
            for (Assoc assoc : book.tree(cluster.name())) {
                if (accounts.stream().anyMatch(d -> book.isBelow(cluster.name(), assoc.account(), d.name()))) {
                    out.add(assoc);
                }
            }
        }
        return out;
    }

    /** Marks an account as deleted unless a cluster still has an association of it. Returns whether it was marked. */
    private boolean removeIfOnNoCluster(Account account) {
        boolean onACluster = book.clusters().stream()
                .anyMatch(cl -> book.assoc(cl.name(), account.name(), "", "").isPresent());
        if (!onACluster) {
            book.put(new Account(
                    account.name(),
                    account.description(),
                    account.organization(),
                    account.flags(),
                    List.of(),
                    account.created(),
                    context.now,
                    true));
            context.log("Remove Accounts", "", account.name(), "");
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
        if (!refuseDefaults(gone) && !context.refuseActive(gone)) {
            gone.forEach(a -> {
                book.put(deleted(a, context.now));
                context.log("Remove Associations", a.cluster(), "id_assoc=" + a.id(), "");
                context.assocs.add(ChangeContext.ref(a));
            });
        }
    }

    private boolean parented(Account account) {
        List<String> parents = context.where("parent");
        return parents.isEmpty()
                || book.clusters().stream()
                        .anyMatch(cl -> book.assoc(cl.name(), account.name(), "", "")
                                .filter(x -> parents.contains(x.parent()))
                                .isPresent());
    }

    /** Refuses to remove an account that is the default of a user with further accounts. */
    private boolean refuseDefaultAccounts(Set<Assoc> gone) {
        List<Assoc> left = context.rules.noDefaults()
                ? List.of()
                : gone.stream()
                        .filter(a -> a.isDefault() && !a.user().isEmpty() && keepsOthers(a, gone))
                        .sorted(Comparator.comparing(Assoc::user))
                        .toList();
        if (left.isEmpty()) {
            return false;
        }
        context.errors.add(" Error with request: You can not remove the default account of a user");
        left.forEach(a -> context.errors.add(line(a)));
        context.errors.add(" Please either remove the accounts listed above from list and resubmit,\n"
                + " or change these users' default accounts to remove the account(s).\n Changes Discarded");
        return true;
    }

    private boolean keepsOthers(Assoc assoc, Set<Assoc> gone) {
        List<Assoc> left = book.tree(assoc.cluster()).stream()
                .filter(o -> o.user().equals(assoc.user()) && !gone.contains(o))
                .toList();
        return !left.isEmpty() && left.stream().noneMatch(Assoc::isDefault);
    }

    private static String line(Assoc assoc) {
        return "  C = " + AssocText.pad(assoc.cluster(), 15) + " A = " + AssocText.pad(assoc.account(), 10) + " U = "
                + AssocText.pad(assoc.user(), 9);
    }

    /** A user that keeps other associations must keep its default one. */
    private boolean refuseDefaults(Set<Assoc> gone) {
        List<String> lines = new ArrayList<>();
        for (Assoc assoc : gone) {
            if (assoc.isDefault() && keepsOthers(assoc, gone)) {
                lines.add(line(assoc));
            }
        }
        if (lines.isEmpty() || context.rules.noDefaults()) {
            return false;
        }
        context.errors.add(" Error with request: You can not remove the default account of a user");
        context.errors.addAll(lines);
        context.errors.add(
                " You must change the default account of these users or remove the users completely from the "
                        + "affected clusters to allow"
                        + " these changes.\n Changes Discarded");
        return true;
    }

    /** Only the users' right to these keys goes. */
    private void wckeys() {
        for (Wckey wckey : List.copyOf(book.wckeysEver())) {
            if (!wckey.deleted()
                    && fitsCondition("name", wckey.user())
                    && fitsCondition("cluster", wckey.cluster())
                    && fitsCondition("wckey", wckey.name())) {
                book.put(new Wckey(
                        wckey.id(),
                        wckey.cluster(),
                        wckey.user(),
                        wckey.name(),
                        false,
                        wckey.created(),
                        context.now,
                        true));
                context.log("Remove WCKeys", wckey.cluster(), wckey.name(), "");
                context.names.add("C = " + AssocText.pad(wckey.cluster(), 10) + " W = "
                        + AssocText.pad(wckey.name(), 20) + " U = " + AssocText.pad(wckey.user(), 9));
            }
        }
    }

    void users() {
        if (!context.where("wckey").isEmpty()) {
            wckeys();
            return;
        }
        boolean narrowed = !context.where("account").isEmpty()
                || !context.where("cluster").isEmpty()
                || context.change.where().containsKey("partition");
        List<User> users = book.usersEver().stream().filter(this::isMeant).toList();
        Set<Assoc> gone = associations(users);
        if (narrowed && refuseDefaults(gone) || context.refuseActive(gone)) {
            return;
        }
        gone.forEach(a -> {
            book.put(deleted(a, context.now));
            context.log("Remove Associations", a.cluster(), "id_assoc=" + a.id(), "");
            if (narrowed) {
                context.assocs.add(ChangeContext.ref(a));
            }
        });
        for (User user : users) {
            boolean left = book.clusters().stream()
                    .anyMatch(cl ->
                            book.tree(cl.name()).stream().anyMatch(a -> a.user().equals(user.name())));
            boolean touched = gone.stream().anyMatch(a -> a.user().equals(user.name()));
            if (left || narrowed && !touched) {
                continue;
            }
            remove(user);
            (narrowed ? context.more : context.names).add(user.name());
        }
    }

    private boolean isMeant(User user) {
        return !user.deleted() && fitsCondition("name", user.name()) && hasAdminLevel(user) && hasDefaultAccount(user);
    }

    private boolean hasAdminLevel(User user) {
        return context.where("adminlevel").isEmpty()
                || AdminLevels.of(context.where("adminlevel").getFirst())
                        .filter(l -> l == user.adminLevel())
                        .isPresent();
    }

    private boolean hasDefaultAccount(User user) {
        return context.where("defaultaccount").isEmpty()
                || book.assocsEver().stream()
                        .anyMatch(a -> !a.deleted()
                                && a.isDefault()
                                && a.user().equals(user.name())
                                && context.where("defaultaccount").contains(a.account()));
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

    private void remove(User user) {
        book.put(new User(user.name(), user.adminLevel(), user.created(), context.now, true));
        List.copyOf(book.accountsEver()).stream()
                .filter(a -> a.coordinators().contains(user.name()))
                .forEach(a -> book.put(new Account(
                        a.name(),
                        a.description(),
                        a.organization(),
                        a.flags(),
                        a.coordinators().stream()
                                .filter(n -> !n.equals(user.name()))
                                .toList(),
                        a.created(),
                        context.now,
                        a.deleted())));
        List.copyOf(book.wckeysEver()).stream()
                .filter(w -> !w.deleted() && w.user().equals(user.name()))
                .forEach(w -> book.put(
                        new Wckey(w.id(), w.cluster(), w.user(), w.name(), false, w.created(), context.now, true)));
        context.log("Remove Users", "", user.name(), "");
    }
}
