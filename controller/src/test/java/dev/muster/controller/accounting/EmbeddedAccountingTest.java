package dev.muster.controller.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.accounting.table.RowSink;
import dev.muster.controller.view.JobRows;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.Job;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.model.accounting.AccountingRows;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.JobWithSteps;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.AccountingRows.StepRow;
import dev.muster.model.accounting.AccountingRows.Usage;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.job.TaskPeaks;
import dev.muster.model.job.UsageSample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EmbeddedAccountingTest extends EmbeddedAccountingFixture {
    /** The table has the file that --error names: a job without it has one stream. */
    @Test
    void stderrIsTheFileThatWasAskedFor() {
        open();
        String job = """
            {'id':ID,'sluid':ID,'array':{'jobId':0,'task':-1},'state':'PENDING','reason':'NONE','priority':5,
             'submitTime':100,'eligibleTime':100,'holdUid':-1,
             'desc':{'kind':'BATCH','name':'x','partition':'p','owner':{'uid':1000,'gid':100,'user':'u','group':'g'},
                     'files':{'stdout':'L28=','stderr':'ERR'},'payload':{'scriptHash':'s','envHash':'e'},
                     'charge':{'account':'a'}}}""";
        happens("Submit", new Change.JobSubmitted(json(job.replace("ID", "1").replace("ERR", ""), Job.class)));
        happens("Submit", new Change.JobSubmitted(json(job.replace("ID", "2").replace("ERR", "L2U="), Job.class)));
        assertThat(all(false))
                .extracting(r -> r.job().stdout() + " " + r.job().stderr())
                .containsExactly("/o ", "/o /e");
    }

    private void tasksEnded(String node, TaskPeaks.Task... tasks) {
        TaskPeaks peaks = TaskPeaks.NONE;
        for (TaskPeaks.Task t : tasks) {
            peaks = peaks.and(t);
        }
        happens(
                "StepExited",
                new Change.StepPartEnded(
                        7,
                        0,
                        node,
                        ExitStatus.NONE,
                        Map.of(),
                        "",
                        new Change.Usage(
                                500,
                                100,
                                peaks.rssKb().max(),
                                0,
                                30,
                                40,
                                1,
                                0,
                                0,
                                0,
                                peaks,
                                1_000_000,
                                UsageSample.NONE)));
    }

    /** Each value is that of the task which had it, whichever node tells first; averages are over all four. */
    @Test
    void singleTasksAreToldApart() {
        List<TaskPeaks.Task> one = List.of(
                new TaskPeaks.Task(0, 100, 1000, 9000, 4, 10, 5), new TaskPeaks.Task(1, 500, 3000, 7000, 0, 20, 35));
        List<TaskPeaks.Task> two =
                List.of(new TaskPeaks.Task(2, 90, 2000, 9500, 4, 30, 0), new TaskPeaks.Task(3, 510, 2000, 0, 8, 0, 40));
        for (boolean turned : List.of(false, true)) {
            journal.clear();
            state = State.EMPTY;
            open();
            submitted();
            started(1);
            for (String node : turned ? List.of("n2", "n1") : List.of("n1", "n2")) {
                tasksEnded(node, (node.equals("n1") ? one : two).toArray(new TaskPeaks.Task[0]));
            }
            Usage u = all(false).getFirst().steps().getFirst().usage();
            assertThat(u.extremes())
                    .isEqualTo("cpu=510@3@n2/90@2@n2,mem=3000@1@n1/1000@0@n1,vmem=9500@2@n2/0@3@n2,pages=8@3@n2/0@1@n1,"
                            + "read=30@2@n2/0@3@n2,write=40@3@n2/0@2@n2");
            assertThat(u.maxRssKb() + u.maxRssNode() + u.maxRssTask()).isEqualTo("3000n11");
            assertThat(u.maxVmKb() + u.maxVmNode() + u.maxVmTask()).isEqualTo("9500n22");
            assertThat(List.of(u.aveRssKb(), u.aveVmKb(), u.avePages(), u.minCpuUs(), u.aveCpuUs(), u.userCpuUs()))
                    .isEqualTo(List.of(2000L, 6375L, 4L, 90L, 300L, 1000L));
        }
    }

    /** Tables of straw: the step rows that come, in order. */
    private static final class Rows implements RowSink, EmbeddedAccounting.RowQueries {
        private final Map<Integer, JobRow> last = new ConcurrentSkipListMap<>();
        /** Rows of jobs that were written more than once at the same time. */
        private final AtomicInteger twice = new AtomicInteger();

        private final List<StepRow> steps = new CopyOnWriteArrayList<>();
        private volatile long reached;

        @Override
        public long sequence() {
            return reached;
        }

        @Override
        public void write(List<AccountingRows.Batch> batches) {
            List<JobRow> jobs = batches.stream().flatMap(b -> b.jobs().stream()).toList();
            jobs.forEach(j -> last.put(j.restarts(), j));
            twice.addAndGet(jobs.size()
                    - (int) jobs.stream().map(JobRow::restarts).distinct().count());
            batches.forEach(b -> steps.addAll(b.steps()));
            reached = batches.getLast().seq();
        }

        @Override
        public long checkpoint() {
            return reached;
        }

        @Override
        public Optional<JobRow> job(long sluid, int restarts) {
            return Optional.empty();
        }

        @Override
        public Optional<StepRow> step(long sluid, int restarts, int stepId) {
            return Optional.empty();
        }

        @Override
        public AccountingRows.Answer answer(AccountingRows.Query query, String cluster) {
            throw new IllegalStateException("nobody asks");
        }

        @Override
        public void close() {}
    }

    /** A job's changes while its rows wait make one row; an attempt that has ended has its own. */
    @Test
    void aRowIsMadeOnceForAllThatHappensWhileItWaits() {
        Rows rows = new Rows();
        accounting = new EmbeddedAccounting(rows, rows, hash -> Bytes.EMPTY, s -> {}, 1_000);
        accounting.begin(0, State.EMPTY);
        submitted();
        started(1);
        happens("RequeueJobs", new Change.JobRequeued(7, false, JobReason.NONE, "", 5, 40, false));
        happens("NodeRules", new Change.NodeReleased(7, 1, "n1"), new Change.NodeReleased(7, 1, "n2"));
        happens("Cancel", new Change.PendingJobEnded(7, JobState.CANCELLED, JobReason.NONE, "by 0", 50));
        assertThat(accounting.awaitRows(5_000)).isTrue();
        assertThat(rows.last.values().stream().map(j -> j.restarts() + " " + j.state() + " " + j.endTime()))
                .containsExactly("0 REQUEUED 40", "1 CANCELLED 50");
        assertThat(rows.twice.get()).isZero();
        accounting.close();
    }

    /**
     * The common part of a step's end is made once for all nodes of a job that is over: each node tells the end of its
     * part.
     */
    @Test
    void commonPartOfAStepRowIsMadeOnceForAllNodes() {
        for (boolean cancelled : List.of(false, true)) {
            journal.clear();
            state = State.EMPTY;
            Rows rows = new Rows();
            accounting = new EmbeddedAccounting(rows, rows, hash -> Bytes.EMPTY, System.err::println, 1000);
            submitted();
            started(1);
            if (cancelled) {
                happens(
                        "CancelJobs",
                        new Change.JobEnded(7, JobState.CANCELLED, JobReason.NONE, "by 1000", ExitStatus.NONE, 9),
                        new Change.StepEnding(7, 0, "Cancelled by 1000", false));
            }
            partEnded("n1", ExitStatus.signaled(15), 100, 1000);
            assertThat(accounting.awaitRows(10_000)).isTrue();
            StepRow before = rows.steps.get(rows.steps.size() - 2);
            StepRow after = rows.steps.getLast();
            assertThat(after.nodes()).isEqualTo("n[1-2]").isSameAs(before.nodes());
            assertThat(after)
                    .isEqualTo(JobRows.step(
                            state,
                            state.jobs().at(7),
                            state.jobs().at(7).step(0).orElseThrow(),
                            after.usage(),
                            0));
            assertThat(after.exit()).isEqualTo(ExitStatus.signaled(15));
            accounting.close();
        }
    }

    /**
     * A row for each size: the first ends where the second begins, steps stay with the size that they were started in.
     */
    @Test
    void aJobThatBecomesSmallerHasARowForEachSize() {
        open();
        submitted();
        started(1);
        happens("UpdateJob", new Change.JobShrunk(7, List.of("n2"), 200));
        happens("CreateStep", new Change.StepStarted(7, json("""
            {'id':1,'desc':{'name':'after'},'state':'RUNNING','startTime':200,
             'nodes':[{'node':'n1','tasks':[0],'cpus':2,'memoryMb':512}]}""", Step.class)));
        partEnded("n1", ExitStatus.exited(0), 10, 1);
        happens("JobEnded", new Change.JobEnded(7, JobState.COMPLETED, JobReason.NONE, "", ExitStatus.exited(0), 300));
        List<JobWithSteps> rows = all(true);
        assertThat(rows)
                .extracting(r -> r.job().state() + " " + r.job().startTime() + "-"
                        + r.job().endTime() + " " + r.job().nodes() + " "
                        + r.steps().stream().map(StepRow::name).toList())
                .containsExactly("RESIZING 2-200 n[1-2] [true]", "COMPLETED 200-300 n1 [after]");
        long first = rows.getFirst().job().sluid();
        long second = rows.getLast().job().sluid();
        assertThat(second).isNotEqualTo(first);
        assertThat(Sluid.original(second)).isEqualTo(first).isEqualTo(70);
        assertThat(rows.getLast().job().tresAllocated()).startsWith("cpu=2,");
        assertThat(all(true, Sluid.text(first))).containsExactly(rows.getFirst());
        assertThat(all(true, Sluid.text(second))).containsExactly(rows.getLast());
        assertThat(all(true, Sluid.text(71))).isEmpty();
    }

    @Test
    void jobAndStepRowsFollowTheJobsLife() {
        open();
        happens(
                "Config",
                new Change.ConfigApplied(
                        json("{'memoryConsumed':true}", dev.muster.core.state.Settings.class), List.of(), List.of()));
        submitted();
        JobRow pending = all(false).getFirst().job();
        assertThat(pending.state()).isEqualTo("PENDING");
        assertThat(pending.cpusRequested()).isEqualTo(4);
        assertThat(pending.nodeCount()).isEqualTo(2);
        assertThat(pending.tresRequested()).isEqualTo("cpu=4,mem=40M,node=2,billing=4");
        assertThat(pending.cpusAllocated()).isZero();
        started(1);
        JobRow running = all(false).getFirst().job();
        assertThat(running.state()).isEqualTo("RUNNING");
        assertThat(running.nodes()).isEqualTo("n[1-2]");
        assertThat(running.tresAllocated()).isEqualTo("cpu=4,mem=1G,node=2,billing=4,gres/gpu=1");
        assertThat(running.limitMin()).isEqualTo(60);
        partEnded("n1", ExitStatus.NONE, 100, 1000);
        restart();
        partEnded("n2", ExitStatus.exited(3), 300, 3000);
        happens("StepExited", new Change.StepEnded(7, 0, 9));
        happens(
                "Complete",
                new Change.JobEnded(7, JobState.FAILED, JobReason.NON_ZERO_EXIT_CODE, "", ExitStatus.exited(3), 10));
        JobWithSteps over = all(false).getFirst();
        assertThat(over.job().state()).isEqualTo("FAILED");
        assertThat(over.job().exit()).isEqualTo(ExitStatus.exited(3));
        assertThat(over.job().derivedExit()).isEqualTo(ExitStatus.exited(3));
        assertThat(over.job().endTime()).isEqualTo(10);
        StepRow step = over.steps().getFirst();
        assertThat(step.state()).isEqualTo("FAILED");
        assertThat(step.tasks()).isEqualTo(4);
        assertThat(step.usage().userCpuUs()).isEqualTo(400);
        assertThat(step.usage().maxRssKb()).isEqualTo(3000);
        assertThat(step.usage().maxRssNode()).isEqualTo("n2");
        assertThat(step.usage().maxRssTask()).isEqualTo(2);
        assertThat(step.usage().aveRssKb()).isEqualTo(2000);
        assertThat(List.of(
                        step.usage().energyJ(),
                        step.usage().netInBytes(),
                        step.usage().netOutBytes()))
                .isEqualTo(List.of(200L, 14L, 16L));
        assertThat(step.usage().metered()).isEqualTo(new UsageSample(6, 8, 2, 100, 90, 2000, 1000).text());
        assertThat(step.usage().minCpuUs()).isEqualTo(100);
        assertThat(step.endTime()).isEqualTo(9);
        restart();
        assertThat(all(false)).containsExactly(over);
    }

    @Test
    void cancelledJobRecordsTheCancellingUser() {
        open();
        submitted();
        happens("Cancel", new Change.PendingJobEnded(7, JobState.CANCELLED, JobReason.NONE, "by 1000", 50));
        JobRow row = all(false).getFirst().job();
        assertThat(row.cancelledBy()).isEqualTo(1000);
        assertThat(row.endTime()).isEqualTo(50);
    }

    @Test
    void aRequeuedAttemptKeepsItsRow() {
        open();
        submitted();
        started(1);
        happens("Hold", new Change.PriorityChanged(7, 0, 0, JobReason.JOB_HELD_ADMIN, ""));
        happens("RequeueJobs", new Change.JobRequeued(7, false, JobReason.NONE, "", 5, 200, false));
        List<JobWithSteps> rows = all(true);
        assertThat(rows).extracting(r -> r.job().state()).containsExactly("REQUEUED", "PENDING");
        assertThat(rows.get(0).job().reason()).as("held while it ran").isEqualTo("None");
        assertThat(rows.get(0).job().endTime()).isEqualTo(200);
        assertThat(rows.get(0).steps())
                .extracting(s -> s.state() + " " + s.exit())
                .containsExactly("CANCELLED " + ExitStatus.signaled(15));
        assertThat(rows.get(1).job().submitTime()).isEqualTo(200);
        assertThat(rows.get(1).job().startTime()).isZero();
        assertThat(rows.get(1).job().nodes()).isEmpty();
        assertThat(all(false)).hasSize(1);
    }

    /**
     * The row of an attempt that had ended keeps its state, code and end, whether a user or a rule asks for another
     * one.
     */
    @Test
    void anEndedAttemptStaysAsItEnded() {
        open();
        submitted();
        started(1);
        happens(
                "NodeReport",
                new Change.JobEnded(7, JobState.FAILED, JobReason.NON_ZERO_EXIT_CODE, "", ExitStatus.exited(3), 200),
                new Change.NodeReleased(7, 1, "n1"));
        happens("RequeueJobs", new Change.JobRequeued(7, false, JobReason.NONE, "", 5, 300, false));
        started(2);
        happens(
                "NodeReport",
                new Change.JobEnded(7, JobState.COMPLETED, JobReason.NONE, "", ExitStatus.NONE, 400),
                new Change.NodeReleased(7, 2, "n1"));
        happens("Tick", new Change.JobRequeued(7, false, JobReason.NONE, "", 5, 500, false));
        assertThat(all(true))
                .extracting(r -> r.job().state() + " " + r.job().exit() + " "
                        + r.job().endTime() + " " + r.job().restarts())
                .containsExactly(
                        "FAILED " + ExitStatus.exited(3) + " 200 0",
                        "COMPLETED " + ExitStatus.NONE + " 400 1",
                        "PENDING " + ExitStatus.NONE + " 0 2");
    }

    /** RequeueExit and the like: no node failed, and the code that sent it back is the attempt's. */
    @Test
    void anAttemptThatItsExitCodeSentBackHasTheCode() {
        open();
        submitted();
        started(1);
        happens(
                "NodeReport",
                new Change.JobRequeued(7, true, JobReason.JOB_HELD_USER, "", 0, 200, true, ExitStatus.exited(12)));
        assertThat(all(true))
                .extracting(r -> r.job().state() + " " + r.job().exit() + " "
                        + r.job().submitTime() + " " + r.job().reason())
                .containsExactly(
                        "REQUEUED " + ExitStatus.exited(12) + " 100 None",
                        "PENDING " + ExitStatus.NONE + " 200 JobHeldUser");
    }

    /** Cancelled, a job has no exit code, before another attempt and after. */
    @Test
    void aCancelledAttemptStaysAsItEnded() {
        open();
        submitted();
        happens(
                "Schedule",
                new Change.JobStarted(7, 1, new Allocation(1, List.of(share("n1", Map.of()))), 60, 1, false),
                new Change.StepStarted(
                        7,
                        json(
                                ("{'id':-1,'desc':{'name':''},'state':'RUNNING','startTime':3,'nodes':[{'node':'n1',"
                                                + "'tasks':[0]}]}")
                                        .replace("-1", Integer.toString(Step.BATCH)),
                                Step.class)));
        happens("Cancel", new Change.JobEnded(7, JobState.CANCELLED, JobReason.NONE, "by 0", ExitStatus.NONE, 200));
        happens(
                "StepExited",
                new Change.StepPartEnded(
                        7,
                        Step.BATCH,
                        "n1",
                        ExitStatus.signaled(15),
                        Map.of(),
                        "",
                        new Change.Usage(
                                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, TaskPeaks.NONE, 0, new UsageSample(0, 0, 0, 0, 0, 0, 0))),
                new Change.NodeReleased(7, 1, "n1"));
        assertThat(all(true))
                .extracting(r -> r.job().state() + " " + r.job().exit())
                .containsExactly("CANCELLED " + ExitStatus.NONE);
        happens("RequeueJobs", new Change.JobRequeued(7, false, JobReason.NONE, "", 5, 300, false));
        assertThat(all(true))
                .extracting(r -> r.job().state() + " " + r.job().exit())
                .containsExactly("CANCELLED " + ExitStatus.NONE, "PENDING " + ExitStatus.NONE);
    }

    @Test
    void aRequeueThatHoldsHasTheShorterReason() {
        open();
        submitted();
        started(1);
        happens("RequeueJobs", new Change.JobRequeued(7, true, JobReason.JOB_REQUEUED_IN_HELD, "", 0, 200, false));
        assertThat(all(true)).extracting(r -> r.job().reason()).containsExactly("None", "JobHeldUser");
    }

    @Test
    void anAttemptThatMadeRoomSaysSo() {
        open();
        submitted();
        started(1);
        happens(
                "Schedule",
                new Change.JobPreempted(7, 200, dev.muster.core.state.Preemption.Mode.REQUEUE, 0),
                new Change.JobRequeued(7, false, JobReason.NONE, "", 5, 200, false));
        assertThat(all(true)).extracting(r -> r.job().state()).containsExactly("PREEMPTED", "PENDING");
    }

    /** Whether the job ends with its node or goes back to the queue: the row of the attempt says which node it was. */
    @Test
    void rowOfAFailedAttemptNamesTheFailedNode() {
        open();
        submitted();
        started(1);
        happens(
                "NodeLost",
                new Change.JobFailedNode(7, "n2"),
                new Change.JobRequeued(7, false, JobReason.NONE, "", 5, 200, false),
                new Change.NodeReleased(7, 1, "n2"));
        started(2);
        happens(
                "NodeLost",
                new Change.JobFailedNode(7, "n1"),
                new Change.JobEnded(7, JobState.NODE_FAIL, JobReason.NODE_DOWN, "", ExitStatus.NONE, 300),
                new Change.NodeReleased(7, 2, "n1"));
        restart();
        assertThat(all(true))
                .extracting(r -> r.job().state() + " " + r.job().failedNode())
                .containsExactly("NODE_FAIL n2", "NODE_FAIL n1");
    }

    /**
     * A job's row has the reservation that it asked for and the one where it ran; a reservation that drew it in is not
     * one that it asked for.
     */
    @Test
    void jobRowHasRequestedAndUsedReservation() {
        open();
        String reservation = "{'name':'%s','start':1,'end':%d,'nodes':%s,'flags':0,'want':{},'who':{},'zone':'UTC'}";
        submitted();
        happens(
                "Reserve",
                new Change.ReservationChanged(json(reservation.formatted("r", 900, "['n9']"), Reservation.class)));
        happens(
                "Reserve",
                new Change.ReservationChanged(json(reservation.formatted("s", 900, "['n1','n2']"), Reservation.class)));
        JobDesc desc = state.jobs().at(7).desc();
        happens(
                "Update",
                new Change.DescriptionChanged(7, desc.withCharge(new JobDesc.Charge("a", "", "", "r,s", ""))));
        started(1);
        assertThat(reservations()).isEqualTo("r,s s 2");
        happens(
                "Update",
                new Change.DescriptionChanged(7, desc.withCharge(new JobDesc.Charge("a", "", "", "", "").in("s"))));
        assertThat(reservations()).isEqualTo(" s 2");
        happens(
                "Update",
                new Change.DescriptionChanged(7, desc.withCharge(new JobDesc.Charge("a", "", "", "t", "").in("t"))));
        assertThat(reservations()).isEqualTo("t t 0");
    }

    private String reservations() {
        JobRow row = all(false).getFirst().job();
        return row.reservationRequested() + " " + row.reservation() + " " + row.reservationId();
    }

    @Test
    void suspendedTimeIsSummedUp() {
        open();
        submitted();
        started(1);
        happens("Suspend", new Change.JobSuspended(7, 20));
        happens("Resume", new Change.JobResumed(7, 50, 1));
        restart();
        happens("Suspend", new Change.JobSuspended(7, 60));
        happens(
                "Cancel",
                new Change.JobEnded(7, JobState.CANCELLED, JobReason.NONE, "by 0", ExitStatus.signaled(9), 65));
        assertThat(all(false).getFirst().job().suspendedSeconds()).isEqualTo(35);
    }

    /** A step was suspended with its job, as long as it was there; a restart between changes nothing. */
    @Test
    void stepsAreSuspendedWithTheirJob() {
        open();
        submitted();
        started(1);
        happens("Suspend", new Change.JobSuspended(7, 20));
        assertThat(suspensions()).isEqualTo("SUSPENDED 0 since 20: SUSPENDED 0");
        restart();
        happens("Resume", new Change.JobResumed(7, 50, 1));
        assertThat(suspensions()).isEqualTo("RUNNING 30 since 0: RUNNING 30");
        restart();
        happens("Suspend", new Change.JobSuspended(7, 60));
        happens(
                "Cancel",
                new Change.JobEnded(7, JobState.CANCELLED, JobReason.NONE, "by 0", ExitStatus.signaled(9), 65));
        happens("StepExited", new Change.StepEnded(7, 0, 66));
        assertThat(suspensions()).isEqualTo("CANCELLED 35 since 0: COMPLETED 35");
    }

    private String suspensions() {
        JobWithSteps all = all(false).getFirst();
        return all.job().state() + " " + all.job().suspendedSeconds() + " since "
                + all.job().suspendedSince() + ": " + all.steps().getFirst().state() + " "
                + all.steps().getFirst().suspendedSeconds();
    }

    /** Only the whole job is charged; the step for what comes with the job has all that the job has. */
    @Test
    void stepsRecordTheirTresAndTheJobsBilling() {
        open();
        happens(
                "Config",
                new Change.ConfigApplied(
                        json("{'memoryConsumed':true}", dev.muster.core.state.Settings.class), List.of(), List.of()));
        submitted();
        started(1);
        for (int id : List.of(1, Step.EXTERN)) {
            happens(
                    "CreateStep",
                    new Change.StepStarted(
                            7,
                            json(
                                    "{'id':" + id + ",'desc':{'name':'true'},'state':'RUNNING','startTime':3,"
                                            + "'nodes':[{'node':'n1','tasks':[0],'cpus':1}]}",
                                    Step.class)));
        }
        assertThat(all(false).getFirst().steps())
                .extracting(s -> s.stepId() + " " + s.tresAllocated())
                .containsExactlyInAnyOrder(
                        "0 cpu=4,mem=512M,node=2",
                        "1 cpu=1,mem=0,node=1",
                        Step.EXTERN + " cpu=4,mem=1G,node=2,billing=4,gres/gpu=1");
    }

    @Test
    void tablesThatAreBehindTheSnapshotAreFilledFromIt() {
        submitted();
        started(1);
        open();
        accounting.begin(journal.size(), state);
        assertThat(all(false).getFirst().job().state()).isEqualTo("RUNNING");
        assertThat(all(false).getFirst().steps()).hasSize(1);
        assertThat(accounting.settle(journal.size(), 10_000)).isTrue();
        assertThat(accounting.projected()).isEqualTo(journal.size());
    }

    private Query withText(String text) {
        return new Query(
                List.of(), List.of(), true, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(),
                List.of(), List.of(), 0, 0, false, false, 0, 0, 0, 0, 0, 0, List.of(), "", text);
    }

    /** shows: AccountingStoreFlags */
    @Test
    void storeFlagsDecideWhichJobTextsAreKept() {
        open();
        String job = """
            {'id':ID,'sluid':ID,'array':{'jobId':0,'task':-1},'state':'PENDING','reason':'NONE','priority':5,
             'submitTime':100,'eligibleTime':100,'holdUid':-1,
             'desc':{'kind':'KIND','name':'x','partition':'p','owner':{'uid':1000,'gid':100,'user':'u','group':'g'},
                     'extras':{'comment':'why','adminComment':'admin','extra':'more'},
                     'payload':{'scriptHash':'s','envHash':'e'},'charge':{'account':'a','wckey':'w'}}}""";
        happens("Submit", new Change.JobSubmitted(json(job.replace("ID", "1").replace("KIND", "BATCH"), Job.class)));
        assertThat(kept("1")).isEqualTo(" admin   ");
        store("job_script,job_env,job_comment,job_extra");
        happens("Submit", new Change.JobSubmitted(json(job.replace("ID", "2").replace("KIND", "BATCH"), Job.class)));
        happens("Submit", new Change.JobSubmitted(json(job.replace("ID", "3").replace("KIND", "RUN"), Job.class)));
        assertThat(kept("2")).isEqualTo("why admin more content of s content of e");
        assertThat(kept("3")).isEqualTo("why admin more  ");
        store("job_env");
        happens("Submit", new Change.JobSubmitted(json(job.replace("ID", "4").replace("KIND", "BATCH"), Job.class)));
        restart();
        assertThat(kept("2")).isEqualTo("why admin more content of s content of e");
        assertThat(kept("4")).isEqualTo(" admin   content of e");
        assertThat(files("4")).isEqualTo("/dev/null");
        store("no_stdio");
        happens("Submit", new Change.JobSubmitted(json(job.replace("ID", "5").replace("KIND", "BATCH"), Job.class)));
        assertThat(files("5")).isEmpty();
    }

    /** The first numbered steps of a job are kept; others count for themselves. shows: AccountingStorageParameters */
    @Test
    void stepRecordsMaxLimitsTheNumberedStepsKept() {
        open();
        happens(
                "Config",
                new Change.ConfigApplied(
                        json("{'options':{'step_records_max':'1'}}", dev.muster.core.state.Settings.class),
                        List.of(),
                        List.of()));
        submitted();
        started(1);
        for (int id : List.of(1, -4)) {
            happens(
                    "CreateStep",
                    new Change.StepStarted(
                            7,
                            json(
                                    "{'id':" + id + ",'desc':{'name':'true'},'state':'RUNNING','startTime':3,"
                                            + "'nodes':[{'node':'n1','tasks':[0],'cpus':2}]}",
                                    Step.class)));
        }
        assertThat(all(false, "7").getFirst().steps().stream().map(s -> s.stepId()))
                .containsExactlyInAnyOrder(0, -4);
    }

    private void store(String flags) {
        happens(
                "Config",
                new Change.ConfigApplied(
                        json("{'options':{'accounting_store':'" + flags + "'}}", dev.muster.core.state.Settings.class),
                        List.of(),
                        List.of()));
    }

    private String files(String id) {
        return accounting.query(withText(Query.SCRIPT), journal.size()).jobs().stream()
                .filter(j -> Integer.toString(j.job().jobId()).equals(id))
                .findFirst()
                .orElseThrow()
                .job()
                .stdin();
    }

    private String kept(String id) {
        List<String> out = new ArrayList<>();
        for (String text : List.of(Query.SCRIPT, Query.ENVIRONMENT)) {
            for (JobWithSteps j :
                    accounting.query(withText(text), journal.size()).jobs()) {
                if (Integer.toString(j.job().jobId()).equals(id)) {
                    out.addAll(
                            out.isEmpty()
                                    ? List.of(
                                            j.job().comment(),
                                            j.job().adminComment(),
                                            j.job().extra())
                                    : List.of());
                    out.add(Bytes.fromBase64(j.text()).text());
                }
            }
        }
        return String.join(" ", out);
    }
}
