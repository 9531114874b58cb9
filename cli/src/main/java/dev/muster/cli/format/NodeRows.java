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

    public static boolean has(Json.Obj node, String flag) {
        return node.texts("flags").contains(flag);
    }

    static String load(Json.Obj node) {
        long v = node.number("cpuLoad");
        if (!node.has("cpuLoad") && node.number("slurmdStartTime") == 0) {
            return "N/A";
        }
        return v / 100 + "." + (v % 100 < 10 ? "0" : "") + v % 100;
    }

    public static String base(Json.Obj node) {
        return node.text("state").isEmpty() ? "UNKNOWN" : node.text("state");
    }

    /** Returns the node's state after its reboot; "" without one, or if it is not fixed. */
    public static String nextState(Json.Obj node) {
        if (has(node, "NEXT_DOWN")) {
            return "DOWN";
        }
        if (has(node, "NEXT_RESUME")) {
            return "RESUME";
        }
        if (has(node, "NEXT_UNDRAIN")) {
            return "UNDRAIN";
        }
        return "";
    }

    /** {@code IDLE+DRAIN+NOT_RESPONDING}. */
    public static String stateFull(Json.Obj node) {
        StringBuilder text = new StringBuilder(base(node));
        List<String> flags = node.texts("flags");
        for (String f : SHOWN) {
            if (flags.contains(f)) {
                text.append('+').append(f);
            }
        }
        return text.toString();
    }

    private static boolean isBusy(String base) {
        return base.equals("ALLOCATED") || base.equals("MIXED");
    }

    /** sinfo's long word: {@code idle}, {@code mixed}, {@code draining}, {@code drained}, {@code down*}. */
    public static String stateLong(Json.Obj node) {
        if (has(node, "REBOOT_ISSUED")) {
            return "reboot^"; // drained for it or not
        }
        return stateWord(node, base(node)) + mark(node);
    }

    private static String stateWord(Json.Obj node, String base) {
        boolean busy = isBusy(base) || has(node, "COMPLETING");
        if (has(node, "DRAIN")) {
            return busy ? "draining" : "drained";
        }
        if (has(node, "FAIL")) {
            return busy ? "failing" : "fail";
        }
        if (has(node, "INVALID_REG")) {
            return "inval";
        }
        if (has(node, "MAINT")) {
            return "maint";
        }
        if (has(node, "COMPLETING")) {
            return switch (base) {
                case "ALLOCATED" -> "allocated+";
                case "MIXED" -> "mixed";
                default -> "completing";
            };
        }
        if (base.equals("IDLE")) {
            for (String flag : List.of("RESERVED", "PLANNED", "BLOCKED")) {
                if (has(node, flag)) {
                    return Texts.lower(flag);
                }
            }
        }
        return Texts.lower(base);
    }

    /** sinfo's short word: {@code idle}, {@code mix}, {@code alloc}, {@code drng}, {@code down*}. */
    public static String stateCompact(Json.Obj node) {
        String full = stateLong(node);
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
    private static String mark(Json.Obj node) {
        if (has(node, "POWERING_UP")) {
            return "#";
        }
        if (has(node, "POWERING_DOWN")) {
            return "%";
        }
        if (has(node, "POWER_DOWN")) {
            return "!";
        }
        if (has(node, "POWERED_DOWN")) {
            return "~";
        }
        if (has(node, "REBOOT_REQUESTED")) {
            return "@";
        }
        if (has(node, "NOT_RESPONDING")) {
            return "*";
        }
        if (has(node, "PLANNED") && !base(node).equals("IDLE")) {
            return "-";
        }
        return "";
    }
}
