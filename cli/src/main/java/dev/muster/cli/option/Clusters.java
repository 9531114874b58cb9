package dev.muster.cli.option;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.KnownCluster;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.model.Release;
import dev.muster.model.format.Digits;
import dev.muster.model.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The {@code -M} option. The cluster of slurm.conf is spoken to directly; where the others are, slurmdbd knows. A command about several clusters
 * runs once for each of them.
 */
public final class Clusters {
    /** What runs for each cluster that is named; of the others each has its own way with them. */
    private static final Set<String> FOR_EACH = Set.of("scancel", "scontrol", "sdiag", "sinfo", "sprio", "squeue", "strigger");
    private static final Set<String> NAMES = Set.of("cluster", "clusters");
    private static final Set<String> LISTS = Set.of("sinfo", "sprio", "squeue");

    private static final Set<String> SUBMITTERS = Set.of("sbatch", "srun", "salloc");

    private Clusters() {}

    /** Of a command that speaks to one cluster: the name of the one that is meant. */
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

    /** @param registered whether slurmdbd knows it: it does not run then */
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

    /** What was asked for of other clusters than the own one alone; none where all goes its usual way. */
    private static List<String> remoteNames(CommandContext c, Command command) {
        if (!FOR_EACH.contains(c.name()) || !c.host().selectedCluster().isEmpty()) {
            return List.of();
        }
        String wanted = c.env("SLURM_CLUSTERS");
        if (wanted.isEmpty() && c.args().stream().noneMatch(a -> a.startsWith("-") && (a.indexOf('M') > 0 || a.startsWith("--c")))) {
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

    /** Runs a command for each of the clusters that it names; empty if it names none but this one. */
    public static Optional<Integer> runForEach(CommandContext c, Command command) throws SlurmException, UsageException {
        List<String> names = remoteNames(c, command);
        if (names.isEmpty()) {
            return Optional.empty();
        }
        c.host().needsOwnProcess();
        List<KnownCluster> clusters = lookUp(c, names);
        boolean apart = LISTS.contains(c.name()) && GetOpt.parse(command.options(), c.args(), false).hits().stream()
                .noneMatch(h -> Set.of("noheader", "json", "yaml").contains(h.opt().name()));
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

    /** Where the clusters are that are named; {@code all} names every one that runs. */
    public static List<KnownCluster> lookUp(CommandContext c, List<String> names) throws SlurmException, UsageException {
        Map<String, KnownCluster> known = new TreeMap<>();
        Json.Obj q = new Json.Obj().put("entity", "cluster").put("where", new Json.Obj()).put("options", new ArrayList<>());
        for (Json.Obj row : c.host().accounting().call("Show", q).objects("rows")) {
            known.put(row.text("Cluster"), new KnownCluster(row.text("Cluster"), row.text("ControlHost"),
                    (int) Math.max(0, Digits.parseNumber(row.text("ControlPort")))));
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

    /** The variable by which a command of salloc's knows that its job is in another cluster: {@code name:host:port:version}. */
    public static final String WORKING = "SLURM_WORKING_CLUSTER";

    /** Turns to the cluster in which the allocation is that srun is called from. That of the job says the same, or the variable is another job's. */
    public static void selectOfAllocation(CommandContext c) {
        List<String> parts = Texts.split(c.env(WORKING), ':');
        if (parts.size() < 3 || !parts.getFirst().equals(c.env("SLURM_CLUSTER_NAME")) || c.host().clusters().contains(parts.getFirst())) {
            return;
        }
        c.host().needsOwnProcess();
        c.host().selectCluster(new KnownCluster(parts.getFirst(), parts.get(1), (int) Math.max(0, Digits.parseNumber(parts.get(2)))));
    }

    /** The value of {@link #WORKING} for what is started in an allocation of the cluster that was turned to; "" for the own one. */
    public static String workingCluster(CommandContext c) {
        return c.host().remoteCluster().map(k -> k.name() + ":" + k.address() + ":" + k.port() + ":" + Release.RPC_VERSION).orElse("");
    }

    /** Whether slurmdbd is needed to know where these are. */
    public static boolean needSlurmdbd(CommandContext c, String names) {
        List<String> all = Texts.split(names, ',');
        return hasSlurmdbd(c) && !(all.size() < 2 && c.host().clusters().containsAll(all));
    }
}
