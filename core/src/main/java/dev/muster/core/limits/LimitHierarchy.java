package dev.muster.core.limits;

import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Accounts;
import dev.muster.core.state.Shares;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The limits that count for a job together with others, of its QOS and along its associations, in the order in which
 * they are asked.
 */
final class LimitHierarchy {
    private final AccountRules rules;
    private final Accounts accounts;
    private final BiFunction<Object, Supplier<SharedLimits>, SharedLimits> kept;

    /** Key of a holder of limits: one rule of these two QOS, or an association under them. */
    private record Key(String what, String ownQos, String partQos, boolean part, String holder) {}

    /** @param kept gives for equal keys the same gauge */
    LimitHierarchy(AccountRules rules, BiFunction<Object, Supplier<SharedLimits>, SharedLimits> kept) {
        this.rules = rules;
        this.accounts = rules.accounts();
        this.kept = kept;
    }

    /** Creates the limits for one question, without a cache. */
    LimitHierarchy(AccountRules rules) {
        this(rules, (key, made) -> made.get());
    }

    /**
     * Lists all limits in the order in which they are reported: numbers of jobs and times first, of QOS before
     * associations, and only then amounts, in the order of {@link JobLimits}.
     */
    void all(JobDesc desc, Consumer<SharedLimits> out) {
        jobs(desc, true, true, out);
        threshold(desc, out);
        amounts(desc, true, true, out);
    }

    /** Lists the limits on jobs and amounts that run at the same time. */
    void running(JobDesc desc, Consumer<SharedLimits> out) {
        jobs(desc, false, true, out);
        amounts(desc, false, true, out);
    }

    /** Lists the limits of the job's associations on jobs and amounts that run at the same time. */
    void ofAssocs(JobDesc desc, Consumer<SharedLimits> out) {
        jobs(desc, false, false, out);
        amounts(desc, false, false, out);
    }

    private void add(
            Key key,
            int place,
            List<SharedLimits.Bound> bounds,
            Function<AccountUse, AccountUse.Sum> of,
            Consumer<SharedLimits> out) {
        add(key, place, bounds, of, Optional.empty(), out);
    }

    private void add(
            Key key,
            int place,
            List<SharedLimits.Bound> bounds,
            Function<AccountUse, AccountUse.Sum> of,
            Optional<SharedLimits.Meter> meter,
            Consumer<SharedLimits> out) {
        if (!bounds.isEmpty()) {
            out.accept(kept.apply(key, () -> new SharedLimits(place, bounds, of, meter, now -> false)));
        }
    }

    private Key key(String what, JobDesc desc, boolean part, String holder) {
        return new Key(what, desc.charge().firstQos(), rules.partQos(desc), part, holder);
    }

    private SharedLimits.Meter meter(AccountRules.Rule r, double factor) {
        return new SharedLimits.Meter(
                true,
                r.qos().id(),
                rules.chargedTo(r.qos().name()),
                factor,
                rules.enforces(AccountingEnforcement.Word.SAFE));
    }

    private SharedLimits.Meter meter(AssocPolicy a, double factor) {
        return new SharedLimits.Meter(
                false, a.id(), rules.chargedTo(a), factor, rules.enforces(AccountingEnforcement.Word.SAFE));
    }

    /**
     * @param overTime whether past use counts
     * @param ofQos limits of QOS, too
     */
    private void jobs(JobDesc desc, boolean overTime, boolean ofQos, Consumer<SharedLimits> out) {
        String user = desc.owner().user();
        String account = desc.charge().account();
        List<AccountRules.Rule> qos = rules.rules(desc);
        double factor = overTime ? rules.safeFactor(desc) : 1;
        for (int i = 0; ofQos && i < qos.size(); i++) {
            AccountRules.Rule r = qos.get(i);
            Map<String, String> l = r.limits();
            int place = JobLimits.wall(i) - 1;
            List<SharedLimits.Bound> all = jobs(l, "GrpJobs", "QOSGrpJobsLimit");
            all.addAll(overTime ? wall(l, Map.of(), "QOSGrpWallLimit") : List.of());
            add(
                    key("jobs", desc, r.part(), ""),
                    place,
                    all,
                    use -> r.sum(use, "", ""),
                    Optional.of(meter(r, factor)),
                    out);
            add(
                    key("jobs of account", desc, r.part(), account),
                    place,
                    jobs(l, "MaxJobsPA", "MaxJobsPerAccount"),
                    use -> r.sum(use, "", account),
                    out);
            add(
                    key("jobs of user", desc, r.part(), user),
                    place,
                    jobs(l, "MaxJobsPU", "QOSMaxJobsPerUserLimit"),
                    use -> r.sum(use, user, ""),
                    out);
        }
        Map<String, String> q = rules.ofQos(desc);
        boolean own = true;
        for (AssocPolicy a : rules.chain(desc)) {
            List<SharedLimits.Bound> bounds = new ArrayList<>(
                    LimitValues.text(q, "GrpJobs").isEmpty()
                            ? jobs(a.limits(), "GrpJobs", "AssocGrpJobsLimit")
                            : List.of());
            bounds.addAll(overTime ? wall(rules.overTime(a), q, "AssocGrpWallLimit") : List.of());
            if (own && LimitValues.text(q, "MaxJobsPU").isEmpty()) {
                bounds.addAll(jobs(a.limits(), "MaxJobs", "AssocMaxJobsLimit"));
            }
            add(
                    key("jobs of assoc", desc, own, Integer.toString(a.id())),
                    JobLimits.WALL_OF_ASSOC + (own ? -1 : 1),
                    bounds,
                    use -> AccountRules.sum(accounts, a, use),
                    Optional.of(meter(a, factor)),
                    out);
            own = false;
        }
    }

    private void amounts(JobDesc desc, boolean overTime, boolean ofQos, Consumer<SharedLimits> out) {
        List<AccountRules.Rule> qos = rules.rules(desc);
        double factor = overTime ? rules.safeFactor(desc) : 1;
        for (int i = 0; ofQos && i < qos.size(); i++) {
            amounts(
                    desc,
                    qos.get(i),
                    JobLimits.amounts(i),
                    overTime ? Optional.of(meter(qos.get(i), factor)) : Optional.empty(),
                    out);
        }
        Map<String, String> q = rules.ofQos(desc);
        boolean own = true;
        for (AssocPolicy a : rules.chain(desc)) {
            List<SharedLimits.Bound> bounds = new ArrayList<>();
            Map<String, Long> group = LimitValues.stretched(LimitValues.tres(a.limits(), "GrpTRES"), q);
            group.keySet().removeAll(LimitValues.tres(q, "GrpTRES").keySet());
            bounds.addAll(overTime ? minutes("AssocGrp", "Mem", rules.overTime(a), q, false) : List.of());
            bounds.addAll(tres(
                    group,
                    what -> LimitValues.named(
                            "AssocGrp", what, "CpuLimit", "MemLimit", "NodeLimit", "Billing", "GRES")));
            bounds.addAll(overTime ? minutes("AssocGrp", "Mem", rules.overTime(a), q, true) : List.of());
            int place = JobLimits.AMOUNTS_OF_ASSOC + (own ? -1 : 1);
            add(
                    key("assoc", desc, own, Integer.toString(a.id())),
                    place,
                    bounds,
                    use -> AccountRules.sum(accounts, a, use),
                    Optional.of(meter(a, factor)),
                    out);
            if (own && overTime) {
                ofUser(desc, rules.assoc(desc).orElse(a), q, out);
            }
            own = false;
        }
    }

    /**
     * Adds the limits of one QOS on amounts.
     *
     * @param meter there if what was used counts as well
     */
    private void amounts(
            JobDesc desc,
            AccountRules.Rule r,
            int place,
            Optional<SharedLimits.Meter> meter,
            Consumer<SharedLimits> out) {
        Map<String, String> l = r.limits();
        String user = desc.owner().user();
        String account = desc.charge().account();
        List<SharedLimits.Bound> all =
                new ArrayList<>(meter.isPresent() ? minutes("QOSGrp", "Memory", l, Map.of(), false) : List.of());
        all.addAll(tres(
                LimitValues.tres(l, "GrpTRES"),
                what -> LimitValues.named("QOSGrp", what, "CpuLimit", "MemLimit", "NodeLimit", "Billing", "GRES")));
        all.addAll(meter.isPresent() ? minutes("QOSGrp", "Memory", l, Map.of(), true) : List.of());
        add(key("qos", desc, r.part(), ""), place - 1, all, use -> r.sum(use, "", ""), meter, out);
        add(
                key("account", desc, r.part(), account),
                place + 1,
                tres(
                        LimitValues.tres(l, "MaxTRESPA"),
                        what -> LimitValues.named(
                                "Max",
                                what,
                                "CpuPerAccount",
                                "MemoryPerAccount",
                                "NodePerAccount",
                                "BillingPerAccount",
                                "GRESPerAccount")),
                use -> r.sum(use, "", account),
                out);
        add(
                key("user", desc, r.part(), user),
                place + 1,
                tres(
                        LimitValues.tres(l, "MaxTRESPU"),
                        what -> LimitValues.named(
                                "QOSMax",
                                what,
                                "CpuPerUserLimit",
                                "MemoryPerUser",
                                "NodePerUserLimit",
                                "BillingPerUser",
                                "GRESPerUser")),
                use -> r.sum(use, user, ""),
                out);
        if (meter.isPresent()) {
            each(desc, r, place + 1, true, out);
            each(desc, r, place + 1, false, out);
        }
    }

    private static List<SharedLimits.Bound> jobs(Map<String, String> limits, String name, String word) {
        List<SharedLimits.Bound> out = new ArrayList<>();
        long maxJobs = LimitValues.number(limits, name);
        if (maxJobs >= 0) {
            out.add(new SharedLimits.Bound(
                    SharedLimits.Kind.RUNNING, SharedLimits.JOBS, maxJobs, JobReason.ofWord(word)));
        }
        return out;
    }

    private static List<SharedLimits.Bound> tres(Map<String, Long> limits, Function<String, JobReason> word) {
        return limits.entrySet().stream()
                .map(l -> new SharedLimits.Bound(
                        SharedLimits.Kind.RUNNING, l.getKey(), l.getValue(), word.apply(l.getKey())))
                .toList();
    }

    private void threshold(JobDesc desc, Consumer<SharedLimits> out) {
        Optional<AssocPolicy> assoc = rules.assoc(desc);
        for (AccountRules.Rule r : assoc.isEmpty() ? List.<AccountRules.Rule>of() : rules.rules(desc)) {
            if (QosRules.hasThreshold(r.qos())) {
                out.accept(kept.apply(
                        key(
                                "threshold",
                                desc,
                                r.part(),
                                Integer.toString(assoc.get().id())),
                        () -> new SharedLimits(
                                JobLimits.WALL_OF_ASSOC + 1,
                                List.of(new SharedLimits.Bound(
                                        SharedLimits.Kind.SHARE, SharedLimits.JOBS, 0, JobReason.QOS_USAGE_THRESHOLD)),
                                use -> use.of("nobody", p -> false),
                                Optional.empty(),
                                now -> now.isBelowThreshold(r.qos(), assoc.get()))));
            }
        }
    }

    /**
     * Adds MaxTRESRunMins of the user's association, unless a QOS says how much it is. Slurm has no word of its own for
     * it: it is a limit of a user.
     */
    private void ofUser(JobDesc desc, AssocPolicy a, Map<String, String> ofQos, Consumer<SharedLimits> out) {
        Map<String, Long> maxMinutes = LimitValues.tres(a.limits(), "MaxTRESRunMins");
        maxMinutes
                .keySet()
                .removeAll(LimitValues.tres(ofQos, "MaxTRESRunMinsPU").keySet());
        add(
                key("run minutes", desc, false, Integer.toString(a.id())),
                JobLimits.AMOUNTS_OF_ASSOC + 1,
                coming(maxMinutes, "RunMinsPerUser"),
                use -> AccountRules.sum(accounts, a, use),
                out);
    }

    private static List<SharedLimits.Bound> coming(Map<String, Long> limits, String holder) {
        List<SharedLimits.Bound> out = new ArrayList<>();
        limits.forEach((what, most) -> out.add(new SharedLimits.Bound(
                SharedLimits.Kind.COMING,
                what,
                most,
                LimitValues.named(
                        "Max",
                        what,
                        "Cpu" + holder,
                        "Memory" + holder,
                        "Node" + holder,
                        "Billing" + holder,
                        "GRES" + holder))));
        return out;
    }

    /** Adds MaxTRESRunMins of a QOS: what jobs of the same user, or of the same account, may still use together. */
    private void each(JobDesc desc, AccountRules.Rule r, int place, boolean byUser, Consumer<SharedLimits> out) {
        String user = byUser ? desc.owner().user() : "";
        String account = byUser ? "" : desc.charge().account();
        String holder = "RunMinsPer" + (byUser ? "User" : "Account");
        List<SharedLimits.Bound> bounds =
                coming(LimitValues.tres(r.limits(), byUser ? "MaxTRESRunMinsPU" : "MaxTRESRunMinsPA"), holder);
        add(key(holder, desc, r.part(), user + account), place, bounds, use -> r.sum(use, user, account), out);
    }

    /** Returns the reasons of GrpTRESMins limits that the job exceeds even without any usage of others. */
    static List<JobReason> minutesAlone(AccountRules rules, JobDesc desc, Map<String, Long> asked) {
        long limitMin = desc.timing().timeLimitMin();
        List<SharedLimits.Bound> bounds = new ArrayList<>();
        for (AccountRules.Rule r : rules.rules(desc)) {
            bounds.addAll(minutes("QOSGrp", "Memory", r.limits(), Map.of()));
        }
        for (AssocPolicy a : rules.chain(desc)) {
            bounds.addAll(minutes("AssocGrp", "Mem", rules.overTime(a), rules.ofQos(desc)));
        }
        return bounds.stream()
                .filter(b -> limitMin > 0
                        && (b.what().equals(Shares.WALL) ? 1 : asked.getOrDefault(b.what(), 0L)) > b.max() / limitMin)
                .map(SharedLimits.Bound::reason)
                .toList();
    }

    /** @param instead limits of a QOS, which count in place of these */
    static List<SharedLimits.Bound> minutes(
            String prefix, String memory, Map<String, String> limits, Map<String, String> instead) {
        List<SharedLimits.Bound> out = minutes(prefix, memory, limits, instead, false);
        out.addAll(minutes(prefix, memory, limits, instead, true));
        out.addAll(wall(limits, instead, prefix + "WallLimit"));
        return out;
    }

    /** @param run those of running jobs, not what was used */
    private static List<SharedLimits.Bound> minutes(
            String prefix, String memory, Map<String, String> limits, Map<String, String> instead, boolean run) {
        List<SharedLimits.Bound> out = new ArrayList<>();
        String limit = run ? "GrpTRESRunMins" : "GrpTRESMins";
        String word = run ? "RunMinutes" : "Minutes";
        Map<String, Long> maxMinutes = LimitValues.tres(limits, limit);
        maxMinutes.keySet().removeAll(LimitValues.tres(instead, limit).keySet());
        maxMinutes.forEach((what, count) -> out.add(new SharedLimits.Bound(
                run ? SharedLimits.Kind.COMING : SharedLimits.Kind.USED,
                what,
                count,
                LimitValues.named(
                        prefix,
                        what,
                        "CPU" + word + "Limit",
                        memory + word,
                        "Node" + word,
                        "Billing" + word,
                        "GRES" + word))));
        return out;
    }

    private static List<SharedLimits.Bound> wall(Map<String, String> limits, Map<String, String> instead, String word) {
        long wall = LimitValues.text(instead, "GrpWall").isEmpty() ? LimitValues.number(limits, "GrpWall") : -1;
        return wall < 0
                ? List.of()
                : List.of(new SharedLimits.Bound(SharedLimits.Kind.USED, Shares.WALL, wall, JobReason.ofWord(word)));
    }
}
