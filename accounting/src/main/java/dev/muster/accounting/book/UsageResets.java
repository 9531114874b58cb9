package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Qos;
import dev.muster.model.accounting.LimitField;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code set RawUsage=0}: clears the usage of associations and QOS. The controllers count usage; a number among the
 * limits grows with each reset and tells them to clear it, so that a controller that is down at that moment does so
 * once when it returns.
 */
final class UsageResets {
    private final ChangeContext context;
    private final AssocTree book;

    UsageResets(ChangeContext changes) {
        this.context = changes;
        this.book = changes.book;
    }

    private void wrong(String sentence) {
        context.errors.add("sacctmgr: error: " + sentence);
    }

    void run() {
        if (!context.set("rawusage").equals("0")) {
            wrong("Raw usage can only be set to 0 (zero)");
        } else if (context.change.set().size() > 1) {
            wrong("Raw usage is reset by itself: nothing else can be set with it");
        } else if (context.where("name").isEmpty()) {
            wrong("An association name is required to remove usage");
        } else if (context.where("cluster").isEmpty()) {
            wrong("A cluster is required to remove usage");
        } else {
            context.where("cluster").forEach(this::onCluster);
        }
    }

    private void onCluster(String cluster) {
        if (book.cluster(cluster).isEmpty()) {
            wrong("Failed to find cluster " + cluster + " in database");
        } else if (context.change.entity().equals("qos")) {
            context.where("name")
                    .forEach(name -> book.qos(name)
                            .ifPresentOrElse(q -> reset(q, cluster), () -> wrong("Failed to find QOS " + name)));
        } else {
            boolean users = context.change.entity().equals("user");
            List<String> names;
            if (users) {
                names = context.where("name");
            } else if (context.where("user").isEmpty()) {
                names = List.of("");
            } else {
                names = context.where("user");
            }

            List<String> accounts = users ? context.where("account") : context.where("name");
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
        for (Assoc assoc : meant) {
            book.put(new Assoc(
                    assoc.id(),
                    assoc.cluster(),
                    assoc.account(),
                    assoc.user(),
                    assoc.partition(),
                    assoc.parent(),
                    assoc.isDefault(),
                    stamped(assoc.limits(), LimitField.USAGE_RESET),
                    assoc.created(),
                    context.now,
                    false));
        }
        meant.stream()
                .filter(a -> a.account().equals(account) && a.user().equals(user))
                .forEach(a -> {
                    context.assocs.add(ChangeContext.ref(a));
                    context.log("Reset Usage", cluster, "id_assoc=" + a.id(), context.info());
                });
    }

    private void reset(Qos qos, String cluster) {
        book.put(new Qos(
                qos.id(), qos.name(), stamped(qos.limits(), ofCluster(cluster)), qos.created(), context.now, false));
        context.names.add(qos.name());
        context.log("Reset Usage", cluster, qos.name(), context.info());
    }

    private TreeMap<String, String> stamped(Map<String, String> limits, String key) {
        TreeMap<String, String> out = new TreeMap<>(limits);
        long last = Long.parseLong(out.getOrDefault(key, "0"));
        out.put(key, Long.toString(Math.max(context.now, last + 1)));
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
