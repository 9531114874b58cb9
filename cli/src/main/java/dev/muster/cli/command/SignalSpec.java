package dev.muster.cli.command;

import dev.muster.model.format.Digits;
import java.util.Optional;

/**
 * The value of {@code --signal=[{R|B}:]<sig>[@<seconds>]}.
 *
 * @param batchOnly {@code B:}, only the batch shell
 * @param reserve {@code R:}, also when preempted by a reservation
 */
public record SignalSpec(int signal, int seconds, boolean batchOnly, boolean reserve) {
    private static final int DEFAULT_SECONDS = 60;
    private static final int MAX_SECONDS = 65_535;

    public static Optional<SignalSpec> parse(String text, char command) {
        String value = text;
        boolean batch = false;
        boolean reserve = false;
        int colon = value.indexOf(':');
        if (colon >= 0) {
            for (int i = 0; i < colon; i++) {
                char c = value.charAt(i);
                batch |= c == 'B' || c == 'b';
                reserve |= c == 'R' || c == 'r';
                if ("RrBb".indexOf(c) < 0 || (c == 'B' || c == 'b') && command != 'B') {
                    return Optional.empty();
                }
            }
            value = value.substring(colon + 1);
        }
        int index = value.indexOf('@');
        int signal = Signals.number(index < 0 ? value : value.substring(0, index));
        long seconds = index < 0 || index == value.length() - 1
                ? DEFAULT_SECONDS
                : Digits.parseNumber(value.substring(index + 1));
        if (signal <= 0 || seconds < 0 || seconds > MAX_SECONDS) {
            return Optional.empty();
        }
        return Optional.of(new SignalSpec(signal, (int) seconds, batch, reserve));
    }

    /** Returns the value for cli_filter.lua, which omits the default time. */
    public String text() {
        String flags = (reserve ? "R" : "") + (batchOnly ? "B" : "");
        return (flags.isEmpty() ? "" : flags + ":")
                + Signals.name(signal)
                + (seconds == DEFAULT_SECONDS ? "" : "@" + seconds);
    }
}
