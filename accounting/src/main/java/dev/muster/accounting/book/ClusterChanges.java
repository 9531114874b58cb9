package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Cluster;
import dev.muster.model.accounting.Entities.Wckey;
import dev.muster.model.accounting.LimitField;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Changes of clusters. */
final class ClusterChanges {
    private static final List<String> CLASSES = List.of("capability", "capacity", "capapacity");

    private final ChangeContext context;

    ClusterChanges(ChangeContext context) {
        this.context = context;
    }

    void add() {
        List<String> wanted = context.where("name");
        if (wanted.isEmpty()) {
            context.errors.add(" Need name of cluster to add.");
        }
        for (String name : wanted) {
            if (context.book.cluster(name).isPresent()) {
                context.errors.add(" This cluster " + name + " already exists.  Not adding.");
            }
        }
        if (!context.errors.isEmpty()) {
            return;
        }
        for (String name : wanted) {
            TreeMap<String, String> limits = context.limits(
                    Map.of("Fairshare", "1", "QOS", ChangeRules.clusterQos(context.book, context.rules.clusterQos())),
                    LimitField.ASSOC);
            begin(context.book, name, limits, context.now);
            if (context.sets("classification")) {
                context.book.cluster(name).ifPresent(this::classify);
            }
            context.log("Add Clusters", name, name, context.info());
            context.names.add(name);
        }
    }

    void modify() {
        for (Cluster cluster : context.book.clusters()) {
            List<String> wanted = context.where("name");
            Optional<Assoc> root = context.book.assoc(cluster.name(), AssocTree.ROOT, "", "");
            if (!wanted.isEmpty() && !wanted.contains(cluster.name()) || root.isEmpty()) {
                continue;
            }
            if (context.setsLimits(LimitField.ASSOC)) {
                new TreeUpdates(context).limits(List.of(root.get()));
            }
            if (context.sets("classification")) {
                classify(cluster);
            }
            context.names.add(cluster.name());
            context.log("Modify Clusters", cluster.name(), cluster.name(), context.info());
        }
    }

    private void classify(Cluster cluster) {
        String typed = context.set("classification").toLowerCase(Locale.ROOT);
        if (!typed.isEmpty() && !CLASSES.contains(typed)) {
            context.errors.add(" '" + context.set("classification") + "' is no classification: these are "
                    + String.join(", ", CLASSES));
            return;
        }
        String name = typed.isEmpty() ? "" : Character.toUpperCase(typed.charAt(0)) + typed.substring(1);
        context.book.put(new Cluster(
                cluster.name(),
                cluster.id(),
                cluster.controlHost(),
                cluster.controlPort(),
                cluster.rpcVersion(),
                name,
                cluster.flags(),
                cluster.nodes(),
                cluster.nodeCount(),
                cluster.tres(),
                cluster.created(),
                context.now,
                false));
    }

    /** Everything of the tree but its root goes, and so do the keys; the cluster itself and its past stay. */
    void clean() {
        for (String name : context.where("name")) {
            List.copyOf(context.book.assocsEver()).stream()
                    .filter(a -> a.cluster().equals(name) && !a.deleted())
                    .filter(a -> !(a.account().equals(AssocTree.ROOT)
                            && (a.user().isEmpty() || a.user().equals(AssocTree.ROOT))))
                    .forEach(a -> context.book.put(Removals.deleted(a, context.now)));
            List.copyOf(context.book.wckeysEver()).stream()
                    .filter(w -> w.cluster().equals(name) && !w.deleted())
                    .forEach(w -> context.book.put(
                            new Wckey(w.id(), w.cluster(), w.user(), w.name(), false, w.created(), context.now, true)));
            context.names.add(name);
            context.log("Modify Clusters", name, name, "clean");
        }
    }

    void delete() {
        for (String name : context.where("name")) {
            Optional<Cluster> found = context.book.cluster(name);
            if (found.isEmpty()) {
                continue;
            }
            Cluster cluster = found.get();
            if (context.refuseActive(context.book.tree(name))) {
                return;
            }
            context.book.put(new Cluster(
                    name,
                    cluster.id(),
                    "",
                    0,
                    cluster.rpcVersion(),
                    cluster.classification(),
                    cluster.flags(),
                    cluster.nodes(),
                    cluster.nodeCount(),
                    cluster.tres(),
                    cluster.created(),
                    context.now,
                    true));
            List.copyOf(context.book.assocsEver()).stream()
                    .filter(a -> a.cluster().equals(name) && !a.deleted())
                    .forEach(a -> context.book.put(Removals.deleted(a, context.now)));
            context.names.add(name);
            context.log("Remove Clusters", name, name, "");
        }
    }

    /** A cluster with the root account and its root user. */
    static void begin(AssocTree book, String name, Map<String, String> limits, long now) {
        int id = book.clustersEver().stream()
                .filter(c -> c.name().equals(name))
                .findFirst()
                .map(Cluster::id)
                .orElseGet(book::nextCluster);
        book.put(new Cluster(name, id, "", 0, 0, "", "", "", 0, "", now, now, false));
        int root = book.assocEver(name, AssocTree.ROOT, "", "").map(Assoc::id).orElseGet(book::nextAssoc);
        book.put(new Assoc(root, name, AssocTree.ROOT, "", "", "", false, limits, now, now, false));
        int user = book.assocEver(name, AssocTree.ROOT, AssocTree.ROOT, "")
                .map(Assoc::id)
                .orElseGet(book::nextAssoc);
        book.put(new Assoc(
                user,
                name,
                AssocTree.ROOT,
                AssocTree.ROOT,
                "",
                "",
                true,
                new TreeMap<>(Map.of("Fairshare", "1")),
                now,
                now,
                false));
    }
}
