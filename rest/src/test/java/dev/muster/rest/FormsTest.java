package dev.muster.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.model.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Answers look as SLURMRESTD_JSON and SLURMRESTD_YAML say, and say the same. */
class FormsTest {
    private static final String JOBS = "/slurm/v0.0.45/jobs";

    private static String text(Rig rig, String... headers) {
        Samples.fill(rig.answers);
        return new String(rig.ask("GET", JOBS, "", headers).body(), StandardCharsets.UTF_8);
    }

    @Test
    void prettyJsonHasALineForEachValue() throws IOException {
        String compact = text(new Rig());
        String pretty = text(new Rig(new Forms(true, false)));
        assertThat(compact).doesNotContain("\n");
        assertThat(pretty).startsWith("{\n  \"jobs\": [\n    {\n      \"account\": ").contains("\"errors\": [],\n").endsWith("\n}");
        assertThat(Json.object(pretty.getBytes(StandardCharsets.UTF_8))).isEqualTo(Json.object(compact.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void compactYamlIsOneLine() throws IOException {
        assertThat(text(new Rig(), "accept", "application/yaml")).startsWith("---\n").contains("\njobs:\n");
        assertThat(text(new Rig(new Forms(true, true)), "accept", "application/yaml")).startsWith("--- {").endsWith("\n...\n");
    }

    @Test
    void wordsAreRead() throws Options.Unfit {
        assertThat(Forms.read(Map.of())).isEqualTo(new Forms(false, false));
        assertThat(Forms.read(Map.of("SLURMRESTD_JSON", "compact", "SLURMRESTD_YAML", "pretty"))).isEqualTo(new Forms(false, false));
        assertThat(Forms.read(Map.of("SLURMRESTD_JSON", "Pretty", "SLURMRESTD_YAML", "compact"))).isEqualTo(new Forms(true, true));
        assertThatThrownBy(() -> Forms.read(Map.of("SLURMRESTD_JSON", "wide"))).hasMessage("Unexpected value in SLURMRESTD_JSON=wide");
    }
}
