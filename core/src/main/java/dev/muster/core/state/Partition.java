package dev.muster.core.state;

import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.Digits;
import java.util.List;

/**
 * A partition.
 *
 * @param info its settings as shown; limits in minutes and nodes, -1 for unlimited
 * @param nodes names of its nodes, in configuration order
 */
public record Partition(PartitionInfo info, List<String> nodes) {
    public String name() {
        return info.name();
    }

    /** Tests whether jobs of the partition may start. */
    public boolean isUp() {
        return info.state().equals("UP") || info.state().equals("DRAIN");
    }

    /** Tests whether jobs may be submitted to the partition. */
    public boolean takesJobs() {
        return info.state().equals("UP") || info.state().equals("DOWN");
    }

    /**
     * Returns how many jobs may have a core at once; 1 where it is not shared.
     *
     * @param asked the job says {@code --oversubscribe}
     */
    public int jobsPerCore(boolean asked) {
        String text = info().overSubscribe().toUpperCase(java.util.Locale.ROOT);
        boolean shared = text.startsWith("FORCE") || text.startsWith("YES") && asked;
        int colon = text.indexOf(':');
        String count = colon < 0 ? "4" : text.substring(colon + 1);
        return shared && Digits.only(count, 5) ? Math.max(1, Integer.parseInt(count)) : 1;
    }

    private static final java.util.List<String> CORES_OR_SOCKETS =
            java.util.List.of("CR_CORE", "CR_CORE_MEMORY", "CR_SOCKET", "CR_SOCKET_MEMORY");

    /**
     * Tests whether memory is allocated to the partition's jobs: its own SelectTypeParameters count where cores or
     * sockets are given elsewhere too.
     */
    public boolean consumesMemory(Settings settings) {
        if (info.selectTypeParameters().isEmpty()) {
            return settings.memoryConsumed();
        }
        String own = info.selectTypeParameters().toUpperCase(java.util.Locale.ROOT);
        boolean counts = CORES_OR_SOCKETS.contains(own)
                && (!settings.options().select().given()
                        || CORES_OR_SOCKETS.stream().anyMatch(settings::selects));
        return counts ? own.endsWith("_MEMORY") : settings.memoryConsumed();
    }

    /** Tests whether each job has its nodes to itself. */
    public boolean isExclusive() {
        return info.exclusiveNode() || info.overSubscribe().equals("EXCLUSIVE");
    }

    /** Value of MaxCPUsPerNode or MaxCPUsPerSocket for no CPUs at all, because 0 means that the limit is unset. */
    public static final int NO_CPUS = -2;

    /** Returns the bound that such a number stands for; -1 for no bound. */
    public static int cpusMax(int kept) {
        if (kept == NO_CPUS) {
            return 0;
        }
        if (kept <= 0) {
            return -1;
        }
        return kept;
    }

    /** Returns NO, NODE, USER or TOPO: how its jobs share their nodes. */
    public String exclusive() {
        if (info.exclusiveTopo()) {
            return "TOPO";
        }
        if (info.exclusiveUser()) {
            return "USER";
        }
        if (isExclusive()) {
            return "NODE";
        }
        return "NO";
    }
}
