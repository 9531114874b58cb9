package dev.muster.node.config;

import dev.muster.config.sister.CgroupConf;
import java.util.List;
import java.util.Map;

/**
 * What slurm.conf, cgroup.conf and gres.conf say of control groups on this node.
 *
 * @param tracking which processes are a step's (ProctrackType)
 * @param cores jobs see only their CPUs: as devices, ram and swap only with TaskPlugin=task/cgroup
 * @param files by GRES name: the files of each device, in the order of the devices' indices
 */
public record CgroupSettings(
        CgroupConf conf,
        Tracking tracking,
        boolean cores,
        boolean devices,
        boolean ram,
        boolean swap,
        Map<String, List<List<String>>> files) {

    /**
     * A step's processes: those in its control group, those that descend from it, or those in the process groups of its
     * tasks.
     */
    public enum Tracking {
        CGROUP,
        DESCENT,
        GROUP
    }

    public boolean track() {
        return tracking == Tracking.CGROUP;
    }

    /** Memory is limited in one way or the other. */
    public boolean memory() {
        return ram || swap;
    }

    public boolean isNone() {
        return !track() && !cores && !devices && !memory();
    }

    /**
     * Limits in bytes; 0 for none.
     *
     * @param withSwap of memory and swap together
     */
    public record Memory(long hard, long soft, long withSwap) {
        static final Memory NONE = new Memory(0, 0, 0);
    }

    /**
     * The limits of a group.
     *
     * @param allocatedMb 0 where nothing was allocated: the machine's upper bounds alone
     * @param totalMb of the machine
     */
    public Memory memory(long allocatedMb, long totalMb) {
        if (!memory()) {
            return Memory.NONE;
        }
        double mostRam = totalMb * conf.maxRamPercent() / 100;
        double mostSwap = totalMb * conf.maxSwapPercent() / 100;
        if (allocatedMb <= 0) {
            boolean bounded = ram && conf.maxRamPercent() < 100;
            return new Memory(
                    bounded ? bytes(mostRam) : 0, 0, swap && conf.maxSwapPercent() < 100 ? bytes(mostSwap) : 0);
        }
        double allowed = ram ? conf.allowedRamPercent() : 100;
        double both = bounded(allocatedMb * (allowed + conf.allowedSwapPercent()) / 100, Math.max(mostSwap, mostRam));
        // swap alone is limited through both together: the memory may then be as large
        double hard = ram ? bounded(allocatedMb * allowed / 100, mostRam) : both;
        return new Memory(
                bytes(hard), bytes(Math.min((double) allocatedMb, hard)), swap ? bytes(Math.max(both, hard)) : 0);
    }

    private double bounded(double mb, double maxMb) {
        return Math.max(Math.min(mb, maxMb), (double) conf.minRamSpaceMb());
    }

    private static long bytes(double mb) {
        return (long) Math.floor(mb) << 20;
    }
}
