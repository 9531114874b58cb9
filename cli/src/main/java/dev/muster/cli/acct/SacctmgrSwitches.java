package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.format.TextTable;

/** Switches of sacctmgr, which interactive commands may change. */
final class SacctmgrSwitches {
    boolean immediate;
    boolean noHeader;
    boolean bars;
    boolean lastBar;
    boolean quiet;
    boolean readOnly;
    boolean associations;
    int verbose;
    String json = "";
    String parser = "";

    /** {@code -v}: what goes to slurmdbd. */
    void log(CommandContext context, String message) {
        if (verbose > 0) {
            context.host()
                    .needsOwnProcess(); // what is said cannot be taken back, should the service be of no use to the
            // caller
            context.info("slurmdbd at " + context.host().accountingHost() + ": " + message);
        }
    }

    TextTable.Style style() {
        return new TextTable.Style(!noHeader, bars, lastBar);
    }
}
