package dev.muster.cli.shape;

import dev.muster.json.Json;
import dev.muster.model.accounting.Extremes;
import dev.muster.model.accounting.Extremes.Measure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Usage of a step's tasks as sacct's steps list it: input under {@code tres.requested}, output under
 * {@code tres.consumed}.
 */
final class StepTresUsage {
    private static final long KIB = 1024;

    private StepTresUsage() {}

    /** @param size of the measure's unit, in the unit of the answer's count: bytes, milliseconds; negative divides */
    private record Tres(Measure measure, String type, String name, long id, long size, String sum, String average) {
        long count(long value) {
            return size < 0 ? value / -size : value * size;
        }
    }

    private static final List<Tres> IN = List.of(
            new Tres(Measure.CPU, "cpu", "", 1, -1000, "", "aveCpuUs"),
            new Tres(Measure.MEM, "mem", "", 2, KIB, "", "aveRssKb"),
            new Tres(Measure.READ, "fs", "disk", 6, 1, "readBytes", ""),
            new Tres(Measure.VMEM, "vmem", "", 7, KIB, "", "aveVmKb"),
            new Tres(Measure.PAGES, "pages", "", 8, 1, "", "avePages"));
    private static final List<Tres> OUT = List.of(new Tres(Measure.WRITE, "fs", "disk", 6, 1, "writeBytes", ""));
    private static final long ENERGY = 3;

    static Json.Obj in(Json.Obj step) {
        return of(step, IN);
    }

    static Json.Obj out(Json.Obj step) {
        return of(step, OUT);
    }

    private static Json.Obj of(Json.Obj step, List<Tres> kinds) {
        return new Json.Obj()
                .put("max", extreme(step, kinds, true))
                .put("min", extreme(step, kinds, false))
                .put("average", sums(step, kinds, Math.max(1, step.number("tasks"))))
                .put("total", sums(step, kinds, 1));
    }

    private static Json.Obj entry(String type, String name, long id, long count) {
        return new Json.Obj().put("type", type).put("name", name).put("id", id).put("count", count);
    }

    private static List<Object> extreme(Json.Obj step, List<Tres> kinds, boolean isMax) {
        Json.Obj usage = step.obj("usage");
        Extremes extremes = Extremes.parse(usage.text("extremes"));
        List<Object> out = new ArrayList<>();
        List<Object> nodes = Tree.hosts(step.text("nodes"));
        for (Tres tres : kinds) {
            Optional<Extremes.Span> span = extremes.of(tres.measure);
            if (span.isPresent()) {
                Extremes.At at = isMax ? span.get().most() : span.get().least();
                energy(out, tres, usage, nodes);
                out.add(entry(tres.type, tres.name, tres.id, tres.count(at.value()))
                        .put("task", (long) at.task())
                        .put("node", at.node()));
            }
        }
        return out;
    }

    /** Inserts energy in the order of ids; sensors measure nodes, not tasks. */
    private static void energy(List<Object> out, Tres next, Json.Obj usage, List<Object> nodes) {
        boolean listed = out.stream().anyMatch(o -> ((Json.Obj) o).number("id") == ENERGY);
        if (next.id > ENERGY && !listed) {
            out.add(entry("energy", "", ENERGY, usage.number("energyJ"))
                    .put("task", 0L)
                    .put("node", nodes.isEmpty() ? "" : nodes.getFirst()));
        }
    }

    /** @param share 1 for all tasks together, the number of tasks for the average */
    private static List<Object> sums(Json.Obj step, List<Tres> kinds, long share) {
        Json.Obj usage = step.obj("usage");
        List<Object> out = new ArrayList<>();
        long tasks = Math.max(1, step.number("tasks"));
        for (Tres tres : kinds) {
            if (tres.id > ENERGY && out.stream().noneMatch(o -> ((Json.Obj) o).number("id") == ENERGY)) {
                out.add(entry("energy", "", ENERGY, usage.number("energyJ") / share));
            }
            long all;
            if (tres.measure == Measure.CPU) {
                all = usage.number("userCpuUs") + usage.number("systemCpuUs");
            } else if (tres.sum.isEmpty()) {
                all = usage.number(tres.average) * tasks;
            } else {
                all = usage.number(tres.sum);
            }

            out.add(entry(tres.type, tres.name, tres.id, tres.count(all / share)));
        }
        return out;
    }
}
