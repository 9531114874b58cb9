package dev.muster.model.job;

import dev.muster.json.Bytes;
import java.util.List;
import java.util.Map;

/**
 * A step as srun asks for it.
 *
 * @param request its share of the allocation; {@code exclusive == NODE} is srun's {@code --exclusive}; its list of
 *     nodes is {@code -w} within the allocation
 * @param overlap {@code --overlap}: may share CPUs, memory and GRES with other steps
 * @param wholeNodes {@code --whole}
 * @param relative {@code -r}: index of the first node within the allocation, -1 for the first of all, 0 if nothing is
 *     said
 * @param arguments argv of the program; where multiProg is set, what each of its programs gets behind its own arguments
 * @param multiProg text of a {@code --multi-prog} file: one "ranks program args" line each; empty for none
 * @param environment NAME=value entries
 * @param killOnBadExit {@code -K}
 * @param waitSeconds {@code -W}; 0 for no limit
 * @param ptyRows rows of the caller's terminal where pty is set
 * @param cpuBind {@code --cpu-bind} as written
 * @param memBind {@code --mem-bind} as written
 * @param immediateFail fail at once if the step's resources are busy ({@code -I})
 * @param limits as in {@link JobDesc.Payload}
 * @param tresBind {@code --gpu-bind} and {@code --tres-bind} as {@code gres/gpu:map_gpu:0,1}
 * @param oomKillStep {@code --oom-kill-step}: 1, 0 or "" for what the job or the configuration says
 * @param acctgFreq {@code --acctg-freq} as written; "" for the job's
 * @param resvPorts {@code --resv-ports}: how many ports of MpiParams the step has for itself on its nodes
 * @param debugLevel {@code --slurmd-debug}: what its nodes tell on its standard error, 4 verbose, 5 debug; 0 for
 *     nothing
 * @param waitForChildren it has ended when none of its processes is left, not with its last task
 * @param profile {@code --profile} as written; "" for the job's
 * @param async {@code --async}: no srun waits for it; it writes files on its nodes, and is queued while the resources
 *     that it needs are busy
 * @param cpuFreq {@code --cpu-freq} as written; the node reads it from the environment
 * @param containerId {@code --container-id}, by which others find the step
 * @param awaitsCaller its tasks begin when srun comes for their streams: a program of its own (SrunProlog) goes first
 * @param interactive {@code --interactive}: the shell of an allocation, which is told what a batch script is
 */
public record StepDesc(
        String name,
        ResourceRequest request,
        boolean overlap,
        boolean wholeNodes,
        int relative,
        int timeLimitMin,
        String cpuBind,
        String memBind,
        String mpi,
        List<Bytes> arguments,
        Bytes multiProg,
        List<Bytes> environment,
        Bytes workDir,
        IoSpec io,
        boolean killOnBadExit,
        boolean noKill,
        int waitSeconds,
        boolean pty,
        int ptyRows,
        int ptyColumns,
        boolean preserveEnv,
        Bytes taskProlog,
        Bytes taskEpilog,
        int umask,
        int immediateFail,
        String container,
        String submitHost,
        int submitPid,
        Bytes submitLine,
        Map<String, Long> limits,
        String tresBind,
        String oomKillStep,
        String acctgFreq,
        int resvPorts,
        boolean async,
        int debugLevel,
        boolean waitForChildren,
        String cpuFreq,
        String containerId,
        String profile,
        boolean awaitsCaller,
        boolean interactive) {

    public StepDesc withTimeLimit(int minutes) {
        return with(minutes, cpuBind, environment, tresBind, oomKillStep, acctgFreq, profile);
    }

    public StepDesc withEnvironment(List<Bytes> entries) {
        return with(timeLimitMin, cpuBind, entries, tresBind, oomKillStep, acctgFreq, profile);
    }

    /** Sets options that the step leaves open. */
    public StepDesc withDefaults(String cpus, String tres, String oomKill, String sampling, String profiled) {
        return with(
                timeLimitMin,
                cpuBind.isEmpty() ? cpus : cpuBind,
                environment,
                tresBind.isEmpty() ? tres : tresBind,
                oomKillStep.isEmpty() ? oomKill : oomKillStep,
                acctgFreq.isEmpty() ? sampling : acctgFreq,
                profile.isEmpty() ? profiled : profile);
    }

    private StepDesc with(
            int minutes,
            String cpus,
            List<Bytes> entries,
            String tres,
            String oomKill,
            String sampling,
            String profiled) {
        return new StepDesc(
                name,
                request,
                overlap,
                wholeNodes,
                relative,
                minutes,
                cpus,
                memBind,
                mpi,
                arguments,
                multiProg,
                entries,
                workDir,
                io,
                killOnBadExit,
                noKill,
                waitSeconds,
                pty,
                ptyRows,
                ptyColumns,
                preserveEnv,
                taskProlog,
                taskEpilog,
                umask,
                immediateFail,
                container,
                submitHost,
                submitPid,
                submitLine,
                limits,
                tres,
                oomKill,
                sampling,
                resvPorts,
                async,
                debugLevel,
                waitForChildren,
                cpuFreq,
                containerId,
                profiled,
                awaitsCaller,
                interactive);
    }

    /**
     * Where a step's streams go.
     *
     * @param stdin "" or "all": from srun to all tasks; "none": /dev/null; "N": from srun to task N; else a file
     *     pattern opened on the node
     * @param stdout "" or "all": to srun; "none": discarded; "N": only task N to srun; else a file pattern opened on
     *     the node
     * @param stderr as stdout; "" follows stdout where that is a file
     * @param openMode {@code append}, {@code truncate} or ""
     */
    public record IoSpec(
            Bytes stdin, Bytes stdout, Bytes stderr, String openMode, boolean labelled, boolean unbuffered) {}
}
