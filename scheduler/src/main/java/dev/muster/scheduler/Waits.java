package dev.muster.scheduler;

import dev.muster.core.Amounts;
import dev.muster.core.Job;
import dev.muster.core.Now;
import dev.muster.core.State;
import dev.muster.model.Digits;
import java.util.function.UnaryOperator;

/** What a job puts up with once it has waited long enough: more switches than it wanted, nodes that must be rebooted for it. */
final class Waits {
    private final State state;
    private final Now now;
    private final UnaryOperator<Need> interned;

    /** @param interned the one object for needs that equal it */
    Waits(State state, Now now, UnaryOperator<Need> interned) {
        this.state = state;
        this.now = now;
        this.interned = interned;
    }

    /** A job waits for few switches no longer than it said, and so long for nodes that need no reboot. */
    Need patient(Job job, Need need) {
        long waitedS = job.eligibleTime() > 0 ? now.seconds() - job.eligibleTime() : 0;
        Need out = need.reboot() == Need.Reboot.FOR_FEATURES && waitedS < bootDelayS(job) ? interned.apply(need.withoutReboot()) : need;
        return need.network().switches() > 0 && job.eligibleTime() > 0
                && waitedS > Amounts.switchWait(job.desc().request(), state.settings()) ? interned.apply(out.onAnySwitches()) : out;
    }

    /** Whether its nodes are others before it has waited long enough. */
    static boolean mayDelayBoot(Job job, Need need, State state) {
        return need.reboot() == Need.Reboot.FOR_FEATURES && !need.features().isEmpty()
                && (job.desc().timing().delayBootMin() > 0 || state.settings().options().containsKey("delay_boot"));
    }

    private long bootDelayS(Job job) {
        String all = state.settings().options().getOrDefault("delay_boot", "");
        int own = job.desc().timing().delayBootMin();
        return own > 0 ? own * 60L : Digits.only(all, 7) ? Long.parseLong(all) * 60 : 0;
    }
}
