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
    public static void earliest(CommandContext context, List<JobOptions> all, Trial trial)
            throws SlurmException, UsageException {
        context.host().needsOwnProcess();
        String current = context.host().clusters().isEmpty()
                ? ""
                : context.host().clusters().getFirst();
        List<KnownCluster> named =
                Clusters.lookUp(context, Texts.split(all.getFirst().text(JobOption.CLUSTERS), ','));
        KnownCluster best = named.getFirst();
        Optional<SlurmException> refusal = Optional.empty();
        long first = Long.MAX_VALUE;
        for (KnownCluster cluster : named.size() == 1 ? List.<KnownCluster>of() : named) {
            select(context, all, cluster);
            try {
                long start = trial.reply().number("testStart");
                if (start < first || start == first && cluster.name().equals(current)) {
                    best = cluster;
                    first = start;
                }
            } catch (SlurmException e) {
                refusal = Optional.of(e);
            }
        }
        if (first == Long.MAX_VALUE && refusal.isPresent()) {
            throw refusal.get();
        }
        select(context, all, best);
    }

    private static void select(CommandContext context, List<JobOptions> all, KnownCluster cluster)
            throws UsageException {
        context.host().selectCluster(cluster);
        for (JobOptions options : all) {
            options.drop(JobOption.CLUSTERS);
            options.set(JobOption.CLUSTERS, cluster.name(), JobOptions.Origin.COMMAND_LINE);
        }
    }
}
