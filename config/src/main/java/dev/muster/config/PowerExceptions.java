package dev.muster.config;

import dev.muster.config.key.Key;
import dev.muster.config.key.Names;
import dev.muster.config.key.Values;
import dev.muster.model.format.Digits;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;

/** SuspendExcNodes, SuspendExcParts and SuspendExcStates: which of their words name something. */
final class PowerExceptions {
    private static final int COUNT_DIGITS = 9;

    private final Set<String> names = new HashSet<>();
    private final Set<String> partitions = new HashSet<>();
    private final BiPredicate<String, Set<String>> nodeSets;
    private final boolean more;

    /**
     * @param nodeSets adds the nodes of the NodeSets of a name, and tells whether there are any
     * @param more nodes may come that the file does not name
     */
    PowerExceptions(
            List<NodeConf> nodes,
            BiPredicate<String, Set<String>> nodeSets,
            List<PartitionConf> partitions,
            boolean more) {
        this.nodeSets = nodeSets;
        this.more = more;
        for (NodeConf node : nodes) {
            names.add(node.name());
        }
        for (PartitionConf partition : partitions) {
            this.partitions.add(partition.name());
        }
    }

    /** The words that exist, with nodes in place of NodeSets; a warning says that the others are ignored. */
    List<String> known(Key key, List<String> lines, Values values) {
        List<String> out = new ArrayList<>();
        for (String line : lines) {
            for (String word : HostList.split(line)) {
                boolean right = key == Key.SUSPEND_EXC_PARTS
                        ? partitions.contains(word)
                        : !Names.known(Names.POWER_STATES, word).isEmpty();
                Optional<String> meant = key == Key.SUSPEND_EXC_NODES
                        ? nodes(word)
                        : Optional.of(word).filter(w -> right);
                if (meant.isPresent()) {
                    out.add(meant.get());
                } else {
                    values.warning("Invalid " + name(key) + " " + word + " ignored");
                }
            }
        }
        return List.copyOf(out);
    }

    /** The key as Slurm's warning spells it. */
    private static String name(Key key) {
        if (key == Key.SUSPEND_EXC_NODES) {
            return "SuspendExcNodes";
        }
        return key == Key.SUSPEND_EXC_PARTS ? "SuspendExcPart" : "SuspendExcState";
    }

    /** {@code n[1-9]:2} asks for no more than there are. */
    private Optional<String> nodes(String word) {
        int colon = word.lastIndexOf(':');
        String countText = colon < 0 ? "1" : word.substring(colon + 1);
        int count = Digits.only(countText, COUNT_DIGITS) ? Integer.parseInt(countText) : 0;
        if (count < 1
                || !(HostList.parse(colon < 0 ? word : word.substring(0, colon)) instanceof HostList.Parsed.Ok ok)) {
            return Optional.empty();
        }
        Set<String> found = new LinkedHashSet<>();
        boolean bySet = false;
        for (String name : ok.list().names()) {
            if (names.contains(name)) {
                found.add(name);
            } else if (nodeSets.test(name, found)) {
                bySet = true;
            } else if (more) {
                found.add(name);
            } else {
                return Optional.empty();
            }
        }
        if (!more && count > found.size()) {
            return Optional.empty();
        }
        String number = colon < 0 ? "" : word.substring(colon);
        return Optional.of(bySet ? HostList.of(found).compressed() + number : word);
    }
}
