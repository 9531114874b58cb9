package dev.muster.controller.view;

import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.api.JobMessages.QueryJobs;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Finds the jobs that a query means. */
public final class JobQuery {
    /** Jobs in these states are listed in their nodes. */
    private static final Set<String> ON_NODES = Set.of(JobState.RUNNING.name(), JobState.SUSPENDED.name());

    private final State state;
    private final QueryJobs q;
    private final Optional<HostList> nodes;
    private final Predicate<Job> shown;
    private final OwnedJobs owned;

    /**
     * @param shown which jobs the asker may know of
     * @param owned as of this state or a later one
     */
    public JobQuery(State state, QueryJobs q, OwnedJobs owned, Predicate<Job> shown) {
        this.owned = owned;
        this.shown = shown;
        this.state = state;
        this.q = q;
        if (q.nodes().isEmpty()) {
            nodes = Optional.empty();
        } else if (HostList.parse(String.join(",", q.nodes())) instanceof HostList.Parsed.Ok ok) {
            nodes = Optional.of(ok.list());
        } else {
            nodes = Optional.of(HostList.empty());
        }
    }

    /**
     * @param tasks the indices of an array's pending record that are meant; empty for all or for other jobs
     * @param others records of tasks that have left the array's record and are shown with it
     */
    public record Hit(Job job, IndexSet tasks, List<Job> others) {
        Hit(Job job, IndexSet tasks) {
            this(job, tasks, List.of());
        }
    }

    public List<Hit> hits() {
        List<Hit> found = found();
        return q.joinArrays() && !q.expandArrays() ? joined(found) : found;
    }

    /** Places in the list of arrays' waiting records, by number of the job. */
    private Map<Integer, Integer> arrayRecords(List<Hit> found) {
        Map<Integer, Integer> records = new HashMap<>();
        boolean tasksNamed = q.jobs().stream().anyMatch(name -> name.indexOf('_') >= 0);
        for (int i = 0; i < found.size(); i++) {
            Job job = found.get(i).job();
            boolean last = job.isArrayTask()
                    && job.isPending()
                    && job.id() == job.array().jobId()
                    && job.restarts() == 0
                    && !tasksNamed;
            if (last || job.isArrayRecord() && (left(found.get(i)).count() > 1 || !tasksNamed)) {
                records.put(job.id(), i);
            }
        }
        return records;
    }

    /**
     * Joins tasks with their array's record, of those that were held, changed or requeued and wait by themselves: as
     * long as one waits in the record they are told with it, unless they have another name or go to another partition.
     */
    private List<Hit> joined(List<Hit> found) {
        Map<Integer, Integer> records = arrayRecords(found);
        if (records.isEmpty()) {
            return found;
        }
        List<Hit> out = new ArrayList<>(found);
        Map<Integer, List<Job>> joining = new HashMap<>();
        for (int i = 0; i < out.size(); i++) {
            Job job = out.get(i).job();
            Integer at = job.isArrayTask() && job.isPending()
                    ? records.get(job.array().jobId())
                    : null;
            if (at != null && at != i && alike(job, found.get(at).job())) {
                joining.computeIfAbsent(at, k -> new ArrayList<>()).add(job);
                out.set(i, null);
            }
        }
        joining.forEach((at, others) -> {
            IndexSet tasks =
                    IndexSet.of(others.stream().mapToInt(j -> j.array().task()).toArray());
            out.set(at, new Hit(found.get(at).job(), left(found.get(at)).union(tasks), others));
        });
        if (!joining.isEmpty()) {
            out.removeIf(Objects::isNull);
        }
        return out;
    }

    private static IndexSet left(Hit hit) {
        if (!hit.tasks().isEmpty()) {
            return hit.tasks();
        }
        if (hit.job().isArrayTask()) {
            return IndexSet.of(hit.job().array().task());
        }
        return hit.job().array().pending();
    }

    private static boolean alike(Job a, Job b) {
        return a.desc().name().equals(b.desc().name())
                && a.desc().partition().equals(b.desc().partition());
    }

    private Iterable<Job> candidates() {
        if (onNodes()) {
            return jobsOfNodes();
        }
        return q.userIds().isEmpty() ? state.jobs().values() : jobsOfUsers();
    }

    private List<Hit> found() {
        List<Hit> out = new ArrayList<>();
        if (q.jobs().isEmpty()) {
            for (Job job : candidates()) {
                if (matches(job)) {
                    out.add(new Hit(job, IndexSet.empty()));
                }
            }
            return out;
        }
        for (String text : q.jobs()) {
            JobName.parse(text, state).ifPresent(name -> named(name, out));
        }
        return once(out);
    }

    /** Tests whether only jobs with an allocation are asked for. */
    private boolean onNodes() {
        return !q.allStates() && !q.states().isEmpty() && ON_NODES.containsAll(q.states());
    }

    /** Returns the jobs that nodes have, in the order of their numbers: far fewer than those of a long queue. */
    private List<Job> jobsOfNodes() {
        TreeSet<Integer> ids = new TreeSet<>();
        state.nodes().values().forEach(n -> ids.addAll(n.jobs()));
        return ids.stream().map(state.jobs()::at).toList();
    }

    private List<Job> jobsOfUsers() {
        return owned.of(q.userIds()).stream()
                .map(state.jobs()::find)
                .flatMap(Optional::stream)
                .toList();
    }

    /** Adds an array as Slurm lists it: first its waiting record, then its tasks, the newest first. */
    private void named(JobName name, List<Hit> out) {
        List<Job> tasks = new ArrayList<>(state.tasksOf(name.jobId()));
        tasks.sort(Comparator.comparingInt(Job::id).reversed());
        Optional<Job> own = state.jobs().find(name.jobId());
        if (name.tasks().isEmpty()) {
            own.ifPresent(j -> {
                List<Job> meant = j.isHetLeader() && !name.alone() ? state.members(j) : List.of(j);
                meant.forEach(m -> add(new Hit(m, IndexSet.empty()), out));
            });
            tasks.forEach(task -> add(new Hit(task, IndexSet.empty()), out));
            return;
        }
        own.ifPresent(j -> {
            IndexSet wanted = j.array().pending().intersect(name.tasks());
            if (!wanted.isEmpty()
                    || j.array().jobId() == j.id()
                            && name.tasks().contains(j.array().task())) {
                add(new Hit(j, wanted), out);
            }
        });
        tasks.stream()
                .filter(task -> name.tasks().contains(task.array().task()))
                .forEach(task -> add(new Hit(task, IndexSet.empty()), out));
    }

    /** An array of which several tasks were named one by one is asked for once. */
    private static List<Hit> once(List<Hit> named) {
        Map<Integer, Hit> out = new LinkedHashMap<>();
        for (Hit hit : named) {
            out.merge(
                    hit.job().id(),
                    hit,
                    (a, b) -> a.tasks().isEmpty() || b.tasks().isEmpty()
                            ? new Hit(a.job(), IndexSet.empty())
                            : new Hit(a.job(), a.tasks().union(b.tasks())));
        }
        return List.copyOf(out.values());
    }

    private void add(Hit hit, List<Hit> out) {
        if (matches(hit.job)) {
            out.add(hit);
        }
    }

    /** Tests whether there is such a job at all, whatever its state. */
    public boolean knows(String text) {
        return JobName.parse(text, state)
                .map(n -> state.jobs().find(n.jobId()).filter(shown).isPresent()
                        || state.tasksOf(n.jobId()).stream().anyMatch(shown))
                .orElse(false);
    }

    private boolean matches(Job job) {
        return states(job)
                && users(job)
                && accounts(job)
                && partitions(job)
                && qos(job)
                && names(job)
                && reservations(job)
                && (q.licenses().isEmpty()
                        || q.licenses().stream().anyMatch(job.desc().request().licenses()::contains))
                && nodes(job)
                && shown.test(job);
    }

    /** A filter of a query that can exclude a job. */
    public enum Filter {
        USER,
        STATE,
        NAME,
        ACCOUNT,
        PARTITION,
        QOS,
        RESERVATION,
        NODES
    }

    /** Returns the first filter that excludes the job, in the order of {@link Filter}; empty if none does. */
    public Optional<Filter> excludedBy(Job job) {
        return Stream.of(Filter.values())
                .filter(f -> !switch (f) {
                    case USER -> users(job);
                    case STATE -> states(job);
                    case NAME -> names(job);
                    case ACCOUNT -> accounts(job);
                    case PARTITION -> partitions(job);
                    case QOS -> qos(job);
                    case RESERVATION -> reservations(job);
                    case NODES -> nodes(job);
                })
                .findFirst();
    }

    private boolean users(Job job) {
        return oneOf(q.userIds(), job.desc().owner().uid());
    }

    private boolean accounts(Job job) {
        return oneOf(q.accounts(), job.desc().charge().account());
    }

    private boolean names(Job job) {
        return oneOf(q.names(), job.desc().name());
    }

    private boolean qos(Job job) {
        return q.qos().isEmpty() || job.desc().charge().eachQos().stream().anyMatch(q.qos()::contains);
    }

    private boolean nodes(Job job) {
        return nodes.isEmpty()
                || job.run().allocation().nodes().stream()
                        .anyMatch(s -> nodes.get().contains(s.node()));
    }

    /**
     * Tests whether the job is in one of the named reservations: a job that waits may name several, of which one
     * suffices; one that runs is in one.
     */
    private boolean reservations(Job job) {
        return q.reservations().isEmpty()
                || List.of(job.desc().charge().reservation().split(",")).stream()
                        .anyMatch(q.reservations()::contains);
    }

    private boolean partitions(Job job) {
        if (q.partitions().isEmpty()) {
            return true;
        }
        for (String p : job.desc().partitionList()) {
            if (q.partitions().contains(p)) {
                return true;
            }
        }
        return false;
    }

    private static <T> boolean oneOf(List<T> wanted, T value) {
        return wanted.isEmpty() || wanted.contains(value);
    }

    private boolean states(Job job) {
        if (q.allStates()) {
            return true;
        }
        if (q.states().isEmpty()) {
            return job.state() == JobState.PENDING
                    || job.state().isActive()
                    || job.has(JobFlag.COMPLETING)
                    || job.has(JobFlag.STAGE_OUT);
        }
        for (String s : q.states()) {
            if (job.state().name().equals(s) && !job.has(JobFlag.COMPLETING)
                    || JobViews.flags(job).contains(s)) {
                return true;
            }
            if (job.state().name().equals(s)
                    && job.has(JobFlag.COMPLETING)
                    && job.state().isTerminal()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the jobs in the order in which they are cancelled, pending ones first: otherwise they would be given the
     * nodes of those that run.
     */
    public static List<Hit> waitingFirst(List<Hit> hits) {
        List<Hit> out = new ArrayList<>(hits);
        out.sort(Comparator.comparing(h -> h.job().state() != JobState.PENDING));
        return out;
    }
}
