package dev.muster.cli.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Output;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Where the program of srun and salloc is looked for: DIR has x, sub/x and the closed file c; DIR/bin, which is in
 * PATH, has x, y and sub/z.
 */
class ProgramFileTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            x        | DIR/bin/x
            y        | DIR/bin/y
            ./x      | DIR/./x
            ./y      | none
            ../x     | none
            sub/x    | DIR/sub/x
            sub/z    | DIR/bin/sub/z
            DIR/x    | DIR/x
            DIR/none | none
            c        | none
            ./c      | none
            ./sub    | none
            sub      | none
            """)
    void programNameIsResolvedToItsFile(String name, String expected) throws IOException {
        for (String file : List.of("x", "sub/x", "bin/x", "bin/y", "bin/sub/z", "c")) {
            File f = directory.resolve(file).toFile();
            f.getParentFile().mkdirs();
            Files.writeString(f.toPath(), "#!/bin/sh\n");
            f.setExecutable(!file.equals("c"));
        }
        CommandContext c = new CommandContext(
                "srun",
                "srun",
                List.of(),
                Map.of("PATH", directory + "/bin:/nosuch:"),
                new FakeHost(),
                new Output(new ByteArrayOutputStream(), false),
                new Output(new ByteArrayOutputStream(), true),
                new ByteArrayInputStream(new byte[0]));

        assertThat(ProgramFile.find(c, directory.toString(), name.replace("DIR", directory.toString()))
                        .orElse("none"))
                .isEqualTo(expected.replace("DIR", directory.toString()));
    }
}
