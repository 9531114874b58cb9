package dev.muster.controller.edge;

import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** When the commands that have allocations were last heard of. They ask again and again how their jobs are. */
public final class Clients {
    private final Map<Integer, Long> heardS = new ConcurrentHashMap<>();

    void heard(int jobId, long nowS) {
        heardS.put(jobId, nowS);
    }

    /**
     * Allocations of whose command nothing has been heard for longer than that, whatever runs in them. Once a second.
     *
     * @param nowS   any clock that only goes forward
     * @param limitS InactiveLimit; 0 for none
     */
    public List<Command> silent(Iterable<Job> active, long nowS, long limitS) {
        List<Command> out = new ArrayList<>();
        Map<Integer, Long> known = new TreeMap<>();
        for (Job job : active) {
            if (job.desc().kind() != JobDesc.Kind.BATCH && !job.desc().extras().noShell()) {
                // one command has all components of a heterogeneous job, and speaks of the first
                int spokenOf = job.isHet() ? job.het().jobId() : job.id();
                long last = heardS.getOrDefault(spokenOf, nowS);
                known.put(spokenOf, last);
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
