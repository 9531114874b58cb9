package dev.muster.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.nodes.NodeTimeouts;
import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Hardware;
import dev.muster.scheduler.Scheduler;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Bugs that seeds found, each as its shortest story. */
class FoundBySeedsTest {
    private static final NodeMessages.Usage USAGE = new NodeMessages.Usage(0, 0, 0, 0, 0, 0, 0);
    private final Core core = new Core(new Scheduler().withoutConnections());
    private long timeMs = 1_700_000_000_000L;

    FoundBySeedsTest() {
        Command.ApplyConfig config = Simulation.config(plain());
        run(config);
        register("boot-1", List.of());
    }

    private static SimParameters plain() {
        Random random = new Random(1);
        SimParameters parameters = SimParameters.draw(random);
        while (parameters.externSteps() || parameters.awaitProlog() || parameters.nodes() != 1) {
            parameters = SimParameters.draw(random);
        }
        return parameters;
    }

    private Decision.Accepted run(Command command) {
        timeMs += 1000;
        Decision.Accepted a = (Decision.Accepted) core.decide(command, new DecisionTime(timeMs, timeMs));
        if (!a.changes().isEmpty()) {
            core.apply(new Entry(timeMs, timeMs, 0, "", a.changes()));
        }
        return a;
    }

    private Decision.Accepted register(String boot, List<NodeMessages.Attempt> attempts) {
        return run(new Command.RegisterNode(new NodeMessages.Register(
                "n0",
                "sim",
                boot,
                "26.05.3",
                1,
                new Hardware(64, 1, 1, 64, 1, 8192, 0, "", "", "", 1),
                attempts,
                "",
                "")));
    }

    private int submit(String dependency) {
        JobDesc desc = Codec.bind(
                        new Json.Obj()
                                .put("kind", "BATCH")
                                .put("request", new Json.Obj().put("tasks", 1L))
                                .put("timing", new Json.Obj().put("dependency", dependency)),
                        JobDesc.class)
                .withOwner(new Identity(1000, 1000, "u", "u", List.of(), "/", "/bin/sh"));
        run(new Command.SubmitJob(1000, desc, "", Bytes.EMPTY, Bytes.EMPTY, false, false));
        int id = core.state().nextJobId() - 1;
        run(new Command.Tick());
        run(new Command.Schedule(10));
        return id;
    }

    private Job job(int id) {
        return core.state().jobs().at(id);
    }

    private Decision.Accepted exited(int id, String reason) {
        return run(new Command.Report(
                "n0", new NodeMessages.StepExited(1, id, job(id).attempt(), Step.BATCH, Map.of(), reason, 0, USAGE)));
    }

    @Test
    void aStepdThatLeftNoStatusIsNoSuccess() {
        int id = submit("");
        exited(id, "StepdKilled");
        assertThat(job(id).state()).isEqualTo(JobState.FAILED);
        assertThat(job(id).reason()).isEqualTo(JobReason.STEPD_KILLED);
        assertThat(job(id).run().exit()).isEqualTo(ExitStatus.signaled(9));
    }

    @Test
    void aRebootUnderAJobPutsItBackIntoTheQueue() {
        int id = submit("");
        Decision.Accepted a =
                register("boot-2", List.of(new NodeMessages.Attempt(id, 1, "boot-1", List.of(Step.BATCH), false)));
        assertThat(a.direct()).anyMatch(d -> d.message() instanceof NodeMessages.EndJob e && e.jobId() == id);
        exited(id, "NodeReboot");
        assertThat(job(id).state()).isEqualTo(JobState.RUNNING);
        Decision.Accepted done = run(new Command.Report("n0", new NodeMessages.JobDone(2, id, 1, "")));
        assertThat(done.changes())
                .filteredOn(c -> c instanceof Change.StepPartEnded)
                .isEmpty();
        assertThat(job(id).state()).isEqualTo(JobState.PENDING);
        assertThat(job(id).restarts()).isEqualTo(1);
    }

    @Test
    void aNodeTakenDownByHandIsToldToEndItsJobs() {
        int id = submit("");
        Decision.Accepted a =
                run(new Command.UpdateNode(0, List.of("n0"), new TreeMap<>(Map.of("state", "down", "reason", "fan"))));
        assertThat(a.direct())
                .anyMatch(d -> d.message() instanceof NodeMessages.EndJob e && e.jobId() == id && e.attempt() == 1);
    }

    @Test
    void aRequeuedJobStillWaitsForItsDependency() {
        int first = submit("");
        int second = submit("afterok:" + first);
        List<Command.JobRef> ref = List.of(new Command.JobRef("", second, -1, Command.JobRef.NO_STEP));
        run(new Command.CancelJobs(1000, ref, 0, false, false));
        run(new Command.RequeueJobs(1000, ref, false, false));
        run(new Command.Tick());
        run(new Command.Schedule(10));
        assertThat(job(second).state()).isEqualTo(JobState.PENDING);
        assertThat(job(second).reason()).isEqualTo(JobReason.DEPENDENCY);
    }

    @Test
    void aRefusedLaunchOfAnEarlierBootDecidesNothing() {
        int id = submit("");
        register("boot-2", List.of(new NodeMessages.Attempt(id, 1, "boot-1", List.of(), false)));
        run(new Command.Report("n0", new NodeMessages.LaunchFailed(1, id, 1, Step.BATCH, "other boot", false, false)));
        assertThat(job(id).state()).isEqualTo(JobState.RUNNING);
    }

    @Test
    void aConnectedNodeThatSaysNothingIsLost() {
        Node node = core.state().nodes().at("n0");
        assertThat(NodeTimeouts.verdict(node, true, 4, 60)).isEmpty();
        assertThat(NodeTimeouts.verdict(node, true, 21, 60)).contains(new Command.NodeResponding("n0", false));
        assertThat(NodeTimeouts.verdict(node, true, 61, 60)).contains(new Command.NodeLost("n0"));
        assertThat(NodeTimeouts.verdict(node, true, 6, 5))
                .describedAs("heartbeats come every five seconds")
                .isEmpty();
        assertThat(NodeTimeouts.verdict(node, false, 61, 0))
                .describedAs("SlurmdTimeout=0")
                .isEmpty();
        run(new Command.NodeResponding("n0", false));
        assertThat(NodeTimeouts.verdict(core.state().nodes().at("n0"), true, 1, 60))
                .contains(new Command.NodeResponding("n0", true));
    }
}
