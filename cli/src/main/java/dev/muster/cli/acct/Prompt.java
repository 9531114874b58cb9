package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Terminal;
import java.io.IOException;
import java.util.Optional;

/** Asks the user to confirm a change. */
final class Prompt {
    private static final long DECIDE_MS = 30_000;
    private static final long LOOK_MS = 50;

    private Prompt() {}

    /** True for yes; no answer in time, or none possible, is no. */
    static boolean commits(CommandContext c) {
        return agrees(c, "Would you like to commit changes? (You have 30 seconds to decide)\n");
    }

    /** Asks like {@link #commits}, with a question of its own. */
    static boolean agrees(CommandContext c, String question) {
        c.out().print(question);
        c.out().print("(N/y): ");
        c.out().flush();
        Optional<Terminal> terminal = c.host().isTty(0) ? Optional.of(Terminal.keys()) : Optional.empty();
        try {
            return agreed(c, c.host().nowMs() + DECIDE_MS);
        } finally {
            terminal.ifPresent(Terminal::restore);
        }
    }

    private static boolean agreed(CommandContext c, long deadlineMs) {
        while (true) {
            int answer = key(c, deadlineMs);
            if (answer == 'y' || answer == 'Y') {
                c.out().println("");
                return true;
            }
            if (answer == 'n' || answer == 'N' || answer == '\n' || answer < 0) {
                c.out().println("");
                return false;
            }
            c.out().print("Y or N please\n(N/y): ");
            c.out().flush();
        }
    }

    private static int key(CommandContext c, long deadlineMs) {
        try {
            boolean terminal = c.host().isTty(0);
            while (terminal && c.in().available() == 0) {
                if (c.host().nowMs() > deadlineMs || !c.host().pause(LOOK_MS)) {
                    return -1;
                }
            }
            int first = c.in().read();
            // the rest of the line belongs to the answer
            int rest = first;
            while (rest >= 0 && rest != '\n' && (!terminal || c.in().available() > 0)) {
                rest = c.in().read();
            }
            return first;
        } catch (IOException e) {
            return -1;
        }
    }
}
