package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.Entities.Account;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Entity;
import dev.muster.model.accounting.Entities.User;
import dev.muster.model.accounting.Entities.Wckey;
import dev.muster.model.accounting.LimitField;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rights to change the book. {@link #of} is the table: it has every change once. Administrators and operators may
 * make all changes of their level; a coordinator's change is checked when it is made, and dropped if any part of it is
 * outside of the accounts that the coordinator may change.
 */
final class ChangeRights {
    /** The least level for a change. */
    enum Level {
        COORDINATOR,
        OPERATOR,
        ADMINISTRATOR
    }

    /** Settings of a user itself, not of one of its associations. */
    private static final Set<String> OF_USERS = Set.of("adminlevel", "defaultaccount", "defaultwckey", "newname");

    private static final Set<String> OF_ACCOUNTS =
            Set.of("description", "organization", "accountflags", ChangeKeys.FLAGS);

    private final AssocTree before;
    private final AssocTree book;
    private final int written;
    private final String actor;

    /** @param draft before the change */
    ChangeRights(AssocTree draft, String actor) {
        this.before = AssocTree.of(draft);
        this.book = draft;
        this.written = draft.written().size();
        this.actor = actor;
    }

    static Level of(Change change) {
        return switch (change.verb() + " " + change.entity()) {
            case "add qos",
                    "modify qos",
                    "delete qos",
                    "add resource",
                    "modify resource",
                    "delete resource",
                    "add cluster",
                    "delete cluster",
                    "clean cluster" -> Level.ADMINISTRATOR;
            case "modify cluster", "delete account" -> Level.OPERATOR;
            case "add account", "add coordinator", "delete coordinator", "delete user" -> Level.COORDINATOR;
            // operators add operators, and raise no existing user
            case "add user" ->
                switch (AdminLevels.of(change.set().getOrDefault("adminlevel", ""))
                        .orElse(AdminLevel.NONE)) {
                    // a user without an association is in no account of a coordinator
                    case NONE -> change.set().containsKey(ChangeKeys.ALONE) ? Level.OPERATOR : Level.COORDINATOR;
                    case OPERATOR -> Level.OPERATOR;
                    case ADMINISTRATOR -> Level.ADMINISTRATOR;
                };
            case "modify user" ->
                change.set().containsKey("adminlevel") ? Level.ADMINISTRATOR : least(change, OF_USERS);
            case "modify account" -> least(change, OF_ACCOUNTS);
            default -> Level.OPERATOR;
        };
    }

    private static Level least(Change change, Set<String> operators) {
        return change.set().containsKey(ChangeKeys.USAGE)
                        || change.set().keySet().stream().anyMatch(operators::contains)
                ? Level.OPERATOR
                : Level.COORDINATOR;
    }

    /** He coordinates something. */
    boolean isCoordinator() {
        return before.accountNames().stream().anyMatch(a -> coordinates("", a));
    }

    /** Whether the caller coordinates the account in this cluster; a cluster of "" means any. */
    private boolean coordinates(String cluster, String account) {
        return before.clusters().stream()
                .filter(c -> cluster.isEmpty() || c.name().equals(cluster))
                .anyMatch(c -> before.coordinators(c.name(), account).contains(actor));
    }

    /** Everything that was changed is a coordinator's to change. */
    boolean isWithinRealm() {
        List<Entity> made = book.written().subList(written, book.written().size());
        Set<String> changed = new LinkedHashSet<>();
        made.forEach(e -> changed.add(e instanceof Assoc assoc ? assoc.user() : ""));
        return made.stream().allMatch(e -> switch (e) {
            case Assoc assoc -> mayChange(assoc);
            case Account account ->
                before.account(account.name()).isEmpty()
                        || mayChange(before.account(account.name()).get(), account);
            // a new user has no level, and a removed user had only associations that the coordinator may change
            case User user ->
                before.user(user.name()).isEmpty()
                        ? user.adminLevel() == AdminLevel.NONE
                        : user.deleted() && changed.contains(user.name());
            case Wckey wckey -> before.user(wckey.user()).isEmpty() || changed.contains(wckey.user());
            default -> false;
        });
    }

    /** A coordinator may change the coordinators of an account, but not its description and the like. */
    private boolean mayChange(Account before, Account after) {
        return !after.deleted()
                && before.description().equals(after.description())
                && before.organization().equals(after.organization())
                && before.flags().equals(after.flags())
                && coordinates("", after.name());
    }

    private boolean mayChange(Assoc after) {
        if (!after.user().isEmpty()) {
            return coordinates(after.cluster(), after.account()) && (after.deleted() || mayHave(after));
        }
        // the accounts below his own: what these themselves may have is not for him to say
        boolean there = before.assoc(after.id()).isEmpty()
                || coordinates(after.cluster(), before.assoc(after.id()).get().parent());
        return there && !after.deleted() && coordinates(after.cluster(), after.parent()) && mayHave(after);
    }

    private boolean mayHave(Assoc is) {
        return gainsNoQos(is) && LimitField.ASSOC.stream().noneMatch(f -> isMore(is, f));
    }

    /** A coordinator grants only QOS of the account above or of an account that it coordinates. */
    private boolean gainsNoQos(Assoc is) {
        Set<String> gained = qos(book, is);
        before.assoc(is.id()).ifPresent(was -> gained.removeAll(qos(before, was)));
        book.parent(is).ifPresent(above -> gained.removeAll(qos(book, above)));
        before.tree(is.cluster()).stream()
                .filter(a -> a.user().isEmpty()
                        && before.account(a.account())
                                .filter(own -> own.coordinators().contains(actor))
                                .isPresent())
                .forEach(a -> gained.removeAll(qos(before, a)));
        return gained.isEmpty();
    }

    private static Set<String> qos(AssocTree of, Assoc assoc) {
        Set<String> out = new LinkedHashSet<>(List.of(
                EffectiveLimits.limits(of, assoc).getOrDefault("QOS", "").split(",")));
        out.remove("");
        return out;
    }

    /** A limit that takes the place of the one above it was set to more than that is. */
    private boolean isMore(Assoc is, LimitField field) {
        String value = is.limit(field.name());
        boolean inherited = field.inherited()
                && field.name().startsWith("Max")
                && !value.isEmpty()
                && !value.equals(before.assoc(is.id())
                        .map(was -> was.limit(field.name()))
                        .orElse(""));
        String above = inherited
                ? book.parent(is)
                        .map(p -> EffectiveLimits.limits(book, p).getOrDefault(field.name(), ""))
                        .orElse("")
                : "";
        if (above.isEmpty()) {
            return false;
        }
        return field.kind() == LimitField.Kind.TRES
                ? amounts(value).entrySet().stream().anyMatch(e -> isMore(e.getValue(), amounts(above), e.getKey()))
                : isMore(Long.parseLong(value), Map.of("", Long.parseLong(above)), "");
    }

    private static boolean isMore(long value, Map<String, Long> above, String limit) {
        return above.containsKey(limit) && (value < 0 || value > above.get(limit));
    }

    private static Map<String, Long> amounts(String text) {
        Map<String, Long> out = new java.util.TreeMap<>();
        for (String item : text.split(",")) {
            int equalSign = item.indexOf('=');
            out.put(item.substring(0, equalSign), Long.parseLong(item.substring(equalSign + 1)));
        }
        return out;
    }

    /** Whether an admin level alone suffices; coordinators are checked apart. */
    static boolean suffices(AdminLevel has, Level least) {
        return switch (least) {
            case COORDINATOR, OPERATOR -> has != AdminLevel.NONE;
            case ADMINISTRATOR -> has == AdminLevel.ADMINISTRATOR;
        };
    }
}
