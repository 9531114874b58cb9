package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.api.JobMessages.CancelReply;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands on arrays, on some of their tasks, and on arrays of other users. */
class ArrayJobsTest {
    /**
     * A command takes from each array the tasks that it names, however much it takes of other arrays and however often
     * it names the same task.
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1_1 1_2 2_1 2_2      | 1 PENDING [3]; 2 PENDING [3]",
                "1_1 1_2 2_1 2_2 1_3  | 1_3 CANCELLED; 2 PENDING [3]",
                "1_1 1_1 1_2 1_2 1_1  | 1 PENDING [3]; 2 PENDING [1-3]",
                "2_1 2 2_2            | 1 PENDING [1-3]; 2 CANCELLED [2-3]",
                "2 2_1 2              | 1 PENDING [1-3]; 2 CANCELLED [1-3]",
            })
    void commandTakesItsTasksFromEachArray(String named, String expected) {
        Cluster c = new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 default=yes", "");
        c.accept("kind=BATCH timing.array=1-3");
        c.accept("kind=BATCH timing.array=1-3");
        List<Command.JobRef> refs = Stream.of(named.split(" "))
                .map(n -> new Command.JobRef(
                        n, n.charAt(0) - '0', n.length() == 1 ? -1 : n.charAt(2) - '0', Command.JobRef.NO_STEP))
                .toList();
        CancelReply reply = (CancelReply)
                ((Decision.Accepted) c.apply(new Command.CancelJobs(Cluster.USER, refs, 0, false, false))).reply();
        assertThat(reply.errors()).isEmpty();
        assertThat(Stream.of(1, 2)
                        .map(id -> c.state().jobs().at(id))
                        .map(j -> j.id()
                                + (j.isArrayTask() ? "_" + j.array().task() : "") + " " + j.state()
                                + (j.isArrayRecord()
                                        ? " [" + j.array().pending().compact() + "]"
                                        : ""))
                        .collect(Collectors.joining("; ")))
                .isEqualTo(expected);
    }

    /** Another user's request about an array names its tasks, and splits off no task. */
    @Test
    void requestOnAnotherUsersArrayIsDeniedUnsplit() {
        Cluster c = new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 default=yes", "");
        int id = c.accept("kind=BATCH timing.array=1-3,5");
        Command.JobRef all = new Command.JobRef("" + id, id, -1, Command.JobRef.NO_STEP);
        Command.JobRef one = new Command.JobRef(id + "_2", id, 2, Command.JobRef.NO_STEP);
        Function<Command, String> told = asked -> TaskOutcomesTest.told(c, asked);
        assertThat(told.apply(new Command.HoldJobs(7, List.of(all, one), true, false)))
                .isEqualTo("[1_1-3,5: Invalid user id, 1_2: Invalid user id]");
        List<Command.JobRef> some = List.of(
                new Command.JobRef(id + "_[1-2]", id, 1, Command.JobRef.NO_STEP),
                new Command.JobRef(id + "_[1-2]", id, 2, Command.JobRef.NO_STEP));
        assertThat(told.apply(new Command.HoldJobs(7, some, true, false))).isEqualTo("[1_1-2: Invalid user id]");
        assertThat(told.apply(new Command.RequeueJobs(7, List.of(all), false, false)))
                .isEqualTo("[1_1-3,5: Access/permission denied]");
        assertThat(told.apply(new Command.UpdateJob(7, all, Map.of("comment", "x"))))
                .isEqualTo("[1_1-3,5: Invalid user id]");
        assertThat(told.apply(new Command.UpdateJob(7, one, Map.of("comment", "x"))))
                .isEqualTo("Invalid user id");
        assertThat(told.apply(new Command.CancelJobs(7, List.of(all), 0, false, false)))
                .isEqualTo("[1: Access/permission denied]");
        assertThat(c.state().jobs().size()).isEqualTo(1);
    }

    @Test
    void arrayUpdateChangesItsTasks() {
        Cluster c = new Cluster("n1 cpus=1 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "");
        new Play(c).lines("""
                submit kind=BATCH timing.array=1-4 timing.timeLimitMin=60
                schedule
                update 1_3 timelimit=5
                update 1_9 timelimit=5 -> says Invalid job id specified
                """);
        assertThat(limits(c)).isEqualTo("1=60 2=60 3=5 4=60");
        new Play(c).lines("""
                update 1_3 timelimit=6
                """);
        assertThat(limits(c)).isEqualTo("1=60 2=60 3=6 4=60");
        new Play(c).lines("""
                update 1 timelimit=4
                """);
        assertThat(limits(c)).isEqualTo("1=4 2=4 3=4 4=4");
    }

    private static String limits(Cluster c) {
        java.util.TreeMap<Integer, Integer> out = new java.util.TreeMap<>();
        c.state().jobs().values().forEach(j -> {
            int limit = j.state() == dev.muster.model.job.JobState.RUNNING
                    ? j.run().limitMin()
                    : j.desc().timing().timeLimitMin();
            if (j.array().task() >= 0) {
                out.put(j.array().task(), limit);
            }
            for (int t = j.array().pending().first();
                    t >= 0;
                    t = j.array().pending().next(t + 1)) {
                out.put(t, limit);
            }
        });
        return out.entrySet().stream()
                .map(e -> e.getKey() + "=" + e.getValue())
                .collect(java.util.stream.Collectors.joining(" "));
    }
}
