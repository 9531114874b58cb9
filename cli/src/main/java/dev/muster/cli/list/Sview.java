package dev.muster.cli.list;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.PageLink;
import dev.muster.cli.option.CommonOptions;
import java.util.List;

/** Runs sview, which prints a link to the page that slurmrestd serves. The link logs the caller in. */
public final class Sview implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table("help::n", "usage::n", "version:V:n");

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws UsageException, SlurmException {
        for (GetOpt.Hit hit : CommonOptions.parse(context, OPTIONS).hits()) {
            if (CommonOptions.answer(context, OPTIONS, "", hit)) {
                return 0;
            }
        }
        return PageLink.print(context, "");
    }
}
