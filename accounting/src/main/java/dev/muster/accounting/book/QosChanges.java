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
    private final ChangeContext context;
    private final AssocTree book;

    QosChanges(ChangeContext changes) {
        this.context = changes;
        this.book = changes.book;
    }

    void run() {
        switch (context.change.verb()) {
            case "add" -> add();
            case "modify" -> modify();
            default -> delete();
        }
    }

    private void add() {
        if (context.where("name").isEmpty()) {
            context.errors.add(" Need name of qos to add.");
            return;
        }
        for (String name : context.where("name")) {
            if (book.qos(name).isPresent()) {
                continue;
            }
            TreeMap<String, String> limits = context.limits(Map.of("Description", name), LimitField.QOS);
            Optional<Qos> ever =
                    book.qosEver().stream().filter(q -> q.name().equals(name)).findFirst();
            book.put(
                    new Qos(ever.map(Qos::id).orElseGet(book::nextQos), name, limits, context.now, context.now, false));
            context.names.add(name);
            context.log("Add QOS", "", name, context.info());
        }
        if (context.names.isEmpty() && context.errors.isEmpty()) {
            context.errors.add(" Nothing new added.");
        }
    }

    private List<Qos> meant() {
        return book.qos().stream()
                .filter(q -> context.fits("name", q.name())
                        && context.fits("id", q.key())
                        && context.fits("description", q.limit("Description").toLowerCase(java.util.Locale.ROOT)))
                .toList();
    }

    private void modify() {
        // what cannot be set is refused wherever it would be
        context.limits(Map.of(), LimitField.QOS);
        for (Qos qos : context.errors.isEmpty() ? meant() : List.<Qos>of()) {
            TreeMap<String, String> limits = context.limits(qos.limits(), LimitField.QOS);
            book.put(new Qos(qos.id(), qos.name(), limits, qos.created(), context.now, false));
            context.names.add(qos.name());
            context.log("Modify QOS", "", qos.name(), context.info());
        }
        if (meant().stream().anyMatch(q -> reaches(q.name(), q.name(), new HashSet<>()))) {
            context.errors.add("sacctmgr: error: QOS Preemption loop detected");
            context.errors.add(" Error with request: QOS Preemption loop detected");
        }
    }

    /**
     * Whether {@code from} preempts {@code to}, directly or through other QOS.
     *
     * @param seen QOS visited so far
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
            for (Assoc assoc : book.tree(cluster.name())) {
                String standard = EffectiveLimits.limits(book, assoc).getOrDefault("DefaultQOS", "");
                if (doomed.contains(standard)) {
                    lines.add(AssocText.standard(standard, ChangeContext.ref(assoc)));
                }
            }
        }
        if (!lines.isEmpty()) {
            context.errors.add(" Error with request: Associations listed below have these as their Default QOS.");
            context.errors.addAll(lines);
            context.errors.add(" Please either remove the qos' listed above from list and resubmit,\n or change the "
                    + "default qos to remove the qos.\n"
                    + " Changes Discarded");
        }
        return !lines.isEmpty();
    }

    private void delete() {
        if (refuseDefaults()
                || context.refuseActiveQos(meant().stream().map(Qos::name).toList())) {
            return;
        }
        for (Qos qos : meant()) {
            book.put(new Qos(qos.id(), qos.name(), qos.limits(), qos.created(), context.now, true));
            for (Assoc assoc : List.copyOf(book.assocsEver())) {
                if (!assoc.deleted() && mentions(assoc, qos.name())) {
                    book.put(without(assoc, qos.name()));
                }
            }
            for (Qos other : book.qos()) {
                if (List.of(other.limit("Preempt").split(",")).contains(qos.name())) {
                    TreeMap<String, String> limits = new TreeMap<>(other.limits());
                    keep(limits, "Preempt", dropped(other.limit("Preempt"), qos.name()));
                    book.put(new Qos(other.id(), other.name(), limits, other.created(), context.now, false));
                }
            }
            context.names.add(qos.name());
            context.log("Remove QOS", "", qos.name(), "");
        }
    }

    private static boolean mentions(Assoc assoc, String qos) {
        return assoc.limit("DefaultQOS").equals(qos)
                || List.of(assoc.limit("QOS").split(",")).stream()
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

    private Assoc without(Assoc assoc, String qos) {
        TreeMap<String, String> limits = new TreeMap<>(assoc.limits());
        keep(limits, "QOS", dropped(assoc.limit("QOS"), qos));
        if (assoc.limit("DefaultQOS").equals(qos)) {
            limits.remove("DefaultQOS");
        }
        return new Assoc(
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
                false);
    }
}
