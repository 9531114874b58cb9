package dev.muster.core.options;

import dev.muster.model.format.IndexSet;
import java.util.List;

/**
 * Options that decide which batch jobs go back to the queue when they end.
 *
 * @param exits RequeueExit: exit codes from 0 to 255; none by default
 * @param holdExits RequeueExitHold: exit codes with which they wait for their release; none by default
 * @param delayS SchedulerParameters=requeue_delay, or else cred_expire of AuthInfo: seconds before the next start, 0 to
 *     99,999,999; 120 by default
 */
public record RequeueOptions(IndexSet exits, IndexSet holdExits, long delayS) {
    /** Exit codes of batch jobs that go back to the queue, {@code 1-9,18}. */
    public static final String REQUEUE_EXIT = "requeue_exit";
    /** Exit codes of batch jobs that go back to the queue and are held there as SPECIAL_EXIT. */
    public static final String REQUEUE_EXIT_HOLD = "requeue_exit_hold";
    /** Seconds; SchedulerParameters=requeue_delay, else cred_expire of AuthInfo. */
    public static final String REQUEUE_DELAY = "requeue_delay";

    private static final int CODE_MAX = 255;

    static RequeueOptions of(OptionParser text) {
        return new RequeueOptions(
                codes(text.text(REQUEUE_EXIT)),
                codes(text.text(REQUEUE_EXIT_HOLD)),
                text.digits(REQUEUE_DELAY, 8, 120));
    }

    private static IndexSet codes(String text) {
        List<IndexSet.Spec> spec = text.isEmpty() ? List.of() : IndexSet.parseSpec(text, CODE_MAX);
        return spec.isEmpty() ? IndexSet.empty() : spec.getFirst().indexes();
    }
}
