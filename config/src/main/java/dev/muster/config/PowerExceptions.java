package dev.muster.config;

import dev.muster.model.HostList;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** SuspendExcNodes, SuspendExcParts and SuspendExcStates: which of their words name something. */
final class PowerExceptions {
    private final Set<String> names = new HashSet<>();
    private final List<SlurmConf.NodeSet> sets;
    private final List<NodeConf> nodes;
    private final Set<String> partitions = new HashSet<>();
    private final boolean more;

    /** @param more nodes may come that the file does not name */
    PowerExceptions(List<NodeConf> nodes, List<SlurmConf.NodeSet> sets, List<PartitionConf> partitions, boolean more) {
        this.nodes = nodes;
        this.sets = sets;
        this.more = more;
        for (NodeConf node : nodes) {
            names.add(node.name());
        }
        for (PartitionConf partition : partitions) {
            this.partitions.add(partition.name());
        }
    }

    /** Those that do; of the others a warning says that they are ignored. */
    List<String> known(Key key, List<String> lines, Values values) {
        List<String> out = new ArrayList<>();
        for (String line : lines) {
            for (String word : HostList.split(line)) {
                boolean right = key == Key.SUSPEND_EXC_NODES ? areNodes(word)
                    : key == Key.SUSPEND_EXC_PARTS ? partitions.contains(word) : !Names.known(Names.POWER_STATES, word).isEmpty();
                if (right) {
                    out.add(word);
                } else {
                    values.warning("Invalid " + (key == Key.SUSPEND_EXC_NODES ? "SuspendExcNodes"
                        : key == Key.SUSPEND_EXC_PARTS ? "SuspendExcPart" : "SuspendExcState") + " " + word + " ignored");
                }
            }
        }
        return List.copyOf(out);
    }

    /** {@code n[1-9]:2} asks for no more than there are. */
    private boolean areNodes(String word) {
        int colon = word.lastIndexOf(':');
        long count = colon < 0 ? 1 : NodeLine.count(word.substring(colon + 1));
        if (count < 1 || !(HostList.parse(colon < 0 ? word : word.substring(0, colon)) instanceof HostList.Parsed.Ok ok)) {
            return false;
        }
        Set<String> found = new HashSet<>();
        for (String name : ok.list().names()) {
            if (names.contains(name)) {
                found.add(name);
            } else if (!addSet(name, found) && !more) {
                return false;
            }
        }
        return more || count <= found.size();
    }

    private boolean addSet(String name, Set<String> into) {
        boolean any = false;
        for (SlurmConf.NodeSet set : sets) {
            if (set.name().equals(name)) {
                any = true;
                if (HostList.parse(set.nodes()) instanceof HostList.Parsed.Ok members) {
                    into.addAll(members.list().names());
                }
                for (NodeConf node : nodes) {
                    if (!set.feature().isEmpty() && node.features().contains(set.feature())) {
                        into.add(node.name());
                    }
                }
            }
        }
        return any;
    }
}
