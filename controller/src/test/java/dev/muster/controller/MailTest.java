package dev.muster.controller;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.muster.core.Change;
import dev.muster.core.Entry;
import dev.muster.core.Job;
import dev.muster.core.State;
import dev.muster.model.Codec;
import dev.muster.model.ExitStatus;
import dev.muster.model.JobReason;
import dev.muster.model.JobState;
import dev.muster.model.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Subjects as Slurm's own for the same histories. */
class MailTest {
    private State state = State.EMPTY;
    private long now = 1000;
    private final List<String> subjects = new ArrayList<>();

    private void happens(Change... changes) {
        for (Change change : changes) {
            State before = state;
            state = state.apply(new Entry(now, now * 1000, -1, "Test", List.of(change)));
            Mail.of(change, before, state).forEach(m -> subjects.add(m.subject()));
        }
    }

    private static Job job(int id, String types, String array) {
        return Codec.bind(Json.object(("{\"id\":%d,\"submitTime\":999,\"array\":{%s},".formatted(id, array)
                + "\"desc\":{\"name\":\"x\",\"kind\":\"BATCH\",\"owner\":{\"user\":\"u\"},"
                + "\"extras\":{\"mailType\":\"%s\"}}}".formatted(types)).getBytes(StandardCharsets.UTF_8)), Job.class);
    }

    private Change ended(int id, JobState end, ExitStatus exit) {
        return new Change.JobEnded(id, end, JobReason.NONE, "", exit, now + 61);
    }

    private Change started(int id) {
        return new Change.JobStarted(id, 1, new dev.muster.core.Allocation(1, List.of()), 60, -1, false);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "ALL        | COMPLETED | 0:0 | Began, Queued time 00:00:01; Ended, Run time 00:01:01, COMPLETED, ExitCode 0",
        "END        | FAILED    | 3:0 | ''",
        "FAIL       | FAILED    | 3:0 | Failed, Run time 00:01:01, FAILED, ExitCode 3",
        "END,FAIL   | FAILED    | 0:9 | Failed, Run time 00:01:01, FAILED",
        "FAIL       | CANCELLED | 0:0 | ''",
        "END        | CANCELLED | 0:0 | Ended, Run time 00:01:01, CANCELLED, ExitCode 0",
        "TIME_LIMIT | TIMEOUT   | 0:0 | Reached time limit, Run time 00:01:01",
        "NONE       | COMPLETED | 0:0 | ''",
    })
    void oneJob(String types, JobState end, String exit, String wanted) {
        ExitStatus status = exit.startsWith("0:9") ? ExitStatus.signaled(9) : ExitStatus.exited(Integer.parseInt(exit.split(":")[0]));
        happens(new Change.JobSubmitted(job(7, types, "\"task\":-1")), started(7), ended(7, end, status));
        String all = String.join("; ", subjects).replace("Slurm Job_id=7 Name=x ", "");
        assertEquals(wanted, all);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "ALL | Slurm Array Summary Job_id=7_* (7) Name=x Began; Slurm Array Summary Job_id=7_* (7) Name=x Failed, Mixed, ExitCode [0-3]",
        "ALL,ARRAY_TASKS | Slurm Array Task Job_id=7_0 (8) Name=x Began, Queued time 00:00:01; "
            + "Slurm Array Task Job_id=7_1 (7) Name=x Began, Queued time 00:00:01; "
            + "Slurm Array Task Job_id=7_0 (8) Name=x Ended, Run time 00:01:01, COMPLETED, ExitCode 0; "
            + "Slurm Array Task Job_id=7_1 (7) Name=x Failed, Run time 00:01:01, FAILED, ExitCode 3",
    })
    void anArray(String types, String wanted) {
        happens(new Change.JobSubmitted(job(7, types, "\"jobId\":7,\"task\":-1,\"size\":2,\"pending\":\"0-1\"")),
                new Change.ArrayTaskSplit(7, 0, 8, 8), started(8), new Change.ArrayTaskSplit(7, 1, 7, 7), started(7),
                ended(8, JobState.COMPLETED, ExitStatus.NONE), ended(7, JobState.FAILED, ExitStatus.exited(3)));
        assertEquals(wanted, String.join("; ", subjects));
    }
}
