package dev.muster.core.limits;

import dev.muster.model.job.JobReason;
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
    /** Place at which MaxWall of a user's association is reported, and its other limits on single jobs. */
    static final int WALL_OF_ASSOC = 5;

    static final int AMOUNTS_OF_ASSOC = 20;
    /**
     * Order in which the limits that refuse a job at its submission are reported, whatever else it breaks; limits of
     * associations come last.
     */
    private static final List<Pattern> TOLD = Stream.of(
                    "Max(?!Jobs|Submit).*PerAccount",
                    "QOSMax(?!Jobs|Submit).*PerUser(Limit)?",
                    "QOSGrp(Cpu|Mem|Node)Limit|QOSGrp(Billing|GRES|License|BB)",
                    "QOSGrpSubmitJobsLimit",
                    "QOSMax.*MinutesPerJob(Limit)?",
                    "QOSGrp.*(?<!Run)Minutes(Limit)?",
                    "QOSGrp.*RunMinutes(Limit)?",
                    "QOSMaxWallDurationPerJobLimit",
                    "QOSGrpWallLimit",
                    "QOSMax.*PerJob(Limit)?",
                    "QOSMax.*PerNode",
                    "MaxSubmitJobsPerAccount",
                    "QOSMaxSubmitJobPerUserLimit",
                    "QOSMin.*",
                    "QOS.*")
            .map(Pattern::compile)
            .toList();

    private final Map<String, String> ofAssoc;
    private final Map<String, Long> wanted;
    private final int limitMin;
    private final List<Broken> broken = new ArrayList<>();

    private JobLimits(Map<String, String> ofAssoc, Map<String, Long> wanted, int limitMin) {
        this.ofAssoc = ofAssoc;
        this.wanted = wanted;
        this.limitMin = limitMin;
    }

    /**
     * Returns the word of a refusal.
     *
     * @param words of limits that are broken, one at least
     */
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
     * A limit that the job breaks.
     *
     * @param place where it is told among those that count for several jobs together, which are before and behind it
     */
    record Broken(int place, JobReason reason) {}

    /**
     * Returns the place at which MaxWall of the first or second QOS is reported: numbers of jobs and GrpWall of the
     * same QOS are reported before it.
     */
    static int wall(int qos) {
        return 2 * qos + 1;
    }

    /**
     * Returns the place at which other limits of a QOS on single jobs are reported: what all of its jobs have is
     * reported before them, what a user or account has after them.
     */
    static int amounts(int qos) {
        return 10 + 3 * qos;
    }

    /**
     * Returns the limits that a job breaks whatever other jobs have, in the order in which they are reported while it
     * waits. A limit of the QOS counts in place of its association's.
     *
     * @param qos limits of the first and the second QOS; what both name is in the first alone
     * @param factor what a minute of it counts for
     */
    static List<Broken> broken(
            List<Map<String, String>> qos,
            Map<String, String> ofQos,
            Map<String, String> ofAssoc,
            Map<String, Long> wanted,
            int limitMin,
            double factor) {
        JobLimits of = new JobLimits(ofAssoc, wanted, limitMin);
        for (int i = 0; i < qos.size(); i++) {
            of.wall(wall(i), qos.get(i), "QOS");
        }
        if (LimitValues.number(ofQos, "MaxWall") < 0) {
            of.wall(WALL_OF_ASSOC, ofAssoc, "Assoc");
        }
        Map<String, Long> minutes = LimitValues.times(wanted, limitMin, factor);
        Map<String, Long> each = of.perNode();
        for (int i = 0; i < qos.size(); i++) {
            of.ofQos(amounts(i), qos.get(i), minutes, each);
        }
        int place = AMOUNTS_OF_ASSOC;
        of.most(
                place,
                of.others("MaxTRESMins", LimitValues.tres(ofQos, "MaxTRESMins")),
                minutes,
                what -> LimitValues.named(
                        "AssocMax",
                        what,
                        "CpuMinutesPerJobLimit",
                        "MemMinutesPerJob",
                        "NodeMinutesPerJob",
                        "BillingMinutesPerJob",
                        "GRESMinutesPerJob"));
        Map<String, Long> stretched = LimitValues.stretched(LimitValues.tres(ofAssoc, "MaxTRES"), ofQos);
        stretched.keySet().removeAll(LimitValues.tres(ofQos, "MaxTRES").keySet());
        of.most(
                place,
                stretched,
                wanted,
                what -> LimitValues.named(
                        "AssocMax",
                        what,
                        "CpuPerJobLimit",
                        "MemPerJob",
                        "NodePerJobLimit",
                        "BillingPerJob",
                        "GRESPerJob"));
        of.most(
                place,
                of.others("MaxTRESPerNode", LimitValues.tres(ofQos, "MaxTRESPerNode")),
                each,
                what -> LimitValues.named(
                        "AssocMax",
                        what,
                        "CpuPerNode",
                        "MemPerNode",
                        "UnknownPerNode",
                        "BillingPerNode",
                        "GRESPerNode"));
        return of.broken;
    }

    private void ofQos(int place, Map<String, String> limits, Map<String, Long> minutes, Map<String, Long> each) {
        most(
                place,
                LimitValues.tres(limits, "MaxTRESMins"),
                minutes,
                what -> LimitValues.named(
                        "QOSMax",
                        what,
                        "CpuMinutesPerJobLimit",
                        "MemoryMinutesPerJob",
                        "NodeMinutesPerJob",
                        "BillingMinutesPerJob",
                        "GRESMinutesPerJob"));
        most(
                place,
                LimitValues.tres(limits, "MaxTRES"),
                wanted,
                what -> LimitValues.named(
                        "QOSMax",
                        what,
                        "CpuPerJobLimit",
                        "MemoryPerJob",
                        "NodePerJobLimit",
                        "BillingPerJob",
                        "GRESPerJob"));
        most(
                place,
                LimitValues.tres(limits, "MaxTRESPerNode"),
                each,
                what -> LimitValues.named(
                        "QOSMax",
                        what,
                        "CpuPerNode",
                        "MemoryPerNode",
                        "UnknownPerNode",
                        "BillingPerNode",
                        "GRESPerNode"));
        LimitValues.tres(limits, "MinTRES").forEach((what, count) -> {
            if (wanted.getOrDefault(what, 0L) < count) {
                broken.add(new Broken(
                        place,
                        LimitValues.named("QOSMin", what, "CpuNotSatisfied", "Memory", "Node", "Billing", "GRES")));
            }
        });
    }

    private void most(int place, Map<String, Long> limits, Map<String, Long> asked, Function<String, JobReason> word) {
        limits.forEach((what, count) -> {
            if (asked.getOrDefault(what, 0L) > count) {
                broken.add(new Broken(place, word.apply(what)));
            }
        });
    }

    private Map<String, Long> others(String name, Map<String, Long> saidByQos) {
        Map<String, Long> out = LimitValues.tres(ofAssoc, name);
        out.keySet().removeAll(saidByQos.keySet());
        return out;
    }

    private void wall(int place, Map<String, String> limits, String holder) {
        long maxMin = LimitValues.number(limits, "MaxWall");
        if (maxMin >= 0 && (limitMin < 0 || limitMin > maxMin)) {
            broken.add(new Broken(place, JobReason.ofWord(holder + "MaxWallDurationPerJobLimit")));
        }
    }

    /** Returns the resources that the job has on a node on the average, rounded up. */
    private Map<String, Long> perNode() {
        Map<String, Long> each = new LinkedHashMap<>();
        long nodes = Math.max(1, wanted.getOrDefault("node", 1L));
        wanted.forEach((name, count) -> each.put(name, (count + nodes - 1) / nodes));
        return each;
    }
}
