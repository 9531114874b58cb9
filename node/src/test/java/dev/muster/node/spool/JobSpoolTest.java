package dev.muster.node.spool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Directories of jobs on a node. */
class JobSpoolTest {
    private static final int DIRECTORIES = 20;
    private static final int FILES = 20;

    @TempDir
    Path temporary;

    /** Files of a job may be deleted by their owner meanwhile: the rest goes all the same. */
    @Test
    void filesThatVanishDoNotEndTheRemoval() throws Exception {
        try (var threads = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < 20; round++) {
                Path tree = tree("round" + round);
                Callable<Void> removal = () -> {
                    JobSpool.removeTree(tree);
                    return null;
                };
                Callable<Void> owner = () -> {
                    for (int d = 0; d < DIRECTORIES; d++) {
                        for (int f = 0; f < FILES; f++) {
                            Files.deleteIfExists(tree.resolve("job" + d).resolve("file" + f));
                        }
                    }
                    return null;
                };
                for (Future<Void> done : threads.invokeAll(List.of(removal, owner))) {
                    done.get();
                }
                assertThat(tree).doesNotExist();
            }
        }
    }

    @Test
    void aTreeThatIsGoneIsNoError() throws IOException {
        JobSpool.removeTree(temporary.resolve("none"));
        assertThat(temporary).isEmptyDirectory();
    }

    @Test
    void linksAreRemovedAndNotFollowed() throws IOException {
        Path kept = Files.writeString(
                Files.createDirectory(temporary.resolve("kept")).resolve("file"), "x");
        Path tree = tree("tree");
        Files.createSymbolicLink(tree.resolve("link"), kept.getParent());
        JobSpool.removeTree(tree);
        assertThat(tree).doesNotExist();
        assertThat(kept).hasContent("x");
    }

    private Path tree(String name) throws IOException {
        Path tree = Files.createDirectory(temporary.resolve(name));
        for (int d = 0; d < DIRECTORIES; d++) {
            Path directory = Files.createDirectory(tree.resolve("job" + d));
            for (int f = 0; f < FILES; f++) {
                Files.writeString(directory.resolve("file" + f), "x");
            }
        }
        return tree;
    }
}
