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

    private final CommandContext context;
    private final Thread asking = Thread.currentThread();
    private final List<Integer> caught = new ArrayList<>();
    private boolean asks;
    private @Nullable StepRun run;

    private StepSignals(CommandContext context) {
        this.context = context;
    }

    /** Takes the signals from now on, for the calling thread: it is the one that asks. */
    static StepSignals begin(CommandContext context, JobOptions options) {
        StepSignals s = new StepSignals(context);
        CAUGHT.forEach((name, number) -> on(context, options, name, number, () -> s.receive(number)));
        return s;
    }

    /** Sets the action of a signal, unless {@code --ignore-signals} names it. */
    static void on(CommandContext context, JobOptions options, String name, int number, Runnable action) {
        context.host()
                .onSignal(
                        name,
                        Texts.split(options.text(JobOption.IGNORE_SIGNALS), ',').contains(Integer.toString(number))
                                ? () -> {}
                                : action);
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
        while (isAsking() && context.host().pause(AGAIN_MS)) {
            context.host().giveUp(asking);
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
    Json.Obj ask(String message, Json.Obj query) throws SlurmException {
        if (!mayAsk()) {
            return collectStep(message, query);
        }
        try {
            return StepManager.call(context, message, query);
        } catch (SlurmException e) {
            if (!hasCome()) {
                throw e;
            }
        } finally {
            endRequest();
        }
        return collectStep(message, query);
    }

    private synchronized boolean mayAsk() {
        asks = caught.isEmpty();
        return asks;
    }

    private synchronized void endRequest() {
        asks = false;
    }

    /** The step that was made before the asking was given up: the same request is answered by the same step. */
    private Json.Obj collectStep(String message, Json.Obj query) throws SlurmException {
        try {
            return StepManager.call(context, message, query.put("waitMs", 0L));
        } catch (SlurmException e) {
            int first;
            synchronized (this) {
                first = caught.removeFirst();
            }
            context.info("Cancelled pending job step with signal " + first);
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
        context.host().onSignal("CONT", step::goOn);
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
