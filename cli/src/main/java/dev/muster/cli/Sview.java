package dev.muster.cli;

import java.util.List;

/** The graphical view, which there is none of: who calls it is told what says the same. */
final class Sview implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table("help::n", "usage::n", "version:V:n");

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext c) throws UsageException {
        for (GetOpt.Hit h : Standard.parse(c, OPTIONS).hits()) {
            if (Standard.told(c, OPTIONS, "", h)) {
                return 0;
            }
        }
        c.error("there are no windows in this version of Muster, and no page to look at: sinfo, squeue and scontrol show have what they would show");
        return 1;
    }
}
