package dev.muster.rest.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.cli.shape.Tree;
import dev.muster.json.Json;
import dev.muster.rest.Rig;
import dev.muster.rest.Samples;
import dev.muster.rest.SlurmrestdOptions;
import dev.muster.rest.http.Http;
import dev.muster.rest.http.Request;
import dev.muster.rest.http.StartupException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        String pretty = text(new Rig(new Forms(true, false, true)));
        assertThat(compact).doesNotContain("\n");
        assertThat(pretty)
                .startsWith("{\n  \"jobs\": [\n    {\n      \"account\": ")
                .contains("\"errors\": [],\n")
                .endsWith("\n}");
        assertThat(Json.object(pretty.getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(Json.object(compact.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void compactYamlIsOneLine() throws IOException {
        assertThat(text(new Rig(), "accept", "application/yaml"))
                .startsWith("%YAML 1.1\n--- !!map\n!!str jobs: !!seq\n");
        assertThat(text(new Rig(new Forms(false, false, false)), "accept", "application/yaml"))
                .startsWith("%YAML 1.1\n---\njobs:\n- ");
        assertThat(text(new Rig(new Forms(true, true, true)), "accept", "application/yaml"))
                .startsWith("--- {")
                .endsWith("\n...\n");
    }

    /** What is logged, and what of it goes to syslog, by name or number; -v says more than that. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                                                    |     | 3,0
                                                    | -vv | 5,0
        SLURMRESTD_DEBUG=debug                      |     | 5,0
        SLURMRESTD_DEBUG=DEBUG2                     | -v  | 7,0
        SLURMRESTD_DEBUG=quiet                      |     | 0,0
        SLURMRESTD_DEBUG=0                          | -v  | 1,0
        SLURM_DEBUG=9                               |     | 9,0
        SLURM_DEBUG=9,SLURMRESTD_DEBUG=error        |     | 2,0
        SLURMRESTD_DEBUG=9,SLURMRESTD_DEBUG_STDERR=4 |    | 4,0
        SLURM_DEBUG=9,SLURMRESTD_DEBUG_SYSLOG=verbose | -v | 4,5
        SLURMRESTD_DEBUG_STDERR=1,SLURMRESTD_DEBUG_SYSLOG=6 | | 1,6
        SLURMRESTD_DEBUG=-1                         |     | Invalid value for SLURMRESTD_DEBUG: -1
        SLURMRESTD_DEBUG_SYSLOG=loud                |     | Invalid value for SLURMRESTD_DEBUG_SYSLOG: loud
        """)
    void logLevelComesFromEnvironmentAndOptions(String env, String args, String then) {
        Map<String, String> all = new java.util.TreeMap<>();
        for (String pair : env == null ? new String[0] : env.split(",")) {
            all.put(pair.split("=")[0], pair.split("=")[1]);
        }
        String got;
        try {
            SlurmrestdOptions o =
                    SlurmrestdOptions.read(args == null ? java.util.List.of() : java.util.List.of(args), all);
            got = o.logging().level() + "," + o.logging().syslogLevel();
        } catch (StartupException e) {
            got = e.getMessage();
        }
        assertThat(got).isEqualTo(then);
    }

    @Test
    void formsAreReadFromTheEnvironment() throws StartupException {
        assertThat(Forms.read(Map.of())).isEqualTo(new Forms(false, false, true));
        assertThat(Forms.read(Map.of("SLURMRESTD_JSON", "compact", "SLURMRESTD_YAML", "pretty")))
                .isEqualTo(new Forms(false, false, true));
        assertThat(Forms.read(Map.of("SLURMRESTD_JSON", "Pretty", "SLURMRESTD_YAML", "compact")))
                .isEqualTo(new Forms(true, true, true));
        assertThat(Forms.read(Map.of("SLURM_JSON", "pretty", "SLURM_YAML", "no_tag,compact")))
                .isEqualTo(new Forms(true, true, false));
        assertThat(Forms.read(
                        Map.of("SLURM_JSON", "pretty", "SLURMRESTD_JSON", "compact", "SLURMRESTD_YAML", "no_tag")))
                .isEqualTo(new Forms(false, false, false));
        assertThatThrownBy(() -> Forms.read(Map.of("SLURM_JSON", "no_tag")))
                .hasMessage("Unexpected value in SLURM_JSON=no_tag");
        assertThatThrownBy(() -> Forms.read(Map.of("SLURMRESTD_JSON", "wide")))
                .hasMessage("Unexpected value in SLURMRESTD_JSON=wide");
    }

    private static String yaml(byte[] json, int step) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        YamlTransform yaml = new YamlTransform(out, true);
        for (int from = 0; from < json.length; from += step) {
            yaml.write(json, from, Math.min(step, json.length - from));
        }
        yaml.finish();
        return out.toString(StandardCharsets.UTF_8);
    }

    /** YAML that is written as a stream says the same as YAML from a tree, and parses to the same values. */
    @Test
    void yamlIsMadeAsItGoesOut() throws Exception {
        String tree = "{\"a\":{\"b\":[{\"c\":\"x: y\\\\\\\"z\"},{\"d\":[]},[1,[2,-3.5],{}],null],"
                + "\"e\":\"#{[,\"},\"f\":\"\",\"g\":true,\"h\":\"ä€😀\\n\"}";
        for (String one :
                List.of(tree, "{\"x\":" + tree + ",\"y\":[" + tree + "," + tree + "]}", "{\"jobs\":[],\"z\":[[]]}")) {
            byte[] json = one.getBytes(StandardCharsets.UTF_8);
            String whole = yaml(json, json.length);
            assertThat(whole).isEqualTo(Tree.document("yaml", Json.object(json)));
            assertThat(yaml(json, 1)).isEqualTo(whole);
            assertThat(Yaml.parse(whole.getBytes(StandardCharsets.UTF_8))).isEqualTo(Json.parse(json));
        }
        String large = text(new Rig(), "accept", "application/yaml");
        assertThat(Yaml.parse(large.getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(Json.parse(text(new Rig()).getBytes(StandardCharsets.UTF_8)));
    }

    /** A long list is no more in memory in YAML than in JSON: it is still to be written when the answer begins. */
    @Test
    void longListsGoOutInPieces() throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        Request asked = new Request(
                "GET",
                JOBS,
                Map.of(),
                Map.of("x-slurm-user-token", "a.b.c", "accept", "application/yaml"),
                new byte[0],
                true);
        Http.Reply reply = rig.router.answer(asked, "test", Optional.empty());
        assertThat(reply.type()).isEqualTo("application/yaml");
        assertThat(reply.written()).isPresent();
        reply.close();
    }
}
