package dev.muster.cli.request;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.model.format.Digits;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Refuses GPU options of one command line that contradict each other. */
final class GpuCheck {
    private static final String SPEC = "Failed to validate job spec";
    /** Resources that cannot be requested per task. */
    private static final List<String> UNCOUNTED = List.of("mem", "node", "billing", "energy", "vmem", "pages");

    private static final String UNEQUAL = "Failed to ensure --gpus >= --gres=gpu/--gpus-per-node >= --gpus-per-socket";

    private final JobOptions options;

    private GpuCheck(JobOptions options) {
        this.options = options;
    }

    static void check(JobOptions options) throws UsageException {
        new GpuCheck(options).check();
    }

    /** Returns whether a step requests GPUs of its own, which replace the job's GPUs per node. */
    static boolean hasStepGpus(JobOptions options) {
        return options.command() == 'R'
                && !options.context().env("SLURM_JOB_ID").isEmpty()
                && (options.typed(JobOption.GPUS)
                        || options.typed(JobOption.GRES)
                                && Texts.split(options.text(JobOption.GRES), ',').stream()
                                        .anyMatch(item -> ofGpu(item) != null));
    }

    private void check() throws UsageException {
        refuseSharedWithWhole();
        perTask();
        long gres = ofGres();
        boolean cpusInTres = options.typed(JobOption.TRES_PER_TASK)
                && options.text(JobOption.TRES_PER_TASK).matches("(.*,)?cpu[=:].*");
        if (options.typed(JobOption.CPUS_PER_TASK) && cpusInTres) {
            throw fatal("You can not have --tres-per-task=cpu= and --cpus-per-task please use one or the other");
        }
        if (options.typed(JobOption.GPUS_PER_NODE) && options.typed(JobOption.GRES) && gres > 0) {
            throw fatal("--gpus-per-node and --gres=gpu are mutually exclusive.");
        }
        if (options.typed(JobOption.CPUS_PER_GPU) && (options.typed(JobOption.CPUS_PER_TASK) || cpusInTres)) {
            throw fatal("--cpus-per-task, --tres-per-task=cpu:#, and --cpus-per-gpu are mutually exclusive");
        }
        tasksPerGpu();
        boolean sockets = options.has(JobOption.SOCKETS_PER_NODE) || options.has(JobOption.EXTRA_NODE_INFO);
        if (options.typed(JobOption.GPUS_PER_SOCKET) && !sockets) {
            throw error("--gpus-per-socket option requires --sockets-per-node specification");
        }
        sums(gres);
        types();
        memory(gres);
    }

    /** Parts of GPUs, mps and shard, do not go with whole ones. */
    private void refuseSharedWithWhole() throws UsageException {
        boolean parts = (options.text(JobOption.GRES) + "," + options.text(JobOption.TRES_PER_TASK))
                .matches("(.*[,/])?(mps|shard)([:=,].*)?");
        if (parts
                && (ofGres() > 0
                        || options.has(JobOption.GPUS)
                        || options.has(JobOption.GPUS_PER_NODE)
                        || options.has(JobOption.GPU_FREQ))) {
            throw new UsageException(
                    options.exitError(1),
                    List.of(options.context().name() + ": error: Invalid generic resource (gres) specification"));
        }
    }

    /** Refuses resources of --tres-per-task that are invalid or that another option requests as well. */
    private void perTask() throws UsageException {
        if (!options.typed(JobOption.TRES_PER_TASK)) {
            return;
        }
        for (String item : Texts.split(options.text(JobOption.TRES_PER_TASK), ',')) {
            int end;
            if (item.indexOf('=') >= 0) {
                end = item.indexOf('=');
            } else if (item.indexOf(':') >= 0) {
                end = item.indexOf(':');
            } else {
                end = item.length();
            }

            String name = Texts.lower(item.substring(0, end));
            if (UNCOUNTED.contains(name)) {
                throw fatal("Invalid TRES for --tres-per-task: " + name);
            }
            if (name.equals("cpu") && (end == item.length() || Digits.parseNumber(item.substring(end + 1)) < 1)) {
                throw fatal("Invalid --tres-per-task=cpu=0");
            }
            if (name.equals("cpu") && Digits.parseNumber(item.substring(end + 1)) > Integer.MAX_VALUE) {
                throw fatal("Invalid --tres-per-task=cpu=" + item.substring(end + 1));
            }
            if (name.equals("cpu") && options.typed(JobOption.CPUS_PER_TASK)) {
                throw fatal("You can not have --tres-per-task=cpu= and --cpus-per-task please use one or the other");
            }
            if (areGpusIn(item) && options.typed(JobOption.GPUS_PER_TASK)) {
                throw fatal(
                        "You can not have --tres-per-task=gres/gpu= and --gpus-per-task please use one or the other");
            }
        }
    }

    /** Returns whether the item requests GPUs. */
    static boolean areGpusIn(String tresPerTask) {
        return Texts.split(tresPerTask, ',').stream().anyMatch(item -> item.matches("gres[/:]gpu([:=].*)?"));
    }

    /** Returns the GPUs per task from the command line. */
    private long ofTask() {
        long sum = typedCount(JobOption.GPUS_PER_TASK);
        for (String item :
                Texts.split(options.typed(JobOption.TRES_PER_TASK) ? options.text(JobOption.TRES_PER_TASK) : "", ',')) {
            sum += areGpusIn(item)
                    ? count(item.replace('=', ':')
                            .substring(item.replace('=', ':').lastIndexOf(':') + 1))
                    : 0;
        }
        return sum;
    }

    /** Refuses a mixture of typed and untyped GPUs. */
    private void types() throws UsageException {
        boolean typed = false;
        boolean plain = false;
        for (JobOption option :
                List.of(JobOption.GPUS, JobOption.GPUS_PER_NODE, JobOption.GPUS_PER_SOCKET, JobOption.GPUS_PER_TASK)) {
            for (String item : Texts.split(options.typed(option) ? options.text(option) : "", ',')) {
                typed |= item.indexOf(':') >= 0;
                plain |= item.indexOf(':') < 0;
            }
        }
        for (String item : Texts.split(options.typed(JobOption.GRES) ? options.text(JobOption.GRES) : "", ',')) {
            String of = ofGpu(item);
            typed |= of != null
                    && !of.isEmpty()
                    && Digits.parseNumber(of.indexOf(':') < 0 ? of : of.substring(0, of.indexOf(':'))) < 0;
            plain |= of != null && (of.isEmpty() || of.indexOf(':') < 0 && Digits.parseNumber(of) >= 0);
        }
        if (typed && plain) {
            throw new UsageException(
                    options.exitError(1),
                    List.of(options.context().name()
                            + ": error: Invalid GRES specification (with and without type identification)"));
        }
    }

    /** Refuses memory or CPUs per GPU without GPUs. A step may mean those of its job. */
    private void memory(long gres) throws UsageException {
        boolean gpus = gres > 0
                || options.text(JobOption.TRES_PER_TASK).contains("gpu")
                || !options.context().env("SLURM_JOB_ID").isEmpty();
        for (JobOption option : List.of(
                JobOption.GPUS,
                JobOption.GPUS_PER_NODE,
                JobOption.GPUS_PER_SOCKET,
                JobOption.GPUS_PER_TASK,
                JobOption.NTASKS_PER_GPU)) {
            gpus |= options.has(option) && count(options.text(option)) > 0
                    || option.variables(options.command()).stream()
                            .anyMatch(v -> count(options.context().env(v)) > 0);
        }
        for (JobOption option : List.of(JobOption.GRES, JobOption.TRES_PER_TASK)) {
            gpus |= option.variables(options.command()).stream()
                    .anyMatch(v -> options.context().env(v).contains("gpu"));
        }
        if (!gpus && options.typed(JobOption.CPUS_PER_GPU)) {
            throw error("Requested cpus_per_tres=gres/gpu:" + options.text(JobOption.CPUS_PER_GPU)
                    + " but did not request any GPU.");
        }
        if (!gpus && options.typed(JobOption.MEM_PER_GPU)) {
            throw error("Requested mem_per_tres=gres/gpu:" + options.text(JobOption.MEM_PER_GPU)
                    + " but did not request any GPU.");
        }
    }

    /** Refuses contradicting counts of tasks per GPU. */
    private void tasksPerGpu() throws UsageException {
        for (JobOption rival : List.of(JobOption.GPUS_PER_TASK, JobOption.GPUS_PER_SOCKET, JobOption.NTASKS_PER_NODE)) {
            if (options.typed(JobOption.NTASKS_PER_GPU) && options.typed(rival)) {
                throw fatal("--" + rival.longName
                        + " is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU");
            }
        }
        if (options.typed(JobOption.NTASKS_PER_GPU)
                && options.typed(JobOption.NTASKS)
                && options.number(JobOption.NTASKS) % Math.max(1, options.number(JobOption.NTASKS_PER_GPU)) != 0) {
            throw error(SPEC + ", -n/--ntasks has to be a multiple of --ntasks-per-gpu.");
        }
        boolean counted = options.has(JobOption.NTASKS)
                || options.has(JobOption.GPUS)
                || options.command() == 'R' && options.has(JobOption.NTASKS_PER_NODE)
                || options.has(JobOption.NODES) && Digits.parseNumber(options.text(JobOption.NODES)) > 0
                || !options.context().env("SLURM_JOB_ID").isEmpty();
        if (ofTask() > 0 && !counted) {
            throw error(SPEC
                    + ". --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.");
        }
    }

    private void sums(long gres) throws UsageException {
        long job = typedCount(JobOption.GPUS);
        long node;
        if (options.typed(JobOption.GPUS_PER_NODE)) {
            node = count(options.text(JobOption.GPUS_PER_NODE));
        } else if (options.typed(JobOption.GRES)) {
            node = gres;
        } else {
            node = 0;
        }

        long socket = typedCount(JobOption.GPUS_PER_SOCKET);
        boolean unequal = job > 0 && node > job || job > 0 && socket > job || node > 0 && socket > node;
        if (unequal) {
            throw error(UNEQUAL);
        }
        nodes(job, node);
        if (node > 0
                && socket > 0
                && options.has(JobOption.SOCKETS_PER_NODE)
                && node / socket != options.number(JobOption.SOCKETS_PER_NODE)) {
            throw error(SPEC
                    + ". Based on --gres=gpu/--gpus-per-node and --gpus-per-socket required number of sockets differ "
                    + "from "
                    + "--sockets-per-node.");
        }
        tasks(job, node, ofTask());
    }

    private void nodes(long job, long node) throws UsageException {
        String range = options.typed(JobOption.NODES) ? options.text(JobOption.NODES) : "";
        int dash = range.indexOf('-');
        long minimum;
        if (range.isEmpty()) {
            minimum = 0;
        } else {
            minimum = Digits.parseNumber(dash < 0 ? range : range.substring(0, dash));
        }

        long maximum;
        if (range.isEmpty()) {
            maximum = Long.MAX_VALUE;
        } else {
            maximum = Digits.parseNumber(dash < 0 ? range : range.substring(dash + 1));
        }

        if (job > 0 && job < minimum) {
            throw error(SPEC + ", --gpus < -N");
        }
        if (job == 0 || node == 0) {
            return;
        }
        if (job % node != 0) {
            throw error(SPEC + ", --gpus is not multiple of --gres=gpu/--gpus-per-node");
        }
        if (job / node < minimum || job / node > maximum) {
            throw error(SPEC + ". Based on --gpu and --gres=gpu/--gpus-per-node required nodes (" + job / node
                    + ") doesn't fall between min_nodes (" + minimum + ") and max_nodes (" + maximum + ") boundaries.");
        }
    }

    private void tasks(long job, long node, long task) throws UsageException {
        if (task > 0
                && node > 0
                && options.typed(JobOption.NTASKS_PER_NODE)
                && node / task != options.number(JobOption.NTASKS_PER_NODE)) {
            throw error(SPEC
                    + ". Based on --gres=gpu/--gpus-per-node and --gpus-per-task requested number of tasks per node "
                    + "differ from "
                    + "--ntasks-per-node.");
        }
        if (task > 0 && node > 0 && node % task != 0) {
            throw error(SPEC + ", --gres=gpu/--gpus-per-node not multiple of --gpus-per-task.");
        }
        if (task > 0 && job > 0 && job % task != 0) {
            throw error(SPEC + ", --gpus not multiple of --gpus-per-task");
        }
        if (task > 0 && job > 0 && options.typed(JobOption.NTASKS) && job / task != options.number(JobOption.NTASKS)) {
            throw error(
                    SPEC + ". Based on --gpus and --gpus-per-task number of requested tasks differ from -n/--ntasks.");
        }
    }

    private long typedCount(JobOption option) {
        return options.typed(option) ? count(options.text(option)) : 0;
    }

    /** {@code 2}, {@code a100:2,v100:1}: together. */
    private static long count(String text) {
        long sum = 0;
        for (String item : Texts.split(text, ',')) {
            long n = Digits.parseNumber(item.substring(item.lastIndexOf(':') + 1));
            sum += n < 0 ? 1 : n;
        }
        return sum;
    }

    private long ofGres() {
        long sum = 0;
        for (String item : Texts.split(options.text(JobOption.GRES), ',')) {
            String of = ofGpu(item);
            if (of != null) {
                sum += of.isEmpty() ? 1 : count(of);
            }
        }
        return sum;
    }

    /** Returns the GPU part of an item of --gres; null if the item is not about GPUs. */
    private static @Nullable String ofGpu(String item) {
        String plain = item.startsWith("gres/") || item.startsWith("gres:") ? item.substring(5) : item;
        if (plain.equals("gpu")) {
            return "";
        }
        if (plain.startsWith("gpu:")) {
            return plain.substring(4);
        }
        return null;
    }

    private UsageException fatal(String sentence) {
        return new UsageException(
                CommandContext.FATAL_EXIT, List.of(options.context().name() + ": fatal: " + sentence));
    }

    /** Makes the error. A cluster without GPUs reports the invalid specification alone. */
    private UsageException error(String sentence) {
        String invalid = options.context().name() + ": error: Invalid generic resource (gres) specification";
        List<String> lines = hasConfiguredGpus()
                ? List.of(options.context().name() + ": error: " + sentence, invalid)
                : List.of(invalid);
        return new UsageException(options.exitError(1), lines);
    }

    private boolean hasConfiguredGpus() {
        return options.context().host().settings().gresTypes.contains("gpu");
    }
}
