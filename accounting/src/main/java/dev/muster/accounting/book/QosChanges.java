package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Cluster;
import dev.muster.model.accounting.Entities.Qos;
import dev.muster.model.accounting.LimitField;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Qualities of service. */
final class QosChanges {
    private final ChangeContext c;
    private final Book book;

    QosChanges(ChangeContext changes) {
        this.c = changes;
        this.book = changes.book;
    }

    void run() {
        switch (c.change.verb()) {
            case "add" -> add();
            case "modify" -> modify();
            default -> delete();
        }
    }

    private void add() {
        if (c.where("name").isEmpty()) {
            c.errors.add(" Need name of qos to add.");
            return;
        }
        for (String name : c.where("name")) {
            if (book.qos(name).isPresent()) {
                continue;
            }
            TreeMap<String, String> limits = c.limits(Map.of("Description", name), LimitField.QOS);
            Optional<Qos> ever =
                    book.qosEver().stream().filter(q -> q.name().equals(name)).findFirst();
            book.put(new Qos(ever.map(Qos::id).orElseGet(book::nextQos), name, limits, c.now, c.now, false));
            c.names.add(name);
            c.log("Add QOS", "", name, c.info());
        }
        if (c.names.isEmpty() && c.errors.isEmpty()) {
            c.errors.add(" Nothing new added.");
        }
    }

    private List<Qos> meant() {
        return book.qos().stream()
                .filter(q -> c.fits("name", q.name())
                        && c.fits("id", q.key())
                        && c.fits("description", q.limit("Description").toLowerCase(java.util.Locale.ROOT)))
                .toList();
    }

    private void modify() {
        // what cannot be set is refused wherever it would be
        c.limits(Map.of(), LimitField.QOS);
        for (Qos q : c.errors.isEmpty() ? meant() : List.<Qos>of()) {
            TreeMap<String, String> limits = c.limits(q.limits(), LimitField.QOS);
            book.put(new Qos(q.id(), q.name(), limits, q.created(), c.now, false));
            c.names.add(q.name());
            c.log("Modify QOS", "", q.name(), c.info());
        }
        if (meant().stream().anyMatch(q -> reaches(q.name(), q.name(), new HashSet<>()))) {
            c.errors.add("sacctmgr: error: QOS Preemption loop detected");
            c.errors.add(" Error with request: QOS Preemption loop detected");
        }
    }

    /**
     * The second is one that the first takes places of, or that one of those does.
     *
     * @param seen looked at
     */
    private boolean reaches(String from, String to, Set<String> seen) {
        String below = book.qos(from).map(q -> q.limit("Preempt")).orElse("");
        return List.of(below.split(",")).stream()
                .filter(seen::add)
                .anyMatch(name -> name.equals(to) || reaches(name, to, seen));
    }

    /** Removes the deleted QOS from the defaults of associations. */
    private boolean refuseDefaults() {
        List<String> doomed = meant().stream().map(Qos::name).toList();
        List<String> lines = new ArrayList<>();
        for (Cluster cluster : book.clusters()) {
            for (Assoc a : book.tree(cluster.name())) {
                String standard = EffectiveLimits.limits(book, a).getOrDefault("DefaultQOS", "");
                if (doomed.contains(standard)) {
                    lines.add(AssocText.standard(standard, ChangeContext.ref(a)));
                }
            }
        }
        if (!lines.isEmpty()) {
            c.errors.add(" Error with request: Associations listed below have these as their Default QOS.");
            c.errors.addAll(lines);
            c.errors.add(" Please either remove the qos' listed above from list and resubmit,\n or change the "
                    + "default qos to remove the qos.\n"
                    + " Changes Discarded");
        }
        return !lines.isEmpty();
    }

    private void delete() {
        if (refuseDefaults()
                || c.refuseActiveQos(meant().stream().map(Qos::name).toList())) {
            return;
        }
        for (Qos q : meant()) {
            book.put(new Qos(q.id(), q.name(), q.limits(), q.created(), c.now, true));
            for (Assoc a : List.copyOf(book.assocsEver())) {
                if (!a.deleted() && mentions(a, q.name())) {
                    book.put(without(a, q.name()));
                }
            }
            for (Qos other : book.qos()) {
                if (List.of(other.limit("Preempt").split(",")).contains(q.name())) {
                    TreeMap<String, String> limits = new TreeMap<>(other.limits());
                    keep(limits, "Preempt", dropped(other.limit("Preempt"), q.name()));
                    book.put(new Qos(other.id(), other.name(), limits, other.created(), c.now, false));
                }
            }
            c.names.add(q.name());
            c.log("Remove QOS", "", q.name(), "");
        }
    }

    private static boolean mentions(Assoc a, String qos) {
        return a.limit("DefaultQOS").equals(qos)
                || List.of(a.limit("QOS").split(",")).stream()
                        .anyMatch(w -> w.equals(qos) || w.equals("+" + qos) || w.equals("-" + qos));
    }

    private static String dropped(String list, String name) {
        return String.join(
                ",",
                List.of(list.split(",")).stream()
                        .filter(w -> !w.equals(name) && !w.equals("+" + name) && !w.equals("-" + name))
                        .toList());
    }

    private static void keep(TreeMap<String, String> limits, String key, String value) {
        if (value.isEmpty()) {
            limits.remove(key);
        } else {
            limits.put(key, value);
        }
    }

    private Assoc without(Assoc a, String qos) {
        TreeMap<String, String> limits = new TreeMap<>(a.limits());
        keep(limits, "QOS", dropped(a.limit("QOS"), qos));
        if (a.limit("DefaultQOS").equals(qos)) {
            limits.remove("DefaultQOS");
        }
        return new Assoc(
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
                false);
    }
}
