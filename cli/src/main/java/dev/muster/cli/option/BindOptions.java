package dev.muster.cli.option;

import dev.muster.cli.command.UsageException;
import dev.muster.model.job.CpuBind;
import dev.muster.model.job.MemBind;
import java.util.List;

/** Checks {@code --cpu-bind}, {@code --mem-bind} and {@code --hint}, and prints their help. */
final class BindOptions {
    private static final int MEM_BIND_EXIT = 255;

    private static final List<String> CPU_HELP = List.of(
            "CPU bind options:",
            "    --cpu-bind=         which CPUs a task may run on",
            "        q[uiet]         say nothing about it (default)",
            "        v[erbose]       say which before the task runs",
            "        no[ne]          any of the step's",
            "        rank            the CPU of the task's rank on its node",
            "        map_cpu:<list>  CPU numbers, one per task",
            "        mask_cpu:<list> hexadecimal masks of CPUs, one per task",
            "        rank_ldom       the NUMA node of the task's rank on its node",
            "        map_ldom:<list> NUMA node numbers, one per task",
            "        mask_ldom:<list>hexadecimal masks of NUMA nodes, one per task",
            "        sockets         the sockets of its CPUs",
            "        cores           the cores of its CPUs",
            "        threads         its CPUs",
            "        ldoms           the NUMA nodes of its CPUs",
            "        help            these lines");
    private static final List<String> MEM_HELP = List.of(
            "Memory bind options:",
            "    --mem-bind=         which NUMA nodes' memory a task gets",
            "        nosort          pages are not sorted first",
            "        sort            pages are sorted first",
            "        p[refer]        other memory when that is used up",
            "        q[uiet]         say nothing about it (default)",
            "        v[erbose]       say which before the task runs",
            "        no[ne]          any (default)",
            "        rank            the NUMA node of the task's rank on its node",
            "        local           that of its CPUs",
            "        map_mem:<list>  NUMA node numbers, one per task",
            "        mask_mem:<list> hexadecimal masks of NUMA nodes, one per task",
            "        help            these lines");
    private static final List<String> HINT_HELP = List.of(
            "Application hint options:",
            "    --hint=             what the program needs most",
            "        compute_bound   all cores of each socket",
            "        memory_bound    one core of each socket",
            "        [no]multithread [not] several threads of a core",
            "        help            these lines");

    private BindOptions() {}

    static String checked(JobOptions options, JobOption option, String value) throws UsageException {
        help(options, option, value);
        boolean cpus = option == JobOption.CPU_BIND;
        String error;
        if (value.isEmpty()) {
            error = "unrecognized --" + option.longName + " argument \"\"";
        } else if (cpus) {
            error = CpuBind.mistake(value);
        } else {
            error = MemBind.mistake(value);
        }

        if (error.isEmpty()) {
            return value;
        }
        String name = options.context().name();
        throw cpus
                ? new UsageException(
                        1, List.of(name + ": error: " + error, name + ": fatal: Failed to parse --cpu-bind= values."))
                : new UsageException(MEM_BIND_EXIT, List.of(name + ": error: " + error));
    }

    /** Ends the command with the lines if these were asked for. */
    static void help(JobOptions options, JobOption option, String value) throws UsageException {
        if (!value.equalsIgnoreCase("help")) {
            return;
        }
        List<String> lines;
        if (option == JobOption.CPU_BIND) {
            lines = CPU_HELP;
        } else if (option == JobOption.MEM_BIND) {
            lines = MEM_HELP;
        } else {
            lines = HINT_HELP;
        }

        lines.forEach(options.context().out()::println);
        options.context().out().println("");
        throw new UsageException(option == JobOption.MEM_BIND ? MEM_BIND_EXIT : 1, List.of());
    }
}
