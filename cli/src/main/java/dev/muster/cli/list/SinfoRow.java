package dev.muster.cli.list;

import dev.muster.cli.format.NodeRows;
import dev.muster.json.Json;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.List;

/** Nodes that share one row of sinfo, with the partition of the first. */
final class SinfoRow {
    final Json.Obj partition;
    final int order;
    final List<Json.Obj> nodes = new ArrayList<>();

    SinfoRow(Json.Obj partition, int order) {
        this.partition = partition;
        this.order = order;
    }

    static List<String> hosts(String expression) {
        return switch (HostList.parse(expression)) {
            case HostList.Parsed.Ok ok -> ok.list().names();
            case HostList.Parsed.Invalid invalid -> List.of();
        };
    }

    /** A node of several partitions counts once. */
    void add(Json.Obj node) {
        for (int i = nodes.size() - 1; i >= 0 && i >= nodes.size() - 64; i--) {
            if (nodes.get(i) == node) {
                return;
            }
        }
        if (!nodes.contains(node)) {
            nodes.add(node);
        }
    }

    Json.Obj first() {
        return nodes.isEmpty() ? new Json.Obj() : nodes.getFirst();
    }

    /** {@code 8}, or {@code 8+} where nodes have more. */
    String atLeast(String field) {
        long min = Long.MAX_VALUE;
        long max = 0;
        for (Json.Obj node : nodes) {
            min = Math.min(min, node.number(field));
            max = Math.max(max, node.number(field));
        }
        if (nodes.isEmpty()) {
            return "0";
        }
        if (min == max) {
            return Long.toString(min);
        }
        return min + "+";
    }

    long min(String field) {
        long min = Long.MAX_VALUE;
        for (Json.Obj node : nodes) {
            min = Math.min(min, node.number(field));
        }
        return nodes.isEmpty() ? 0 : min;
    }

    long max(String field) {
        long max = 0;
        for (Json.Obj node : nodes) {
            max = Math.max(max, node.number(field));
        }
        return max;
    }

    String range(String field, boolean hundredths) {
        long min = Long.MAX_VALUE;
        long max = 0;
        for (Json.Obj node : nodes) {
            min = Math.min(min, node.number(field));
            max = Math.max(max, node.number(field));
        }
        if (nodes.isEmpty()) {
            return "N/A";
        }
        String lo = hundredths ? decimal(min) : Long.toString(min);
        if (min == max) {
            return lo;
        }
        return lo + "-" + (hundredths ? decimal(max) : Long.toString(max));
    }

    private static String decimal(long v) {
        return v / 100 + "." + (v % 100 < 10 ? "0" : "") + v % 100;
    }

    String list() {
        List<String> names = new ArrayList<>();
        for (Json.Obj node : nodes) {
            names.add(node.text("name"));
        }
        return HostList.of(names).sorted().compressed();
    }

    String each(String field) {
        List<String> names = new ArrayList<>();
        for (Json.Obj node : nodes) {
            names.add(node.text(field));
        }
        return HostList.of(names).sorted().distinct().compressed();
    }

    private static boolean isBusy(Json.Obj node) {
        String base = NodeRows.base(node);
        return base.equals("ALLOCATED") || base.equals("MIXED") || NodeRows.has(node, "COMPLETING");
    }

    private static boolean isOut(Json.Obj node) {
        String base = NodeRows.base(node);
        return base.equals("DOWN")
                || base.equals("UNKNOWN")
                || base.equals("ERROR")
                || base.equals("FUTURE")
                || NodeRows.has(node, "DRAIN")
                || NodeRows.has(node, "INVALID_REG");
    }

    /** Nodes allocated, idle, other. */
    int[] counts() {
        int[] out = new int[3];
        for (Json.Obj node : nodes) {
            int idleOrOther = isOut(node) ? 2 : 1;
            out[isBusy(node) ? 0 : idleOrOther]++;
        }
        return out;
    }

    /** CPUs allocated, idle, other, total. */
    String cpus() {
        long allocated = 0;
        long idle = 0;
        long other = 0;
        long total = 0;
        for (Json.Obj node : nodes) {
            long cpus = node.has("cpusEffective") ? node.number("cpusEffective") : node.number("cpus");
            long used = Math.min(cpus, node.number("cpusAllocated"));
            allocated += used;
            total += cpus;
            if (isOut(node)) {
                other += cpus - used;
            } else {
                idle += cpus - used;
            }
        }
        return allocated + "/" + idle + "/" + other + "/" + total;
    }

    /** Slurm's numbers of states, flags above the base: what "-t" sorts by. */
    long stateOrder() {
        Json.Obj node = first();
        long base = switch (NodeRows.base(node)) {
            case "DOWN" -> 1;
            case "IDLE" -> 2;
            case "ALLOCATED" -> 3;
            case "ERROR" -> 4;
            case "MIXED" -> 5;
            case "FUTURE" -> 6;
            default -> 0;
        };
        String[] flags = {
            "RESERVED",
            "CLOUD",
            "DRAIN",
            "COMPLETING",
            "NOT_RESPONDING",
            "POWERED_DOWN",
            "FAIL",
            "POWERING_UP",
            "MAINT",
            "REBOOT_REQUESTED",
            "POWERING_DOWN",
            "PLANNED",
            "INVALID_REG"
        };
        for (int i = 0; i < flags.length; i++) {
            base += NodeRows.has(node, flags[i]) ? 32L << i : 0;
        }
        return base;
    }
}
