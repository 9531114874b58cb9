package dev.muster.cli.sacct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.option.OptionHelp;
import java.util.List;

/** Prints {@code sacct --help}. */
final class SacctHelp {
    private static final String TIMES = """
        valid start/end time formats are...
           HH:MM[:SS] [AM|PM]
           MMDD[YY] or MM/DD[/YY] or MM.DD[.YY]
           MM/DD[/YY]-HH:MM[:SS]
           YYYY-MM-DD[THH:MM[:SS]]
           now[{+|-}count[seconds(default)|minutes|hours|days|weeks]]
        """;

    private SacctHelp() {}

    static void print(CommandContext context, List<GetOpt.Opt> options) {
        OptionHelp texts = new OptionHelp("sacct");
        context.out().println("sacct [<OPTION>]");
        context.out().println("    Valid <OPTION> values are:");
        for (GetOpt.Opt option : options) {
            String name = option.name().isEmpty() ? "" : "--" + option.name();
            String letter;
            if (option.letter() == 0) {
                letter = "";
            } else {
                letter = "-" + option.letter() + (name.isEmpty() ? "" : ", ");
            }

            context.out().println("     " + letter + name + ":");
            String says = texts.of(option).meaning();
            if (!says.isEmpty()) {
                context.out().println("                 " + says);
            }
        }
        context.out().println("");
        context.out().print(TIMES);
    }
}
