package dev.muster.cli.shape;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Data parsers as {@code --json=} names them, and the conversion of the newest version's tree to older versions. */
class DataParserTest {
    private static final String QUEUE = """
            {"jobs":[{"job_id":7,"segment_size":0,"submit_line":"x","container_type":"","step_id":{"sluid":""},
             "licenses_allocated":"",
             "flags":["SPREAD_JOB","JOB_IMPLICIT_MAX_NODES","EXPEDITED_REQUEUE"],"comment":"",
             "job_resources":{"select_type":["CR_CORE_MEMORY"]},"time_limit":{"set":false,"infinite":true,"number":0},
             "cpus":{"set":true,"infinite":false,"number":3},"deadline":{"set":false,"infinite":false,"number":0}}],
             "last_backfill":{"set":true,"infinite":false,"number":9}}""";
    private static final String ENDED = """
            {"jobs":[{"sluid":"s","segment_size":0,"kill_request_user":"","stdout_expanded":"/o",
             "steps":[{"submit_line":"l","step":{"stdin":""},
             "time":{"limit":{"set":false,"infinite":true,"number":0}}}]}]}""";
    private static final String PARTITIONS = """
            {"partitions":[{"flags":["DEFAULT"],"preempt_mode":["CLUSTER_GLOBAL"],"topology":"","select_type":["NONE"],
             "cpus":{"task_binding":["CPU_BIND_TO_CORES"]},"partition":{"exclusive":"NO","oversubscribe":"NO",
             "state":["UP"]},
             "maximums":{"shares":0,"memory_per_cpu":0,"oversubscribe":{"jobs":0,"flags":[]}}}]}""";

    private static Json.Obj tree(String text) {
        return Json.object(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String shaped(String parser, String text) {
        return new String(
                Json.print(DataParser.parse(parser).orElseThrow().shaped(tree(text))), StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | 45 |",
                "v0.0.42 | 42 |",
                "data_parser/v0.0.43 | 43 |",
                "latest | 45 |",
                "v0.0.44+fast | 44 | +fast",
                "v0.0.45+Complex+FAST | 45 | +Complex+FAST",
                "latest+complex | 45 | +complex",
                "v0.0.45+ | 45 | +"
            })
    void nameIsAVersionWithFlags(String text, int version, String flags) {
        DataParser parser = DataParser.parse(text).orElseThrow();
        assertThat(parser.version()).isEqualTo(version);
        assertThat(parser.name()).isEqualTo("data_parser/v0.0." + version + (flags == null ? "" : flags));
        assertThat(parser.notes()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"v0.0.41", "v0.0.46", "V0.0.45", "foo", "+fast", "v0.0.45,v0.0.44"})
    void unknownDataParserIsNotParsed(String text) {
        assertThat(DataParser.parse(text)).isEmpty();
    }

    @Test
    void unknownFlagsAreTold() {
        assertThat(DataParser.parse("v0.0.44+foo+fast+bar").orElseThrow().notes())
                .isEqualTo(List.of(
                        "warning: data_parser/v0.0.44 ignoring unknown flag foo",
                        "warning: data_parser/v0.0.44 ignoring unknown flag bar"));
        assertThat(DataParser.all())
                .containsExactly(
                        "data_parser/v0.0.42", "data_parser/v0.0.43", "data_parser/v0.0.44", "data_parser/v0.0.45");
    }

    @Test
    void newestVersionChangesNothing() {
        assertThat(shaped("v0.0.45", QUEUE)).isEqualTo(new String(Json.print(tree(QUEUE)), StandardCharsets.UTF_8));
    }

    @Test
    void olderVersionsLackLaterFieldsAndWords() {
        assertThat(shaped("v0.0.44", QUEUE))
                .contains(
                        "step_id",
                        "submit_line",
                        "EXPEDITED_REQUEUE",
                        "\"power\":{\"flags\":[]}",
                        "\"select_type\":[\"CORE\"]")
                .doesNotContain("container_type", "JOB_IMPLICIT_MAX_NODES");
        assertThat(shaped("v0.0.43", QUEUE))
                .contains("segment_size", "licenses_allocated")
                .doesNotContain("step_id", "submit_line", "EXPEDITED");
        assertThat(shaped("v0.0.42", QUEUE))
                .contains("SPREAD_JOB")
                .doesNotContain("segment_size", "licenses_allocated");
    }

    /** sacct's jobs have fields of the same names that changed in other versions. */
    @Test
    void accountedJobsHaveTheirOwnHistory() {
        assertThat(shaped("v0.0.44", ENDED))
                .contains("segment_size", "\"pid\":\"\"", "\"limit\"")
                .doesNotContain("sluid", "submit_line");
        assertThat(shaped("v0.0.42", ENDED))
                .contains("stdout_expanded")
                .doesNotContain("segment_size", "stdin", "\"limit\"");
    }

    @Test
    void partitionsHaveNumbersForWords() {
        assertThat(shaped("v0.0.44", PARTITIONS))
                .contains("\"task_binding\":4", "\"shares\":1", "\"jobs\":1", "\"select_type\":[]", "topology")
                .doesNotContain("DEFAULT", "preempt_mode", "exclusive");
        assertThat(shaped("v0.0.42", PARTITIONS)).doesNotContain("topology");
    }

    @Test
    void complexNumbersStandAloneAndTextsMayBeNull() {
        assertThat(shaped("v0.0.45+complex", QUEUE))
                .contains(
                        "\"time_limit\":\"Infinity\"",
                        "\"cpus\":3",
                        "\"deadline\":null",
                        "\"comment\":null",
                        "\"last_backfill\":9");
        assertThat(shaped("v0.0.45+complex", ENDED)).contains("\"kill_request_user\":\"\"", "\"limit\":\"Infinity\"");
        assertThat(shaped("v0.0.45+complex", PARTITIONS))
                .contains("\"shares\":null", "\"memory_per_cpu\":null", "\"flags\":null");
    }

    /** Lists that are generated during output are mapped row by row and not collected. */
    @Test
    void longListsAreMappedRowByRow() {
        int[] made = {0};
        Iterable<Json.Obj> rows = () -> List.of(tree("{\"sluid\":\"a\"}"), tree("{\"sluid\":\"b\"}")).stream()
                .peek(r -> made[0]++)
                .iterator();
        Object jobs = DataParser.parse("v0.0.43")
                .orElseThrow()
                .shaped(new Json.Obj().put("jobs", rows))
                .raw("jobs");
        assertThat(made[0]).isZero();
        assertThat((Iterable<?>) jobs).hasSize(2);
    }
}
