package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.command.GetOpt;
import dev.muster.cli.option.OptionHelp;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Every option of every command is explained, and by words that are about that command. */
class HelpTest {
    /** They mean the same wherever they are. */
    private static final Set<String> EVERYWHERE = Set.of(
            "cluster",
            "clusters",
            "federation",
            "local",
            "sibling",
            "json",
            "yaml",
            "noheader",
            "noconvert",
            "verbose",
            "quiet",
            "long",
            "sort",
            "format",
            "help",
            "usage",
            "version",
            "helpstate");

    private static final Set<String> OF_JOBS = Set.of("sbatch", "srun", "salloc");

    @Test
    void everyOptionIsExplained() {
        List<String> silent = new ArrayList<>();
        List<String> borrowed = new ArrayList<>();
        var entries = OptionHelp.entries();
        for (String command : CommandTable.NAMES) {
            OptionHelp texts = new OptionHelp(command);
            for (GetOpt.Opt o : CommandTable.of(command).orElseThrow().options()) {
                if (texts.of(o).meaning().isEmpty()) {
                    silent.add(command + " --" + o.name());
                } else if (!OF_JOBS.contains(command)
                        && !EVERYWHERE.contains(o.name())
                        && !entries.containsKey(command + ":" + o.name())) {
                    borrowed.add(command + " --" + o.name());
                }
            }
        }
        assertThat(silent).as("options without a word").isEmpty();
        assertThat(borrowed).as("options explained as another command's").isEmpty();
    }

    @Test
    void everyHelpTextBelongsToAnOption() {
        List<String> left = new ArrayList<>();
        for (String key : OptionHelp.entries().keySet()) {
            int colon = key.indexOf(':');
            List<String> commands = colon < 0 ? CommandTable.NAMES : List.of(key.substring(0, colon));
            String option = key.substring(colon + 1);
            if (commands.stream()
                    .noneMatch(c -> CommandTable.of(c).orElseThrow().options().stream()
                            .anyMatch(o -> o.name().equals(option)))) {
                left.add(key);
            }
        }
        assertThat(left).isEmpty();
    }
}
