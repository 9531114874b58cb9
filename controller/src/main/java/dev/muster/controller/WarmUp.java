package dev.muster.controller;

import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.engine.Pipeline;
import dev.muster.controller.engine.Recovery;
import dev.muster.controller.view.JobViews;
import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sessions;
import dev.muster.journal.MemoryJournal;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages;
import dev.muster.model.job.JobDesc;
import dev.muster.scheduler.Scheduler;
import dev.muster.transport.Caller;
import dev.muster.transport.Client;
import dev.muster.transport.Server;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Goes through everything that a submission runs through, before the first user comes, so that the virtual machine has
 * compiled it by then: a door of its own, a core with the site's nodes and partitions, a journal in memory. Nothing of
 * the cluster's own is touched or counted.
 */
final class WarmUp {
    /** Measured with {@code bench.sh commands}: later rounds change nothing that can be seen. */
    private static final int ROUNDS = 600;

    private static final long AT_MOST_NS = 5_000_000_000L;
    private static final long STEPS_AT_MOST_NS = 4_000_000_000L;

    /** A system property: this run is for the start-up cache. */
    private static final String TRAINING = "muster.training";

    private static final int RESTARTS = 40;

    private final Core core = new Core(new Scheduler());
    private final MemoryJournal journal = new MemoryJournal();
    private final Pipeline pipeline;
    private long tick = 1_000;
    private long size;

    private WarmUp(Command.ApplyConfig config) {
        DecisionTime now = now();
        if (core.decide(config, now) instanceof Decision.Accepted a) {
            core.apply(new Entry(now.tickMs(), now.timeMs(), -1, "ApplyConfig", a.changes()));
        }
        pipeline = new Pipeline(
                core,
                journal,
                new Pipeline.Effects() {
                    @Override
                    public void apply(Entry entry, State before, State after) {
                        size += entry.changes().size();
                    }

                    @Override
                    public void direct(List<Decision.Direct> messages) {
                        size += messages.size();
                    }
                },
                point -> {});
    }

    /** Ends by itself after a few seconds at most; what goes wrong only ends it. */
    static void start(Command.ApplyConfig config, Sessions sessions, DaemonLog log) {
        Thread.ofPlatform().name("warm-up").daemon(true).start(() -> {
            try {
                WarmUp warmUp = new WarmUp(config);
                warmUp.run(sessions);
                if (Boolean.getBoolean(TRAINING)) {
                    warmUp.restarts();
                }
                long startNs = System.nanoTime();
                int steps = new StepWarmUp(config).run(startNs + STEPS_AT_MOST_NS);
                log.debug("warm-up: " + steps + " steps in " + (System.nanoTime() - startNs) / 1_000_000 + " ms");
            } catch (IOException | RuntimeException e) {
                log.debug("warm-up: " + e);
            }
        });
    }

    private void run(Sessions sessions) throws IOException {
        JobMessages.Submit submit = submit();
        long end = System.nanoTime() + AT_MOST_NS;
        try (Server door = Server.start(
                        "127.0.0.1", 0, sessions.verifier(), this::answer, Map.of(), path -> Optional.empty());
                Client client = new Client("127.0.0.1", door.port(), sessions::session, sessions::nonce)) {
            for (int i = 0; i < ROUNDS && System.nanoTime() < end; i++) {
                client.post("/muster/v1/WarmUp", Codec.encode(submit), 5000);
                client.post("/muster/v1/WarmUpJobs", new byte[0], 5000);
            }
        }
    }

    /**
     * Restarts with a long queue while the start-up cache is recorded, so that the cache has the code of such a
     * restart.
     */
    private void restarts() {
        for (int i = 0; i < RESTARTS; i++) {
            Core again = new Core(new Scheduler());
            again.reset(Recovery.of(journal, (hash, content) -> size += content.length())
                    .state());
            again.decide(new Command.Schedule(CoreThread.STARTS_PER_PASS), now());
        }
    }

    private DecisionTime now() {
        tick += 1;
        return new DecisionTime(tick, 1_000_000_000_000L + tick);
    }

    private synchronized Server.Reply answer(Caller caller, String message, byte[] body) {
        if (message.equals("WarmUpJobs")) {
            JobViews views = new JobViews(core.state(), (Scheduler) core.planner(), now(), "");
            return Server.Reply.of(new JobMessages.JobsReply(
                    tick,
                    tick,
                    core.state().jobs().values().stream()
                            .limit(3)
                            .map(j -> views.info(j, -1, false))
                            .toList()));
        }
        JobMessages.Submit m = Codec.decode(body, JobMessages.Submit.class);
        Bytes environment = Bytes.of(m.environment().toString());
        JobDesc.Payload p = m.job().payload();
        JobDesc desc = m.job()
                .withPayload(new JobDesc.Payload(
                        BlobStore.hash(m.script()),
                        BlobStore.hash(environment),
                        p.arguments(),
                        p.submitHost(),
                        p.submitPid(),
                        p.submitLine(),
                        p.umask(),
                        p.limits()));
        pipeline.decide(
                new Command.SubmitJob(caller.uid(), desc, m.requestId() + tick, m.script(), environment, false, false),
                caller.uid(),
                now(),
                decision -> size += decision instanceof Decision.Accepted a ? Codec.encode(a.reply()).length : 0);
        journal.sync();
        pipeline.releaseNext();
        // an acknowledgement would promise something that is not on disk
        return Server.Reply.error(SlurmErrno.NOT_SUPPORTED);
    }

    /** Returns a submission like that of a small script from a login shell. */
    private static JobMessages.Submit submit() {
        Json.Obj job = new Json.Obj()
                .put("kind", "BATCH")
                .put("name", "wrap")
                .put("owner", new Json.Obj().put("user", "root"))
                .put("request", new Json.Obj().put("tasks", 1L))
                .put("payload", new Json.Obj().put("submitHost", "login"));
        List<Bytes> environment = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            environment.add(Bytes.of("SOME_VARIABLE_" + i + "=/a/value/of/usual/length"));
        }
        return new JobMessages.Submit(
                "warm-up", Codec.bind(job, JobDesc.class), Bytes.of("#!/bin/sh\ntrue\n"), environment, false, false);
    }
}
