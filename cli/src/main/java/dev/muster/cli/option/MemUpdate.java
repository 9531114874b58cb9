package dev.muster.cli.option;

import dev.muster.model.format.Durations;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The value of {@code --mem-update=margin@delay}.
 *
 * @param margin percent of what the job uses that it keeps beside that
 * @param delayMin minutes after its start
 */
public record MemUpdate(int margin, int delayMin) {
    public static Optional<MemUpdate> parse(String value) {
        int index = value.indexOf('@');
        if (index < 1 || !value.substring(0, index).matches("[0-9]{1,5}%?")) {
            return Optional.empty();
        }
        OptionalLong delay = Durations.parseMinutes(value.substring(index + 1));
        return delay.isEmpty() || delay.getAsLong() < 1 || delay.getAsLong() > Integer.MAX_VALUE
                ? Optional.empty()
                : Optional.of(new MemUpdate(
                        Integer.parseInt(value.substring(0, index).replace("%", "")), (int) delay.getAsLong()));
    }
}
