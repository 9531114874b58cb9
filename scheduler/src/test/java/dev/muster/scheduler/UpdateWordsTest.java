package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.Billing;
import dev.muster.core.Limits;
import dev.muster.core.Partition;
import dev.muster.core.PartitionEdit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The words of scontrol update, and limits that partitions and the cluster share. */
class UpdateWordsTest {
    private static final String NODES = "n1 cpus=4";

    @Test
    void keywordsMayBeCutShortButNotIntoTwo() {
        Cluster cluster = new Cluster(NODES, "p nodes=n1 default=yes", "");
        Partition p = cluster.state().partitions().at("p");
        PartitionEdit.Outcome cut = PartitionEdit.edit(p, Map.of("allowaccount", "a", "maxt", "60"), cluster.state());
        assertThat(((PartitionEdit.Edited) cut).partition().info().allowAccounts()).isEqualTo("a");
        assertThat(((PartitionEdit.Edited) cut).partition().info().maxTimeMin()).isEqualTo(60);
        for (String wrong : List.of("max", "allow", "al", "allowaccountz")) {
            assertThat(PartitionEdit.edit(p, Map.of(wrong, "1"), cluster.state())).as(wrong).isInstanceOf(PartitionEdit.Refused.class);
        }
    }

    @Test
    void weightsOfResources() {
        for (String right : List.of("", "CPU=1.0,Mem=0.25G,GRES/gpu=2.0", "cPu=1,mem=-0.5G,node=.3,energy=-10", "cpu=1.")) {
            assertThat(Billing.isValid(right)).as(right).isTrue();
        }
        for (String wrong : List.of("cpu", "cpu=", "cpu=.", "cpu=-", "cpu=1,,", "cpu=1X", "cpu=--1")) {
            assertThat(Billing.isValid(wrong)).as(wrong).isFalse();
        }
        assertThat(Billing.of("cPu=1,mem=-0.5G,node=.3", 4, 2048, 10, Map.of())).isEqualTo(6);
    }

    @Test
    void overTimeLimitIsThePartitionsOrTheClusters() {
        Cluster cluster = new Cluster(NODES, "p nodes=n1 default=yes\nq nodes=n1 overtimelimit=5", "overTimeLimitMin=2");
        new Play(cluster).lines("submit kind=BATCH\nsubmit kind=BATCH partition=q");
        assertThat(cluster.state().jobs().values()).map(j -> Limits.overTimeMin(cluster.state(), j)).containsExactly(2, 5);
    }
}
