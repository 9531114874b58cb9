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
            SimParameters swarm,
            long hash,
            long events,
            int jobs,
            int launches,
            long virtualMs,
            Optional<Violation> violation,
            Map<String, Integer> seen,
            List<String> trace) {}

    private final PlantedBug plant;
    private final SimParameters swarm;
    private final World world;
    private final DurableHistory truth;
    private final ExecutionLedger reality;
    private final SimController controller;
    private final List<SimNode> nodes = new ArrayList<>();
    private final List<SimClient> clients = new ArrayList<>();

    private Simulation(long seed, PlantedBug plant, boolean verbose) {
        this.plant = plant;
        this.swarm = SimParameters.draw(new Random(seed * 31 + 7));
        this.world = new World(seed, verbose);
        this.truth = new DurableHistory(world);
        this.reality = new ExecutionLedger(world, truth);
        truth.reality(reality);
        this.controller = new SimController(world, swarm, plant, truth, config(swarm));
        for (int i = 0; i < swarm.nodes(); i++) {
            SimNode node = new SimNode(world, swarm, plant, reality, "n" + i);
            node.connectTo(controller);
            nodes.add(node);
        }
        for (int i = 0; i < swarm.clients(); i++) {
            clients.add(new SimClient(world, swarm, plant, truth, controller, i, swarm.jobs() / swarm.clients() + 1));
        }
        reality.talkingFor(name -> {
            SimNode node = nodes.get(Integer.parseInt(name.substring(1)));
            return world.nowMs()
                    - Math.max(node.talkingSinceMs(), controller.isUp() ? controller.startedMs() : Long.MAX_VALUE / 2);
        });
    }

    static Outcome run(long seed, PlantedBug plant, boolean verbose) {
        Simulation s = new Simulation(seed, plant, verbose);
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
                s.swarm,
                s.world.hash(),
                s.world.steps(),
                s.truth.jobsSeen(),
                s.reality.launches(),
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

    static Command.ApplyConfig config(SimParameters swarm) {
        TreeMap<String, String> options = new TreeMap<>();
        options.put("kill_invalid_depend", Boolean.toString(swarm.killInvalidDepend()));
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
                swarm.minJobAgeS(),
                0,
                2,
                swarm.nodeTimeoutS(),
                10,
                40_000,
                512,
                true,
                "NO",
                swarm.externSteps(),
                swarm.awaitProlog() || swarm.externSteps(),
                false,
                false,
                List.of("gpu"),
                SlurmConfOptions.of(options));
        List<Node.Spec> specs = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < swarm.nodes(); i++) {
            names.add("n" + i);
            specs.add(spec("n" + i, i, swarm.cpus()));
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
        Command.ApplyConfig whole = config(swarm);
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
        world.log("seed", swarm.toString());
        controller.start();
        nodes.forEach(n -> world.at(world.below(10_000), n::powerOn));
        clients.forEach(SimClient::start);
        every(swarm.crashMeanMs(), controller::crash);
        every(swarm.pointMeanMs(), () -> controller.arm(POINTS.get(world.below(POINTS.size())), 1 + world.below(5)));
        every(swarm.resetMeanMs(), () -> anyNode().resetWire());
        every(
                swarm.partitionMeanMs(),
                () -> anyNode()
                        .cutOff(1_000L + world.below(world.below(2) == 0 ? 10_000 : 3 * 1000 * swarm.nodeTimeoutS())));
        every(swarm.slurmdMeanMs(), () -> anyNode().restartSlurmd());
        every(swarm.rebootMeanMs(), () -> anyNode().reboot());
        every(swarm.stepdMeanMs(), () -> anyNode().killStepd());
        every(swarm.reconfigureMeanMs(), () -> controller.reconfigure(anyConfig()));
        every(swarm.clockJumpMeanMs(), () -> controller.jumpClock(world.below(240_000) - 120_000));
        world.run(swarm.faultsMs());
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
        controller.reconfigure(config(swarm));
        long until = world.nowMs() + LIVENESS_MS;
        while (world.nowMs() < until) {
            world.run(world.nowMs() + 10_000);
            if (isQuiet()) {
                return;
            }
            controller.request(c -> operate());
        }
        StringBuilder left = new StringBuilder();
        truth.state().jobs().values().stream()
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
        truth.state()
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
                && truth.unfinished() == 0
                && controller.state().equals(truth.state())
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
        if (!reality.alive().isEmpty()) {
            throw new Violation("nothing is left running", reality.alive().toString());
        }
        truth.acknowledgedAreKnown();
        controller.checkIndexes();
        for (Node node : truth.state().nodes().values()) {
            if (!node.jobs().isEmpty() || node.cpusAllocated() != 0 || node.memoryAllocatedMb() != 0) {
                throw new Violation("I14 no drift", node.toString());
            }
        }
        controller.crash();
        world.run(world.nowMs() + 40_000);
    }

    PlantedBug plant() {
        return plant;
    }
}
