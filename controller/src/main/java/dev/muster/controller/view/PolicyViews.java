package dev.muster.controller.view;

import dev.muster.core.limits.AccountUse;
import dev.muster.core.limits.FairShare;
import dev.muster.core.limits.Priorities;
import dev.muster.core.limits.PriorityFlags;
import dev.muster.core.options.AccountingOptions;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Shares;
import dev.muster.core.state.State;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.accounting.DbdMessages.UserPolicy;
import dev.muster.model.accounting.LimitField;
import dev.muster.model.api.PolicyMessages.AssocMgrReply;
import dev.muster.model.api.PolicyMessages.LimitPart;
import dev.muster.model.api.PolicyMessages.LimitRow;
import dev.muster.model.api.PolicyMessages.PrioritiesReply;
import dev.muster.model.api.PolicyMessages.PriorityRow;
import dev.muster.model.api.PolicyMessages.ShareRow;
import dev.muster.model.api.PolicyMessages.SharesReply;
import dev.muster.model.api.PolicyMessages.UserRow;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Priorities and shares as sprio and sshare show them. */
public final class PolicyViews {
    private final State state;
    private final DecisionTime now;

    public PolicyViews(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
    }

    private String type() {
        return state.settings().options().priority().type();
    }

    /** @param of these jobs; all where it is empty */
    public PrioritiesReply priorities(PrivateDataFilter privacy, List<Integer> of) {
        Priorities p = new Priorities(state, now.seconds());
        List<PriorityRow> rows = new ArrayList<>();
        // with ACCRUE_ALWAYS, jobs are listed before they are eligible
        boolean early = PriorityFlags.growAlways(state.settings());
        for (Job job : of.isEmpty()
                ? state.jobs().values()
                : of.stream().flatMap(id -> state.jobs().find(id).stream()).toList()) {
            boolean runs = job.state().isActive() && PriorityFlags.ofRunning(state.settings());
            if (p.isActive()
                    && (runs
                            || job.state() == JobState.PENDING && !job.isHeld() && (early || job.eligibleTime() > 0))) {
                for (String partition : job.desc().partitionList()) {
                    rows.add(row(p, job, partition));
                }
            }
        }
        rows.removeIf(r -> !privacy.shows(r));
        return new PrioritiesReply(type(), p.weights().byName(), p.weights().tresText(), rows);
    }

    private static PriorityRow row(Priorities p, Job job, String partition) {
        // what is set by hand comes of nothing else
        Priorities.Factors f = Priorities.isFixed(job)
                ? new Priorities.Factors(0, 0, 0, 0, 0, 0, Map.of(), 0)
                : p.factors(job, partition);
        Map<String, Long> weighted = new TreeMap<>();
        f.tres()
                .forEach((name, value) ->
                        weighted.put(name, (long) Math.rint(value * p.weights().tresWeight(name))));
        return new PriorityRow(
                job.id(),
                job.array().jobId(),
                job.array().task(),
                job.isArrayRecord() ? job.array().pending().compact() : "",
                job.shownSluid(),
                job.desc().owner().user(),
                job.desc().owner().uid(),
                job.desc().charge().account(),
                job.desc().charge().qos(),
                partition,
                p.of(job, partition),
                job.desc().timing().nice(),
                f.site(),
                f.age(),
                f.assoc(),
                f.fairShare(),
                f.size(),
                f.partition(),
                f.qos(),
                f.tres(),
                weighted);
    }

    public SharesReply shares(PrivateDataFilter privacy) {
        List<ShareRow> rows = new ArrayList<>(shareRows());
        rows.removeIf(r -> !privacy.shows(r));
        return new SharesReply(type(), PriorityFlags.rule(state.settings()) == FairShare.Rule.TREE, tracked(), rows);
    }

    private List<ShareRow> shareRows() {
        Map<Integer, Map<String, Long>> minutes = runMinutes();
        Map<Integer, Map<String, Long>> charged = charged();
        List<ShareRow> rows = new ArrayList<>();
        for (FairShare.Row r : FairShare.of(state).rows()) {
            AssocPolicy a = r.assoc();
            rows.add(new ShareRow(
                    a.id(),
                    r.depth(),
                    a.account(),
                    a.user(),
                    a.partition(),
                    r.shares() < 0 ? LimitField.PARENT_SHARES : Long.toString(r.shares()),
                    r.normShares(),
                    (long) r.usage(),
                    r.normUsage(),
                    r.effective(),
                    r.factor(),
                    r.level() == FairShare.NEVER_USED ? -1 : r.level(),
                    a.limits().getOrDefault("GrpTRESMins", ""),
                    minutes.getOrDefault(a.id(), Map.of()),
                    seconds(charged.getOrDefault(a.id(), Map.of()))));
        }
        return rows;
    }

    /** Returns the resource minutes that running jobs may still use, by association and those above it. */
    private Map<Integer, Map<String, Long>> runMinutes() {
        Map<Integer, Map<String, Long>> out = new HashMap<>();
        TreeSet<Integer> ids = new TreeSet<>();
        state.nodes().values().forEach(n -> ids.addAll(n.jobs()));
        for (int id : ids) {
            Job job = state.jobs().at(id);
            Job.Run r = job.run();
            if (!job.state().isActive() || r.limitTickMs() < 0) {
                continue;
            }
            Optional<AssocPolicy> a = state.accounts()
                    .assoc(
                            job.desc().owner().user(),
                            job.desc().charge().account(),
                            job.desc().firstPartition());
            while (a.isPresent()) {
                Map<String, Long> sum = out.computeIfAbsent(a.get().id(), k -> new TreeMap<>());
                left(job).forEach((name, minutes) -> sum.merge(name, minutes, Long::sum));
                a = state.accounts().parent(a.get());
            }
        }
        return out;
    }

    /** Returns the resource minutes that a running job may still use. */
    private Map<String, Long> left(Job job) {
        Map<String, Long> out = new TreeMap<>();
        long seconds = Math.max(0, job.run().limitTickMs() - now.tickMs()) / 1000;
        AccountUse.tres(state, job.desc(), job.run().allocation())
                .forEach((name, count) -> out.put(name, count * seconds / 60));
        return out;
    }

    /** Returns charged usage by association, with that of all below it. */
    private Map<Integer, Map<String, Long>> charged() {
        Map<Integer, Map<String, Long>> out = new HashMap<>();
        state.shares().each().entries().forEach(e -> {
            for (Optional<AssocPolicy> a = state.accounts().assocs().find(e.getKey());
                    a.isPresent();
                    a = state.accounts().parent(a.get())) {
                Map<String, Long> sum = out.computeIfAbsent(a.get().id(), k -> new TreeMap<>());
                e.getValue().forEach((name, value) -> sum.merge(name, value, Long::sum));
            }
        });
        return out;
    }

    private static Map<String, Long> minutes(Map<String, Long> charged) {
        Map<String, Long> out = seconds(charged);
        out.replaceAll((name, value) -> value / 60);
        return out;
    }

    private static Map<String, Long> seconds(Map<String, Long> charged) {
        Map<String, Long> out = new TreeMap<>();
        charged.forEach((name, value) -> out.put(name, (long) (value / FairShare.UNIT)));
        out.remove(Shares.WALL);
        return out;
    }

    private static double wall(Map<String, Long> charged) {
        return charged.getOrDefault(Shares.WALL, 0L) / (60 * FairShare.UNIT);
    }

    private final class Sum {
        private int running;
        private int submitted;
        private int accruing;
        private final Map<String, Long> runMins = new TreeMap<>();
        private final Map<String, Long> tres = new TreeMap<>();
        private final Set<String> nodes = new HashSet<>();

        private void add(Job job) {
            boolean active = job.state().isActive();
            submitted += !active && job.isArrayRecord() ? job.array().pending().count() : 1;
            running += active ? 1 : 0;
            long since = job.isPending() && !job.isHeld() ? Priorities.accrueTime(state, job) : 0;
            accruing += since > 0 && since <= now.seconds() ? 1 : 0;
            if (active && job.run().limitTickMs() >= 0) {
                left(job).forEach((name, minutes) -> runMins.merge(name, minutes, Long::sum));
            }
            if (active) {
                AccountUse.tres(state, job.desc(), job.run().allocation())
                        .forEach((name, count) -> tres.merge(name, count, Long::sum));
                // one that several share is one
                nodes.addAll(job.run().allocation().nodeNames());
                tres.put("node", (long) nodes.size());
            }
        }
    }

    private static List<LimitPart> parts(Map<String, Sum> sums) {
        return sums.entrySet().stream()
                .map(e -> new LimitPart(
                        e.getKey(),
                        e.getValue().running,
                        e.getValue().submitted,
                        e.getValue().accruing,
                        e.getValue().tres))
                .toList();
    }

    /** Returns the names that AccountingStorageTRES has beside those of every cluster. */
    private List<String> tracked() {
        List<String> out = new ArrayList<>();
        AccountingOptions options = state.settings().options().accounting();
        options.buffers().forEach(name -> out.add("bb/" + name));
        options.gres().forEach(name -> out.add("gres/" + name));
        options.licenses().forEach(name -> out.add("license/" + name));
        return out;
    }

    private Set<String> chargedQos(Job job) {
        Set<String> out = new TreeSet<>(List.of(job.desc().charge().firstQos()));
        state.partitions()
                .find(job.desc().firstPartition())
                .ifPresent(p -> out.add(p.info().qos()));
        return out;
    }

    /**
     * Returns the reply to {@code scontrol show assoc_mgr}.
     *
     * @param uid of a user by name, -1 if there is none here
     */
    public AssocMgrReply assocMgr(PrivateDataFilter privacy, java.util.function.ToIntFunction<String> uid) {
        Sums sums = sums();
        List<UserRow> users = new ArrayList<>();
        for (UserPolicy u : state.accounts().users().values()) {
            if (!privacy.showsUser(u.user())) {
                continue;
            }
            String level = u.level().name();
            users.add(new UserRow(
                    u.user(),
                    uid.applyAsInt(u.user()),
                    state.accounts()
                            .defaultOf(u.user())
                            .map(AssocPolicy::account)
                            .orElse(""),
                    state.accounts().defaultWckey(u.user()),
                    level.charAt(0) + level.substring(1).toLowerCase(java.util.Locale.ROOT)));
        }
        List<LimitRow> assocs = assocRows(sums, privacy, uid);
        return new AssocMgrReply(state.settings().clusterName(), assocs, qosRows(sums), users, tracked());
    }

    /** Sums over jobs that have not ended, by association, by QOS, and for each QOS by account and by user. */
    private record Sums(
            Map<Integer, Sum> ofAssoc,
            Map<String, Sum> ofQos,
            Map<String, Map<String, Sum>> byAccount,
            Map<String, Map<String, Sum>> byUser) {}

    private Sums sums() {
        Sums sums = new Sums(new HashMap<>(), new HashMap<>(), new HashMap<>(), new HashMap<>());
        for (Job job : state.jobs().values()) {
            if (!job.state().isTerminal()) {
                // a partition's counts as well as the job's own
                for (String q : chargedQos(job)) {
                    sums.ofQos.computeIfAbsent(q, k -> new Sum()).add(job);
                    sums.byAccount
                            .computeIfAbsent(q, k -> new TreeMap<>())
                            .computeIfAbsent(job.desc().charge().account(), k -> new Sum())
                            .add(job);
                    sums.byUser
                            .computeIfAbsent(q, k -> new TreeMap<>())
                            .computeIfAbsent(Integer.toString(job.desc().owner().uid()), k -> new Sum())
                            .add(job);
                }
                Optional<AssocPolicy> a = state.accounts()
                        .assoc(
                                job.desc().owner().user(),
                                job.desc().charge().account(),
                                job.desc().firstPartition());
                for (; a.isPresent(); a = state.accounts().parent(a.get())) {
                    sums.ofAssoc.computeIfAbsent(a.get().id(), k -> new Sum()).add(job);
                }
            }
        }
        return sums;
    }

    private List<LimitRow> assocRows(
            Sums sums, PrivateDataFilter privacy, java.util.function.ToIntFunction<String> uid) {
        List<LimitRow> assocs = new ArrayList<>();
        List<ShareRow> shares = shareRows();
        List<FairShare.Row> tree = FairShare.of(state).rows();
        Map<Integer, Map<String, Long>> charged = charged();
        for (int i = 0; i < tree.size(); i++) {
            AssocPolicy a = tree.get(i).assoc();
            if (!privacy.shows(shares.get(i))) {
                continue;
            }
            Sum sum = sums.ofAssoc.getOrDefault(a.id(), new Sum());
            Map<String, Long> had = charged.getOrDefault(a.id(), Map.of());
            String parent = a.user().isEmpty()
                    ? state.accounts().parent(a).map(AssocPolicy::account).orElse("")
                    : "";
            assocs.add(new LimitRow(
                    a.id(),
                    "",
                    a.user().isEmpty() ? -1 : uid.applyAsInt(a.user()),
                    a.isDefault(),
                    parent,
                    shares.get(i),
                    shares.get(i).rawUsage(),
                    a.limits(),
                    sum.running,
                    sum.submitted,
                    sum.tres,
                    shares.get(i).tresRunMins(),
                    sum.accruing,
                    minutes(had),
                    wall(had),
                    List.of(),
                    List.of()));
        }
        return assocs;
    }

    private List<LimitRow> qosRows(Sums sums) {
        List<LimitRow> qos = new ArrayList<>();
        for (QosPolicy q : state.accounts().qos().values()) {
            Sum sum = sums.ofQos.getOrDefault(q.name(), new Sum());
            Map<String, Long> had = state.shares().qosEach().find(q.id()).orElse(Map.of());
            qos.add(new LimitRow(
                    q.id(),
                    q.name(),
                    -1,
                    false,
                    "",
                    NO_SHARE,
                    state.shares().qos().find(q.id()).orElse(0L) / FairShare.UNIT,
                    q.limits(),
                    sum.running,
                    sum.submitted,
                    sum.tres,
                    sum.runMins,
                    sum.accruing,
                    minutes(had),
                    wall(had),
                    parts(sums.byAccount.getOrDefault(q.name(), Map.of())),
                    parts(sums.byUser.getOrDefault(q.name(), Map.of()))));
        }
        return qos;
    }

    private static final ShareRow NO_SHARE =
            new ShareRow(0, 0, "", "", "", "", 0, 0, 0, 0, 0, 0, "", Map.of(), Map.of());
}
