package dev.muster.controller;

import dev.muster.core.State;
import java.lang.ref.WeakReference;

/**
 * Since when the jobs are as they are, for who has asked before: the moment at which a query first saw them so. Maybe later than the change,
 * never earlier. Thread-safe.
 */
final class JobsSince {
    private WeakReference<Object> seen = new WeakReference<>(null);
    private long second;

    /** @param lastPass when the scheduler last looked: it gives reasons and planned starts; @param now seconds */
    synchronized long of(State state, long lastPass, long now) {
        if (seen.get() != state.jobs()) {
            seen = new WeakReference<>(state.jobs());
            second = now;
        }
        return Math.max(second, Math.min(lastPass, now));
    }
}
