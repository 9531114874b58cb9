package dev.muster.controller;

import dev.muster.core.GresRequest;
import dev.muster.core.Step;
import dev.muster.core.Tres;
import dev.muster.model.BindList;
import dev.muster.model.IndexSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Which of its node's GPUs each task of a step sees: {@code --gpu-bind}, and {@code --gpus-per-task}, which means one's own. */
final class DeviceBinding {
    private DeviceBinding() {}

    /** @return the GPUs of the task with this local index; all of the part's where nothing binds */
    static IndexSet gpus(Step step, Step.Part part, int local) {
        IndexSet all = part.gres().getOrDefault("gpu", IndexSet.empty());
        String bind = kind(step.desc().tresBind());
        int perTask = GresRequest.gpus(Tres.gres(step.desc().request().tresPerTask()));
        if (all.isEmpty() || bind.equals("none")) {
            return all;
        }
        List<Integer> ids = new ArrayList<>();
        for (int d = all.first(); d >= 0; d = all.next(d + 1)) {
            ids.add(d);
        }
        if (bind.startsWith("map_gpu:")) {
            List<String> map = BindList.items(bind.substring(bind.indexOf(':') + 1), false);
            return one(ids, number(map.get(local % map.size())));
        }
        if (bind.startsWith("mask_gpu:")) {
            List<String> masks = BindList.items(bind.substring(bind.indexOf(':') + 1), true);
            return masked(ids, masks.get(local % masks.size()));
        }
        if (bind.startsWith("single:")) {
            return one(ids, local / Math.max(1, number(bind.substring(7))) % ids.size());
        }
        int own = bind.startsWith("per_task:") ? Math.max(1, number(bind.substring(9))) : perTask;
        if (own <= 0) {
            return all;
        }
        IndexSet out = IndexSet.empty();
        for (int k = 0; k < own; k++) {
            out = out.with(ids.get((local * own + k) % ids.size()));
        }
        return out;
    }

    /** {@code gres/gpu:verbose,map_gpu:0,1} → {@code map_gpu:0,1}; {@code map:} is another word for {@code map_gpu:}. */
    private static String kind(String text) {
        String bind = text.toLowerCase(Locale.ROOT).replaceFirst("^gres/gpu:", "").replaceFirst("^(verbose|v)(,|$)", "")
                .replaceFirst("^(map|mask):", "$1_gpu:");
        // an empty list binds nothing
        return bind.equals("map_gpu:") || bind.equals("mask_gpu:") ? "none" : bind;
    }

    private static int number(String text) {
        return text.matches("[0-9]{1,6}") ? Integer.parseInt(text) : 0;
    }

    private static IndexSet one(List<Integer> ids, int index) {
        return IndexSet.of(ids.get(Math.min(index, ids.size() - 1)));
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
