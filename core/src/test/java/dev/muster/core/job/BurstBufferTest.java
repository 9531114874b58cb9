package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.json.Bytes;
import dev.muster.model.job.JobDesc;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Burst buffers: what is asked for, and the way from stage to stage. */
class BurstBufferTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "#BB_LUA                                | ' 0'",
                "#BB_LUA pool=a                         | a 0",
                "#BB_LUA pool=a capacity=5              | a 5",
                "#BB_LUA capacity=5N pool=a             | a 5",
                "#BB_LUA POOL=a Capacity=2k             | a 2048",
                "#BB_LUA pool=a capacity=2KiB           | a 2048",
                "#BB_LUA pool=a capacity=2KB            | a 2000",
                "#BB_LUA pool=a capacity=3G             | a 3221225472",
                "#BB_LUA pool=a capacity=3GB            | a 3000000000",
                "#BB_LUA pool=a capacity=1PiB           | a 1125899906842624",
                "#BB_LUA carpool=b pool=a pool=c        | c 0",
                "#BB_LUA pool=a capacity=x              | wrong",
                "#BB_LUA pool=a capacity=5Q             | wrong",
                "#BB_LUA pool=a capacity=-5             | wrong",
                "#BB_LUA pool=a capacity=99999P         | wrong",
            })
    void directivesClaimPoolAndCapacity(String directives, String expected) {
        assertThat(BurstBuffer.claim(directives)
                        .map(c -> c.pool() + " " + c.size())
                        .orElse("wrong"))
                .isEqualTo(expected);
    }

    private final Cluster c = new Cluster(
            "n[1-2] cpus=2 mem=1000",
            "p nodes=n[1-2] default=yes defmempercpu=10",
            "options.burst_buffer=lua requeueJobs=true minJobAgeS=10");

    private int submit(String directives, String words) {
        JobDesc d = Cluster.desc("kind=BATCH partition=p " + words);
        c.apply(new Command.SubmitJob(
                Cluster.USER,
                d.withExtras(d.extras().withBurstBuffer(directives)),
                "",
                Bytes.of("#!/bin/sh"),
                Bytes.EMPTY,
                false,
                false));
        return (int) c.state().jobs().keys().iterator().next()
                + c.state().jobs().size()
                - 1;
    }

    private BurstBuffer buffer(int id) {
        return c.state().buffers().byJob().at(id);
    }

    /** State and flags of a job, and the stage of its buffer. */
    private String is(int id) {
        Job job = c.state().jobs().at(id);
        String waits = job.isPending() && !job.isHeld()
                ? " " + c.state().buffers().blocks(job.id()).word()
                : "";
        return Play.describe(job).strip() + waits + " / " + buffer(id).stage().word() + (job.isHeld() ? " held" : "");
    }

    /** Each component has a burst buffer of its own, and none starts before the data of all are there. */
    @Test
    void hetComponentsWaitForTheDataOfAll() {
        Command.SubmitJob plain = new Command.SubmitJob(
                Cluster.USER,
                Cluster.desc("kind=BATCH partition=p"),
                "",
                Bytes.of("#!/bin/sh"),
                Bytes.EMPTY,
                false,
                false);
        Command.SubmitJob with = new Command.SubmitJob(
                Cluster.USER,
                plain.desc().withExtras(plain.desc().extras().withBurstBuffer("#BB_LUA")),
                "",
                Bytes.of("#!/bin/sh"),
                Bytes.EMPTY,
                false,
                false);
        c.apply(new Command.SubmitHet(Cluster.USER, List.of(plain, with), "", false, false));
        int first = c.state().jobs().keys().iterator().next();
        c.pass(1);
        c.schedule();
        assertThat(c.state().buffers().byJob().has(first)).isFalse();
        assertThat(is(first + 1)).isEqualTo("PENDING BurstBufferStageIn / staging-in");
        assertThat(c.state().jobs().at(first).isPending()).isTrue();
        scriptSays(first + 1, true, "", 0);
        c.schedule();
        assertThat(is(first + 1)).contains("/ pre-run");
        assertThat(c.state().jobs().at(first).state().isActive()).isTrue();
    }

    private void scriptSays(int id, boolean success, String words, long size) {
        c.apply(new Command.BufferStage(id, buffer(id).round(), success, words, size));
        c.schedule();
    }

    private void done(int id) {
        scriptSays(id, true, "", 0);
    }

    private void pools() {
        c.apply(new Command.SetPools(List.of(new BurstBuffer.Pool("small", 2, 10))));
    }

    @Test
    void burstBufferGoesFromStageInToTeardown() {
        pools();
        int id = submit("#BB_LUA pool=small capacity=5", "");
        assertThat(buffer(id))
                .extracting(BurstBuffer::stage, BurstBuffer::size)
                .containsExactly(BurstBuffer.Stage.PENDING, 6L);
        c.schedule();
        assertThat(is(id)).isEqualTo("PENDING BurstBufferStageIn / staging-in");
        assertThat(c.state().buffers().used("small")).isEqualTo(6);
        scriptSays(id, true, "", 8);
        assertThat(is(id)).isEqualTo("RUNNING+CONFIGURING n1 / pre-run");
        assertThat(c.state().buffers().used("small")).isEqualTo(8);
        c.apply(new Command.ControllerProlog(id, 1, true, true, List.of("A=b")));
        assertThat(is(id)).isEqualTo("RUNNING n1 / running");
        assertThat(c.state().buffers().environment(id)).containsExactly("A=b");
        new Play(c).lines("exited " + id + " batch 0:0\ndone " + id + " n1");
        assertThat(is(id)).isEqualTo("COMPLETED+STAGE_OUT / post-run");
        c.pass(20);
        assertThat(c.state().jobs().has(id))
                .as("not forgotten while its data is fetched")
                .isTrue();
        done(id);
        assertThat(is(id)).isEqualTo("COMPLETED+STAGE_OUT / staging-out");
        done(id);
        assertThat(is(id)).isEqualTo("COMPLETED / teardown");
        assertThat(buffer(id).hurry()).isFalse();
        done(id);
        assertThat(is(id)).isEqualTo("COMPLETED / complete");
        assertThat(c.state().buffers().used("small")).isZero();
        c.pass(20);
        assertThat(c.state().jobs().has(id)).isFalse();
        assertThat(c.state().buffers().byJob().size()).isZero();
    }

    @Test
    void aPoolIsNotOverdrawn() {
        pools();
        int one = submit("#BB_LUA pool=small capacity=6", "");
        int two = submit("#BB_LUA pool=small capacity=6", "");
        int three = submit("#BB_LUA pool=small capacity=4", "");
        int four = submit("#BB_LUA", "");
        c.schedule();
        assertThat(List.of(is(one), is(two), is(three), is(four)))
                .containsExactly(
                        "PENDING BurstBufferStageIn / staging-in",
                        "PENDING BurstBufferResources / pending",
                        "PENDING BurstBufferStageIn / staging-in",
                        "PENDING BurstBufferStageIn / staging-in");
        new Play(c).lines("cancel " + one);
        assertThat(is(one)).isEqualTo("CANCELLED 'by 1000' / teardown");
        assertThat(buffer(one).hurry()).isTrue();
        c.schedule();
        assertThat(is(two)).as("its space is not free yet").isEqualTo("PENDING BurstBufferResources / pending");
        done(one);
        assertThat(is(two)).isEqualTo("PENDING BurstBufferStageIn / staging-in");
    }

    @Test
    void failedBufferStageHoldsTheJob() {
        int id = submit("#BB_LUA", "");
        c.schedule();
        int round = buffer(id).round();
        scriptSays(id, false, "no disk", 0);
        assertThat(is(id)).isEqualTo("PENDING BurstBufferOperation 'no disk' / staging-in held");
        c.apply(new Command.BufferStage(id, round, true, "", 0));
        assertThat(is(id))
                .as("a late word of an earlier run")
                .isEqualTo("PENDING BurstBufferOperation 'no disk' / staging-in held");
        c.apply(new Command.HoldJobs(0, List.of(new Command.JobRef("", id, -1, Command.JobRef.NO_STEP)), false, false));
        assertThat(buffer(id).words()).isEmpty();
        done(id);
        assertThat(is(id)).isEqualTo("RUNNING+CONFIGURING n1 / pre-run");
        c.apply(new Command.ControllerProlog(id, 1, false, false, List.of()));
        new Play(c).lines("done " + id + " n1");
        assertThat(is(id))
                .isEqualTo("PENDING+REQUEUED BurstBufferOperation 'Burst buffer pre_run error' restarts=1 / "
                        + "teardown held");
        scriptSays(id, false, "busy", 0);
        assertThat(is(id)).endsWith("/ teardown-fail held");
        scriptSays(id, false, "busy", 0);
        scriptSays(id, false, "busy", 0);
        assertThat(is(id)).as("given up after three").endsWith("/ pending held");
    }

    @Test
    void failedStageOutKeepsTheBuffer() {
        int id = submit("#BB_LUA", "");
        c.schedule();
        done(id);
        c.apply(new Command.ControllerProlog(id, 1, true, true, List.of()));
        new Play(c).lines("exited " + id + " batch 0:0\ndone " + id + " n1");
        int waits = submit("", "timing.dependency=afterburstbuffer:" + id);
        int too = submit("#BB_LUA", "timing.dependency=afterok:" + id);
        int not = submit("", "timing.dependency=afterok:" + id);
        scriptSays(id, false, "no room", 0);
        c.pass(1);
        c.schedule();
        assertThat(is(id)).isEqualTo("COMPLETED+STAGE_OUT / post-run");
        assertThat(List.of(shown(waits), shown(too), shown(not)))
                .containsExactly("PENDING Dependency", "PENDING Dependency", "RUNNING n1");
        Command.JobRef ref = new Command.JobRef("", id, -1, Command.JobRef.NO_STEP);
        c.apply(new Command.CancelJobs(Cluster.USER, List.of(ref), 0, false, false));
        assertThat(is(id)).isEqualTo("COMPLETED+STAGE_OUT / post-run");
        c.apply(new Command.CancelJobs(Cluster.USER, List.of(ref), 0, false, false, false, true, ""));
        assertThat(is(id)).isEqualTo("COMPLETED / teardown");
        c.pass(1);
        c.schedule();
        assertThat(shown(waits)).isEqualTo("RUNNING n1");
    }

    private String shown(int id) {
        return Play.describe(c.state().jobs().at(id)).strip();
    }

    /**
     * Each task of an array has a burst buffer of its own, and waits for it alone; bb_array_stage_cnt of them at a
     * time.
     */
    @Test
    void tasksOfAnArrayHaveTheirOwn() {
        Cluster many = new Cluster(
                "n[1-2] cpus=2 mem=1000",
                "p nodes=n[1-2] default=yes defmempercpu=10",
                "options.burst_buffer=lua minJobAgeS=10 options.bb_array_stage_cnt=2");
        JobDesc d = Cluster.desc("kind=BATCH partition=p timing.array=1-4");
        many.apply(new Command.SubmitJob(
                Cluster.USER,
                d.withExtras(d.extras().withBurstBuffer("#BB_LUA")),
                "",
                Bytes.of("#!/bin/sh"),
                Bytes.EMPTY,
                false,
                false));
        for (int i = 0; i < 3; i++) {
            many.schedule();
        }
        assertThat(stages(many)).containsExactly("1_3-4 pending", "2_1 staging-in", "3_2 staging-in");
        many.apply(
                new Command.BufferStage(2, many.state().buffers().byJob().at(2).round(), true, "", 0));
        for (int i = 0; i < 3; i++) {
            many.schedule();
        }
        assertThat(many.shown(2)).isEqualTo("n1:1");
        assertThat(stages(many)).containsExactly("1_4 pending", "2_1 pre-run", "3_2 staging-in", "4_3 staging-in");
        many.apply(
                new Command.BufferStage(3, many.state().buffers().byJob().at(3).round(), true, "", 0));
        for (int i = 0; i < 3; i++) {
            many.schedule();
        }
        assertThat(stages(many))
                .as("the last keeps the array's number")
                .containsExactly("1_4 staging-in", "2_1 pre-run", "3_2 pre-run", "4_3 staging-in");
    }

    private static List<String> stages(Cluster c) {
        return c.state().buffers().byJob().values().stream()
                .map(b -> {
                    Job.Array a = c.state().jobs().at(b.jobId()).array();
                    return b.jobId() + "_" + (a.task() < 0 ? a.pending().compact() : Integer.toString(a.task())) + " "
                            + b.stage().word();
                })
                .toList();
    }
}
