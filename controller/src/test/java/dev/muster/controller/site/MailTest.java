package dev.muster.controller.site;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Subjects as Slurm's own for the same histories. */
class MailTest {
    private State state = State.EMPTY;
    private long now = 1000;
    private final List<String> subjects = new ArrayList<>();

    private void happens(Change... changes) {
        for (Change change : changes) {
            together(change);
        }
    }

    private void together(Change... changes) {
        State before = state;
        state = state.apply(new Entry(now, now * 1000, -1, "Test", List.of(changes)));
        Mail.of(List.of(changes), before, state).forEach(m -> subjects.add(m.subject()));
    }

    private static Job job(int id, String types, String array) {
        return Codec.bind(
                Json.object(("{\"id\":%d,\"submitTime\":999,\"array\":{%s},".formatted(id, array)
                                + "\"desc\":{\"name\":\"x\",\"kind\":\"BATCH\",\"owner\":{\"user\":\"u\"},"
                                + "\"extras\":{\"mailType\":\"%s\"}}}".formatted(types))
                        .getBytes(StandardCharsets.UTF_8)),
                Job.class);
    }

    private Change ended(int id, JobState end, ExitStatus exit) {
        return new Change.JobEnded(id, end, JobReason.NONE, "", exit, now + 61);
    }

    private static ExitStatus status(String exit) {
        return exit.startsWith("0:9")
                ? ExitStatus.signaled(9)
                : ExitStatus.exited(Integer.parseInt(exit.split(":")[0]));
    }

    private Change requeued(int id) {
        return new Change.JobRequeued(id, false, JobReason.NONE, "", 1, now, false, ExitStatus.NONE);
    }

    private Change started(int id) {
        return started(id, 1);
    }

    private Change started(int id, int attempt) {
        return new Change.JobStarted(id, attempt, new dev.muster.core.state.Allocation(1, List.of()), 60, -1, false);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ALL        | COMPLETED | 0:0 | Began, Queued time 00:00:01; Ended, Run time 00:01:01, "
                        + "COMPLETED, ExitCode 0",
                "END        | FAILED    | 3:0 | Ended, Run time 00:01:01, FAILED, ExitCode 3",
                "FAIL       | FAILED    | 3:0 | Failed, Run time 00:01:01, FAILED, ExitCode 3",
                "END,FAIL   | FAILED    | 0:9 | Failed, Run time 00:01:01, FAILED",
                "FAIL       | CANCELLED | 0:0 | ''",
                "END        | CANCELLED | 0:0 | Ended, Run time 00:01:01, CANCELLED, ExitCode 0",
                "TIME_LIMIT | TIMEOUT   | 0:0 | Reached time limit, Run time 00:01:01",
                "NONE       | COMPLETED | 0:0 | ''",
                "NONE,ALL   | COMPLETED | 0:0 | ''",
                "ALL,NONE   | FAILED    | 3:0 | ''",
            })
    void jobMailHasSubjectsByTypeAndState(String types, JobState end, String exit, String wanted) {
        happens(new Change.JobSubmitted(job(7, types, "\"task\":-1")), started(7), ended(7, end, status(exit)));
        String all = String.join("; ", subjects).replace("Slurm Job_id=7 Name=x ", "");
        assertEquals(wanted, all);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ALL | Slurm Array Summary Job_id=7_* (7) Name=x Began; Slurm Array Summary Job_id=7_* (7) "
                        + "Name=x Failed, Mixed, ExitCode [0-3]",
                "ALL,ARRAY_TASKS | Slurm Array Task Job_id=7_0 (8) Name=x Began, Queued time 00:00:01; "
                        + "Slurm Array Task Job_id=7_1 (7) Name=x Began, Queued time 00:00:01; "
                        + "Slurm Array Task Job_id=7_0 (8) Name=x Ended, Run time 00:01:01, COMPLETED, ExitCode 0; "
                        + "Slurm Array Task Job_id=7_1 (7) Name=x Failed, Run time 00:01:01, FAILED, ExitCode 3",
            })
    void arrayMailIsASummaryOrPerTask(String types, String wanted) {
        happens(
                new Change.JobSubmitted(job(7, types, "\"jobId\":7,\"task\":-1,\"size\":2,\"pending\":\"0-1\"")),
                new Change.ArrayTaskSplit(7, 0, 8, 8),
                started(8),
                new Change.ArrayTaskSplit(7, 1, 7, 7),
                started(7),
                ended(8, JobState.COMPLETED, ExitStatus.NONE),
                ended(7, JobState.FAILED, ExitStatus.exited(3)));
        assertEquals(wanted, String.join("; ", subjects));
    }

    private void twoTasks(String types) {
        happens(new Change.JobSubmitted(job(7, types, "\"jobId\":7,\"task\":-1,\"size\":2,\"pending\":\"0-1\"")));
    }

    private void bothStart() {
        together(new Change.ArrayTaskSplit(7, 0, 8, 8), started(8), new Change.ArrayTaskSplit(7, 1, 7, 7), started(7));
    }

    private String ofArray() {
        return String.join("; ", subjects).replace("Slurm Array Summary Job_id=7_* (7) Name=x ", "");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ALL  | COMPLETED | 0:0 | COMPLETED | 0:0 | Began; Ended, COMPLETED, ExitCode [0-0]",
                "ALL  | FAILED    | 4:0 | FAILED    | 4:0 | Began; Failed, FAILED, ExitCode [4-4]",
                "END  | FAILED    | 1:0 | COMPLETED | 0:0 | Ended, Mixed, ExitCode [0-1]",
                "FAIL | FAILED    | 1:0 | COMPLETED | 0:0 | Failed, Mixed, ExitCode [0-1]",
                "ALL  | FAILED    | 0:9 | COMPLETED | 0:0 | Began; Ended, Mixed, MaxSignal [9]",
                "ALL  | CANCELLED | 0:0 | CANCELLED | 0:0 | Began; Ended, Mixed, MaxSignal [9]",
                "ALL  | TIMEOUT   | 0:0 | FAILED    | 1:0 | Began; Failed, Mixed, MaxExitCode [1]",
                "FAIL | FAILED    | 0:9 | FAILED    | 0:9 | Failed, Mixed, MaxSignal [9]",
                "FAIL | CANCELLED | 0:0 | COMPLETED | 0:0 | ''",
            })
    void tasksThatBeginAndEndTogetherAreOneMail(
            String types, JobState first, String firstExit, JobState second, String secondExit, String wanted) {
        twoTasks(types);
        bothStart();
        together(ended(8, first, status(firstExit)), ended(7, second, status(secondExit)));
        assertEquals(wanted, ofArray());
    }

    @Test
    void anArrayOfWhichNothingBeganIsOverToo() {
        twoTasks("ALL");
        happens(new Change.PendingJobEnded(7, JobState.CANCELLED, JobReason.NONE, "", now));
        assertEquals("Ended, Mixed, MaxSignal [9]", ofArray());
    }

    @Test
    void anArrayIsRequeuedOnce() {
        twoTasks("ALL");
        bothStart();
        happens(requeued(8), requeued(7));
        happens(
                started(8, 2),
                started(7, 2),
                ended(8, JobState.COMPLETED, ExitStatus.NONE),
                ended(7, JobState.COMPLETED, ExitStatus.NONE));
        assertEquals("Began; Requeued; Ended, COMPLETED, ExitCode [0-0], with requeued tasks", ofArray());
    }

    @Test
    void arrayBeginMailIsSentOnceThoughItsFirstTaskIsPurged() {
        twoTasks("BEGIN");
        happens(
                new Change.ArrayTaskSplit(7, 0, 8, 8),
                started(8),
                ended(8, JobState.COMPLETED, ExitStatus.NONE),
                new Change.NodeReleased(8, 1, "n1"),
                new Change.JobPurged(8),
                new Change.ArrayTaskSplit(7, 1, 7, 7),
                started(7));
        assertEquals("Began", ofArray());
    }
}
