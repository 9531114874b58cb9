package dev.muster.simulator;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.options.SlurmConfOptions;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/** One seed: a cluster, its users, what goes wrong, and the judgement. */
final class Simulation {
    /** A node that talks to the controller reports an end within this time. */
    static final long REPORT_WITHIN_MS = 30_000;
    /** Once nothing goes wrong any more, everything is over within this time. */
    static final long LIVENESS_MS = 6 * 3_600_000L;

    private static final int SLURM_UID = 64030;
    private static final List<String> POINTS = List.of(
            "DECIDED",
            "APPENDED",
            "DURABLE",
            "EFFECTS_OUT",
            "between-effects",
            "between-messages",
            "during-snapshot",
            "during-recovery");

    /** How a seed went. */
    record Outcome(
            long seed,
            SimParameters parameters,
            long hash,
            long events,
            int jobs,
            int launches,
            long virtualMs,
            Optional<Violation> violation,
            Map<String, Integer> seen,
            List<String> trace) {}

    private final PlantedBug bug;
    private final SimParameters parameters;
    private final World world;
    private final DurableHistory history;
    private final ExecutionLedger ledger;
    private final SimController controller;
    private final List<SimNode> nodes = new ArrayList<>();
    private final List<SimClient> clients = new ArrayList<>();

    private Simulation(long seed, PlantedBug bug, boolean verbose) {
        this.bug = bug;
        this.parameters = SimParameters.draw(new Random(seed * 31 + 7));
        this.world = new World(seed, verbose);
        this.history = new DurableHistory(world);
        this.ledger = new ExecutionLedger(world, history);
        history.ledger(ledger);
        this.controller = new SimController(world, parameters, bug, history, config(parameters));
        for (int i = 0; i < parameters.nodes(); i++) {
            SimNode node = new SimNode(world, parameters, bug, ledger, "n" + i);
            node.connectTo(controller);
            nodes.add(node);
        }
        for (int i = 0; i < parameters.clients(); i++) {
            clients.add(new SimClient(
                    world, parameters, bug, history, controller, i, parameters.jobs() / parameters.clients() + 1));
        }
        ledger.talkingFor(name -> {
            SimNode node = nodes.get(Integer.parseInt(name.substring(1)));
            return world.nowMs()
                    - Math.max(node.talkingSinceMs(), controller.isUp() ? controller.startedMs() : Long.MAX_VALUE / 2);
        });
    }

    static Outcome run(long seed, PlantedBug bug, boolean verbose) {
        Simulation s = new Simulation(seed, bug, verbose);
        Optional<Violation> violation = Optional.empty();
        try {
            s.play();
        } catch (Violation v) {
            violation = Optional.of(v);
        } catch (RuntimeException e) {
            violation = Optional.of(new Violation("no exception", e));
        }
        return new Outcome(
                seed,
                s.parameters,
                s.world.hash(),
                s.world.steps(),
                s.history.jobsSeen(),
                s.ledger.launches(),
                s.world.nowMs(),
                violation,
                s.world.seen(),
                s.world.trace());
    }

    // ---- the cluster

    private static Node.Spec spec(String name, int order, int cpus) {
        return new Node.Spec(
                name,
                name,
                name,
                6818,
                cpus,
                1,
                1,
                cpus,
                1,
                cpus,
                1,
                4096,
                0,
                0,
                List.of(),
                1,
                List.of(new Node.Gres("gpu", "", 0, 2, "")),
                IndexSet.empty(),
                "UNKNOWN",
                "",
                order);
    }

    static Command.ApplyConfig config(SimParameters parameters) {
        TreeMap<String, String> options = new TreeMap<>();
        options.put("kill_invalid_depend", Boolean.toString(parameters.killInvalidDepend()));
        Settings settings = new Settings(
                "sim",
                SLURM_UID,
                1,
                0x03ff0000,
                10_000,
                1001,
                true,
                0,
                0,
                0,
                0,
                5,
                parameters.minJobAgeS(),
                0,
                2,
                parameters.nodeTimeoutS(),
                10,
                40_000,
                512,
                true,
                "NO",
                parameters.externSteps(),
                parameters.awaitProlog() || parameters.externSteps(),
                false,
                false,
                List.of("gpu"),
                SlurmConfOptions.of(options));
        List<Node.Spec> specs = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < parameters.nodes(); i++) {
            names.add("n" + i);
            specs.add(spec("n" + i, i, parameters.cpus()));
        }
        PartitionInfo info = Codec.bind(
                new Json.Obj()
                        .put("name", "batch")
                        .put("isDefault", true)
                        .put("state", "UP")
                        .put("maxTimeMin", -1L)
                        .put("defaultTimeMin", 3L)
                        .put("maxNodes", -1L)
                        .put("allowGroups", "ALL")
                        .put("allowAccounts", "ALL")
                        .put("allowQos", "ALL")
                        .put("overSubscribe", "NO")
                        .put("overTimeLimitMin", -1L)
                        .put("priorityTier", 1L)
                        .put("priorityJobFactor", 1L)
                        .put("nodes", String.join(",", names))
                        .put("totalNodes", (long) names.size()),
                PartitionInfo.class);
        return new Command.ApplyConfig(settings, specs, List.of(new Partition(info, names)));
    }

    /** A node is missing, the partition is down, or all is as it was. */
    private Command.ApplyConfig anyConfig() {
        Command.ApplyConfig whole = config(parameters);
        Partition p = whole.partitions().getFirst();
        return switch (world.below(4)) {
            case 0 ->
                new Command.ApplyConfig(
                        whole.settings(),
                        whole.nodes(),
                        List.of(new Partition(
                                Codec.bind(
                                        Json.object(Codec.encode(p.info())).put("state", "DOWN"), PartitionInfo.class),
                                p.nodes())));
            case 1, 2 -> {
                String gone = anyNode().name();
                List<Node.Spec> specs = whole.nodes().stream()
                        .filter(n -> !n.name().equals(gone))
                        .toList();
                yield new Command.ApplyConfig(
                        whole.settings(),
                        specs,
                        List.of(new Partition(
                                p.info(),
                                p.nodes().stream().filter(n -> !n.equals(gone)).toList())));
            }
            default -> whole;
        };
    }

    // ---- the course of things

    private void play() {
        world.log("seed", parameters.toString());
        controller.start();
        nodes.forEach(n -> world.at(world.below(10_000), n::powerOn));
        clients.forEach(SimClient::start);
        every(parameters.crashMeanMs(), controller::crash);
        every(
                parameters.pointMeanMs(),
                () -> controller.arm(POINTS.get(world.below(POINTS.size())), 1 + world.below(5)));
        every(parameters.resetMeanMs(), () -> anyNode().resetWire());
        every(
                parameters.partitionMeanMs(),
                () -> anyNode()
                        .cutOff(1_000L
                                + world.below(world.below(2) == 0 ? 10_000 : 3 * 1000 * parameters.nodeTimeoutS())));
        every(parameters.slurmdMeanMs(), () -> anyNode().restartSlurmd());
        every(parameters.rebootMeanMs(), () -> anyNode().reboot());
        every(parameters.stepdMeanMs(), () -> anyNode().killStepd());
        every(parameters.reconfigureMeanMs(), () -> controller.reconfigure(anyConfig()));
        every(parameters.clockJumpMeanMs(), () -> controller.jumpClock(world.below(240_000) - 120_000));
        world.run(parameters.faultsMs());
        calm();
        judge();
    }

    private void every(int meanMs, Runnable fault) {
        if (meanMs > 0) {
            world.at(world.around(meanMs), () -> {
                if (!world.isCalm()) {
                    fault.run();
                    every(meanMs, fault);
                }
            });
        }
    }

    private SimNode anyNode() {
        return nodes.get(world.below(nodes.size()));
    }

    /** Faults stop; an operator gives back what was taken out of service, and everything must come to its end. */
    private void calm() {
        world.log("seed", "faults stop");
        world.calmDown();
        controller.arm("", 0);
        nodes.forEach(SimNode::heal);
        controller.reconfigure(config(parameters));
        long until = world.nowMs() + LIVENESS_MS;
        while (world.nowMs() < until) {
            world.run(world.nowMs() + 10_000);
            if (isQuiet()) {
                return;
            }
            controller.request(c -> operate());
        }
        StringBuilder left = new StringBuilder();
        history.state().jobs().values().stream()
                .filter(j -> !j.state().isTerminal() || j.has(JobFlag.COMPLETING))
                .forEach(j -> left.append("\n  ")
                        .append(j.displayId())
                        .append(' ')
                        .append(j.state())
                        .append(" flags ")
                        .append(j.flags())
                        .append(' ')
                        .append(j.reason())
                        .append(' ')
                        .append(j.dependencies())
                        .append(' ')
                        .append(j.run().allocation()));
        nodes.forEach(
                n -> left.append("\n  ").append(n.name()).append(" knows ").append(n.known()));
        history.state()
                .nodes()
                .values()
                .forEach(n -> left.append("\n  ")
                        .append(n.name())
                        .append(' ')
                        .append(n.flags())
                        .append(' ')
                        .append(n.reason()));
        throw new Violation("liveness", "not over long after the last fault:" + left);
    }

    private boolean isQuiet() {
        return controller.isUp()
                && history.unfinished() == 0
                && controller.state().equals(history.state())
                && nodes.stream().allMatch(n -> n.known().isEmpty())
                && clients.stream().noneMatch(SimClient::isWaiting);
    }

    private void operate() {
        for (Node node : controller.state().nodes().values()) {
            if (node.has(Node.Flag.DRAIN)
                    || node.has(Node.Flag.DOWN) && !node.reason().equals("Not responding")) {
                command(new Command.UpdateNode(0, List.of(node.name()), new TreeMap<>(Map.of("state", "resume"))));
            }
        }
        for (Job job : controller.state().jobs().values()) {
            List<Command.JobRef> refs =
                    List.of(new Command.JobRef(Integer.toString(job.id()), job.id(), -1, Command.JobRef.NO_STEP));
            if (job.reason() == JobReason.DEPENDENCY_NEVER_SATISFIED && job.isPending()) {
                command(new Command.CancelJobs(0, refs, 0, false, false));
            } else if (job.isPending() && job.isHeld()) {
                command(new Command.HoldJobs(0, refs, false, false));
            } else if (job.state() == JobState.SUSPENDED) {
                command(new Command.SuspendJobs(0, refs, false));
            }
        }
    }

    private void command(Command c) {
        controller.command(c, 0, d -> {
            if (d instanceof Decision.Rejected r) {
                world.log("operator", r.sentence());
            }
        });
    }

    private void judge() {
        if (!ledger.alive().isEmpty()) {
            throw new Violation("nothing is left running", ledger.alive().toString());
        }
        history.acknowledgedAreKnown();
        controller.checkIndexes();
        for (Node node : history.state().nodes().values()) {
            if (!node.jobs().isEmpty() || node.cpusAllocated() != 0 || node.memoryAllocatedMb() != 0) {
                throw new Violation("I14 no drift", node.toString());
            }
        }
        controller.crash();
        world.run(world.nowMs() + 40_000);
    }

    PlantedBug bug() {
        return bug;
    }
}
