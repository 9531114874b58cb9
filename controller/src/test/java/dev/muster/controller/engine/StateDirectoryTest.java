package dev.muster.controller.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StateDirectoryTest {
    @TempDir
    Path root;

    private final List<String> said = new ArrayList<>();

    private StateDirectory open(String cluster) throws IOException {
        return StateDirectory.open(root.resolve("state"), cluster, false, said::add);
    }

    @ParameterizedTest
    @ValueSource(strings = {"other\n", "\u0001\u0002", "", "c d\n"})
    void anotherClustersStateIsRefused(String content) throws Exception {
        open("c");
        Files.writeString(root.resolve("state/clustername"), content);
        assertThatThrownBy(() -> open("c"))
                .hasMessageStartingWith(
                        "CLUSTER NAME MISMATCH. slurmctld has been started with \"ClusterName=c\", but read \"")
                .hasMessageContaining("Remove " + root.resolve("state/clustername"));
        Files.delete(root.resolve("state/clustername"));
        open("c");
        assertThat(Files.readString(root.resolve("state/clustername"))).isEqualTo("c\n");
    }

    /** No state is begun beside a file system that is not mounted. */
    @Test
    void stateIsNotBegunInAMissingParentDirectory() {
        root = root.resolve("notmounted");
        assertThatThrownBy(() -> open("c")).hasMessageEndingWith("cannot create it: No such file or directory");
        assertThat(root).doesNotExist();
    }

    @Test
    void slurmsOwnStateIsRefused() throws Exception {
        Files.createDirectories(root.resolve("state"));
        Files.writeString(root.resolve("state/job_state"), "x");
        Files.writeString(root.resolve("state/node_state"), "x");
        assertThatThrownBy(() -> open("c"))
                .hasMessageContaining("holds the state of Slurm's own slurmctld (job_state, node_state)")
                .hasMessageContaining("FirstJobId");
        assertThat(root.resolve("state/journal")).doesNotExist();
        Files.createDirectories(root.resolve("state/journal"));
        Files.writeString(root.resolve("state/journal/1.log"), "x");
        open("c");
        assertThat(said).singleElement().asString().contains("job_state, node_state");
    }

    @Test
    void pathThatCannotBeCreatedIsNamedWithItsKey() throws Exception {
        Files.writeString(root.resolve("file"), "x");
        assertThatThrownBy(() -> StateDirectory.open(root.resolve("file/state"), "c", false, said::add))
                .hasMessageStartingWith("StateSaveLocation=" + root.resolve("file/state") + ": cannot create it: ")
                .hasMessageNotContaining("Exception");
        Files.createDirectories(root.resolve("state"));
        Files.writeString(root.resolve("state/journal"), "x");
        assertThatThrownBy(() -> open("c"))
                .hasMessage("StateSaveLocation=" + root.resolve("state") + ": cannot create journal: File exists");
    }

    private String mode(String part) throws IOException {
        return PosixFilePermissions.toString(
                Files.getPosixFilePermissions(root.resolve("state").resolve(part)));
    }

    @Test
    void partsAreTheDaemonsAlone() throws Exception {
        Files.createDirectories(root.resolve("state/accounting"));
        Files.setPosixFilePermissions(root.resolve("state"), PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.setPosixFilePermissions(root.resolve("state/accounting"), PosixFilePermissions.fromString("rwxrwxrwx"));
        open("c").remember(new HighestIds(1, 2, 3));
        for (String part : List.of("journal", "blobs", "accounting")) {
            assertThat(mode(part)).as(part).isEqualTo("rwx------");
        }
        for (String part : List.of("clustername", "highest")) {
            assertThat(mode(part)).as(part).isEqualTo("rw-------");
        }
    }

    @Test
    void highestNumbersAreRemembered() throws Exception {
        StateDirectory place = open("c");
        assertThat(place.remembered()).isEqualTo(HighestIds.NONE);
        place.remember(new HighestIds(100_000, 4711, 5000));
        place.remember(new HighestIds(9, 5, 6));
        assertThat(open("c").remembered()).isEqualTo(new HighestIds(9, 5, 6));
        Files.writeString(root.resolve("state/highest"), "garbage");
        assertThat(open("c").remembered()).isEqualTo(HighestIds.NONE);
        assertThat(new HighestIds(9, 5, 6).and(new HighestIds(1, 7, 2))).isEqualTo(new HighestIds(9, 7, 6));
    }
}
