package dev.muster.scheduler.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Priorities of waiting jobs from one calculation to the next. */
class PriorityIndexTest {
    private static final List<String> ONE_QOS = List.of("normal");

    private static AssocPolicy assoc(int id, int parent, String account, String user) {
        return new AssocPolicy(id, parent, account, user, "", true, Map.of("Fairshare", "1"), ONE_QOS, "normal");
    }

    private static Cluster cluster(String options) {
        Cluster c = new Cluster(
                "n[1-2] cpus=4 mem=1000",
                "p nodes=n[1-2] default=yes defmempercpu=10 priorityjobfactor=5",
                "options.priority_type=priority/multifactor options.priority_calc_period=60 " + options);
        List<AssocPolicy> assocs = List.of(
                assoc(1, 0, "root", ""),
                assoc(2, 1, "lab", ""),
                assoc(3, 2, "lab", "alice"),
                assoc(4, 2, "lab", "bob"));
        List<QosPolicy> qos = List.of(new QosPolicy(1, "normal", Map.of()));
        c.apply(new Command.ApplyPolicy(new Policy(assocs, qos, List.of(), List.of())));
        return c;
    }

    /** INCR_ONLY: age and usage lower no priority, but another nice value does. */
    @Test
    void priorityFallsOnlyByNiceWithIncrOnly() {
        for (boolean only : List.of(true, false)) {
            Cluster c = cluster("options.priority_weight_partition=100 options.priority_weight_fairshare=1000"
                    + (only ? " options.priority_flags=INCR_ONLY" : ""));
            new Play(c).lines("""
                    submit kind=BATCH charge.account=lab nodesMin=2 nodesMax=2 tasks=8
                    schedule                            -> 1 RUNNING n[1-2]
                    submit kind=BATCH charge.account=lab
                    schedule                            -> 1 RUNNING n[1-2]; 2 PENDING
                    """);
            long first = c.priority(2);
            new Play(c).lines("pass 600");
            c.schedule();
            assertThat(c.priority(2) < first).as("usage").isNotEqualTo(only);
            new Play(c).lines("update 2 nice=50");
            c.schedule();
            assertThat(c.priority(2)).as("nice").isLessThan(first);
        }
    }
}
