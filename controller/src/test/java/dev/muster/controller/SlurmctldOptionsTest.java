package dev.muster.controller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OptionsTest {
    private static SlurmctldOptions ok(String... arguments) {
        return assertInstanceOf(SlurmctldOptions.Parsed.Ok.class, SlurmctldOptions.parse(List.of(arguments)))
                .options();
    }

    private static String wrong(String... arguments) {
        return assertInstanceOf(SlurmctldOptions.Parsed.Wrong.class, SlurmctldOptions.parse(List.of(arguments)))
                .sentence();
    }

    @Test
    void slurmctldOptionLettersAndValuesAreRead() {
        assertEquals(
                new SlurmctldOptions(
                        true, true, true, "/etc/s.conf", "/var/log/s", 2, -7, List.of(), SlurmctldOptions.Mode.SERVE),
                ok("-cDs", "-vv", "-f", "/etc/s.conf", "-L/var/log/s", "-n", "-7"));
        assertEquals(19, ok("-n99").nice());
        assertEquals(SlurmctldOptions.Mode.VERSION, ok("-V").mode());
        assertEquals("option requires an argument -- 'n'", wrong("-Dn"));
        assertEquals("invalid option -- 'x'", wrong("-x"));
    }

    @Test
    void optionWithoutEffectIsReported() {
        for (String option : List.of("-R", "-r", "-B", "-i")) {
            List<String> remarks = ok(option).remarks();
            assertEquals(1, remarks.size());
            assertTrue(remarks.getFirst().startsWith(option + " has no effect: "), remarks.getFirst());
        }
        assertTrue(ok("-n", "low").remarks().getFirst().contains("-n low has no effect"));
        assertEquals(0, ok("-n", "low").nice());
    }

    @Test
    void workingDirectoryFallsBackFromLogToStateToVarTmp(@TempDir Path directory) {
        Path missing = directory.resolve("missing");
        assertEquals(directory, SlurmctldOptions.workingDirectory(directory + "/ctld.log", missing));
        assertEquals(directory, SlurmctldOptions.workingDirectory(missing + "/ctld.log", directory));
        assertEquals(directory, SlurmctldOptions.workingDirectory("", directory));
        assertEquals(Path.of("/var/tmp"), SlurmctldOptions.workingDirectory("", missing));
    }
}
