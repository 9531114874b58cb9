package dev.muster.scheduler;

import dev.muster.core.command.Planner;
import dev.muster.core.testkit.PlannerSource;

/** Gives test clusters the real scheduler. Found by its name in {@code META-INF/services}. */
public final class SchedulerSource implements PlannerSource {
    @Override
    public Planner planner() {
        return new Scheduler().withoutConnections();
    }
}
