package dev.muster.scheduler.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Job;
import dev.muster.core.state.Step;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A constraint → which nodes, or in which words it is refused. n1 has a, n2 b, n3 a and c, n4 a, c and d. */
class FeatureConstraintTest {
    /** Jobs may name features of no node with ignore_constraint_validation: such nodes may come. */
    @Test
    void unknownFeatureIsAcceptedWithIgnoreConstraintValidation() {
        String nodes = "n1 cpus=1 feature=a\nn2 cpus=1 feature=b";
        String partition = "p nodes=n[1-2] default=yes defmempercpu=10";
        new Play(new Cluster(nodes, partition, "")).lines("submit features=new -> says Invalid feature specification");
        new Play(new Cluster(nodes, partition, "options.ignore_constraint_validation=yes")).lines("""
                submit features=(              -> says Invalid feature specification
                submit features=new            -> 1 PENDING
                submit                         -> 2 PENDING
                submit features=b              -> 3 PENDING
                schedule                       -> 1 PENDING; 2 RUNNING n1 ahead; 3 RUNNING n2 ahead
                done 3 n2
                cancel 2
                done 2 n1
                schedule                       -> 1 PENDING
                node n1 features=a,new activefeatures=a,new
                schedule                       -> 1 RUNNING n1
                """);
    }

    /** The nodes stay as slurm.conf has them: only the script goes elsewhere. */
    @ParameterizedTest
    @CsvSource(delimiterString = "->", textBlock = """
            nodesMin=3 features=a|b                        -> n1
            nodesMin=3 features=a|b extras.batchFeatures=b -> n2
            nodesMin=3 features=a|b extras.batchFeatures=a -> n1
            nodesMin=3 features=a|c extras.batchFeatures=c -> n3
            nodesMin=3 features=a&c extras.batchFeatures=a&c -> n3
            """)
    void theScriptRunsOnTheFirstNodeThatHasItsFeatures(String job, String node) {
        Cluster c = new Cluster(
                "n1 cpus=1 feature=a\nn2 cpus=1 feature=a;b\nn3 cpus=1 feature=a;c\nn4 cpus=1 "
                        + "feature=a;c\nn5 cpus=1 feature=a;c",
                "p nodes=n[1-5] default=yes",
                "");
        new Play(c).lines("submit kind=BATCH " + job + "\nschedule");
        Job placed = c.state().jobs().at(1);
        assertThat(placed.run().allocation().nodeNames()).isSorted();
        assertThat(placed.step(Step.BATCH).orElseThrow().nodes())
                .extracting(Step.Part::node)
                .containsExactly(node);
    }

    @Test
    void featureConstraintsSelectNodes() {
        String nodes = "n1 cpus=1 feature=a\nn2 cpus=1 feature=b\nn3 cpus=1 feature=a;c\nn4 cpus=1 feature=a;c;d\n";
        for (String row : """
                nodesMin=2 features=c*2                  | n3:1 n4:1
                nodesMin=3 features=c*2                  | n1:1 n3:1 n4:1
                nodesMin=3 features=c*3                  | Requested node configuration is not available
                nodesMin=3 features=[(a&c)*2&b*1]        | n2:1 n3:1 n4:1
                nodesMin=3 features=[(a&d)*2&b*2]        | Requested node configuration is not available
                nodesMin=2 features=[a|b]                | n1:1 n3:1
                nodesMin=1 features=[b|a]                | n2:1
                nodesMin=3 features=[b|a]                | n1:1 n3:1 n4:1
                nodesMin=4 features=[a|b]                | Requested node configuration is not available
                nodesMin=4 features=a|b                  | n1:1 n2:1 n3:1 n4:1
                nodesMin=2 features=c&[b|a]              | n3:1 n4:1
                nodesMin=3 features=c&[b|a]              | Requested node configuration is not available
                nodesMin=1 features=[a|b                 | Invalid feature specification
                nodesMin=1 features=a*x                  | Invalid feature specification
                nodesMin=1 features=[a|]                 | Invalid feature specification
                nodesMin=1 features=z*1                  | Invalid feature specification
                nodesMin=1 features=a*0                  | Invalid feature specification
                nodesMin=2 features=c*2&a                | Invalid feature specification
                nodesMin=2 features=a*1&c*1              | Invalid feature specification
                nodesMin=2 features=(a&c)*2              | Invalid feature specification
                nodesMin=2 features=[c*2&a]              | Invalid feature specification
                nodesMin=3 features=a|b extras.batchFeatures=c | Job --batch option is invalid or not a subset of --constraint
                nodesMin=3 features=a|b|c extras.batchFeatures=c | n1:1 n2:1 n3:1
                """.strip().split("\n")) {
            int bar = row.lastIndexOf('|');
            Cluster c = new Cluster(nodes, "p nodes=n[1-4] defmempercpu=1", "");
            assertThat(c.place("partition=p " + row.substring(0, bar).strip()))
                    .as(row)
                    .isEqualTo(row.substring(bar + 1).strip());
        }
    }
}
