package dev.muster.benchmarks;

import dev.muster.json.Json;
import dev.muster.transport.Client;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * What filtered queries do to scheduling: how long it takes from an event to the start that it makes possible, with and
 * without queries ({@code squeue -j}, {@code squeue -u}) at a steady rate over kept connections. The event is a
 * cancellation, which ends a running job of one node; the client that waits for the next job sees its start. Both are
 * answered when they are durable. A process of its own asks; where slurmctld is not to be asked it sends the same
 * requests to a socket that answers them with a fixed reply, so that its own use of the processor is the same in both.
 * Usage: QueryLoadBenchmark ROUNDS RATE CONNECTIONS FIRST-JOB LAST-JOB, all jobs of one node and in order. Not a unit
 * test.
 */
final class QueryLoadBenchmark {
    private static final long ROUND_MS = 4_000;
    private static final long BETWEEN_MS = 15;

    private QueryLoadBenchmark() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("ask")) {
            ask(
                    Integer.parseInt(args[1]),
                    Integer.parseInt(args[2]),
                    Integer.parseInt(args[3]),
                    Integer.parseInt(args[4]));
            return;
        }
        int rounds = Integer.parseInt(args[0]);
        List<List<Long>> us = List.of(new ArrayList<>(), new ArrayList<>());
        Process asker = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        QueryLoadBenchmark.class.getName(),
                        "ask",
                        args[1],
                        args[2],
                        args[3],
                        args[4])
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (SubmissionLoad.Way way = new SubmissionLoad.Way(2);
                BufferedReader told =
                        new BufferedReader(new InputStreamReader(asker.getInputStream(), StandardCharsets.UTF_8));
                OutputStream tell = asker.getOutputStream()) {
            Probe probe = new Probe(way, Integer.parseInt(args[3]), Integer.parseInt(args[4]));
            told.readLine();
            for (int i = 0; i < rounds * 2; i++) {
                tell.write(
                        i % 2 == 0
                                ? "aside\n".getBytes(StandardCharsets.UTF_8)
                                : "asked\n".getBytes(StandardCharsets.UTF_8));
                tell.flush();
                Thread.sleep(200);
                List<Long> mine = us.get(i % 2);
                // the first of each only warms up
                List<Long> into = i < 2 ? new ArrayList<>() : mine;
                for (long end = System.nanoTime() + ROUND_MS * 1_000_000L;
                        System.nanoTime() < end && probe.hasNext(); ) {
                    into.add(probe.next());
                    Thread.sleep(BETWEEN_MS);
                }
            }
            tell.write("end\n".getBytes(StandardCharsets.UTF_8));
            tell.flush();
            String said = told.readLine();
            print(us.get(0), us.get(1), said);
        } finally {
            asker.destroy();
        }
    }

    private static void print(List<Long> without, List<Long> with, String said) {
        Collections.sort(without);
        Collections.sort(with);
        print("without", without);
        print("with", with);
        System.out.printf(
                "p99 with/without %.2f  p50 with/without %.2f  %s%n",
                at(with, 0.99) / (double) at(without, 0.99), at(with, 0.5) / (double) at(without, 0.5), said);
    }

    private static void print(String what, List<Long> us) {
        System.out.printf(
                "%-8s events %d  event to next start us: p50 %d  p90 %d  p99 %d  max %d%n",
                what, us.size(), at(us, 0.5), at(us, 0.9), at(us, 0.99), us.getLast());
    }

    private static long at(List<Long> sorted, double share) {
        return sorted.get((int) Math.min(sorted.size() - 1, sorted.size() * share));
    }

    /** Ends the oldest running job again and again. */
    private static final class Probe {
        private final Client events;
        private final Client waiter;
        private final int last;
        private int runs;
        private int waits;

        Probe(SubmissionLoad.Way way, int first, int last) throws IOException {
            events = way.clients.get(0);
            waiter = way.clients.get(1);
            runs = first;
            this.last = last;
            waits = first;
            while (state(waits).text("state").equals("RUNNING")) {
                waits++;
            }
        }

        boolean hasNext() {
            return waits < last;
        }

        private Json.Obj state(int job) throws IOException {
            return Json.object(SubmissionLoad.Way.ask(
                    waiter,
                    "AwaitChange",
                    Json.print(new Json.Obj()
                            .put("jobId", (long) job)
                            .put("stepId", -1L)
                            .put("waitMs", 0L))));
        }

        /** Returns microseconds from the event's request to the answer that the next job has started. */
        long next() throws IOException {
            int job = waits++;
            long version = state(job).number("version");
            byte[] cancel =
                    Json.print(new Json.Obj().put("jobs", new ArrayList<Object>(List.of(Integer.toString(runs++)))));
            byte[] wait = Json.print(new Json.Obj()
                    .put("jobId", (long) job)
                    .put("stepId", -1L)
                    .put("version", version)
                    .put("waitMs", 10_000L));
            long[] began = new long[1];
            IOException[] wrong = new IOException[1];
            Thread event = Thread.ofPlatform().start(() -> {
                LockSupport.parkNanos(2_000_000);
                began[0] = System.nanoTime();
                try {
                    SubmissionLoad.Way.ask(events, "Cancel", cancel);
                } catch (IOException e) {
                    wrong[0] = e;
                }
            });
            Json.Obj seen = Json.object(SubmissionLoad.Way.ask(waiter, "AwaitChange", wait));
            long ended = System.nanoTime();
            try {
                event.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            if (wrong[0] != null || !seen.text("state").equals("RUNNING")) {
                throw new IllegalStateException("job " + job + " is " + seen.text("state") + ", " + wrong[0]);
            }
            return (ended - began[0]) / 1000;
        }
    }

    /** The process that asks: in turns of what it is told. */
    private static void ask(int rate, int connections, int first, int last) throws Exception {
        AtomicLong answers = new AtomicLong();
        AtomicLong late = new AtomicLong();
        boolean[] aside = {true};
        boolean[] over = {false};
        try (ServerSocket dummy = dummy();
                SubmissionLoad.Way way = new SubmissionLoad.Way(connections);
                SubmissionLoad.Way other = new SubmissionLoad.Way(connections, dummy.getLocalPort())) {
            for (int c = 0; c < connections; c++) {
                int mine = c;
                Thread.ofPlatform().daemon(true).start(() -> {
                    long everyNs = 1_000_000_000L * connections / rate;
                    long next = System.nanoTime() + everyNs * mine / connections;
                    while (!over[0]) {
                        LockSupport.parkNanos(next - System.nanoTime());
                        if (System.nanoTime() < next) {
                            continue;
                        }
                        // more than a second behind is given up: it would only come as one burst
                        late.addAndGet(System.nanoTime() - next > 1_000_000_000L ? 1 : 0);
                        next = Math.max(next + everyNs, System.nanoTime() - 1_000_000_000L);
                        try {
                            SubmissionLoad.Way.ask(
                                    (aside[0] ? other : way).clients.get(mine), "QueryJobs", query(first, last));
                            answers.incrementAndGet();
                        } catch (IOException | IllegalStateException e) {
                            System.err.println(e);
                        }
                    }
                });
            }
            System.out.println("ready");
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            long[] count = new long[2];
            long[] ns = new long[2];
            long since = System.nanoTime();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                int was = aside[0] ? 0 : 1;
                count[was] += answers.getAndSet(0);
                ns[was] += System.nanoTime() - since;
                since = System.nanoTime();
                if (line.equals("end")) {
                    over[0] = true;
                    System.out.printf(
                            "queries %.0f/s, aside %.0f/s, given up %d%n",
                            count[1] * 1e9 / Math.max(1, ns[1]), count[0] * 1e9 / Math.max(1, ns[0]), late.get());
                    System.out.flush();
                    return;
                }
                aside[0] = line.equals("aside");
            }
        }
    }

    /** Asks in turns as {@code squeue -j} of one job and as {@code squeue -u} of a user without jobs. */
    private static byte[] query(int first, int last) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        Json.Obj q = new Json.Obj();
        if (random.nextBoolean()) {
            q.put("jobs", new ArrayList<Object>(List.of(Integer.toString(random.nextInt((first + last) / 2, last)))))
                    .put("allStates", Boolean.TRUE);
        } else {
            q.put("userIds", new ArrayList<Object>(List.of(65534L)));
        }
        return Json.print(q.put(
                "fields",
                new ArrayList<Object>(List.of(
                        "jobId",
                        "partition",
                        "name",
                        "userId",
                        "userName",
                        "state",
                        "flags",
                        "runSeconds",
                        "nodeCount",
                        "nodes",
                        "reason",
                        "priority"))));
    }

    private static ServerSocket dummy() throws IOException {
        ServerSocket server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        byte[] body = "{\"now\":1800000000,\"lastUpdate\":1800000000,\"lastBackfill\":1800000000,\"jobs\":[]}"
                .getBytes(StandardCharsets.UTF_8);
        byte[] reply = ("HTTP/1.1 200 OK\r\nContent-Length: " + body.length + "\r\n\r\n"
                        + new String(body, StandardCharsets.UTF_8))
                .getBytes(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon(true).start(() -> {
            while (!server.isClosed()) {
                try {
                    Socket s = server.accept();
                    Thread.ofPlatform().daemon(true).start(() -> serve(s, reply));
                } catch (IOException e) {
                    return;
                }
            }
        });
        return server;
    }

    private static void serve(Socket s, byte[] reply) {
        try (s;
                InputStream in = new BufferedInputStream(s.getInputStream())) {
            while (true) {
                StringBuilder head = new StringBuilder();
                while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
                    int c = in.read();
                    if (c < 0) {
                        return;
                    }
                    head.append((char) c);
                }
                int at = head.indexOf("Content-Length: ") + 16;
                in.skipNBytes(Integer.parseInt(head.substring(at, head.indexOf("\r", at))));
                s.getOutputStream().write(reply);
            }
        } catch (IOException e) {
            // the other side has ended
        }
    }
}
