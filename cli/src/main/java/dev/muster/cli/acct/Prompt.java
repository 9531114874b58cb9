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
    static boolean commits(CommandContext context) {
        return agrees(context, "Would you like to commit changes? (You have 30 seconds to decide)\n");
    }

    /** Asks like {@link #commits}, with a question of its own. */
    static boolean agrees(CommandContext context, String question) {
        context.out().print(question);
        context.out().print("(N/y): ");
        context.out().flush();
        Optional<Terminal> terminal = context.host().isTty(0) ? Optional.of(Terminal.keys()) : Optional.empty();
        try {
            return agreed(context, context.host().nowMs() + DECIDE_MS);
        } finally {
            terminal.ifPresent(Terminal::restore);
        }
    }

    private static boolean agreed(CommandContext context, long deadlineMs) {
        while (true) {
            int answer = key(context, deadlineMs);
            if (answer == 'y' || answer == 'Y') {
                context.out().println("");
                return true;
            }
            if (answer == 'n' || answer == 'N' || answer == '\n' || answer < 0) {
                context.out().println("");
                return false;
            }
            context.out().print("Y or N please\n(N/y): ");
            context.out().flush();
        }
    }

    private static int key(CommandContext context, long deadlineMs) {
        try {
            boolean terminal = context.host().isTty(0);
            while (terminal && context.in().available() == 0) {
                if (context.host().nowMs() > deadlineMs || !context.host().pause(LOOK_MS)) {
                    return -1;
                }
            }
            int first = context.in().read();
            // the rest of the line belongs to the answer
            int remainder = first;
            while (remainder >= 0
                    && remainder != '\n'
                    && (!terminal || context.in().available() > 0)) {
                remainder = context.in().read();
            }
            return first;
        } catch (IOException e) {
            return -1;
        }
    }
}
