package dev.muster.scheduler.request;

import dev.muster.core.limits.TresCounts;
import dev.muster.core.state.Job;
import dev.muster.core.state.Now;
import dev.muster.core.state.State;
import dev.muster.model.format.Digits;
import java.util.function.UnaryOperator;

/**
 * What a job puts up with once it has waited long enough: more switches than it wanted, nodes that must be rebooted for
 * it.
 */
public final class SwitchWait {
    private final State state;
    private final Now now;
    private final UnaryOperator<ResourceNeed> interned;
    private long nextS = Long.MAX_VALUE;

    /** @param interned the one object for needs that equal it */
    public SwitchWait(State state, Now now, UnaryOperator<ResourceNeed> interned) {
        this.state = state;
        this.now = now;
        this.interned = interned;
    }

    /** A job waits for few switches no longer than it said, and so long for nodes that need no reboot. */
    public ResourceNeed patient(Job job, ResourceNeed need) {
        boolean sparing = need.reboot() == ResourceNeed.Reboot.FOR_FEATURES && waits(job, bootDelayS(job));
        ResourceNeed out = sparing ? interned.apply(need.withoutReboot()) : need;
        boolean choosy = need.network().switches() > 0
                && waits(job, TresCounts.switchWait(job.desc().request(), state.settings()) + 1);
        return need.network().switches() > 0 && !choosy ? interned.apply(out.onAnySwitches()) : out;
    }

    /**
     * So many seconds from now on it waits for few switches; 0 where it does no more. A job that is not eligible yet
     * waits from now on.
     */
    public static long switchesS(Job job, State state, long nowS) {
        long since = job.eligibleTime() > 0 ? job.eligibleTime() : nowS;
        return Math.max(0, since + TresCounts.switchWait(job.desc().request(), state.settings()) + 1 - nowS);
    }

    /** It has not waited so long yet. When it has, it may start although nothing happens then. */
    private boolean waits(Job job, long seconds) {
        long until = job.eligibleTime() + seconds;
        boolean waits = job.eligibleTime() <= 0 || now.seconds() < until;
        if (waits && job.eligibleTime() > 0) {
            nextS = Math.min(nextS, until);
        }
        return waits;
    }

    /**
     * The first second in which somebody asked about has waited long enough; Long.MAX_VALUE if nobody waits for that.
     */
    public long nextS() {
        return nextS;
    }

    /** Whether its nodes are others before it has waited long enough. */
    public static boolean mayDelayBoot(Job job, ResourceNeed need, State state) {
        return need.reboot() == ResourceNeed.Reboot.FOR_FEATURES
                && !need.features().isEmpty()
                && (job.desc().timing().delayBootMin() > 0
                        || state.settings().options().containsKey("delay_boot"));
    }

    private long bootDelayS(Job job) {
        String all = state.settings().options().getOrDefault("delay_boot", "");
        int own = job.desc().timing().delayBootMin();
        return own > 0 ? own * 60L : Digits.only(all, 7) ? Long.parseLong(all) * 60 : 0;
    }
}
