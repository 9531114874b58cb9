package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** shows: JobSubmitPlugins */
class JobSubmitTest {
    private static Play with(String settings) {
        return new Play(new Cluster(
                "n[1-3] cpus=2 mem=1000",
                "big nodes=n[1-3] minnodes=2 prioritytier=3\nmain nodes=n[1-3] default=yes\n"
                        + "small nodes=n1 maxnodes=1 prioritytier=2",
                settings));
    }

    private static String partition(Cluster cluster, String words) {
        int id = cluster.accept(words);
        return cluster.state().jobs().at(id).desc().partition();
    }

    @Test
    void timeLimitsAreRequired() {
        with("options.job_submit=require_timelimit").lines("""
                submit kind=BATCH                       -> says Time limit specification required, but not provided
                submit kind=BATCH timing.timeLimitMin=1 -> 1 PENDING
                """);
    }

    @Test
    void throttleRefusesJobsBeyondTheHourlyLimit() {
        with("options.job_submit=throttle options.jobs_per_user_per_hour=2").lines("""
                submit kind=BATCH
                submit kind=BATCH -> 2 PENDING
                submit kind=BATCH -> says Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)
                pass 3600
                submit kind=BATCH -> 3 PENDING
                """);
    }

    @Test
    void aJobThatNamesNoPartitionGetsOne() {
        Cluster all = new Cluster(
                "n[1-3] cpus=2 mem=1000", "a nodes=n1\nb nodes=n2", "options.job_submit=all_partitions,defaults");
        int first = all.accept("kind=BATCH");
        assertThat(all.state().jobs().at(first).desc().partition()).isEqualTo("a,b");
        assertThat(partition(all, "kind=BATCH partition=b")).isEqualTo("b");
        assertThat(all.state().jobs().at(first).desc().extras().acctgFreq()).isEqualTo("30");
        Cluster one = new Cluster(
                "n[1-3] cpus=2 mem=1000",
                "big nodes=n[1-3] minnodes=2 prioritytier=3\nmain nodes=n[1-3] default=yes\n"
                        + "small nodes=n1 maxnodes=1 prioritytier=2",
                "options.job_submit=partition");
        assertThat(partition(one, "kind=BATCH nodesMin=2")).isEqualTo("big");
        assertThat(partition(one, "kind=BATCH nodesMin=1")).isEqualTo("small");
    }
}
