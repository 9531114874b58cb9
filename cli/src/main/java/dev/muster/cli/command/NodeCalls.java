package dev.muster.cli.command;

import dev.muster.json.Json;
import dev.muster.model.cluster.HostCall;
import java.util.List;

/** Expands {@code feature{gpu}} and its like in node lists that a command itself reads. slurmctld knows the nodes. */
public final class NodeCalls {
    private NodeCalls() {}

    public static String expanded(CommandContext context, String list) {
        return HostCall.expanded(list, call -> {
            Json.Obj query = new Json.Obj()
                    .put("nodes", List.of(call.text()))
                    .put("all", Boolean.TRUE)
                    .put("fields", List.of("name"));
            try {
                return context.host().controller().call("QueryNodes", query).objects("nodes").stream()
                        .map(n -> n.text("name"))
                        .toList();
            } catch (SlurmException e) {
                return List.of(); // an unknown name is no node, as for the other readers of the list
            }
        });
    }
}
