package dev.muster.controller.engine;

import dev.muster.core.command.Command;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;

/**
 * Notices that the newest part of the journal is lost, and keeps numbers of jobs above those that the lost entries gave
 * out. Used at start and then once a second by one thread.
 */
public final class JournalLossCheck {
    private final StateDirectory place;
    private final CoreThread thread;
    private final DaemonLog log;
    /** The highest entry that is known to have existed. */
    private long highestKnown;

    private String lastError = "";

    /** @param highestKnown the journal's last entry when it was read */
    public JournalLossCheck(StateDirectory place, CoreThread thread, long highestKnown, DaemonLog log) {
        this.place = place;
        this.thread = thread;
        this.highestKnown = highestKnown;
        this.log = log;
    }

    /**
     * Skips numbers that are known outside the journal.
     *
     * @param known what accounting or the file {@code highest} knows of the journal
     */
    public void check(HighestIds known) {
        if (known.index() <= highestKnown) {
            return;
        }
        log.error("StateSaveLocation=" + place.path() + ": the journal ends with entry " + highestKnown
                + ", but entries up to " + known.index()
                + " were there: the newest part of the state is missing, or the directory is an older copy. What was "
                + "acknowledged since is lost; "
                + "numbers of jobs go on above JobId="
                + Math.max(known.jobId(), thread.durable().jobIdCeiling() - 1));
        thread.execute(new Command.SkipReservedIds(known.jobId(), known.sluid()), -1);
        highestKnown = known.index();
    }

    /** Writes the highest numbers to the file {@code highest}; an error is logged once. */
    public void remember() {
        long index = thread.durableIndex();
        State state = thread.durable();
        String error = place.remember(new HighestIds(index, state.nextJobId() - 1, state.nextSluid() - 1))
                .orElse("");
        if (!error.equals(lastError) && !error.isEmpty()) {
            log.error("StateSaveLocation=" + place.path() + ": cannot write the file highest: " + error);
        }
        lastError = error;
    }
}
