package dev.muster.node.hardware;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.MemBind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * {@code --mem-bind=sort}: has the kernel sort its free pages before a step, where it has the module for that (KNL's
 * zonesort).
 */
public final class ZoneSort {
    private final Path order;
    private final boolean always;
    private final DaemonLog log;

    /**
     * @param root "/" or a copy of its sys for tests; always: LaunchParameters=mem_sort, for steps that do not say
     *     otherwise
     */
    public ZoneSort(Path root, boolean always, DaemonLog log) {
        this.order = root.resolve("sys/kernel/zone_sort_free_pages/nodeid");
        this.always = always;
        this.log = log;
    }

    boolean isWanted(String memBind) {
        boolean not = List.of(memBind.toLowerCase(Locale.ROOT).split(",")).contains("nosort");
        return !not && (always || MemBind.parse(memBind).map(MemBind::sort).orElse(false));
    }

    public void before(String memBind, Iterable<Integer> numaNodes) {
        if (!isWanted(memBind) || !Files.isWritable(order)) {
            return;
        }
        for (int node : numaNodes) {
            try {
                Files.writeString(order, Integer.toString(node));
            } catch (IOException e) {
                log.error("zonesort of NUMA node " + node + ": " + ErrorSentence.reason(e));
            }
        }
    }
}
