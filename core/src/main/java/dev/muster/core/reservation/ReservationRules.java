package dev.muster.core.reservation;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.Planner;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.core.tres.Licenses;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.HostList;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** scontrol create, update and delete reservation; what their times bring about. */
public final class ReservationRules {
    /** A start this long ago is meant as now. */
    private static final long PAST_S = 600;

    private static final int MAX = 10_000;
    /** Repetitions that a start in the past is moved by at most: years of hours. */
    private static final int REPETITIONS_MAX = 100_000;

    private final State state;
    private final DecisionTime now;
    private final Planner planner;
    /** The state with the reservations that this object has moved: the next one does not choose their nodes. */
    private State moved;

    public ReservationRules(State state, DecisionTime now, Planner planner) {
        this.state = state;
        this.moved = state;
        this.now = now;
        this.planner = planner;
    }

    // ---- commands

    public Decision create(Command.CreateReservation c) {
        if (state.reservations().size() >= MAX) {
            return new Decision.Rejected(SlurmErrno.RESERVATION_INVALID, "There are " + MAX + " reservations already");
        }
        ReservationEdit.Edited e =
                ReservationEdit.edit(state, ReservationEdit.blank(c.name()), true, c.values(), c.gids());
        if (e.wrong().equals(Optional.of(SlurmErrno.INVALID_NODE_NAME))
                && !c.values().containsKey("nodes")
                && lacksLicenses(e.reservation())) {
            return Decision.reject(SlurmErrno.INVALID_LICENSES);
        }
        Optional<Decision.Rejected> wrong = e.rejection();
        if (wrong.isPresent()) {
            return wrong.get();
        }
        Reservation r = e.reservation();
        if (state.reservations().has(r.name())) {
            return Decision.reject(SlurmErrno.RESERVATION_NAME_DUP);
        }
        // FORCE_START allows a start in the past: the reservation has its current or next time then
        for (int i = 0; r.has(ReservationFlag.FORCE_START) && r.end() <= now.seconds() && i < REPETITIONS_MAX; i++) {
            r = r.next();
        }
        if (isPast(r)) {
            return Decision.reject(SlurmErrno.INVALID_TIME_VALUE);
        }
        if (r.has(ReservationFlag.TIME_FLOAT)) {
            r = r.at(Math.max(0, r.start() - now.seconds()), r.end() - now.seconds());
        }
        r = named(r);
        if (lacksLicenses(r)) {
            return Decision.reject(SlurmErrno.INVALID_LICENSES);
        }
        Reservation made = r;
        return switch (new ReservationNodes(state, now, planner).choose(r, List.of())) {
            case ReservationNodes.Missing m -> Decision.reject(m.errno());
            case ReservationNodes.Found f ->
                Decision.of(
                        List.of(new Change.ReservationChanged(
                                with(made, f).noticed(made.isActive(now.seconds()), now.seconds()))),
                        made.name());
        };
    }

    /** Tests whether other reservations at the same time leave too few licenses for the reservation. */
    private boolean lacksLicenses(Reservation r) {
        if (r.licenses().isEmpty() || r.has(ReservationFlag.OVERLAP) || r.has(ReservationFlag.MAINT)) {
            return false;
        }
        Map<String, Integer> kept = new HashMap<>();
        for (Reservation other : state.reservations().values()) {
            boolean beside = !other.name().equals(r.name())
                    && !other.windows(now.seconds(), r.startAt(now.seconds()), r.endAt(now.seconds()))
                            .isEmpty();
            for (LicenseRequest.Item i : beside ? other.licenses() : List.<LicenseRequest.Item>of()) {
                kept.merge(i.name(), i.count(), Integer::sum);
            }
        }
        Map<String, Integer> all = Licenses.capacities(state);
        return r.licenses().stream()
                .anyMatch(i -> kept.containsKey(i.name())
                        && i.count() + kept.get(i.name()) > all.getOrDefault(i.name(), Integer.MAX_VALUE));
    }

    /**
     * Returns the reservation with the next number. An unnamed one is named after its first partition, QOS, group,
     * account or user, and that number.
     */
    private Reservation named(Reservation r) {
        int serial = 1;
        for (Reservation other : state.reservations().values()) {
            serial = Math.max(serial, other.serial() + 1);
        }
        if (!r.name().isEmpty()) {
            return r.named(r.name(), serial);
        }
        Reservation.AccessList w = r.who();
        String stem = "resv";
        for (Reservation.Names n : List.of(w.partitions(), w.qos(), w.groups(), w.accounts(), w.users())) {
            stem = n.names().isEmpty() ? stem : n.names().getFirst();
        }
        while (state.reservations().has(stem + "_" + serial)) {
            serial++;
        }
        return r.named(stem + "_" + serial, serial);
    }

    private Optional<Decision.Rejected> refusal(Reservation old, Reservation r, boolean nodesAsked) {
        if (!r.has(ReservationFlag.TIME_FLOAT) && r.end() <= now.seconds()) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_TIME_VALUE));
        }
        if (nodesAsked
                && (!old.units().isEmpty()
                        || !r.want().coreCounts().isEmpty()
                        || r.want().wantsGres())) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.CORE_RESERVATION_UPDATE,
                    "Updating core/node TRES not supported for core-based reservations"));
        }
        if (lacksLicenses(r)) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_LICENSES));
        }
        if (!r.who().equals(old.who()) && excludesItsJobs(old, r)) {
            return Optional.of(Decision.reject(SlurmErrno.RESERVATION_BUSY));
        }
        return Optional.empty();
    }

    /** Tests whether the new times need nodes that are free longer than the old ones. */
    private static boolean hasOtherTimes(Reservation old, Reservation r) {
        return r.start() != old.start() || r.end() > old.end() || r.repeats() != old.repeats();
    }

    private static boolean isStaticNodeCount(Reservation r) {
        return r.units().isEmpty()
                && !r.want().wantsGres()
                && r.want().nodes().isEmpty()
                && r.has(ReservationFlag.STATIC);
    }

    private boolean isPast(Reservation r) {
        boolean startsLate = !r.has(ReservationFlag.FORCE_START) && r.start() < now.seconds() - PAST_S;
        return !r.has(ReservationFlag.TIME_FLOAT) && (startsLate || r.end() <= now.seconds());
    }

    public Decision update(Command.UpdateReservation c) {
        Optional<Reservation> found = state.reservations().find(c.name());
        boolean skip = c.values().containsKey("skip");
        if (!Access.isOperator(state, c.uid()) && !(skip && mayDelete(found, c.user(), c.userGids()))) {
            return Decision.reject(SlurmErrno.USER_ID_MISSING);
        }
        if (found.isEmpty()) {
            return Decision.reject(SlurmErrno.RESERVATION_INVALID);
        }
        return skip ? skip(found.get()) : update(found.get(), c);
    }

    /** Moves a repeating reservation to its next time. */
    private Decision skip(Reservation r) {
        if (!r.repeats()) {
            return Decision.reject(SlurmErrno.RESERVATION_NO_SKIP);
        }
        if (inUse(r)) {
            return Decision.reject(SlurmErrno.RESERVATION_BUSY);
        }
        return Decision.of(List.of(new Change.ReservationChanged(r.next())), "");
    }

    private Decision update(Reservation old, Command.UpdateReservation c) {
        if (c.values().containsKey("starttime")
                && !old.has(ReservationFlag.TIME_FLOAT)
                && old.isActive(now.seconds())) {
            return Decision.reject(SlurmErrno.RESERVATION_ALREADY_STARTED);
        }
        ReservationEdit.Edited e = ReservationEdit.edit(state, old, false, c.values(), c.gids());
        Optional<Decision.Rejected> wrong = e.rejection();
        if (wrong.isPresent()) {
            return wrong.get();
        }
        Reservation r = e.reservation();
        Optional<Decision.Rejected> refusal = refusal(old, r, e.nodesAsked());
        if (refusal.isPresent()) {
            return refusal.get();
        }
        if (!e.nodesAsked() && !hasOtherTimes(old, r)) {
            return Decision.of(List.of(new Change.ReservationChanged(r)), "");
        }
        // it keeps the same nodes as far as possible; a longer time must be free on them, too
        Reservation wish = !e.nodesAsked() && isStaticNodeCount(r) ? r.fixed("") : r;
        List<String> preferred = e.preferred().isEmpty() ? old.nodes() : e.preferred();
        return switch (new ReservationNodes(state, now, planner).choose(wish, preferred)) {
            // Slurm's words for a list of unknown nodes differ between creation and update
            case ReservationNodes.Missing m ->
                Decision.reject(m.errno() == SlurmErrno.INVALID_NODE_NAME ? SlurmErrno.RESERVATION_INVALID : m.errno());
            case ReservationNodes.Found f ->
                Decision.of(
                        List.of(new Change.ReservationChanged(
                                !e.fixed()
                                        ? with(r, f)
                                        : with(r, f).fixed(r.want().partition()))),
                        "");
        };
    }

    /** Tests whether jobs that were submitted to the reservation might not be in it any more. */
    private boolean excludesItsJobs(Reservation old, Reservation r) {
        return state.jobs().values().stream()
                .anyMatch(j -> !j.state().isTerminal()
                        && Reservation.named(j.desc()).contains(r.name())
                        && Access.admits(state, old, j.desc())
                        && !Access.admits(state, r, j.desc()));
    }

    /** USER_DELETE, or user_resv_delete for all reservations: users of a reservation may delete it. */
    private boolean mayDelete(Optional<Reservation> found, String user, List<Integer> gids) {
        return found.filter(r -> (r.has(ReservationFlag.USER_DELETE)
                                || state.settings().options().users().deleteReservations())
                        && r.concerns(state.accounts(), user, gids))
                .isPresent();
    }

    public Decision delete(Command.DeleteReservation c) {
        Optional<Reservation> found = state.reservations().find(c.name());
        if (!Access.isOperator(state, c.uid()) && !mayDelete(found, c.user(), c.userGids())) {
            return Decision.reject(SlurmErrno.USER_ID_MISSING);
        }
        if (found.isEmpty()) {
            return Decision.reject(SlurmErrno.RESERVATION_INVALID);
        }
        Reservation r = found.get();
        if (isNamed(r)) {
            return Decision.reject(SlurmErrno.RESERVATION_BUSY);
        }
        List<Change> changes = new ArrayList<>();
        remove(r, changes);
        return Decision.of(changes, "");
    }

    /** Tests whether jobs run in the reservation or wait for it: these must be told otherwise before it is deleted. */
    private boolean isNamed(Reservation r) {
        return state.jobs().values().stream()
                .anyMatch(j ->
                        !j.state().isTerminal() && Reservation.named(j.desc()).contains(r.name()));
    }

    private boolean inUse(Reservation r) {
        return running().containsKey(r.name());
    }

    /** Returns the first of a job's reservations that has all its nodes; the first one if none has. */
    private String where(Job job) {
        List<String> named = Reservation.named(job.desc());
        for (String name : named) {
            Optional<Reservation> r = state.reservations().find(name);
            if (r.isPresent()
                    && r.get().nodes().containsAll(job.run().allocation().nodeNames())) {
                return name;
            }
        }
        return named.getFirst();
    }

    /** Returns the jobs that run in reservations, by the name of the reservation. */
    private Map<String, List<Job>> running() {
        Map<String, List<Job>> out = new TreeMap<>();
        Set<Integer> seen = new HashSet<>();
        for (Node n : state.nodes().values()) {
            for (int id : n.jobs()) {
                Job job = state.jobs().at(id);
                if (!job.desc().charge().reservation().isEmpty() && job.state().isActive() && seen.add(id)) {
                    out.computeIfAbsent(where(job), k -> new ArrayList<>()).add(job);
                }
            }
        }
        return out;
    }

    /**
     * Removes a reservation: what still waits for it is held, or goes on without it. With very many that wait, it goes
     * when the last of them has been told.
     */
    private void remove(Reservation r, List<Change> changes) {
        for (Job job : state.jobs().values()) {
            List<String> named = Reservation.named(job.desc());
            if (job.state() != JobState.PENDING || !named.contains(r.name())) {
                continue;
            }
            if (changes.size() >= Decision.CHANGES_MAX) {
                changes.add(new Change.ReservationChanged(r.over(now.seconds())));
                return;
            }
            List<String> others = named.stream()
                    .filter(n -> !n.equals(r.name()) && state.reservations().has(n))
                    .toList();
            boolean hold = others.isEmpty() && !r.has(ReservationFlag.NO_HOLD_JOBS_AFTER_END);
            changes.add(new Change.ReservationLost(job.id(), String.join(",", others), hold));
        }
        changes.add(new Change.ReservationRemoved(r.name()));
    }

    // ---- jobs

    /** Returns why a job may not be submitted to the reservations it names; empty if it may. */
    public Optional<SlurmErrno> refusal(JobDesc desc) {
        boolean any = false;
        boolean fits = false;
        for (String name : Reservation.named(desc)) {
            Optional<Reservation> r = state.reservations().find(name);
            if (r.isEmpty()) {
                return Optional.of(SlurmErrno.RESERVATION_INVALID);
            }
            any |= Access.admits(state, r.get(), desc);
            fits |= !isTooSmall(r.get(), desc);
        }
        if (any && !fits) {
            return Optional.of(SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE);
        }
        boolean none = Reservation.named(desc).isEmpty();
        if (any || desc.charge().reservation().isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(none ? SlurmErrno.RESERVATION_INVALID : SlurmErrno.RESERVATION_ACCESS);
    }

    /**
     * Tests whether the reservation has begun with fewer nodes than the job needs, or with others: before that it may
     * still grow.
     */
    private boolean isTooSmall(Reservation r, JobDesc desc) {
        if (!r.isActive(now.seconds())
                || r.has(ReservationFlag.FLEX)
                || r.nodes().isEmpty()) {
            return false;
        }
        boolean elsewhere = !desc.request().nodeList().isEmpty()
                && HostList.parse(desc.request().nodeList()) instanceof HostList.Parsed.Ok ok
                && !r.nodes().containsAll(ok.list().names());
        return elsewhere || desc.request().nodesMin() > r.nodes().size();
    }

    // ---- time

    /** Returns the second since 1970 at which a reservation without jobs became idle. */
    private long idleSince(Reservation r) {
        return r.idleSince() == 0 ? now.seconds() : r.idleSince();
    }

    /** @param idleSince seconds since 1970 */
    private boolean isPurged(Reservation r, long idleSince) {
        return r.has(ReservationFlag.PURGE_COMP)
                && now.seconds() - Math.max(idleSince, r.start()) >= r.purgeAfterS()
                && !hasPendingJobs(r);
    }

    public void due(List<Change> changes) {
        if (state.reservations().size() == 0) {
            return;
        }
        long t = now.seconds();
        Map<String, List<Job>> running = running();
        for (Reservation r : state.reservations().values()) {
            if (changes.size() >= Decision.CHANGES_MAX / 2) {
                return;
            }
            if (r.has(ReservationFlag.TIME_FLOAT)) {
                Reservation whole = replaced(r, false);
                if (whole != r) {
                    changes.add(move(whole));
                }
                continue;
            }
            List<Job> inside = running.getOrDefault(r.name(), List.of());
            if (t >= r.end()) {
                ended(r, inside, changes);
                continue;
            }
            long idle = inside.isEmpty() ? idleSince(r) : 0;
            boolean active = r.isActive(t);
            if (active && idle > 0 && isPurged(r, idle)) {
                if (r.repeats()) {
                    changes.add(move(r.next()));
                } else {
                    remove(r, changes);
                }
                continue;
            }
            Reservation seen = replaced(r, active).noticed(active, idle);
            if (!seen.equals(r)) {
                changes.add(move(seen));
            }
        }
    }

    private Change move(Reservation r) {
        Change change = new Change.ReservationChanged(r);
        moved = moved.apply(new Entry(now.tickMs(), now.timeMs(), -1, "", List.of(change)));
        return change;
    }

    /**
     * Returns changes that give reservations with REPLACE other nodes for those that jobs have taken.
     *
     * @param nodes names of the nodes on which jobs start
     */
    public List<Change> taken(Set<String> nodes) {
        List<Change> out = new ArrayList<>();
        for (Reservation r : state.reservations().values()) {
            if (r.has(ReservationFlag.REPLACE) && r.nodes().stream().anyMatch(nodes::contains)) {
                Reservation whole = replaced(r, r.isActive(now.seconds()));
                if (whole != r) {
                    out.add(move(whole));
                }
            }
        }
        return out;
    }

    private boolean hasPendingJobs(Reservation r) {
        return state.jobs().values().stream()
                .anyMatch(j -> j.state() == JobState.PENDING
                        && Reservation.named(j.desc()).contains(r.name()));
    }

    /** Jobs in it go on for ResvOverRun, then they are ended; it goes with the last of them or comes again. */
    private void ended(Reservation r, List<Job> inside, List<Change> changes) {
        long overRun = state.settings().options().scheduling().reservationOverRunS();
        boolean flex = r.has(ReservationFlag.FLEX);
        if (!inside.isEmpty() && !flex) {
            if (overRun >= 0 && now.seconds() >= r.end() + overRun) {
                for (Job job : inside) {
                    changes.add(new Change.JobEnded(
                            job.id(), JobState.TIMEOUT, JobReason.TIME_LIMIT, "", ExitStatus.NONE, now.seconds()));
                }
            }
            return;
        }
        if (!r.repeats()) {
            remove(r, changes);
            return;
        }
        Reservation next = r.next();
        while (next.end() <= now.seconds()) {
            next = next.next();
        }
        boolean again = next.want().nodes().isEmpty() && !next.has(ReservationFlag.STATIC);
        if (again
                && new ReservationNodes(moved, now, planner).choose(next, next.nodes())
                        instanceof ReservationNodes.Found f) {
            next = with(next, f);
        }
        changes.add(move(next));
    }

    /** Replaces nodes that were only counted when they fail; with REPLACE also when a job has them. */
    private Reservation replaced(Reservation r, boolean active) {
        boolean may = r.want().nodes().isEmpty() && !r.has(ReservationFlag.STATIC) && !r.has(ReservationFlag.MAINT);
        if (!may) {
            return r;
        }
        boolean always = r.has(ReservationFlag.REPLACE);
        List<String> good = new ArrayList<>();
        for (String name : r.nodes()) {
            Optional<Node> n = state.nodes().find(name);
            boolean failed = n.isEmpty()
                    || n.get().has(Node.Flag.DOWN)
                    || n.get().has(Node.Flag.DRAIN)
                    || n.get().has(Node.Flag.FAIL);
            boolean taken = always && active && n.isPresent() && !n.get().jobs().isEmpty();
            if (!failed && !taken) {
                good.add(name);
            }
        }
        if (good.size() == r.nodes().size()) {
            return r;
        }
        ReservationNodes nodes = new ReservationNodes(moved, now, planner);
        if (nodes.choose(r, good) instanceof ReservationNodes.Found f) {
            return with(r, f);
        }
        return replacedInPart(r, good, nodes);
    }

    /** Replaces in a reservation that counted nodes alone as many as there are others for. */
    private static Reservation replacedInPart(Reservation r, List<String> good, ReservationNodes nodes) {
        if (!r.units().isEmpty()
                || !r.want().features().isEmpty()
                || r.want().nodeCount() != r.nodes().size()) {
            return r;
        }
        List<String> bad = r.nodes().stream().filter(n -> !good.contains(n)).toList();
        Reservation best = r;
        int few = 0;
        int many = bad.size();
        while (many - few > 1) {
            int some = (few + many) >>> 1;
            List<String> stay = bad.subList(0, bad.size() - some);
            if (nodes.choose(r.counting(good.size() + some), good) instanceof ReservationNodes.Found f
                    && f.nodes().stream().noneMatch(stay::contains)) {
                best = with(r, nodes.with(f, stay));
                few = some;
            } else {
                many = some;
            }
        }
        return best;
    }

    private static Reservation with(Reservation r, ReservationNodes.Found found) {
        return r.withNodes(found.nodes(), found.units(), found.gres());
    }
}
