package dev.muster.core.limits;

import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Effects of a QOS' flags on limits, on usage and on the limits of a partition. */
public final class QosRules {
    static final String DENY_ON_LIMIT = "DenyOnLimit";
    static final String OVER_PARTITION_QOS = "OverPartQOS";
    static final String NO_DECAY = "NoDecay";
    static final String FACTOR_SAFE = "UsageFactorSafe";
    static final String REQUIRES_RESERVATION = "RequiresReservation";
    static final String TIME_LIMIT = "PartitionTimeLimit";
    public static final String MAX_NODES = "PartitionMaxNodes";
    static final String MIN_NODES = "PartitionMinNodes";
    private static final String NO_RESERVE = "NoReserve";
    private static final String LEAST_FACTOR = "UsageThreshold";
    private static final String THRESHOLD = "EnforceUsageThreshold";
    static final String RELATIVE = "Relative";
    /** The limits that Relative makes hundredths of a whole. */
    private static final List<String> OF_A_WHOLE =
            List.of("GrpTRES", "MaxTRES", "MaxTRESPA", "MaxTRESPU", "MaxTRESPerNode", "MinTRES");

    private final State state;
    /** Limits of each QOS in absolute numbers, by its id. */
    private final Map<Integer, Map<String, String>> absolute = new HashMap<>();

    private Optional<FairShare> shares = Optional.empty();

    QosRules(State state) {
        this.state = state;
    }

    static boolean has(QosPolicy qos, String flag) {
        String flags = qos.limits().getOrDefault("Flags", "");
        return !flags.isEmpty() && List.of(flags.split(",")).contains(flag);
    }

    static boolean isRelative(State state, String qos) {
        return state.accounts().qos(qos).filter(q -> has(q, RELATIVE)).isPresent();
    }

    /**
     * Returns another partition that has the same QOS, where that QOS is Relative: its limits are parts of what one
     * partition has.
     */
    public static Optional<String> alreadyOf(State state, Partition partition) {
        String qos = partition.info().qos();
        return qos.isEmpty() || !isRelative(state, qos)
                ? Optional.empty()
                : state.partitions().values().stream()
                        .filter(p -> p.info().qos().equals(qos) && !p.name().equals(partition.name()))
                        .map(Partition::name)
                        .findFirst();
    }

    /**
     * Relative QOS of several partitions, each with those that have it: slurm.conf may say so, or the flag may have
     * come later.
     */
    public static Map<String, List<String>> ofSeveralPartitions(State state) {
        Map<String, List<String>> all = new TreeMap<>();
        state.partitions().values().stream()
                .filter(p ->
                        !p.info().qos().isEmpty() && isRelative(state, p.info().qos()))
                .forEach(p -> all.computeIfAbsent(p.info().qos(), q -> new ArrayList<>())
                        .add(p.name()));
        all.values().removeIf(p -> p.size() < 2);
        return all;
    }

    /** Tests whether one of the job's QOS has a flag. */
    public static boolean has(State state, JobDesc desc, String flag) {
        return desc.charge().eachQos().stream()
                .anyMatch(name ->
                        state.accounts().qos(name).filter(q -> has(q, flag)).isPresent());
    }

    /**
     * Returns the limits of a QOS in absolute numbers: with Relative they are kept as hundredths of what the cluster
     * has or, of a partition's QOS, what that partition has; parts are cut off.
     */
    Map<String, String> limits(QosPolicy qos) {
        return has(qos, RELATIVE) ? absolute.computeIfAbsent(qos.id(), id -> absolute(qos)) : qos.limits();
    }

    private Map<String, String> absolute(QosPolicy qos) {
        Optional<Partition> of = state.partitions().values().stream()
                .filter(p -> p.info().qos().equals(qos.name()))
                .findFirst();
        List<Node> nodes = new ArrayList<>();
        of.ifPresentOrElse(
                p -> p.nodes().forEach(n -> state.nodes().find(n).ifPresent(nodes::add)),
                () -> nodes.addAll(state.nodes().values()));
        TresCounts whole = TresCounts.of(state, nodes);
        Map<String, Long> total =
                whole.byName(whole.billing(state, of.map(Partition::name).orElse("")));
        Map<String, String> out = new TreeMap<>(qos.limits());
        for (String name : OF_A_WHOLE) {
            out.computeIfPresent(name, (n, text) -> shareOf(text, total));
        }
        return out;
    }

    private static String shareOf(String text, Map<String, Long> total) {
        List<String> out = new ArrayList<>();
        for (String item : text.split(",")) {
            int eq = item.indexOf('=');
            String digits = item.substring(eq + 1);
            boolean whole = eq < 0 || digits.length() > 9;
            out.add(
                    whole
                            ? item
                            : item.substring(0, eq + 1)
                                    + total.getOrDefault(item.substring(0, eq), 0L) * Long.parseLong(digits) / 100);
        }
        return String.join(",", out);
    }

    /** Tests whether the QOS has EnforceUsageThreshold, and there is a threshold. */
    static boolean hasThreshold(QosPolicy qos) {
        return !qos.limits().getOrDefault(LEAST_FACTOR, "").isEmpty() && has(qos, THRESHOLD);
    }

    /**
     * Tests whether the association's fair-share factor, as sshare shows it, is below what the QOS asks for.
     *
     * @param qos that has a threshold
     */
    boolean isBelowThreshold(QosPolicy qos, AssocPolicy assoc) {
        shares = shares.isEmpty() ? Optional.of(FairShare.of(state)) : shares;
        return shares.get().factor(assoc.id()) < Double.parseDouble(qos.limits().get(LEAST_FACTOR));
    }

    /**
     * Tests whether a job that has to wait may have room kept for it: not with NoReserve, and not below
     * MinPrioThreshold, of its QOS or else of its association.
     */
    boolean reserves(Optional<QosPolicy> qos, Optional<AssocPolicy> assoc, long priority) {
        if (qos.filter(q -> has(q, NO_RESERVE)).isPresent()) {
            return false;
        }
        String own = qos.map(q -> q.limits().getOrDefault("MinPrioThresh", "")).orElse("");
        String minPriority = own.isEmpty()
                ? assoc.map(a -> a.limits().getOrDefault("MinPrioThresh", "")).orElse("")
                : own;
        return minPriority.isEmpty() || priority >= Long.parseLong(minPriority);
    }
}
