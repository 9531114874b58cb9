package dev.muster.config.key;

import org.jspecify.annotations.Nullable;

/**
 * One mistake in a configuration file.
 *
 * @param file as given, or as named by the Include line
 * @param line counted from 1; 0 when the mistake belongs to no line
 * @param sentence in Slurm's words
 * @param text the part of the line that is wrong; empty when it is the line's value as such
 */
public record ConfigError(String file, int line, @Nullable String sentence, String text) {

    /** The sentence behind its place: {@code /etc/slurm.conf:12: KillWait value "x" is not a valid number}. */
    public String message() {
        return place() + ": " + sentence;
    }

    public String place() {
        return line > 0 ? file + ":" + line : file;
    }

    /** The line that Slurm's programs print after the sentence. */
    public String parseError() {
        return "Parse error in file " + file + " line " + line + ": \"" + text + "\"";
    }
}
