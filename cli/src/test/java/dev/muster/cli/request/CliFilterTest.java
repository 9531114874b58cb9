package dev.muster.cli.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Output;
import dev.muster.cli.option.JobOptions;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** shows: CliFilterPlugins */
class CliFilterTest {
    private final FakeHost host = new FakeHost();

    @BeforeEach
    void plugin() {
        host.settings().cliFilters = List.of("cli_filter/user_defaults");
        host.settings().clusterName = "x";
    }

    /** What {@code -v} tells of the options, each NAME=VALUE. */
    private String defined(String err) {
        StringBuilder out = new StringBuilder();
        for (String line : err.split("\n")) {
            if (line.contains(" : ") || line.contains(": set") || line.contains("error:")) {
                out.append(line.replaceFirst("^(sbatch|srun): ", "").replaceAll(" *: ", "="))
                        .append(' ');
            }
        }
        return out.toString().strip();
    }

    /** The file and the command as in Slurm 22.05, and what it said. Lines of the file are separated by a semicolon. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            time=1:30;mem=2048                     | sbatch -v --wrap=x         | mem=2G time=00:02:00 wrap=x verbose=1
            time = 5 ;#mem=1;;sbatch:mem=1          | sbatch -v --wrap=x             | time=00:05:00 wrap=x verbose=1
            *:partition=q;sbatch:x:comment=hi | sbatch -v --wrap=x         | comment=hi partition=q wrap=x verbose=1
            sbatch:y:account=bad;*:x:qos=star      | sbatch -v --wrap=x         | qos=star wrap=x verbose=1
            srun:x:comment=hi;x:time=5             | sbatch -v --wrap=x         | time=00:05:00 wrap=x verbose=1
            foo:x:time=5;mem=1| sbatch -v --wrap=x | error=Unknown command "foo" in ~/.slurm/defaults, line 1 mem=1M wrap=x verbose=1
            bogus=5;mem;t=4;-t=4;exclusive         | sbatch -v --wrap=x         | wrap=x verbose=1
            time=xx;mem=1 | sbatch -v --wrap=x         | error=Invalid --time specification mem=1M wrap=x verbose=1
            mem=3                                  | sbatch -v --mem=5 --wrap=x | mem=5M wrap=x verbose=1
            mem=3 | sbatch -v --mem-per-cpu=5 --wrap=x | mem-per-cpu=5M wrap=x verbose=1
            verbose=2                              | sbatch -v --wrap=x         | wrap=x verbose=3
            """)
    void defaultsFileLineIsApplied(String file, String command, String said) {
        host.files.put("/home/user/.slurm/defaults", file.replace(';', '\n') + "\n");
        assertThat(defined(host.run(command).err())).isEqualTo(said);
    }

    @Test
    void submissionIsLoggedAsALineOfJson() throws Exception {
        host.env.put("HOME", "/h \"x\"");
        Output nowhere = new Output(OutputStream.nullOutputStream(), false);
        JobOptions o = new JobOptions(
                new CommandContext(
                        "srun", "srun", List.of(), host.env, host, nowhere, nowhere, InputStream.nullInputStream()),
                'R');
        o.readArguments(List.of("-l", "-n2", "-t", "3", "true"));
        assertThat(SubmissionLog.text(o, 20, 0, List.of("true")))
                .isEqualTo("{\"jobid\":20,\"stepid\":0,\"options\":{\"label\":\"set\","
                        + "\"ntasks\":\"2\",\"time\":\"00:03:00\",\"argv\":[\"true\"]},"
                        + "\"env\":{\"HOME\":\"/h \\\"x\\\"\"}}");
    }

    @Test
    void userDefaultsYieldToEnvironmentAndScript() {
        host.files.put("/home/user/.slurm/defaults", "time=3\npartition=mine\nmem=3\n");
        host.env.put("SBATCH_TIMELIMIT", "7");
        host.files.put("/work/job", "#!/bin/sh\n#SBATCH -p theirs\n#SBATCH --mem-per-cpu=9\n");
        host.run("sbatch job");
        var job = host.sent.get("Submit").obj("job");
        assertThat(job.obj("timing").integer("timeLimitMin")).isEqualTo(7);
        assertThat(job.text("partition")).isEqualTo("theirs");
        assertThat(job.obj("request").integer("memPerCpuMb")).isEqualTo(9);
        assertThat(job.obj("request").integer("memPerNodeMb")).isZero();
    }

    /** Zero says that there is to be none, and not that nothing was said. */
    @Test
    void noTimeIsNoLimit() {
        for (String line :
                List.of("sbatch -t 0 --wrap=x", "sbatch --time=00:00:00 --wrap=x", "sbatch -t -1 --wrap=x")) {
            host.run(line);
            assertThat(host.sent.get("Submit").obj("job").obj("timing").integer("timeLimitMin"))
                    .as(line)
                    .isEqualTo(-1);
        }
    }

    @Test
    void defaultsAreReadOnlyWithPluginAndFile() {
        host.run("sbatch --wrap=x");
        assertThat(host.sent.get("Submit").obj("job").obj("timing").integer("timeLimitMin"))
                .isZero();
        host.files.put("/home/user/.slurm/defaults", "time=3\n");
        host.settings().cliFilters = List.of();
        host.run("sbatch --wrap=x");
        assertThat(host.sent.get("Submit").obj("job").obj("timing").integer("timeLimitMin"))
                .isZero();
    }

    @Test
    void unknownCliFilterPluginIsRefused() {
        host.settings().cliFilters = List.of("cli_filter/bogus");
        assertThat(host.run("sbatch --wrap=x")).isEqualTo(new FakeHost.Ran(1, "", """
                sbatch: error: Couldn't find the specified plugin name for cli_filter/bogus looking at all files
                sbatch: error: cannot find cli_filter plugin for cli_filter/bogus
                sbatch: error: cannot create cli_filter context for cli_filter/bogus
                sbatch: error: cli_filter plugin terminated with error
                """));
    }
}
