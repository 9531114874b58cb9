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

    private final ChangeContext context;
    private final AdminLevel level;
    private final ChangeRights rights;

    /**
     * @param actor the caller's user name
     * @param superuser root or SlurmUser
     * @param now seconds since 1970
     */
    public Changes(AssocTree draft, String actor, boolean superuser, Change change, long now) {
        this(draft, actor, superuser, change, now, ChangeRules.STANDARD);
    }

    public Changes(AssocTree draft, String actor, boolean superuser, Change change, long now, ChangeRules rules) {
        context = new ChangeContext(draft, actor, change, now, rules);
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
        Optional<String> refused = RequestFilters.refused(context.change);
        if (refused.isPresent()) {
            context.errors.add(refused.get());
            return context.result();
        }
        if (context.change.verb().equals("delete")
                && context.change.where().values().stream().allMatch(String::isBlank)) {
            context.errors.add(" No conditions given to remove, not executing.");
            return context.result();
        }
        if (context.sets("Flags") && List.of("user", "cluster").contains(context.change.entity())) {
            context.errors.add(" The setting 'Flags' of '" + context.change.verb() + " " + context.change.entity()
                    + "' is not supported by this version");
            return context.result();
        }
        String action = context.change.verb() + " " + context.change.entity();
        if (context.change.verb().equals("modify") && context.sets(ChangeKeys.USAGE)) {
            new UsageResets(context).run();
            return context.result();
        }
        switch (action) {
            case "add cluster" -> new ClusterChanges(context).add();
            case "clean cluster" -> new ClusterChanges(context).clean();
            case "add account" -> new TreeChanges(context).addAccounts();
            case "add user" -> new TreeChanges(context).addUsers();
            case "add coordinator" -> new CoordinatorChanges(context).run(true);
            case "delete coordinator" -> new CoordinatorChanges(context).run(false);
            case "add qos", "modify qos", "delete qos" -> new QosChanges(context).run();
            case "add resource", "modify resource", "delete resource" -> new ResourceChanges(context).run();
            case "modify cluster" -> new ClusterChanges(context).modify();
            case "modify account" -> new TreeUpdates(context).accounts();
            case "modify user" -> new TreeUpdates(context).users();
            case "delete cluster" -> new ClusterChanges(context).delete();
            case "delete account" -> new Removals(context).accounts();
            case "delete user" -> new Removals(context).users();
            default -> context.errors.add("Requested operation not supported on this system");
        }
        return context.errors.isEmpty() && level == AdminLevel.NONE && !rights.isWithinRealm()
                ? denied()
                : context.result();
    }

    private Changed denied() {
        context.errno = ACCESS_DENIED;
        context.errors.add("Access/permission denied");
        return context.result();
    }

    private boolean permitted() {
        return ChangeRights.suffices(level, ChangeRights.of(context.change))
                || context.rules.coordinators()
                        && ChangeRights.of(context.change) == ChangeRights.Level.COORDINATOR
                        && rights.isCoordinator();
    }
}
