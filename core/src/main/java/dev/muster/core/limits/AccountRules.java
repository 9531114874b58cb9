package dev.muster.core.limits;

import dev.muster.core.command.Decision;
import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Accounts;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Shares;
import dev.muster.core.state.State;
import dev.muster.core.state.Table;
import dev.muster.core.tres.TrackedTypes;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Charges a job to an association and QOS, and applies the limits of both. */
public final class AccountRules {
    private static final String NORMAL = "normal";

    private final State state;
    /** Usage since the last charge, computed on the first question. */
    private @Nullable Uncharged uncharged;

    private final Map<Integer, Map<String, Long>> charged = new java.util.HashMap<>();
    private final Map<Integer, Map<String, Long>> chargedQos = new java.util.HashMap<>();
    private boolean hasCharge;
    private @Nullable Map<Integer, Map<String, Long>> below;
    private final Accounts accounts;
    private final AccountingEnforcement enforcement;
    private final QosRules flags;

    /** Usage by the numbers of associations and of QOS. */
    private record Uncharged(Map<Integer, Map<String, Long>> assocs, Map<Integer, Map<String, Long>> qos) {}

    public AccountRules(State state) {
        this.state = state;
        this.flags = new QosRules(state);
        this.accounts = state.accounts();
        this.enforcement = state.settings().options().accounting().enforcement();
    }

    /** Creates the rules with usage as it will be after a charge that has no record yet. */
    AccountRules(State state, Change.UsageCharged charge) {
        this(state);
        charge.usage().forEach(h -> charged.put(h.id(), h.each()));
        charge.qos().forEach(h -> chargedQos.put(h.id(), h.each()));
        hasCharge = true;
    }

    /** Tests whether a word of AccountingStorageEnforce is set. */
    public boolean enforces(AccountingEnforcement.Word word) {
        return enforcement.has(word);
    }

    /** The description with its account and QOS, or why there is none. */
    public sealed interface Charged {}

    public record ChargedJob(JobDesc desc) implements Charged {}

    public record NotCharged(SlurmErrno errno) implements Charged {}

    /**
     * Returns the key that a job is charged to beside its account (TrackWCKey): what was said, or a star and the user's
     * default. Empty if it is none of the user's and AccountingStorageEnforce has wckeys.
     */
    Optional<String> wckey(String user, String asked) {
        if (!state.settings().options().accounting().tracksWckeys()) {
            return Optional.of(asked);
        }
        if (asked.isEmpty() || asked.startsWith("*")) {
            return Optional.of("*" + accounts.defaultWckey(user));
        }
        String name = asked.toLowerCase(Locale.ROOT);
        return !enforces(AccountingEnforcement.Word.WCKEYS) || accounts.hasWckey(user, name)
                ? Optional.of(name)
                : Optional.empty();
    }

    /** Fills in what was not said: the user's default account, the account's default QOS. */
    public Charged charge(JobDesc typed) {
        return charge(typed, false);
    }

    /**
     * Returns the QOS that the job asks for by descending priority, or the association's default; empty if QOS are
     * enforced and the association lacks one of them.
     */
    private Optional<String> allowedQos(AssocPolicy assoc, String asked, boolean anyQos) {
        if (asked.isEmpty()) {
            return Optional.of(standardQos(assoc));
        }
        List<String> each = List.of(asked.split(","));
        if (!each.stream()
                .allMatch(q ->
                        accounts.qos(q).isPresent() && (anyQos || assoc.qos().contains(q)))) {
            return enforces(AccountingEnforcement.Word.QOS) ? Optional.empty() : Optional.of(asked);
        }
        return Optional.of(String.join(
                ",",
                each.stream()
                        .distinct()
                        .sorted(Comparator.comparingLong((String q) -> -priority(q)))
                        .toList()));
    }

    /**
     * Drops QOS that run only in a reservation from a job without one; empty if no QOS is left or one is not usable.
     */
    private Optional<String> usableQos(String qos, String reservation) {
        String usable = qos;
        if (enforces(AccountingEnforcement.Word.QOS) && reservation.isEmpty()) {
            List<String> open = Stream.of(qos.split(","))
                    .filter(name -> accounts.qos(name)
                            .filter(q -> QosRules.has(q, QosRules.REQUIRES_RESERVATION))
                            .isEmpty())
                    .toList();
            if (open.isEmpty()) {
                return Optional.empty();
            }
            usable = String.join(",", open);
        }
        return Stream.of(usable.split(",")).anyMatch(this::isOfAPartitionAlone)
                ? Optional.empty()
                : Optional.of(usable);
    }

    /**
     * Charges as {@link #charge(JobDesc)} does.
     *
     * @param anyQos the job may have a QOS that its association lacks: operators give it such ones
     */
    public Charged charge(JobDesc typed, boolean anyQos) {
        JobDesc asked = typed.withCharge(typed.charge().lowerCase());
        Optional<String> wckey = wckey(asked.owner().user(), asked.charge().wckey());
        if (wckey.isEmpty()) {
            return new NotCharged(SlurmErrno.INVALID_WCKEY);
        }
        JobDesc.Charge c = asked.charge().withWckey(wckey.get());
        JobDesc desc = asked.withCharge(c);
        String account = c.account();
        String qos = c.qos();
        String partition = desc.firstPartition();
        Optional<AssocPolicy> assoc = payer(desc.owner().user(), account, partition);
        if (assoc.isEmpty() && enforces(AccountingEnforcement.Word.ASSOCIATIONS)) {
            return new NotCharged(SlurmErrno.INVALID_ACCOUNT);
        }
        if (assoc.isEmpty()) {
            boolean normal = qos.isEmpty() && accounts.qos(NORMAL).isPresent();
            return new ChargedJob(normal ? desc.withCharge(c.withQos(NORMAL)) : desc);
        }
        Optional<String> chargedQos = allowedQos(assoc.get(), qos, anyQos).flatMap(q -> usableQos(q, c.reservation()));
        if (chargedQos.isEmpty()) {
            return new NotCharged(SlurmErrno.INVALID_QOS);
        }
        return new ChargedJob(desc.withCharge(new JobDesc.Charge(
                assoc.get().account(),
                chargedQos.get(),
                c.wckey(),
                c.reservation(),
                c.licensesTag(),
                c.drawn(),
                c.qosAsked(),
                c.defaulted())));
    }

    /**
     * Returns the user's association with an account, or the default one: where associations are not enforced that one
     * pays for any other account, too.
     */
    private Optional<AssocPolicy> payer(String user, String account, String partition) {
        Optional<AssocPolicy> named = account.isEmpty() ? Optional.empty() : accounts.assoc(user, account, partition);
        return named.isPresent() || !account.isEmpty() && enforces(AccountingEnforcement.Word.ASSOCIATIONS)
                ? named
                : accounts.defaultOf(user).flatMap(a -> accounts.assoc(a.user(), a.account(), partition));
    }

    /**
     * Tests whether the limits of a QOS are parts of what a partition has: then they mean nothing for jobs elsewhere.
     */
    private boolean isOfAPartitionAlone(String qos) {
        return QosRules.isRelative(state, qos)
                && state.partitions().values().stream()
                        .anyMatch(p -> p.info().qos().equals(qos));
    }

    private long priority(String qos) {
        return accounts.qos(qos)
                .map(q -> LimitValues.number(q.limits(), "Priority"))
                .orElse(0L);
    }

    private static String standardQos(AssocPolicy assoc) {
        if (!assoc.defaultQos().isEmpty()) {
            return assoc.defaultQos();
        }
        return assoc.qos().size() == 1 ? assoc.qos().getFirst() : NORMAL;
    }

    Optional<AssocPolicy> assoc(JobDesc d) {
        return accounts.assoc(d.owner().user(), d.charge().account(), d.firstPartition());
    }

    private Optional<QosPolicy> qos(JobDesc d) {
        return accounts.qos(d.charge().firstQos());
    }

    /**
     * A QOS that a job is under: its own or its partition's.
     *
     * @param limits those that apply; a limit that the QOS with precedence sets replaces the other's
     * @param part it is the partition's
     * @param members payers whose use counts against the limits
     */
    record Rule(QosPolicy qos, Map<String, String> limits, boolean part, Predicate<AccountUse.Payer> members) {
        /** Returns the use of all members, or of one user or account. */
        AccountUse.Sum sum(AccountUse use, String user, String account) {
            return use.of(
                    new Key(qos.name(), part, user, account),
                    p -> members.test(p)
                            && (user.isEmpty() || p.user().equals(user))
                            && (account.isEmpty() || p.account().equals(account)));
        }

        private record Key(String qos, boolean part, String user, String account) {}
    }

    private record DescendantKey(int assoc) {}

    /** Returns the sum of an association and those below it. */
    static AccountUse.Sum sum(Accounts all, AssocPolicy a, AccountUse use) {
        return use.of(new DescendantKey(a.id()), p -> within(all, p, a));
    }

    /**
     * Returns the job's QOS rules, at most two: the partition's comes first, unless the job's own has OverPartQOS. Of
     * several partitions the first one's QOS counts.
     */
    List<Rule> rules(JobDesc d) {
        Optional<QosPolicy> own = qos(d);
        Optional<QosPolicy> part = ofPartition(state, d.partition());
        List<Rule> out = new ArrayList<>();
        part.filter(p -> own.filter(o -> o.name().equals(p.name())).isEmpty())
                .ifPresent(
                        p -> out.add(new Rule(p, flags.limits(p), true, ofPartitions(state.partitions(), p.name()))));
        own.ifPresent(o -> out.add(
                QosRules.has(o, QosRules.OVER_PARTITION_QOS) ? 0 : out.size(),
                new Rule(o, flags.limits(o), false, payer -> payer.qos().equals(o.name()))));
        if (out.size() == 2) {
            out.set(
                    1,
                    new Rule(
                            out.get(1).qos,
                            withoutNamed(out.get(1).limits, out.get(0).limits),
                            out.get(1).part,
                            out.get(1).members));
        }
        return out;
    }

    private static Predicate<AccountUse.Payer> ofPartitions(Table<String, Partition> partitions, String qos) {
        return payer -> partitions
                .find(payer.firstPartition())
                .filter(p -> p.info().qos().equals(qos))
                .isPresent();
    }

    static Optional<QosPolicy> ofPartition(State state, String partitions) {
        return state.partitions()
                .find(JobDesc.first(partitions))
                .map(p -> p.info().qos())
                .filter(n -> !n.isEmpty())
                .flatMap(state.accounts()::qos);
    }

    /** Returns the limits without those that others name already, resource by resource. */
    private static Map<String, String> withoutNamed(Map<String, String> limits, Map<String, String> named) {
        Map<String, String> out = new java.util.TreeMap<>(limits);
        named.forEach((name, value) -> {
            if (!value.contains("=") || LimitValues.text(out, name).isEmpty()) {
                out.remove(name);
                return;
            }
            List<String> names = java.util.Arrays.stream(value.split(","))
                    .map(i -> i.replaceFirst("=.*", ""))
                    .toList();
            out.put(
                    name,
                    String.join(
                            ",",
                            java.util.Arrays.stream(LimitValues.text(out, name).split(","))
                                    .filter(i -> !names.contains(i.replaceFirst("=.*", "")))
                                    .toList()));
        });
        return out;
    }

    /** Returns the limits of both QOS rules of a job, joined by a comma where both name one. */
    Map<String, String> ofQos(JobDesc d) {
        Map<String, String> out = new java.util.TreeMap<>();
        for (Rule r : rules(d)) {
            r.limits.forEach((name, value) ->
                    out.merge(name, value, (a, b) -> a.isEmpty() || b.isEmpty() ? a + b : a + "," + b));
        }
        return out;
    }

    private boolean denies(JobDesc d) {
        return rules(d).stream().anyMatch(r -> QosRules.has(r.qos, QosRules.DENY_ON_LIMIT));
    }

    boolean limited() {
        return enforces(AccountingEnforcement.Word.LIMITS) && !accounts.isEmpty();
    }

    // ---- at submission

    /**
     * Returns the job with those of its QOS that admit it. Empty if the user, account or QOS is at its limit of
     * submitted jobs; or, with DenyOnLimit, if the job could never start.
     */
    public Optional<JobDesc> admitted(JobDesc desc, int tasks, AccountUse use) {
        List<String> left = under(desc).stream()
                .filter(d -> !limited() || !refuses(d, tasks, use))
                .map(d -> d.charge().qos())
                .toList();
        return left.isEmpty()
                ? Optional.empty()
                : Optional.of(desc.withCharge(desc.charge().withQos(String.join(",", left))));
    }

    /** Returns the description under each of its QOS. */
    public static List<JobDesc> under(JobDesc desc) {
        return desc.charge().qos().indexOf(',') < 0
                ? List.of(desc)
                : desc.charge().eachQos().stream()
                        .map(q -> desc.withCharge(desc.charge().withQos(q)))
                        .toList();
    }

    private boolean refuses(JobDesc desc, int tasks, AccountUse use) {
        return !tooMany(desc, tasks, use).isEmpty()
                || denies(desc) && !never(desc).equals(JobReason.NONE);
    }

    /**
     * Returns the refusal of a job: the name of the limit, a line above the sentence that is the same for all limits.
     */
    public Decision.Rejected refusal(JobDesc desc, int tasks, AccountUse use) {
        JobDesc last = under(desc).getLast();
        List<String> broken = new ArrayList<>(tooMany(last, tasks, use));
        if (denies(last)) {
            Map<String, Long> asked = asked(last);
            ofEach(last, asked, last.timing().timeLimitMin())
                    .forEach(b -> broken.add(b.reason().word()));
            new LimitHierarchy(this)
                    .running(
                            last,
                            g -> g.allBroken(asked, new AccountUse(), this).forEach(r -> broken.add(r.word())));
            LimitHierarchy.minutesAlone(this, last, asked).forEach(r -> broken.add(r.word()));
        }
        return new Decision.Rejected(
                SlurmErrno.ACCOUNTING_POLICY, JobLimits.told(broken) + "\n" + SlurmErrno.ACCOUNTING_POLICY.sentence());
    }

    /** Returns the limits on what may be in the queue that a job would break. */
    private List<String> tooMany(JobDesc desc, int tasks, AccountUse use) {
        String user = desc.owner().user();
        Map<String, String> limitsOfQos = ofQos(desc);
        List<String> out = new ArrayList<>();
        for (Rule r : rules(desc)) {
            Map<String, String> l = r.limits;
            if (over(LimitValues.number(l, "GrpSubmitJobs"), tasks + r.sum(use, "", "").submitted)) {
                out.add("QOSGrpSubmitJobsLimit");
            }
            if (over(
                    LimitValues.number(l, "MaxSubmitJobsPA"),
                    tasks + r.sum(use, "", desc.charge().account()).submitted)) {
                out.add("MaxSubmitJobsPerAccount");
            }
            if (over(LimitValues.number(l, "MaxSubmitJobsPU"), tasks + r.sum(use, user, "").submitted)) {
                out.add("QOSMaxSubmitJobPerUserLimit");
            }
        }
        boolean own = true;
        for (AssocPolicy a : chain(desc)) {
            if (own
                    && LimitValues.text(limitsOfQos, "MaxSubmitJobsPU").isEmpty()
                    && over(LimitValues.number(a.limits(), "MaxSubmitJobs"), tasks + sum(accounts, a, use).submitted)) {
                out.add("AssocMaxSubmitJobLimit");
            }
            if (LimitValues.text(limitsOfQos, "GrpSubmitJobs").isEmpty()
                    && over(LimitValues.number(a.limits(), "GrpSubmitJobs"), tasks + sum(accounts, a, use).submitted)) {
                out.add("AssocGrpSubmitJobsLimit");
            }
            own = false;
        }
        return out;
    }

    private static boolean over(long limit, long count) {
        return limit >= 0 && count > limit;
    }

    /** Returns the user's association and those above it. */
    List<AssocPolicy> chain(JobDesc desc) {
        List<AssocPolicy> out = new ArrayList<>();
        for (Optional<AssocPolicy> a = assoc(desc); a.isPresent(); a = accounts.parent(a.get())) {
            out.add(a.get());
        }
        return out;
    }

    /** Tests whether a payer is charged to an association or one below it. */
    static boolean within(Accounts accounts, AccountUse.Payer p, AssocPolicy a) {
        if (!a.user().isEmpty()) {
            return p.user().equals(a.user())
                    && p.account().equals(a.account())
                    && (a.partition().isEmpty() || a.partition().equals(p.partition()));
        }
        for (Optional<AssocPolicy> ancestor = accounts.assoc("", p.account(), "");
                ancestor.isPresent();
                ancestor = accounts.parent(ancestor.get())) {
            if (ancestor.get().id() == a.id()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the resources that a job asks for at least. */
    Map<String, Long> asked(JobDesc d) {
        Map<String, Long> out = TresCounts.requested(state, d).counted(state, d);
        if (out.getOrDefault("mem", 0L) == 0
                && PartitionLimits.saysNoMemory(d.request(), PartitionLimits.memory(state, d))) {
            out.put("mem", TresCounts.wholeNode(state, d) * out.getOrDefault("node", 1L));
        }
        return out;
    }

    /** Returns the limit that keeps this job from ever starting as it is asked for. */
    private JobReason never(JobDesc desc) {
        return never(desc, new AccountUse());
    }

    /** Returns the limit that a job is beyond by itself, or with those that must run beside it. */
    private JobReason never(JobDesc desc, AccountUse beside) {
        Map<String, Long> asked = asked(desc);
        List<JobLimits.Broken> single = ofEach(desc, asked, desc.timing().timeLimitMin());
        if (!single.isEmpty()) {
            return single.getFirst().reason();
        }
        JobReason running =
                first(desc, asked, Map.of(), Allocation.NONE, beside, LimitHierarchy::running, Optional.empty());
        return running != JobReason.NONE
                ? running
                : LimitHierarchy.minutesAlone(this, desc, asked).stream()
                        .findFirst()
                        .orElse(JobReason.NONE);
    }

    /**
     * Tests whether components that start together break a limit which one of their QOS does not let a job wait for.
     */
    public boolean refusesTogether(List<JobDesc> components) {
        if (!limited()) {
            return false;
        }
        AccountUse beside = new AccountUse();
        for (JobDesc desc : components) {
            boolean deny = denies(desc);
            // for a limit of its QOS a job waits unless that says no; what their association can never hold together
            // never starts
            boolean alone = desc == components.getFirst();
            if (deny
                    ? never(desc, beside) != JobReason.NONE
                    : !alone
                            && first(
                                            desc,
                                            asked(desc),
                                            Map.of(),
                                            Allocation.NONE,
                                            beside,
                                            LimitHierarchy::ofAssocs,
                                            Optional.empty())
                                    != JobReason.NONE) {
                return true;
            }
            beside.planned(desc, asked(desc));
        }
        return false;
    }

    // ---- at the start

    /**
     * Returns why a job may not start on an allocation now although it is free.
     *
     * @param allocation {@link Allocation#NONE} before one is chosen: what it asks for is looked at
     * @param limitMin the time it would get, -1 without limit
     */
    public JobReason blocks(JobDesc desc, Allocation allocation, int limitMin, AccountUse use) {
        if (!limited()) {
            return JobReason.NONE;
        }
        Map<String, Long> wanted = of(desc, allocation);
        return first(
                desc,
                wanted,
                minutes(wanted, limitMin),
                allocation,
                use,
                LimitHierarchy::all,
                brokenAlone(desc, wanted, limitMin));
    }

    /**
     * Returns what an allocation counts as, or the request where none is given. Devices of a type count only if the job
     * requests that type.
     */
    Map<String, Long> of(JobDesc desc, Allocation allocation) {
        if (allocation.isEmpty()) {
            return AccountUse.held(state, desc, asked(desc));
        }
        Map<String, Long> out = AccountUse.tres(state, desc, allocation);
        TrackedTypes types = TrackedTypes.of(state.settings());
        if (!types.names().isEmpty()) {
            Map<String, Integer> asked = TresCounts.requested(state, desc).gres();
            types.names().stream().filter(t -> !asked.containsKey(t)).forEach(t -> out.remove("gres/" + t));
        }
        return out;
    }

    /** Returns the limit that keeps a job of this size from ever starting, even with all other jobs gone. */
    Optional<JobLimits.Broken> brokenAlone(JobDesc desc, Map<String, Long> wanted, int limitMin) {
        return limited() ? ofEach(desc, wanted, limitMin).stream().findFirst() : Optional.empty();
    }

    boolean isBelowThreshold(QosPolicy qos, AssocPolicy assoc) {
        return flags.isBelowThreshold(qos, assoc);
    }

    /** Tests whether room may be kept for a job of that priority that has to wait: see {@link QosRules#reserves}. */
    public boolean reserves(JobDesc desc, long priority) {
        return !limited() || flags.reserves(qos(desc), assoc(desc), priority);
    }

    /** Returns the usage up to now: what was charged and what was not yet. */
    private Map<String, Long> used(int id, boolean ofQos) {
        if (hasCharge) {
            return (ofQos ? chargedQos : charged).getOrDefault(id, Map.of());
        }
        Uncharged fresh = uncharged();
        Map<String, Long> out = new java.util.TreeMap<>(
                (ofQos ? state.shares().qosEach() : state.shares().each())
                        .find(id)
                        .orElse(Map.of()));
        (ofQos ? fresh.qos : fresh.assocs)
                .getOrDefault(id, Map.of())
                .forEach((name, value) -> out.merge(name, value, Long::sum));
        return out;
    }

    private Uncharged uncharged() {
        if (uncharged == null) {
            uncharged = new Uncharged(new java.util.TreeMap<>(), new java.util.TreeMap<>());
            UsageRules.uncharged(state, uncharged.assocs, uncharged.qos);
        }
        return uncharged;
    }

    /** Returns the usage of an association and those below it. */
    private Map<String, Long> usedBelow(int assoc) {
        if (below == null) {
            below = upwards(id -> used(id, false));
        }
        return below.getOrDefault(assoc, Map.of());
    }

    /** Adds up amounts for each association: its own and those of the associations below it. */
    private Map<Integer, Map<String, Long>> upwards(java.util.function.IntFunction<Map<String, Long>> own) {
        Map<Integer, Map<String, Long>> out = new java.util.HashMap<>();
        for (AssocPolicy o : accounts.assocs().values()) {
            Map<String, Long> had = own.apply(o.id());
            for (Optional<AssocPolicy> ancestor = Optional.of(o);
                    ancestor.isPresent() && !had.isEmpty();
                    ancestor = accounts.parent(ancestor.get())) {
                Map<String, Long> sum = out.computeIfAbsent(ancestor.get().id(), id -> new java.util.TreeMap<>());
                had.forEach((name, value) -> sum.merge(name, value, Long::sum));
            }
        }
        return out;
    }

    /**
     * Returns the minutes that a QOS, or an association with those below it, has used up to now.
     *
     * @param what a resource, or {@link Shares#WALL}
     */
    long usedMin(boolean ofQos, int id, String what) {
        return usedMin(ofQos ? used(id, true) : usedBelow(id), what);
    }

    /** Returns the usage charged until the last time, of each association with those below it. */
    Map<Integer, Map<String, Long>> chargedBelow() {
        return upwards(id -> state.shares().each().find(id).orElse(Map.of()));
    }

    /** Returns the usage charged to a QOS until the last time. */
    Map<String, Long> chargedOf(int qos) {
        return state.shares().qosEach().find(qos).orElse(Map.of());
    }

    /** Returns the most that a minute counts for; no less than one. */
    double mostUsageFactor() {
        double maxFactor = 1;
        for (QosPolicy q : accounts.qos().values()) {
            String factor = LimitValues.text(q.limits(), "UsageFactor");
            maxFactor = factor.isEmpty() ? maxFactor : Math.max(maxFactor, Double.parseDouble(factor));
        }
        return maxFactor;
    }

    /** Returns the payers whose jobs are charged to a QOS. */
    Predicate<AccountUse.Payer> chargedTo(String qos) {
        Predicate<AccountUse.Payer> part = ofPartitions(state.partitions(), qos);
        return p -> p.qos().equals(qos) || part.test(p);
    }

    /** Returns the payers whose jobs are charged to an association or one below it. */
    Predicate<AccountUse.Payer> chargedTo(AssocPolicy a) {
        Accounts all = accounts;
        return p -> within(all, new AccountUse.Payer(p.user(), p.account(), p.firstPartition(), p.qos()), a);
    }

    Accounts accounts() {
        return accounts;
    }

    long tickMs() {
        return state.tickMs();
    }

    /** Returns the QOS of the job's first partition; "" if it has none. */
    String partQos(JobDesc d) {
        return ofPartition(state, d.partition()).map(QosPolicy::name).orElse("");
    }

    /**
     * Tests whether a running job has to end because GrpTRESMins or GrpWall of its QOS or of an association above it is
     * used up.
     */
    boolean isSpent(JobDesc desc) {
        if (!limited()) {
            return false;
        }
        Map<String, String> q = ofQos(desc);
        return rules(desc).stream()
                        .anyMatch(r ->
                                isLimitedInMinutes(r.limits) && isSpent(r.limits, Map.of(), used(r.qos.id(), true)))
                || chain(desc).stream()
                        .anyMatch(a -> isLimitedInMinutes(overTime(a)) && isSpent(overTime(a), q, usedBelow(a.id())));
    }

    /** Returns an association's limits; at the root of a cluster without those on total usage, as in Slurm. */
    Map<String, String> overTime(AssocPolicy a) {
        if (accounts.parent(a).isPresent() || !isLimitedInMinutes(a.limits())) {
            return a.limits();
        }
        Map<String, String> out = new java.util.TreeMap<>(a.limits());
        out.keySet().removeAll(List.of("GrpTRESMins", "GrpWall"));
        return out;
    }

    private static boolean isLimitedInMinutes(Map<String, String> limits) {
        return !LimitValues.text(limits, "GrpTRESMins").isEmpty()
                || !LimitValues.text(limits, "GrpWall").isEmpty();
    }

    private static boolean isSpent(Map<String, String> limits, Map<String, String> instead, Map<String, Long> used) {
        Map<String, Long> maxMinutes = LimitValues.tres(limits, "GrpTRESMins");
        maxMinutes.keySet().removeAll(LimitValues.tres(instead, "GrpTRESMins").keySet());
        return maxMinutes.entrySet().stream().anyMatch(m -> usedMin(used, m.getKey()) >= m.getValue())
                || isWallSpent(limits, instead, used);
    }

    private static boolean isWallSpent(
            Map<String, String> limits, Map<String, String> instead, Map<String, Long> used) {
        long wall = LimitValues.text(instead, "GrpWall").isEmpty() ? LimitValues.number(limits, "GrpWall") : -1;
        return wall >= 0 && usedMin(used, Shares.WALL) >= wall;
    }

    private static long usedMin(Map<String, Long> used, String name) {
        return (long) (used.getOrDefault(name, 0L) / (60 * FairShare.UNIT));
    }

    /** UsageFactorSafe: what a run will be charged for each minute, where that is asked before it starts. */
    double safeFactor(JobDesc desc) {
        String factor = qos(desc)
                .filter(q -> QosRules.has(q, QosRules.FACTOR_SAFE))
                .map(q -> LimitValues.text(q.limits(), "UsageFactor"))
                .orElse("");
        return factor.isEmpty() ? 1 : Double.parseDouble(factor);
    }

    private List<JobLimits.Broken> ofEach(JobDesc desc, Map<String, Long> wanted, int limitMin) {
        return JobLimits.broken(
                rules(desc).stream().map(Rule::limits).toList(),
                ofQos(desc),
                assoc(desc).map(AssocPolicy::limits).orElse(Map.of()),
                wanted,
                limitMin,
                enforces(AccountingEnforcement.Word.SAFE) ? safeFactor(desc) : 1);
    }

    /**
     * Returns the reason of the first limit that the request would exceed together with the use of other jobs.
     *
     * @param alone the limit that the request exceeds by itself
     */
    private JobReason first(
            JobDesc desc,
            Map<String, Long> wanted,
            Map<String, Long> minutes,
            Allocation on,
            AccountUse use,
            LimitSelection chosen,
            Optional<JobLimits.Broken> alone) {
        List<SharedLimits> gauges = new ArrayList<>();
        chosen.of(new LimitHierarchy(this), desc, gauges::add);
        for (SharedLimits gauge : gauges) {
            if (alone.isPresent() && gauge.place() > alone.get().place()) {
                break;
            }
            Optional<JobReason> broken = gauge.broken(wanted, minutes, on, use, this);
            if (broken.isPresent()) {
                return broken.get();
            }
        }
        return alone.map(JobLimits.Broken::reason).orElse(JobReason.NONE);
    }

    /** Chooses the limits that are tested. */
    private interface LimitSelection {
        void of(LimitHierarchy chains, JobDesc desc, java.util.function.Consumer<SharedLimits> out);
    }

    /** Returns the resource minutes of a run; one without a limit counts as a year. */
    static Map<String, Long> minutes(Map<String, Long> wanted, int limitMin) {
        Map<String, Long> out = LimitValues.times(wanted, limitMin < 0 ? (int) AccountUse.UNLIMITED_MIN : limitMin, 1);
        out.put(Shares.WALL, (long) Math.max(0, limitMin));
        return out;
    }
}
