package dev.muster.controller;

import dev.muster.controller.edge.StepHandler;
import dev.muster.controller.edge.SubmitHandler;
import dev.muster.controller.engine.JobWatch;
import dev.muster.controller.engine.Pipeline;
import dev.muster.controller.nodes.NodeMessagesFromState;
import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.journal.MemoryJournal;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.JobMessages;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobState;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.scheduler.Scheduler;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Runs the code of a step over several nodes before the first real step comes: an allocation, the launches, the nodes'
 * reports and the end. It works on a core of its own, with copies of a few of the site's nodes.
 */
final class StepWarmUp {
    /** Measured with {@code bench.sh bigstep}: the virtual machine compiles what has run 200 times. */
    private static final int ROUNDS = 300;

    private static final int NODES = 4;
    private static final int TASKS_PER_NODE = 16;
    private static final NodeMessages.Usage USAGE = new NodeMessages.Usage(1, 1, 1, 1, 1, 1, 1);

    private final Core core = new Core(new Scheduler().withoutConnections());
    private final MemoryJournal journal = new MemoryJournal();
    private final List<Bytes> variables = IntStream.range(0, 60)
            .mapToObj(i -> Bytes.of("SOME_VARIABLE_" + i + "=/a/value/of/usual/length"))
            .toList();
    private final Bytes environment = SubmitHandler.joined(variables);
    private final NodeMessagesFromState outgoing = new NodeMessagesFromState(hash -> environment, (job, why) -> {});
    private final JobWatch watch = new JobWatch();
    private final Pipeline pipeline;
    private final int nodes;
    private long tick = 1_000;
    private long size;

    StepWarmUp(Command.ApplyConfig config) {
        pipeline = new Pipeline(
                core,
                journal,
                new Pipeline.Effects() {
                    @Override
                    public void apply(Entry entry, State before, State after) {
                        direct(outgoing.of(entry, after));
                        entry.changes()
                                .forEach(c -> dev.muster.core.index.AffectedEntities.jobs(c)
                                        .forEach(watch::happened));
                    }

                    @Override
                    public void direct(List<Decision.Direct> messages) {
                        messages.forEach(m -> size += Codec.encode(m.message(), ToNode.class).length);
                    }
                },
                point -> {});
        run(config);
        List<Node> some = core.state().nodes().values().stream().limit(NODES).toList();
        nodes = some.size();
        some.forEach(n -> run(new Command.RegisterNode(registration(n.spec()))));
    }

    private static NodeMessages.Register registration(Node.Spec n) {
        return new NodeMessages.Register(
                n.name(),
                "",
                "straw",
                "",
                1,
                new NodeMessages.Hardware(
                        n.cpus(),
                        1,
                        n.sockets(),
                        n.coresPerSocket(),
                        n.threadsPerCore(),
                        n.memoryMb(),
                        0,
                        "",
                        "",
                        "",
                        0),
                List.of(),
                "",
                "");
    }

    /**
     * Runs steps until the time is up; a site where root cannot have a few nodes ends it at once. Returns the number of
     * steps that came to their end.
     */
    int run(long endNs) {
        int done = 0;
        while (done < ROUNDS && System.nanoTime() < endNs && round()) {
            done++;
        }
        return done;
    }

    private boolean round() {
        run(new Command.SubmitJob(0, job(), "", Bytes.EMPTY, Bytes.EMPTY, false, false));
        run(new Command.Schedule(100));
        Optional<Job> started = core.state().jobs().values().stream()
                .filter(j -> j.state() == JobState.RUNNING
                        && !j.run().allocation().held().isEmpty())
                .reduce((a, b) -> b);
        if (started.isEmpty()) {
            return false;
        }
        int id = started.get().id();
        JobMessages.CreateStep asked =
                Codec.decode(Codec.encode(new JobMessages.CreateStep("", id, step(), 0)), JobMessages.CreateStep.class);
        run(new Command.CreateStep(0, "", id, asked.step(), environment, "straw"));
        Job job = core.state().jobs().at(id);
        Optional<Step> step =
                job.run().steps().stream().filter(s -> s.id() >= 0).findFirst();
        if (step.isEmpty()) {
            return false;
        }
        size += StepHandler.started(
                        core.state(), n -> n.spec().address(), id, step.get().id())
                .map(s -> Codec.encode(s).length)
                .orElse(0);
        for (Step.Part part : step.get().nodes()) {
            report(
                    part.node(),
                    new NodeMessages.StepLaunched(
                            1, id, job.attempt(), step.get().id(), List.of(1)));
        }
        for (Step.Part part : step.get().nodes()) {
            Map<String, ExitStatus> exits = new TreeMap<>();
            part.tasks().forEach(t -> exits.put(Integer.toString(t), ExitStatus.NONE));
            report(
                    part.node(),
                    new NodeMessages.StepExited(1, id, job.attempt(), step.get().id(), exits, "", 1, USAGE));
        }
        run(new Command.CompleteAllocation(0, id, ExitStatus.NONE));
        for (Step.Part part : step.get().nodes()) {
            report(part.node(), new NodeMessages.JobDone(1, id, job.attempt(), ""));
        }
        run(new Command.Tick());
        return true;
    }

    private void report(String node, ToController message) {
        run(new Command.Report(node, Codec.decode(Codec.encode(message, ToController.class), ToController.class)));
    }

    private void run(Command command) {
        tick += 1000;
        pipeline.decide(command, 0, new DecisionTime(tick, 1_000_000_000_000L + tick), decision -> size++);
        journal.sync();
        while (pipeline.releaseNext()) {
            size++;
        }
    }

    private JobDesc job() {
        Json.Obj request = new Json.Obj()
                .put("tasks", (long) nodes)
                .put("nodesMin", (long) nodes)
                .put("nodesMax", (long) nodes);
        return Codec.bind(
                new Json.Obj()
                        .put("kind", "ALLOCATION")
                        .put("name", "sh")
                        .put("owner", new Json.Obj().put("user", "root"))
                        .put("request", request)
                        .put("payload", new Json.Obj().put("submitHost", "login")),
                JobDesc.class);
    }

    private StepDesc step() {
        Json.Obj request = new Json.Obj()
                .put("tasks", (long) nodes * TASKS_PER_NODE)
                .put("nodesMin", (long) nodes)
                .put("overcommit", true);
        return Codec.bind(new Json.Obj().put("name", "sh").put("request", request), StepDesc.class)
                .withEnvironment(variables);
    }
}
