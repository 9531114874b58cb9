package dev.muster.controller.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Reason and priority in the rows of waiting jobs. */
class WaitReasonRowsTest extends EmbeddedAccountingFixture {
    /** A job's row keeps the last reason but its turn: while it runs, when it is over, and after a restart. */
    @Test
    void jobRowKeepsItsLastWaitReason() {
        open();
        JobReason[] told = {JobReason.LICENSES};
        accounting.queue(new WaitReasons.Queue(id -> told[0], id -> OptionalLong.of(700)));
        submitted();
        assertThat(row()).isEqualTo("PENDING Licenses 5");
        told[0] = JobReason.QOS_MAX_JOBS_PER_USER_LIMIT;
        happens("Tick", new Change.TimePassed());
        assertThat(row()).isEqualTo("PENDING QOSMaxJobsPerUserLimit 5");
        told[0] = JobReason.PRIORITY;
        happens("Tick", new Change.TimePassed());
        assertThat(row()).isEqualTo("PENDING QOSMaxJobsPerUserLimit 5");
        started(1);
        assertThat(row()).startsWith("RUNNING QOSMaxJobsPerUserLimit ");
        accounting.close();
        open();
        accounting.begin(journal.size(), state);
        Entry end = new Entry(
                200_000,
                200_000,
                0,
                "End",
                List.of(new Change.JobEnded(
                        7, JobState.FAILED, JobReason.NON_ZERO_EXIT_CODE, "", ExitStatus.exited(3), 200)));
        journal.add(end);
        accounting.follow(journal.size(), end, state.apply(end));
        assertThat(row()).startsWith("FAILED QOSMaxJobsPerUserLimit ");
    }

    /** A job that ends before it begins has no reason, and the flag of a job that the table knows. */
    @Test
    void aJobThatNeverBeganWaitedForNothing() {
        open();
        accounting.queue(new WaitReasons.Queue(id -> JobReason.LICENSES, id -> OptionalLong.of(700)));
        submitted();
        assertThat(row()).isEqualTo("PENDING Licenses 5");
        happens("Cancel", new Change.PendingJobEnded(7, JobState.CANCELLED, JobReason.NONE, "by 0", 200));
        assertThat(row()).isEqualTo("CANCELLED None 5");
        assertThat(all(false).getFirst().job().flags()).isEqualTo("StartReceived");
    }

    /** PriorityType=priority/multifactor: the number that the queue goes by, of those that are in no queue as well. */
    @Test
    void aRowHasThePriorityOfTheQueue() {
        open();
        happens(
                "Config",
                new Change.ConfigApplied(
                        json(
                                "{'options':{'priority_type':'priority/multifactor','priority_weight_age':'0'}}",
                                dev.muster.core.state.Settings.class),
                        List.of(),
                        List.of()));
        accounting.queue(new WaitReasons.Queue(id -> JobReason.NONE, id -> OptionalLong.of(700)));
        submitted();
        assertThat(row()).isEqualTo("PENDING None 700");
        accounting.queue(new WaitReasons.Queue(id -> JobReason.DEPENDENCY, id -> OptionalLong.empty()));
        happens("Tick", new Change.TimePassed());
        assertThat(row()).startsWith("PENDING Dependency ").doesNotEndWith(" 5");
    }

    @Test
    void aHoldIsWhyAJobWaited() {
        open();
        submitted();
        happens("Update", new Change.PriorityChanged(7, 0, 1000, JobReason.JOB_HELD_USER, ""));
        assertThat(row()).isEqualTo("PENDING JobHeldUser 0");
        happens("Update", new Change.PriorityChanged(7, 9, -1, JobReason.NONE, ""));
        started(1);
        assertThat(row()).startsWith("RUNNING JobHeldUser ");
    }
}
