package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.Account;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Cluster;
import dev.muster.model.accounting.Entities.User;
import dev.muster.model.accounting.Entities.Wckey;
import dev.muster.model.accounting.LimitField;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Changes to accounts, users and their associations. */
final class TreeUpdates {
    private final ChangeContext c;
    private final Book book;

    TreeUpdates(ChangeContext changes) {
        this.c = changes;
        this.book = changes.book;
    }

    private boolean named(String key, String value) {
        return c.fits(key, value);
    }

    void accounts() {
        if (!checkRequest()) {
            return;
        }
        if (c.sets("description") || c.sets("organization") || c.sets("accountflags") || c.sets(ChangeKeys.FLAGS)) {
            records();
        }
        if (c.sets("parent")) {
            reparent();
        }
        if (c.setsLimits(LimitField.ASSOC) && c.errors.isEmpty()) {
            List<Assoc> touched = new ArrayList<>();
            for (Cluster cluster : book.clusters()) {
                // of the accounts' users where these are named
                book.tree(cluster.name()).stream()
                        .filter(a -> (c.where("user").isEmpty() ? a.user().isEmpty() : named("user", a.user()))
                                && named("cluster", cluster.name())
                                && named("name", a.account())
                                && named("parent", a.parent()))
                        .forEach(touched::add);
            }
            limits(touched);
        }
    }

    private void records() {
        for (Account a : List.copyOf(book.accountsEver())) {
            if (!a.deleted()
                    && named("name", a.name())
                    && (c.where("organization").isEmpty() || named("organization", a.organization()))
                    && (c.where("description").isEmpty() || named("description", a.description()))) {
                book.put(new Account(
                        a.name(),
                        c.sets("description") ? c.set("description") : a.description(),
                        c.sets("organization") ? c.set("organization") : a.organization(),
                        c.accountFlags(a.flags()),
                        a.coordinators(),
                        a.created(),
                        c.now,
                        false));
                c.names.add(a.name());
                c.log("Modify Accounts", "", a.name(), c.info());
            }
        }
    }

    private void reparent() {
        String parent = c.set("parent").toLowerCase(java.util.Locale.ROOT);
        for (Cluster cluster : book.clusters()) {
            for (Assoc a : book.tree(cluster.name())) {
                boolean meant = a.user().isEmpty()
                        && named("cluster", cluster.name())
                        && named("name", a.account())
                        && !a.account().equals(Book.ROOT);
                if (meant && book.account(parent).isEmpty()) {
                    c.errors.add("  Parent account " + parent + " doesn't exist on cluster " + cluster.name());
                    return;
                }
                if (!meant
                        || a.parent().equals(parent)
                        || book.assoc(cluster.name(), parent, "", "").isEmpty()) {
                    continue;
                }
                if (parent.equals(a.account()) || book.isBelow(cluster.name(), parent, a.account())) {
                    c.errors.add("  Requested parent account " + parent + " is a child of " + a.account()
                            + " on cluster " + cluster.name() + ". Please re-parent " + parent
                            + " before using it as a parent.");
                    return;
                }
                List<Assoc> below = book.tree(cluster.name()).stream()
                        .filter(o ->
                                o.account().equals(a.account()) && !o.user().isEmpty()
                                        || book.isBelow(cluster.name(), o.account(), a.account()))
                        .toList();
                Assoc moved = new Assoc(
                        a.id(), a.cluster(), a.account(), "", "", parent, false, a.limits(), a.created(), c.now, false);
                book.put(moved);
                // named by where it was found
                c.assocs.add(ChangeContext.ref(a));
                below.stream()
                        .filter(o -> o.id() != a.id())
                        .map(ChangeContext::ref)
                        .forEach(c.assocs::add);
                c.log("Modify Associations", a.cluster(), "id_assoc=" + a.id(), c.info());
            }
        }
    }

    /** Sets limits on these, and names also the associations below that get them from these. */
    void limits(List<Assoc> targets) {
        Map<Integer, Map<String, String>> before = new HashMap<>();
        Set<String> clusters = new LinkedHashSet<>();
        targets.forEach(a -> clusters.add(a.cluster()));
        for (String cluster : clusters) {
            book.tree(cluster).forEach(a -> before.put(a.id(), EffectiveLimits.limits(book, a)));
        }
        Set<Integer> set = new LinkedHashSet<>();
        for (Assoc a : targets) {
            Map<String, String> limits = c.limits(a.limits(), LimitField.ASSOC);
            if (!c.errors.isEmpty()) {
                return;
            }
            book.put(new Assoc(
                    a.id(),
                    a.cluster(),
                    a.account(),
                    a.user(),
                    a.partition(),
                    a.parent(),
                    a.isDefault(),
                    limits,
                    a.created(),
                    c.now,
                    false));
            set.add(a.id());
            c.log("Modify Associations", a.cluster(), "id_assoc=" + a.id(), c.info());
        }
        for (String cluster : clusters) {
            for (Assoc a : book.tree(cluster)) {
                Map<String, String> after = EffectiveLimits.limits(book, a);
                String standard = after.getOrDefault("DefaultQOS", "");
                boolean changed = set.contains(a.id())
                        || !a.user().isEmpty() && (!after.equals(before.get(a.id())) || inherits(a, set));
                if (changed
                        && !standard.isEmpty()
                        && !List.of(after.getOrDefault("QOS", "").split(",")).contains(standard)) {
                    if (c.errors.isEmpty()) {
                        c.errors.add(" These associations don't have access to their default qos.\n"
                                + " Please give them access before the default can be set to this.");
                    }
                    c.errors.add(AssocText.standard(standard, ChangeContext.ref(a)));
                }
                if (changed) {
                    c.assocs.add(ChangeContext.ref(a));
                }
            }
        }
    }

    /** Whether something that is set on these comes down to an association that has none of it itself, new or not. */
    private boolean inherits(Assoc a, Set<Integer> targets) {
        for (LimitField field : LimitField.ASSOC) {
            Optional<Assoc> at = Optional.of(a);
            while (c.sets(field.name())
                    && field.inherited()
                    && at.isPresent()
                    && !targets.contains(at.get().id())
                    && at.get().limit(field.name()).isEmpty()) {
                at = book.parent(at.get());
            }
            if (c.sets(field.name())
                    && field.inherited()
                    && at.filter(up -> targets.contains(up.id())).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Whether what is set can be set at all, wherever it would be. */
    boolean checkRequest() {
        if (c.setsLimits(LimitField.ASSOC)) {
            c.limits(Map.of(), LimitField.ASSOC);
        }
        return c.errors.isEmpty();
    }

    void users() {
        if (!checkRequest()) {
            return;
        }
        List<User> meant = List.copyOf(book.usersEver()).stream()
                .filter(u -> !u.deleted() && named("name", u.name()))
                .toList();
        if (c.sets("newname") && !checkRename(meant)) {
            return;
        }
        if (c.sets("adminlevel") && !setAdminLevel(meant)) {
            return;
        }
        if (c.sets("defaultaccount")) {
            meant.forEach(this::defaultAccount);
        }
        if (c.sets("defaultwckey")) {
            meant.forEach(this::defaultWckey);
        }
        if (c.sets("newname") && c.errors.isEmpty()) {
            meant.stream().map(u -> book.user(u.name()).orElse(u)).forEach(this::renamed);
        }
        if (!c.errors.isEmpty() || !c.setsLimits(LimitField.ASSOC)) {
            return;
        }
        limits(associationsOfUsers());
    }

    /** Returns false for an unknown level, with the reason in the errors. */
    private boolean setAdminLevel(List<User> users) {
        Optional<AdminLevel> level = AdminLevels.of(c.set("adminlevel"));
        if (level.isEmpty()) {
            c.errors.add(" Bad admin level '" + c.set("adminlevel") + "'");
            return false;
        }
        users.forEach(u -> {
            book.put(new User(u.name(), level.get(), u.created(), c.now, false));
            named(u);
        });
        return true;
    }

    /** Users' associations that the request names. */
    private List<Assoc> associationsOfUsers() {
        List<Assoc> out = new ArrayList<>();
        for (Cluster cluster : book.clusters()) {
            book.tree(cluster.name()).stream()
                    .filter(a -> !a.user().isEmpty()
                            && named("name", a.user())
                            && named("cluster", cluster.name())
                            && named("account", a.account())
                            && named("partition", a.partition()))
                    .forEach(out::add);
        }
        return out;
    }

    private String newName() {
        return c.rules.preservesUsers()
                ? c.set("newname").strip()
                : c.set("newname").strip().toLowerCase(java.util.Locale.ROOT);
    }

    private boolean checkRename(List<User> meant) {
        String to = newName();
        if (c.where("name").size() != 1 || to.isEmpty()) {
            c.errors.add(" If you are changing a users name you can only specify 1 user at a time.");
        } else if (meant.stream().noneMatch(u -> u.name().equals(to))
                && (book.usersEver().stream().anyMatch(u -> u.name().equals(to) && !u.deleted())
                        || book.assocsEver().stream().anyMatch(a -> a.user().equals(to) && !a.deleted()))) {
            c.errors.add(" Can't modify: the user '" + to + "' is there already");
        }
        return c.errors.isEmpty();
    }

    /** Everything that is a user's becomes that of the new name: a user of the system that the old one has become. */
    private void renamed(User u) {
        if (!u.name().equals(newName())) {
            rename(u, newName());
        }
        if (!c.names.contains(u.name())) {
            c.names.add(u.name());
        }
        c.log("Modify Users", "", u.name(), c.info());
    }

    private void rename(User u, String to) {
        book.put(new User(to, u.adminLevel(), u.created(), c.now, false));
        book.put(new User(u.name(), u.adminLevel(), u.created(), c.now, true));
        List.copyOf(book.assocsEver()).stream()
                .filter(a -> !a.deleted() && a.user().equals(u.name()))
                .forEach(a -> {
                    book.put(new Assoc(
                            a.id(),
                            a.cluster(),
                            a.account(),
                            to,
                            a.partition(),
                            a.parent(),
                            a.isDefault(),
                            a.limits(),
                            a.created(),
                            c.now,
                            false));
                    c.log("Modify Associations", a.cluster(), "id_assoc=" + a.id(), c.info());
                });
        List.copyOf(book.accountsEver()).stream()
                .filter(a -> a.coordinators().contains(u.name()))
                .forEach(a -> book.put(new Account(
                        a.name(),
                        a.description(),
                        a.organization(),
                        a.flags(),
                        a.coordinators().stream()
                                .map(n -> n.equals(u.name()) ? to : n)
                                .toList(),
                        a.created(),
                        c.now,
                        a.deleted())));
        List.copyOf(book.wckeysEver()).stream()
                .filter(w -> !w.deleted() && w.user().equals(u.name()))
                .forEach(w -> book.put(
                        new Wckey(w.id(), w.cluster(), to, w.name(), w.isDefault(), w.created(), c.now, false)));
    }

    private void named(User u) {
        if (!c.names.contains(u.name())) {
            c.names.add(u.name());
        }
        c.log("Modify Users", "", u.name(), c.info());
    }

    private void defaultAccount(User u) {
        String account = c.set("defaultaccount").toLowerCase(java.util.Locale.ROOT);
        for (Cluster cluster : book.clusters()) {
            List<Assoc> own = book.tree(cluster.name()).stream()
                    .filter(a -> a.user().equals(u.name()))
                    .toList();
            if (own.isEmpty() || !named("cluster", cluster.name())) {
                continue;
            }
            if (account.isEmpty() && c.rules.noDefaults()) {
                clearDefault(book, cluster.name(), u.name(), c.now);
                named(u);
                continue;
            }
            if (own.stream().noneMatch(a -> a.account().equals(account))) {
                if (c.errors.isEmpty()) {
                    c.errors.add(" Can't modify because these users aren't associated with new default account '"
                            + account + "'...");
                }
                c.errors.add("  U = " + u.name() + " C = " + cluster.name());
                continue;
            }
            clearDefault(book, cluster.name(), u.name(), c.now);
            for (Assoc a : own) {
                if (a.account().equals(account)) {
                    book.put(withDefault(a, true, c.now));
                }
            }
            named(u);
        }
    }

    static void clearDefault(Book book, String cluster, String user, long now) {
        book.tree(cluster).stream()
                .filter(a -> a.user().equals(user) && a.isDefault())
                .forEach(a -> book.put(withDefault(a, false, now)));
    }

    private static Assoc withDefault(Assoc a, boolean isDefault, long now) {
        return new Assoc(
                a.id(),
                a.cluster(),
                a.account(),
                a.user(),
                a.partition(),
                a.parent(),
                isDefault,
                a.limits(),
                a.created(),
                now,
                false);
    }

    private void defaultWckey(User u) {
        String name = c.set("defaultwckey").toLowerCase(java.util.Locale.ROOT);
        List<Wckey> own = book.wckeysEver().stream()
                .filter(w -> !w.deleted() && w.user().equals(u.name()) && named("cluster", w.cluster()))
                .toList();
        if (own.stream().noneMatch(w -> w.name().equals(name))) {
            c.errors.add(" Can't modify because these users aren't associated with new default wckey '" + name
                    + "'...\n  U = " + u.name()
                    + book.clusters().stream()
                            .filter(k -> named("cluster", k.name()))
                            .map(k -> " C = " + k.name())
                            .findFirst()
                            .orElse(""));
            return;
        }
        own.forEach(w -> book.put(
                new Wckey(w.id(), w.cluster(), w.user(), w.name(), w.name().equals(name), w.created(), c.now, false)));
        named(u);
    }
}
