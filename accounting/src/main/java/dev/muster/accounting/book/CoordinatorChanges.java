package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.AssocRef;
import dev.muster.model.accounting.Entities.Account;
import java.util.ArrayList;
import java.util.List;

/** Changes of accounts' coordinators. */
final class CoordinatorChanges {
    private final ChangeContext c;

    CoordinatorChanges(ChangeContext context) {
        this.c = context;
    }

    /** @param add they become coordinators, else they are no longer */
    void run(boolean add) {
        List<String> users = c.where("name");
        List<String> accounts = c.where("account");
        if (add && (users.isEmpty() || accounts.isEmpty())) {
            c.errors.add(" You need to specify " + (users.isEmpty() ? "a user" : "an account") + " list here.");
            return;
        }
        refuseUnknownNames(accounts, users);
        if (!c.errors.isEmpty()) {
            return;
        }
        for (Account a : List.copyOf(c.book.accountsEver())) {
            boolean meant = !a.deleted() && (accounts.contains(a.name()) || accounts.isEmpty() && !add);
            if (!meant) {
                continue;
            }
            update(a, users.isEmpty() && !add ? a.coordinators() : users, add);
        }
        c.names.addAll(users);
        c.more.addAll(accounts);
    }

    private void refuseUnknownNames(List<String> accounts, List<String> users) {
        for (String account : accounts) {
            if (c.book.account(account).isEmpty()) {
                c.errors.add(" You specified a non-existent account '" + account + "'.");
            }
        }
        for (String user : users) {
            if (c.book.user(user).isEmpty()) {
                c.errors.add(" You specified a non-existent user '" + user + "'.");
            }
        }
    }

    /** Adds users to an account's coordinators or removes them, and stores the account if that changed them. */
    private void update(Account a, List<String> users, boolean add) {
        List<String> coordinators = new ArrayList<>(a.coordinators());
        for (String user : users) {
            if (add ? !coordinators.contains(user) && coordinators.add(user) : coordinators.remove(user)) {
                c.assocs.add(new AssocRef("", a.name(), user, "", ""));
                c.log(add ? "Add Account Coord" : "Remove Account Coord", "", user, a.name());
            }
        }
        if (!coordinators.equals(a.coordinators())) {
            c.book.put(new Account(
                    a.name(),
                    a.description(),
                    a.organization(),
                    a.flags(),
                    List.copyOf(coordinators),
                    a.created(),
                    c.now,
                    false));
        }
    }
}
