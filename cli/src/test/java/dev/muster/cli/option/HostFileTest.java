package dev.muster.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import dev.muster.json.Json;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * SLURM_HOSTFILE, {@code -m arbitrary} and files of {@code -w} and {@code -F}: hosts in their order, each as often as
 * it is named.
 */
class HostFileTest {
    private static final String HOSTS = "n2\nn2\nn1\nn1\n";
    private static final String RANGES = "n[1-2]\nn1,n3 # rest\n#no\n";

    private final FakeHost host = new FakeHost().reply("Submit", "{\"jobId\":12}");

    private FakeHost.Ran ran(String args) {
        host.files.putAll(
                Map.of("/work/hf", HOSTS, "/work/./hf", HOSTS, "/work/ranges", RANGES, "/work/./ranges", RANGES));
        String[] words = args.split(" ");
        int options = 0;
        for (; options < words.length && words[options].matches("[A-Z_]+=.*"); options++) {
            host.env.put(
                    words[options].substring(0, words[options].indexOf('=')),
                    words[options].substring(words[options].indexOf('=') + 1));
        }
        return host.run("sbatch "
                + String.join(" ", java.util.Arrays.asList(words).subList(options, words.length)) + " --wrap=true");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            SLURM_HOSTFILE=hf             | n2,n2,n1,n1 4 2 arbitrary
            SLURM_HOSTFILE=ranges         | n[1-2],n1,n3 4 3 arbitrary
            SLURM_HOSTFILE=hf -n3         | n2,n2,n1,n1 3 2 arbitrary
            SLURM_HOSTFILE=hf -n2         | n2,n2,n1,n1 2 1 arbitrary
            SLURM_HOSTFILE=hf -m cyclic   | n2,n2,n1,n1 4 2 arbitrary
            SLURM_HOSTFILE=hf -w n1 -n2   | n1 2 0 -
            -m arbitrary -w n2,n1,n1      | n2,n1,n1 3 2 arbitrary
            -m arbitrary -w ./hf          | n2,n2,n1,n1 4 2 arbitrary
            -m arbitrary -F hf            | n2,n2,n1,n1 4 2 arbitrary
            -w ./ranges                   | n[1-2],n1,n3 0 0 -
            """)
    void hostFileDecidesTheLayout(String args, String expected) {
        FakeHost.Ran ran = ran(args);
        assertThat(ran.err()).isEmpty();
        Json.Obj r = host.sent.get("Submit").obj("job").obj("request");
        assertThat(r.text("nodeList") + " " + r.integer("tasks") + " " + r.integer("nodesMin") + " "
                        + (r.text("distribution").isEmpty() ? "-" : r.text("distribution")))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            SLURM_HOSTFILE=hf -n5     | sbatch: error: Too few NodeNames in Slurm Hostfile;sbatch: error: Failure getting NodeNames from hostfile
            SLURM_HOSTFILE=hf -N2     | sbatch: error: --nodes is incompatible with --distribution=arbitrary
            -m arbitrary -w n1,n2 -N2 | sbatch: error: --nodes is incompatible with --distribution=arbitrary
            SLURM_HOSTFILE=no | OPENING ./no, No such file or directory;sbatch: error: Failure getting NodeNames from hostfile
            -w ./no           | OPENING ./no, No such file or directory
            """)
    void invalidHostFileIsRefused(String args, String sentences) {
        FakeHost.Ran ran = ran(args);
        assertThat(ran.err())
                .isEqualTo(sentences
                                .replace("OPENING", "sbatch: error: slurm_allocate_resources error opening file")
                                .replace(';', '\n')
                        + "\n");
        assertThat(ran.rc()).isNotZero();
        assertThat(host.calls).isEmpty();
    }
}
