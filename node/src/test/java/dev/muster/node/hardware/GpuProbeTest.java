package dev.muster.node.hardware;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.NodeConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.sister.GresConf;
import dev.muster.node.os.Topology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpuProbeTest {
    @TempDir
    Path root;

    private void file(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private GpuProbe probe() {
        // two threads a core: core 0 is 0 and 4, core 1 is 1 and 5, ...
        return new GpuProbe(root, Optional.empty(), Topology.flat(List.of(0, 4, 1, 5, 2, 6, 3, 7)), 2);
    }

    private static String shown(List<GpuProbe.Gpu> gpus) {
        return gpus.stream()
                .map(g -> g.type() + " " + g.file() + " " + g.cores() + " " + g.links())
                .collect(Collectors.joining(" | "));
    }

    private void nvidia(String bus, String model, int minor, String cpus) throws IOException {
        file(
                "proc/driver/nvidia/gpus/" + bus + "/information",
                "Model: \t\t " + model + "\nIRQ:   \t\t 1\nGPU UUID: \t GPU-1\nBus Location: \t " + bus
                        + "\nDevice Minor: \t " + minor + "\n");
        file("sys/bus/pci/devices/" + bus + "/local_cpulist", cpus + "\n");
    }

    private void amd(int node, int minor, long location, String model, String... linksTo) throws IOException {
        String at = "sys/class/kfd/kfd/topology/nodes/" + node + "/";
        file(
                at + "properties",
                "simd_count " + (minor > 0 ? 440 : 0) + "\ndrm_render_minor " + minor + "\nlocation_id " + location
                        + "\ndomain 0\n");
        file(at + "name", "\n");
        for (String to : linksTo) {
            String[] word = to.split(":");
            file(
                    at + "io_links/" + to.replace(':', '-') + "/properties",
                    "type " + word[1] + "\nnode_from " + node + "\nnode_to " + word[0] + "\n");
        }
        file("sys/class/drm/renderD" + minor + "/device/product_name", model + "\n");
    }

    @Test
    void nvidiaGpusAreListedInBusOrder() throws IOException {
        nvidia("0000:82:00.0", "NVIDIA A100-SXM4-40GB", 0, "2-3,6-7");
        nvidia("0000:07:00.0", "NVIDIA A100-SXM4-40GB", 1, "0-1,4-5");
        String both = "nvidia_a100-sxm4-40gb /dev/nvidia1 0-1  | nvidia_a100-sxm4-40gb /dev/nvidia0 2-3 ";
        assertThat(shown(probe().find("nvidia"))).isEqualTo(both);
        assertThat(shown(probe().find("nvml"))).isEqualTo(both);
        assertThat(shown(probe().find("full"))).isEqualTo(both);
        assertThat(probe().find("rsmi")).isEmpty();
        assertThat(probe().find("off")).isEmpty();
        assertThat(probe().find("nvml").getFirst().uuid()).isEqualTo("GPU-1");
        assertThat(GpuProbe.gresText(probe().find("nvidia"))).isEqualTo("gpu:nvidia_a100-sxm4-40gb:2");
    }

    @Test
    void amdGpusAreListedWithTheirLinks() throws IOException {
        amd(0, 0, 0, "");
        amd(1, 128, 0xc300, "AMD Instinct MI250X", "0:2", "2:11");
        amd(2, 129, 0x8300, "AMD Instinct MI250X", "0:2", "1:11");
        file("sys/bus/pci/devices/0000:c3:00.0/local_cpulist", "0-7\n");
        assertThat(shown(probe().find("rsmi")))
                .isEqualTo("amd_instinct_mi250x /dev/dri/renderD129  -1,1 | amd_instinct_mi250x "
                        + "/dev/dri/renderD128 0-3 1,-1");
    }

    @Test
    void machineWithoutGpusListsNone() {
        assertThat(probe().find("full")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                // what gres.conf says # what slurm.conf says # what comes of it
                "AutoDetect=nvidia # gpu:2 # :/dev/nvidia0:0-1 :/dev/nvidia1:2-3",
                "AutoDetect=nvidia # gpu:a100:1 # a100:/dev/nvidia0:0-1",
                "AutoDetect=nvidia;Name=gpu Type=a100 File=/dev/nvidia1 # gpu:a100:1 # a100:/dev/nvidia1:2-3",
                "AutoDetect=nvidia;Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-1 # gpu:a100:2 # "
                        + "gres.conf and the GPU /dev/nvidia1 differ: Cores=0-1, but they are 2-3",
                "AutoDetect=nvidia;Name=gpu Type=h100 File=/dev/nvidia0 # gpu:h100:1 # gres.conf and the GPU "
                        + "/dev/nvidia0 differ: Type=h100, but it is "
                        + "nvidia_a100",
                "AutoDetect=nvidia;Name=gpu File=/dev/nvidia9 # gpu:1 # gres.conf has a GPU /dev/nvidia9 "
                        + "that was not found",
                "AutoDetect=nvidia # gpu:4 # gres/gpu count reported lower than configured (2 < 4)",
            })
    void gresConfIsComparedWithDetectedGpus(String conf, String gres, String outcome) throws IOException {
        nvidia("0000:07:00.0", "NVIDIA A100", 0, "0-1,4-5");
        nvidia("0000:82:00.0", "NVIDIA A100", 1, "2-3,6-7");
        file("gres.conf", conf.replace(';', '\n') + "\n");
        List<ConfigError> errors = new ArrayList<>();
        GresConf read = GresConf.read(root.resolve("gres.conf").toFile(), errors);
        assertThat(errors).isEmpty();
        String[] word = gres.split(":");
        NodeConf.Gres wanted =
                new NodeConf.Gres("gpu", word.length > 2 ? word[1] : "", Long.parseLong(word[word.length - 1]), false);
        GpuProbe.Merged merged =
                GpuProbe.merge(read, "n1", List.of(wanted), probe().find(GpuProbe.detector(read, "n1", false)));
        String shown = merged.conf().forNode("n1").stream()
                .filter(d -> d.name().equals("gpu"))
                .map(d -> d.type() + ":" + d.files().getFirst() + ":" + d.cores())
                .collect(Collectors.joining(" "));
        assertThat(merged.error().isEmpty() ? shown : merged.error()).isEqualTo(outcome);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''                                            | false | ''",
                "''                                            | true  | full",
                "AutoDetect=off                                | true  | off",
                "AutoDetect=nvml                               | true  | nvml",
                "Name=gpu File=/dev/tty0                       | true  | ''",
                "NodeName=n2 Name=gpu File=/dev/tty0           | true  | full",
                "AutoDetect=nvml;NodeName=n1 AutoDetect=rsmi   | false | rsmi",
            })
    void autoDetectKeyChoosesTheGpuDetector(String conf, boolean dynamic, String detector) throws IOException {
        file("gres.conf", conf.replace(';', '\n') + "\n");
        assertThat(GpuProbe.detector(
                        GresConf.read(root.resolve("gres.conf").toFile(), new ArrayList<>()), "n1", dynamic))
                .isEqualTo(detector);
    }
}
