package dev.muster.cli.sacct;

import dev.muster.json.Json;
import dev.muster.model.accounting.Extremes;
import dev.muster.model.accounting.Extremes.At;
import dev.muster.model.accounting.Extremes.Measure;
import dev.muster.model.format.Durations;
import dev.muster.model.job.Metered;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongFunction;

/** Usage of a step's tasks: total, average, largest and smallest. {@code kb} prints kilobytes. */
final class SacctUse {
    private static final long US_PER_S = 1_000_000;

    private SacctUse() {}

    static String total(Json.Obj step, Json.Obj u, LongFunction<String> kb) {
        long tasks = Math.max(1, step.number("tasks"));
        Metered m = Metered.parse(u.text("metered"));
        return in(
                u,
                u.number("userCpuUs") + u.number("systemCpuUs"),
                u.number("readBytes"),
                u.number("aveRssKb") * tasks,
                u.number("avePages") * tasks,
                u.number("aveVmKb") * tasks,
                SacctField.gpus(m, m.gpuMemKb(), m.gpuPercent(), kb),
                kb);
    }

    static String average(Json.Obj step, Json.Obj u, LongFunction<String> kb) {
        long tasks = Math.max(1, step.number("tasks"));
        Metered m = Metered.parse(u.text("metered"));
        return in(
                u,
                u.number("aveCpuUs"),
                u.number("readBytes") / tasks,
                u.number("aveRssKb"),
                u.number("avePages"),
                u.number("aveVmKb"),
                SacctField.gpus(m, m.gpuMemKb() / tasks, m.gpuPercent() / tasks, kb),
                kb);
    }

    /**
     * The most, or the least, of each. Rows from before single tasks were told apart have the most of a node's, and no
     * least.
     */
    static String extreme(Json.Obj u, boolean most, LongFunction<String> kb) {
        Extremes all = Extremes.parse(u.text("extremes"));
        Metered m = Metered.parse(u.text("metered"));
        // GPU use is measured for whole steps, so that there is no least task
        String gpus = most ? SacctField.gpus(m, m.gpuMostMemKb(), m.gpuMostPercent(), kb) : "";
        if (all.of(Measure.CPU).isEmpty()) {
            return most
                    ? in(
                            u,
                            u.number("userCpuUs") + u.number("systemCpuUs"),
                            u.number("readBytes"),
                            u.number("maxRssKb"),
                            u.number("maxPages"),
                            u.number("maxVmKb"),
                            gpus,
                            kb)
                    : "";
        }
        Function<Measure, Long> of = w ->
                (most ? all.of(w).orElseThrow().most() : all.of(w).orElseThrow().least()).value();
        return in(
                u,
                of.apply(Measure.CPU),
                of.apply(Measure.READ),
                of.apply(Measure.MEM),
                of.apply(Measure.PAGES),
                of.apply(Measure.VMEM),
                gpus,
                kb);
    }

    /** Returns the nodes of these tasks: {@code cpu=n1,fs/disk=n2,…}. */
    static String places(Json.Obj u, boolean most, Function<At, String> shown) {
        Extremes all = Extremes.parse(u.text("extremes"));
        return places(all, most, shown, Measure.CPU, Measure.READ, Measure.MEM, Measure.PAGES, Measure.VMEM);
    }

    static String writePlace(Json.Obj u, boolean most, Function<At, String> shown) {
        return places(Extremes.parse(u.text("extremes")), most, shown, Measure.WRITE);
    }

    private static String places(Extremes all, boolean most, Function<At, String> shown, Measure... measures) {
        StringBuilder out = new StringBuilder();
        for (Measure m : measures) {
            all.of(m)
                    .ifPresent(s -> out.append(out.isEmpty() ? "" : ",")
                            .append(
                                    switch (m) {
                                        case CPU -> "cpu";
                                        case MEM -> "mem";
                                        case VMEM -> "vmem";
                                        case PAGES -> "pages";
                                        case READ, WRITE -> "fs/disk";
                                    })
                            .append('=')
                            .append(shown.apply(most ? s.most() : s.least())));
        }
        return out.toString();
    }

    /** The task, or the node, of the most or the least of one of them; "" where it is not known. */
    static String at(Json.Obj u, Measure what, boolean most, Function<At, String> shown) {
        Optional<Extremes.Span> s = Extremes.parse(u.text("extremes")).of(what);
        return s.map(x -> shown.apply(most ? x.most() : x.least())).orElse("");
    }

    /** @param sum what stands for it where single tasks are not told apart */
    static long most(Json.Obj u, Measure what, String sum) {
        return Extremes.parse(u.text("extremes"))
                .of(what)
                .map(s -> s.most().value())
                .orElse(u.number(sum));
    }

    static String task(At at) {
        return Integer.toString(at.task());
    }

    static String out(Json.Obj u, long written) {
        Metered m = Metered.parse(u.text("metered"));
        return "energy=" + u.number("energyJ") + ",fs/disk=" + written + SacctField.lustre(m, m.fsWriteBytes())
                + SacctField.network(u, "netOutBytes");
    }

    static String leastOut(Json.Obj u) {
        return Extremes.parse(u.text("extremes"))
                .of(Measure.WRITE)
                .map(s -> out(u, s.least().value()))
                .orElse("");
    }

    private static String in(
            Json.Obj u,
            long cpuUs,
            long read,
            long rssKb,
            long pages,
            long vmKb,
            String gpus,
            LongFunction<String> kb) {
        Metered m = Metered.parse(u.text("metered"));
        return "cpu=" + Durations.full(cpuUs / US_PER_S) + ",energy=" + u.number("energyJ") + ",fs/disk=" + read
                + SacctField.lustre(m, m.fsReadBytes()) + gpus + SacctField.network(u, "netInBytes") + ",mem="
                + kb.apply(rssKb)
                + ",pages=" + pages + ",vmem=" + kb.apply(vmKb);
    }
}
