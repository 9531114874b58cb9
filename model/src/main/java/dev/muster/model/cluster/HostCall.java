package dev.muster.model.cluster;

import dev.muster.model.format.HostList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Nodes by what they have or hang on, in a list of nodes: {@code feature{gpu}}, {@code block{b1}},
 * {@code switchwith{n1}}.
 *
 * @param kind of what, in small letters
 * @param with the same as a node's
 * @param word a name of that kind, or the node's
 */
public record HostCall(String kind, boolean with, String word) {
    private static final Pattern CALL =
            Pattern.compile("(feature|(block|switch|ring|torus)(?:3d)?(with)?)\\{([^{}]*)}", Pattern.CASE_INSENSITIVE);

    /** Whether there may be one. */
    public static boolean isIn(String list) {
        return list.indexOf('{') >= 0;
    }

    public static Optional<HostCall> parse(String name) {
        Matcher call = CALL.matcher(name);
        return isIn(name) && call.matches() ? Optional.of(of(call)) : Optional.empty();
    }

    /** The list with the nodes in place of calls. What is not known stays as it is, and is no node then. */
    public static String expanded(String list, Function<HostCall, List<String>> nodes) {
        return !isIn(list)
                ? list
                : CALL.matcher(list).replaceAll(call -> {
                    List<String> found = nodes.apply(of(call));
                    return Matcher.quoteReplacement(
                            found.isEmpty() ? call.group() : HostList.of(found).compressed());
                });
    }

    private static HostCall of(MatchResult call) {
        return call.group(2) == null
                ? new HostCall("feature", false, call.group(4))
                : new HostCall(call.group(2).toLowerCase(java.util.Locale.ROOT), call.group(3) != null, call.group(4));
    }

    /** Returns the call as it is written. */
    public String text() {
        return kind + (with ? "with{" : "{") + word + "}";
    }

    public boolean isOfFeature() {
        return kind.equals("feature");
    }

    /** The nodes in the first topology that has the name; empty if none has it. */
    public List<String> of(List<Topology> topologies) {
        Predicate<Topology.Switch> atSwitch = s ->
                with ? s.level() == 0 && s.nodes().contains(word) : s.name().equals(word);
        Predicate<Topology.Block> atBlock =
                b -> with ? b.nodes().contains(word) : b.name().equals(word);
        for (Topology topology : topologies) {
            Stream<List<String>> found;
            if (kind.equals("torus")) {
                found = Stream.of(ofTorus(topology, atBlock));
            } else if (kind.equals("switch")) {
                found = topology.switches().stream().filter(atSwitch).map(Topology.Switch::nodes);
            } else if (topology.kind().name().equalsIgnoreCase(kind)) {
                found = topology.blocks().stream().filter(atBlock).map(Topology.Block::nodes);
            } else {
                found = Stream.of();
            }

            List<String> nodes = found.findFirst().orElse(List.of());
            if (!nodes.isEmpty()) {
                return nodes;
            }
        }
        return List.of();
    }

    /** A torus is known by the places in it, which all have its name. */
    private static List<String> ofTorus(Topology topology, Predicate<Topology.Block> meant) {
        List<Topology.Block> places = topology.kind() == Topology.Kind.TORUS ? topology.placements() : List.of();
        Optional<String> name = places.stream().filter(meant).findFirst().map(Topology.Block::name);
        return places.stream()
                .filter(p -> name.filter(p.name()::equals).isPresent())
                .flatMap(p -> p.nodes().stream())
                .distinct()
                .sorted()
                .toList();
    }
}
