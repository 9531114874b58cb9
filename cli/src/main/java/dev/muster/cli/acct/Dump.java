package dev.muster.cli.acct;

import dev.muster.cli.CommandContext;
import java.util.List;

/** {@code sacctmgr dump CLUSTER}. */
final class Dump {
    private final CommandContext c;

    Dump(CommandContext c, Sacctmgr.Settings s) {
        this.c = c;
    }

    int run(List<String> words) {
        c.error("dump is not supported by this version");
        return 1;
    }
}
