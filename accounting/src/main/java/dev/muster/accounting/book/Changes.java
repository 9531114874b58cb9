package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.DbdMessages.Changed;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.accounting.Entities.User;
import java.util.List;
import java.util.Optional;

/** One change of a user to a draft of the book. Either all of it is done or nothing, with sentences why. */
public final class Changes {
    /** Slurm's number for a refusal by permission. */
    static final int ACCESS_DENIED = 2002;

    private final ChangeContext c;
    private final AdminLevel level;
    private final ChangeRights rights;

    /**
     * @param actor the caller's user name
     * @param superuser root or SlurmUser
     * @param now seconds since 1970
     */
    public Changes(Book draft, String actor, boolean superuser, Change change, long now) {
        this(draft, actor, superuser, change, now, ChangeRules.STANDARD);
    }

    public Changes(Book draft, String actor, boolean superuser, Change change, long now, ChangeRules rules) {
        c = new ChangeContext(draft, actor, change, now, rules);
        level = superuser
                ? AdminLevel.ADMINISTRATOR
                : draft.user(actor).map(User::adminLevel).orElse(AdminLevel.NONE);
        rights = new ChangeRights(draft, actor);
    }

    /** Does it. */
    public Changed run() {
        if (!permitted()) {
            return denied();
        }
        Optional<String> refused = RequestFilters.refused(c.change);
        if (refused.isPresent()) {
            c.errors.add(refused.get());
            return c.result();
        }
        if (c.change.verb().equals("delete")
                && c.change.where().values().stream().allMatch(String::isBlank)) {
            c.errors.add(" No conditions given to remove, not executing.");
            return c.result();
        }
        if (c.sets("Flags") && List.of("user", "cluster").contains(c.change.entity())) {
            c.errors.add(" The setting 'Flags' of '" + c.change.verb() + " " + c.change.entity()
                    + "' is not supported by this version");
            return c.result();
        }
        String what = c.change.verb() + " " + c.change.entity();
        if (c.change.verb().equals("modify") && c.sets(ChangeKeys.USAGE)) {
            new UsageResets(c).run();
            return c.result();
        }
        switch (what) {
            case "add cluster" -> new ClusterChanges(c).add();
            case "clean cluster" -> new ClusterChanges(c).clean();
            case "add account" -> new TreeChanges(c).addAccounts();
            case "add user" -> new TreeChanges(c).addUsers();
            case "add coordinator" -> new CoordinatorChanges(c).run(true);
            case "delete coordinator" -> new CoordinatorChanges(c).run(false);
            case "add qos", "modify qos", "delete qos" -> new QosChanges(c).run();
            case "add resource", "modify resource", "delete resource" -> new ResourceChanges(c).run();
            case "modify cluster" -> new ClusterChanges(c).modify();
            case "modify account" -> new TreeUpdates(c).accounts();
            case "modify user" -> new TreeUpdates(c).users();
            case "delete cluster" -> new ClusterChanges(c).delete();
            case "delete account" -> new Removals(c).accounts();
            case "delete user" -> new Removals(c).users();
            default -> c.errors.add("Requested operation not supported on this system");
        }
        return c.errors.isEmpty() && level == AdminLevel.NONE && !rights.isWithinRealm() ? denied() : c.result();
    }

    private Changed denied() {
        c.errno = ACCESS_DENIED;
        c.errors.add("Access/permission denied");
        return c.result();
    }

    private boolean permitted() {
        return ChangeRights.suffices(level, ChangeRights.of(c.change))
                || c.rules.coordinators()
                        && ChangeRights.of(c.change) == ChangeRights.Level.COORDINATOR
                        && rights.isCoordinator();
    }
}
