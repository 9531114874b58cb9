package dev.muster.scheduler.request;

import dev.muster.core.limits.McsLabel;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import java.util.Optional;

/**
 * The jobs that may be on the same nodes as this one.
 *
 * @param user its own
 * @param alone with jobs of its own user only
 * @param label with jobs of this label only; "" for all that have none
 * @param topo has its leaf switches or blocks to itself
 * @param topology in which these are, "" where it does not ask for them
 */
public record SharingPolicy(int user, boolean alone, String label, boolean topo, String topology) {
    /** Policy of a job without a user, for questions where no job is exclusive. */
    public static final SharingPolicy ANYBODY = new SharingPolicy(-1, false, "", false, "");

    public static SharingPolicy of(JobDesc desc, Optional<Partition> partition, Settings settings) {
        return partition.map(p -> of(desc, p, settings)).orElseGet(() -> of(desc, "NO", "", settings));
    }

    public static SharingPolicy of(JobDesc desc, Partition partition, Settings settings) {
        return of(desc, partition.exclusive(), partition.info().topology(), settings);
    }

    /**
     * @param rule of its partition: NO, NODE, USER or TOPO
     * @param topology topology of its partition, "" for the cluster's
     */
    public static SharingPolicy of(JobDesc desc, String rule, String topology, Settings settings) {
        ResourceRequest.Exclusive asked = desc.request().exclusive();
        boolean topo = rule.equals("TOPO") || asked == ResourceRequest.Exclusive.TOPO;
        return new SharingPolicy(
                desc.owner().uid(),
                rule.equals("USER") || asked == ResourceRequest.Exclusive.USER,
                McsLabel.of(settings).separating(desc),
                topo,
                topo ? settings.topology(topology).name() : "");
    }

    /** Returns whether the job is particular about the other jobs of its nodes. */
    public boolean isExclusive() {
        return alone || topo || !label.isEmpty();
    }

    /** Tests whether the job has the units of that topology to itself. */
    public boolean owns(String name) {
        return topo && topology.equals(name);
    }

    /** Tests whether jobs of both policies may be on one node; whole switches are counted for themselves. */
    public boolean goesWith(SharingPolicy other) {
        return (user == other.user || !alone && !other.alone) && label.equals(other.label);
    }
}
