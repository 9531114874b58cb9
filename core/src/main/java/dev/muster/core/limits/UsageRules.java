package dev.muster.core.limits;

import dev.muster.core.command.Decision;
import dev.muster.core.index.AffectedEntities;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Settings;
import dev.muster.core.state.Shares;
import dev.muster.core.state.State;
import dev.muster.core.tres.Licenses;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.accounting.LimitField;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Charges associations and QOS for what their jobs have had since the last time, and lets old usage fade. */
public final class UsageRules {
    private static final String RESET_NOW = "NOW";

    private final State state;
    private final DecisionTime now;

    public UsageRules(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
    }

    /** Tests whether jobs that ended up to then have been charged. */
    public boolean charged(long endTime) {
        return state.accounts().isEmpty() || endTime <= state.shares().time();
    }

    public void due(List<Change> changes) {
        Shares before = state.shares();
        long periodMs = 1000 * state.settings().options().priority().calcPeriodS();
        if (state.accounts().isEmpty() || before.time() > 0 && now.tickMs() - before.tickMs() < periodMs) {
            return;
        }
        boolean forget = before.resetAt() > 0 && now.seconds() >= before.resetAt();
        Change.UsageCharged next = upToNow(forget, Set.of(), Set.of(), Set.of());
        endSpent(next, changes);
        boolean idle = next.usage().isEmpty()
                && next.qos().isEmpty()
                && before.usage().size() == 0
                && before.qos().size() == 0;
        if (!idle || before.time() == 0 || state.ended().size() > 0 || forget) {
            changes.add(next);
        }
    }

    /**
     * PriorityUsageResetPeriod=NOW: whenever the configuration is read all that was used is forgotten, but for what
     * NoDecay keeps.
     */
    public List<Change> configured(Settings settings) {
        if (state.shares().time() == 0
                || !settings.options().usage().resetPeriod().equals(RESET_NOW)) {
            return List.of();
        }
        Change.UsageCharged all = upToNow(true, Set.of(), Set.of(), Set.of());
        return List.of(new Change.UsageCharged(
                all.time(),
                all.tickMs(),
                0,
                List.of(),
                all.qos().stream().filter(q -> stays(q.id())).toList()));
    }

    /**
     * Ends jobs whose QOS or account has no minutes left, at each charge. Jobs beyond the limit of changes end at the
     * next charge.
     */
    private void endSpent(Change.UsageCharged charge, List<Change> changes) {
        AccountRules rules = new AccountRules(state, charge);
        Set<Integer> seen = new HashSet<>();
        Set<Integer> ending = new HashSet<>();
        changes.forEach(c -> ending.addAll(AffectedEntities.jobs(c)));
        for (Node node : state.nodes().values()) {
            for (int id : node.jobs()) {
                Job job = state.jobs().at(id);
                boolean runs =
                        seen.add(id) && !ending.contains(id) && job.state().isActive();
                if (runs && changes.size() < Decision.CHANGES_MAX / 2 && rules.isSpent(job.desc())) {
                    changes.add(new Change.JobEnded(
                            id,
                            JobState.TIMEOUT,
                            JobReason.TIME_LIMIT,
                            "",
                            job.run().exit(),
                            now.seconds()));
                }
            }
        }
    }

    /**
     * Returns the changes of a new policy. Usage that it resets is forgotten up to this moment, in the same decision.
     */
    public List<Change> policy(Policy p) {
        Map<String, Integer> used = new java.util.TreeMap<>();
        if (!p.remotes().isEmpty()) {
            state.jobs()
                    .values()
                    .forEach(j -> Licenses.held(j).forEach(i -> used.merge(i.name(), i.count(), Integer::sum)));
        }
        Optional<Change.PolicyChanged> change = state.accounts().changed(p, used);
        if (change.isEmpty()) {
            return List.of();
        }
        Set<Integer> assocs = new TreeSet<>();
        Set<Integer> qos = new TreeSet<>();
        change.get().assocs().stream()
                .filter(a -> resets(state.accounts().assocs().find(a.id()).map(AssocPolicy::limits), a.limits()))
                .forEach(a -> assocs.add(a.id()));
        change.get().qos().stream()
                .filter(q -> resets(state.accounts().qos().find(q.id()).map(QosPolicy::limits), q.limits()))
                .forEach(q -> qos.add(q.id()));
        Set<Integer> removed = new TreeSet<>(change.get().assocsGone());
        removed.removeIf(id -> state.shares().usage().find(id).isEmpty()
                && state.shares().each().find(id).isEmpty());
        return assocs.isEmpty() && qos.isEmpty() && removed.isEmpty()
                        || state.shares().time() == 0
                ? List.of(change.get())
                : List.of(upToNow(false, assocs, qos, new TreeSet<>(change.get().assocsGone())), change.get());
    }

    /** Returns the nearest account above an association that goes which stays. */
    private Optional<Integer> heir(int id, Set<Integer> removed) {
        Optional<AssocPolicy> ancestor = state.accounts().assocs().find(id);
        while (ancestor.isPresent() && removed.contains(ancestor.get().id())) {
            ancestor = state.accounts().parent(ancestor.get());
        }
        return ancestor.map(AssocPolicy::id);
    }

    private static boolean resets(Optional<Map<String, String>> before, Map<String, String> after) {
        String reset = after.getOrDefault(LimitField.USAGE_RESET, "");
        return before.isPresent()
                && !reset.isEmpty()
                && !reset.equals(before.get().get(LimitField.USAGE_RESET));
    }

    /**
     * @param forget everything of before
     * @param assocs associations whose usage is reset
     * @param ofQos the same
     * @param removed associations whose usage stays with their parents
     */
    private Change.UsageCharged upToNow(boolean forget, Set<Integer> assocs, Set<Integer> ofQos, Set<Integer> removed) {
        Shares before = state.shares();
        Map<Integer, Long> usage = new TreeMap<>();
        Map<Integer, Long> qos = new TreeMap<>();
        Map<Integer, Map<String, Long>> each = new TreeMap<>();
        Map<Integer, Map<String, Long>> qosEach = new TreeMap<>();
        double left = forget ? 0 : left(now.tickMs() - before.tickMs());
        before.usage().entries().forEach(e -> keep(usage, e.getKey(), e.getValue() * left));
        before.each().entries().forEach(e -> keep(each, e.getKey(), e.getValue(), left));
        before.qos().entries().forEach(e -> keep(qos, e.getKey(), e.getValue() * (stays(e.getKey()) ? 1 : left)));
        before.qosEach().entries().forEach(e -> keep(qosEach, e.getKey(), e.getValue(), stays(e.getKey()) ? 1 : left));
        charge(state, now.seconds(), now.seconds(), before.time(), usage, qos, each, qosEach);
        usage.keySet().removeAll(assocs);
        qos.keySet().removeAll(ofQos);
        for (int id : removed) {
            Optional<Integer> heir = heir(id, removed);
            Long had = heir.isEmpty() ? null : usage.remove(id);
            if (had != null) {
                usage.merge(heir.get(), had, Long::sum);
                add(each, heir.get(), each.getOrDefault(id, Map.of()));
            }
        }
        return new Change.UsageCharged(
                now.seconds(), now.tickMs(), nextReset(before), had(usage, each), had(qos, qosEach));
    }

    /** Tests for NoDecay: what was used of a QOS neither fades nor is forgotten, until its RawUsage is set back. */
    private boolean stays(int qos) {
        return state.accounts()
                .qos()
                .find(qos)
                .filter(q -> QosRules.has(q, QosRules.NO_DECAY))
                .isPresent();
    }

    private static List<Shares.UsageRecord> had(Map<Integer, Long> sums, Map<Integer, Map<String, Long>> each) {
        return sums.entrySet().stream()
                .map(e -> new Shares.UsageRecord(e.getKey(), e.getValue(), each.getOrDefault(e.getKey(), Map.of())))
                .toList();
    }

    private static void keep(Map<Integer, Map<String, Long>> sums, int id, Map<String, Long> had, double left) {
        Map<String, Long> kept = new TreeMap<>();
        had.forEach((name, value) -> {
            if (value * left >= 1) {
                kept.put(name, (long) (value * left));
            }
        });
        if (!kept.isEmpty()) {
            sums.put(id, kept);
        }
    }

    private static void add(Map<Integer, Map<String, Long>> sums, int id, Map<String, Long> more) {
        Map<String, Long> to = sums.computeIfAbsent(id, i -> new TreeMap<>());
        more.forEach((name, value) -> to.merge(name, value, Long::sum));
    }

    private static void keep(Map<Integer, Long> sums, int id, double value) {
        if (value >= 1) {
            sums.put(id, (long) value);
        }
    }

    private double left(long ms) {
        long halfLife = state.settings().options().usage().halfLifeS();
        return halfLife <= 0 ? 1 : StrictMath.pow(0.5, ms / 1000.0 / halfLife);
    }

    /**
     * Adds the usage since the last charge, by association and by QOS, as in {@link Shares#each}. Running jobs count up
     * to a second that is at most two early: times of charges are whole ones. An end that is on record has been, and
     * counts whole.
     */
    static void uncharged(State state, Map<Integer, Map<String, Long>> each, Map<Integer, Map<String, Long>> qosEach) {
        Shares last = state.shares();
        if (last.time() > 0) {
            long nowSeconds = last.time() + (state.tickMs() - last.tickMs()) / 1000;
            charge(state, nowSeconds, Long.MAX_VALUE, last.time(), new TreeMap<>(), new TreeMap<>(), each, qosEach);
        }
    }

    /**
     * @param nowSeconds up to when what runs counts
     * @param upTo up to when what has ended counts; what comes after it is charged the next time
     */
    private static void charge(
            State state,
            long nowSeconds,
            long upTo,
            long since,
            Map<Integer, Long> usage,
            Map<Integer, Long> qos,
            Map<Integer, Map<String, Long>> each,
            Map<Integer, Map<String, Long>> qosEach) {
        Set<Integer> ids = new TreeSet<>();
        state.nodes().values().forEach(n -> ids.addAll(n.jobs()));
        state.ended().from(since << 32).forEach(e -> ids.add(e.getValue()));
        Set<Integer> seen = new HashSet<>();
        for (int id : ids) {
            Job job = state.jobs().at(id);
            Job.Run r = job.run();
            if (r.startTime() == 0
                    || !seen.add(id)
                    || job.state().isActive() && r.allocation().awaitsNodes()) {
                continue;
            }
            long end;
            if (r.endTime() > 0) {
                end = Math.min(r.endTime(), upTo);
            } else if (job.state() == JobState.SUSPENDED) {
                end = Math.min(r.suspendTime(), nowSeconds);
            } else {
                end = nowSeconds;
            }

            long seconds = end - Math.max(r.startTime(), since) - r.paused().after(since);
            if (seconds <= 0) {
                continue;
            }
            String partition = job.desc().firstPartition();
            Optional<QosPolicy> q = state.accounts().qos(job.desc().charge().firstQos());
            TresCounts amounts = TresCounts.of(state, job.run().allocation());
            long billing = amounts.billing(state, job.desc());
            double factor = q.map(p -> p.limits().getOrDefault("UsageFactor", ""))
                    .filter(f -> !f.isEmpty())
                    .map(Double::parseDouble)
                    .orElse(1.0);
            long amount = (long) (billing * factor * seconds * FairShare.UNIT);
            Map<String, Long> had = new TreeMap<>(Map.of(Shares.WALL, (long) (factor * seconds * FairShare.UNIT)));
            amounts.counted(job.desc(), billing)
                    .forEach((name, count) -> had.put(name, (long) (count * factor * seconds * FairShare.UNIT)));
            state.accounts()
                    .assoc(job.desc().owner().user(), job.desc().charge().account(), partition)
                    .ifPresent(a -> {
                        usage.merge(a.id(), amount, Long::sum);
                        add(each, a.id(), had);
                    });
            q.ifPresent(p -> {
                qos.merge(p.id(), amount, Long::sum);
                add(qosEach, p.id(), had);
            });
            AccountRules.ofPartition(state, partition)
                    .filter(p -> q.filter(o -> o.id() == p.id()).isEmpty())
                    .ifPresent(p -> {
                        qos.merge(p.id(), amount, Long::sum);
                        add(qosEach, p.id(), had);
                    });
        }
    }

    /** Returns the start of the next day, week, month, quarter or year of the cluster's zone. */
    private long nextReset(Shares before) {
        String period = state.settings().options().usage().resetPeriod();
        if (period.equals("NONE") || period.equals(RESET_NOW)) {
            return 0;
        }
        if (before.resetAt() > now.seconds()) {
            return before.resetAt();
        }
        ZoneId zone = state.settings().options().usage().zone();
        ZonedDateTime day = Instant.ofEpochSecond(now.seconds()).atZone(zone).truncatedTo(ChronoUnit.DAYS);
        return (switch (period) {
                    case "WEEKLY" -> day.plusDays(7 - day.getDayOfWeek().getValue() % 7);
                    case "MONTHLY" -> day.withDayOfMonth(1).plusMonths(1);
                    case "QUARTERLY" ->
                        day.withDayOfMonth(1)
                                .withMonth((day.getMonthValue() - 1) / 3 * 3 + 1)
                                .plusMonths(3);
                    case "YEARLY" -> day.withDayOfYear(1).plusYears(1);
                    default -> day.plusDays(1);
                })
                .toEpochSecond();
    }
}
