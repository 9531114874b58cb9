package dev.muster.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.json.Bytes;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.node.NodeMessages.Hardware;
import dev.muster.node.config.SlurmdOptions;
import dev.muster.node.hardware.GresReport;
import dev.muster.node.hardware.HardwareProbe;
import dev.muster.node.os.FilePattern;
import dev.muster.node.spool.StatusFile;
import dev.muster.node.step.SpecWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The parts of slurmd that need no process. */
class PartsTest {
    private static final String PATTERNS = """
            out-%j.txt          out-12.txt
            %J-%t-%n            12.0-3-1
            %5t                 00003
            %N                  n1
            %%t                 %t
            %q                  %q
            a\\%t               a%t
            %x_%u               name_ann
            50%                 50%
            %12j                0000000012
            """;

    @Test
    void aBusyMachineIsNotWarmedUp() {
        assertThat(WarmUp.isCalm("0.50 0.40 0.30 2/400 123", 2)).isTrue();
        assertThat(WarmUp.isCalm("0.50 0.40 0.30 3/400 123", 2)).isFalse();
        assertThat(WarmUp.isCalm("9.00 8.00 7.00 1/400 123", 2))
                .as("what was does not count")
                .isTrue();
        assertThat(WarmUp.isCalm("", 2)).as("a machine that does not say").isTrue();
    }

    @Test
    void nodeFilePatternIsExpanded() {
        Map<Character, String> values =
                Map.of('j', "12", 'J', "12.0", 't', "3", 'n', "1", 'N', "n1", 'x', "name", 'u', "ann");
        PATTERNS.lines().forEach(line -> {
            String[] words = line.trim().split("\\s+");
            assertThat(FilePattern.expand(Bytes.of(words[0]), values).text())
                    .as(words[0])
                    .isEqualTo(words[1]);
        });
    }

    private static final String STATUS = """
            job 7
            step 0
            attempt 1
            stepd 4711
            state complete
            reason OutOfMemory
            task id=0 phase=done pid=4712 started=1.000001 status=35072 ended=1700000000.250000 \
            utime_us=5 stime_us=6 maxrss_kb=7 majflt=0 inblock=0 oublock=0
            task id=1 phase=running pid=4713 started=1.000001
            task id=2 phase=done pid=4714 started=1.0 status=53 ended=1700000001.000000 \
            utime_us=0 stime_us=0 maxrss_kb=0 majflt=0 inblock=0 oublock=0 reason=Could not open stdout file /x y: No
            usage utime_us=10 stime_us=20 maxrss_kb=30 majflt=1 inblock=2 oublock=4
            end
            """;

    @Test
    void statusFileIsParsed() {
        StatusFile status =
                StatusFile.parse(STATUS.getBytes(StandardCharsets.UTF_8)).orElseThrow();
        assertThat(status.state()).isEqualTo(StatusFile.State.COMPLETE);
        assertThat(status.stepdPid()).isEqualTo(4711);
        assertThat(status.reason()).isEqualTo("OutOfMemory");
        assertThat(status.tasks().get(0).exit()).isEqualTo(ExitStatus.exited(137));
        assertThat(status.tasks().get(0).endedMs()).isEqualTo(1_700_000_000_250L);
        assertThat(status.tasks().get(1).ended()).isFalse();
        assertThat(status.tasks().get(2).exit()).isEqualTo(ExitStatus.signaled(53));
        assertThat(status.tasks().get(2).reason()).isEqualTo("Could not open stdout file /x y: No");
        assertThat(status.usage().userCpuUs()).isEqualTo(10);
        assertThat(StatusFile.parse(STATUS.substring(0, 200).getBytes(StandardCharsets.UTF_8)))
                .isEmpty();
        String older = STATUS.replace("state complete", "state running");
        for (String torn : List.of("", STATUS.substring(0, 200))) {
            byte[] several = (older + STATUS + torn).getBytes(StandardCharsets.UTF_8);
            assertThat(StatusFile.parse(several)).contains(status);
        }
    }

    @Test
    void slurmdOptionsAreParsed() {
        SlurmdOptions.Parsed parsed =
                SlurmdOptions.parse(List.of("-Dvv", "-Nn1", "-f", "/etc/x.conf", "-L", "/log", "-d", "/stepd"));
        assertThat(parsed)
                .isEqualTo(new SlurmdOptions.Parsed.Ok(new SlurmdOptions(
                        "n1",
                        "/etc/x.conf",
                        "/log",
                        "/stepd",
                        true,
                        false,
                        false,
                        false,
                        2,
                        0,
                        false,
                        false,
                        "",
                        java.util.Optional.empty(),
                        "",
                        java.util.Optional.empty(),
                        "",
                        "",
                        "",
                        "",
                        List.of(),
                        SlurmdOptions.Mode.SERVE)));
        assertThat(SlurmdOptions.parse(List.of("-C")))
                .extracting("options.mode")
                .isEqualTo(SlurmdOptions.Mode.SHOW_HARDWARE);
        assertThat(SlurmdOptions.parse(List.of("-Q")))
                .isEqualTo(new SlurmdOptions.Parsed.Wrong("invalid option -- 'Q'", true));
        assertThat(SlurmdOptions.parse(List.of("-N")))
                .isEqualTo(new SlurmdOptions.Parsed.Wrong("option requires an argument -- 'N'", true));
        assertThat(SlurmdOptions.parse(List.of("-Z", "--conf", "Feature=a CPUs=2", "-M", "--extra=x=1")))
                .extracting("options.dynamic", "options.dynamicConf", "options.lockMemory", "options.extra")
                .containsExactly(true, "Feature=a CPUs=2", true, "x=1");
        assertThat(SlurmdOptions.parse(List.of("-DFbig")))
                .extracting("options.future")
                .isEqualTo(java.util.Optional.of("big"));
        assertThat(SlurmdOptions.parse(List.of("-F")))
                .extracting("options.future")
                .isEqualTo(java.util.Optional.of(""));
        assertThat(SlurmdOptions.parse(List.of("--conf-server", "h:1,i")))
                .extracting("options.confServer")
                .isEqualTo("h:1,i");
        assertThat(SlurmdOptions.parse(List.of("--instance-id=i-1", "--instance-type", "big", "--ca-cert-file=/ca")))
                .extracting("options.instanceId", "options.instanceType", "options.authority")
                .containsExactly("i-1", "big", java.util.Optional.of(java.nio.file.Path.of("/ca")));
        assertThat(SlurmdOptions.parse(List.of("--authinfo", "socket=/run/m,ttl=60")))
                .extracting("options.mungeSocket")
                .isEqualTo("/run/m");
        assertThat(SlurmdOptions.parse(
                        List.of("-b", "--conf", "feature=f1", "--parameters=config_overrides,l3cache_as_socket")))
                .isInstanceOfSatisfying(SlurmdOptions.Parsed.Ok.class, ok -> {
                    assertThat(ok.options().reportReboot()).isTrue();
                    assertThat(ok.options().configOverrides()).isTrue();
                    assertThat(ok.options().idle())
                            .containsExactly(
                                    "--conf without -Z has no effect: slurm.conf has this node",
                                    "--parameters: l3cache_as_socket has no effect in this version");
                });
        assertThat(SlurmdOptions.parse(List.of("-Z", "-F")))
                .isEqualTo(new SlurmdOptions.Parsed.Wrong("-F and -Z options are mutually exclusive", false));
        for (List<String> wrong : List.of(
                List.of("--conf", "Topology=default:s1"),
                List.of("--parameters"),
                List.of("--conf-server"),
                List.of("--systemd=1"),
                List.of("--authinfo", "x"),
                List.of("--instance-id"),
                List.of("--ca-cert-file"))) {
            assertThat(SlurmdOptions.parse(wrong)).as(wrong.toString()).isInstanceOf(SlurmdOptions.Parsed.Wrong.class);
        }
    }

    @Test
    void hardwareIsDescribedAsANodeLine() {
        Hardware h = new Hardware(8, 1, 2, 2, 2, 64000, 1000, "", "x86_64", "Linux", 0);
        assertThat(HardwareProbe.describe("n1", h, "gpu:a100:2", 90061))
                .isEqualTo("NodeName=n1 CPUs=8 Boards=1 SocketsPerBoard=2 CoresPerSocket=2 ThreadsPerCore=2 "
                        + "RealMemory=64000 Gres=gpu:a100:2\n"
                        + "UpTime=1-01:01:01");
    }

    /**
     * Two sockets of two cores of two threads, counted by the kernel as most do: all first threads, then all second
     * ones.
     */
    @Test
    void abstractCpusAreCoresFirst(@org.junit.jupiter.api.io.TempDir java.nio.file.Path root) throws Exception {
        java.nio.file.Path cpus = root.resolve("sys/devices/system/cpu");
        for (int cpu = 0; cpu < 8; cpu++) {
            java.nio.file.Path topology =
                    java.nio.file.Files.createDirectories(cpus.resolve("cpu" + cpu + "/topology"));
            java.nio.file.Files.writeString(topology.resolve("physical_package_id"), cpu % 4 / 2 + "\n");
            java.nio.file.Files.writeString(topology.resolve("core_id"), cpu % 2 + "\n");
        }
        java.nio.file.Files.writeString(cpus.resolve("online"), "0-7\n");
        assertThat(new HardwareProbe(root, root).cpusInOrder()).containsExactly(0, 4, 1, 5, 2, 6, 3, 7);
    }

    /** shows: TmpFS */
    @Test
    void theDiskForTemporaryFilesIsThatOfTheDirectoryNamed() throws Exception {
        for (String directory : java.util.List.of("/dev/shm", "/")) {
            java.nio.file.Path path = java.nio.file.Path.of(directory);
            assertThat(new HardwareProbe(java.nio.file.Path.of("/"), path)
                            .read("")
                            .tmpDiskMb())
                    .isEqualTo(java.nio.file.Files.getFileStore(path).getTotalSpace() >> 20);
        }
    }

    @Test
    void devicesArePrintedAsSlurmdDoes(@org.junit.jupiter.api.io.TempDir java.nio.file.Path directory)
            throws Exception {
        java.nio.file.Files.writeString(directory.resolve("slurm.conf"), """
                ClusterName=g
                SlurmctldHost=vm
                GresTypes=gpu,nic
                NodeName=n1 CPUs=8 RealMemory=4000 Gres=gpu:a100:4,gpu:t4:1,nic:2
                PartitionName=main Nodes=ALL
                """);
        java.nio.file.Files.writeString(directory.resolve("gres.conf"), """
                NodeName=n1 Name=gpu Type=a100 File=/dev/tty[0-3] Cores=0-1
                NodeName=n1 Name=gpu Type=t4 File=/dev/tty5
                """);
        var parsed = (SlurmConf.Parsed.Ok)
                SlurmConf.read(directory.resolve("slurm.conf").toFile());
        assertThat(GresReport.lines(parsed.conf(), parsed.conf().node("n1").orElseThrow()))
                .containsExactly(
                        "slurmd: Gres Name=gpu Type=a100 Count=4 Index=0 ID=7696487 "
                                + "File=/dev/tty[0-3] Cores=0-1 CoreCnt=8 (null)",
                        "slurmd: Gres Name=gpu Type=t4 Count=1 Index=5 ID=7696487 File=/dev/tty5 (null)",
                        "slurmd: Gres Name=nic Type=(null) Count=2 ID=6515054 (null)");
    }

    @Test
    void specificationEntriesAreWritten() {
        assertThat(new String(
                        new SpecWriter().put("env", "A=1\n2").put("umask", 22).bytes(), StandardCharsets.UTF_8))
                .isEqualTo("env 5\nA=1\n2\numask 2\n22\n");
    }
}
