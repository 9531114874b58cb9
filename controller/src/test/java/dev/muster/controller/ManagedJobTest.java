package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.controller.edge.SubmitHandler;
import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.nodes.NodeMessagesFromState;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Step;
import dev.muster.daemon.StepAllocator;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Charter;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.StepManaged;
import dev.muster.model.node.NodeMessages.ToNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Steps that a job's first node decides on while slurmctld is away, and what slurmctld makes of them when it is back.
 */
class ManagedJobTest {
    private static final int USER = 1000;
    private static final int JOB = 1;

    private final Site site = new Site("PrologFlags=Contain", "MpiParams=ports=7000-7003");
    private final NodeMessagesFromState outgoing = new NodeMessagesFromState(hash -> Bytes.of("A=1"), (j, e) -> {});
    /** Entries of the job on the node's disk. */
    private final List<Bytes> kept = new ArrayList<>();

    private int seen;
    private StepAllocator.Job node;

    ManagedJobTest() {
        assertThat(site.run("nodesMin=2 nodesMax=2 tasks=4 tasksPerNode=2 extras.stepMgr=true kind=ALLOCATION"))
                .isEqualTo("RUNNING n1:2/1000 n2:2/1000");
        List.of("n1", "n2").forEach(n -> site.apply(new Command.Report(n, new NodeMessages.PrologDone(1, JOB, 1, ""))));
        hear();
    }

    /** Hands the job's first node what slurmctld tells it, as bytes. */
    private void hear() {
        for (Entry entry : site.entries().subList(seen, site.entries().size())) {
            for (Decision.Direct d : outgoing.of(entry, site.core().state())) {
                if (Codec.decode(Codec.encode(d.message(), ToNode.class), ToNode.class) instanceof Charter c) {
                    assertThat(d.node()).isEqualTo("n1");
                    if (c.whole()) {
                        node = ServiceLoader.load(StepAllocator.class)
                                .findFirst()
                                .orElseThrow()
                                .open(c.entry(), kept::add);
                        kept.clear();
                        kept.add(c.entry());
                    } else {
                        node.follow(c.entry());
                        kept.add(c.entry());
                    }
                }
            }
        }
        seen = site.entries().size();
    }

    private static StepDesc desc(int tasks) {
        Json.Obj request = new Json.Obj().put("tasks", (long) tasks).put("nodesMin", (long) Math.min(2, tasks));
        return Codec.bind(new Json.Obj().put("name", "s").put("request", request), StepDesc.class)
                .withEnvironment(List.of(Bytes.of("A=1")));
    }

    private static StepDesc asynchronous(StepDesc d) {
        return Codec.bind(Json.object(Codec.encode(d)).put("async", true), StepDesc.class);
    }

    private StepAllocator.Answer<StepAllocator.Begun> ask(String requestId, int tasks) {
        return create(node, USER, requestId, tasks);
    }

    private static StepAllocator.Answer<StepAllocator.Begun> create(
            StepAllocator.Job on, int uid, String requestId, int tasks) {
        return on.create(
                uid,
                requestId,
                List.of(new JobMessages.CreateStep(requestId, JOB, desc(tasks), 0)),
                "io" + requestId,
                1_000_000_000L);
    }

    private StepAllocator.Piece begun(String requestId, int tasks) {
        return switch (ask(requestId, tasks)) {
            case StepAllocator.Given<StepAllocator.Begun> g ->
                g.value().pieces().getFirst();
            case StepAllocator.Refused<StepAllocator.Begun> r -> throw new AssertionError(r.sentence());
        };
    }

    private String refusal(int tasks) {
        return ask("", tasks) instanceof StepAllocator.Refused<StepAllocator.Begun> r
                ? r.errno().name()
                : "none";
    }

    private Decision tell(String from, StepManaged m) {
        return site.apply(new Command.Report(
                from,
                Codec.decode(
                        Codec.encode(m.numbered(7), NodeMessages.ToController.class),
                        NodeMessages.ToController.class)));
    }

    /** {@code 0 n1:done n2} of each numbered step. */
    private String steps() {
        Job job = site.core().state().jobs().at(JOB);
        StringBuilder out = new StringBuilder();
        job.run().steps().stream().filter(s -> s.id() >= 0).forEach(s -> {
            out.append(out.isEmpty() ? "" : ", ")
                    .append(s.id())
                    .append(s.state() == Step.State.ENDED ? " over" : "")
                    .append(s.ending().isEmpty() ? "" : " ending");
            s.nodes().forEach(p -> out.append(' ').append(p.node()).append(p.done() ? ":done" : ""));
        });
        return out.toString();
    }

    @Test
    void managedStepIsPlacedAsSlurmctldWould() {
        StepAllocator.Piece there = begun("r1", 4);
        JobMessages.CreateStep m = new JobMessages.CreateStep("r1", JOB, desc(4), 0);
        String hash = BlobStore.hash(SubmitHandler.joined(m.step().environment()));
        site.apply(new Command.CreateStep(
                USER, "r1", JOB, m.step().withEnvironment(List.of(Bytes.of(hash))), Bytes.of("A=1"), "ior1"));
        Map<String, Launch> here = new TreeMap<>();
        outgoing.of(site.entries().getLast(), site.core().state()).forEach(d -> {
            if (d.message() instanceof Launch l) {
                here.put(d.node(), l);
            }
        });
        assertThat(there.launches().stream().map(StepAllocator.NodeLaunch::node))
                .containsExactly("n1", "n2");
        there.launches().forEach(l -> {
            assertThat(l.launch().environment())
                    .isEqualTo(here.get(l.node()).environment())
                    .isNotEmpty();
            assertThat(l.launch().environment()).contains(Bytes.of("SLURM_JOB_NODES=2"), Bytes.of("SLURM_STEPMGR=n1"));
            assertThat(l.launch().tasks()).isEqualTo(here.get(l.node()).tasks()).isNotEmpty();
            assertThat(l.launch().share()).isEqualTo(here.get(l.node()).share());
            assertThat(l.launch().ioToken()).isEqualTo("ior1");
        });
        assertThat(there.started().shares())
                .extracting(JobMessages.NodeShare::taskIds)
                .containsExactly(List.of(0, 1), List.of(2, 3));
    }

    @Test
    void stepManagerRefusesOtherUsersAndStepsWithoutRoom() {
        assertThat(node.allocation(USER, JOB))
                .isInstanceOfSatisfying(
                        StepAllocator.Given.class,
                        g -> assertThat(((JobMessages.Allocation) g.value()).nodes())
                                .isEqualTo("n[1-2]"));
        assertThat(node.allocation(USER + 1, JOB)).isInstanceOf(StepAllocator.Refused.class);
        assertThat(create(node, USER + 1, "", 1))
                .isInstanceOfSatisfying(
                        StepAllocator.Refused.class, r -> assertThat(r.errno()).isEqualTo(SlurmErrno.ACCESS_DENIED));
        assertThat(begun("a", 4).started().stepId()).isZero();
        assertThat(begun("a", 4).started().stepId()).as("the same request").isZero();
        assertThat(refusal(2)).isEqualTo("NODES_BUSY");
        assertThat(node.create(
                        USER, "q", List.of(new JobMessages.CreateStep("q", JOB, asynchronous(desc(2)), 0)), "t", 1))
                .as("no queue there")
                .isInstanceOfSatisfying(
                        StepAllocator.Refused.class, r -> assertThat(r.errno()).isEqualTo(SlurmErrno.NODES_BUSY));
        assertThat(refusal(40)).isEqualTo("TOO_MANY_REQUESTED_CPUS");
        assertThat(node.open(JOB, "n2")).containsExactly(0);
        node.over(JOB, 0, "n2", 1);
        node.over(JOB, 0, "n1", 1);
        assertThat(node.open(JOB, "n1")).isEmpty();
        assertThat(begun("b", 2).started().stepId()).isEqualTo(1);
        assertThat(node.nextStep()).isEqualTo(2);
    }

    @Test
    void stepManagerKnowsStepsThatSlurmctldBegan() {
        String hash = BlobStore.hash(Bytes.of("A=1"));
        site.apply(new Command.CreateStep(
                USER, "x", JOB, desc(4).withEnvironment(List.of(Bytes.of(hash))), Bytes.of("A=1"), "t"));
        hear();
        assertThat(refusal(1)).isEqualTo("NODES_BUSY");
        for (String n : List.of("n1", "n2")) {
            site.apply(new Command.Report(
                    n,
                    new NodeMessages.StepExited(
                            1,
                            JOB,
                            1,
                            0,
                            Map.of("0", ExitStatus.NONE),
                            "",
                            1,
                            new NodeMessages.Usage(0, 0, 0, 0, 0, 0, 0))));
        }
        hear();
        assertThat(begun("y", 4).started().stepId()).isEqualTo(1);
    }

    @Test
    void anotherSlurmdOnTheNodeGoesOnWhereTheFirstWas() {
        begun("a", 2);
        begun("b", 1);
        node.over(JOB, 1, "n1", 1);
        List<Bytes> disk = List.copyOf(kept);
        node = ServiceLoader.load(StepAllocator.class).findFirst().orElseThrow().open(disk.getFirst(), kept::add);
        disk.subList(1, disk.size()).forEach(node::follow);
        assertThat(node.nextStep()).isEqualTo(2);
        assertThat(node.open(JOB, "n1")).containsExactly(0);
        assertThat(refusal(4)).as("no core twice").isEqualTo("NODES_BUSY");
        StepAllocator.Piece again = begun("a", 2);
        assertThat(again.started().stepId()).as("the same request").isZero();
        assertThat(again.launches()).as("nobody may have heard of it").hasSize(2);
        assertThat(again.managed().step())
                .as("under the token that was said")
                .isEqualTo(begun("a", 2).managed().step());
        assertThat(begun("c", 2).started().stepId()).isEqualTo(2);
    }

    @Test
    void stepThatCannotBeJournaledDoesNotBegin() {
        StepAllocator.Job full = ServiceLoader.load(StepAllocator.class)
                .findFirst()
                .orElseThrow()
                .open(kept.getFirst(), entry -> {
                    throw new UncheckedIOException(new IOException("No space left on device"));
                });
        kept.subList(1, kept.size()).forEach(full::follow);
        assertThatThrownBy(() -> create(full, USER, "r", 1)).isInstanceOf(UncheckedIOException.class);
        assertThat(full.nextStep()).isZero();
    }

    @Test
    void slurmctldAdoptsAStepOfTheStepManager() {
        StepManaged m = begun("r", 4).managed();
        tell("n2", m);
        assertThat(steps()).isEqualTo("0 n1 n2");
        assertThat(outgoing.of(site.entries().getLast(), site.core().state()))
                .as("it runs already")
                .noneMatch(d -> d.message() instanceof Launch);
        int before = site.entries().size();
        tell("n1", m);
        tell("n2", m);
        assertThat(site.entries()).as("said again").hasSize(before);
        site.apply(new Command.Report(
                "n1",
                new NodeMessages.StepExited(
                        1,
                        JOB,
                        1,
                        0,
                        Map.of("0", ExitStatus.NONE),
                        "",
                        1,
                        new NodeMessages.Usage(0, 0, 0, 0, 0, 0, 0))));
        assertThat(steps()).isEqualTo("0 n1:done n2");
        assertThat(site.apply(new Command.CreateStep(USER, "r", JOB, desc(4), Bytes.EMPTY, "t")))
                .as("asked again here")
                .isInstanceOfSatisfying(
                        Decision.Accepted.class, a -> assertThat(a.reply()).isEqualTo(0));
    }

    @Test
    void aNodeThatWasNotReachedHasLostItsPart() {
        StepManaged m = begun("r", 4).managed();
        tell("n1", m);
        tell("n1", new StepManaged(0, m.jobId(), m.attempt(), m.uid(), m.requestId(), m.step(), List.of("n2")));
        assertThat(steps()).isEqualTo("0 n1 n2:done");
        site.apply(new Command.Report(
                "n1",
                new NodeMessages.StepExited(
                        1,
                        JOB,
                        1,
                        0,
                        Map.of("0", ExitStatus.signaled(9)),
                        "",
                        1,
                        new NodeMessages.Usage(0, 0, 0, 0, 0, 0, 0))));
        assertThat(steps()).isEqualTo("0 over n1:done n2:done");
    }

    @Test
    void aNodeThatComesAfterTheJobHasEndedTellsItsSteps() {
        StepManaged m = begun("r", 4).managed();
        site.apply(new Command.CompleteAllocation(USER, JOB, ExitStatus.NONE));
        site.apply(new Command.Report("n1", new NodeMessages.JobDone(1, JOB, 1, "")));
        assertThat(site.job(JOB)).startsWith("COMPLETED");
        tell("n2", m);
        assertThat(steps()).isEqualTo("0 n1 n2");
    }

    /** slurmctld died after it had made a step durable and before anybody heard of it. */
    @Test
    void repeatedStepRequestRunsOnce() {
        site.apply(new Command.CreateStep(USER, "r", JOB, desc(2), Bytes.EMPTY, "t"));
        assertThat(steps()).isEqualTo("0 n1 n2");
        StepManaged m = begun("r", 2).managed();
        Decision same = tell("n1", m);
        assertThat(((Decision.Accepted) same).direct())
                .as("of one number only one goes on")
                .extracting(d -> d.message().getClass().getSimpleName())
                .containsExactly("EndStep");
        Step step = Codec.decode(m.step().toArray(), Step.class);
        Json.Obj other = Json.object(Codec.encode(step)).put("id", 5L);
        tell(
                "n1",
                new StepManaged(
                        0, m.jobId(), m.attempt(), m.uid(), m.requestId(), Bytes.of(Json.print(other)), List.of()));
        assertThat(steps()).isEqualTo("0 ending n1 n2, 5 n1 n2");
    }

    @Test
    void componentsOfOneJobAreDecidedOnTogether() {
        Site het = new Site("PrologFlags=Contain");
        JobDesc desc = Codec.bind(
                new Json.Obj()
                        .put("kind", "ALLOCATION")
                        .put("request", new Json.Obj().put("tasks", 2L))
                        .put("extras", new Json.Obj().put("stepMgr", true))
                        .put("owner", new Json.Obj().put("uid", (long) USER).put("user", "u"))
                        .put("payload", new Json.Obj().put("submitHost", "h")),
                JobDesc.class);
        Command.SubmitJob part = new Command.SubmitJob(USER, desc, "", Bytes.EMPTY, Bytes.EMPTY, false, false);
        assertThat(het.apply(new Command.SubmitHet(USER, List.of(part, part), "", false, false)))
                .isInstanceOf(Decision.Accepted.class);
        het.schedule();
        List.of(JOB, JOB + 1)
                .forEach(id -> het.core()
                        .state()
                        .jobs()
                        .at(id)
                        .run()
                        .allocation()
                        .nodeNames()
                        .forEach(n -> het.apply(new Command.Report(n, new NodeMessages.PrologDone(1, id, 1, "")))));
        assertThat(het.job(JOB + 1)).startsWith("RUNNING");
        List<Charter> told = het.entries().stream()
                .flatMap(e -> outgoing.of(e, het.core().state()).stream())
                .filter(d -> d.message() instanceof Charter)
                .map(d -> (Charter) d.message())
                .toList();
        assertThat(told).extracting(Charter::jobId).containsOnly(JOB);
        StepAllocator.Job both = ServiceLoader.load(StepAllocator.class)
                .findFirst()
                .orElseThrow()
                .open(told.getLast().entry(), e -> {});
        assertThat(both.jobs()).containsExactly(JOB, JOB + 1);
        StepAllocator.Begun begun = ((StepAllocator.Given<StepAllocator.Begun>) both.create(
                        USER,
                        "h",
                        List.of(
                                new JobMessages.CreateStep("h", JOB, desc(1), 0),
                                new JobMessages.CreateStep("h", JOB + 1, desc(1), 0)),
                        "t",
                        1))
                .value();
        assertThat(begun.pieces()).extracting(p -> p.managed().jobId()).containsExactly(JOB, JOB + 1);
        assertThat(begun.pieces().get(1).started().shares().getFirst().taskIds())
                .as("ranks go on")
                .containsExactly(1);
        assertThat(both.nextStep()).as("one number for both").isEqualTo(1);
        assertThat(begun.pieces().getFirst().launches().getFirst().launch().environment())
                .contains(Bytes.of("SLURM_STEPMGR=n1"));
    }

    @Test
    void jobWithoutStepManagerSendsNoCharter() {
        Site plain = new Site("PrologFlags=Contain");
        plain.run("tasks=1");
        assertThat(plain.entries().stream()
                        .flatMap(e -> outgoing.of(e, plain.core().state()).stream())
                        .filter(d -> d.message() instanceof Charter))
                .isEmpty();
        assertThat(plain.entries()).isNotEmpty();
    }
}
