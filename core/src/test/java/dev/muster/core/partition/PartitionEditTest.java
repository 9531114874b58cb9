package dev.muster.core.partition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Partition;
import dev.muster.core.testkit.AccountPolicies;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.cluster.Topology;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every key of scontrol update of a partition sets a component of its record, and no value breaks it. */
class PartitionEditTest extends AccountPolicies {
    /** Values of which each key accepts one that it does not have yet. */
    private static final List<String> VALUES = List.of(
            "1",
            "2",
            "YES",
            "NO",
            "n1",
            "gpu:1",
            "gres/gpu:map:0",
            "0",
            "DOWN",
            "CANCEL",
            "cores",
            "CPU=1.0",
            "USER",
            "DefCpuPerGPU=1",
            "flat",
            "a",
            "");

    /** Values that a user may type by mistake: they are refused or taken, and never break the rules. */
    private static final List<String> ODD = List.of(
            "-1",
            "99999999999",
            "9223372036854775808",
            "1e9",
            " ",
            ",",
            "=",
            "+=1",
            "-=1",
            "UNLIMITED",
            "n[1-",
            "\0",
            "ä");

    private static final Topology FLAT = new Topology(
            "flat", Topology.Kind.FLAT, List.of(), List.of(), List.of(), List.of(), false, true, List.of());

    @BeforeEach
    void configure() {
        cluster = new Cluster("n1 cpus=4 gpus=2", "p nodes=n1 default=yes", "gresTypes=gpu", List.of(FLAT), List.of());
        policy("", "", "", "");
    }

    static Set<String> keys() {
        return PartitionEdit.keys();
    }

    @ParameterizedTest
    @MethodSource("keys")
    void eachKeyOfAPartitionSetsAComponent(String key) {
        Partition p = cluster.state().partitions().at("p");
        assertThat(Stream.concat(VALUES.stream(), cluster.state().accounts().qosNames().stream()))
                .as(key)
                .anyMatch(value -> {
                    PartitionEdit.Outcome outcome = PartitionEdit.edit(p, Map.of(key, value), cluster.state());
                    return outcome instanceof PartitionEdit.Edited e
                            && !e.partition().equals(p);
                });
        for (String odd : ODD) {
            assertThat(PartitionEdit.edit(p, Map.of(key, odd), cluster.state()))
                    .as("%s=%s", key, odd)
                    .isNotNull();
        }
    }
}
