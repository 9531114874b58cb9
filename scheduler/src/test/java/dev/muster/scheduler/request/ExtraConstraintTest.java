package dev.muster.scheduler.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.options.JobRequestOptions;
import dev.muster.core.state.Node;
import dev.muster.core.state.Settings;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExtraConstraintTest {
    private static final String EXTRA =
            "{\"zone\": 3, \"speed\": 1.5, \"fast\": true, \"rack\": \"north\", \"none\": null}";

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "zone=3; true",
                "zone=3.000001; true",
                "zone=3.1; false",
                "zone!=3; false",
                "zone>2; true",
                "zone>3; false",
                "zone>=3; true",
                "zone<3; false",
                "zone<=3; true",
                "speed<2; true",
                "fast=true; true",
                "fast=TRUE; true",
                "fast=false; false",
                "fast!=false; true",
                "rack=north; true",
                "rack=North; false",
                "rack>a; true",
                "rack!=south; true",
                "other=1; false",
                "other!=1; false",
                "zone=3&fast=true; true",
                "zone=3,fast=false; false",
                "zone=4|fast=true; true",
                "zone=4|(fast=true&rack=south); false",
                "(zone=4|fast=true)&rack=north; true",
                "((zone=3)); true",
                "speed=1.5d; false",
                "zone=NaN; false",
                "zone=3e0; true",
                " zone = 3 & rack = north ; true"
            })
    void constraintIsMatchedWithTheNodesExtra(String asked, boolean serves) {
        assertThat(ExtraConstraint.isValid(asked)).isTrue();
        assertThat(ExtraConstraint.match(asked, EXTRA)).isEqualTo(serves);
        assertThat(ExtraConstraint.match(asked, "")).as("of a node without").isFalse();
        assertThat(ExtraConstraint.match(asked, "no JSON"))
                .as("of a node with something else")
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "zone",
                "zone=",
                "=3",
                "zone==3",
                "zone=3&",
                "&zone=3",
                "zone=3&fast=true|rack=north",
                "(zone=3",
                "zone=3)",
                "()",
                "zone=3(fast=true)",
                "!zone=3",
                "zone=1=2"
            })
    void malformedConstraintIsInvalid(String asked) {
        assertThat(ExtraConstraint.isValid(asked)).isFalse();
    }

    @Test
    void jobsWaitForNodesThatSaySo() {
        Cluster c = new Cluster(
                "n[1-3] cpus=4", "p nodes=n[1-3] default=yes defmempercpu=1", "options.extra_constraints=yes");
        int waits = c.accept("extras.extra=zone=3");
        int other = c.accept("tasks=4 nodeList=n2");
        c.schedule();
        assertThat(List.of(c.shown(waits), c.shown(other))).containsExactly("(Resources)", "n2:4");
        c.apply(new Command.UpdateNode(0, List.of("n2", "n3"), Map.of("extra", "{\"zone\":3}")));
        c.schedule();
        assertThat(c.shown(waits)).as("n2 says so too, and is full").isEqualTo("n3:1");
        int named = c.accept("extras.extra=zone=3 nodeList=n1");
        c.schedule();
        assertThat(c.shown(named)).isNotEqualTo("n1:1");
        c.apply(new Command.UpdateNode(0, List.of("n1"), Map.of("extra", "{\"zone\":3}")));
        c.schedule();
        assertThat(c.shown(named)).isEqualTo("n1:1");
    }

    /** A text that was a note when the job came is one still when the word is set later. */
    @Test
    void extraTextFromBeforeIsNoConstraint() {
        Cluster c = new Cluster("n1 cpus=4", "p nodes=n1 default=yes defmempercpu=1", "");
        c.apply(new Command.UpdateNode(0, List.of("n1"), Map.of("extra", "{\"zone\":3}")));
        int noted = c.accept("tasks=1 extras.extra=(a_note");
        int other = c.accept("tasks=1");
        Json.Obj set = Json.object(Codec.encode(c.state().settings()))
                .put("options", new Json.Obj().put(JobRequestOptions.EXTRA_CONSTRAINTS, "yes"));
        c.apply(new Command.ApplyConfig(
                Codec.bind(set, Settings.class),
                c.state().nodes().values().stream().map(Node::spec).toList(),
                List.copyOf(c.state().partitions().values())));
        c.schedule();
        assertThat(List.of(c.shown(noted), c.shown(other))).containsExactly("n1:1", "n1:1");
    }

    @Test
    void extraConstraintsOptionChecksTheExtraText() {
        Cluster with =
                new Cluster("n1 cpus=4", "p nodes=n1 default=yes defmempercpu=1", "options.extra_constraints=yes");
        Cluster without = new Cluster("n1 cpus=4", "p nodes=n1 default=yes defmempercpu=1", "");
        assertThat(with.place("extras.extra=anything")).isEqualTo("Invalid extra constraints specification");
        assertThat(without.place("extras.extra=anything")).isEqualTo("n1:1");
    }
}
