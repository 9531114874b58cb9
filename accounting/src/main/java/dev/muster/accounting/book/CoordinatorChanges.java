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
        if (!c.errors.isEmpty()) {
            return;
        }
        for (Account a : List.copyOf(c.book.accountsEver())) {
            boolean meant = !a.deleted() && (accounts.contains(a.name()) || accounts.isEmpty() && !add);
            if (!meant) {
                continue;
            }
            List<String> left = new ArrayList<>(a.coordinators());
            for (String user : users.isEmpty() && !add ? a.coordinators() : users) {
                if (add ? !left.contains(user) && left.add(user) : left.remove(user)) {
                    c.assocs.add(new AssocRef("", a.name(), user, "", ""));
                    c.log(add ? "Add Account Coord" : "Remove Account Coord", "", user, a.name());
                }
            }
            if (!left.equals(a.coordinators())) {
                c.book.put(new Account(
                        a.name(),
                        a.description(),
                        a.organization(),
                        a.flags(),
                        List.copyOf(left),
                        a.created(),
                        c.now,
                        false));
            }
        }
        c.names.addAll(users);
        c.more.addAll(accounts);
    }
}
