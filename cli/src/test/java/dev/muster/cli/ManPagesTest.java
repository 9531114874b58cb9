package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.command.GetOpt;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each command has a manual page with all its options, and completions that the shells can read. */
class ManPagesTest {
    @Test
    void everyCommandHasAManualPageAndCompletions(@TempDir Path share) throws Exception {
        ManPages.main(new String[] {share.toString()});
        assertThat(ManPages.pages().keySet()).containsExactlyElementsOf(CommandTable.NAMES);
        for (String command : CommandTable.NAMES) {
            ManPages.Page page = ManPages.pages().get(command);
            assertThat(page.summary()).as(command).isNotEmpty();
            assertThat(page.text()).as(command).isNotEmpty();
            assertThat(page.examples()).as(command).isNotEmpty().allMatch(e -> e.startsWith(command));
            String manual = Files.readString(share.resolve("man/man1/" + command + ".1"))
                    .replace("\\-", "-");
            String bash = Files.readString(share.resolve("bash-completion/completions/" + command));
            String zsh = Files.readString(share.resolve("zsh/site-functions/_" + command));
            for (GetOpt.Opt o : CommandTable.of(command).orElseThrow().options()) {
                if (!o.name().isEmpty()) {
                    String option = dev.muster.cli.wrap.Wrapper.sign(
                                    CommandTable.of(command).orElseThrow(), o)
                            + o.name();
                    assertThat(List.of(manual, bash, zsh))
                            .as(command + " " + option)
                            .allMatch(t -> t.contains(option));
                }
            }
            assertThat(page.text())
                    .as(command + ": a paragraph ends with its sentence")
                    .allMatch(t -> t.matches("(?s).*[.:!?)]"));
            // the shell itself is asked for what begins with --vers and --partition=
            Process shell = new ProcessBuilder(
                            "bash",
                            "-c",
                            ". $1; COMP_WORDS=($2 --vers); COMP_CWORD=1; _muster_${2//./_}; echo ${COMPREPLY[@]}",
                            "-",
                            share.resolve("bash-completion/completions/" + command)
                                    .toString(),
                            command)
                    .redirectErrorStream(true)
                    .start();
            assertThat(new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip())
                    .as(command)
                    .isEqualTo("--version");
        }
        offers(share, "muster", "muster pl", "plan");
        offers(share, "scontrol", "scontrol reconf", "reconfigure");
        offers(share, "scontrol", "scontrol show par", "partition");
        offers(share, "scontrol", "scontrol update NodeN", "NodeName=");
        offers(share, "sacctmgr", "sacctmgr mod", "modify");
        offers(share, "squeue", "squeue -t NODE", "NODE_FAIL");
        // a number of nodes has no names
        offers(share, "sbatch", "sbatch --nodes = n", "");
    }

    private static void offers(Path share, String command, String line, String offered) throws Exception {
        Process shell = new ProcessBuilder(
                        "bash",
                        "-c",
                        "compopt() { :; }; sinfo() { echo n1; }; cd $4; . $1;"
                                + " COMP_WORDS=($3); COMP_CWORD=$((${#COMP_WORDS[@]} - 1));"
                                + " _muster_$2; echo ${COMPREPLY[@]}",
                        "-",
                        share.resolve("bash-completion/completions/" + command).toString(),
                        command,
                        line,
                        java.nio.file.Files.createDirectories(share.resolve("empty"))
                                .toString())
                .redirectErrorStream(true)
                .start();
        assertThat(new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip())
                .as(line)
                .isEqualTo(offered);
    }
}
