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

    private final ChangeContext c;

    ClusterChanges(ChangeContext context) {
        this.c = context;
    }

    void add() {
        List<String> wanted = c.where("name");
        if (wanted.isEmpty()) {
            c.errors.add(" Need name of cluster to add.");
        }
        for (String name : wanted) {
            if (c.book.cluster(name).isPresent()) {
                c.errors.add(" This cluster " + name + " already exists.  Not adding.");
            }
        }
        if (!c.errors.isEmpty()) {
            return;
        }
        for (String name : wanted) {
            TreeMap<String, String> limits = c.limits(
                    Map.of("Fairshare", "1", "QOS", ChangeRules.clusterQos(c.book, c.rules.clusterQos())),
                    LimitField.ASSOC);
            begin(c.book, name, limits, c.now);
            if (c.sets("classification")) {
                c.book.cluster(name).ifPresent(this::classify);
            }
            c.log("Add Clusters", name, name, c.info());
            c.names.add(name);
        }
    }

    void modify() {
        for (Cluster cluster : c.book.clusters()) {
            List<String> wanted = c.where("name");
            Optional<Assoc> root = c.book.assoc(cluster.name(), Book.ROOT, "", "");
            if (!wanted.isEmpty() && !wanted.contains(cluster.name()) || root.isEmpty()) {
                continue;
            }
            if (c.setsLimits(LimitField.ASSOC)) {
                new TreeUpdates(c).limits(List.of(root.get()));
            }
            if (c.sets("classification")) {
                classify(cluster);
            }
            c.names.add(cluster.name());
            c.log("Modify Clusters", cluster.name(), cluster.name(), c.info());
        }
    }

    private void classify(Cluster cluster) {
        String typed = c.set("classification").toLowerCase(Locale.ROOT);
        if (!typed.isEmpty() && !CLASSES.contains(typed)) {
            c.errors.add(
                    " '" + c.set("classification") + "' is no classification: these are " + String.join(", ", CLASSES));
            return;
        }
        String name = typed.isEmpty() ? "" : Character.toUpperCase(typed.charAt(0)) + typed.substring(1);
        c.book.put(new Cluster(
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
                c.now,
                false));
    }

    /** Everything of the tree but its root goes, and so do the keys; the cluster itself and its past stay. */
    void clean() {
        for (String name : c.where("name")) {
            List.copyOf(c.book.assocsEver()).stream()
                    .filter(a -> a.cluster().equals(name) && !a.deleted())
                    .filter(a -> !(a.account().equals(Book.ROOT)
                            && (a.user().isEmpty() || a.user().equals(Book.ROOT))))
                    .forEach(a -> c.book.put(Removals.deleted(a, c.now)));
            List.copyOf(c.book.wckeysEver()).stream()
                    .filter(w -> w.cluster().equals(name) && !w.deleted())
                    .forEach(w -> c.book.put(
                            new Wckey(w.id(), w.cluster(), w.user(), w.name(), false, w.created(), c.now, true)));
            c.names.add(name);
            c.log("Modify Clusters", name, name, "clean");
        }
    }

    void delete() {
        for (String name : c.where("name")) {
            Optional<Cluster> found = c.book.cluster(name);
            if (found.isEmpty()) {
                continue;
            }
            Cluster cluster = found.get();
            if (c.refuseActive(c.book.tree(name))) {
                return;
            }
            c.book.put(new Cluster(
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
                    c.now,
                    true));
            List.copyOf(c.book.assocsEver()).stream()
                    .filter(a -> a.cluster().equals(name) && !a.deleted())
                    .forEach(a -> c.book.put(Removals.deleted(a, c.now)));
            c.names.add(name);
            c.log("Remove Clusters", name, name, "");
        }
    }

    /** A cluster with the root account and its root user. */
    static void begin(Book book, String name, Map<String, String> limits, long now) {
        int id = book.clustersEver().stream()
                .filter(c -> c.name().equals(name))
                .findFirst()
                .map(Cluster::id)
                .orElseGet(book::nextCluster);
        book.put(new Cluster(name, id, "", 0, 0, "", "", "", 0, "", now, now, false));
        int root = book.assocEver(name, Book.ROOT, "", "").map(Assoc::id).orElseGet(book::nextAssoc);
        book.put(new Assoc(root, name, Book.ROOT, "", "", "", false, limits, now, now, false));
        int user = book.assocEver(name, Book.ROOT, Book.ROOT, "").map(Assoc::id).orElseGet(book::nextAssoc);
        book.put(new Assoc(
                user,
                name,
                Book.ROOT,
                Book.ROOT,
                "",
                "",
                true,
                new TreeMap<>(Map.of("Fairshare", "1")),
                now,
                now,
                false));
    }
}
