package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.json.RecordEditor;
import dev.muster.model.job.JobDesc;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every key of scontrol update that names a component of a record sets that component, and no value breaks it. */
class UpdateFieldsTest {
    /** Values of which each key accepts one that it does not have yet. */
    private static final List<String> VALUES = List.of(
            "1", "2", "YES", "NO", "n1", "gpu:1", "gres/gpu:map:0", "0", "DOWN", "CANCEL", "cores", "CPU=1.0", "a", "");

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

    private final Cluster cluster = new Cluster("n1 cpus=4 gpus=2", "p nodes=n1 default=yes", "gresTypes=gpu");

    static Set<String> fields() {
        return UpdateFields.keys();
    }

    @ParameterizedTest
    @MethodSource("fields")
    void eachKeyOfAJobSetsAComponent(String key) {
        new Play(cluster).lines("submit kind=BATCH");
        Job job = cluster.state().jobs().at(1);
        assertThat(VALUES).as(key).anyMatch(value -> {
            RecordEditor<JobDesc> desc = RecordEditor.of(job.desc());
            boolean taken = UpdateFields.set(job, desc, key, value, true).isEmpty();
            return taken && !desc.record().equals(job.desc());
        });
        for (String odd : ODD) {
            RecordEditor<JobDesc> desc = RecordEditor.of(job.desc());
            UpdateFields.set(job, desc, key, odd, true);
            assertThat(desc.record()).as("%s=%s", key, odd).isNotNull();
        }
    }
}
