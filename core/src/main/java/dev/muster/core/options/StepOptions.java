package dev.muster.core.options;

import dev.muster.model.format.Digits;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.MpiBootstrap;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Options that decide how steps and their tasks run.
 *
 * @param ports MpiParams: ports that jobs and steps may reserve; none by default
 * @param imexChannels SwitchParameters=imex_channel_count: channels of switch/nvidia_imex, 0 without it; 0 by default
 * @param taskBind TaskPluginParam as --cpu-bind has it; "" by default
 * @param nodeBinds CpuBind of nodes; none by default
 * @param sampleS JobAcctGatherFrequency: seconds between two looks at the tasks, 0 for none, -1 where nothing is
 *     gathered; -1 by default
 * @param oomKillStep 1 with TaskPluginParam=OOMKillStep; "" by default
 * @param appendsFiles JobFileAppend: output files are appended to, not truncated; no by default
 * @param bootstrapsHydra no MpiParams=disable_slurm_hydra_bootstrap: variables for Hydra are set; yes by default
 */
public record StepOptions(
        PortRange ports,
        int imexChannels,
        String taskBind,
        List<NodeBind> nodeBinds,
        int sampleS,
        String oomKillStep,
        boolean appendsFiles,
        boolean bootstrapsHydra) {
    /** MpiParams: the first and last port that steps may reserve, {@code 12000-12999}. */
    public static final String MPI_PORTS = "mpi_ports";
    /** SwitchType=switch/nvidia_imex: how many channels there are. */
    public static final String IMEX_CHANNELS = "imex_channels";
    /** TaskPluginParam as --cpu-bind has it. */
    public static final String TASK_BIND = "task_bind";
    /** CpuBind of nodes: {@code cores=n[1-4];none=m1}. */
    public static final String NODE_BIND = "node_bind";
    /** JobAcctGatherFrequency, where JobAcctGatherType is not none. */
    public static final String ACCT_GATHER_FREQUENCY = "acct_gather_frequency";
    /** 1 with TaskPluginParam=OOMKillStep. */
    public static final String OOM_KILL_STEP = "oom_kill_step";
    /** 1 with JobFileAppend. */
    public static final String JOB_FILE_APPEND = "job_file_append";

    /**
     * Consecutive ports of each node.
     *
     * @param first 0 where there are none
     * @param all the same, as a set
     */
    public record PortRange(int first, int count, IndexSet all) {
        private static final PortRange NONE = new PortRange(0, 0, IndexSet.empty());

        private static PortRange of(String text) {
            String[] ends = text.split("-", 2);
            if (ends.length != 2 || !Digits.only(ends[0], 9) || !Digits.only(ends[1], 9)) {
                return NONE;
            }
            int first = Integer.parseInt(ends[0]);
            int count = Integer.parseInt(ends[1]) - first + 1;
            return count <= 0 ? NONE : new PortRange(first, count, IndexSet.range(first, first + count - 1, 1));
        }
    }

    /**
     * Nodes with one CpuBind.
     *
     * @param word as --cpu-bind has it
     */
    public record NodeBind(String word, Set<String> nodes) {
        private static List<NodeBind> all(String text) {
            List<NodeBind> out = new ArrayList<>();
            for (String group : OptionParser.items(text, ";")) {
                int equals = group.indexOf('=');
                if (equals > 0 && HostList.parse(group.substring(equals + 1)) instanceof HostList.Parsed.Ok ok) {
                    out.add(new NodeBind(
                            group.substring(0, equals), Set.copyOf(ok.list().names())));
                }
            }
            return List.copyOf(out);
        }
    }

    static StepOptions of(OptionParser text) {
        return new StepOptions(
                PortRange.of(text.text(MPI_PORTS)),
                text.count(IMEX_CHANNELS, 0),
                text.text(TASK_BIND),
                NodeBind.all(text.text(NODE_BIND)),
                sampleS(text.text(ACCT_GATHER_FREQUENCY)),
                text.text(OOM_KILL_STEP),
                text.has(JOB_FILE_APPEND),
                !text.has(MpiBootstrap.OFF));
    }

    /**
     * Returns the seconds between two looks at the tasks; 0 for none, -1 where the text does not say.
     *
     * @param text {@code 30}, {@code task=30,energy=5}
     */
    public static int sampleS(String text) {
        for (String part : text.split(",")) {
            String number = part.startsWith("task=") ? part.substring(5) : part;
            if (Digits.only(number, 9)) {
                return Integer.parseInt(number);
            }
        }
        return -1;
    }
}
