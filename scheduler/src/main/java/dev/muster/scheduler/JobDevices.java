package dev.muster.scheduler;

import dev.muster.core.GpuCores;
import dev.muster.core.Tres;
import dev.muster.model.IndexSet;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * How what a job asks for all its nodes together (--gpus) is dealt out over them, as the original does: first each node in turn gives what lies
 * near the cores that the job has there, and leaves one for each node to come; what is missing then the nodes give in the same order from what
 * else they have. So five GPUs of two nodes with four of them are four and one where any core may use any of them, and three and two where two
 * are near each socket.
 */
final class JobDevices {
    private final Need need;
    private final List<Chooser.Pick> picks;
    private final Function<NodeSlot, IndexSet> free;

    /** @param free units of a node that the job may have */
    JobDevices(Need need, List<Chooser.Pick> picks, Function<NodeSlot, IndexSet> free) {
        this.need = need;
        this.picks = picks;
        this.free = free;
    }

    /** For each item of {@link Need#gresPerJob} how many each node gives. */
    List<int[]> dealt() {
        List<int[]> out = new ArrayList<>();
        for (Tres.Item item : need.gresPerJob()) {
            out.add(dealt(item));
        }
        return out;
    }

    private int[] dealt(Tres.Item item) {
        int[] usable = new int[picks.size()];
        int[] near = new int[picks.size()];
        for (int i = 0; i < usable.length; i++) {
            NodeSlot node = picks.get(i).node();
            usable[i] = Chooser.usable(need, node, item);
            near[i] = near(need, item, node, free.apply(node), picks.get(i).tasks(), usable.length == 1, usable[i]);
        }
        return deal(item.count(), usable, near);
    }

    /** @param usable of each node; @param near of these */
    static int[] deal(int count, int[] usable, int[] near) {
        int[] out = new int[usable.length];
        int left = count;
        for (int i = 0; i < out.length; i++) {
            int kept = out.length - 1 - i;
            out[i] = Math.min(left, Math.min(Math.max(left - kept, 1), near[i]));
            left -= out[i];
        }
        for (int i = 0; i < out.length && left > 0; i++) {
            int more = Math.clamp(usable[i] - out[i], 0, left);
            out[i] += more;
            left -= more;
        }
        return out;
    }

    /**
     * Those near the cores that the job would have there if it did not ask for devices: one at least, where there is any.
     *
     * @param free  units that it may have
     * @param alone the job has no other node
     */
    static int near(Need need, Tres.Item item, NodeSlot node, IndexSet free, int tasks, boolean alone, int usable) {
        boolean any = !item.name().equals("gpu") || node.gpuCores == GpuCores.NONE || need.gpus().enforced() || need.gpus().cpus() > 0
                || need.exclusive() || alone;
        if (any) {
            return usable;
        }
        int cpus = Math.max(need.cpusPerNodeMin(), need.overcommit() ? 1 : tasks * need.cpusPerTask());
        int perUnit = need.usableCpus(node.spec);
        IndexSet units = SocketOrder.choose(need, node, free, (cpus + perUnit - 1) / perUnit, tasks);
        IndexSet gpus = node.devices(item.name(), item.type());
        for (GpuCores.Group g : node.gpuCores.groups()) {
            gpus = g.units().intersect(units).isEmpty() ? gpus.minus(g.gpus()) : gpus;
        }
        return Math.min(usable, Math.max(1, gpus.count()));
    }
}
