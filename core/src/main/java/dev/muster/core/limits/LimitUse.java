package dev.muster.core.limits;

import dev.muster.core.state.Accounts;
import dev.muster.core.state.State;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.format.Digits;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Explains the limit that keeps a job waiting: its holder, its value, the amount in use and the amount that the job
 * adds.
 */
public final class LimitUse {
    private LimitUse() {}

    /**
     * @param holder {@code QOS high}, {@code account a}, {@code user ann in account a}
     * @param limit as sacctmgr calls it
     * @param what {@code cpu}, {@code jobs}, {@code minutes}
     * @param used by what runs; -1 if it is a limit of each job, or of what was used over time
     * @param asked by the job
     */
    public record Found(String holder, String limit, String what, long max, long used, long asked) {}

    private record Holder(String name, Map<String, String> limits, boolean own, Predicate<AccountUse.Payer> members) {}

    private static final List<String> GROUP = List.of("GrpTRES", "GrpJobs");
    private static final List<String> USER = List.of("MaxTRESPU", "MaxJobsPU");
    private static final List<String> ACCOUNT = List.of("MaxTRESPA", "MaxJobsPA");
    private static final List<String> JOB = List.of("MaxTRES", "MaxTRESPerNode", "MaxWall");
    private static final List<String> OVER_TIME = List.of("GrpTRESMins", "GrpTRESRunMins", "GrpWall", "MaxTRESMins");

    /**
     * Returns the limit that the reason stands for; empty if the reason is of another kind.
     *
     * @param limitMin the job's own time limit, -1 for none
     */
    public static Optional<Found> of(State state, JobDesc desc, JobReason reason, int limitMin) {
        String word = reason.word();
        boolean assoc = word.startsWith("Assoc");
        if (!assoc && !word.startsWith("QOS") && !word.startsWith("Max")) {
            return Optional.empty();
        }
        Map<String, Long> asked =
                AccountUse.held(state, desc, TresCounts.requested(state, desc).counted(state, desc));
        AccountUse use = new AccountUse();
        use.reset(state);
        for (Holder h : assoc ? associations(state, desc) : qos(state, desc)) {
            Optional<Found> found = broken(h, desc, asked, limitMin, use, word);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static List<Holder> associations(State state, JobDesc desc) {
        List<Holder> out = new ArrayList<>();
        Accounts all = state.accounts();
        String partition = desc.firstPartition();
        for (Optional<AssocPolicy> ancestor =
                        all.assoc(desc.owner().user(), desc.charge().account(), partition);
                ancestor.isPresent();
                ancestor = all.parent(ancestor.get())) {
            AssocPolicy a = ancestor.get();
            out.add(new Holder(
                    a.user().isEmpty() ? "account " + a.account() : "user " + a.user() + " in account " + a.account(),
                    a.limits(),
                    !a.user().isEmpty(),
                    p -> AccountRules.within(all, p, a)));
        }
        return out;
    }

    private static List<Holder> qos(State state, JobDesc desc) {
        List<Holder> out = new ArrayList<>();
        Optional<QosPolicy> part = AccountRules.ofPartition(state, desc.partition());
        part.ifPresent(q -> out.add(new Holder(
                "QOS " + q.name() + " of the partition",
                q.limits(),
                true,
                p -> state.partitions()
                        .find(p.firstPartition())
                        .filter(o -> o.info().qos().equals(q.name()))
                        .isPresent())));
        state.accounts()
                .qos(desc.charge().firstQos())
                .ifPresent(q -> out.add(new Holder(
                        "QOS " + q.name(), q.limits(), true, p -> p.qos().equals(q.name()))));
        return out;
    }

    private static Optional<Found> broken(
            Holder h, JobDesc desc, Map<String, Long> asked, int limitMin, AccountUse use, String word) {
        boolean assoc = word.startsWith("Assoc");
        List<String> keys = new ArrayList<>(GROUP);
        if (!assoc) {
            keys.addAll(USER);
            keys.addAll(ACCOUNT);
        } else if (h.own) {
            keys.add("MaxJobs");
        }
        // the job's reason word says whether a limit on jobs or on resources is broken
        keys.removeIf(key -> key.contains("Jobs") != word.contains("Jobs"));
        for (String key : keys) {
            Predicate<AccountUse.Payer> members = h.members;
            String holder = h.name;
            if (key.endsWith("PU")) {
                members = members.and(p -> p.user().equals(desc.owner().user()));
                holder += ", each user";
            } else if (key.endsWith("PA")) {
                members = members.and(p -> p.account().equals(desc.charge().account()));
                holder += ", each account";
            }
            AccountUse.Sum sum = use.of(List.of(h.name, key), members);
            if (key.contains("Jobs")) {
                long limit = number(h.limits, key);
                if (limit >= 0 && sum.running + 1L > limit) {
                    return Optional.of(new Found(holder, key, "jobs", limit, sum.running, 1));
                }
                continue;
            }
            for (Map.Entry<String, Long> l : amounts(h.limits, key).entrySet()) {
                long used = sum.has(l.getKey());
                long more = asked.getOrDefault(l.getKey(), 0L);
                if (used + more > l.getValue()) {
                    return Optional.of(new Found(holder, key, l.getKey(), l.getValue(), used, more));
                }
            }
        }
        return ofJob(h, asked, limitMin).or(() -> overTime(h, word));
    }

    private static Optional<Found> ofJob(Holder h, Map<String, Long> asked, int limitMin) {
        for (String key : JOB) {
            long wall = key.equals("MaxWall") ? number(h.limits, key) : -1;
            if (wall >= 0 && (limitMin < 0 || limitMin > wall)) {
                return Optional.of(new Found(h.name, key, "minutes", wall, -1, limitMin));
            }
            for (Map.Entry<String, Long> l : key.equals("MaxWall")
                    ? Map.<String, Long>of().entrySet()
                    : amounts(h.limits, key).entrySet()) {
                long nodes = key.endsWith("PerNode") ? Math.max(1, asked.getOrDefault("node", 1L)) : 1;
                long more = (asked.getOrDefault(l.getKey(), 0L) + nodes - 1) / nodes;
                if (more > l.getValue()) {
                    return Optional.of(new Found(h.name, key, l.getKey(), l.getValue(), -1, more));
                }
            }
        }
        return Optional.empty();
    }

    private static Optional<Found> overTime(Holder h, String word) {
        if (!word.contains("Minutes") && !word.contains("RunMins") && !word.contains("Wall")) {
            return Optional.empty();
        }
        for (String key : OVER_TIME) {
            long wall = key.equals("GrpWall") ? number(h.limits, key) : -1;
            for (Map.Entry<String, Long> l : amounts(h.limits, key).entrySet()) {
                return Optional.of(new Found(h.name, key, l.getKey() + " minutes", l.getValue(), -1, -1));
            }
            if (wall >= 0) {
                return Optional.of(new Found(h.name, key, "minutes", wall, -1, -1));
            }
        }
        return Optional.empty();
    }

    private static long number(Map<String, String> limits, String key) {
        String text = limits.getOrDefault(key, "");
        return Digits.only(text, 18) ? Long.parseLong(text) : -1;
    }

    private static Map<String, Long> amounts(Map<String, String> limits, String key) {
        Map<String, Long> out = new LinkedHashMap<>();
        for (String item : limits.getOrDefault(key, "").split(",")) {
            int equals = item.indexOf('=');
            if (equals > 0 && Digits.only(item.substring(equals + 1), 18)) {
                out.put(item.substring(0, equals), Long.parseLong(item.substring(equals + 1)));
            }
        }
        return out;
    }
}
