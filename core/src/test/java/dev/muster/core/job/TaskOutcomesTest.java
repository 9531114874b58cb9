package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.api.JobMessages.CancelReply;
import dev.muster.model.format.IndexSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests requests for a whole array, or for several of its tasks. */
class TaskOutcomesTest {
    static String told(Cluster c, Command asked) {
        return switch (c.apply(asked)) {
            case Decision.Accepted a ->
                ((CancelReply) a.reply())
                        .errors().stream()
                                .map(e -> e.job() + ": " + e.error())
                                .toList()
                                .toString();
            case Decision.Rejected r -> r.sentence();
        };
    }

    /**
     * All tasks are told of where something cannot be had of some, those together that had the same; with Slurm's
     * words.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            update 1 mincpusnode=1   | [1_1,3: Job is no longer pending execution, 1_2: Job has already finished, 1_4-6: No error]
            update 1 comment=x       | [1_1,3-6: No error, 1_2: Job has already finished]
            update 1_3 mincpusnode=1 | Job is no longer pending execution
            update 1_4 mincpusnode=1 | []
            update 1 licenses=nope   | [1_1,3-6: Invalid license specification, 1_2: Job has already finished]
            update 1 nosuch=1        | Updating nosuch of a job is not supported by this version of Muster
            hold 1                   | [1_1,3-6: No error, 1_2: Job has already finished]
            hold 1_[2-4,7]           | [1_2: Job has already finished, 1_3-4: No error, 1_7: Invalid job id specified]
            hold 1_4                 | []
            hold 1_[4-5]             | []
            hold 9_[4-5]             | [9_4-5: Invalid job id specified]
            hold 9                   | [9: Invalid job id specified]
            suspend 1                | [1_1,3: No error, 1_2: Job/step already completing or completed, 1_4-6: Job is pending execution]
            requeue 1                | [1_1,3: No error, 1_2: Job can not be altered now, try again later, 1_4-6: Job is pending execution]
            """)
    void tasksWithTheSameOutcomeAreToldOfTogether(String asked, String lines) {
        Cluster c = new Cluster("n1 cpus=3 mem=1000", "p nodes=n1 default=yes", "requeueJobs=true");
        c.accept("kind=BATCH timing.array=1-6 memPerCpuMb=1");
        new Play(c).lines("schedule\ncancel 1_2");
        String[] w = asked.split(" ");
        JobName name = JobName.of(w[1]);
        assertThat(told(
                        c,
                        switch (w[0]) {
                            case "update" ->
                                new Command.UpdateJob(
                                        0, name.refs().getFirst(), Map.of(w[2].split("=")[0], w[2].split("=")[1]));
                            case "hold" -> new Command.HoldJobs(0, name.refs(), true, false);
                            case "suspend" -> new Command.SuspendJobs(0, name.refs(), true);
                            default -> new Command.RequeueJobs(0, name.refs(), false, false);
                        }))
                .isEqualTo(lines);
    }

    private record JobName(String text, int id, IndexSet tasks) {
        static JobName of(String text) {
            String[] parts = text.split("_");
            return new JobName(
                    text,
                    Integer.parseInt(parts[0]),
                    parts.length < 2
                            ? IndexSet.empty()
                            : IndexSet.parseSpec(parts[1], 9).getFirst().indexes());
        }

        List<Command.JobRef> refs() {
            List<Command.JobRef> out = new ArrayList<>();
            for (int t = tasks.isEmpty() ? -1 : tasks.first(); t >= 0; t = tasks.next(t + 1)) {
                out.add(new Command.JobRef(text, id, t, Command.JobRef.NO_STEP));
            }
            return out.isEmpty() ? List.of(new Command.JobRef(text, id, -1, Command.JobRef.NO_STEP)) : out;
        }
    }
}
