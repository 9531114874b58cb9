package dev.muster.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Behind each of these fields stands what slurmctld or slurmdbd says, and no constant. */
class TrueValuesTest {
    /** What is answered to us, the list that a field is in, its place, and how it reads then. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            jobs | switches | '2@0:10' | required_switches | 2
            jobs | switches | '2@0:10' | maximum_switch_wait_time | 10
            jobs | switches | '2'      | maximum_switch_wait_time | 0
            jobs | delayBootMin | 7    | delay_boot/number | 7
            jobs | exclusive | 'NODE'  | shared | []
            jobs | oversubscribe | true | shared | []
            jobs | hetJobIdSet | '3-4' | het_job_id_set | 3-4
            jobs | cpusPerTres | 'gres/gpu:2' | cpus_per_tres | gres/gpu:2
            jobs | memPerTres | 'gres/gpu:9' | memory_per_tres | gres/gpu:9
            jobs | tresFreq | 'gpu:high' | tres_freq | gpu:high
            jobs | tresAlloc | 'cpu=1,billing=12' | billable_tres/number | 12.0
            jobs | backfilled | true   | flags | ["BACKFILL_ATTEMPTED"]
            jobs | cronSpec | '0 * * * *' | flags | ["CRON_JOB"]
            jobs | dependency | 'afterok:1' | flags | ["DEPENDENT"]
            jobs | expedite | true     | flags | ["EXPEDITED_REQUEUE"]
            jobs | batchFeatures | 'f1' | batch_features | f1
            jobs | tasksPerGpu | 2     | tasks_per_tres/number | 2
            jobs | lastBackfill | 1234 | /last_backfill/number | 1234
            jobs | lastUpdate | 1235   | /last_update/number | 1235
            jobs/state | lastBackfill | 1234 | /last_backfill/number | 1234
            partitions | overSubscribe | 'FORCE:4' | maximums/oversubscribe/jobs | 4
            partitions | overSubscribe | 'FORCE:4' | maximums/oversubscribe/flags | ["force"]
            partitions | overSubscribe | 'NO' | maximums/shares | 0
            partitions | overSubscribe | 'EXCLUSIVE' | maximums/shares | 0
            partitions | resumeTimeout | '70' | timeouts/resume/number | 70
            partitions | suspendTimeout | 'GLOBAL' | timeouts/suspend/set | false
            partitions | suspendTime | 'INFINITE' | suspend_time/infinite | true
            partitions | topology | 't1' | topology | t1
            reservations | licenses | 'a:2' | licenses | a:2
            """)
    void fieldShowsTheDaemonsValue(String list, String component, String value, String place, String expected)
            throws IOException {
        Rig rig = new Rig();
        String message = "Query" + Character.toUpperCase(list.charAt(0))
                + list.replaceAll("/.*", "").substring(1);
        String name = list.replaceAll("/.*", "");
        boolean head = place.startsWith("/");
        String row = "{'name':'x','jobId':1,'state':'PENDING'" + (head ? "" : ",'" + component + "':" + value) + "}";
        String reply = "{" + (head ? "'" + component + "':" + value + "," : "") + "'now':1800000000,'" + name + "':["
                + row + "]}";
        rig.answers.put(message, Json.object(reply.replace('\'', '"').getBytes(StandardCharsets.UTF_8)));
        Json.Obj answer = rig.tree("GET", "/slurm/v0.0.45/" + list + "/", "");
        Object at = head ? answer : answer.objects(name).getFirst();
        for (String step : place.substring(head ? 1 : 0).split("/")) {
            at = ((Json.Obj) at).raw(step);
        }
        assertThat(at instanceof String s ? s : new String(Json.print(at), StandardCharsets.UTF_8))
                .isEqualTo(expected);
    }
}
