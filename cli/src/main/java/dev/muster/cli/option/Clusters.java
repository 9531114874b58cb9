package dev.muster.cli.option;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.KnownCluster;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.format.Digits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The {@code -M} option. A command talks directly to the cluster of slurm.conf; slurmdbd has the addresses of the
 * others. A command about several clusters runs once for each.
 */
public final class Clusters {
    /** Commands that run once for each named cluster. */
    private static final Set<String> FOR_EACH =
            Set.of("scancel", "scontrol", "sdiag", "sinfo", "sprio", "squeue", "strigger");

    private static final Set<String> NAMES = Set.of("cluster", "clusters");
    private static final Set<String> LISTS = Set.of("sinfo", "sprio", "squeue");

    private static final Set<String> SUBMITTERS = Set.of("sbatch", "srun", "salloc");

    private Clusters() {}

    /** Returns the name of the cluster that a command talks to. An unknown name ends the command. */
    public static String requireKnown(CommandContext c, String names) throws UsageException {
        if (!c.host().selectedCluster().isEmpty()) {
            return c.host().selectedCluster();
        }
        if (names.equalsIgnoreCase("all")) {
            return c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst();
        }
        for (String name : Texts.split(names, ',')) {
            if (!c.host().clusters().contains(name)) {
                throw unknown(c, name, false);
            }
        }
        return names;
    }

    /** @param registered whether slurmdbd knows the cluster, which does not run then */
    private static UsageException unknown(CommandContext c, String name, boolean registered) {
        List<String> lines = new ArrayList<>();
        lines.add(c.name() + ": error: '" + name + "' can't be reached now, or it is an invalid entry for --cluster.  "
                + "Use 'sacctmgr list clusters' to see available clusters.");
        if (hasSlurmdbd(c) && !registered) {
            lines.addFirst(c.name() + ": error: No cluster '" + name + "' known by database.");
        }
        if (!SUBMITTERS.contains(c.name())) {
            lines.add(c.name() + ": fatal: Could not get cluster information");
        }
        return new UsageException(SUBMITTERS.contains(c.name()) ? c.exitError(1) : 1, lines);
    }

    /** Returns the clusters that the command names; none if it names only the one of slurm.conf. */
    private static List<String> remoteNames(CommandContext c, Command command) {
        if (!FOR_EACH.contains(c.name()) || !c.host().selectedCluster().isEmpty()) {
            return List.of();
        }
        String wanted = c.env("SLURM_CLUSTERS");
        if (wanted.isEmpty()
                && c.args().stream().noneMatch(a -> a.startsWith("-") && (a.indexOf('M') > 0 || a.startsWith("--c")))) {
            return List.of();
        }
        for (GetOpt.Hit h : GetOpt.parse(command.options(), c.args(), false).hits()) {
            wanted = NAMES.contains(h.opt().name()) ? h.value() : wanted;
        }
        List<String> names = Texts.split(Texts.lower(wanted), ',');
        return c.host().clusters().containsAll(names) && names.size() < 2 || !hasSlurmdbd(c) ? List.of() : names;
    }

    private static boolean hasSlurmdbd(CommandContext c) {
        return c.host().accountingType().equals("accounting_storage/slurmdbd");
    }

    /** Runs a command for each cluster that it names; empty if it names only the one of slurm.conf. */
    public static Optional<Integer> runForEach(CommandContext c, Command command)
            throws SlurmException, UsageException {
        List<String> names = remoteNames(c, command);
        if (names.isEmpty()) {
            return Optional.empty();
        }
        c.host().needsOwnProcess();
        List<KnownCluster> clusters = lookUp(c, names);
        boolean apart = LISTS.contains(c.name())
                && GetOpt.parse(command.options(), c.args(), false).hits().stream()
                        .noneMatch(h -> Set.of("noheader", "json", "yaml")
                                .contains(h.opt().name()));
        int rc = 0;
        for (int i = 0; i < clusters.size(); i++) {
            if (i > 0 && apart) {
                c.out().println("");
            }
            c.host().selectCluster(clusters.get(i));
            try {
                rc = Math.max(rc, command.run(c));
            } catch (SlurmException e) {
                c.error(e.getMessage());
                rc = 1;
            }
            c.out().flush();
        }
        return Optional.of(rc);
    }

    /** Looks up named clusters in slurmdbd; {@code all} names every running one. */
    public static List<KnownCluster> lookUp(CommandContext c, List<String> names)
            throws SlurmException, UsageException {
        Map<String, KnownCluster> known = new TreeMap<>();
        Json.Obj q = new Json.Obj()
                .put("entity", "cluster")
                .put("where", new Json.Obj())
                .put("options", new ArrayList<>());
        for (Json.Obj row : c.host().accounting().call("Show", q).objects("rows")) {
            known.put(row.text("Cluster"), new KnownCluster(row.text("Cluster"), row.text("ControlHost"), (int)
                    Math.max(0, Digits.parseNumber(row.text("ControlPort")))));
        }
        List<KnownCluster> out = new ArrayList<>();
        for (String name : names) {
            if (name.equals("all")) {
                known.values().stream().filter(k -> k.port() > 0).forEach(out::add);
                continue;
            }
            KnownCluster k = known.get(name);
            if (k == null || k.port() == 0) {
                throw unknown(c, name, k != null);
            }
            out.add(k);
        }
        return out;
    }

    /**
     * The variable that tells commands of salloc that their job is in another cluster: {@code name:host:port:version}.
     */
    public static final String WORKING = "SLURM_WORKING_CLUSTER";

    /**
     * Selects the cluster of the allocation in which srun is called. The variable belongs to another job if
     * SLURM_CLUSTER_NAME differs.
     */
    public static void selectOfAllocation(CommandContext c) {
        List<String> parts = Texts.split(c.env(WORKING), ':');
        if (parts.size() < 3
                || !parts.getFirst().equals(c.env("SLURM_CLUSTER_NAME"))
                || c.host().clusters().contains(parts.getFirst())) {
            return;
        }
        c.host().needsOwnProcess();
        c.host().selectCluster(new KnownCluster(parts.getFirst(), parts.get(1), (int)
                Math.max(0, Digits.parseNumber(parts.get(2)))));
    }

    /**
     * Returns the value of {@link #WORKING} for programs in an allocation of the selected cluster; "" for the cluster
     * of slurm.conf.
     */
    public static String workingCluster(CommandContext c) {
        return c.host()
                .remoteCluster()
                .map(k -> k.name() + ":" + k.address() + ":" + k.port() + ":" + Release.RPC_VERSION)
                .orElse("");
    }

    /** Returns whether only slurmdbd knows the addresses of these clusters. */
    public static boolean needSlurmdbd(CommandContext c, String names) {
        List<String> all = Texts.split(names, ',');
        return hasSlurmdbd(c) && !(all.size() < 2 && c.host().clusters().containsAll(all));
    }
}
