package dev.muster.cli.step;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Handles signals to srun from its request for a step on. While the step waits for resources, the first signal ends the
 * request. A signal that arrives after the step was made, but before srun has its tasks, waits for them: the step may
 * run already, and nothing else would end it.
 */
final class StepSignals {
    private static final Map<String, Integer> CAUGHT = Map.of(
            "INT",
            Signals.INT,
            "TERM",
            Signals.TERM,
            "QUIT",
            Signals.QUIT,
            "HUP",
            Signals.HUP,
            "USR1",
            Signals.USR1,
            "USR2",
            Signals.USR2,
            "ALRM",
            Signals.ALRM);
    private static final int AGAIN_MS = 20;

    private final CommandContext c;
    private final Thread asking = Thread.currentThread();
    private final List<Integer> caught = new ArrayList<>();
    private boolean asks;
    private @Nullable StepRun run;

    private StepSignals(CommandContext c) {
        this.c = c;
    }

    /** Takes the signals from now on, for the calling thread: it is the one that asks. */
    static StepSignals begin(CommandContext c, JobOptions o) {
        StepSignals s = new StepSignals(c);
        CAUGHT.forEach((name, number) -> on(c, o, name, number, () -> s.receive(number)));
        return s;
    }

    /** Sets the action of a signal, unless {@code --ignore-signals} names it. */
    static void on(CommandContext c, JobOptions o, String name, int number, Runnable what) {
        c.host()
                .onSignal(
                        name,
                        Texts.split(o.text(JobOption.IGNORE_SIGNALS), ',').contains(Integer.toString(number))
                                ? () -> {}
                                : what);
    }

    private void receive(int number) {
        StepRun to;
        synchronized (this) {
            to = run;
            if (to == null) {
                caught.add(number);
                notifyAll();
            }
        }
        if (to != null) {
            act(to, number);
            return;
        }
        while (isAsking() && c.host().pause(AGAIN_MS)) {
            c.host().giveUp(asking);
        }
    }

    private synchronized boolean isAsking() {
        return asks;
    }

    private synchronized boolean hasCome() {
        return !caught.isEmpty();
    }

    /**
     * Asks for a step; a signal ends the waiting.
     *
     * @throws SlurmException what the controller says, and that the step is gone already where a signal came before it
     *     was there
     */
    Json.Obj ask(String message, Json.Obj q) throws SlurmException {
        if (!mayAsk()) {
            return collectStep(message, q);
        }
        try {
            return StepManager.call(c, message, q);
        } catch (SlurmException e) {
            if (!hasCome()) {
                throw e;
            }
        } finally {
            endRequest();
        }
        return collectStep(message, q);
    }

    private synchronized boolean mayAsk() {
        asks = caught.isEmpty();
        return asks;
    }

    private synchronized void endRequest() {
        asks = false;
    }

    /** The step that was made before the asking was given up: the same request is answered by the same step. */
    private Json.Obj collectStep(String message, Json.Obj q) throws SlurmException {
        try {
            return StepManager.call(c, message, q.put("waitMs", 0L));
        } catch (SlurmException e) {
            int first;
            synchronized (this) {
                first = caught.removeFirst();
            }
            c.info("Cancelled pending job step with signal " + first);
            throw new SlurmException(SlurmErrno.ALREADY_DONE.number(), SlurmErrno.ALREADY_DONE.sentence());
        }
    }

    /**
     * Until it is time to ask again, or a signal comes.
     *
     * @return false if the command is over
     */
    @SuppressWarnings("WaitNotInLoop") // too early a question costs nothing
    synchronized boolean pause(long ms) {
        try {
            if (caught.isEmpty()) {
                wait(ms);
            }
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** The step's tasks can be reached: what has come goes there, and what is still to come. */
    void goTo(StepRun step) {
        c.host().onSignal("CONT", step::goOn);
        List<Integer> before;
        synchronized (this) {
            run = step;
            before = List.copyOf(caught);
            caught.clear();
        }
        before.forEach(number -> act(step, number));
    }

    private static void act(StepRun run, int number) {
        switch (number) {
            case Signals.INT -> run.interrupt();
            case Signals.QUIT -> run.quit();
            case Signals.TERM, Signals.HUP -> run.forceEnd();
            default -> run.signal(number);
        }
    }
}
