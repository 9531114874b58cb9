package dev.muster.cli.request;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.KnownCluster;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.json.Json;
import java.util.List;
import java.util.Optional;

/** Chooses among the clusters that {@code -M} names for a new job. */
public final class ClusterChoice {
    private ClusterChoice() {}

    /** Tests a submission in the cluster that the command talks to. */
    public interface Trial {
        Json.Obj reply() throws SlurmException, UsageException;
    }

    /** Turns to the named cluster in which a new job would start first; to this cluster where no other is earlier. */
    public static void earliest(CommandContext c, List<JobOptions> all, Trial trial)
            throws SlurmException, UsageException {
        c.host().needsOwnProcess();
        String own = c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst();
        List<KnownCluster> named = Clusters.lookUp(c, Texts.split(all.getFirst().text(JobOption.CLUSTERS), ','));
        KnownCluster best = named.getFirst();
        Optional<SlurmException> refusal = Optional.empty();
        long first = Long.MAX_VALUE;
        for (KnownCluster k : named.size() == 1 ? List.<KnownCluster>of() : named) {
            select(c, all, k);
            try {
                long start = trial.reply().number("testStart");
                if (start < first || start == first && k.name().equals(own)) {
                    best = k;
                    first = start;
                }
            } catch (SlurmException e) {
                refusal = Optional.of(e);
            }
        }
        if (first == Long.MAX_VALUE && refusal.isPresent()) {
            throw refusal.get();
        }
        select(c, all, best);
    }

    private static void select(CommandContext c, List<JobOptions> all, KnownCluster cluster) throws UsageException {
        c.host().selectCluster(cluster);
        for (JobOptions o : all) {
            o.drop(JobOption.CLUSTERS);
            o.set(JobOption.CLUSTERS, cluster.name(), JobOptions.Origin.COMMAND_LINE);
        }
    }
}
