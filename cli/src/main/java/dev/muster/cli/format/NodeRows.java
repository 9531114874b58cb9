package dev.muster.cli.format;

import dev.muster.cli.command.Texts;
import dev.muster.json.Json;
import java.util.List;

/** Formats a node's state. */
public final class NodeRows {
    /** Flags that scontrol appends to the state, in its order. */
    private static final String[] SHOWN = {
        "CLOUD",
        "COMPLETING",
        "DRAIN",
        "DYNAMIC_NORM",
        "DYNAMIC_FUTURE",
        "EXTERNAL",
        "INVALID_REG",
        "FAIL",
        "MAINT",
        "POWER_DOWN",
        "POWER_UP",
        "NOT_RESPONDING",
        "POWERED_DOWN",
        "REBOOT_REQUESTED",
        "REBOOT_ISSUED",
        "RESERVED",
        "POWERING_DOWN",
        "POWERING_UP",
        "PLANNED",
        "BLOCKED"
    };

    private NodeRows() {}

    public static boolean has(Json.Obj n, String flag) {
        return n.texts("flags").contains(flag);
    }

    static String load(Json.Obj n) {
        long v = n.number("cpuLoad");
        if (!n.has("cpuLoad") && n.number("slurmdStartTime") == 0) {
            return "N/A";
        }
        return v / 100 + "." + (v % 100 < 10 ? "0" : "") + v % 100;
    }

    public static String base(Json.Obj n) {
        return n.text("state").isEmpty() ? "UNKNOWN" : n.text("state");
    }

    /** Returns the node's state after its reboot; "" without one, or if it is not fixed. */
    public static String nextState(Json.Obj n) {
        if (has(n, "NEXT_DOWN")) {
            return "DOWN";
        }
        if (has(n, "NEXT_RESUME")) {
            return "RESUME";
        }
        if (has(n, "NEXT_UNDRAIN")) {
            return "UNDRAIN";
        }
        return "";
    }

    /** {@code IDLE+DRAIN+NOT_RESPONDING}. */
    public static String stateFull(Json.Obj n) {
        StringBuilder b = new StringBuilder(base(n));
        List<String> flags = n.texts("flags");
        for (String f : SHOWN) {
            if (flags.contains(f)) {
                b.append('+').append(f);
            }
        }
        return b.toString();
    }

    private static boolean isBusy(String base) {
        return base.equals("ALLOCATED") || base.equals("MIXED");
    }

    /** sinfo's long word: {@code idle}, {@code mixed}, {@code draining}, {@code drained}, {@code down*}. */
    public static String stateLong(Json.Obj n) {
        if (has(n, "REBOOT_ISSUED")) {
            return "reboot^"; // drained for it or not
        }
        return stateWord(n, base(n)) + mark(n);
    }

    private static String stateWord(Json.Obj n, String base) {
        boolean busy = isBusy(base) || has(n, "COMPLETING");
        if (has(n, "DRAIN")) {
            return busy ? "draining" : "drained";
        }
        if (has(n, "FAIL")) {
            return busy ? "failing" : "fail";
        }
        if (has(n, "INVALID_REG")) {
            return "inval";
        }
        if (has(n, "MAINT")) {
            return "maint";
        }
        if (has(n, "COMPLETING")) {
            return switch (base) {
                case "ALLOCATED" -> "allocated+";
                case "MIXED" -> "mixed";
                default -> "completing";
            };
        }
        if (base.equals("IDLE")) {
            for (String flag : List.of("RESERVED", "PLANNED", "BLOCKED")) {
                if (has(n, flag)) {
                    return Texts.lower(flag);
                }
            }
        }
        return Texts.lower(base);
    }

    /** sinfo's short word: {@code idle}, {@code mix}, {@code alloc}, {@code drng}, {@code down*}. */
    public static String stateCompact(Json.Obj n) {
        String full = stateLong(n);
        int end = full.length();
        while (end > 0 && "*~#!%$@+^-".indexOf(full.charAt(end - 1)) >= 0) {
            end--;
        }
        String word = full.substring(0, end);
        String marks = full.substring(end);
        return switch (word) {
                    case "allocated" -> "alloc";
                    case "mixed" -> "mix";
                    case "draining" -> "drng";
                    case "drained" -> "drain";
                    case "failing" -> "failg";
                    case "completing" -> "comp";
                    case "planned" -> "plnd";
                    case "reserved" -> "resv";
                    case "unknown" -> "unk";
                    case "future" -> "futr";
                    case "reboot" -> "boot";
                    case "error" -> "err";
                    case "blocked" -> "block";
                    default -> word;
                }
                + marks;
    }

    /** The sign behind the state: not responding, powered down, powering up, …. */
    private static String mark(Json.Obj n) {
        if (has(n, "POWERING_UP")) {
            return "#";
        }
        if (has(n, "POWERING_DOWN")) {
            return "%";
        }
        if (has(n, "POWER_DOWN")) {
            return "!";
        }
        if (has(n, "POWERED_DOWN")) {
            return "~";
        }
        if (has(n, "REBOOT_REQUESTED")) {
            return "@";
        }
        if (has(n, "NOT_RESPONDING")) {
            return "*";
        }
        if (has(n, "PLANNED") && !base(n).equals("IDLE")) {
            return "-";
        }
        return "";
    }
}
