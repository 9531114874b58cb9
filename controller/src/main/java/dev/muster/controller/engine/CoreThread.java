package dev.muster.controller.engine;

import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.journal.Journal;
import dev.muster.journal.JournalException;
import dev.muster.model.SlurmErrno;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The only writer. Takes commands in order, decides, applies, appends; a second thread lets replies and effects out, in
 * order, once the journal says that what justifies them is durable.
 */
public final class CoreThread {
    /** Commands waiting; more and the edge is told to try again. */
    static final int QUEUE_MAX = 20_000;
    /** Jobs started by one pass; another follows at once if it was used up. */
    public static final int STARTS_PER_PASS = 200;

    static final long TICK_MS = 1000;
    /** Factor by which a pass' duration gives the time that commands have the core thread after it. */
    static final int PASS_SHARE = 4;
    /** The same factor where only submissions have happened since: submitted jobs are tried together. */
    static final int SUBMITTED_SHARE = 12;

    private final Core core;
    private final Journal journal;
    private final DaemonLog log;
    private final Clock clock;
    private final LinkedBlockingQueue<Item> queue = new LinkedBlockingQueue<>(QUEUE_MAX);
    private final Pipeline pipeline;
    private final Consumer<Throwable> fault;
    private final LongConsumer passTookUs;
    private volatile boolean stopping;
    /** The journal takes no more. */
    private volatile boolean ended;

    private final Thread decider;
    private final Thread releaser;
    private volatile boolean schedulable;
    /** Whether another reason than submitted jobs asks for a pass. */
    private volatile boolean urgent;
    /**
     * Passes begin when this is set: else the first requests after a restart would wait for a pass over the whole
     * queue.
     */
    private volatile boolean doorsOpen;

    private long passEndedNs;
    private long passTookNs;
    private long nextTickNs;
    private volatile long passes;

    private record Item(Command command, int uid, CompletableFuture<Decision> answer) {}

    /** An item that is no command, but a reason not to wait any longer. */
    private static final Item NUDGE = new Item(new Command.Tick(), -1, new CompletableFuture<>());

    public CoreThread(
            Core core,
            Journal journal,
            Clock clock,
            DaemonLog log,
            Pipeline.Effects effects,
            Consumer<Throwable> fault,
            LongConsumer passTookUs) {
        this.core = core;
        this.journal = journal;
        this.clock = clock;
        this.log = log;
        this.pipeline = new Pipeline(core, journal, effects, point -> {});
        this.fault = fault;
        this.passTookUs = passTookUs;
        releaser = Thread.ofPlatform().name("release").unstarted(() -> guarded(this::release));
        decider = Thread.ofPlatform().name("core").unstarted(() -> guarded(this::decideLoop));
    }

    public void start() {
        nextTickNs = System.nanoTime() + TICK_MS * 1_000_000;
        journal.onDurable(index -> LockSupport.unpark(releaser));
        journal.onFailure(e -> {
            ended = true;
            stopping = true;
            fault.accept(e);
        });
        releaser.start();
        decider.start();
    }

    /** Requests are answered: from now on jobs start. */
    public void doorsOpen() {
        doorsOpen = true;
        queue.offer(NUDGE);
    }

    public boolean areDoorsOpen() {
        return doorsOpen;
    }

    /**
     * Stops deciding, and carries out the effects of all durable decisions. If the journal has ended, other decisions
     * are dropped, and their callers are told to ask the current leader.
     */
    public void stop() {
        stopping = true;
        queue.offer(new Item(new Command.Tick(), -1, new CompletableFuture<>()));
        try {
            decider.join(5000);
            if (ended) {
                pipeline.abandon();
            }
            LockSupport.unpark(releaser);
            releaser.join(5000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        List<Item> undecided = new ArrayList<>();
        queue.drainTo(undecided);
        undecided.forEach(item -> item.answer.complete(Decision.reject(SlurmErrno.IN_STANDBY_MODE)));
    }

    /** Returns the newest state of which everything is durable. */
    public State durable() {
        return pipeline.durable();
    }

    public long durableIndex() {
        return pipeline.durableIndex();
    }

    int queueLength() {
        return queue.size();
    }

    public long passes() {
        return passes;
    }

    /** Hands a command over; completes once the decision and what it was based on are durable. */
    public CompletableFuture<Decision> submit(Command command, int uid) {
        CompletableFuture<Decision> answer = new CompletableFuture<>();
        if (stopping || !queue.offer(new Item(command, uid, answer))) {
            answer.complete(new Decision.Rejected(SlurmErrno.MAX_JOB_COUNT, "Resource temporarily unavailable"));
        }
        return answer;
    }

    /** Submits a command of slurmctld itself. Its decision changes the state or nothing, and no caller awaits it. */
    public void post(Command command) {
        var _ = submit(command, -1);
    }

    /**
     * Submits a report that must not be refused: waits for room in a full queue. When thousands of nodes report at the
     * same moment, each of them waits before its next report.
     */
    public CompletableFuture<Decision> await(Command command, int uid) {
        CompletableFuture<Decision> answer = new CompletableFuture<>();
        Item item = new Item(command, uid, answer);
        try {
            while (!stopping) {
                if (queue.offer(item, TICK_MS, TimeUnit.MILLISECONDS)) {
                    return answer;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        answer.complete(new Decision.Rejected(SlurmErrno.MAX_JOB_COUNT, "Resource temporarily unavailable"));
        return answer;
    }

    public Decision execute(Command command, int uid) {
        return submit(command, uid).join();
    }

    private void guarded(Runnable loop) {
        try {
            loop.run();
        } catch (Throwable e) {
            fault.accept(e);
        }
    }

    // ---- deciding

    private void decideLoop() {
        List<Item> batch = new ArrayList<>();
        while (!stopping) {
            Item first = next();
            if (first != null) {
                batch.add(first);
                queue.drainTo(batch, 255);
                for (Item item : batch) {
                    if (item != NUDGE) {
                        decide(item);
                    }
                }
                batch.clear();
            }
            if (System.nanoTime() >= nextTickNs) {
                nextTickNs = System.nanoTime() + TICK_MS * 1_000_000;
                whatIsDue(new Command.Tick());
                if (core.due().takeLook(clock.now().seconds())) {
                    urgent = true;
                    schedulable = true;
                }
            } else if (core.due().urgent()) {
                whatIsDue(new Command.Settle());
            }
            if (doorsOpen && schedulable && untilPassNs(System.nanoTime()) <= 0) {
                pass();
            }
        }
    }

    private long untilPassNs(long nowNs) {
        return passEndedNs + passTookNs * (urgent ? PASS_SHARE : SUBMITTED_SHARE) - nowNs;
    }

    /** Returns null where no command came in time. */
    private @Nullable Item next() {
        long now = System.nanoTime();
        long wait = nextTickNs - now;
        if (doorsOpen && schedulable) {
            wait = Math.min(wait, untilPassNs(now));
        }
        try {
            return wait <= 0 ? queue.poll() : queue.poll(wait, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            stopping = true;
            return null;
        }
    }

    private Decision decide(Item item) {
        DecisionTime now = clock.now();
        Decision decision;
        try {
            decision = core.decide(item.command, now);
        } catch (RuntimeException e) {
            // decide changes nothing, so a defect in it costs its one command and not the daemon
            log.error("internal error deciding " + item.command.getClass().getSimpleName(), e);
            decision = Decision.reject(SlurmErrno.INTERNAL);
        }
        long index;
        try {
            index = pipeline.take(decision, item.command, item.uid, now, item.answer::complete);
        } catch (JournalException e) {
            // the journal has ended, and its listener stops this thread
            Decision refusal = Decision.reject(SlurmErrno.IN_STANDBY_MODE);
            item.answer.complete(refusal);
            return refusal;
        }
        if (decision instanceof Decision.Accepted a && !a.changes().isEmpty()) {
            if (!(item.command instanceof Command.SubmitJob)) {
                urgent = true;
            }
            schedulable = true;
        }
        if (index <= journal.durableIndex()) {
            LockSupport.unpark(releaser);
        }
        return decision;
    }

    private void whatIsDue(Command command) {
        Decision decision = decide(new Item(command, -1, new CompletableFuture<>()));
        if (decision instanceof Decision.Accepted a && Boolean.TRUE.equals(a.reply())) {
            nextTickNs = System.nanoTime();
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // this thread alone counts passes
    private void pass() {
        long start = System.nanoTime();
        // cleared before the look at the queue: what wakes the planner during the pass asks for another one
        schedulable = false;
        urgent = false;
        decide(new Item(new Command.Schedule(STARTS_PER_PASS), -1, new CompletableFuture<>()));
        long took = System.nanoTime() - start;
        passTookUs.accept(took / 1000);
        passes++;
        passTookNs = took;
        passEndedNs = start + took;
    }

    /** Asks for a pass: a node came or went, or time made something possible. */
    public void wake() {
        if (!schedulable || !urgent) {
            urgent = true;
            schedulable = true;
            queue.offer(NUDGE);
        }
    }

    // ---- letting out

    private void release() {
        while (true) {
            if (pipeline.releaseNext()) {
                continue;
            }
            if (stopping && !decider.isAlive() && pipeline.isEmpty()) {
                return;
            }
            LockSupport.parkNanos(100_000_000);
        }
    }
}
