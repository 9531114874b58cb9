package dev.muster.controller;

import dev.muster.core.Node;
import dev.muster.core.State;
import dev.muster.model.Codec;
import dev.muster.model.HostList;
import dev.muster.model.JobDesc;
import dev.muster.model.Json;
import dev.muster.model.ResourceRequest;
import dev.muster.model.StepDesc;
import dev.muster.model.Topology;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Nodes by what they have or hang on, in lists of nodes that commands send: {@code feature{gpu}}, {@code block{b1}}, {@code switchwith{n1}}. What
 * is not known stays as it is, and is no node then.
 */
final class HostFunctions {
    private static final Pattern CALL = Pattern.compile("(feature|(block|switch|ring|torus)(with)?)\\{([^{}]*)}", Pattern.CASE_INSENSITIVE);
    /** Where updates and reservations say nodes. */
    private static final List<String> KEYS = List.of("nodes", "reqnodelist", "excnodelist", "nodelist");

    private HostFunctions() {}

    static String expanded(String list, State state) {
        return list.indexOf('{') < 0 ? list : CALL.matcher(list).replaceAll(call -> {
            List<String> nodes = nodes(call, state);
            return java.util.regex.Matcher.quoteReplacement(nodes.isEmpty() ? call.group() : HostList.of(nodes).compressed());
        });
    }

    static Map<String, String> expanded(Map<String, String> changes, State state) {
        Map<String, String> out = new TreeMap<>(changes);
        out.replaceAll((key, value) -> KEYS.contains(key) ? expanded(value, state) : value);
        return out;
    }

    static JobDesc expanded(JobDesc job, State state) {
        return expanded(job, job.request(), JobDesc.class, state);
    }

    static StepDesc expanded(StepDesc step, State state) {
        return expanded(step, step.request(), StepDesc.class, state);
    }

    /** @param request of the description */
    private static <T> T expanded(T desc, ResourceRequest request, Class<T> type, State state) {
        String with = request.nodeList();
        String without = request.excludeList();
        if (with.indexOf('{') < 0 && without.indexOf('{') < 0) {
            return desc;
        }
        Json.Obj all = Json.object(Codec.encode(desc));
        all.obj("request").put("nodeList", expanded(with, state)).put("excludeList", expanded(without, state));
        return Codec.decode(Json.print(all), type);
    }

    private static List<String> nodes(MatchResult call, State state) {
        String word = call.group(4);
        if (call.group(2) == null) {
            return inOrder(state.nodes().values().stream().filter(n -> n.spec().features().contains(word)));
        }
        boolean ofSwitches = call.group(2).equalsIgnoreCase("switch");
        boolean with = call.group(3) != null;
        Predicate<Topology.Switch> atSwitch = s -> with ? s.level() == 0 && s.nodes().contains(word) : s.name().equals(word);
        Predicate<Topology.Block> atBlock = b -> with ? b.nodes().contains(word) : b.name().equals(word);
        for (Topology t : state.settings().topologies()) {
            Stream<List<String>> found = ofSwitches ? t.switches().stream().filter(atSwitch).map(Topology.Switch::nodes)
                    : t.kind().name().equalsIgnoreCase(call.group(2)) ? t.blocks().stream().filter(atBlock).map(Topology.Block::nodes) : Stream.of();
            List<String> nodes = found.findFirst().orElse(List.of());
            if (!nodes.isEmpty()) {
                return nodes;
            }
        }
        return List.of();
    }

    private static List<String> inOrder(Stream<Node> nodes) {
        return nodes.sorted(java.util.Comparator.comparingInt(n -> n.spec().order())).map(Node::name).toList();
    }
}
