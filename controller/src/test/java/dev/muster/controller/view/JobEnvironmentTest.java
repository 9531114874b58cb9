package dev.muster.controller.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.model.job.ExitStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

class JobEnvironmentTest {
    /** Prologs have the variables that the guide to prologs and epilogs lists for Prolog. */
    @Test
    void prologsKnowTheJobsFilesAndWhatItHas() {
        Site site = new Site("DefMemPerCPU=1");
        site.run("tasks=2 files.stderr=ZXJy files.workDir=L3c=");
        State state = site.core().state();
        assertThat(JobEnvironment.ofHooks(state, state.jobs().at(1)))
                .contains(
                        "SLURM_JOB_CPUS_PER_NODE=2",
                        "SLURM_JOB_OVERSUBSCRIBE=NO",
                        "SLURM_JOB_EXCLUSIVE=NO",
                        "SLURM_JOB_STDIN=/dev/null",
                        "SLURM_JOB_STDOUT=/w/slurm-1.out",
                        "SLURM_JOB_STDERR=/w/err",
                        "SLURM_JOB_NTASKS=2",
                        "SLURM_NODELIST=n1",
                        "SLURM_JOB_CORE_SPEC_COUNT=0",
                        "SLURM_JOB_CORE_SPEC_TYPE=cores",
                        "SLURM_JOB_END_TIME=" + (state.jobs().at(1).run().startTime() + 31_536_000));
        assertThat(JobEnvironment.ofController(state, state.jobs().at(1), "prolog_slurmctld"))
                .doesNotContainKeys("SLURM_NODELIST", "SLURM_JOB_NTASKS");
    }

    /** Libraries tell a script's environment from a step's by SLURM_STEP_ID. */
    @Test
    void aBatchScriptHasAStepId() {
        Site site = new Site("DefMemPerCPU=1");
        site.run("tasks=2");
        State state = site.core().state();
        assertThat(JobEnvironment.ofBatch(state, state.jobs().at(1), Bytes.EMPTY))
                .map(Bytes::text)
                .contains("SLURM_STEP_ID=-5", "SLURM_STEPID=-5");
    }

    /** srun says how its step ended before the step's nodes have. */
    @Test
    void theJobOfAnSrunEndsAsItsStep() {
        Site site = new Site("DefMemPerCPU=1");
        site.run("tasks=1 kind=RUN");
        Job started = site.core().state().jobs().at(1);
        site.apply(new Command.CompleteAllocation(started.desc().owner().uid(), 1, ExitStatus.exited(7)));
        State state = site.core().state();
        List<String> ends = JobEnvironment.ofEpilog(state.jobs().at(1));
        assertThat(ends)
                .contains("SLURM_JOB_END_TIME=" + state.jobs().at(1).run().endTime());
        assertThat(ends).contains("SLURM_JOB_EXIT_CODE=1792", "SLURM_JOB_EXIT_CODE2=7:0", "SLURM_JOB_DERIVED_EC=1792");
        assertThat(JobEnvironment.ofController(state, state.jobs().at(1), "epilog_slurmctld"))
                .containsEntry("SLURM_JOB_DERIVED_EC", "1792");
    }

    /** PrologSlurmctld and EpilogSlurmctld get the job's times, and its stderr file if it differs from stdout. */
    @Test
    void programsOfTheControllerKnowTheJobsTimes() {
        Site site = new Site("DefMemPerCPU=1");
        site.run("tasks=1 files.workDir=L3c=");
        State state = site.core().state();
        Job job = state.jobs().at(1);
        assertThat(JobEnvironment.ofController(state, job, "prolog_slurmctld"))
                .doesNotContainKey("SLURM_JOB_STDERR")
                .containsEntry("SLURM_JOB_START_TIME", Long.toString(job.run().startTime()))
                .containsKey("SLURM_JOB_END_TIME");
    }
}
