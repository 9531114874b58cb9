package dev.muster.controller.accounting;

import dev.muster.core.state.Change;
import dev.muster.model.accounting.AccountingRows.Usage;
import dev.muster.model.accounting.Extremes;
import dev.muster.model.accounting.Extremes.At;
import dev.muster.model.accounting.Extremes.Measure;
import dev.muster.model.job.TaskPeaks;
import dev.muster.model.job.UsageSample;

/** Usage of a step, from the reports of its nodes about their tasks. */
final class StepUsage {
    private StepUsage() {}

    /**
     * Adds a node's tasks. Averages are over all tasks of the step.
     *
     * @param b with peaks; all: tasks of the step, at least 1
     */
    static Usage plus(Usage a, Change.Usage b, String node, int all) {
        TaskPeaks p = b.peaks();
        Extremes both = Extremes.parse(a.extremes()).and(p, node);
        At rss = most(both, Measure.MEM);
        At vm = most(both, Measure.VMEM);
        return new Usage(
                a.userCpuUs() + b.userCpuUs(),
                a.systemCpuUs() + b.systemCpuUs(),
                rss.value(),
                rss.node(),
                rss.task(),
                a.aveRssKb() + p.sumRssKb() / all,
                vm.value(),
                vm.node(),
                vm.task(),
                a.aveVmKb() + p.sumVmKb() / all,
                most(both, Measure.PAGES).value(),
                a.readBytes() + b.readBytes(),
                a.writeBytes() + b.writeBytes(),
                both.of(Measure.CPU).orElseThrow().least().value(),
                a.aveCpuUs() + (b.userCpuUs() + b.systemCpuUs()) / all,
                a.energyJ() + b.energyJ(),
                a.netInBytes() + b.netInBytes(),
                a.netOutBytes() + b.netOutBytes(),
                a.avePages() + p.sumPages() / all,
                both.toString(),
                khz(a, b),
                metered(a, b));
    }

    static String metered(Usage a, Change.Usage b) {
        return UsageSample.parse(a.metered()).and(b.metered()).text();
    }

    /** Weighted by the CPU time of the nodes so far, and of this one. */
    static long khz(Usage a, Change.Usage b) {
        double before = a.aveCpuKhz() == 0 ? 0 : Math.max(1, a.userCpuUs() + a.systemCpuUs());
        double more = b.cpuKhz() == 0 ? 0 : Math.max(1, b.userCpuUs() + b.systemCpuUs());
        return before + more == 0 ? 0 : Math.round((a.aveCpuKhz() * before + b.cpuKhz() * more) / (before + more));
    }

    private static At most(Extremes of, Measure what) {
        return of.of(what).orElseThrow().most();
    }
}
