package dev.muster.controller.view;

import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.cluster.HostCall;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import dev.muster.model.job.StepDesc;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** {@link HostCall} in lists of nodes that commands send. */
public final class HostFunctions {
    /** Keys of updates and reservations that name nodes. */
    private static final List<String> KEYS = List.of("nodes", "reqnodelist", "excnodelist", "nodelist");

    private HostFunctions() {}

    public static String expanded(String list, State state) {
        return HostCall.expanded(
                list,
                call -> call.isOfFeature()
                        ? inOrder(state.nodes().values().stream()
                                .filter(n -> n.spec().features().contains(call.word())))
                        : call.of(state.settings().topologies()));
    }

    public static Map<String, String> expanded(Map<String, String> changes, State state) {
        Map<String, String> out = new TreeMap<>(changes);
        out.replaceAll((key, value) -> KEYS.contains(key) ? expanded(value, state) : value);
        return out;
    }

    public static JobDesc expanded(JobDesc job, State state) {
        return expanded(job, job.request(), JobDesc.class, state);
    }

    public static StepDesc expanded(StepDesc step, State state) {
        return expanded(step, step.request(), StepDesc.class, state);
    }

    /** @param request of the description */
    private static <T> T expanded(T desc, ResourceRequest request, Class<T> type, State state) {
        String with = request.nodeList();
        String without = request.excludeList();
        if (!HostCall.isIn(with) && !HostCall.isIn(without)) {
            return desc;
        }
        Json.Obj all = Json.object(Codec.encode(desc));
        all.obj("request").put("nodeList", expanded(with, state)).put("excludeList", expanded(without, state));
        return Codec.decode(Json.print(all), type);
    }

    private static List<String> inOrder(Stream<Node> nodes) {
        return nodes.sorted(java.util.Comparator.comparingInt(n -> n.spec().order()))
                .map(Node::name)
                .toList();
    }
}
