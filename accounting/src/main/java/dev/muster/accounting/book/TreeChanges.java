package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.Account;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Cluster;
import dev.muster.model.accounting.Entities.User;
import dev.muster.model.accounting.Entities.Wckey;
import dev.muster.model.accounting.LimitField;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** New accounts and users with their associations. */
final class TreeChanges {
    private static final String NOTHING_ADDED =
            "Nothing added.\nMake sure the accounts requested here have been added to the system/cluster. "
                    + "(sacctmgr add account...)";
    private final ChangeContext context;
    private final AssocTree book;

    TreeChanges(ChangeContext changes) {
        this.context = changes;
        this.book = changes.book;
    }

    /** Returns the named clusters, or all clusters if the change names none. */
    private List<String> clusters() {
        List<String> named = context.where("cluster");
        return named.isEmpty() ? book.clusters().stream().map(Cluster::name).toList() : named;
    }

    void addAccounts() {
        List<String> names = context.where("name");
        if (names.isEmpty()) {
            context.errors.add(" Need name of account to add.");
            return;
        }
        List<String> clusters = clusters();
        String parent = context.set("parent").isEmpty()
                ? AssocTree.ROOT
                : context.set("parent").toLowerCase(java.util.Locale.ROOT);
        for (String cluster : clusters) {
            if (book.cluster(cluster).isEmpty()) {
                context.errors.add(" error: Cluster '" + cluster
                        + "' has not been added yet, please contact your admin before adding accounts to it");
            } else if (context.errors.isEmpty()
                    && book.assoc(cluster, parent, "", "").isEmpty()) {
                context.errors.add(" error: No parent account '" + parent + "' on cluster '" + cluster + "'");
            }
        }
        TreeMap<String, String> limits = context.limits(Map.of("Fairshare", "1"), LimitField.ASSOC);
        if (!context.errors.isEmpty()) {
            return;
        }
        for (String name : names) {
            account(name);
            for (String cluster : clusters) {
                associate(cluster, name, "", "", parent, false, limits);
            }
        }
        if (context.names.isEmpty() && context.assocs.isEmpty()) {
            context.errors.add(" Nothing new added.");
        }
    }

    private void account(String name) {
        if (book.account(name).isPresent()) {
            return;
        }
        String organization;
        if (!context.set("organization").isEmpty()) {
            organization = context.set("organization");
        } else if (List.of("", AssocTree.ROOT).contains(context.set("parent"))) {
            organization = name;
        } else {
            organization = context.set("parent");
        }

        book.put(new Account(
                name,
                context.set("description").isEmpty() ? name : context.set("description"),
                organization,
                context.accountFlags(""),
                List.of(),
                context.now,
                context.now,
                false));
        context.names.add(name);
        context.log("Add Accounts", "", name, context.info());
    }

    /** Makes an association that is not there yet, or brings a deleted one back; says whether it did. */
    private boolean associate(
            String cluster,
            String account,
            String user,
            String partition,
            String parent,
            boolean isDefault,
            Map<String, String> limits) {
        Optional<Assoc> ever = book.assocEver(cluster, account, user, partition);
        if (ever.isPresent() && !ever.get().deleted()) {
            return false;
        }
        Assoc made = new Assoc(
                ever.map(Assoc::id).orElseGet(book::nextAssoc),
                cluster,
                account,
                user,
                partition,
                parent,
                isDefault,
                limits,
                context.now,
                context.now,
                false);
        book.put(made);
        context.assocs.add(ChangeContext.ref(made));
        context.log("Add Associations", cluster, "id_assoc=" + made.id(), context.info());
        return true;
    }

    void addUsers() {
        List<String> names = context.where("name");
        if (names.isEmpty()) {
            context.errors.add(" Need name of user to add.");
            return;
        }
        String defaultAccount = context.set("defaultaccount").toLowerCase(java.util.Locale.ROOT);
        List<String> accounts = accountsWithDefault(defaultAccount);
        List<String> wckeys = wckeysWithDefaultFirst();
        boolean alone = context.set(ChangeKeys.ALONE).equals("yes");
        if (accounts.isEmpty() && wckeys.isEmpty() && !alone) {
            context.errors.add(" Need name of account or wckey to add.");
            return;
        }
        List<String> clusters = clusters();
        TreeMap<String, String> limits = context.limits(Map.of("Fairshare", "1"), LimitField.ASSOC);
        if (!context.errors.isEmpty()) {
            return;
        }
        List<String> skipped = missing(accounts, clusters);
        if (!accounts.isEmpty() && skipped.size() == accounts.size() * clusters.size()) {
            refuseSkipped(skipped);
            return;
        }
        context.more.addAll(skipped);
        AdminLevel level = AdminLevels.of(context.set("adminlevel")).orElse(AdminLevel.NONE);
        for (String name : names) {
            addUser(name, level);
            for (String cluster : clusters) {
                associations(name, cluster, accounts, defaultAccount, limits);
                for (String wckey : wckeys) {
                    wckey(cluster, name, wckey);
                }
            }
        }
        if (context.names.isEmpty() && context.assocs.isEmpty() && context.more.size() == skipped.size()) {
            context.errors.add(" Nothing new added.");
        }
    }

    private void addUser(String name, AdminLevel level) {
        if (book.user(name).isEmpty()) {
            book.put(new User(name, level, context.now, context.now, false));
            context.names.add(name);
            context.log("Add Users", "", name, "admin_level=" + level.ordinal());
        }
    }

    private void refuseSkipped(List<String> skipped) {
        skipped.forEach(s -> context.errors.add("No account " + s.substring(s.indexOf('\n') + 1) + " on cluster "
                + s.substring(0, s.indexOf('\n')) + ", skipping."));
        context.errors.add(NOTHING_ADDED);
    }

    private List<String> accountsWithDefault(String defaultAccount) {
        List<String> accounts = new ArrayList<>(context.where("account"));
        if (!defaultAccount.isEmpty() && !accounts.contains(defaultAccount)) {
            accounts.add(defaultAccount);
        }
        return accounts;
    }

    private List<String> wckeysWithDefaultFirst() {
        List<String> wckeys = new ArrayList<>(context.where("wckey"));
        String defaultWckey = context.set("defaultwckey").toLowerCase(java.util.Locale.ROOT);
        if (!defaultWckey.isEmpty() && !wckeys.contains(defaultWckey)) {
            wckeys.addFirst(defaultWckey);
        }
        return wckeys;
    }

    /** Returns the accounts that are missing on a cluster, as cluster and name. Users are not added to them. */
    private List<String> missing(List<String> accounts, List<String> clusters) {
        List<String> out = new ArrayList<>();
        for (String cluster : clusters) {
            accounts.stream()
                    .filter(account -> book.assoc(cluster, account, "", "").isEmpty())
                    .forEach(account -> out.add(cluster + "\n" + account));
        }
        return out;
    }

    private void associations(
            String user, String cluster, List<String> accounts, String defaultAccount, Map<String, String> limits) {
        List<String> partitions = context.where("partition").isEmpty() ? List.of("") : context.where("partition");
        for (String account : accounts) {
            if (book.assoc(cluster, account, "", "").isEmpty()) {
                continue;
            }
            for (String partition : partitions) {
                List<Assoc> defaults = book.tree(cluster).stream()
                        .filter(a -> a.user().equals(user) && a.isDefault())
                        .toList();
                boolean first = defaultAccount.isEmpty()
                        ? defaults.isEmpty() && !context.rules.noDefaults()
                        : account.equals(defaultAccount);
                if (first && defaults.stream().anyMatch(a -> !a.account().equals(account))) {
                    TreeUpdates.clearDefault(book, cluster, user, context.now);
                }
                associate(cluster, account, user, partition, "", first, limits);
            }
        }
    }

    private void wckey(String cluster, String user, String name) {
        Optional<Wckey> ever = book.wckeysEver().stream()
                .filter(w -> w.cluster().equals(cluster)
                        && w.user().equals(user)
                        && w.name().equals(name))
                .findFirst();
        if (ever.isPresent() && !ever.get().deleted()) {
            return;
        }
        // only the named one: the wckey that a user wants to be charged to is not guessed
        boolean isDefault = context.set("defaultwckey").equalsIgnoreCase(name);
        book.put(new Wckey(
                ever.map(Wckey::id).orElseGet(book::nextWckey),
                cluster,
                user,
                name,
                isDefault,
                context.now,
                context.now,
                false));
        context.more.add(cluster + "\n" + user + "\n" + name);
        context.log("Add WCKeys", cluster, name, "user='" + user + "'");
    }
}
