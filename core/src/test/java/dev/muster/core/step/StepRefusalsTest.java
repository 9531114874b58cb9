package dev.muster.core.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.StepDesc;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A step asks for what its job has not: nodes n1 (feature a) and n2 (b) with two CPUs each, of three nodes. */
class StepRefusalsTest {
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            tasks=4 nodesMin=2            ;
            tasks=5                       ; More processors requested than permitted
            tasks=1 cpusPerTask=3         ; More processors requested than permitted
            tasks=1 nodeList=n3           ; Requested node configuration is not available
            tasks=1 nodeList=nosuch       ; Requested node configuration is not available
            tasks=1 excludeList=n[1-2]    ; Node count specification invalid
            tasks=1 nodesMin=1 nodeList=n2 excludeList=n2 ; Requested node configuration is not available
            tasks=1 nodesMin=1 nodeList=n[1-2] excludeList=n2 ;
            tasks=2 nodesMin=2 nodeList=n[1-2] excludeList=n2 ; Requested node configuration is not available
            tasks=2 features=a            ;
            tasks=3 features=a            ; More processors requested than permitted
            tasks=1 features=c            ; Requested node configuration is not available
            tasks=4 features=a|b          ;
            """)
    void stepIsRefusedInSlurmsWords(String words, String refusal) {
        Cluster c = new Cluster(
                "n1 cpus=2 mem=1000 feature=a\nn2 cpus=2 mem=1000 feature=b\nn3 cpus=2 mem=1000", "p nodes=n[1-3]", "");
        int id = c.accept("partition=p nodesMin=2 tasks=4 nodeList=n[1-2]");
        c.schedule();
        Json.Obj request = Json.object(Codec.encode(Cluster.desc(words).request()));
        StepDesc desc = Codec.bind(new Json.Obj().put("request", request), StepDesc.class);
        Decision decision = c.apply(new Command.CreateStep(Cluster.USER, "", id, desc, Bytes.EMPTY, "io"));
        assertThat(decision instanceof Decision.Rejected r ? r.sentence() : null)
                .isEqualTo(refusal);
    }
}
