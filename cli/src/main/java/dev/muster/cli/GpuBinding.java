package dev.muster.cli;

import java.util.List;

/** How tasks are bound to GPUs: what --tres-bind, --gpu-bind and the counts of GPUs per task say together. */
final class GpuBinding {
    private static final String OF_GPUS = "gres/gpu:";

    private GpuBinding() {}

    /** As --tres-bind has it; "" where nothing is said. What is typed goes before what variables say. */
    static String of(JobOptions o) {
        for (boolean typed : List.of(true, false)) {
            if (said(o, JobOption.TRES_BIND, typed)) {
                return o.text(JobOption.TRES_BIND);
            }
            if (said(o, JobOption.GPU_BIND, typed)) {
                return OF_GPUS + o.text(JobOption.GPU_BIND);
            }
            // tasks of a batch script's steps: srun there is told of it by SLURM_NTASKS_PER_GPU
            if (o.command() == 'R' && said(o, JobOption.NTASKS_PER_GPU, typed)) {
                return OF_GPUS + "single:" + o.text(JobOption.NTASKS_PER_GPU);
            }
            String each = perTask(o, typed);
            if (!each.isEmpty()) {
                return OF_GPUS + "per_task:" + each;
            }
        }
        return "";
    }

    private static boolean said(JobOptions o, JobOption option, boolean typed) {
        return (typed ? o.typed(option) : o.has(option)) && !o.text(option).isEmpty();
    }

    /** The number of GPUs that each task has of its own; "" for none. */
    private static String perTask(JobOptions o, boolean typed) {
        if (said(o, JobOption.GPUS_PER_TASK, typed)) {
            return count(o.text(JobOption.GPUS_PER_TASK));
        }
        for (String item : said(o, JobOption.TRES_PER_TASK, typed) ? Texts.split(o.text(JobOption.TRES_PER_TASK), ',') : List.<String>of()) {
            if (item.matches("gres/gpu[:=].*")) {
                return count(item);
            }
        }
        return "";
    }

    /** The number behind the last colon or equals sign, where there is one. */
    private static String count(String text) {
        String last = text.substring(Math.max(text.lastIndexOf(':'), text.lastIndexOf('=')) + 1);
        return Texts.isNumber(last) && !last.matches("0+") ? last : "";
    }
}
