package dev.muster.model.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MpiBootstrapTest {
    /** What a job has of it, whether MpiParams says not to, and what is set. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ''                          | false | H=slurm HA=aside I=slurm IA=aside O=aside P=aside
            ''                          | true  | O=aside P=aside
            H=ssh                       | false | I=slurm IA=aside O=aside P=aside
            H=ssh I=ssh                 | false | O=aside P=aside
            H=slurm                     | true  | HA=aside O=aside P=aside
            I=slurm IA=-v O=x           | true  | P=aside
            """)
    void launchersStartTheirDaemonsBesideTheSteps(String given, boolean off, String set) {
        Map<String, String> own = new TreeMap<>();
        for (String entry : given.isEmpty() ? new String[0] : given.split(" ")) {
            own.put(name(entry.substring(0, entry.indexOf('='))), entry.substring(entry.indexOf('=') + 1));
        }
        String shown = MpiBootstrap.variables(own, off).entrySet().stream()
                .map(e -> e.getKey() + "=" + e.getValue())
                .collect(Collectors.joining(" "));
        for (String letter : new String[] {"HA", "IA", "I", "H", "O", "P"}) {
            shown = shown.replace(name(letter) + "=", letter + "=");
        }
        assertThat(shown.replace("--external-launcher", "aside")).isEqualTo(set);
        assertThat(MpiBootstrap.variables(own, off).keySet()).allMatch(MpiBootstrap::concerns);
    }

    private static String name(String letter) {
        return switch (letter) {
            case "H" -> "HYDRA_BOOTSTRAP";
            case "HA" -> "HYDRA_LAUNCHER_EXTRA_ARGS";
            case "I" -> "I_MPI_HYDRA_BOOTSTRAP";
            case "IA" -> "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS";
            case "O" -> "OMPI_MCA_plm_slurm_args";
            default -> "PRTE_MCA_plm_slurm_args";
        };
    }
}
