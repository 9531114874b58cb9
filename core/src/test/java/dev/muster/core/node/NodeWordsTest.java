package dev.muster.core.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.state.Node;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.PlannerSource;
import dev.muster.core.testkit.Play;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests what scontrol update writes on nodes: service that comes back by itself, instances of clouds, tokens for
 * certificates.
 */
class NodeWordsTest {
    private final Cluster cluster = new Cluster("n[1-2] cpus=2 mem=1000", "p nodes=n[1-2] default=yes", "");

    private void play(String lines) {
        new Play(cluster).lines(lines);
    }

    private Node node(String name) {
        return cluster.state().nodes().at(name);
    }

    @Test
    void aNodeComesBackWhenItsTimeIsOver() {
        play("""
                node n1 state=drain reason=disk resumeafter=60   -> n1 free+DRAIN 'disk'
                node n2 state=down reason=disk resumeafter=30    -> n2 free+DOWN 'disk'
                pass 20                                          -> n2 free+DOWN 'disk'
                pass 20                                          -> n1 free+DRAIN 'disk'; n2 free
                pass 30                                          -> n1 free
                """);
        assertThat(node("n1").resumeAfter()).isZero();
        assertThat(node("n1").reason()).isEmpty();
    }

    @Test
    void resumeAfterIsRevokedByHandOrByResume() {
        play("""
                node n1 state=drain reason=disk resumeafter=60
                node n1 resumeafter=-1                           -> n1 free+DRAIN 'disk'
                pass 100                                         -> n1 free+DRAIN 'disk'
                node n1 resumeafter=50                           -> n1 free+DRAIN 'disk'
                node n1 state=resume                             -> n1 free
                node n1 state=drain reason=again
                pass 100                                         -> n1 free+DRAIN 'again'
                """);
    }

    @Test
    void resumeAfterIsRefusedForANodeInService() {
        play("""
                node n1 resumeafter=60            -> says Invalid node state specified
                node n1 state=drain reason=x resumeafter=soon  -> says Invalid resumeafter value: soon; n1 free
                node n1 resumeafter=-1            -> n1 free
                """);
    }

    @Test
    void dueTimesAreTheSameAfterARestart() {
        play("node n1 state=drain reason=disk resumeafter=60");
        Core rebuilt = new Core(PlannerSource.find());
        rebuilt.reset(cluster.state());
        assertThat(rebuilt.due()).isEqualTo(cluster.core().due());
        assertThat(rebuilt.due()).isNotEqualTo(new Core(PlannerSource.find()).due());
    }

    @Test
    void severalNodesHaveAValueEach() {
        play("""
                node n[1-2] instanceid=i-[7-8] instancetype=big
                node n[1-2] instanceid= instancetype=
                node n[1-2] instanceid=i-[7-8] instancetype=big
                node n[1-2] nodeaddr=h[3-4]
                node n[1-2] nodeaddr=h[3-5]      -> says Invalid node name specified
                """);
        assertThat(List.of(node("n1").marks().instanceId(), node("n2").marks().instanceId()))
                .containsExactly("i-7", "i-8");
        assertThat(List.of(node("n1").marks().instanceType(), node("n2").marks().instanceType()))
                .containsExactly("big", "big");
        assertThat(List.of(node("n1").spec().address(), node("n2").spec().address()))
                .containsExactly("h3", "h4");
    }

    @Test
    void onlyTheHashOfACertTokenIsKept() {
        play("node n1 certtoken=secret");
        assertThat(node("n1").marks().certToken())
                .isEqualTo("2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b");
        cluster.apply(new Command.CertificateSigned("n1", ""));
        assertThat(node("n1").marks().certToken()).isNotEmpty();
        assertThat(node("n1").marks().certTime()).isPositive();
        cluster.apply(new Command.CertificateSigned("n1", "ab"));
        assertThat(node("n1").marks().certToken()).isEmpty();
        assertThat(node("n1").marks().certRenewal()).isEqualTo("ab");
        play("node n1 certtoken=secret");
        assertThat(node("n1").marks().certRenewal()).isEmpty();
    }
}
