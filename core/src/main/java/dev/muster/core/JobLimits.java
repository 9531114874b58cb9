package dev.muster.core;

import dev.muster.model.JobReason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Limits that each job has for itself, and which of several broken limits is told. */
final class JobLimits {
    /** What refuses a job at its submission is told in this order, whatever else it breaks; limits of associations come last. */
    private static final List<Pattern> TOLD = Stream.of("Max(?!Jobs|Submit).*PerAccount", "QOSMax(?!Jobs|Submit).*PerUser(Limit)?",
            "QOSGrp(Cpu|Mem|Node)Limit|QOSGrp(Billing|GRES|License|BB)", "QOSGrpSubmitJobsLimit", "QOSMax.*MinutesPerJob(Limit)?",
            "QOSGrp.*(?<!Run)Minutes(Limit)?", "QOSGrp.*RunMinutes(Limit)?", "QOSMaxWallDurationPerJobLimit", "QOSGrpWallLimit",
            "QOSMax.*PerJob(Limit)?", "QOSMax.*PerNode", "MaxSubmitJobsPerAccount", "QOSMaxSubmitJobPerUserLimit", "QOSMin.*", "QOS.*")
            .map(Pattern::compile).toList();

    private final Map<String, String> ofQos;
    private final Map<String, String> ofAssoc;
    private final Map<String, Long> wanted;
    private final int limitMin;
    private final List<JobReason> broken = new ArrayList<>();

    private JobLimits(Map<String, String> ofQos, Map<String, String> ofAssoc, Map<String, Long> wanted, int limitMin) {
        this.ofQos = ofQos;
        this.ofAssoc = ofAssoc;
        this.wanted = wanted;
        this.limitMin = limitMin;
    }

    /** The word of a refusal. @param words of limits that are broken, one at least */
    static String told(List<String> words) {
        return words.stream().min(Comparator.comparingInt(JobLimits::rank)).orElseThrow();
    }

    private static int rank(String word) {
        int rank = 0;
        while (rank < TOLD.size() && !TOLD.get(rank).matcher(word).matches()) {
            rank++;
        }
        return rank;
    }

    /**
     * Those that a job breaks whatever others have, the first being what is told to it while it waits. A limit of the QOS counts in place of
     * its association's.
     *
     * @param factor what a minute of it counts for
     */
    static List<JobReason> broken(Map<String, String> ofQos, Map<String, String> ofAssoc, Map<String, Long> wanted, int limitMin, double factor) {
        JobLimits of = new JobLimits(ofQos, ofAssoc, wanted, limitMin);
        of.wall();
        Map<String, Long> minutes = AccountRules.times(wanted, limitMin, factor);
        Map<String, Long> each = of.perNode();
        Map<String, Long> most = AccountRules.tres(ofQos, "MaxTRES");
        Map<String, Long> mostMinutes = AccountRules.tres(ofQos, "MaxTRESMins");
        Map<String, Long> mostEach = AccountRules.tres(ofQos, "MaxTRESPerNode");
        of.most(mostMinutes, minutes, what -> AccountRules.named("QOSMax", what, "CpuMinutesPerJobLimit", "MemoryMinutesPerJob",
                "NodeMinutesPerJob", "BillingMinutesPerJob", "GRESMinutesPerJob"));
        of.most(most, wanted, what -> AccountRules.named("QOSMax", what, "CpuPerJobLimit", "MemoryPerJob", "NodePerJobLimit", "BillingPerJob",
                "GRESPerJob"));
        of.most(mostEach, each, what -> AccountRules.named("QOSMax", what, "CpuPerNode", "MemoryPerNode", "UnknownPerNode", "BillingPerNode",
                "GRESPerNode"));
        of.least();
        of.most(of.others("MaxTRESMins", mostMinutes), minutes, what -> AccountRules.named("AssocMax", what, "CpuMinutesPerJobLimit",
                "MemMinutesPerJob", "NodeMinutesPerJob", "BillingMinutesPerJob", "GRESMinutesPerJob"));
        Map<String, Long> stretched = AccountRules.stretched(AccountRules.tres(ofAssoc, "MaxTRES"), ofQos);
        stretched.keySet().removeAll(most.keySet());
        of.most(stretched, wanted, what -> AccountRules.named("AssocMax", what, "CpuPerJobLimit", "MemPerJob", "NodePerJobLimit", "BillingPerJob",
                "GRESPerJob"));
        of.most(of.others("MaxTRESPerNode", mostEach), each, what -> AccountRules.named("AssocMax", what, "CpuPerNode", "MemPerNode",
                "UnknownPerNode", "BillingPerNode", "GRESPerNode"));
        return of.broken;
    }

    private void most(Map<String, Long> limits, Map<String, Long> asked, Function<String, JobReason> word) {
        limits.forEach((what, count) -> {
            if (asked.getOrDefault(what, 0L) > count) {
                broken.add(word.apply(what));
            }
        });
    }

    private Map<String, Long> others(String name, Map<String, Long> saidByQos) {
        Map<String, Long> out = AccountRules.tres(ofAssoc, name);
        out.keySet().removeAll(saidByQos.keySet());
        return out;
    }

    private void least() {
        AccountRules.tres(ofQos, "MinTRES").forEach((what, count) -> {
            if (wanted.getOrDefault(what, 0L) < count) {
                broken.add(AccountRules.named("QOSMin", what, "CpuNotSatisfied", "Memory", "Node", "Billing", "GRES"));
            }
        });
    }

    private void wall() {
        long own = AccountRules.number(ofQos, "MaxWall");
        long most = own >= 0 ? own : AccountRules.number(ofAssoc, "MaxWall");
        if (most >= 0 && (limitMin < 0 || limitMin > most)) {
            broken.add(JobReason.ofWord((own >= 0 ? "QOS" : "Assoc") + "MaxWallDurationPerJobLimit"));
        }
    }

    /** What it has on a node on the average. */
    private Map<String, Long> perNode() {
        Map<String, Long> each = new LinkedHashMap<>();
        long nodes = Math.max(1, wanted.getOrDefault("node", 1L));
        wanted.forEach((name, count) -> each.put(name, (count + nodes - 1) / nodes));
        return each;
    }
}
