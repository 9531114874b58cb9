package dev.muster.cli.request;

import dev.muster.cli.command.Texts;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import java.util.List;

/** Combines --tres-bind, --gpu-bind and the counts of GPUs per task to the binding of tasks to GPUs. */
final class GpuBinding {
    private static final String OF_GPUS = "gres/gpu:";

    private GpuBinding() {}

    /** Returns the binding in the form of --tres-bind; "" if unset. Typed options precede environment variables. */
    static String of(JobOptions options) {
        for (boolean typed : List.of(true, false)) {
            if (isSet(options, JobOption.TRES_BIND, typed)) {
                return options.text(JobOption.TRES_BIND);
            }
            if (isSet(options, JobOption.GPU_BIND, typed)) {
                return OF_GPUS + options.text(JobOption.GPU_BIND);
            }
            // srun in a batch script learns the tasks per GPU from SLURM_NTASKS_PER_GPU
            if (options.command() == 'R' && isSet(options, JobOption.NTASKS_PER_GPU, typed)) {
                return OF_GPUS + "single:" + options.text(JobOption.NTASKS_PER_GPU);
            }
            String each = perTask(options, typed);
            if (!each.isEmpty()) {
                return OF_GPUS + "per_task:" + each;
            }
        }
        return "";
    }

    private static boolean isSet(JobOptions options, JobOption option, boolean typed) {
        return (typed ? options.typed(option) : options.has(option))
                && !options.text(option).isEmpty();
    }

    /** Returns the number of each task's own GPUs; "" for none. */
    private static String perTask(JobOptions options, boolean typed) {
        if (isSet(options, JobOption.GPUS_PER_TASK, typed)) {
            return count(options.text(JobOption.GPUS_PER_TASK));
        }
        for (String item : isSet(options, JobOption.TRES_PER_TASK, typed)
                ? Texts.split(options.text(JobOption.TRES_PER_TASK), ',')
                : List.<String>of()) {
            if (item.matches("gres/gpu[:=].*")) {
                return count(item);
            }
        }
        return "";
    }

    /** Returns the number behind the last colon or equals sign; "" without one. */
    private static String count(String text) {
        String last = text.substring(Math.max(text.lastIndexOf(':'), text.lastIndexOf('=')) + 1);
        return Texts.isNumber(last) && !last.matches("0+") ? last : "";
    }
}
