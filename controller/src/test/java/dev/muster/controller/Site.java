package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.controller.config.ConfigBridge;
import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.JobMessages.SubmitReply;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.scheduler.Scheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * A cluster as slurm.conf has it, through the reader, the bridge and the real core. Two nodes of 4 CPUs and 1000 MiB,
 * one partition.
 */
public final class Site {
    private final Core core = new Core(new Scheduler().withoutConnections());
    private final List<Entry> entries = new ArrayList<>();
    private long seconds = 1_000_000;

    public Site(String... lines) {
        apply(ConfigBridge.command(conf(lines), 0));
        // one whose name begins so has not come yet
        core.state().nodes().values().stream()
                .filter(n -> !n.name().startsWith("x"))
                .forEach(n -> register(n.name(), "boot"));
    }

    /**
     * Returns a free port below those that the system gives to outgoing connections, which may take a free port at any
     * time.
     */
    public static int freePort() throws IOException {
        while (true) {
            try (ServerSocket free =
                    new ServerSocket(ThreadLocalRandom.current().nextInt(20_000, 32_000))) {
                return free.getLocalPort();
            } catch (BindException e) {
                // another process has it
            }
        }
    }

    static SlurmConf conf(String... lines) {
        String text = String.join("\n", lines);
        String nodes = text.contains("NodeName=n") ? "" : "NodeName=n[1-2] CPUs=4 RealMemory=1000\n";
        String partition = text.contains("PartitionName=") ? "" : "PartitionName=p Nodes=ALL Default=YES\n";
        try {
            Path file = Files.createTempFile("slurm", ".conf");
            Files.writeString(
                    file,
                    "ClusterName=c\nSlurmctldHost=h\nSelectTypeParameters=CR_CORE_MEMORY\nMessageTimeout=10\n" + text
                            + "\n" + nodes + partition);
            SlurmConf.Parsed read = SlurmConf.read(file.toFile());
            Files.delete(file);
            return switch (read) {
                case SlurmConf.Parsed.Invalid bad ->
                    throw new AssertionError(bad.errors().toString());
                case SlurmConf.Parsed.Ok ok -> ok.conf();
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void register(String name, String boot) {
        Node.Spec n = core.state().nodes().at(name).spec();
        apply(new Command.RegisterNode(new NodeMessages.Register(
                name,
                "c",
                boot,
                "v",
                seconds,
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
                "")));
    }

    public Decision apply(Command c) {
        DecisionTime now = new DecisionTime(seconds * 1000, seconds * 1000);
        Decision decision = core.decide(c, now);
        if (decision instanceof Decision.Accepted a && !a.changes().isEmpty()) {
            entries.add(new Entry(now.tickMs(), now.timeMs(), 0, c.getClass().getSimpleName(), a.changes()));
            core.apply(entries.getLast());
        }
        return decision;
    }

    /**
     * {@code tasks=2 timing.timeLimitMin=5}: components of the request, or of another part of the description; the
     * number or the sentence.
     */
    public String submit(String words) {
        return submit(1000, words);
    }

    public String submit(int uid, String words) {
        Map<String, Json.Obj> parts = new TreeMap<>(Map.of(
                "request",
                new Json.Obj(),
                "owner",
                new Json.Obj().put("uid", (long) uid).put("user", "u"),
                "payload",
                new Json.Obj().put("submitHost", "h")));
        Json.Obj job = new Json.Obj().put("kind", "BATCH");
        for (String word : words.isEmpty() ? new String[0] : words.split(" ")) {
            String key = word.substring(0, word.indexOf('='));
            String v = word.substring(word.indexOf('=') + 1);
            Object value = v.matches("-?[0-9]+") ? Long.valueOf(v) : v.equals("true") ? Boolean.TRUE : v;
            int dot = key.indexOf('.');
            if (List.of("kind", "partition", "name").contains(key)) {
                job.put(key, v);
            } else {
                parts.computeIfAbsent(dot < 0 ? "request" : key.substring(0, dot), k -> new Json.Obj())
                        .put(key.substring(dot + 1), value);
            }
        }
        parts.forEach(job::put);
        JobDesc desc = Codec.bind(Json.object(job.toString().getBytes(StandardCharsets.UTF_8)), JobDesc.class);
        return switch (apply(new Command.SubmitJob(uid, desc, "", Bytes.EMPTY, Bytes.EMPTY, false, false))) {
            case Decision.Accepted a -> Integer.toString(((SubmitReply) a.reply()).jobId());
            case Decision.Rejected r -> r.sentence();
        };
    }

    /** Removes a node from slurm.conf. */
    public void lose(String node) {
        List<Change> changes = new ArrayList<>(List.of(new Change.NodeRemoved(node)));
        core.state()
                .partitions()
                .values()
                .forEach(p -> changes.add(new Change.PartitionChanged(new Partition(
                        p.info(),
                        p.nodes().stream().filter(n -> !n.equals(node)).toList()))));
        entries.add(new Entry(seconds * 1000, seconds * 1000, 0, "ApplyConfig", changes));
        core.apply(entries.getLast());
    }

    /** Submits and looks for a place: as {@link #job}. */
    public String run(String words) {
        String id = submit(words);
        schedule();
        return id.matches("[0-9]+") ? job(Integer.parseInt(id)) : id;
    }

    /** Returns all entries that were applied, in order. */
    public List<Entry> entries() {
        return entries;
    }

    public void schedule() {
        apply(new Command.Schedule(100));
    }

    public void pass(long more) {
        seconds += more;
        apply(new Command.Tick());
    }

    /** Ends a job's script, with which its node is done then. */
    public void exit(int id, int code) {
        end(id, code);
        done(core.state().jobs().at(id).run().allocation().nodeNames().getFirst(), id);
    }

    /** Reports that a node is done with the job. */
    public void done(String node, int id) {
        apply(new Command.Report(
                node, new NodeMessages.JobDone(1, id, core.state().jobs().at(id).attempt(), "")));
    }

    /** Ends a job's script. */
    public void end(int id, int code) {
        Job job = core.state().jobs().at(id);
        String node = job.run().allocation().nodeNames().getFirst();
        apply(new Command.Report(
                node,
                new NodeMessages.StepExited(
                        1,
                        id,
                        job.attempt(),
                        Step.BATCH,
                        Map.of("0", ExitStatus.exited(code)),
                        "",
                        0,
                        new NodeMessages.Usage(1, 1, 1, 1, 0, 0, 0))));
    }

    public Core core() {
        return core;
    }

    /** {@code RUNNING n1:2/500}: state, nodes with CPUs and memory, or why it waits. */
    public String job(int id) {
        if (core.state().jobs().find(id).isEmpty()) {
            return "unknown";
        }
        Job job = core.state().jobs().at(id);
        if (job.isPending()) {
            String why = core.planner().reason(id).word();
            return "PENDING " + (why.equals("None") ? job.reason().word() : why);
        }
        return (job.state() + " "
                        + job.run().allocation().nodes().stream()
                                .map(s -> s.node() + ":" + s.cpus() + "/" + s.memoryMb())
                                .collect(Collectors.joining(" ")))
                .strip();
    }

    String node(String name) {
        Node n = core.state().nodes().at(name);
        return n.baseState() + (n.reason().isEmpty() ? "" : " " + n.reason());
    }
}
