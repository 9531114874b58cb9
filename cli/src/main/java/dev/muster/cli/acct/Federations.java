package dev.muster.cli.acct;

import dev.muster.cli.command.UsageException;
import java.util.List;
import java.util.Locale;

/** Refuses every command about federations. Muster has none. */
final class Federations {
    /** Settings of a cluster in a federation. Its features serve federated jobs alone. */
    private static final List<Entity.Name> SETTINGS =
            Entity.names("federation:3=federation fedstate:4=fedstate features:3=features");

    private Federations() {}

    static boolean means(String entity) {
        String lower = entity.toLowerCase(Locale.ROOT);
        return !lower.isEmpty() && "federations".startsWith(lower);
    }

    static boolean isSetting(String key) {
        String lower = key.toLowerCase(Locale.ROOT);
        return SETTINGS.stream().anyMatch(n -> n.means(lower));
    }

    static UsageException refused() {
        return new UsageException(1, List.of("sacctmgr: error: Federations are not supported by this version"));
    }
}
