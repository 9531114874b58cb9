package dev.muster.scheduler;

import dev.muster.core.Mcs;
import dev.muster.core.Partition;
import dev.muster.core.Settings;
import dev.muster.model.JobDesc;
import dev.muster.model.ResourceRequest;

/**
 * With whom a job shares its nodes.
 *
 * @param user  its own
 * @param alone with jobs of its own user only
 * @param label with jobs of this label only; "" for all that have none
 */
record Apart(int user, boolean alone, String label) {
    /** Of a job whose user does not matter as long as nobody keeps others away. */
    static final Apart ANYBODY = new Apart(-1, false, "");

    static Apart of(JobDesc desc, Partition partition, Settings settings) {
        return of(desc, partition.info().exclusiveUser(), settings);
    }

    static Apart of(JobDesc desc, boolean exclusiveUser, Settings settings) {
        boolean alone = exclusiveUser || desc.request().exclusive() == ResourceRequest.Exclusive.USER;
        return new Apart(desc.owner().uid(), alone, Mcs.of(settings).separating(desc));
    }

    /** Minds whom it meets. */
    boolean minds() {
        return alone || !label.isEmpty();
    }

    boolean goesWith(Apart other) {
        return (user == other.user || !alone && !other.alone) && label.equals(other.label);
    }
}
