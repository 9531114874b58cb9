package dev.muster.config.key;

/** A line of {@code scontrol show config}. */
public final class ConfigRow {
    private static final int NAME_WIDTH = 23;

    private ConfigRow() {}

    public static String of(String name, String value) {
        return (name.length() >= NAME_WIDTH ? name : name + " ".repeat(NAME_WIDTH - name.length())) + " = " + value;
    }
}
