package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.view.JobQuery;
import dev.muster.controller.view.JobRowWriter;
import dev.muster.controller.view.JobViews;
import dev.muster.controller.view.OwnedJobs;
import dev.muster.core.command.Command;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.State;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.JobMessages.QueryJobs;
import dev.muster.scheduler.Scheduler;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which tasks of an array share a row, as in Slurm's squeue and scontrol. */
class ArrayRowsTest {
    private static String rows(State state, Site site, String query) {
        QueryJobs q = Codec.bind(Json.object(query.getBytes(StandardCharsets.UTF_8)), QueryJobs.class);
        JobViews views = new JobViews(
                state, (Scheduler) site.core().planner(), new DecisionTime(1, 1), "", Set.copyOf(q.fields()));
        Json.Writer out = new JobRowWriter(q, new JobQuery(state, q, new OwnedJobs(), j -> true).hits(), views)
                .together(new Json.Writer().raw("{\"jobs\":["));
        return Json.object(out.raw("]}").toByteArray()).objects("jobs").stream()
                .map(j -> j.integer("jobId") + " "
                        + (j.text("arrayTasks").isEmpty()
                                ? "" + j.integer("arrayTaskId")
                                : "[" + j.text("arrayTasks") + "]")
                        + " "
                        + (j.text("reasonText").isEmpty() ? j.text("reason") : j.text("reasonText")))
                .collect(Collectors.joining("; "));
    }

    private static Command.JobRef task(int array, int task) {
        return new Command.JobRef("", array, task, Command.JobRef.NO_STEP);
    }

    /** 1_4 has another name, 1_5 another partition; 1_2 (job 2) and 1_6 (job 5) are held by others than the rest. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''                         | 1 [1-3,6-9] JobHeldUser,JobHeldAdmin; 3 4 JobHeldUser; 4 5 JobHeldUser",
                "1                          | 1 [1-3,6-9] JobHeldUser,JobHeldAdmin; 4 5 JobHeldUser; 3 4 JobHeldUser",
                "1_1 1_3                    | 1 [1,3] JobHeldUser",
                "1_3 1_1 1_2                | 1 [1-3] JobHeldUser,JobHeldAdmin",
                "1_1                        | 1 1 JobHeldUser",
                "1_1 1_2                    | 1 1 JobHeldUser; 2 2 JobHeldAdmin",
                "1_2 1_6                    | 2 2 JobHeldAdmin; 5 6 JobHeldUser",
                "1_[7-9] 1_2                | 1 [2,7-9] JobHeldUser,JobHeldAdmin",
                "1_1 1                      | 1 [1-3,6-9] JobHeldUser,JobHeldAdmin; 4 5 JobHeldUser; 3 4 JobHeldUser",
            })
    void arrayTasksAreJoinedByNamePartitionAndReason(String named, String expected) {
        Site site = new Site("PartitionName=p Nodes=ALL Default=YES", "PartitionName=q Nodes=ALL");
        site.submit("timing.array=1-9 timing.hold=true");
        site.apply(new Command.HoldJobs(0, List.of(task(1, 2)), false, false));
        site.apply(new Command.HoldJobs(0, List.of(task(1, 2)), true, false));
        site.apply(new Command.UpdateJob(0, task(1, 4), Map.of("name", "other")));
        site.apply(new Command.UpdateJob(0, task(1, 5), Map.of("partition", "q")));
        site.apply(new Command.UpdateJob(0, task(1, 6), Map.of("nice", "5")));
        String jobs = Stream.of(named.split(" "))
                .filter(n -> !n.isEmpty())
                .map(n -> '"' + n + '"')
                .collect(Collectors.joining(","));
        assertThat(rows(site.core().state(), site, "{\"joinArrays\":true,\"jobs\":[" + jobs + "]}"))
                .isEqualTo(expected);
    }

    /**
     * Tasks that were changed one by one stand in one row with the one that is left in the array's record, and by
     * themselves without it.
     */
    @Test
    void changedTasksJoinTheLastTaskOfTheRecord() {
        Site site = new Site();
        site.submit("timing.array=1-3 timing.hold=true");
        site.apply(new Command.UpdateJob(0, task(1, 2), Map.of("nice", "5")));
        site.apply(new Command.UpdateJob(0, task(1, 3), Map.of("nice", "5")));
        String joined = "{\"joinArrays\":true,\"jobs\":[%s]}";
        assertThat(rows(site.core().state(), site, joined.formatted("\"1\""))).isEqualTo("1 [1-3] JobHeldUser");
        assertThat(rows(site.core().state(), site, joined.formatted(""))).isEqualTo("1 [1-3] JobHeldUser");
        assertThat(rows(site.core().state(), site, joined.formatted("\"1_1\",\"1_2\"")))
                .isEqualTo("1 1 JobHeldUser; 2 2 JobHeldUser");
        site.apply(new Command.CancelJobs(0, List.of(task(1, 1)), 0, false, false));
        assertThat(rows(site.core().state(), site, joined.formatted(""))).isEqualTo("2 2 JobHeldUser; 3 3 JobHeldUser");
    }

    /** A task that ran and waits again is none that was left in the array's record. */
    @Test
    void requeuedTasksStandByThemselves() {
        Site site = new Site("DefMemPerCPU=1");
        site.submit("timing.array=1-2");
        site.schedule();
        site.apply(new Command.RequeueJobs(0, List.of(task(1, 1), task(1, 2)), true, false));
        String rows = rows(site.core().state(), site, "{\"joinArrays\":true,\"jobs\":[]}");
        assertThat(rows).doesNotContain("[");
    }

    /**
     * The last of an array is a task like the others when those have started, and also when they have been changed by
     * themselves.
     */
    @Test
    void lastArrayTaskIsListedAsATask() {
        Site site = new Site();
        site.submit("timing.array=1-3%2");
        site.submit("timing.array=5-5");
        site.submit("timing.array=1-3 timing.hold=true");
        site.schedule();
        site.apply(new Command.CancelJobs(0, List.of(task(3, 1), task(3, 2)), 0, false, false));
        String all = rows(site.core().state(), site, "{\"jobs\":[\"1\",\"3\"],\"allStates\":true}");
        assertThat(all).contains("1 3 ", "3 [3] JobHeldUser").doesNotContain("1 [3");
    }
}
