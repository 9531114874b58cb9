package dev.muster.cli.command;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * A step that the command service started and left. srun's own process resumes it.
 *
 * @param state the checkpoint
 * @param positions how far the output has come, by {@link #key}
 * @param inputOffset where {@code input} begins in standard input; what follows it is still to be read
 * @param input what may not have arrived
 */
public record ResumableStep(Json.Obj state, Map<Long, Long> positions, long inputOffset, byte[] input) {
    /**
     * @param progress lines {@code input OFFSET} and {@code TASK STREAM OFFSET}
     * @throws Json.MalformedException if the checkpoint is none
     */
    public static ResumableStep of(byte[] state, byte[] progress, byte[] input) {
        Map<Long, Long> positions = new HashMap<>();
        long inputOffset = 0;
        for (String line : new String(progress, StandardCharsets.US_ASCII).split("\n")) {
            var words = Texts.words(line);
            if (words.size() == 2) {
                inputOffset = Long.parseLong(words.get(1));
            } else if (words.size() == 3) {
                positions.put(
                        key(Integer.parseInt(words.get(0)), Integer.parseInt(words.get(1))),
                        Long.parseLong(words.get(2)));
            }
        }
        return new ResumableStep(Json.object(state), positions, inputOffset, input);
    }

    public static long key(int task, int stream) {
        return (long) task << 2 | stream;
    }
}
