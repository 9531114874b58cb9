package dev.muster.controller.engine;

import dev.muster.core.index.AffectedEntities;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Names of the jobs and nodes that the newest durable entries changed, for readers that follow the state. It reaches
 * back far enough for slow readers, and is bounded. A reader asks for what is newer than its revision. Only names are
 * kept: a reader gets jobs and nodes in their present state. Thread-safe.
 */
public final class ChangeLog {
    /** Entries that are remembered. */
    static final int KEPT_MAX = 16_384;
    /** Most jobs and nodes in one answer. A reader that is further behind reads the lists anew. */
    static final int TOUCHED_MAX = 8_000;

    static final String PASS = "pass";

    /** A purged job and its owner: users that may not see the owner's jobs do not learn that it existed. */
    public record RemovedJob(int jobId, int ownerUid, String account) {}

    /** Names that one entry changed. */
    private record Item(List<Integer> jobs, List<String> nodes, List<RemovedJob> gone, List<String> lists) {
        boolean isEmpty() {
            return jobs.isEmpty() && nodes.isEmpty() && gone.isEmpty() && lists.isEmpty();
        }
    }

    /**
     * The changes after a revision.
     *
     * @param known false if that is not remembered any more
     * @param lists other lists that changed
     */
    public record Since(
            String revision,
            boolean known,
            Set<Integer> jobs,
            Set<String> nodes,
            List<RemovedJob> gone,
            Set<String> lists) {}

    private final String epoch;
    private final Item[] kept = new Item[KEPT_MAX];
    /** Number of the newest entry; that of revision 0 is none. */
    private long newest;
    /** Revision of the oldest entry that is kept. */
    private long oldest = 1;

    /** @param epoch differs from that of any slurmctld before */
    public ChangeLog(String epoch) {
        this.epoch = epoch;
    }

    /** Takes an entry that is durable and whose state is published. */
    public void follow(Entry entry, State before, State after) {
        Item item = item(entry, before, after);
        if (item == null) {
            forget();
        } else if (!item.isEmpty()) {
            add(item);
        }
    }

    /**
     * Notes that the scheduler has looked at the queue: no record, yet reasons, priorities and planned starts may be
     * others.
     */
    public void passed() {
        add(new Item(List.of(), List.of(), List.of(), List.of(PASS)));
    }

    private synchronized void add(Item item) {
        newest++;
        kept[(int) (newest % KEPT_MAX)] = item;
        oldest = Math.max(oldest, newest - KEPT_MAX + 1);
        notifyAll();
    }

    /** Forgets all changes, because the configuration is another: everything may be. */
    private synchronized void forget() {
        newest++;
        oldest = newest + 1;
        notifyAll();
    }

    /** Returns null where everything may have changed. */
    private static @Nullable Item item(Entry entry, State before, State after) {
        List<Integer> jobs = new ArrayList<>();
        Set<String> nodes = new LinkedHashSet<>();
        List<RemovedJob> gone = new ArrayList<>();
        Set<String> lists = new TreeSet<>();
        for (Change change : entry.changes()) {
            switch (change) {
                case Change.ConfigApplied c -> {
                    return null;
                }
                case Change.PolicyChanged c -> {
                    return null;
                }
                case Change.JobPurged c ->
                    before.jobs()
                            .find(c.jobId())
                            .ifPresent(j -> gone.add(new RemovedJob(
                                    j.id(),
                                    j.desc().owner().uid(),
                                    j.desc().charge().account())));
                case Change.NodeReleased c -> {
                    jobs.add(c.jobId());
                    nodes.add(c.node());
                }
                case Change.JobStarted c -> placed(c, jobs, nodes, before, after);
                case Change.JobShrunk c -> placed(c, jobs, nodes, before, after);
                case Change.JobMemoryLowered c -> placed(c, jobs, nodes, before, after);
                case Change.JobSuspended c -> placed(c, jobs, nodes, before, after);
                case Change.JobResumed c -> placed(c, jobs, nodes, before, after);
                case Change.JobEnded c -> placed(c, jobs, nodes, before, after);
                case Change.JobRequeued c -> placed(c, jobs, nodes, before, after);
                case Change.NodeTextsChanged c -> nodes.add(c.node());
                case Change.NodeMarked c -> nodes.add(c.node());
                case Change.NodePowerActionChosen c -> nodes.add(c.node());
                case Change.NodeAdded c -> nodes.add(c.spec().name());
                case Change.NodeRemoved c -> nodes.add(c.node());
                case Change.PartitionChanged c -> lists.add("partitions");
                case Change.PartitionRemoved c -> lists.add("partitions");
                case Change.ReservationChanged c -> lists.add("reservations");
                case Change.ReservationRemoved c -> lists.add("reservations");
                default -> {
                    jobs.addAll(AffectedEntities.jobs(change));
                    Optional.of(AffectedEntities.node(change))
                            .filter(n -> !n.isEmpty())
                            .ifPresent(nodes::add);
                }
            }
        }
        return new Item(jobs, List.copyOf(nodes), gone, List.copyOf(lists));
    }

    /** Adds the job and those of its nodes that are no more as they were. */
    private static void placed(Change change, List<Integer> jobs, Set<String> nodes, State before, State after) {
        for (int id : AffectedEntities.jobs(change)) {
            jobs.add(id);
            for (State state : List.of(before, after)) {
                Optional<Job> job = state.jobs().find(id);
                job.map(j -> j.run().allocation().nodeNames()).orElse(List.of()).stream()
                        .filter(n -> before.nodes().find(n).orElse(null)
                                != after.nodes().find(n).orElse(null))
                        .forEach(nodes::add);
            }
        }
    }

    public synchronized String revision() {
        return epoch + "." + newest;
    }

    /**
     * Returns the changes since a revision, waiting for the first of them.
     *
     * @param revision that was answered before
     * @param waitMs at most; 0 not at all
     */
    public synchronized Since since(String revision, long waitMs) {
        long number = number(revision);
        if (number < 0 || number > newest) {
            return unknown();
        }
        long until = System.nanoTime() + waitMs * 1_000_000;
        while (number == newest) {
            long leftMs = (until - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0) {
                break;
            }
            try {
                wait(leftMs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        if (number + 1 < oldest) {
            return unknown();
        }
        Set<Integer> jobs = new LinkedHashSet<>();
        Set<String> nodes = new LinkedHashSet<>();
        List<RemovedJob> gone = new ArrayList<>();
        Set<String> lists = new TreeSet<>();
        for (long i = number + 1; i <= newest; i++) {
            Item item = kept[(int) (i % KEPT_MAX)];
            jobs.addAll(item.jobs);
            nodes.addAll(item.nodes);
            gone.addAll(item.gone);
            lists.addAll(item.lists);
            if (jobs.size() + nodes.size() + gone.size() > TOUCHED_MAX) {
                return unknown();
            }
        }
        return new Since(revision(), true, jobs, nodes, gone, lists);
    }

    private Since unknown() {
        return new Since(revision(), false, Set.of(), Set.of(), List.of(), Set.of());
    }

    /** Returns below 0 for what is no revision of this slurmctld's. */
    private long number(String revision) {
        String text = revision.startsWith(epoch + ".") ? revision.substring(epoch.length() + 1) : "";
        return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
    }
}
