package dev.muster.cli.acct;

import dev.muster.cli.CommandContext;
import dev.muster.model.Json;
import java.util.List;

/** {@code --json} and {@code --yaml}. */
final class AcctJson {
    private AcctJson() {}

    static int print(CommandContext c, Sacctmgr.Settings s, Entity entity, List<Json.Obj> rows) {
        c.error("--" + s.json + " is not supported by this version for " + entity.name());
        return 1;
    }
}
