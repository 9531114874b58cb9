package dev.muster.controller.view;

import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.Tres;
import dev.muster.model.format.BindList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.StepDesc;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Chooses the GPUs of its node that each task of a step sees: {@code --gpu-bind}, and {@code --gpus-per-task}, which
 * means one's own.
 */
final class DeviceBinding {
    private final List<Integer> ids = new ArrayList<>();
    /** Number of tasks that are bound to each device. */
    private final Map<Integer, Integer> bound = new HashMap<>();

    private DeviceBinding(IndexSet all) {
        for (int d = all.first(); d >= 0; d = all.next(d + 1)) {
            ids.add(d);
        }
    }

    /**
     * @param near by task the GPUs near its cores, also those of other steps
     * @param all the step's GPUs on the node
     * @return the GPUs of each task; all of them without a binding. A task without any GPU gets the first.
     */
    static List<IndexSet> gpus(StepDesc desc, IndexSet all, List<IndexSet> near) {
        String bind = kind(desc.tresBind());
        int perTask = GresRequest.gpus(Tres.gres(desc.request().tresPerTask()));
        DeviceBinding binding = new DeviceBinding(all);
        List<IndexSet> out = new ArrayList<>();
        for (int local = 0; local < near.size(); local++) {
            IndexSet close = all.intersect(near.get(local));
            IndexSet own;
            if (all.isEmpty() || bindsNothing(bind)) {
                own = all;
            } else {
                own = binding.one(bind, perTask, local, close.isEmpty() ? all : close);
            }

            out.add(own.isEmpty() && !all.isEmpty() ? IndexSet.of(all.first()) : own);
        }
        return out;
    }

    /** Tests whether the binding names no GPU; a list may be empty, as in Slurm. */
    private static boolean bindsNothing(String bind) {
        return bind.equals("none") || bind.endsWith(":");
    }

    private IndexSet one(String bind, int perTask, int local, IndexSet close) {
        if (bind.startsWith("map_gpu:")) {
            List<String> map = BindList.items(bind.substring(bind.indexOf(':') + 1), false);
            int index = number(map.get(local % map.size()));
            return index < ids.size() ? IndexSet.of(ids.get(index)) : IndexSet.empty();
        }
        if (bind.startsWith("mask_gpu:")) {
            List<String> masks = BindList.items(bind.substring(bind.indexOf(':') + 1), true);
            return masked(ids, masks.get(local % masks.size()));
        }
        if (bind.equals("closest")) {
            return close;
        }
        if (bind.startsWith("single:")) {
            int tasksPerDevice = Math.max(1, number(bind.substring(7)));
            int leastUsed = ids.stream()
                    .filter(close::contains)
                    .min(Comparator.comparingInt(id -> bound.getOrDefault(id, 0) / tasksPerDevice))
                    .orElseThrow();
            bound.merge(leastUsed, 1, Integer::sum);
            return IndexSet.of(leastUsed);
        }
        int own = bind.startsWith("per_task:") ? Math.max(1, number(bind.substring(9))) : perTask;
        IndexSet out = IndexSet.empty();
        List<Integer> nearest = ids.stream()
                .sorted(Comparator.comparing(id -> !close.contains(id)))
                .toList();
        for (int id : own > 0 ? nearest : ids) {
            if (own <= 0 || out.count() < own && bound.putIfAbsent(id, 1) == null) {
                out = out.with(id);
            }
        }
        return out;
    }

    /**
     * {@code gres/gpu:verbose,map_gpu:0,1} → {@code map_gpu:0,1}; {@code map:} is another word for {@code map_gpu:}.
     */
    private static String kind(String text) {
        String bind = text.toLowerCase(Locale.ROOT)
                .replaceFirst("^gres/gpu:", "")
                .replaceFirst("^(verbose|v)(,|$)", "")
                .replaceFirst("^(map|mask):", "$1_gpu:");
        // an empty list binds nothing
        return bind.equals("map_gpu:") || bind.equals("mask_gpu:") ? "none" : bind;
    }

    private static int number(String text) {
        return text.matches("[0-9]{1,6}") ? Integer.parseInt(text) : 0;
    }

    private static IndexSet masked(List<Integer> ids, String mask) {
        String digits = mask.toLowerCase(Locale.ROOT).replaceFirst("^0x", "");
        long bits = digits.matches("[0-9a-f]{1,15}") ? Long.parseLong(digits, 16) : 0;
        IndexSet out = IndexSet.empty();
        for (int i = 0; i < ids.size(); i++) {
            out = (bits >> i & 1) != 0 ? out.with(ids.get(i)) : out;
        }
        return out;
    }
}
