package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Runs {@code pbsnodes}, which lists nodes as PBS does, takes them offline and puts them back. */
public final class PbsNodes extends Wrapper {
    private static final int COLUMNS = 9;

    public PbsNodes(CommandRunner runner) {
        super(runner, "[node...]", "a::n", "c::n", "l::n", "n::n", "N::r", "o::n", "r::n");
    }

    @Override
    int go(CommandContext c, ParsedArguments g) throws SlurmException, UsageException {
        Map<String, String[]> nodes = nodes(c);
        for (String name : g.operands()) {
            if (!nodes.containsKey(name)) {
                throw new UsageException(1, List.of("pbsnodes: unknown node " + name));
            }
        }
        if (g.has("o") || g.has("c") || g.has("r") || g.has("N")) {
            return change(c, g);
        }
        if (g.has("n") && !g.has("l")) {
            throw misused(c, "-n requires -l");
        }
        Map<String, Json.Obj> machines = new LinkedHashMap<>();
        Json.Obj all = new Json.Obj().put("all", Boolean.TRUE);
        c.host().controller().call("QueryNodes", all).objects("nodes").forEach(n -> machines.put(n.text("name"), n));
        for (String[] n : nodes.values()) {
            if (g.operands().isEmpty() || g.operands().contains(n[0])) {
                String state = state(n[1]);
                if (!g.has("l")) {
                    record(c, n, state, machines.getOrDefault(n[0], new Json.Obj()));
                } else if (List.of("down", "offline", "unknown").contains(state)) {
                    c.out().println(n[0] + "\t\t" + state + (g.has("n") ? "\t\t" + note(n) : ""));
                }
            }
        }
        return 0;
    }

    /** Name, state, CPUs, memory, disk, sockets, cores, threads and reason of each. */
    private Map<String, String[]> nodes(CommandContext c) {
        Map<String, String[]> out = new LinkedHashMap<>();
        for (String line : capture(c, "sinfo", List.of("-a", "-h", "-N", "-o", "%N|%T|%c|%m|%d|%X|%Y|%Z|%E"))
                .lines()) {
            String[] cells = line.split("\\|", COLUMNS);
            if (cells.length == COLUMNS) {
                out.putIfAbsent(cells[0], cells);
            }
        }
        return out;
    }

    private static String note(String[] node) {
        return node[COLUMNS - 1].equals("none") ? "" : node[COLUMNS - 1];
    }

    static String state(String slurm) {
        return switch (slurm.replaceAll("[^a-z]", "")) {
            case "idle" -> "free";
            case "mixed" -> "mixed";
            case "allocated", "completing" -> "job-exclusive";
            case "reserved", "planned" -> "reserve";
            case "drained", "draining", "drng", "drain", "maint", "reboot" -> "offline";
            case "down", "fail", "failing", "poweredoff", "powereddown", "poweringdown", "inval" -> "down";
            default -> "unknown";
        };
    }

    private static void record(CommandContext c, String[] n, String state, Json.Obj machine) {
        String note = note(n);
        c.out()
                .println(n[0] + "\n    state = " + state + "\n    np = " + n[2]
                        + "\n    ntype = cluster\n    status = rectime="
                        + c.host().nowMs() / 1000 + ",state=" + state + ",slurmstate=" + n[1] + ",size="
                        + Long.parseLong(n[4]) * 1024 + "kb:"
                        + Long.parseLong(n[4]) * 1024 + "kb" + (note.isEmpty() ? "" : ",message=\"" + note + "\"")
                        + ",ncpus=" + n[2] + ",boards="
                        + Math.max(1, machine.number("boards")) + ",sockets=" + n[5] + ",cores=" + n[6] + ",threads="
                        + n[7] + ",availmem=" + n[3]
                        + "mb,opsys=" + machine.text("operatingSystem").toLowerCase(Locale.ROOT) + ",arch="
                        + machine.text("architecture"));
        if (!note.isEmpty()) {
            c.out().println("    note = " + note);
        }
        c.out().println("");
    }

    private int change(CommandContext c, ParsedArguments given) throws UsageException {
        // what belongs to -o may follow the nodes
        List<String> nodes = given.operands();
        if (nodes.isEmpty()) {
            throw misused(c, "the names of nodes are needed");
        }
        List<String> args = new java.util.ArrayList<>(List.of("update", "NodeName=" + String.join(",", nodes)));
        if (given.has("o")) {
            args.add("State=DRAIN");
            args.add("Reason=" + (given.has("N") ? given.value("N") : "offline"));
        } else if (given.has("c") || given.has("r")) {
            args.add("State=RESUME");
        } else {
            args.add("Reason=" + given.value("N"));
        }
        return delegate(c, "scontrol", args);
    }
}
