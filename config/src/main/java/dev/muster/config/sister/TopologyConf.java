package dev.muster.config.sister;

import dev.muster.config.file.ConfLines;
import dev.muster.config.file.Pairs;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Values;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** topology.conf: switches over nodes or other switches, blocks of nodes, and rings of them. */
public record TopologyConf(List<Switch> switches, List<Block> blocks, List<Integer> blockSizes, List<Block> rings) {

    /** A leaf has nodes, any other switch has switches; both are expanded. */
    public record Switch(String name, List<String> nodes, List<String> switches, int line, long linkSpeed) {}

    public record Block(String name, List<String> nodes, int line) {}

    /** Reads the file; mistakes are added to {@code errors}. An absent file is an empty one. */
    public static TopologyConf read(File file, List<ConfigError> errors) {
        Builder builder = new Builder(new Values(errors));
        if (file.exists()) {
            new ConfLines(file, builder, errors).read(file);
        }
        return new TopologyConf(
                List.copyOf(builder.switches),
                List.copyOf(builder.blocks),
                List.copyOf(builder.blockSizes),
                List.copyOf(builder.rings));
    }

    private static final class Builder implements ConfLines.Sink {
        private final Values values;
        private final List<Switch> switches = new ArrayList<>();
        private final List<Block> blocks = new ArrayList<>();
        private final List<Integer> blockSizes = new ArrayList<>();
        private final List<Block> rings = new ArrayList<>();

        private Builder(Values values) {
            this.values = values;
        }

        @Override
        public String clusterName() {
            return "";
        }

        @Override
        public void line(String text, String file, int line) {
            values.at(file, line, text);
            String switchName = "";
            String blockName = "";
            String ringName = "";
            List<String> nodes = List.of();
            List<String> children = List.of();
            long speed = 1;
            Pairs pairs = new Pairs(text);
            while (pairs.next()) {
                values.text(pairs.rest());
                switch (pairs.key().toLowerCase(Locale.ROOT)) {
                    case "switchname" -> switchName = pairs.value();
                    case "blockname" -> blockName = pairs.value();
                    case "ringname" -> ringName = pairs.value();
                    case "nodes" -> nodes = values.hosts(pairs.value(), "Nodes").names();
                    case "switches" ->
                        children = values.hosts(pairs.value(), "Switches").names();
                    case "blocksizes" -> sizes(pairs.value());
                    case "linkspeed" -> speed = values.number("LinkSpeed", pairs.value(), Values.U32_MAX);
                    default -> values.error("Parsing error at unrecognized key: " + pairs.key());
                }
            }
            if (!pairs.atEnd()) {
                values.text(pairs.rest()).error("Parsing error");
            }
            if (!switchName.isEmpty()) {
                if (nodes.isEmpty() == children.isEmpty()) {
                    values.error("switch " + switchName + " has "
                            + (nodes.isEmpty() ? "neither children nor nodes" : "both children and nodes"));
                }
                switches.add(new Switch(switchName, nodes, children, line, speed));
            } else if (!blockName.isEmpty()) {
                blocks.add(new Block(blockName, nodes, line));
            } else if (!ringName.isEmpty()) {
                rings.add(new Block(ringName, nodes, line));
            }
        }

        private void sizes(String text) {
            for (String size : Values.list(text)) {
                blockSizes.add((int) values.number("BlockSizes", size, Values.U16_MAX));
            }
        }
    }
}
