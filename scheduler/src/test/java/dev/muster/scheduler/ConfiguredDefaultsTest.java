package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Allocation;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys of slurm.conf that change what a job gets or whether it is taken. */
class ConfiguredDefaultsTest {
    private static String place(String settings, String job) {
        return place(settings, "", "", job);
    }

    private static String place(String settings, String ofP, String ofQ, String job) {
        return new Cluster(
                        "n[1-2] cpus=8 mem=1000 gpus=4",
                        "p nodes=n[1-2] default=yes jobdefaults=" + ofP + "\nq nodes=n[1-2] jobdefaults=" + ofQ,
                        "gresTypes=gpu memoryConsumed=true " + settings)
                .place(job);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            2,100 | tresPerNode=gres/gpu:2 memPerNodeMb=10               | n1:4
            2,100 | tresPerJob=gres/gpu:3 memPerNodeMb=10                | n1:6
            2,100 | tresPerNode=gres/gpu:2 cpusPerTask=1 memPerNodeMb=10 | n1:1
            2,100 | tresPerNode=gres/gpu:2 cpusPerGpu=1 memPerNodeMb=10  | n1:2
            2,100 | memPerNodeMb=10                                      | n1:1
            0,600 | tresPerNode=gres/gpu:2                               | Memory specification can not be satisfied
            0,500 | tresPerNode=gres/gpu:2                               | n1:1
            """)
    void jobGetsDefaultsForEachGpu(String defaults, String job, String placed) {
        String words = "DefCpuPerGPU=" + defaults.replace(",", ",DefMemPerGPU=");
        assertThat(place("options.job_defaults=" + words, job)).isEqualTo(placed);
        assertThat(place("", words, "", job)).as("of the partition").isEqualTo(placed);
    }

    /**
     * SchedulerParameters=enable_user_top and the like: that it is there is what it says, before and after other
     * settings change.
     */
    @Test
    void valuelessOptionSurvivesSettingChanges() {
        Cluster c = new Cluster("n1 cpus=1 mem=1000", "p nodes=n1 default=yes", "options.enable_user_top=");
        assertThat(c.state().settings().options().texts()).containsEntry("enable_user_top", "");
        new Play(c).lines("setting root fairsharedampeningfactor 3");
        assertThat(c.state().settings().options().texts())
                .containsEntry("enable_user_top", "")
                .containsValue("3");
        new Play(c).lines("reconfigure");
        assertThat(c.state().settings().options().texts())
                .containsEntry("enable_user_top", "")
                .doesNotContainValue("3");
    }

    @Test
    void thePartitionGoesBeforeTheCluster() {
        String all = "options.job_defaults=DefCpuPerGPU=2,DefMemPerGPU=10";
        assertThat(place(all, "", "DefCpuPerGPU=3", "tresPerNode=gres/gpu:1")).isEqualTo("n1:2");
        assertThat(place(all, "", "DefCpuPerGPU=3", "tresPerNode=gres/gpu:1 partition=q"))
                .isEqualTo("n1:3");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            cpus=8           | tasks=1              | n1:1
            cpus=8           | tasks=1 coreSpec=2   | n1:6
            cpus=8           | tasks=7 coreSpec=2 nodesMin=1 | Requested node configuration is not available
            cpus=8           | tasks=6 threadSpec=3 nodesMin=1 | Requested node configuration is not available
            cpus=8 threads=2 | tasks=2 threadSpec=7 nodesMin=1 | Requested node configuration is not available
            cpus=8 kept=0-1  | tasks=6              | n1:6
            cpus=8 kept=0-1  | tasks=1 coreSpec=-1 threadSpec=1 | --core-spec together with --thread-spec is not supported by this version of Muster
            """)
    void coreSpecJobLeavesItsCoresAlone(String node, String job, String placed) {
        assertThat(new Cluster("n1 " + node, "p nodes=n1 default=yes", "options.spec_usage=true").place(job))
                .isEqualTo(placed);
    }

    /**
     * A job has certain cores, which are good for a number of CPUs, and is charged for another: whole nodes, but for
     * what their lines keep.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            cpus=8                     | coreSpec=2    | 0-5        | 6  | 8
            cpus=8                     | threadSpec=3  | 0-7        | 5  | 8
            cpus=8 threads=2           | coreSpec=1    | 0-2        | 6  | 8
            cpus=8 threads=2           | threadSpec=2  | 0-3        | 6  | 8
            cpus=8 threads=2           | threadSpec=7  | 0-3        | 1  | 8
            cpus=8 kept=0-1            | coreSpec=-1   | 0-7        | 8  | 6
            cpus=8 kept=0-1            | coreSpec=1    | 1-7        | 7  | 6
            cpus=8 kept=0-1            | coreSpec=3    | 2-6        | 5  | 6
            cpus=8 kept=0-1            | threadSpec=3  | 2-7        | 5  | 6
            cpus=8 kept=0-1            | threadSpec=1  | 2-7        | 6  | 6
            cpus=8 sockets=2           | coreSpec=3    | 0-2,4-5    | 5  | 8
            cpus=16 sockets=2 threads=2 | coreSpec=3   | 0-2,4-5    | 10 | 16
            cpus=16 sockets=2 threads=2 kept=3,7 | coreSpec=1 | 0-2,4-7 | 14 | 12
            cpus=16 sockets=2 threads=2 kept=3,7 | coreSpec=3 | 0-2,4-5 | 10 | 12
            cpus=16 sockets=2 threads=2 kept=3,7 | threadSpec=5 | 0-2,4-6 | 11 | 12
            """)
    void coreSpecJobIsChargedForTheCoresLeftAlone(String node, String job, String cores, int cpus, int charged) {
        Cluster c = new Cluster("n1 " + node, "p nodes=n1 default=yes", "options.spec_usage=true");
        new Play(c).lines("submit tasks=1 " + job + "\nschedule");
        Allocation has = c.state().jobs().at(1).run().allocation();
        assertThat(has.nodes().getFirst().cores().compact()).isEqualTo(cores);
        assertThat(has.nodes().getFirst().cpus()).isEqualTo(cpus);
        assertThat(has.cpus()).isEqualTo(charged);
        assertThat(c.state().nodes().at("n1").cpusAllocated()).isEqualTo(charged);
    }

    /**
     * A job with core specialization has the node alone: cores that it leaves go to no other job, and memory per CPU
     * counts the CPUs that it may use.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            cpus=8 mem=800           | coreSpec=2                    | tasks=1     | (Resources)
            cpus=8 mem=800           | threadSpec=2                  | tasks=1     | (Resources)
            cpus=8 mem=800 kept=6-7  | coreSpec=-1                   | tasks=1     | (Resources)
            cpus=8 mem=800 kept=6-7  | coreSpec=1                    | tasks=1     | (Resources)
            cpus=8 mem=800           | coreSpec=2 memPerCpuMb=130    | tasks=1     | (Resources)
            cpus=8 mem=800           | threadSpec=2 memPerCpuMb=130  | tasks=1     | (Resources)
            cpus=8 mem=800 kept=6-7  | exclusive=NODE memPerCpuMb=130 | tasks=1    | (Resources)
            """)
    void coreSpecJobHasItsNodeAlone(String node, String job, String other, String placed) {
        Cluster c = new Cluster("n1 " + node, "p nodes=n1 default=yes", "options.spec_usage=true");
        assertThat(c.place("tasks=1 " + job)).startsWith("n1:");
        int id = c.accept(other);
        c.schedule();
        assertThat(c.shown(id)).isEqualTo(placed);
    }

    @Test
    void coreSpecTakesFirstCoresOfEachSocketIfSet() {
        Cluster c = new Cluster(
                "n1 cpus=8 sockets=2", "p nodes=n1 default=yes", "options.spec_usage=true options.spec_cores_first=");
        new Play(c).lines("submit tasks=1 coreSpec=3\nschedule");
        assertThat(c.state()
                        .jobs()
                        .at(1)
                        .run()
                        .allocation()
                        .nodes()
                        .getFirst()
                        .cores()
                        .compact())
                .isEqualTo("2-3,5-7");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            options.in_some_order=true | n2:1
            options.in_order=true | (Priority)
            """)
    void inOrderPartitionLetsNoJobOvertake(String settings, String third) {
        Cluster c = new Cluster("n[1-3] cpus=2", "p nodes=n[1-2] default=yes\nq nodes=n3", settings);
        new Play(c).lines("""
                submit tasks=2 nodeList=n1
                schedule  -> 1 RUNNING n1
                submit tasks=2 nodeList=n1
                submit tasks=1 timing.timeLimitMin=10
                submit tasks=1 timing.timeLimitMin=10 partition=q
                schedule
                """);
        assertThat(c.shown(2)).isEqualTo("(Resources)");
        assertThat(c.shown(3)).isEqualTo(third);
        assertThat(c.shown(4)).as("another partition").isEqualTo("n3:1");
    }
}
