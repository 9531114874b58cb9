package dev.muster.node.step;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/**
 * {@code slurmstepd --serve}, kept running: it forks a step's process per request, so that no step costs the start of a
 * program. Started with the first request, and again when it was killed; steps do not depend on it.
 */
public final class StepdServer {
    /** Shows in ps what it is; the blanks are the room that a step's process has for its own title. */
    private static final String ARGUMENT = "--serve" + " ".repeat(64);

    private final Path stepd;
    private Optional<Running> current = Optional.empty();
    private long lastId;

    /**
     * A step's process.
     *
     * @param answer {@code ok PID} or why not
     * @param ended true once it is gone; false if that will not be told
     */
    record Started(String answer, CompletableFuture<Boolean> ended) {}

    private record Request(CompletableFuture<String> answer, CompletableFuture<Boolean> ended) {}

    /** One process of the server, and the requests with processes that still run. */
    private record Running(Process process, OutputStream requests, ConcurrentHashMap<Long, Request> pending) {
        void heard(long id, String text) {
            Request request = pending.get(id);
            if (request == null) {
                return;
            }
            switch (text) {
                case "ended" -> over(id, true);
                case "lingers" -> over(id, false); // the step's socket reports the rest
                default -> request.answer.complete(text);
            }
        }

        void over(long id, boolean told) {
            Request request = pending.remove(id);
            if (request != null) {
                request.answer.complete("slurmstepd ended while it was starting");
                request.ended.complete(told);
            }
        }

        /**
         * A step's process answers itself, also when its server is gone: a request has failed only when no process is
         * left that could answer.
         */
        void listen() {
            try (BufferedReader answers =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                for (String line = answers.readLine(); line != null; line = answers.readLine()) {
                    int space = line.indexOf(' ');
                    heard(Long.parseLong(line.substring(0, space)), line.substring(space + 1));
                }
            } catch (IOException | RuntimeException e) {
                // taken as its end
            }
            process.destroy();
            pending.keySet().forEach(id -> over(id, false));
        }
    }

    public StepdServer(Path stepd) {
        this.stepd = stepd;
    }

    /**
     * Has the step's process started.
     *
     * @param specification as in {@code native/README.md}
     * @throws IOException if nothing was started: asked another way it cannot run twice
     */
    Started start(Path directory, byte[] specification) throws IOException {
        Request asked = new Request(new CompletableFuture<>(), new CompletableFuture<>());
        byte[] name = directory.toString().getBytes(StandardCharsets.UTF_8);
        synchronized (this) {
            Running running = running();
            long id = ++lastId;
            byte[] head =
                    (id + " " + name.length + " " + specification.length + "\n").getBytes(StandardCharsets.US_ASCII);
            byte[] request = ByteBuffer.allocate(head.length + name.length + specification.length)
                    .put(head)
                    .put(name)
                    .put(specification)
                    .array();
            running.pending.put(id, asked);
            try {
                running.requests.write(request);
                running.requests.flush();
            } catch (IOException e) {
                // what has not arrived whole is not carried out
                running.pending.remove(id);
                running.process.destroy();
                throw e;
            }
        }
        try {
            return new Started(asked.answer.get(), asked.ended);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Started("slurmd ends", asked.ended);
        }
    }

    private Running running() throws IOException {
        if (current.isEmpty() || !current.get().process.isAlive()) {
            ProcessBuilder builder = new ProcessBuilder(List.of(stepd.toString(), ARGUMENT))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .directory(new File("/"));
            builder.environment().clear();
            Process process = builder.start();
            Running fresh = new Running(process, process.getOutputStream(), new ConcurrentHashMap<>());
            Thread.ofPlatform().daemon().name("stepd-answers").start(fresh::listen);
            current = Optional.of(fresh);
        }
        return current.get();
    }
}
