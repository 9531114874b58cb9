package dev.muster.scheduler.node;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Accounts;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.core.state.Table;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Caches requests that were found to have room on the nodes as they are configured: loops submit thousands of jobs that
 * ask for the same, and {@link Feasibility} takes a fifth of what the core does for one. Forgotten as soon as a node, a
 * partition, the accounts or the settings are others.
 */
public final class FeasibilityCache {
    /** Bound of the cache: a script that submits in a loop uses a few entries; above it all are dropped. */
    private static final int KEPT_MAX = 1000;

    /**
     * All properties of a job that {@link Feasibility#infeasible} looks at; when it runs, and what, is not among them.
     */
    private record RequestKey(
            JobDesc.Kind kind,
            ResourceRequest request,
            JobDesc.Extras extras,
            JobDesc.Charge charge,
            String partition,
            int uid,
            boolean held,
            boolean expedite) {
        static RequestKey of(JobDesc desc) {
            return new RequestKey(
                    desc.kind(),
                    desc.request(),
                    desc.extras(),
                    desc.charge(),
                    desc.partition(),
                    desc.owner().uid(),
                    Feasibility.isHeld(desc),
                    desc.timing().expedite());
        }
    }

    private final Set<RequestKey> fits = new HashSet<>();
    private Settings settings = State.EMPTY.settings();
    private Table<String, Node> nodes = State.EMPTY.nodes();
    private Table<String, Partition> partitions = State.EMPTY.partitions();
    private Accounts accounts = State.EMPTY.accounts();

    /** Returns the refusal of a job as {@link Feasibility#infeasible}. */
    public Optional<Decision.Rejected> infeasible(State state, JobDesc desc) {
        boolean same = settings == state.settings()
                && nodes == state.nodes()
                && partitions == state.partitions()
                && accounts == state.accounts();
        if (!same || fits.size() >= KEPT_MAX) {
            settings = state.settings();
            nodes = state.nodes();
            partitions = state.partitions();
            accounts = state.accounts();
            fits.clear();
        }
        if (!desc.request().licenses().isEmpty()) {
            return Feasibility.infeasible(state, desc); // how many there are is found in more places
        }
        RequestKey asked = RequestKey.of(desc);
        if (fits.contains(asked)) {
            return Optional.empty();
        }
        Optional<Decision.Rejected> why = Feasibility.infeasible(state, desc);
        if (why.isEmpty()) {
            fits.add(asked);
        }
        return why;
    }
}
