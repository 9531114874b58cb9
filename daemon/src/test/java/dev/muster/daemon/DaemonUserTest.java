package dev.muster.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Users that may start slurmctld and slurmdbd, and the refusals of release 26.05. */
class DaemonUserTest {
    private static final String KEY = "StateSaveLocation";

    @TempDir
    Path dir;

    private static DaemonUser started(int ownUid, int ownGid) {
        return new DaemonUser("slurm", 5901, 5902, ownUid, ownGid);
    }

    @Test
    void rootAndSlurmUserMayStartIt() {
        assertThatCode(started(0, 0)::checkPermitted).doesNotThrowAnyException();
        assertThatCode(started(0, 5)::checkPermitted).doesNotThrowAnyException();
        assertThatCode(started(5901, 5902)::checkPermitted).doesNotThrowAnyException();
    }

    @Test
    void daemonOfAnotherUserIsRefused() {
        assertThatThrownBy(started(7, 7)::checkPermitted)
                .isInstanceOf(IOException.class)
                .hasMessage("Failed to set GID to 5902");
        assertThatThrownBy(started(5901, 7)::checkPermitted)
                .isInstanceOf(IOException.class)
                .hasMessage("Failed to set GID to 5902");
        assertThatThrownBy(started(7, 5902)::checkPermitted)
                .isInstanceOf(IOException.class)
                .hasMessage("Can not set uid to SlurmUser(5901): Operation not permitted");
        assertThatThrownBy(new DaemonUser("root", 0, 0, 7, 7)::checkPermitted)
                .isInstanceOf(IOException.class)
                .hasMessage("Failed to set GID to 0");
    }

    @Test
    void onlyRootChangesToAnotherUser() {
        assertThat(started(0, 0).isChange()).isTrue();
        assertThat(started(5901, 5902).isChange()).isFalse();
        assertThat(new DaemonUser("root", 0, 0, 0, 0).isChange()).isFalse();
    }

    @Test
    void stateIsTakenOverOnlyWithUserChangeAndJournal() {
        DaemonLog log = log();
        assertThatCode(() -> started(5901, 5902).takeOver(KEY, dir, "journal", List.of(), log))
                .doesNotThrowAnyException();
        assertThatCode(() -> started(0, 0).takeOver(KEY, dir, "journal", List.of(), log))
                .doesNotThrowAnyException();
        assertThatCode(() -> started(0, 0).takeOver(KEY, dir.resolve("none"), "journal", List.of(), log))
                .doesNotThrowAnyException();
    }

    /** No launcher runs this test: where a file is to be given, that is the sentence, with what to do. */
    @Test
    void aJournalThatCannotBeGivenIsASentence() throws IOException {
        Files.createDirectory(dir.resolve("journal"));
        assertThatThrownBy(() -> started(0, 0).takeOver(KEY, dir, "journal", List.of(), log()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("files of root cannot be given to SlurmUser slurm")
                .hasMessageEndingWith("chown -R slurm " + dir);
    }

    @Test
    void aStateThatCanBeUsedHasNoSentence() throws IOException {
        Files.createDirectory(dir.resolve("journal"));
        Files.writeString(dir.resolve("journal/1.log"), "");
        assertThat(started(5901, 5902).unusable(KEY, dir, List.of("journal", "accounting")))
                .isEmpty();
        assertThat(started(5901, 5902).unusable(KEY, dir.resolve("none"), List.of("journal")))
                .isEmpty();
    }

    @Test
    void aFileThatCannotBeReadIsASentence() throws IOException {
        assumeTrue(ProcessIds.uid() != 0, "root reads every file");
        Path file =
                Files.createFile(Files.createDirectory(dir.resolve("journal")).resolve("1.log"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));
        assertThat(started(5901, 5902).unusable(KEY, dir, List.of("journal")))
                .get()
                .asString()
                .contains("SlurmUser slurm cannot read and write " + file)
                .contains("chown -R slurm " + dir);
    }

    private static DaemonLog log() {
        try {
            return new DaemonLog("test", "", true, 0, "");
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
