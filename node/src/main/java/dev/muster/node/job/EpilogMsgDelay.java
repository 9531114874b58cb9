package dev.muster.node.job;

import dev.muster.model.format.HostList;
import java.util.List;

/** EpilogMsgTime: the nodes of a large job do not all tell the controller of their end in the same moment. */
final class EpilogMsgDelay {
    private static final List<String> LISTS = List.of("SLURM_JOB_NODELIST=", "SLURM_NODELIST=");
    /** However large the job is. */
    private static final long DELAY_MS_MAX = 60_000;

    private EpilogMsgDelay() {}

    /**
     * @param environment of the job's prolog and epilog, which names its nodes
     * @param micros for each node before this one
     * @return milliseconds that this node waits before it tells
     */
    static long delayMs(List<String> environment, String node, long micros) {
        if (micros <= 0) {
            return 0;
        }
        for (String name : LISTS) {
            for (String entry : environment) {
                if (entry.startsWith(name)
                        && HostList.parse(entry.substring(name.length())) instanceof HostList.Parsed.Ok ok) {
                    return Math.min(DELAY_MS_MAX, Math.max(0, ok.list().names().indexOf(node)) * micros / 1000);
                }
            }
        }
        return 0;
    }
}
