package dev.muster.benchmarks;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.connection.ProcessHost;
import dev.muster.cli.connection.Sessions;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.Session;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Submits jobs from several threads of one process, each over its own kept connection, to the slurmctld of SLURM_CONF.
 * It trains the daemons' start-up caches and drives benchmarks. Usage: SubmissionLoad JOBS hold|run same|mix|one
 * CONNECTIONS [WARM-UP-JOBS [PARTITION]]. A job has a script of one line and one variable; mix varies nodes, tasks and
 * limits; each job of kind one takes a whole node and does not end. It prints jobs per second, the time of a call, and
 * the CPU time of this process.
 */
public final class SubmissionLoad {
    private static final int TIMEOUT_MS = 60_000;
    private static final Bytes SCRIPT = Bytes.of("#!/bin/sh\ntrue\n");
    private static final Bytes SLEEP = Bytes.of("#!/bin/sh\nexec sleep 86400\n");

    private SubmissionLoad() {}

    public static void main(String[] args) throws Exception {
        dev.muster.transport.Hash.expectMany();
        int jobs = Integer.parseInt(args[0]);
        boolean hold = args[1].equals("hold");
        String kind = args[2];
        int connections = Integer.parseInt(args[3]);
        int warmUp = args.length > 4 ? Integer.parseInt(args[4]) : 0;
        String partition = args.length > 5 ? args[5] : "";
        try (Way way = new Way(connections)) {
            run(way, requests(way, warmUp, hold, kind, 0, partition));
            byte[][] requests = requests(way, jobs, hold, kind, warmUp, partition);
            long cpu = cpuNs();
            long start = System.nanoTime();
            long[] us = run(way, requests);
            double seconds = (System.nanoTime() - start) / 1e9;
            Arrays.sort(us);
            System.out.printf(
                    "jobs %d seconds %.2f rate %.1f call_us median %d p99 %d max %d cpu_us_per_job %.0f%n",
                    jobs,
                    seconds,
                    jobs / seconds,
                    us[jobs / 2],
                    us[(int) (jobs * 99L / 100)],
                    us[jobs - 1],
                    (cpuNs() - cpu) / 1e3 / jobs);
        }
    }

    /** CPU time of this process so far. */
    static long cpuNs() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /** Kept connections to the slurmctld of SLURM_CONF, with a session that they share. */
    public static final class Way implements AutoCloseable {
        private static final String PATH = "/muster/v1/";
        private final ProcessHost host = new ProcessHost(new TreeMap<>(System.getenv()), Optional.empty());
        private final ClientConf conf;
        private final String nonces = host.nonce();
        private final AtomicLong nonce = new AtomicLong();
        public final List<Client> clients = new ArrayList<>();
        private @Nullable Session session;
        private long sessionMs;

        public Way(int connections) throws SlurmException {
            this(connections, 0);
        }

        /** @param port 0 for slurmctld's own */
        public Way(int connections, int port) throws SlurmException {
            conf = host.conf();
            for (int i = 0; i < connections; i++) {
                clients.add(new Client(
                                port == 0 ? conf.servers.getFirst().address() : "127.0.0.1",
                                port == 0 ? conf.port : port,
                                this::session,
                                () -> nonces + nonce.incrementAndGet())
                        .to(Audience.SLURMCTLD));
            }
        }

        private synchronized Session session() {
            if (session == null || Session.isOld(sessionMs, System.currentTimeMillis())) {
                try {
                    session = Sessions.open(conf, host);
                } catch (SlurmException e) {
                    throw new IllegalStateException(e);
                }
                sessionMs = System.currentTimeMillis();
            }
            return session;
        }

        /**
         * Never given twice.
         *
         * @return 32 hex digits
         */
        String requestId() {
            return host.nonce().substring(0, 16) + String.format("%016x", nonce.incrementAndGet());
        }

        /** @throws IllegalStateException if it is refused */
        public static byte[] ask(Client client, String message, byte[] request) throws IOException {
            return checked(message, client.post(PATH + message, request, TIMEOUT_MS));
        }

        private static byte[] checked(String message, Client.Response r) {
            if (r.status() != 200) {
                throw new IllegalStateException(message + ": " + new String(r.body(), StandardCharsets.UTF_8));
            }
            return r.body();
        }

        @Override
        public void close() {
            clients.forEach(Client::close);
        }
    }

    /**
     * Submits as many and waits for all answers.
     *
     * @return microseconds of each call
     */
    private static long[] run(Way way, byte[][] requests) throws InterruptedException {
        long[] us = new long[requests.length];
        AtomicInteger next = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        AtomicInteger failed = new AtomicInteger();
        for (Client client : way.clients) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    for (int i = next.getAndIncrement(); i < requests.length; i = next.getAndIncrement()) {
                        long start = System.nanoTime();
                        Way.checked("Submit", client.exchange(requests[i], TIMEOUT_MS));
                        us[i] = (System.nanoTime() - start) / 1000;
                    }
                } catch (IOException | RuntimeException e) {
                    failed.incrementAndGet();
                    System.err.println(e);
                }
            }));
        }
        for (Thread t : threads) {
            t.join();
        }
        if (failed.get() > 0) {
            throw new IllegalStateException(failed + " connections gave up");
        }
        return us;
    }

    /** Signed requests. A measurement of slurmctld on the same processors makes them before its clock starts. */
    private static byte[][] requests(Way way, int jobs, boolean hold, String kind, int from, String partition) {
        String ids = way.host.nonce().substring(0, 16);
        byte[][] all = new byte[jobs][];
        for (int i = 0; i < jobs; i++) {
            all[i] = way.clients
                    .getFirst()
                    .prepared(
                            Way.PATH + "Submit",
                            Json.print(job(from + i, hold, kind, partition)
                                    .put("requestId", ids + String.format("%016x", from + i))));
        }
        return all;
    }

    private static Json.Obj job(int i, boolean hold, String kind, String partition) {
        int x = (int) (i * 2654435761L);
        boolean mix = kind.equals("mix");
        long nodes = mix ? 1 + (x >>> 8) % 8 : 1;
        Json.Obj timing = new Json.Obj().put("timeLimitMin", mix ? 5L + (x >>> 16) % 1435 : 10L);
        Json.Obj job = new Json.Obj()
                .put("kind", "BATCH")
                .put("name", "j" + i)
                .put("partition", partition)
                .put(
                        "request",
                        new Json.Obj()
                                .put("nodesMin", nodes)
                                .put("tasks", mix ? nodes * (1 + (x >>> 12) % 4) : 1L)
                                .put("exclusive", kind.equals("one") ? "NODE" : "SHARED"))
                .put("timing", hold ? timing.put("hold", Boolean.TRUE) : timing)
                .put(
                        "files",
                        new Json.Obj()
                                .put("workDir", Bytes.of("/tmp").base64())
                                .put("stdout", Bytes.of("/dev/null").base64()))
                .put(
                        "payload",
                        new Json.Obj()
                                .put("submitHost", "login")
                                .put("submitPid", ProcessHandle.current().pid())
                                .put("umask", 18L));
        return new Json.Obj()
                .put("job", job)
                .put("script", (kind.equals("one") ? SLEEP : SCRIPT).base64())
                .put(
                        "environment",
                        new ArrayList<Object>(
                                List.of(Bytes.of("PATH=/usr/bin:/bin").base64())));
    }
}
