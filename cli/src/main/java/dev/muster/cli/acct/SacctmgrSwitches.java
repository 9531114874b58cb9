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
    void log(CommandContext c, String what) {
        if (verbose > 0) {
            c.host().needsOwnProcess(); // what is said cannot be taken back, should the service be of no use to the
            // caller
            c.info("slurmdbd at " + c.host().accountingHost() + ": " + what);
        }
    }

    TextTable.Style style() {
        return new TextTable.Style(!noHeader, bars, lastBar);
    }
}
