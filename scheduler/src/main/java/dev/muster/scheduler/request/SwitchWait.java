package dev.muster.scheduler.request;

import dev.muster.core.limits.TresCounts;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import java.util.function.UnaryOperator;

/**
 * The concessions of a job that has waited long enough: more switches than it wanted, nodes that must be rebooted for
 * it.
 */
public final class SwitchWait {
    private final State state;
    private final DecisionTime now;
    private final UnaryOperator<ResourceNeed> interned;
    private long nextS = Long.MAX_VALUE;

    /** @param interned the one object for needs that equal it */
    public SwitchWait(State state, DecisionTime now, UnaryOperator<ResourceNeed> interned) {
        this.state = state;
        this.now = now;
        this.interned = interned;
    }

    /**
     * Returns the need as it is now: without nodes to reboot while the job's {@code --delay-boot} lasts, and on any
     * switches once its wait for few is over.
     */
    public ResourceNeed patient(Job job, ResourceNeed need) {
        boolean sparing = need.reboot() == ResourceNeed.Reboot.FOR_FEATURES && waits(job, bootDelayS(job));
        ResourceNeed out = sparing ? interned.apply(need.withoutReboot()) : need;
        boolean choosy = need.network().switches() > 0
                && waits(job, TresCounts.switchWait(job.desc().request(), state.settings()) + 1);
        return need.network().switches() > 0 && !choosy ? interned.apply(out.onAnySwitches()) : out;
    }

    /**
     * Returns the seconds from now for which the job waits for few switches; 0 when that time is over. A job that is
     * not eligible yet waits from now on.
     */
    public static long switchesS(Job job, State state, long nowS) {
        long since = job.eligibleTime() > 0 ? job.eligibleTime() : nowS;
        return Math.max(0, since + TresCounts.switchWait(job.desc().request(), state.settings()) + 1 - nowS);
    }

    /**
     * Returns whether the job has waited less than this. The time of that second is noted, so that a pass runs then.
     */
    private boolean waits(Job job, long seconds) {
        long until = job.eligibleTime() + seconds;
        boolean waits = job.eligibleTime() <= 0 || now.seconds() < until;
        if (waits && job.eligibleTime() > 0) {
            nextS = Math.min(nextS, until);
        }
        return waits;
    }

    /** First second since 1970 in which such a wait of a considered job ends; Long.MAX_VALUE if there is none. */
    public long nextS() {
        return nextS;
    }

    /**
     * Tests whether the job first waits for nodes that have its features: its nodes are others before it has waited
     * long enough.
     */
    public static boolean mayDelayBoot(Job job, ResourceNeed need, State state) {
        return need.reboot() == ResourceNeed.Reboot.FOR_FEATURES
                && !need.features().isEmpty()
                && (job.desc().timing().delayBootMin() > 0
                        || state.settings().options().scheduling().delaysBoot());
    }

    private long bootDelayS(Job job) {
        int own = job.desc().timing().delayBootMin();
        return own > 0 ? own * 60L : state.settings().options().scheduling().bootDelayS();
    }
}
