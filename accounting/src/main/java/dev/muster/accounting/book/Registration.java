package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.Register;
import dev.muster.model.accounting.Entities.Cluster;
import dev.muster.model.accounting.Entities.Tres;
import java.util.Map;
import java.util.TreeMap;

/** The registration of a cluster by its controller. */
public final class Registration {
    /** Among a cluster's flags: it is only known by its address. */
    static final String EXTERNAL = "External";

    private Registration() {}

    /**
     * Registers a cluster in the draft. An unknown cluster is added, as in Slurm, with the QOS of DefaultQOS.
     *
     * @return false if the draft has not changed
     */
    public static boolean apply(AssocTree draft, Register registration, String actor, long now, String clusterQos) {
        boolean changed = false;
        if (draft.cluster(registration.cluster()).isEmpty()) {
            ClusterChanges.begin(
                    draft,
                    registration.cluster(),
                    new TreeMap<>(Map.of("Fairshare", "1", "QOS", ChangeRules.clusterQos(draft, clusterQos))),
                    now);
            draft.log(now, "Add Clusters", actor, registration.cluster(), registration.cluster(), "");
            changed = true;
        }
        Cluster cluster = draft.cluster(registration.cluster()).orElseThrow();
        // one that has not read its journal yet knows of no nodes
        boolean bare = registration.nodeCount() == 0;
        Cluster registered = new Cluster(
                cluster.name(),
                cluster.id(),
                registration.host(),
                registration.port(),
                registration.rpcVersion(),
                cluster.classification(),
                flags(cluster, registration),
                bare ? cluster.nodes() : registration.nodes(),
                bare ? cluster.nodeCount() : registration.nodeCount(),
                bare ? cluster.tres() : registration.tres(),
                cluster.created(),
                cluster.modified(),
                false);
        if (!registered.equals(cluster)) {
            draft.put(registered);
            draft.log(
                    now,
                    "Modify Clusters",
                    actor,
                    cluster.name(),
                    "name='" + cluster.name() + "'",
                    "control_host='" + registration.host() + "', control_port=" + registration.port() + ", last_port="
                            + registration.port() + ", rpc_version=" + registration.rpcVersion());
            changed = true;
        }
        for (String name : registration.tresNames()) {
            if (draft.tres().stream().noneMatch(t -> t.full().equals(name))) {
                int slash = name.indexOf('/');
                draft.put(new Tres(
                        draft.nextTres(),
                        slash < 0 ? name : name.substring(0, slash),
                        slash < 0 ? "" : name.substring(slash + 1)));
                changed = true;
            }
        }
        return changed;
    }

    private static String flags(Cluster known, Register registration) {
        if (registration.external()) {
            return EXTERNAL;
        }
        return known.flags().equals(EXTERNAL) ? "" : known.flags();
    }

    /** Whether the cluster keeps its rows elsewhere. */
    public static boolean isExternal(Cluster cluster) {
        return cluster.flags().equals(EXTERNAL);
    }

    /** The controller is gone. */
    public static void away(AssocTree draft, String cluster) {
        draft.cluster(cluster)
                .filter(c -> c.controlPort() != 0)
                .ifPresent(c -> draft.put(new Cluster(
                        c.name(),
                        c.id(),
                        "",
                        0,
                        c.rpcVersion(),
                        c.classification(),
                        c.flags(),
                        c.nodes(),
                        c.nodeCount(),
                        c.tres(),
                        c.created(),
                        c.modified(),
                        false)));
    }
}
