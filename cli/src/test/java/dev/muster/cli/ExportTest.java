package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Bytes;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code --export} of sbatch: which variables of the caller go along, and whether the job starts with its user's login
 * environment.
 */
class ExportTest {
    private final FakeHost host = new FakeHost().reply("Submit", "{\"jobId\":12}");

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            --export=FOO=1          | login | FOO=1 SLURM_EXPORT_ENV=FOO=1 SLURM_GET_USER_ENV=1
            --export=HAVE           | login | HAVE=orig SLURM_EXPORT_ENV=HAVE SLURM_GET_USER_ENV=1
            --export=HAVE,FOO=2     | login | FOO=2 HAVE=orig SLURM_EXPORT_ENV=HAVE,FOO=2 SLURM_GET_USER_ENV=1
            --export=FOO=           | login | FOO= SLURM_EXPORT_ENV=FOO= SLURM_GET_USER_ENV=1
            --export=MISSING        | login | SLURM_EXPORT_ENV=MISSING SLURM_GET_USER_ENV=1
            --export=NONE           | login | SLURM_EXPORT_ENV=NONE SLURM_GET_USER_ENV=1
            --export=none           | login | SLURM_EXPORT_ENV=none SLURM_GET_USER_ENV=1
            --export=NIL            | none  | SLURM_EXPORT_ENV=NIL
            --export=ALL            | none  | HAVE=orig
            --export=all            | none  | HAVE=orig
            --export=ALL,FOO=1      | login | FOO=1 HAVE=orig SLURM_EXPORT_ENV=ALL,FOO=1 SLURM_GET_USER_ENV=1
            --export=FOO=1,ALL      | login | FOO=1 HAVE=orig SLURM_EXPORT_ENV=FOO=1,ALL SLURM_GET_USER_ENV=1
            --export=ALL,           | login | HAVE=orig SLURM_EXPORT_ENV=ALL, SLURM_GET_USER_ENV=1
            --get-user-env          | login | HAVE=orig SLURM_GET_USER_ENV=1
            --export=FOO="x,y",B=2  | login | B=2 FOO="x,y" SLURM_EXPORT_ENV=FOO="x,y",B=2 SLURM_GET_USER_ENV=1
            --export=FOO='x,y'      | login | FOO='x,y' SLURM_EXPORT_ENV=FOO='x,y' SLURM_GET_USER_ENV=1
            ~~                      | none  | HAVE=orig
            SBATCH_EXPORT=NONE      | login | SLURM_EXPORT_ENV=NONE SLURM_GET_USER_ENV=1
            SBATCH_EXPORT=FOO=1     | login | FOO=1 SLURM_EXPORT_ENV=FOO=1 SLURM_GET_USER_ENV=1
            SBATCH_EXPORT=ALL,FOO=1 | login | FOO=1 HAVE=orig SLURM_EXPORT_ENV=ALL,FOO=1 SLURM_GET_USER_ENV=1
            SBATCH_EXPORT=ALL       | none  | HAVE=orig
            """)
    void exportOptionChoosesTheEnvironment(String option, String login, String expected) {
        host.env.putAll(Map.of("HAVE", "orig"));
        if (option.startsWith("SBATCH_")) {
            int eq = option.indexOf('=');
            host.env.put(option.substring(0, eq), option.substring(eq + 1));
        }
        List<String> line = option.isEmpty() || option.startsWith("SBATCH_")
                ? List.of("--wrap=true")
                : List.of(option, "--wrap=true");
        assertThat(host.run("sbatch", line).err()).isEmpty();
        List<String> known = List.of("FOO", "HAVE", "B", "SLURM_EXPORT_ENV", "SLURM_GET_USER_ENV");
        assertThat(host.sent.get("Submit").texts("environment").stream()
                        .map(e -> Bytes.fromBase64(e).text())
                        .filter(e -> known.contains(e.substring(0, e.indexOf('='))))
                        .sorted()
                        .collect(Collectors.joining(" ")))
                .isEqualTo(expected);
        assertThat(host.sent.get("Submit").obj("job").obj("extras").flag("getUserEnv"))
                .isEqualTo(login.equals("login"));
    }

    /** An item whose quote is never closed goes along as it stands, and is named. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            FOO="x         | FOO="x
            FOO='x         | FOO='x
            FOO=1,"B=1     | "B=1
            FOO=x",B=1     | FOO=x",B=1
            FOO=1,'B=1,C=2 | 'B=1,C=2
            FOO="x" y,B=2  | ~~
            FOO=x="y,z"    | ~~
            """)
    void unclosedQuoteInExportIsReported(String export, String named) {
        assertThat(host.run("sbatch", List.of("--export=" + export, "--wrap=true"))
                        .err())
                .isEqualTo(
                        named.isEmpty()
                                ? ""
                                : "sbatch: error: Improperly formed environment variable (" + named + ")\n");
    }
}
