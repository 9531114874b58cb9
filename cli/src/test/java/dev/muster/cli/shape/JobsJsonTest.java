package dev.muster.cli.shape;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Fields of pending and running jobs as release 26.05.3 prints them. */
class JobsJsonTest {
    private static Json.Obj row(String more) {
        String text = "{'jobId':7,'userName':'ann','state':'PENDING','tresRequested':'cpu=1,billing=3'" + more + "}";
        return Json.object(text.replace('\'', '"').getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    private static String printed(String field, String more) {
        Json.Obj job = JobsJson.job(new Names("c", id -> "ann"), row(more));
        return new String(Json.print(job.raw(field)), java.nio.charset.StandardCharsets.UTF_8).replace('"', '\'');
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            billable_tres |                                              | {'set':false,'infinite':false,'number':0.0}
            billable_tres    | ,'state':'RUNNING','tresAlloc':'billing=3'   | {'set':true,'infinite':false,'number':3.0}
            cpus_per_task    |                                              | {'set':true,'infinite':false,'number':1}
            cpus_per_task    | ,'cpusPerTask':4                             | {'set':true,'infinite':false,'number':4}
            tasks_per_core   |                                              | {'set':false,'infinite':true,'number':0}
            tasks_per_socket | ,'tasksPerSocket':2                          | {'set':true,'infinite':false,'number':2}
            tasks_per_node   |                                              | {'set':true,'infinite':false,'number':0}
            tasks_per_board  |                                              | {'set':true,'infinite':false,'number':0}
            max_cpus         | ,'cpusMax':2                                 | {'set':true,'infinite':false,'number':0}
            mail_user        |                                              | 'ann'
            mail_user        | ,'mailUser':'a@b'                            | 'a@b'
            shared           | ,'exclusive':'NODE'                          | []
            shared           | ,'oversubscribe':true                        | []
            shared           | ,'exclusive':'USER'                          | []
            state_reason     | ,'reason':'RaisedSignal','exit':{'signal':9} | 'RaisedSignal'
            state_description | ,'reason':'RaisedSignal','exit':{'signal':9} | 'RaisedSignal:9(Killed)'
            state_reason     | ,'reason':'Resources','reasonText':'Some words' | 'Resources'
            thread_spec      | ,'threadSpec':0                              | 32766
            max_nodes        | ,'nodeCountMax':3,'nodes':'n1'               | {'set':true,'infinite':false,'number':0}
            max_nodes        | ,'nodeCountMax':3                            | {'set':true,'infinite':false,'number':3}
            """)
    void jsonFieldHasItsValue(String field, String more, String value) {
        assertThat(printed(field, more == null ? "" : more)).isEqualTo(value);
    }

    /** Before v0.0.45 a single list has the values of exclusive and oversubscribe. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"NODE | false | none", "USER | false | user", "NO | true | oversubscribe", "NO | false | ''"})
    void olderDataParsersSayHowAJobShares(String exclusive, boolean oversubscribe, String word) {
        Json.Obj job = new Json.Obj().put("exclusive", exclusive).put("oversubscribe", oversubscribe);
        Json.Obj shown = JobsJson.answer(new Names("c", uid -> "u"), new Json.Obj().put("jobs", List.of(job)), 44)
                .objects("jobs")
                .getFirst();
        assertThat(String.join(",", shown.texts("shared"))).isEqualTo(word);
        assertThat(shown.has("job_resources")).isTrue();
        assertThat(shown.raw("job_resources")).isNull();
    }

    @Test
    void unfinishedJobsHaveNotFailed() {
        assertThat(printed("exit_code", "")).contains("'status':['SUCCESS']");
        assertThat(printed("step_id", "")).contains("'step_id':'entire'");
    }

    /** {@code squeue -s --json} names a step's parts one by one. */
    @Test
    void stepsAreFlat() {
        Json.Obj step = Json.object(
                ("{'jobId':9,'arrayJobId':4,'arrayTaskId':1,'stepId':'0','name':'hi','nodes':'n[1-2]','tasks':2,"
                                + "'cpus':2,"
                                + "'startTime':100,'timeLimitMin':0,'state':'RUNNING','userName':'ann',"
                                + "'tresAlloc':'cpu=2'}")
                        .replace('\'', '"')
                        .getBytes(StandardCharsets.UTF_8));
        Json.Obj shown =
                ControlJson.steps("test", List.of(step), 130).objects("steps").getFirst();
        assertThat(shown.text("id")).isEqualTo("9.0");
        assertThat(shown.text("nodes")).isEqualTo("n[1-2]");
        assertThat(shown.obj("array").number("task_id")).isEqualTo(1);
        assertThat(shown.obj("time").obj("running").number("number")).isEqualTo(30);
        assertThat(shown.number("number_tasks")).isEqualTo(2);
        assertThat(shown.obj("tres").text("allocation")).isEqualTo("cpu=2");
        assertThat(shown.fields().keySet())
                .contains("cpu", "srun", "sluid", "reserved_ports", "stdout_expanded", "task", "submit_line");
    }

    @Test
    void stateAloneIsANumberAndItsStates() {
        Json.Obj running = row(",'state':'RUNNING','flags':['CONFIGURING']");
        Json.Obj shown = ControlJson.states(List.of(running)).objects("jobs").getFirst();
        assertThat(new String(Json.print(shown), StandardCharsets.UTF_8))
                .isEqualTo("{\"job_id\":\"7\",\"state\":[\"RUNNING\",\"CONFIGURING\"]}");
    }
}
