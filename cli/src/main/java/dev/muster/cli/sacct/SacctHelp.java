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

    static void print(CommandContext c, List<GetOpt.Opt> options) {
        OptionHelp texts = new OptionHelp("sacct");
        c.out().println("sacct [<OPTION>]");
        c.out().println("    Valid <OPTION> values are:");
        for (GetOpt.Opt o : options) {
            String name = o.name().isEmpty() ? "" : "--" + o.name();
            String letter;
            if (o.letter() == 0) {
                letter = "";
            } else {
                letter = "-" + o.letter() + (name.isEmpty() ? "" : ", ");
            }

            c.out().println("     " + letter + name + ":");
            String says = texts.of(o).meaning();
            if (!says.isEmpty()) {
                c.out().println("                 " + says);
            }
        }
        c.out().println("");
        c.out().print(TIMES);
    }
}
