package dev.muster.cli;

/** The {@code -M} option: only the configured cluster can be reached from here. */
final class Clusters {
    private Clusters() {}

    static String checked(CommandContext c, String names) throws UsageException {
        if (names.equalsIgnoreCase("all")) {
            return c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst();
        }
        for (String name : Texts.split(names, ',')) {
            if (!c.host().clusters().contains(name)) {
                throw c.bad(1, "'" + name + "' can't be reached now, or it is an invalid entry for --cluster.  "
                        + "Use 'sacctmgr list clusters' to see available clusters.");
            }
        }
        return names;
    }
}
