package dev.muster.benchmarks;

import static java.util.Objects.requireNonNull;

import dev.muster.config.SlurmConf;
import dev.muster.daemon.Sessions;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.api.JobMessages;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.StepDesc;
import dev.muster.node.os.Os;
import dev.muster.transport.Caller;
import dev.muster.transport.Client;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * What slurmctld, a process of its own with its journal on disk, does for thousands of nodes: {@link EmulatedNodes} in
 * a few processes, one for each line of nodes in slurm.conf. Usage: ManyNodesBenchmark SLURM.CONF PID JOBS PARTS
 * HOSTLIST... (the PID of slurmctld; parts of array,separate,wide,storm). Not a unit test.
 */
public final class ManyNodesBenchmark implements AutoCloseable {
    private static final int CONNECTIONS = 16;
    private static final int ROUNDS = 5;
    private static final int BATCH = -5;
    private static final double TICK_MS = 10;
    private static final int WAIT_S = 600;

    private final Path conf;
    private final long pid;
    private final Sessions sessions;
    private final String host;
    private final int port;
    private final List<Nodes> processes = new ArrayList<>();
    private final AtomicInteger requests = new AtomicInteger();
    private int nodes;

    /** A process of nodes. */
    private record Nodes(Process process, PrintStream ask, BufferedReader answers) {
        synchronized String say(String words) {
            ask.println(words);
            ask.flush();
            try {
                return answers.readLine();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private ManyNodesBenchmark(Path conf, long pid) throws IOException {
        this.conf = conf;
        this.pid = pid;
        SlurmConf read = switch (SlurmConf.read(conf.toFile())) {
            case SlurmConf.Parsed.Ok ok -> ok.conf();
            case SlurmConf.Parsed.Invalid invalid ->
                throw new IOException(invalid.errors().toString());
        };
        sessions = new Sessions(read, new Caller(Os.uid(), Os.gid()), Os.uid(), false);
        host = read.controllers().getFirst().address();
        port = read.slurmctldPorts().getFirst();
    }

    public static void main(String[] args) throws Exception {
        try (ManyNodesBenchmark all = new ManyNodesBenchmark(Path.of(args[0]), Long.parseLong(args[1]))) {
            int jobs = Integer.parseInt(args[2]);
            List<String> parts = List.of(args[3].split(","));
            for (String names : Arrays.asList(args).subList(4, args.length)) {
                all.begin(names);
            }
            System.out.printf(
                    "%-46s %10s %10s %12s %13s %10s%n",
                    all.nodes + " emulated nodes", "seconds", "per_second", "ctld_cpu_ms", "nodes_cpu_ms", "rss_mb");
            all.registration();
            for (String part : parts) {
                switch (part) {
                    case "array", "separate" -> all.jobs(part, jobs);
                    case "wide" -> all.wide();
                    case "storm" -> all.storm();
                    default -> throw new IllegalArgumentException(part);
                }
            }
        }
        System.exit(0);
    }

    private void begin(String names) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin/java").toString()));
        command.addAll(List.of(
                "-Xmx3g",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-cp",
                System.getProperty("java.class.path"),
                EmulatedNodes.class.getName(),
                conf.toString(),
                names));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Nodes made = new Nodes(
                process,
                new PrintStream(process.getOutputStream(), false, StandardCharsets.UTF_8),
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)));
        processes.add(made);
        nodes += switch (dev.muster.model.format.HostList.parse(names)) {
            case dev.muster.model.format.HostList.Parsed.Ok ok ->
                ok.list().names().size();
            default -> throw new IOException(names);
        };
        made.say("connected"); // it is there
    }

    private long sum(String question) {
        return processes.stream()
                .mapToLong(p -> Long.parseLong(p.say(question)))
                .sum();
    }

    private EmulatedNodes.Seen seen(int job, int step) {
        int count = 0;
        long last = 0;
        for (Nodes p : processes) {
            String[] words = p.say("seen " + job + " " + step).split(" ");
            count += Integer.parseInt(words[0]);
            last = Math.max(last, Long.parseLong(words[1]));
        }
        return new EmulatedNodes.Seen(count, last);
    }

    // ---- rows

    private void registration() throws Exception {
        Mark mark = new Mark();
        processes.forEach(p -> p.say("start"));
        await(20, () -> sum("connected") == nodes);
        mark.row("all nodes registered", nodes);
    }

    private void jobs(String how, int jobs) throws Exception {
        long freed = sum("freed");
        long completed = diagnostics("jobs_completed");
        Mark mark = new Mark();
        if (how.equals("array")) {
            submit(client(), job("true", 1, "0-" + (jobs - 1)));
        } else {
            each(jobs);
        }
        mark.row(how + ": " + jobs + " jobs submitted", jobs);
        await(20, () -> sum("freed") == freed + jobs);
        mark.row(how + ": " + jobs + " jobs submitted and over", jobs);
        mark.each(jobs);
        if (diagnostics("jobs_completed") - completed != jobs || !isEmpty()) {
            throw new IllegalStateException(
                    diagnostics("jobs_completed") - completed + " of " + jobs + " jobs completed");
        }
    }

    private void each(int jobs) throws InterruptedException {
        AtomicInteger left = new AtomicInteger(jobs);
        List<Thread> threads = new ArrayList<>();
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try (Client client = client()) {
                    while (left.getAndDecrement() > 0) {
                        submit(client, job("true", 1, ""));
                    }
                } catch (IOException | RuntimeException e) {
                    wrong.set(e);
                }
            }));
        }
        for (Thread t : threads) {
            t.join();
        }
        if (wrong.get() != null) {
            throw new IllegalStateException(wrong.get());
        }
    }

    /** One job that has all nodes, and steps that have all of them. */
    private void wide() throws Exception {
        try (Client client = client()) {
            for (int round = 1; round <= ROUNDS; round++) {
                Mark mark = new Mark();
                int id = submit(client, job("gate", nodes, ""));
                await(
                        5,
                        () -> seen(id, BATCH).count()
                                        + seen(id, EmulatedNodes.PREPARED).count()
                                >= nodes);
                long known = Math.max(
                        seen(id, BATCH).lastNs(),
                        seen(id, EmulatedNodes.PREPARED).lastNs());
                mark.until("job of all nodes " + round + ": all know of it", known);
                mark = new Mark();
                step(client, id);
                await(5, () -> seen(id, 0).count() >= nodes);
                mark.until(
                        "step of all nodes " + round + ": all have begun",
                        seen(id, 0).lastNs());
                await(20, () -> sum("ends") == sum("launches") - 1);
                mark.row("step of all nodes " + round + ": all have ended", nodes);
                long freed = sum("freed");
                mark = new Mark();
                processes.forEach(p -> p.say("open"));
                await(20, () -> sum("freed") == freed + nodes);
                mark.row("job of all nodes " + round + ": all are free again", nodes);
            }
        }
    }

    /** Ends as many jobs as the cluster has nodes at the same moment, while as many others wait for the nodes. */
    private void storm() throws Exception {
        for (int round = 1; round <= ROUNDS; round++) {
            long launches = sum("launches");
            long freed = sum("freed");
            try (Client client = client()) {
                submit(client, job("gate", 1, "0-" + (nodes - 1)).exclusive());
                await(20, () -> sum("launches") == launches + nodes);
                submit(client, job("gate", 1, "0-" + (nodes - 1)).exclusive());
                Thread.sleep(2000);
                Looker looker = new Looker();
                Mark mark = new Mark();
                processes.forEach(p -> p.say("open"));
                await(5, () -> sum("launches") == launches + 2L * nodes);
                mark.row("storm " + round + ": " + nodes + " jobs end, the next run", nodes);
                looker.end();
                processes.forEach(p -> p.say("open"));
                await(20, () -> sum("freed") == freed + 2L * nodes);
            }
        }
    }

    /** Asks all the time, as people do while it is busy. */
    private final class Looker {
        private final List<Long> pings = new ArrayList<>();
        private final List<Long> queues = new ArrayList<>();
        private final Thread thread = Thread.ofPlatform().start(this::look);
        private volatile boolean over;

        private void look() {
            byte[] queue = query("PENDING");
            try (Client client = client()) {
                while (!over) {
                    pings.add(timed(client, "Ping", "{}".getBytes(StandardCharsets.UTF_8)));
                    queues.add(timed(client, "QueryJobs", queue));
                    Thread.sleep(5);
                }
            } catch (IOException e) {
                System.err.println(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private long timed(Client client, String message, byte[] body) throws IOException {
            long start = System.nanoTime();
            ask(client, message, body);
            return System.nanoTime() - start;
        }

        void end() throws InterruptedException {
            over = true;
            thread.join();
            System.out.printf(
                    "  meanwhile, ms p50 p99: ping %.1f %.1f, squeue -t PD %.1f %.1f (%d of each)%n",
                    at(pings, 0.5), at(pings, 0.99), at(queues, 0.5), at(queues, 0.99), queues.size());
        }

        private static double at(List<Long> times, double part) {
            List<Long> sorted = times.stream().sorted().toList();
            return sorted.isEmpty() ? 0 : sorted.get((int) Math.min(sorted.size() - 1, sorted.size() * part)) / 1e6;
        }
    }

    // ---- requests

    private Client client() {
        return sessions.client(host, port).to(dev.muster.transport.Audience.SLURMCTLD);
    }

    private static byte[] ask(Client client, String message, byte[] body) throws IOException {
        Client.Response answer = client.post("/muster/v1/" + message, body, WAIT_S * 1000);
        if (answer.status() != 200) {
            throw new IOException(message + ": " + new String(answer.body(), StandardCharsets.UTF_8));
        }
        return answer.body();
    }

    /** A submission. */
    private record Asked(Json.Obj request, Json.Obj timing, String script) {
        Asked exclusive() {
            request.put("exclusive", "NODE");
            return this;
        }
    }

    private static Asked job(String script, int nodes, String array) {
        return new Asked(
                new Json.Obj().put("tasks", (long) nodes).put("nodesMin", (long) nodes),
                new Json.Obj().put("timeLimitMin", 60L).put("array", array),
                script);
    }

    private int submit(Client client, Asked asked) throws IOException {
        Json.Obj job = new Json.Obj()
                .put("kind", "BATCH")
                .put("name", "emulated")
                .put("request", asked.request)
                .put("timing", asked.timing)
                .put(
                        "files",
                        new Json.Obj()
                                .put("workDir", Bytes.of("/tmp").base64())
                                .put("stdout", Bytes.of("/dev/null").base64()))
                .put("payload", new Json.Obj().put("submitHost", "login"));
        JobMessages.Submit message = new JobMessages.Submit(
                requestId(),
                Codec.bind(job, JobDesc.class),
                Bytes.of("#!/bin/sh\n" + asked.script + "\n"),
                environment(),
                false,
                false);
        return Codec.decode(ask(client, "Submit", Codec.encode(message)), JobMessages.SubmitReply.class)
                .jobId();
    }

    private void step(Client client, int job) throws IOException {
        Json.Obj step = new Json.Obj()
                .put("name", "true")
                .put("request", new Json.Obj().put("tasks", (long) nodes).put("nodesMin", (long) nodes));
        StepDesc desc = Codec.bind(step, StepDesc.class).withEnvironment(environment());
        JobMessages.CreateStep message = new JobMessages.CreateStep(requestId(), job, desc, 0);
        ask(client, "CreateStep", Codec.encode(message));
    }

    private String requestId() {
        return String.format("%032x", (System.nanoTime() << 24) + requests.incrementAndGet());
    }

    /** Returns the environment of a login shell. */
    private static List<Bytes> environment() {
        List<Bytes> out = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            out.add(Bytes.of("SOME_VARIABLE_" + i + "=/a/value/of/usual/length"));
        }
        return out;
    }

    private long diagnostics(String name) {
        try (Client client = client()) {
            byte[] answer = ask(client, "QueryDiagnostics", Codec.encode(new ClusterMessages.QueryDiagnostics(false)));
            Map<String, Long> values =
                    Codec.decode(answer, ClusterMessages.DiagnosticsReply.class).values();
            return requireNonNull(values.get(name), name);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns whether no job is pending, running or completing. */
    private boolean isEmpty() {
        try (Client client = client()) {
            return Codec.decode(
                            ask(client, "QueryJobs", query("PENDING", "RUNNING", "COMPLETING")),
                            JobMessages.JobsReply.class)
                    .jobs()
                    .isEmpty();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] query(String... states) {
        return Codec.encode(new JobMessages.QueryJobs(
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(states),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                false,
                false,
                false,
                false,
                false,
                List.of("jobId", "state", "reason"),
                false,
                false));
    }

    // ---- measures

    private static void await(int everyMs, BooleanSupplier done) throws InterruptedException {
        long endNs = System.nanoTime() + WAIT_S * 1_000_000_000L;
        while (!done.getAsBoolean()) {
            if (System.nanoTime() > endNs) {
                throw new IllegalStateException("it has not come to pass in " + WAIT_S + " s");
            }
            Thread.sleep(everyMs);
        }
    }

    private final class Mark {
        private final long startNs = System.nanoTime();
        private final double cpuMs = cpuMs(pid);
        private final double nodesCpuMs = nodesCpuMs();

        void row(String what, long count) throws IOException {
            print(what, System.nanoTime() - startNs, count);
        }

        /** The moment itself is told by others. */
        void until(String what, long ns) throws IOException {
            print(what, ns - startNs, nodes);
        }

        private void print(String what, long ns, long count) throws IOException {
            System.out.printf(
                    "%-46s %10.3f %10.0f %12.0f %13.0f %10d%n",
                    what, ns / 1e9, count * 1e9 / ns, cpuMs(pid) - cpuMs, nodesCpuMs() - nodesCpuMs, rssMb());
        }

        void each(long count) {
            System.out.printf("  slurmctld used %.3f ms of CPU for each%n", (cpuMs(pid) - cpuMs) / count);
        }
    }

    private double nodesCpuMs() {
        return processes.stream().mapToDouble(p -> cpuMs(p.process.pid())).sum();
    }

    private static double cpuMs(long process) {
        String stat = Os.read(Path.of("/proc/" + process + "/stat")).orElseThrow();
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * TICK_MS;
    }

    private long rssMb() throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                .filter(l -> l.startsWith("VmHWM:"))
                .mapToLong(l -> Long.parseLong(l.replaceAll("[^0-9]", "")) / 1024)
                .sum();
    }

    @Override
    public void close() {
        processes.forEach(p -> p.process.destroy());
    }
}
