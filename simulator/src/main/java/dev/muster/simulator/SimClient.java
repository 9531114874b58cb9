package dev.muster.simulator;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.api.JobMessages;
import dev.muster.model.api.JobMessages.CancelReply;
import dev.muster.model.api.JobMessages.SubmitReply;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.StepDesc;
import dev.muster.transport.Hash;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** A user at a shell: one request after the other, each repeated under the same request id until it is answered. */
final class SimClient {
    private static final int ADMIN = 0;

    /** What arrives at the controller; the answer goes to the consumer. */
    private interface Call {
        void at(SimController controller, Consumer<Decision> answer);
    }

    private final World world;
    private final SimParameters parameters;
    private final PlantedBug bug;
    private final DurableHistory history;
    private final SimController controller;
    private final String name;
    private final int uid;
    private final List<Integer> jobs = new ArrayList<>();
    private int toSubmit;
    private int requests;
    private boolean waiting;

    SimClient(
            World world,
            SimParameters parameters,
            PlantedBug bug,
            DurableHistory history,
            SimController controller,
            int number,
            int jobs) {
        this.world = world;
        this.parameters = parameters;
        this.bug = bug;
        this.history = history;
        this.controller = controller;
        this.name = "user" + number;
        this.uid = 1000 + number;
        this.toSubmit = jobs;
    }

    boolean isWaiting() {
        return waiting;
    }

    void start() {
        world.at(world.around(3_000), this::act);
    }

    private void act() {
        if (world.isCalm()) {
            return;
        }
        if (toSubmit > 0 && (jobs.isEmpty() || world.below(2) == 0)) {
            toSubmit--;
            submit();
        } else if (!jobs.isEmpty()) {
            change(jobs.get(world.below(jobs.size())));
        } else {
            done();
        }
    }

    private void done() {
        waiting = false;
        world.at(world.around(parameters.faultsMs() / (3L * parameters.jobs())), this::act);
    }

    // ---- the network between

    private void call(String what, Call call, Consumer<Decision> onAnswer) {
        waiting = true;
        boolean[] answered = {false};
        send(
                what,
                call,
                d -> {
                    if (!answered[0]) {
                        answered[0] = true;
                        world.log(name, what + " answered " + brief(d));
                        onAnswer.accept(d);
                        done();
                    }
                },
                answered);
    }

    private static String brief(Decision d) {
        return switch (d) {
            case Decision.Accepted a -> String.valueOf(a.reply());
            case Decision.Rejected r -> r.sentence();
        };
    }

    private void send(String what, Call call, Consumer<Decision> onAnswer, boolean[] answered) {
        world.log(name, what);
        for (int i = world.chance(parameters.requestDuplicatePerMille()) ? 2 : 1; i > 0; i--) {
            if (!world.chance(parameters.requestLossPerMille())) {
                world.at(
                        world.around(parameters.delayMs()),
                        () -> controller.request(c -> call.at(c, d -> {
                            if (!world.chance(parameters.requestLossPerMille())) {
                                world.at(world.around(parameters.delayMs()), () -> onAnswer.accept(d));
                            }
                        })));
            }
        }
        world.at(3_000 + world.below(10_000), () -> {
            if (!answered[0]) {
                send(what, call, onAnswer, answered);
            }
        });
    }

    // ---- requests

    private void submit() {
        String request = name + "-" + ++requests;
        SimScript program =
                new SimScript(200 + world.below(world.below(4) == 0 ? 150_000 : 20_000), exit(), world.below(5) == 0);
        byte[] message = Codec.encode(new JobMessages.Submit(
                request, desc(request), Bytes.of(program.text(request)), List.of(), false, false));
        call("submit " + request, (c, answer) -> submitAt(c, message, answer), d -> {
            if (d instanceof Decision.Accepted a) {
                int id = ((SubmitReply) a.reply()).jobId();
                history.acknowledgedSubmit(request, id);
                jobs.add(id);
            }
        });
    }

    /** Submits as the edge does. */
    private void submitAt(SimController c, byte[] message, Consumer<Decision> answer) {
        JobMessages.Submit m = Codec.decode(message, JobMessages.Submit.class);
        String hash = Hash.hex(Hash.sha256(m.script().toArray()));
        JobDesc desc = m.job()
                .withOwner(new Identity(uid, uid, name, name, List.of(uid), "/home/" + name, "/bin/sh"))
                .withPayload(new JobDesc.Payload(hash, "", List.of(), "login", 1, Bytes.EMPTY, 022, new TreeMap<>()));
        c.storeBlob(hash, m.script());
        String id = bug == PlantedBug.NO_REQUEST_DEDUPE ? "" : m.requestId();
        c.command(
                new Command.SubmitJob(uid, desc, id, m.script(), Bytes.EMPTY, m.immediate(), m.testOnly()),
                uid,
                answer);
    }

    private ExitStatus exit() {
        return switch (world.below(6)) {
            case 0 -> ExitStatus.exited(1 + world.below(255));
            case 1 -> ExitStatus.signaled(11);
            default -> ExitStatus.NONE;
        };
    }

    private JobDesc desc(String request) {
        Json.Obj resources = new Json.Obj();
        switch (world.below(4)) {
            case 0 -> resources.put("tasks", 1L + world.below(parameters.cpus()));
            case 1 -> resources.put("nodesMin", 1L + world.below(parameters.nodes()));
            case 2 -> resources.put("tasks", 1L).put("memPerNodeMb", 100L + world.below(3000));
            default -> resources.put("tasks", 1L).put("cpusPerTask", 1L + world.below(parameters.cpus()));
        }
        if (world.below(10) == 0) {
            resources.put("exclusive", "NODE");
        }
        if (world.below(6) == 0) {
            resources.put("tresPerNode", "gres/gpu:1");
        }
        Json.Obj timing = new Json.Obj().put("timeLimitMin", (long) world.below(4));
        if (world.below(4) == 0) {
            timing.put("array", "0-" + world.below(6) + (world.below(2) == 0 ? "%2" : ""));
        }
        if (!jobs.isEmpty() && world.below(3) == 0) {
            String kind = List.of("afterok", "afterany", "afternotok", "after", "singleton")
                    .get(world.below(5));
            timing.put("dependency", kind.equals("singleton") ? kind : kind + ":" + jobs.get(world.below(jobs.size())));
        }
        timing.put("hold", world.below(10) == 0);
        if (world.below(5) == 0) {
            timing.put("requeue", "NO");
        }
        return Codec.bind(
                new Json.Obj()
                        .put("kind", "BATCH")
                        .put("name", request)
                        .put("request", resources)
                        .put("timing", timing),
                JobDesc.class);
    }

    private static Command.JobRef ref(int job) {
        return new Command.JobRef(Integer.toString(job), job, -1, Command.JobRef.NO_STEP);
    }

    private void change(int job) {
        List<Command.JobRef> refs = List.of(ref(job));
        switch (world.below(10)) {
            case 0, 1 ->
                call(
                        "cancel " + job,
                        (c, answer) -> c.command(new Command.CancelJobs(uid, refs, 0, false, false), uid, answer),
                        d -> cancelled(job, d));
            case 2 ->
                call(
                        "hold " + job,
                        (c, answer) -> c.command(new Command.HoldJobs(uid, refs, true, false), uid, answer),
                        d -> {});
            case 3 ->
                call(
                        "release " + job,
                        (c, answer) -> c.command(new Command.HoldJobs(uid, refs, false, false), uid, answer),
                        d -> {});
            case 4 -> requeue(job, refs);
            case 5 -> suspend(job, refs);
            case 6, 7 -> step(job);
            case 8 -> drain();
            default -> {
                Map<String, String> changes = new TreeMap<>(Map.of("timelimit", Integer.toString(1 + world.below(5))));
                call(
                        "update " + job,
                        (c, answer) -> c.command(new Command.UpdateJob(ADMIN, ref(job), changes), ADMIN, answer),
                        d -> {});
            }
        }
    }

    private void cancelled(int job, Decision d) {
        if (d instanceof Decision.Accepted a
                && a.reply() instanceof CancelReply r
                && !r.done().isEmpty()
                && r.errors().isEmpty()) {
            history.acknowledgedCancel(job);
        }
    }

    private void requeue(int job, List<Command.JobRef> refs) {
        if (!parameters.requeues()) {
            done();
            return;
        }
        history.requeueAsked(job);
        boolean hold = world.below(3) == 0;
        call(
                "requeue " + job,
                (c, answer) -> c.command(new Command.RequeueJobs(uid, refs, hold, false), uid, answer),
                d -> {});
    }

    private void suspend(int job, List<Command.JobRef> refs) {
        if (!parameters.suspends()) {
            done();
            return;
        }
        boolean stop = world.below(2) == 0;
        call(
                (stop ? "suspend " : "resume ") + job,
                (c, answer) -> c.command(new Command.SuspendJobs(ADMIN, refs, stop), ADMIN, answer),
                d -> {});
    }

    private void drain() {
        if (!parameters.drains()) {
            done();
            return;
        }
        String node = "n" + world.below(parameters.nodes());
        String state = List.of("drain", "resume", "down").get(world.below(3));
        Map<String, String> changes = new TreeMap<>(Map.of("state", state, "reason", "maintenance"));
        call(
                state + " " + node,
                (c, answer) -> c.command(new Command.UpdateNode(ADMIN, List.of(node), changes), ADMIN, answer),
                d -> {});
    }

    private void step(int array) {
        Job job = history.state()
                .jobs()
                .find(array)
                .filter(j -> j.state().isActive())
                .orElse(null);
        if (!parameters.steps() || job == null) {
            done();
            return;
        }
        String request = name + "-step-" + ++requests;
        StepDesc desc = stepDesc(request);
        Command.CreateStep one = new Command.CreateStep(uid, request, job.id(), desc, Bytes.EMPTY, "token");
        // of a job of several nodes every third step is heterogeneous: two components of the same kind
        boolean two = requests % 3 == 0 && job.run().allocation().nodes().size() > 1 && !job.isHet();
        Command asked = two ? new Command.CreateHetStep(uid, request, List.of(one, one)) : one;
        call("step in " + job.id(), (c, answer) -> c.command(asked, uid, answer), d -> {});
    }

    /** Draws the step's program and options from the world's random numbers, in this order. */
    private StepDesc stepDesc(String request) {
        SimScript program = new SimScript(100 + world.below(10_000), exit(), world.below(5) == 0);
        StepDesc desc = Codec.bind(new Json.Obj().put("name", request), StepDesc.class);
        return Codec.decode(
                Codec.encode(new StepDesc(
                        desc.name(),
                        desc.request(),
                        world.below(2) == 0,
                        false,
                        0,
                        0,
                        "",
                        "",
                        "",
                        List.of(Bytes.of(program.text(request))),
                        Bytes.EMPTY,
                        List.of(),
                        Bytes.of("/"),
                        desc.io(),
                        false,
                        false,
                        0,
                        false,
                        0,
                        0,
                        false,
                        Bytes.EMPTY,
                        Bytes.EMPTY,
                        022,
                        0,
                        "",
                        "login",
                        1,
                        Bytes.EMPTY,
                        new TreeMap<>(),
                        "",
                        "",
                        "",
                        0,
                        world.below(3) == 0,
                        0,
                        false,
                        "",
                        "",
                        "",
                        false,
                        false)),
                StepDesc.class);
    }
}
