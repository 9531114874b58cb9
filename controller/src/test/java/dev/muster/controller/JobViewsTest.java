package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.Now;
import dev.muster.model.api.JobMessages;
import dev.muster.scheduler.Scheduler;
import java.util.List;
import org.junit.jupiter.api.Test;

class JobViewsTest {
    @Test
    void detailsOfAJobWhoseNodeIsNoMore() {
        Site site = new Site("DefMemPerCPU=1");
        site.run("tasks=2");
        assertThat(details(site)).isEqualTo("n1 0-1 2");
        site.exit(1, 0);
        site.lose("n1");
        assertThat(site.core().state().nodes().find("n1")).isEmpty();
        assertThat(details(site)).isEqualTo("n1 0-1 2");
    }

    /** PriorityFlags=CALCULATE_RUNNING: with the weights of now; otherwise what it had when it started. */
    @Test
    void thePriorityOfWhatRuns() {
        for (String flag : List.of("", "PriorityFlags=CALCULATE_RUNNING")) {
            Site site = new Site("DefMemPerCPU=1", "PriorityType=priority/multifactor", "PriorityWeightJobSize=1000", flag);
            site.run("tasks=2");
            long before = priority(site);
            site.lose("n2");
            assertThat(site.core().state().nodes().find("n2")).isEmpty();
            assertThat(priority(site) != before).as(flag).isEqualTo(!flag.isEmpty());
        }
    }

    private static long priority(Site site) {
        return new JobViews(site.core().state(), (Scheduler) site.core().planner(), new Now(1, 1), "")
                .info(site.core().state().jobs().at(1), -1, false).priority();
    }

    private static String details(Site site) {
        JobMessages.NodeDetail d = new JobViews(site.core().state(), (Scheduler) site.core().planner(), new Now(1, 1), "")
                .info(site.core().state().jobs().at(1), -1, true).details().getFirst();
        return d.nodes() + " " + d.cpuIds() + " " + d.memoryMb();
    }
}
