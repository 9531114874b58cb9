package dev.muster.core.testkit;

import dev.muster.core.command.Planner;
import java.util.ServiceLoader;

/**
 * Gives the planner of test clusters. A module whose tests need another planner than {@link FirstFitPlanner} names its
 * source in {@code META-INF/services}.
 */
public interface PlannerSource {
    /** Returns a planner for one cluster. */
    Planner planner();

    /** Returns a planner of the source on the class path, or a {@link FirstFitPlanner} if the class path has none. */
    static Planner find() {
        return ServiceLoader.load(PlannerSource.class)
                .findFirst()
                .map(PlannerSource::planner)
                .orElseGet(FirstFitPlanner::new);
    }
}
