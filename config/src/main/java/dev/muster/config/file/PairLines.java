package dev.muster.config.file;

import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Values;
import java.io.File;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The small files beside slurm.conf whose lines are {@code Key=value} pairs, several on a line. */
public final class PairLines implements ConfLines.Sink {
    /** Receives a line's pairs, by key in lower case; complains about their values. */
    public interface Taker {
        void line(Map<String, String> pairs, Values values);
    }

    private final UnaryOperator<String> complaint;
    private final Taker taker;
    private final Values values;

    private PairLines(UnaryOperator<String> complaint, Taker taker, List<ConfigError> errors) {
        this.complaint = complaint;
        this.taker = taker;
        this.values = new Values(errors);
    }

    /**
     * Reads a file that is there.
     *
     * @param complaint of a key as written: "" where it is known, {@link #unknown} or another sentence
     */
    public static void read(File file, UnaryOperator<String> complaint, Taker taker, List<ConfigError> errors) {
        new ConfLines(file, new PairLines(complaint, taker, errors), errors).read(file);
    }

    public static String unknown(String key) {
        return "Parsing error at unrecognized key: " + key;
    }

    @Override
    public String clusterName() {
        return "";
    }

    @Override
    public void line(String text, String file, int line) {
        values.at(file, line, text);
        Map<String, String> read = new HashMap<>();
        Pairs pairs = new Pairs(text);
        while (pairs.next()) {
            values.text(pairs.rest());
            String error = complaint.apply(pairs.key());
            if (error.isEmpty()) {
                read.put(pairs.key().toLowerCase(Locale.ROOT), pairs.value());
            } else {
                values.error(error);
            }
        }
        if (!pairs.atEnd()) {
            values.text(pairs.rest()).error("Parsing error");
        }
        taker.line(read, values);
    }
}
