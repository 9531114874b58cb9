package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.AssocRef;
import dev.muster.model.accounting.Entities.Account;
import java.util.ArrayList;
import java.util.List;

/** Changes of accounts' coordinators. */
final class CoordinatorChanges {
    private final ChangeContext context;

    CoordinatorChanges(ChangeContext context) {
        this.context = context;
    }

    /** @param add they become coordinators, else they are no longer */
    void run(boolean add) {
        List<String> users = context.where("name");
        List<String> accounts = context.where("account");
        if (add && (users.isEmpty() || accounts.isEmpty())) {
            context.errors.add(" You need to specify " + (users.isEmpty() ? "a user" : "an account") + " list here.");
            return;
        }
        refuseUnknownNames(accounts, users);
        if (!context.errors.isEmpty()) {
            return;
        }
        for (Account account : List.copyOf(context.book.accountsEver())) {
            boolean meant = !account.deleted() && (accounts.contains(account.name()) || accounts.isEmpty() && !add);
            if (!meant) {
                continue;
            }
            update(account, users.isEmpty() && !add ? account.coordinators() : users, add);
        }
        context.names.addAll(users);
        context.more.addAll(accounts);
    }

    private void refuseUnknownNames(List<String> accounts, List<String> users) {
        for (String account : accounts) {
            if (context.book.account(account).isEmpty()) {
                context.errors.add(" You specified a non-existent account '" + account + "'.");
            }
        }
        for (String user : users) {
            if (context.book.user(user).isEmpty()) {
                context.errors.add(" You specified a non-existent user '" + user + "'.");
            }
        }
    }

    /** Adds users to an account's coordinators or removes them, and stores the account if that changed them. */
    private void update(Account account, List<String> users, boolean add) {
        List<String> coordinators = new ArrayList<>(account.coordinators());
        for (String user : users) {
            if (add ? !coordinators.contains(user) && coordinators.add(user) : coordinators.remove(user)) {
                context.assocs.add(new AssocRef("", account.name(), user, "", ""));
                context.log(add ? "Add Account Coord" : "Remove Account Coord", "", user, account.name());
            }
        }
        if (!coordinators.equals(account.coordinators())) {
            context.book.put(new Account(
                    account.name(),
                    account.description(),
                    account.organization(),
                    account.flags(),
                    List.copyOf(coordinators),
                    account.created(),
                    context.now,
                    false));
        }
    }
}
