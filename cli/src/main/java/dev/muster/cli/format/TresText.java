package dev.muster.cli.format;

import dev.muster.cli.command.Texts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Lists TRES by name in the order of their ids, as the commands of slurmctld do. */
public final class TresText {
    /** TRES that every cluster counts. */
    public static final List<String> EVERYWHERE =
            List.of("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages");

    private TresText() {}

    /** {@code cpu=4,billing=3}, whatever order it is kept in. */
    public static String ordered(String stored) {
        List<String> items = new ArrayList<>(Texts.split(stored, ','));
        items.sort(Comparator.comparingInt(item -> {
            int index = EVERYWHERE.indexOf(item.substring(0, Math.max(0, item.indexOf('='))));
            return index < 0 ? EVERYWHERE.size() : index;
        }));
        return String.join(",", items);
    }
}
