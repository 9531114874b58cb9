package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.AssocRef;
import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.DbdMessages.Changed;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.LimitField;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A change to a draft of the book: what it says, and what it has done so far. */
final class ChangeContext {
    private static final int ERROR = -1;

    final AssocTree book;
    final String actor;
    final Change change;
    final long now;
    final List<String> names = new ArrayList<>();
    final List<AssocRef> assocs = new ArrayList<>();
    final List<String> more = new ArrayList<>();
    final List<String> errors = new ArrayList<>();
    final ChangeRules rules;
    int errno = ERROR;

    /**
     * @param actor the caller's user name
     * @param now seconds since 1970
     */
    ChangeContext(AssocTree draft, String actor, Change change, long now, ChangeRules rules) {
        this.book = draft;
        this.actor = actor;
        this.change = change;
        this.now = now;
        this.rules = rules;
    }

    /** The end: what was done, or why nothing was. */
    Changed result() {
        return new Changed(
                List.copyOf(names),
                List.copyOf(assocs),
                List.copyOf(more),
                List.copyOf(errors),
                errors.isEmpty() ? 0 : errno);
    }

    // ---- words

    /** Names in lower case, as Slurm keeps them. */
    static List<String> list(Map<String, String> from, String key) {
        return list(from, key, false);
    }

    private static List<String> list(Map<String, String> from, String key, boolean asTyped) {
        List<String> out = new ArrayList<>();
        for (String word : from.getOrDefault(key, "").split(",")) {
            String name = asTyped ? word.strip() : word.strip().toLowerCase(Locale.ROOT);
            if (!name.isEmpty() && !out.contains(name)) {
                out.add(name);
            }
        }
        return out;
    }

    /** Whether a value fits the condition; one that is given and empty wants the empty value. */
    boolean fits(String key, String value) {
        List<String> wanted = where(key);
        return wanted.isEmpty() ? !change.where().containsKey(key) || value.isEmpty() : wanted.contains(value);
    }

    List<String> where(String key) {
        boolean users = key.equals("user")
                || key.equals("name") && List.of("user", "coordinator").contains(change.entity());
        boolean resources = key.equals("name") && change.entity().equals("resource");
        return list(change.where(), key, rules.preservesUsers() && users || rules.preservesResources() && resources);
    }

    String set(String key) {
        return change.set().getOrDefault(key, "");
    }

    boolean sets(String key) {
        return change.set().containsKey(key);
    }

    static AssocRef ref(Assoc assoc) {
        return new AssocRef(assoc.cluster(), assoc.account(), assoc.user(), assoc.partition(), assoc.parent());
    }

    void log(String action, String cluster, String name, String info) {
        book.log(now, action, actor, cluster, name, info);
    }

    // ---- limits

    /**
     * The limits that are set here over the old ones; errors are noted. Whether any is set tells {@link #setsLimits}.
     */
    TreeMap<String, String> limits(Map<String, String> old, List<LimitField> table) {
        TreeMap<String, String> out = new TreeMap<>(old);
        for (LimitField field : table) {
            boolean isAccounts = table == LimitField.ASSOC && field.name().equals(ChangeKeys.FLAGS);
            if (sets(field.name()) && !isAccounts) {
                String value = Values.applied(
                        book,
                        field,
                        old.getOrDefault(field.name(), ""),
                        set(field.name()),
                        table == LimitField.QOS,
                        errors);
                if (value.isEmpty() && field.kind() == LimitField.Kind.SHARES) {
                    out.put(field.name(), "1");
                } else if (value.isEmpty()) {
                    out.remove(field.name());
                } else {
                    out.put(field.name(), value);
                }
            }
        }
        return out;
    }

    boolean setsLimits(List<LimitField> table) {
        return table.stream()
                .anyMatch(f -> sets(f.name())
                        && !(table == LimitField.ASSOC && f.name().equals(ChangeKeys.FLAGS)));
    }

    /** Applies the change's flags to an account's flags and records errors. Flags hold on every cluster. */
    String accountFlags(String old) {
        if (sets("accountflags")) {
            return set("accountflags");
        }
        LimitField field = LimitField.ASSOC.stream()
                .filter(f -> f.name().equals(ChangeKeys.FLAGS))
                .findFirst()
                .orElseThrow();
        return sets(ChangeKeys.FLAGS) ? Values.applied(book, field, old, set(ChangeKeys.FLAGS), false, errors) : old;
    }

    /** The settings of the change, for the log of transactions. */
    String info() {
        return String.join(
                ", ",
                change.set().entrySet().stream()
                        .map(e -> e.getKey() + "='" + e.getValue() + "'")
                        .toList());
    }

    /** Refuses to remove associations of jobs that have not ended. */
    boolean refuseActive(Collection<Assoc> doomed) {
        return refuses(rules.active().apply(doomed));
    }

    /** Returns whether jobs of these QOS have not ended: the QOS stay until they have. */
    boolean refuseActiveQos(Collection<String> doomed) {
        List<Assoc> all = book.assocsEver().stream().filter(a -> !a.deleted()).toList();
        return !doomed.isEmpty()
                && refuses(rules.active().apply(all).stream()
                        .filter(j -> List.of(j.qos().split(",")).stream().anyMatch(doomed::contains))
                        .toList());
    }

    private boolean refuses(List<ChangeRules.Active> jobs) {
        if (jobs.isEmpty()) {
            return false;
        }
        errors.add(" Error with request: Job(s) active, cancel job(s) before remove");
        jobs.forEach(j -> errors.add("  JobID = " + AssocText.pad(Integer.toString(j.jobId()), 10) + " C = "
                + AssocText.pad(j.assoc().cluster(), 10)
                + " A = " + AssocText.pad(j.assoc().account(), 10) + " U = "
                + AssocText.pad(j.assoc().user(), 9)
                + " Q = " + AssocText.pad(j.qos(), 9) + " W = "
                + AssocText.pad(j.wckey().isEmpty() ? "*" : j.wckey(), 9)));
        return true;
    }
}
