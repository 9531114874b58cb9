package dev.muster.cli.sacct;

import dev.muster.json.Json;
import dev.muster.model.accounting.Extremes;
import dev.muster.model.accounting.Extremes.At;
import dev.muster.model.accounting.Extremes.Measure;
import dev.muster.model.format.Durations;
import dev.muster.model.job.UsageSample;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongFunction;

/** Usage of a step's tasks: total, average, largest and smallest. {@code kb} prints kilobytes. */
final class SacctUse {
    private static final long US_PER_S = 1_000_000;

    private SacctUse() {}

    static String total(Json.Obj step, Json.Obj usage, LongFunction<String> kb) {
        long tasks = Math.max(1, step.number("tasks"));
        UsageSample metered = UsageSample.parse(usage.text("metered"));
        return in(
                usage,
                usage.number("userCpuUs") + usage.number("systemCpuUs"),
                usage.number("readBytes"),
                usage.number("aveRssKb") * tasks,
                usage.number("avePages") * tasks,
                usage.number("aveVmKb") * tasks,
                SacctField.gpus(metered, metered.gpuMemKb(), metered.gpuPercent(), kb),
                kb);
    }

    static String average(Json.Obj step, Json.Obj usage, LongFunction<String> kb) {
        long tasks = Math.max(1, step.number("tasks"));
        UsageSample metered = UsageSample.parse(usage.text("metered"));
        return in(
                usage,
                usage.number("aveCpuUs"),
                usage.number("readBytes") / tasks,
                usage.number("aveRssKb"),
                usage.number("avePages"),
                usage.number("aveVmKb"),
                SacctField.gpus(metered, metered.gpuMemKb() / tasks, metered.gpuPercent() / tasks, kb),
                kb);
    }

    /**
     * The most, or the least, of each. Rows from before single tasks were told apart have the most of a node's, and no
     * least.
     */
    static String extreme(Json.Obj usage, boolean isMax, LongFunction<String> kb) {
        Extremes all = Extremes.parse(usage.text("extremes"));
        UsageSample metered = UsageSample.parse(usage.text("metered"));
        // GPU use is measured for whole steps, so that there is no least task
        String gpus = isMax ? SacctField.gpus(metered, metered.gpuMostMemKb(), metered.gpuMostPercent(), kb) : "";
        if (all.of(Measure.CPU).isEmpty()) {
            return isMax
                    ? in(
                            usage,
                            usage.number("userCpuUs") + usage.number("systemCpuUs"),
                            usage.number("readBytes"),
                            usage.number("maxRssKb"),
                            usage.number("maxPages"),
                            usage.number("maxVmKb"),
                            gpus,
                            kb)
                    : "";
        }
        Function<Measure, Long> of = w -> (isMax
                        ? all.of(w).orElseThrow().most()
                        : all.of(w).orElseThrow().least())
                .value();
        return in(
                usage,
                of.apply(Measure.CPU),
                of.apply(Measure.READ),
                of.apply(Measure.MEM),
                of.apply(Measure.PAGES),
                of.apply(Measure.VMEM),
                gpus,
                kb);
    }

    /** Returns the nodes of these tasks: {@code cpu=n1,fs/disk=n2,…}. */
    static String places(Json.Obj usage, boolean isMax, Function<At, String> shown) {
        Extremes all = Extremes.parse(usage.text("extremes"));
        return places(all, isMax, shown, Measure.CPU, Measure.READ, Measure.MEM, Measure.PAGES, Measure.VMEM);
    }

    static String writePlace(Json.Obj usage, boolean isMax, Function<At, String> shown) {
        return places(Extremes.parse(usage.text("extremes")), isMax, shown, Measure.WRITE);
    }

    private static String places(Extremes all, boolean isMax, Function<At, String> shown, Measure... measures) {
        StringBuilder out = new StringBuilder();
        for (Measure measure : measures) {
            all.of(measure)
                    .ifPresent(s -> out.append(out.isEmpty() ? "" : ",")
                            .append(
                                    switch (measure) {
                                        case CPU -> "cpu";
                                        case MEM -> "mem";
                                        case VMEM -> "vmem";
                                        case PAGES -> "pages";
                                        case READ, WRITE -> "fs/disk";
                                    })
                            .append('=')
                            .append(shown.apply(isMax ? s.most() : s.least())));
        }
        return out.toString();
    }

    /** The task, or the node, of the most or the least of one of them; "" where it is not known. */
    static String at(Json.Obj usage, Measure measure, boolean isMax, Function<At, String> shown) {
        Optional<Extremes.Span> s = Extremes.parse(usage.text("extremes")).of(measure);
        return s.map(x -> shown.apply(isMax ? x.most() : x.least())).orElse("");
    }

    /** @param sum what stands for it where single tasks are not told apart */
    static long most(Json.Obj usage, Measure measure, String sum) {
        return Extremes.parse(usage.text("extremes"))
                .of(measure)
                .map(s -> s.most().value())
                .orElse(usage.number(sum));
    }

    static String task(At at) {
        return Integer.toString(at.task());
    }

    static String out(Json.Obj usage, long written) {
        UsageSample metered = UsageSample.parse(usage.text("metered"));
        return "energy=" + usage.number("energyJ") + ",fs/disk=" + written
                + SacctField.lustre(metered, metered.fsWriteBytes()) + SacctField.network(usage, "netOutBytes");
    }

    static String leastOut(Json.Obj usage) {
        return Extremes.parse(usage.text("extremes"))
                .of(Measure.WRITE)
                .map(s -> out(usage, s.least().value()))
                .orElse("");
    }

    private static String in(
            Json.Obj usage,
            long cpuUs,
            long read,
            long rssKb,
            long pages,
            long vmKb,
            String gpus,
            LongFunction<String> kb) {
        UsageSample metered = UsageSample.parse(usage.text("metered"));
        return "cpu=" + Durations.full(cpuUs / US_PER_S) + ",energy=" + usage.number("energyJ") + ",fs/disk=" + read
                + SacctField.lustre(metered, metered.fsReadBytes()) + gpus + SacctField.network(usage, "netInBytes")
                + ",mem="
                + kb.apply(rssKb)
                + ",pages=" + pages + ",vmem=" + kb.apply(vmKb);
    }
}
