package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.accounting.DbdMessages.UserPolicy;
import dev.muster.model.accounting.DbdMessages.WckeyPolicy;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Qos;
import dev.muster.model.accounting.LimitField;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Limits of an association including those that it inherits. */
public final class EffectiveLimits {
    private EffectiveLimits() {}

    /** Limits with the inherited ones; QOS by name. */
    public static Map<String, String> limits(AssocTree book, Assoc assoc) {
        TreeMap<String, String> out = new TreeMap<>(assoc.limits());
        Set<String> qos = qos(book, assoc);
        Optional<Assoc> above = book.parent(assoc);
        while (above.isPresent()) {
            for (LimitField field : LimitField.ASSOC) {
                if (field.inherited() && field.kind() != LimitField.Kind.NAMES) {
                    inherit(out, field, above.get().limit(field.name()));
                }
            }
            above = book.parent(above.get());
        }
        out.put(
                "QOS",
                String.join(
                        ",",
                        book.qos().stream()
                                .map(Qos::name)
                                .filter(qos::contains)
                                .sorted()
                                .toList()));
        out.values().removeIf(String::isEmpty);
        return out;
    }

    private static void inherit(TreeMap<String, String> limits, LimitField field, String above) {
        if (above.isEmpty()) {
            return;
        }
        String value = limits.getOrDefault(field.name(), "");
        if (value.isEmpty()) {
            limits.put(field.name(), above);
        } else if (field.kind() == LimitField.Kind.TRES) {
            limits.put(field.name(), mergedTres(above, value));
        }
    }

    /** The base with the entries of another over it; -1 takes an entry away. */
    public static String mergedTres(String base, String over) {
        Map<String, String> all = new LinkedHashMap<>();
        for (String text : List.of(base, over)) {
            for (String item : text.split(",")) {
                int equalSign = item.indexOf('=');
                if (equalSign > 0) {
                    all.put(item.substring(0, equalSign), item.substring(equalSign + 1));
                }
            }
        }
        all.values().removeIf("-1"::equals);
        return String.join(
                ",",
                all.entrySet().stream()
                        .map(e -> e.getKey() + "=" + e.getValue())
                        .toList());
    }

    /** The nearest list of one's own or above, with what was added and taken on the way down. */
    private static Set<String> qos(AssocTree book, Assoc assoc) {
        String value = assoc.limit("QOS");
        boolean whole = !value.isEmpty() && !value.startsWith("+") && !value.startsWith("-");
        Set<String> names = whole
                ? new LinkedHashSet<>()
                : book.parent(assoc).map(p -> qos(book, p)).orElseGet(LinkedHashSet::new);
        for (String word : value.split(",")) {
            if (word.startsWith("-")) {
                names.remove(word.substring(1));
            } else if (!word.isEmpty()) {
                names.add(word.startsWith("+") ? word.substring(1) : word);
            }
        }
        return names;
    }

    /** The policy that a cluster's controller gets. */
    public static Policy policy(AssocTree book, String cluster) {
        List<AssocPolicy> assocs = new ArrayList<>();
        for (Assoc assoc : book.tree(cluster)) {
            Map<String, String> limits = limits(book, assoc);
            String names = limits.getOrDefault("QOS", "");
            assocs.add(new AssocPolicy(
                    assoc.id(),
                    book.parent(assoc).map(Assoc::id).orElse(0),
                    assoc.account(),
                    assoc.user(),
                    assoc.partition(),
                    assoc.isDefault(),
                    limits,
                    names.isEmpty() ? List.of() : List.of(names.split(",")),
                    limits.getOrDefault("DefaultQOS", "")));
        }
        List<QosPolicy> qos = book.qos().stream()
                .map(q -> new QosPolicy(q.id(), q.name(), UsageResets.limitsOn(cluster, q.limits())))
                .toList();
        Map<String, List<String>> coordinates = new HashMap<>();
        book.accountsEver().stream()
                .filter(a -> !a.deleted())
                .forEach(a -> book.coordinators(cluster, a.name())
                        .forEach(user -> coordinates
                                .computeIfAbsent(user, u -> new ArrayList<>())
                                .add(a.name())));
        List<UserPolicy> users = new ArrayList<>();
        book.usersEver().stream()
                .filter(u -> !u.deleted())
                .forEach(u -> users.add(
                        new UserPolicy(u.name(), u.adminLevel(), coordinates.getOrDefault(u.name(), List.of()), -1)));
        List<WckeyPolicy> wckeys = book.wckeysEver().stream()
                .filter(w -> !w.deleted() && w.cluster().equals(cluster))
                .map(w -> new WckeyPolicy(w.user(), w.name(), w.isDefault()))
                .toList();
        return new Policy(
                assocs,
                qos,
                List.copyOf(users),
                wckeys,
                ResourceChanges.licenses(book, cluster),
                ResourceChanges.remotes(book, cluster));
    }
}
