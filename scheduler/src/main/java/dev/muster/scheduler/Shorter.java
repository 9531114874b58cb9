package dev.muster.scheduler;

import dev.muster.core.Allocation;
import dev.muster.core.Job;
import dev.muster.core.Limits;
import dev.muster.core.State;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.Set;

/** {@code --time-min}, in one pass: what has no place for its whole time may begin for the longest for which there is one now. */
final class Shorter {
    private final Pass pass;
    private final Scheduler scheduler;
    private final State state;
    private final Set<Need> failed = Collections.newSetFromMap(new IdentityHashMap<>());

    /** @param need for as long as it begins for */
    record Found(Need need, Allocation place) {}

    Shorter(Pass pass, Scheduler scheduler, State state) {
        this.pass = pass;
        this.scheduler = scheduler;
        this.state = state;
    }

    /** @param need that has no place now */
    Optional<Found> find(Job job, Need need) {
        int fits = pass.isInOrder() ? -1 : Limits.shortestMin(job.desc(), need.limitMin(), state.settings());
        Optional<Found> found = fits < 0 ? Optional.empty() : lasting(fits, job, need);
        int fails = need.limitMin() < 0 ? Times.HORIZON_S / 60 : need.limitMin();
        while (found.isPresent() && fails - fits > 1) {
            int half = fits + fails >>> 1;
            Optional<Found> longer = lasting(half, job, need);
            fits = longer.isPresent() ? half : fits;
            fails = longer.isPresent() ? fails : half;
            found = longer.isPresent() ? longer : found;
        }
        return found;
    }

    private Optional<Found> lasting(int minutes, Job job, Need whole) {
        Need need = scheduler.needs().lasting(minutes, whole);
        Optional<Found> found = failed.contains(need) ? Optional.empty() : pass.placeFor(job, need).map(a -> new Found(need, a));
        if (found.isEmpty()) {
            failed.add(need);
        }
        return found;
    }
}
