package dev.muster.node.meter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.Identity;
import dev.muster.model.api.SlurmdMessages.TaskUsage;
import dev.muster.model.job.TaskPeaks;
import dev.muster.model.job.UsageSample;
import dev.muster.model.node.NodeMessages.Usage;
import dev.muster.node.config.Settings;
import dev.muster.node.os.CpuClock;
import dev.muster.node.os.ProcessTable;
import dev.muster.node.spool.StatusFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TaskSamplesTest {
    private static final String STATUS = """
            job 5
            step 0
            attempt 1
            stepd 99
            state complete
            task id=4 phase=done pid=100 started=1.000000 status=0 ended=2.000000 utime_us=70 stime_us=30 maxrss_kb=500 majflt=2 inblock=4 oublock=0
            task id=5 phase=done pid=101 started=1.000000 status=0 ended=2.000000 utime_us=900 stime_us=0 maxrss_kb=400 majflt=0 inblock=0 oublock=2
            usage utime_us=970 stime_us=30 maxrss_kb=500 majflt=2 inblock=4 oublock=2
            end
            """;

    private static final CpuClock NONE = new CpuClock(Path.of("/nowhere"));

    @TempDir
    private Path step;

    private Optional<GpuUse> gpus = Optional.empty();

    private static Optional<StatusFile> status() {
        return StatusFile.parse(STATUS.getBytes(StandardCharsets.UTF_8));
    }

    private static TaskUsage seen(int rank, long cpuMs, long rssKb, long vmKb, long read, long written) {
        return new TaskUsage(rank, rank, 1, List.of(1), cpuMs, rssKb, vmKb, 0, read, written);
    }

    private void keep(TaskUsage... seen) throws IOException {
        DaemonLog log = new DaemonLog("slurmd", step + "/log", false, 5, "");
        new TaskSamples(
                        null,
                        Settings.Sensing.NOTHING,
                        false,
                        s -> List.of(),
                        Optional::empty,
                        (step, tasks) -> {},
                        log)
                .keep(step, List.of(seen), gpus);
    }

    @Test
    void unsampledTasksCountWithTheirEndStatus() {
        Usage u = TaskSamples.ended(step, status(), NONE);
        assertThat(u.peaks())
                .isEqualTo(TaskPeaks.NONE
                        .and(new TaskPeaks.Task(4, 100, 500, 0, 2, 2048, 0))
                        .and(new TaskPeaks.Task(5, 900, 400, 0, 0, 0, 1024)));
        assertThat(u.peaks().cpuUs()).isEqualTo(new TaskPeaks.Range(900, 5, 100, 4));
        assertThat(List.of(
                        u.userCpuUs(),
                        u.systemCpuUs(),
                        u.maxRssKb(),
                        u.maxVmKb(),
                        u.readBytes(),
                        u.writeBytes(),
                        u.maxPages()))
                .isEqualTo(List.of(970L, 30L, 500L, 0L, 2048L, 1024L, 2L));
    }

    /** The peak of each sample counts, the second after a restart of slurmd; processes of no task do not. */
    @Test
    void peakOfAllSamplesCounts() throws IOException {
        keep(seen(4, 0, 300, 8000, 0, 10), seen(5, 0, 700, 6000, 50, 10), seen(-1, 0, 99_000, 99_000, 0, 0));
        keep(seen(4, 0, 2000, 7000, 9000, 20));
        Usage u = TaskSamples.ended(step, status(), NONE);
        assertThat(u.peaks().rssKb()).isEqualTo(new TaskPeaks.Range(2000, 4, 700, 5));
        assertThat(u.peaks().vmKb()).isEqualTo(new TaskPeaks.Range(8000, 4, 6000, 5));
        assertThat(u.peaks().readBytes()).isEqualTo(new TaskPeaks.Range(9000, 4, 50, 5));
        assertThat(u.peaks().writeBytes()).isEqualTo(new TaskPeaks.Range(1024, 5, 20, 4));
        assertThat(List.of(
                        u.maxRssKb(),
                        u.maxVmKb(),
                        u.readBytes(),
                        u.writeBytes(),
                        u.peaks().sumRssKb()))
                .isEqualTo(List.of(2000L, 8000L, 9050L, 1044L, 2700L));
    }

    private static TaskUsage at(int rank, long cpuMs, long khz) {
        return new TaskUsage(rank, rank, 1, List.of(1), cpuMs, 1, 1, 0, 0, 0, khz);
    }

    /** Each sample counts the time used since the last one at the speed of that moment. */
    @Test
    void cpuFrequencyIsWeightedByTimeUsed() throws IOException {
        keep(at(4, 1000, 2_000_000), at(5, 0, 1_000_000));
        keep(at(4, 2000, 3_000_000), at(5, 1000, 1_000_000));
        keep(at(4, 2500, 0));
        assertThat(TaskSamples.ended(step, status(), NONE).cpuKhz()).isEqualTo(2_000_000);
    }

    private static final String PMON = """
            # gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command
            # Idx           #    C/G      %%      %%      %%      %%      %%      %%     MB     MB    name
                0          1     C     %s     20      -      -      -      -    %s      0    python
                1          1     C     50      3      -      -      -      -    100      0    python
                1         77     C     99      3      -      -      -      -   9000      0    other
                2          -     -      -      -      -      -      -      -      -      -    -
            """;

    /** A step's processes on all GPUs together; those of others are theirs. */
    @Test
    void gpuUsageIsSummedOverTheStepsProcesses() throws IOException {
        gpus = Optional.of(GpuUse.parse(PMON.formatted("100", "412")));
        keep(at(4, 1000, 0));
        assertThat(TaskSamples.metered(step)).isEqualTo(new UsageSample(0, 0, 1, 150, 150, 512 * 1024, 512 * 1024));
        gpus = Optional.of(GpuUse.parse(PMON.formatted("-", "12")));
        keep(at(4, 2000, 0));
        UsageSample all = TaskSamples.ended(step, status(), NONE).metered();
        assertThat(List.of(all.gpuNodes() + 0L, all.gpuMostPercent(), all.gpuMostMemKb()))
                .isEqualTo(List.of(1L, 150L, 512 * 1024L));
        assertThat(all.gpuPercent()).isBetween(50L, 150L);
        assertThat(GpuUse.parse("nothing\n").percent()).isEmpty();
    }

    @Test
    void aProcessOnAGpuMarksItsStepAsAUserOfGpus() {
        GpuUse use = GpuUse.parse(PMON.formatted("-", "12"));
        assertThat(use.isUsedBy(List.of(at(0, 0, 0)))).isTrue();
        assertThat(use.isUsedBy(List.of())).isFalse();
        assertThat(GpuUse.parse("").isUsedBy(List.of(at(0, 0, 0)))).isFalse();
    }

    @Test
    void aLookAtGpusStandsForTheTimeSinceTheOneBefore() {
        GpuUse busy = GpuUse.parse(PMON.formatted("100", "1"));
        GpuUse.Sum first = busy.and(GpuUse.Sum.NONE, List.of(at(0, 0, 0)), 10_000, 20_000);
        assertThat(first).isEqualTo(new GpuUse.Sum(20_000, 10_000, 1_500_000, 150, 101 * 1024));
        assertThat(GpuUse.parse("")
                        .and(first, List.of(at(0, 0, 0)), 10_000, 50_000)
                        .metered())
                .isEqualTo(new UsageSample(0, 0, 1, 38, 150, 101 * 1024, 101 * 1024));
    }

    @Test
    void unsampledStepHasTheCpuFrequencyOfItsNode() throws IOException {
        Files.createDirectories(step.resolve("proc"));
        Files.writeString(
                step.resolve("proc/cpuinfo"),
                "processor\t: 0\ncpu MHz\t\t: 2100.5\nprocessor\t: 1\ncpu MHz\t\t: 1000\n");
        assertThat(TaskSamples.ended(step, status(), new CpuClock(step)).cpuKhz())
                .as("as the node's CPUs run")
                .isEqualTo(1_550_250);
        Path cpufreq = Files.createDirectories(step.resolve("sys/devices/system/cpu/cpu1/cpufreq"));
        Files.writeString(cpufreq.resolve("scaling_cur_freq"), "3000000\n");
        CpuClock clock = new CpuClock(step);
        assertThat(List.of(clock.khz("0"), clock.khz("1"), clock.khz("2"))).containsExactly(2_100_500L, 3_000_000L, 0L);
    }

    private static long residentKb(boolean pss, boolean noShare) {
        // this process is what hangs below the one that started it
        ProcessTable.Running step = new ProcessTable.Running(
                1,
                1,
                0,
                new Identity(0, 0, "root", "root", List.of(), "/", "/bin/sh"),
                Path.of("/tmp"),
                ProcessHandle.current().parent().orElseThrow().pid(),
                Optional.empty(),
                false);
        return new ProcessTable(false, new Settings.Tasks(true, 30, pss, noShare, false))
                .of(step, new Sensors.Reading(0, 0, 0))
                .tasks()
                .getFirst()
                .residentKb();
    }

    /** JobAcctGatherParams: the libraries that this machine shares with others count in part, or not at all. */
    @Test
    void sharedLibrariesCountAsConfigured() {
        long shared = residentKb(true, false);
        long own = residentKb(false, true);
        // looked at last: this process grows while it is looked at
        long all = residentKb(false, false);
        assertThat(shared).isPositive().isLessThan(all);
        assertThat(own).isPositive().isLessThan(all);
    }

    @Test
    void aStepWithoutAStatusUsedNothingThatIsKnown() {
        assertThat(TaskSamples.ended(step, Optional.empty(), NONE)).isEqualTo(StatusFile.NO_USAGE);
    }
}
