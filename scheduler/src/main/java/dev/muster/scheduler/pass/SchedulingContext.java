package dev.muster.scheduler.pass;

import dev.muster.core.limits.AccountUse;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.State;
import dev.muster.scheduler.claim.ReservationsInForce;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.preempt.PreemptableJobs;
import dev.muster.scheduler.queue.JobQueue;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * The objects that passes work on.
 *
 * @param standing places of the last plan of the whole queue; empty where passes plan by themselves
 */
public record SchedulingContext(
        ClusterIndex cluster,
        JobQueue queue,
        PreemptableJobs preemptable,
        AccountUse use,
        BiFunction<State, DecisionTime, Optional<ReservationsInForce>> standing,
        Options options) {
    /**
     * Options of passes, for tests and replays.
     *
     * @param pruned jobs of a class that was turned down are not tried again before something has changed
     * @param plansAhead jobs that no start depends on are planned as well
     * @param reservationsMax jobs that get a reservation in a pass
     */
    public record Options(boolean pruned, boolean plansAhead, int reservationsMax) {
        public static final Options USUAL = new Options(true, true, Pass.RESERVATIONS_MAX);
    }
}
