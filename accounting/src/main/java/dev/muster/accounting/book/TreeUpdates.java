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
    private final ChangeContext context;
    private final AssocTree book;

    TreeUpdates(ChangeContext changes) {
        this.context = changes;
        this.book = changes.book;
    }

    private boolean named(String key, String value) {
        return context.fits(key, value);
    }

    void accounts() {
        if (!checkRequest()) {
            return;
        }
        if (context.sets("description")
                || context.sets("organization")
                || context.sets("accountflags")
                || context.sets(ChangeKeys.FLAGS)) {
            records();
        }
        if (context.sets("parent")) {
            reparent();
        }
        if (context.setsLimits(LimitField.ASSOC) && context.errors.isEmpty()) {
            List<Assoc> touched = new ArrayList<>();
            for (Cluster cluster : book.clusters()) {
                // of the accounts' users where these are named
                book.tree(cluster.name()).stream()
                        .filter(a -> (context.where("user").isEmpty() ? a.user().isEmpty() : named("user", a.user()))
                                && named("cluster", cluster.name())
                                && named("name", a.account())
                                && named("parent", a.parent()))
                        .forEach(touched::add);
            }
            limits(touched);
        }
    }

    private void records() {
        for (Account account : List.copyOf(book.accountsEver())) {
            if (!account.deleted()
                    && named("name", account.name())
                    && (context.where("organization").isEmpty() || named("organization", account.organization()))
                    && (context.where("description").isEmpty() || named("description", account.description()))) {
                book.put(new Account(
                        account.name(),
                        context.sets("description") ? context.set("description") : account.description(),
                        context.sets("organization") ? context.set("organization") : account.organization(),
                        context.accountFlags(account.flags()),
                        account.coordinators(),
                        account.created(),
                        context.now,
                        false));
                context.names.add(account.name());
                context.log("Modify Accounts", "", account.name(), context.info());
            }
        }
    }

    private void reparent() {
        String parent = context.set("parent").toLowerCase(java.util.Locale.ROOT);
        for (Cluster cluster : book.clusters()) {
            for (Assoc assoc : book.tree(cluster.name())) {
                boolean meant = assoc.user().isEmpty()
                        && named("cluster", cluster.name())
                        && named("name", assoc.account())
                        && !assoc.account().equals(AssocTree.ROOT);
                if (meant && book.account(parent).isEmpty()) {
                    context.errors.add("  Parent account " + parent + " doesn't exist on cluster " + cluster.name());
                    return;
                }
                if (!meant
                        || assoc.parent().equals(parent)
                        || book.assoc(cluster.name(), parent, "", "").isEmpty()) {
                    continue;
                }
                if (parent.equals(assoc.account()) || book.isBelow(cluster.name(), parent, assoc.account())) {
                    context.errors.add("  Requested parent account " + parent + " is a child of " + assoc.account()
                            + " on cluster " + cluster.name() + ". Please re-parent " + parent
                            + " before using it as a parent.");
                    return;
                }
                List<Assoc> below = book.tree(cluster.name()).stream()
                        .filter(o ->
                                o.account().equals(assoc.account()) && !o.user().isEmpty()
                                        || book.isBelow(cluster.name(), o.account(), assoc.account()))
                        .toList();
                Assoc moved = new Assoc(
                        assoc.id(),
                        assoc.cluster(),
                        assoc.account(),
                        "",
                        "",
                        parent,
                        false,
                        assoc.limits(),
                        assoc.created(),
                        context.now,
                        false);
                book.put(moved);
                // named by where it was found
                context.assocs.add(ChangeContext.ref(assoc));
                below.stream()
                        .filter(o -> o.id() != assoc.id())
                        .map(ChangeContext::ref)
                        .forEach(context.assocs::add);
                context.log("Modify Associations", assoc.cluster(), "id_assoc=" + assoc.id(), context.info());
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
        for (Assoc assoc : targets) {
            Map<String, String> limits = context.limits(assoc.limits(), LimitField.ASSOC);
            if (!context.errors.isEmpty()) {
                return;
            }
            book.put(new Assoc(
                    assoc.id(),
                    assoc.cluster(),
                    assoc.account(),
                    assoc.user(),
                    assoc.partition(),
                    assoc.parent(),
                    assoc.isDefault(),
                    limits,
                    assoc.created(),
                    context.now,
                    false));
            set.add(assoc.id());
            context.log("Modify Associations", assoc.cluster(), "id_assoc=" + assoc.id(), context.info());
        }
        for (String cluster : clusters) {
            for (Assoc assoc : book.tree(cluster)) {
                Map<String, String> after = EffectiveLimits.limits(book, assoc);
                String standard = after.getOrDefault("DefaultQOS", "");
                boolean changed = set.contains(assoc.id())
                        || !assoc.user().isEmpty() && (!after.equals(before.get(assoc.id())) || inherits(assoc, set));
                if (changed
                        && !standard.isEmpty()
                        && !List.of(after.getOrDefault("QOS", "").split(",")).contains(standard)) {
                    if (context.errors.isEmpty()) {
                        context.errors.add(" These associations don't have access to their default qos.\n"
                                + " Please give them access before the default can be set to this.");
                    }
                    context.errors.add(AssocText.standard(standard, ChangeContext.ref(assoc)));
                }
                if (changed) {
                    context.assocs.add(ChangeContext.ref(assoc));
                }
            }
        }
    }

    /** Whether something that is set on these comes down to an association that has none of it itself, new or not. */
    private boolean inherits(Assoc assoc, Set<Integer> targets) {
        for (LimitField field : LimitField.ASSOC) {
            Optional<Assoc> at = Optional.of(assoc);
            while (context.sets(field.name())
                    && field.inherited()
                    && at.isPresent()
                    && !targets.contains(at.get().id())
                    && at.get().limit(field.name()).isEmpty()) {
                at = book.parent(at.get());
            }
            if (context.sets(field.name())
                    && field.inherited()
                    && at.filter(up -> targets.contains(up.id())).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Whether what is set can be set at all, wherever it would be. */
    boolean checkRequest() {
        if (context.setsLimits(LimitField.ASSOC)) {
            context.limits(Map.of(), LimitField.ASSOC);
        }
        return context.errors.isEmpty();
    }

    void users() {
        if (!checkRequest()) {
            return;
        }
        List<User> users = List.copyOf(book.usersEver()).stream()
                .filter(u -> !u.deleted() && named("name", u.name()))
                .toList();
        if (context.sets("newname") && !checkRename(users)) {
            return;
        }
        if (context.sets("adminlevel") && !setAdminLevel(users)) {
            return;
        }
        if (context.sets("defaultaccount")) {
            users.forEach(this::defaultAccount);
        }
        if (context.sets("defaultwckey")) {
            users.forEach(this::defaultWckey);
        }
        if (context.sets("newname") && context.errors.isEmpty()) {
            users.stream().map(u -> book.user(u.name()).orElse(u)).forEach(this::renamed);
        }
        if (!context.errors.isEmpty() || !context.setsLimits(LimitField.ASSOC)) {
            return;
        }
        limits(associationsOfUsers());
    }

    /** Returns false for an unknown level, with the reason in the errors. */
    private boolean setAdminLevel(List<User> users) {
        Optional<AdminLevel> level = AdminLevels.of(context.set("adminlevel"));
        if (level.isEmpty()) {
            context.errors.add(" Bad admin level '" + context.set("adminlevel") + "'");
            return false;
        }
        users.forEach(u -> {
            book.put(new User(u.name(), level.get(), u.created(), context.now, false));
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
        return context.rules.preservesUsers()
                ? context.set("newname").strip()
                : context.set("newname").strip().toLowerCase(java.util.Locale.ROOT);
    }

    private boolean checkRename(List<User> users) {
        String to = newName();
        if (context.where("name").size() != 1 || to.isEmpty()) {
            context.errors.add(" If you are changing a users name you can only specify 1 user at a time.");
        } else if (users.stream().noneMatch(u -> u.name().equals(to))
                && (book.usersEver().stream().anyMatch(u -> u.name().equals(to) && !u.deleted())
                        || book.assocsEver().stream().anyMatch(a -> a.user().equals(to) && !a.deleted()))) {
            context.errors.add(" Can't modify: the user '" + to + "' is there already");
        }
        return context.errors.isEmpty();
    }

    /** Everything that is a user's becomes that of the new name: a user of the system that the old one has become. */
    private void renamed(User user) {
        if (!user.name().equals(newName())) {
            rename(user, newName());
        }
        if (!context.names.contains(user.name())) {
            context.names.add(user.name());
        }
        context.log("Modify Users", "", user.name(), context.info());
    }

    private void rename(User user, String to) {
        book.put(new User(to, user.adminLevel(), user.created(), context.now, false));
        book.put(new User(user.name(), user.adminLevel(), user.created(), context.now, true));
        List.copyOf(book.assocsEver()).stream()
                .filter(a -> !a.deleted() && a.user().equals(user.name()))
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
                            context.now,
                            false));
                    context.log("Modify Associations", a.cluster(), "id_assoc=" + a.id(), context.info());
                });
        List.copyOf(book.accountsEver()).stream()
                .filter(a -> a.coordinators().contains(user.name()))
                .forEach(a -> book.put(new Account(
                        a.name(),
                        a.description(),
                        a.organization(),
                        a.flags(),
                        a.coordinators().stream()
                                .map(n -> n.equals(user.name()) ? to : n)
                                .toList(),
                        a.created(),
                        context.now,
                        a.deleted())));
        List.copyOf(book.wckeysEver()).stream()
                .filter(w -> !w.deleted() && w.user().equals(user.name()))
                .forEach(w -> book.put(
                        new Wckey(w.id(), w.cluster(), to, w.name(), w.isDefault(), w.created(), context.now, false)));
    }

    private void named(User user) {
        if (!context.names.contains(user.name())) {
            context.names.add(user.name());
        }
        context.log("Modify Users", "", user.name(), context.info());
    }

    private void defaultAccount(User user) {
        String account = context.set("defaultaccount").toLowerCase(java.util.Locale.ROOT);
        for (Cluster cluster : book.clusters()) {
            List<Assoc> assocs = book.tree(cluster.name()).stream()
                    .filter(a -> a.user().equals(user.name()))
                    .toList();
            if (assocs.isEmpty() || !named("cluster", cluster.name())) {
                continue;
            }
            if (account.isEmpty() && context.rules.noDefaults()) {
                clearDefault(book, cluster.name(), user.name(), context.now);
                named(user);
                continue;
            }
            if (assocs.stream().noneMatch(a -> a.account().equals(account))) {
                if (context.errors.isEmpty()) {
                    context.errors.add(" Can't modify because these users aren't associated with new default account '"
                            + account + "'...");
                }
                context.errors.add("  U = " + user.name() + " C = " + cluster.name());
                continue;
            }
            clearDefault(book, cluster.name(), user.name(), context.now);
            for (Assoc assoc : assocs) {
                if (assoc.account().equals(account)) {
                    book.put(withDefault(assoc, true, context.now));
                }
            }
            named(user);
        }
    }

    static void clearDefault(AssocTree book, String cluster, String user, long now) {
        book.tree(cluster).stream()
                .filter(a -> a.user().equals(user) && a.isDefault())
                .forEach(a -> book.put(withDefault(a, false, now)));
    }

    private static Assoc withDefault(Assoc assoc, boolean isDefault, long now) {
        return new Assoc(
                assoc.id(),
                assoc.cluster(),
                assoc.account(),
                assoc.user(),
                assoc.partition(),
                assoc.parent(),
                isDefault,
                assoc.limits(),
                assoc.created(),
                now,
                false);
    }

    private void defaultWckey(User user) {
        String name = context.set("defaultwckey").toLowerCase(java.util.Locale.ROOT);
        List<Wckey> wckeys = book.wckeysEver().stream()
                .filter(w -> !w.deleted() && w.user().equals(user.name()) && named("cluster", w.cluster()))
                .toList();
        if (wckeys.stream().noneMatch(w -> w.name().equals(name))) {
            context.errors.add(" Can't modify because these users aren't associated with new default wckey '" + name
                    + "'...\n  U = " + user.name()
                    + book.clusters().stream()
                            .filter(k -> named("cluster", k.name()))
                            .map(k -> " C = " + k.name())
                            .findFirst()
                            .orElse(""));
            return;
        }
        wckeys.forEach(w -> book.put(new Wckey(
                w.id(), w.cluster(), w.user(), w.name(), w.name().equals(name), w.created(), context.now, false)));
        named(user);
    }
}
