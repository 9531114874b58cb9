package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Qos;
import dev.muster.model.accounting.LimitField;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code set RawUsage=0}: what associations and QOS have had is forgotten. The controllers count it; they are told by a
 * number that stands among the limits and grows with each reset, so that one that is away when it happens does it when
 * it comes back, once.
 */
final class UsageResets {
    private final ChangeContext c;
    private final Book book;

    UsageResets(ChangeContext changes) {
        this.c = changes;
        this.book = changes.book;
    }

    private void wrong(String sentence) {
        c.errors.add("sacctmgr: error: " + sentence);
    }

    void run() {
        if (!c.set("rawusage").equals("0")) {
            wrong("Raw usage can only be set to 0 (zero)");
        } else if (c.change.set().size() > 1) {
            wrong("Raw usage is reset by itself: nothing else can be set with it");
        } else if (c.where("name").isEmpty()) {
            wrong("An association name is required to remove usage");
        } else if (c.where("cluster").isEmpty()) {
            wrong("A cluster is required to remove usage");
        } else {
            c.where("cluster").forEach(this::onCluster);
        }
    }

    private void onCluster(String cluster) {
        if (book.cluster(cluster).isEmpty()) {
            wrong("Failed to find cluster " + cluster + " in database");
        } else if (c.change.entity().equals("qos")) {
            c.where("name")
                    .forEach(name -> book.qos(name)
                            .ifPresentOrElse(q -> reset(q, cluster), () -> wrong("Failed to find QOS " + name)));
        } else {
            boolean users = c.change.entity().equals("user");
            List<String> names;
            if (users) {
                names = c.where("name");
            } else if (c.where("user").isEmpty()) {
                names = List.of("");
            } else {
                names = c.where("user");
            }

            List<String> accounts = users ? c.where("account") : c.where("name");
            if (accounts.isEmpty()) {
                wrong("An account must be specified");
            }
            accounts.forEach(account -> names.forEach(user -> reset(cluster, account, user)));
        }
    }

    /** Resets the usage of an account and of all below it, from which its sum is computed. */
    private void reset(String cluster, String account, String user) {
        List<Assoc> meant = book.tree(cluster).stream()
                .filter(a -> user.isEmpty()
                        ? book.isBelow(cluster, a.account(), account)
                        : a.account().equals(account) && a.user().equals(user))
                .toList();
        if (meant.isEmpty()) {
            wrong("Failed to find cluster " + cluster + " account " + account + (user.isEmpty() ? "" : " user " + user)
                    + " association in database");
        }
        for (Assoc a : meant) {
            book.put(new Assoc(
                    a.id(),
                    a.cluster(),
                    a.account(),
                    a.user(),
                    a.partition(),
                    a.parent(),
                    a.isDefault(),
                    stamped(a.limits(), LimitField.USAGE_RESET),
                    a.created(),
                    c.now,
                    false));
        }
        meant.stream()
                .filter(a -> a.account().equals(account) && a.user().equals(user))
                .forEach(a -> {
                    c.assocs.add(ChangeContext.ref(a));
                    c.log("Reset Usage", cluster, "id_assoc=" + a.id(), c.info());
                });
    }

    private void reset(Qos q, String cluster) {
        book.put(new Qos(q.id(), q.name(), stamped(q.limits(), ofCluster(cluster)), q.created(), c.now, false));
        c.names.add(q.name());
        c.log("Reset Usage", cluster, q.name(), c.info());
    }

    private TreeMap<String, String> stamped(Map<String, String> limits, String key) {
        TreeMap<String, String> out = new TreeMap<>(limits);
        long last = Long.parseLong(out.getOrDefault(key, "0"));
        out.put(key, Long.toString(Math.max(c.now, last + 1)));
        return out;
    }

    /** QOS are those of all clusters; usage is each cluster's. */
    private static String ofCluster(String cluster) {
        return LimitField.USAGE_RESET + "@" + cluster;
    }

    /** The limits of a QOS as a cluster's controller gets them. */
    static TreeMap<String, String> limitsOn(String cluster, Map<String, String> limits) {
        TreeMap<String, String> out = shown(limits);
        String reset = limits.getOrDefault(ofCluster(cluster), "");
        if (!reset.isEmpty()) {
            out.put(LimitField.USAGE_RESET, reset);
        }
        return out;
    }

    /** Limits as people see them. */
    static TreeMap<String, String> shown(Map<String, String> limits) {
        TreeMap<String, String> out = new TreeMap<>(limits);
        out.keySet().removeIf(k -> k.startsWith(LimitField.USAGE_RESET));
        return out;
    }
}
