package dev.muster.scheduler.preempt;

import dev.muster.core.state.Job;
import dev.muster.scheduler.node.NodeSlot;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;

/** The possible victims on nodes that can serve the need, in their order; looked up lazily by {@link Preemptor}. */
final class VictimQueue {
    private final Preemptor preemptor;
    private final VictimCandidates all;
    private final Predicate<NodeSlot> serves;
    private final List<Job> found = new ArrayList<>();
    private int next;

    /** @param serves {@link Preemptor#EVERYWHERE} for all nodes */
    VictimQueue(Preemptor preemptor, VictimCandidates all, Predicate<NodeSlot> serves) {
        this.preemptor = preemptor;
        this.all = all;
        this.serves = serves;
    }

    boolean has(int index) {
        for (; found.size() <= index && next < all.candidates.size(); next++) {
            PreemptableJobs.PreemptableJob holder = all.candidates.get(next);
            if ((serves == Preemptor.EVERYWHERE || Preemptor.isOne(holder.slots(), serves))
                    && preemptor.mayGo(all, next)) {
                found.add(holder.job());
            }
        }
        return found.size() > index;
    }

    Job get(int index) {
        return found.get(index);
    }

    /** Returns an iterator over the jobs from the first on. */
    Iterator<Job> iterator() {
        return new Iterator<>() {
            private int index;

            @Override
            public boolean hasNext() {
                return has(index);
            }

            @Override
            public Job next() {
                return get(index++);
            }
        };
    }

    List<Job> all() {
        has(Integer.MAX_VALUE);
        return found;
    }
}
