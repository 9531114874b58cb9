package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.config.SlurmConf;
import dev.muster.controller.StopSequence.Part;
import dev.muster.daemon.DaemonLog;
import dev.muster.transport.Caller;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A controller that fails half way through its start stops what it has begun. */
class ControllerStartTest {
    @TempDir
    Path directory;

    private Controller controller(int port, String more) throws IOException {
        Path file = directory.resolve("slurm.conf");
        Files.writeString(
                file,
                "ClusterName=c\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=" + port
                        + "\nSlurmUser=root\nAuthType=auth/slurm\nStateSaveLocation=" + directory + "/state\n"
                        + more + "NodeName=n[1-2] CPUs=4 RealMemory=1000\nPartitionName=p Nodes=ALL Default=YES\n");
        return new Controller(
                ((SlurmConf.Parsed.Ok) SlurmConf.read(file.toFile())).conf(),
                file.toFile(),
                new DaemonLog("slurmctld", directory + "/log", false, 3, ""),
                () -> {},
                fault -> {});
    }

    private void assertStartsAndAnswers() throws IOException {
        Controller controller = controller(Site.freePort(), "");
        try {
            controller.start(false);
            assertThat(controller
                            .api()
                            .handle(new Caller(0, 0), "Ping", "{}".getBytes(StandardCharsets.UTF_8))
                            .status())
                    .isEqualTo(200);
            assertThat(controller.nodes()).hasSize(2);
        } finally {
            controller.stop();
        }
    }

    @Test
    void portThatIsTakenEndsTheStartAndLeavesTheStateFree() throws IOException {
        try (ServerSocket taken = new ServerSocket(Site.freePort(), 1, InetAddress.getByName("0.0.0.0"))) {
            Controller controller = controller(taken.getLocalPort(), "");
            assertThatThrownBy(() -> controller.start(false))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("SlurmctldPort=" + taken.getLocalPort());
            controller.stop();
        }
        assertStartsAndAnswers();
    }

    @Test
    void keyThatIsRefusedEndsTheStartAndLeavesTheStateFree() throws IOException {
        Controller controller = controller(Site.freePort(), "PrologSlurmctld=/nonexistent\n");
        assertThatThrownBy(() -> controller.start(false))
                .isInstanceOf(IOException.class)
                .hasMessage("PrologSlurmctld=/nonexistent cannot be executed");
        controller.stop();
        assertStartsAndAnswers();
    }

    @Test
    void directoryThatCannotBeUsedEndsTheStartAndLeavesTheStateFree() throws IOException {
        Path state = Files.createDirectories(directory.resolve("state"));
        Path blobs = Files.writeString(state.resolve("blobs"), "a file where a directory belongs");
        Controller controller = controller(Site.freePort(), "");
        assertThatThrownBy(() -> controller.start(false)).isInstanceOf(IOException.class);
        controller.stop();
        Files.delete(blobs);
        assertStartsAndAnswers();
    }

    @Test
    void controllerThatHasNotBeenStartedStops() throws IOException {
        controller(Site.freePort(), "").stop();
        assertStartsAndAnswers();
    }

    @Test
    void partsStopInTheirOrderWhateverOrderTheyWereStartedIn() {
        List<Part> stopped = new ArrayList<>();
        StopSequence stops = new StopSequence();
        for (Part part : List.of(Part.JOURNAL, Part.ACCOUNTING, Part.PROGRAMS, Part.CORE_THREAD, Part.SERVER)) {
            stops.add(part, () -> stopped.add(part));
        }
        assertThat(stops.isStopping()).isFalse();
        stops.run();
        assertThat(stops.isStopping()).isTrue();
        assertThat(stopped)
                .containsExactly(Part.SERVER, Part.CORE_THREAD, Part.PROGRAMS, Part.ACCOUNTING, Part.JOURNAL);
    }
}
