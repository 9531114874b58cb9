package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.view.JobEnvironment;
import dev.muster.controller.view.JobViews;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.model.api.JobMessages;
import dev.muster.scheduler.Scheduler;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * ReqTRES, MinCPUsNode and CPUs/Task of a job: what it asked for, whatever it has got, and what MaxMemPerCPU makes of
 * it.
 */
class AskedTresTest {
    private static final String MEMORY =
            "NodeName=n[1-4] CPUs=8 RealMemory=4000\nPartitionName=p Nodes=ALL Default=YES MaxMemPerCPU=500";

    private static JobMessages.JobInfo info(Site site) {
        State state = site.core().state();
        return new JobViews(state, (Scheduler) site.core().planner(), new DecisionTime(1, 1), "")
                .info(state.jobs().at(1), -1, false);
    }

    /** A running job's ReqTRES is what it was while the job waited. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            tasks=1 exclusive=NODE                | cpu=1,mem=10M,node=1,billing=1
            nodesMin=2 nodesMax=2 exclusive=NODE  | cpu=2,mem=20M,node=2,billing=2
            tasks=6                               | cpu=6,mem=60M,node=1,billing=6
            tasks=3 cpusPerTask=2                 | cpu=6,mem=60M,node=1,billing=6
            nodesMin=1 nodesMax=2 tasks=2         | cpu=2,mem=20M,node=1,billing=2
            nodesMin=1 nodesMax=2                 | cpu=1,mem=10M,node=1,billing=1
            tasks=1 cpusPerNodeMin=3              | cpu=1,mem=10M,node=1,billing=1
            tasksPerNode=2 nodesMin=2 nodesMax=2  | cpu=4,mem=40M,node=2,billing=4
            """)
    void requestedTresOfARunningJobStayAsRequested(String words, String tres) {
        for (boolean runs : List.of(false, true)) {
            Site site = new Site("DefMemPerCPU=10");
            if (runs) {
                site.run(words);
            } else {
                site.submit(words + " timing.hold=true");
            }
            assertThat(info(site).tresRequested()).as("runs: " + runs).isEqualTo(tres);
        }
    }

    /**
     * Memory beyond MaxMemPerCPU brings CPUs: they are no CPUs that were asked for, and none that an srun in the job
     * takes over.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            tasks=3 memPerCpuMb=900                               | cpu=3,mem=2700M,node=1,billing=3 | 6 | 1 | 2 | unset
            tasks=2 cpusPerTask=3 memPerCpuMb=600                 | cpu=6,mem=3600M,node=1,billing=6 | 12 | 3 | 6 | 6
            tasks=1 memPerNodeMb=1200                             | cpu=1,mem=1200M,node=1,billing=1 | 3 | 3 | 3 | unset
            tasks=2 memPerNodeMb=1200                             | cpu=2,mem=1200M,node=1,billing=2 | 4 | 4 | 2 | unset
            nodesMin=2 nodesMax=2 memPerNodeMb=1200               | cpu=2,mem=2400M,node=2,billing=2 | 6 | 3 | 3 | unset
            tasksPerNode=2 nodesMin=2 nodesMax=2 memPerNodeMb=1200 | cpu=4,mem=2400M,node=2,billing=4 | 8 | 4 | 2 | unset
            tasksPerNode=2 nodesMin=2 nodesMax=2 memPerCpuMb=900  | cpu=4,mem=3600M,node=2,billing=4 | 8 | 2 | 2 | unset
            tasks=2 memPerCpuMb=400                               | cpu=2,mem=800M,node=1,billing=2 | 2 | 1 | 0 | unset
            """)
    void cpusAddedForMemoryAreNotRequestedCpus(
            String words, String tres, int cpus, int perNode, int perTask, String variable) {
        Site site = new Site(MEMORY);
        site.run(words);
        JobMessages.JobInfo info = info(site);
        assertThat(info.tresRequested()).isEqualTo(tres);
        assertThat(info.cpus()).isEqualTo(cpus);
        assertThat(info.cpusPerNodeMin()).isEqualTo(perNode);
        assertThat(info.cpusPerTask()).isEqualTo(perTask);
        State state = site.core().state();
        Job job = state.jobs().at(1);
        List<String> environment = JobEnvironment.ofBatch(state, job, Bytes.EMPTY).stream()
                .map(Bytes::text)
                .filter(v -> v.startsWith("SLURM_CPUS_PER_TASK=") || v.startsWith("SLURM_TRES_PER_TASK="))
                .sorted()
                .toList();
        assertThat(environment)
                .isEqualTo(
                        variable.equals("unset")
                                ? List.of()
                                : List.of("SLURM_CPUS_PER_TASK=" + variable, "SLURM_TRES_PER_TASK=cpu=" + variable));
    }
}
