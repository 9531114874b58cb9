package dev.muster.scheduler.node;

import dev.muster.core.tres.Tres;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.List;

/**
 * Deals devices that a job asks for all its nodes together (--gpus) out over them, as Slurm does: each node in turn
 * gives all that it has and the job still lacks, but leaves one for each node to come. So five GPUs of two nodes with
 * four of them are four and one.
 */
public final class JobDevices {
    private final ResourceNeed need;
    private final List<SelectedNode> picks;

    JobDevices(ResourceNeed need, List<SelectedNode> picks) {
        this.need = need;
        this.picks = picks;
    }

    /** Returns for each item of {@link ResourceNeed#gresPerJob} how many devices each node gives. */
    List<int[]> dealt() {
        List<int[]> out = new ArrayList<>();
        for (Tres.Item item : need.gresPerJob()) {
            out.add(deal(
                    item.count(),
                    picks.stream()
                            .mapToInt(p -> NodeSelector.usable(need, p.node(), item))
                            .toArray()));
        }
        return out;
    }

    /** @param usable usable device count of each node */
    public static int[] deal(int count, int[] usable) {
        int[] out = new int[usable.length];
        int left = count;
        for (int i = 0; i < out.length; i++) {
            int kept = out.length - 1 - i;
            out[i] = Math.min(left, Math.min(Math.max(left - kept, 1), usable[i]));
            left -= out[i];
        }
        for (int i = 0; i < out.length && left > 0; i++) {
            int more = Math.clamp(usable[i] - out[i], 0, left);
            out[i] += more;
            left -= more;
        }
        return out;
    }
}
