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
    public static String requireKnown(CommandContext context, String names) throws UsageException {
        if (!context.host().selectedCluster().isEmpty()) {
            return context.host().selectedCluster();
        }
        if (names.equalsIgnoreCase("all")) {
            return context.host().clusters().isEmpty()
                    ? ""
                    : context.host().clusters().getFirst();
        }
        for (String name : Texts.split(names, ',')) {
            if (!context.host().clusters().contains(name)) {
                throw unknown(context, name, false);
            }
        }
        return names;
    }

    /** @param registered whether slurmdbd knows the cluster, which does not run then */
    private static UsageException unknown(CommandContext context, String name, boolean registered) {
        List<String> lines = new ArrayList<>();
        lines.add(context.name() + ": error: '" + name
                + "' can't be reached now, or it is an invalid entry for --cluster.  "
                + "Use 'sacctmgr list clusters' to see available clusters.");
        if (hasSlurmdbd(context) && !registered) {
            lines.addFirst(context.name() + ": error: No cluster '" + name + "' known by database.");
        }
        if (!SUBMITTERS.contains(context.name())) {
            lines.add(context.name() + ": fatal: Could not get cluster information");
        }
        return new UsageException(SUBMITTERS.contains(context.name()) ? context.exitError(1) : 1, lines);
    }

    /** Returns the clusters that the command names; none if it names only the one of slurm.conf. */
    private static List<String> remoteNames(CommandContext context, Command command) {
        if (!FOR_EACH.contains(context.name())
                || !context.host().selectedCluster().isEmpty()) {
            return List.of();
        }
        String wanted = context.env("SLURM_CLUSTERS");
        if (wanted.isEmpty()
                && context.args().stream()
                        .noneMatch(a -> a.startsWith("-") && (a.indexOf('M') > 0 || a.startsWith("--c")))) {
            return List.of();
        }
        for (GetOpt.Hit hit :
                GetOpt.parse(command.options(), context.args(), false).hits()) {
            wanted = NAMES.contains(hit.opt().name()) ? hit.value() : wanted;
        }
        List<String> names = Texts.split(Texts.lower(wanted), ',');
        return context.host().clusters().containsAll(names) && names.size() < 2 || !hasSlurmdbd(context)
                ? List.of()
                : names;
    }

    private static boolean hasSlurmdbd(CommandContext context) {
        return context.host().accountingType().equals("accounting_storage/slurmdbd");
    }

    /** Runs a command for each cluster that it names; empty if it names only the one of slurm.conf. */
    public static Optional<Integer> runForEach(CommandContext context, Command command)
            throws SlurmException, UsageException {
        List<String> names = remoteNames(context, command);
        if (names.isEmpty()) {
            return Optional.empty();
        }
        context.host().needsOwnProcess();
        List<KnownCluster> clusters = lookUp(context, names);
        boolean apart = LISTS.contains(context.name())
                && GetOpt.parse(command.options(), context.args(), false).hits().stream()
                        .noneMatch(h -> Set.of("noheader", "json", "yaml")
                                .contains(h.opt().name()));
        int rc = 0;
        for (int i = 0; i < clusters.size(); i++) {
            if (i > 0 && apart) {
                context.out().println("");
            }
            context.host().selectCluster(clusters.get(i));
            try {
                rc = Math.max(rc, command.run(context));
            } catch (SlurmException e) {
                context.error(e.getMessage());
                rc = 1;
            }
            context.out().flush();
        }
        return Optional.of(rc);
    }

    /** Looks up named clusters in slurmdbd; {@code all} names every running one. */
    public static List<KnownCluster> lookUp(CommandContext context, List<String> names)
            throws SlurmException, UsageException {
        Map<String, KnownCluster> known = new TreeMap<>();
        Json.Obj query = new Json.Obj()
                .put("entity", "cluster")
                .put("where", new Json.Obj())
                .put("options", new ArrayList<>());
        for (Json.Obj row : context.host().accounting().call("Show", query).objects("rows")) {
            known.put(row.text("Cluster"), new KnownCluster(row.text("Cluster"), row.text("ControlHost"), (int)
                    Math.max(0, Digits.parseNumber(row.text("ControlPort")))));
        }
        List<KnownCluster> out = new ArrayList<>();
        for (String name : names) {
            if (name.equals("all")) {
                known.values().stream().filter(k -> k.port() > 0).forEach(out::add);
                continue;
            }
            KnownCluster cluster = known.get(name);
            if (cluster == null || cluster.port() == 0) {
                throw unknown(context, name, cluster != null);
            }
            out.add(cluster);
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
    public static void selectOfAllocation(CommandContext context) {
        List<String> parts = Texts.split(context.env(WORKING), ':');
        if (parts.size() < 3
                || !parts.getFirst().equals(context.env("SLURM_CLUSTER_NAME"))
                || context.host().clusters().contains(parts.getFirst())) {
            return;
        }
        context.host().needsOwnProcess();
        context.host().selectCluster(new KnownCluster(parts.getFirst(), parts.get(1), (int)
                Math.max(0, Digits.parseNumber(parts.get(2)))));
    }

    /**
     * Returns the value of {@link #WORKING} for programs in an allocation of the selected cluster; "" for the cluster
     * of slurm.conf.
     */
    public static String workingCluster(CommandContext context) {
        return context.host()
                .remoteCluster()
                .map(k -> k.name() + ":" + k.address() + ":" + k.port() + ":" + Release.RPC_VERSION)
                .orElse("");
    }

    /** Returns whether only slurmdbd knows the addresses of these clusters. */
    public static boolean needSlurmdbd(CommandContext context, String names) {
        List<String> all = Texts.split(names, ',');
        return hasSlurmdbd(context)
                && !(all.size() < 2 && context.host().clusters().containsAll(all));
    }
}
