package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import java.util.List;

/** Runs {@code scontrol reboot}, {@code cancel_reboot} and {@code power}. */
final class ScontrolPower {
    private ScontrolPower() {}

    static int reboot(CommandContext context, List<String> words) throws SlurmException {
        Json.Obj query = new Json.Obj();
        String nodes = "";
        for (String word : words) {
            String lower = Texts.lower(word);
            if (lower.equals("asap") || lower.equals("force")) {
                query.put(lower, Boolean.TRUE);
            } else if (lower.startsWith("nextstate=")) {
                String state = word.substring("nextstate=".length()).toUpperCase(java.util.Locale.ROOT);
                if (!state.equals("DOWN") && !state.equals("RESUME")) {
                    context.err().println("Invalid state: " + word.substring("nextstate=".length()));
                    context.err().println(" Valid states: DOWN, RESUME");
                    return 1;
                }
                query.put("nextState", state);
            } else if (lower.startsWith("action=")) {
                query.put("action", word.substring("action=".length()));
            } else if (lower.startsWith("reason=")) {
                query.put("reason", word.substring("reason=".length()));
            } else if (nodes.isEmpty()) {
                nodes = word;
            } else {
                context.err().println("too many arguments for keyword:reboot");
                return 1;
            }
        }
        if (nodes.isEmpty()) {
            context.err().println("Missing node list. Specify ALL|<NodeList>");
            return 1;
        }
        return send(context, query, nodes);
    }

    static int cancelReboot(CommandContext context, List<String> words) throws SlurmException {
        if (words.isEmpty()) {
            context.err().println("missing argument for keyword:cancel_reboot");
            return 1;
        }
        if (words.size() > 1) {
            context.err().println("too many arguments for keyword:cancel_reboot");
            return 1;
        }
        return Scontrol.simple(
                context,
                "UpdateNode",
                new Json.Obj()
                        .put("nodes", words.getFirst())
                        .put("changes", new Json.Obj().put("state", "CANCEL_REBOOT")),
                "slurm_update error");
    }

    private static int send(CommandContext context, Json.Obj query, String nodes) throws SlurmException {
        query.put("nodes", nodes);
        query.put("requestId", context.host().requestId());
        try {
            for (String skipped :
                    context.host().controller().call("RebootNodes", query).texts("warnings")) {
                context.error(skipped);
            }
            return 0;
        } catch (SlurmException e) {
            context.out().flush();
            if (e.errno() == SlurmErrno.ERROR.number()) {
                context.error(e.getMessage());
            }
            String sentence;
            if (e.errno() == SlurmErrno.ERROR.number()) {
                sentence = SlurmErrno.ERROR.sentence();
            } else if (e.errno() == SlurmErrno.ACCESS_DENIED.number()) {
                sentence = "Permission denied";
            } else {
                sentence = e.getMessage();
            }

            context.err().println("scontrol_reboot_nodes error:" + sentence);
            return 1;
        }
    }

    /** {@code power {up|down} [asap|force] {ALL|nodes} [action=…] [reason=…]}; asap is for down alone. */
    static int power(CommandContext context, List<String> words) throws SlurmException {
        String direction = words.isEmpty() ? "" : Texts.lower(words.getFirst());
        if (!List.of("up", "down").contains(direction)) {
            context.err()
                    .println(
                            words.isEmpty()
                                    ? "too few arguments for keyword:power"
                                    : "unexpected argument: '" + words.getFirst() + "'");
            return 1;
        }
        String how = "";
        String nodes = "";
        Json.Obj changes = new Json.Obj();
        for (String word : words.subList(1, words.size())) {
            String lower = Texts.lower(word);
            if (how.isEmpty() && (lower.equals("force") || lower.equals("asap") && direction.equals("down"))) {
                how = "_" + lower;
            } else if (lower.startsWith("action=")) {
                changes.put("poweraction", word.substring("action=".length()));
            } else if (direction.equals("down") && lower.startsWith("reason=")) {
                changes.put("reason", word.substring("reason=".length()));
            } else if (nodes.isEmpty()) {
                nodes = word;
            } else {
                context.err().println("too many arguments for keyword:power");
                return 1;
            }
        }
        if (nodes.isEmpty()) {
            context.err().println("Missing node list. Specify ALL|<NodeList>");
            return 1;
        }
        changes.put("state", "power_" + direction + how);
        Json.Obj query = new Json.Obj()
                .put("nodes", nodes)
                .put("changes", changes)
                .put("requestId", context.host().requestId());
        try {
            Scontrol.warnings(context, context.host().controller().call("UpdateNode", query));
            return 0;
        } catch (SlurmException e) {
            context.out().flush();
            context.err().println("scontrol_power_nodes error:" + e.getMessage());
            return 1;
        }
    }
}
