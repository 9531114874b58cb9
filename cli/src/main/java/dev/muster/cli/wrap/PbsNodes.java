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
    int go(CommandContext context, ParsedArguments arguments) throws SlurmException, UsageException {
        Map<String, String[]> nodes = nodes(context);
        for (String name : arguments.operands()) {
            if (!nodes.containsKey(name)) {
                throw new UsageException(1, List.of("pbsnodes: unknown node " + name));
            }
        }
        if (arguments.has("o") || arguments.has("c") || arguments.has("r") || arguments.has("N")) {
            return change(context, arguments);
        }
        if (arguments.has("n") && !arguments.has("l")) {
            throw misused(context, "-n requires -l");
        }
        Map<String, Json.Obj> machines = new LinkedHashMap<>();
        Json.Obj all = new Json.Obj().put("all", Boolean.TRUE);
        context.host()
                .controller()
                .call("QueryNodes", all)
                .objects("nodes")
                .forEach(n -> machines.put(n.text("name"), n));
        for (String[] n : nodes.values()) {
            if (arguments.operands().isEmpty() || arguments.operands().contains(n[0])) {
                String state = state(n[1]);
                if (!arguments.has("l")) {
                    record(context, n, state, machines.getOrDefault(n[0], new Json.Obj()));
                } else if (List.of("down", "offline", "unknown").contains(state)) {
                    context.out().println(n[0] + "\t\t" + state + (arguments.has("n") ? "\t\t" + note(n) : ""));
                }
            }
        }
        return 0;
    }

    /** Name, state, CPUs, memory, disk, sockets, cores, threads and reason of each. */
    private Map<String, String[]> nodes(CommandContext context) {
        Map<String, String[]> out = new LinkedHashMap<>();
        for (String line : capture(context, "sinfo", List.of("-a", "-h", "-N", "-o", "%N|%T|%c|%m|%d|%X|%Y|%Z|%E"))
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

    private static void record(CommandContext context, String[] names, String state, Json.Obj machine) {
        String note = note(names);
        context.out()
                .println(names[0] + "\n    state = " + state + "\n    np = " + names[2]
                        + "\n    ntype = cluster\n    status = rectime="
                        + context.host().nowMs() / 1000 + ",state=" + state + ",slurmstate=" + names[1] + ",size="
                        + Long.parseLong(names[4]) * 1024 + "kb:"
                        + Long.parseLong(names[4]) * 1024 + "kb" + (note.isEmpty() ? "" : ",message=\"" + note + "\"")
                        + ",ncpus=" + names[2] + ",boards="
                        + Math.max(1, machine.number("boards")) + ",sockets=" + names[5] + ",cores=" + names[6]
                        + ",threads="
                        + names[7] + ",availmem=" + names[3]
                        + "mb,opsys=" + machine.text("operatingSystem").toLowerCase(Locale.ROOT) + ",arch="
                        + machine.text("architecture"));
        if (!note.isEmpty()) {
            context.out().println("    note = " + note);
        }
        context.out().println("");
    }

    private int change(CommandContext context, ParsedArguments arguments) throws UsageException {
        // what belongs to -o may follow the nodes
        List<String> nodes = arguments.operands();
        if (nodes.isEmpty()) {
            throw misused(context, "the names of nodes are needed");
        }
        List<String> args = new java.util.ArrayList<>(List.of("update", "NodeName=" + String.join(",", nodes)));
        if (arguments.has("o")) {
            args.add("State=DRAIN");
            args.add("Reason=" + (arguments.has("N") ? arguments.value("N") : "offline"));
        } else if (arguments.has("c") || arguments.has("r")) {
            args.add("State=RESUME");
        } else {
            args.add("Reason=" + arguments.value("N"));
        }
        return delegate(context, "scontrol", args);
    }
}
