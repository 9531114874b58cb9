package dev.muster.controller.view;

import dev.muster.core.index.AffectedEntities;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Jobs by their owner, so that a query for one user does not scan the queue. One thread follows the durable entries,
 * many threads read. It has a job from the answer to its submission on; it may name jobs that a state does not have yet
 * or any more.
 */
public final class OwnedJobs {
    private final Map<Integer, Set<Integer>> byUser = new ConcurrentHashMap<>();

    /** Begins anew with what there is. */
    public void reset(State state) {
        byUser.clear();
        state.jobs().values().forEach(j -> of(j.desc().owner().uid()).add(j.id()));
    }

    public void follow(Entry entry, State before, State after) {
        for (Change change : entry.changes()) {
            if (!isOfOwners(change)) {
                continue;
            }
            for (int id : AffectedEntities.jobs(change)) {
                after.jobs()
                        .find(id)
                        .ifPresentOrElse(
                                j -> of(j.desc().owner().uid()).add(id),
                                () -> before.jobs()
                                        .find(id)
                                        .ifPresent(j -> forget(j.desc().owner().uid(), id)));
            }
        }
    }

    /** Tests whether a job comes, goes or may get another owner by the change. */
    private static boolean isOfOwners(Change change) {
        return change instanceof Change.JobSubmitted
                || change instanceof Change.ArrayTaskSplit
                || change instanceof Change.JobRestored
                || change instanceof Change.DescriptionChanged
                || change instanceof Change.JobPurged;
    }

    private Set<Integer> of(int uid) {
        return byUser.computeIfAbsent(uid, u -> new ConcurrentSkipListSet<>());
    }

    private void forget(int uid, int id) {
        // the set goes with its last job: users come and go, and one thread writes
        Set<Integer> ids = of(uid);
        ids.remove(id);
        if (ids.isEmpty()) {
            byUser.remove(uid);
        }
    }

    /** Returns the numbers of the jobs of these users, in order. */
    Collection<Integer> of(Collection<Integer> uids) {
        if (uids.size() == 1) {
            return byUser.getOrDefault(uids.iterator().next(), Set.of());
        }
        TreeSet<Integer> out = new TreeSet<>();
        uids.forEach(uid -> out.addAll(byUser.getOrDefault(uid, Set.of())));
        return out;
    }
}
