package dev.muster.node;

import dev.muster.config.NodeConf;
import dev.muster.config.SlurmConf;
import java.util.ArrayList;
import java.util.List;

/** The lines of {@code slurmd -G}. */
final class GresReport {
    private GresReport() {}

    static List<String> lines(SlurmConf conf, NodeConf node) {
        List<String> out = new ArrayList<>();
        for (String type : conf.gresTypes()) {
            int index = 0;
            for (NodeConf.Gres gres : node.gres()) {
                if (gres.name().equals(type)) {
                    out.add("slurmd: Gres Name=" + gres.name() + " Type=" + (gres.type().isEmpty() ? "(null)" : gres.type())
                            + " Count=" + gres.count() + " Index=" + index++);
                }
            }
        }
        return out;
    }
}
