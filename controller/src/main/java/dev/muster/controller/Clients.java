package dev.muster.controller;

import dev.muster.core.Command;
import dev.muster.core.Job;
import dev.muster.core.Step;
import dev.muster.model.JobDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** When the commands that have allocations were last heard of. They ask again and again how their jobs are. */
final class Clients {
    private final Map<Integer, Long> heardS = new ConcurrentHashMap<>();

    void heard(int jobId, long nowS) {
        heardS.put(jobId, nowS);
    }

    /**
     * Allocations of which nothing has been heard for longer than that, and that do nothing. Once a second.
     *
     * @param nowS   any clock that only goes forward
     * @param limitS InactiveLimit; 0 for none
     */
    List<Command> silent(Iterable<Job> active, long nowS, long limitS) {
        List<Command> out = new ArrayList<>();
        Map<Integer, Long> known = new TreeMap<>();
        for (Job job : active) {
            if (job.desc().kind() == JobDesc.Kind.ALLOCATION) {
                boolean busy = job.run().steps().stream().anyMatch(s -> s.id() >= 0 && s.state() == Step.State.RUNNING);
                long last = busy ? nowS : heardS.getOrDefault(job.id(), nowS);
                known.put(job.id(), last);
                if (limitS > 0 && nowS - last > limitS) {
                    out.add(new Command.EndInactive(job.id(), job.attempt()));
                }
            }
        }
        heardS.keySet().retainAll(known.keySet());
        known.forEach((id, last) -> heardS.merge(id, last, Math::max));
        return out;
    }
}
