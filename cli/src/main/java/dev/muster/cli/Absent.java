package dev.muster.cli;

import dev.muster.model.Release;
import java.util.List;

/** A command of Slurm's that is not there yet: it has its name and version, and says in words that it can do nothing else. */
final class Absent implements Command {
    private static final List<String> VERSION_OPTIONS = List.of("-V", "--version");

    @Override
    public List<GetOpt.Opt> options() {
        return List.of();
    }

    @Override
    public int run(CommandContext c) {
        if (!c.args().isEmpty() && VERSION_OPTIONS.contains(c.args().getFirst())) {
            c.out().println(Release.LINE);
            return 0;
        }
        c.error(c.name() + " is not part of this installation yet");
        return 1;
    }
}
