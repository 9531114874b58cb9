package dev.muster.scheduler;

import dev.muster.core.Mcs;
import dev.muster.core.Partition;
import dev.muster.core.Settings;
import dev.muster.model.JobDesc;
import dev.muster.model.ResourceRequest;

/**
 * With whom a job shares its nodes.
 *
 * @param user    its own
 * @param alone   with jobs of its own user only
 * @param label   with jobs of this label only; "" for all that have none
 * @param topo    has its leaf switches or blocks to itself
 */
record Apart(int user, boolean alone, String label, boolean topo) {
    /** Of a job whose user does not matter as long as nobody keeps others away. */
    static final Apart ANYBODY = new Apart(-1, false, "", false);

    static Apart of(JobDesc desc, Partition partition, Settings settings) {
        return of(desc, partition.exclusive(), settings);
    }

    /** @param rule of its partition: NO, NODE, USER or TOPO */
    static Apart of(JobDesc desc, String rule, Settings settings) {
        ResourceRequest.Exclusive asked = desc.request().exclusive();
        return new Apart(desc.owner().uid(), rule.equals("USER") || asked == ResourceRequest.Exclusive.USER, Mcs.of(settings).separating(desc),
                rule.equals("TOPO") || asked == ResourceRequest.Exclusive.TOPO);
    }

    /** Minds whom it meets. */
    boolean minds() {
        return alone || topo || !label.isEmpty();
    }

    /** On one node; whole switches are counted for themselves. */
    boolean goesWith(Apart other) {
        return (user == other.user || !alone && !other.alone) && label.equals(other.label);
    }
}
