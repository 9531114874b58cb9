package dev.muster.core.limits;

import dev.muster.core.options.McsOptions;
import dev.muster.core.options.PreemptionOptions;
import dev.muster.core.state.Job;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.State;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobState;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Decides between two jobs by PreemptType and the words of partitions and QOS. */
public final class PreemptPolicy {
    private final State state;
    private final PreemptionOptions options;
    private final List<String> standard;
    private final boolean gang;
    private final McsLabel mcs;
    private final Map<String, Optional<QosPolicy>> qosByName = new java.util.HashMap<>();
    /** PreemptExemptTime by QOS, in seconds; below it, by QOS, the priority from which jobs are exempt. */
    private final Map<String, Long> exemptS = new java.util.HashMap<>();

    private final Map<String, Long> ranks = new java.util.HashMap<>();

    public PreemptPolicy(State state) {
        this.state = state;
        this.options = state.settings().options().preemption();
        this.standard = options.modes();
        this.gang = standard.contains("GANG");
        this.mcs = McsLabel.of(state.settings());
    }

    private static Preemption.Mode mode(List<String> words) {
        if (words.contains("SUSPEND")) {
            return Preemption.Mode.SUSPEND;
        }
        if (words.contains("REQUEUE")) {
            return Preemption.Mode.REQUEUE;
        }
        if (words.contains("CANCEL")) {
            return Preemption.Mode.CANCEL;
        }
        return Preemption.Mode.OFF;
    }

    /** Tests whether QOS decide, not partitions. */
    public boolean byQos() {
        return options.byQos();
    }

    /** Tests whether neither priorities nor run times of jobs decide which job is preempted. */
    public boolean isPlain() {
        return isPlain(String.join(",", standard))
                && options.exemptS() <= 0
                && state.partitions().values().stream()
                        .allMatch(p -> isPlain(p.info().preemptMode()))
                && state.accounts().qos().values().stream()
                        .allMatch(q -> isPlain(q.limits().getOrDefault("PreemptMode", ""))
                                && q.limits()
                                        .getOrDefault("PreemptExemptTime", "")
                                        .isEmpty());
    }

    private static boolean isPlain(String words) {
        String upper = words.toUpperCase(java.util.Locale.ROOT);
        return !upper.contains("WITHIN") && !upper.contains("PRIORITY");
    }

    public boolean isOn() {
        return options.byPartition() || options.byQos();
    }

    /**
     * Returns whether the first job may preempt the second, whatever the mode. WITHIN allows it within one QOS;
     * PRIORITY allows it only to the job with the higher priority.
     *
     * @param priority of the first now
     */
    public boolean outranks(JobDesc taker, long priority, String partition, Job holder) {
        if (Preemption.isGuest(holder.desc()) && !taker.charge().reservation().isEmpty()) {
            return true;
        }
        boolean higher = priority > holder.priority();
        if (!higher && words(holder).contains("PRIORITY")) {
            return false;
        }
        if (options.byQos()) {
            String theirs = holder.desc().charge().qos();
            Optional<QosPolicy> own = qos(taker.charge().firstQos());
            return own.isPresent()
                    && !theirs.isEmpty()
                    && (List.of(own.get().limits().getOrDefault("Preempt", "").split(","))
                                    .contains(theirs)
                            || higher
                                    && own.get().name().equals(theirs)
                                    && (standard.contains("WITHIN")
                                            || words(holder).contains("WITHIN")));
        }
        return tier(holder.desc().partition()) < tier(partition);
    }

    /** Tests whether labels may keep jobs from each other. */
    public boolean isLabelled() {
        return !mcs.kind().equals("none") && mcs.options().select() != McsOptions.Select.NEVER;
    }

    /**
     * Tests whether labels let the taker preempt the holder: a job that shares nodes only with its MCS label preempts
     * no job of another label, and no such job preempts it.
     */
    public boolean mayMeet(JobDesc taker, JobDesc holder) {
        return !isLabelled() || meets(taker, holder) && meets(holder, taker);
    }

    private boolean meets(JobDesc job, JobDesc other) {
        String label = mcs.separating(job);
        return label.isEmpty() || label.equals(other.extras().mcsLabel());
    }

    /**
     * Returns the rank of a victim: the priority of its QOS, or the tier of its partition. Victims with a lower rank
     * are preempted first.
     */
    public long rank(Job holder) {
        return ranks.computeIfAbsent(
                byQos() ? holder.desc().charge().firstQos() : holder.desc().partition(), name -> {
                    String text = byQos() ? qos(holder, "Priority") : Integer.toString(tier(name));
                    return text.matches("[0-9]{1,10}") ? Long.parseLong(text) : 0;
                });
    }

    /** Returns PreemptMode as it is for a job: its QOS's or its partition's, or else the cluster's. */
    private List<String> words(Job holder) {
        String own = options.byQos()
                ? qos(holder, "PreemptMode")
                : state.partitions()
                        .find(holder.desc().firstPartition())
                        .map(p -> p.info().preemptMode())
                        .orElse("");
        boolean none = own.isEmpty() || own.equals("CLUSTER") || byQos() && own.equals("OFF");
        return none
                ? standard
                : Arrays.asList(own.toUpperCase(java.util.Locale.ROOT).split(","));
    }

    private int tier(String partitions) {
        int best = 0;
        for (String name : partitions.split(",")) {
            best = Math.max(
                    best,
                    state.partitions()
                            .find(name)
                            .map(p -> p.info().priorityTier())
                            .orElse(0));
        }
        return best;
    }

    /**
     * Returns what preemption does with a job; OFF if it stays. A heterogeneous job is preempted as a whole, so it
     * stays where one component stays.
     */
    public Preemption.Mode of(Job holder) {
        Preemption.Mode mode = ownMode(holder);
        if (holder.isHet() && mode != Preemption.Mode.OFF) {
            List<Preemption.Mode> all = state.members(holder).stream()
                    .filter(j -> j.state().isActive() || j.state() == JobState.PENDING)
                    .map(this::ownMode)
                    .toList();
            return Stream.of(Preemption.Mode.OFF, Preemption.Mode.CANCEL, Preemption.Mode.REQUEUE)
                    .filter(all::contains)
                    .findFirst()
                    .orElse(mode);
        }
        return mode;
    }

    private Preemption.Mode ownMode(Job holder) {
        List<String> words = words(holder);
        // WITHIN and PRIORITY alone set the victims, not the mode
        Preemption.Mode mode =
                mode(words.stream().allMatch(w -> w.equals("WITHIN") || w.equals("PRIORITY")) ? standard : words);
        if (holder.desc().extras().warnReserve() && mode != Preemption.Mode.REQUEUE) {
            return Preemption.Mode.CANCEL;
        }
        if (mode == Preemption.Mode.REQUEUE
                && (holder.desc().kind() != JobDesc.Kind.BATCH || !holder.mayRequeue(state.settings()))) {
            return Preemption.Mode.CANCEL;
        }
        return mode == Preemption.Mode.SUSPEND && !gang ? Preemption.Mode.OFF : mode;
    }

    private String qos(Job job, String limit) {
        return qos(job.desc().charge().firstQos())
                .map(q -> q.limits().getOrDefault(limit, ""))
                .orElse("");
    }

    private Optional<QosPolicy> qos(String name) {
        return qosByName.computeIfAbsent(name, n -> state.accounts().qos(n));
    }

    /**
     * Returns the second since 1970 until which the job is exempt from preemption; {@link Long#MAX_VALUE} where its
     * priority is too high for it.
     */
    public long exemptUntil(Job holder) {
        return holder.priority() >= options.exemptPriority() ? Long.MAX_VALUE : eligibleFrom(holder);
    }

    /** Returns the second since 1970 from which the job has run long enough to be preempted. */
    public long eligibleFrom(Job holder) {
        long exempt = exemptS.computeIfAbsent(holder.desc().charge().firstQos(), qos -> {
            String own = qos(holder, "PreemptExemptTime");
            if (own.isEmpty()) {
                return options.exemptS();
            }
            return PreemptionOptions.exemptS(own);
        });
        return holder.run().startTime() + Math.max(0, exempt);
    }

    /** Returns whether the job that started last is preempted first (preempt_youngest_first). */
    public boolean youngestFirst() {
        return options.youngestFirst();
    }

    /** Returns the seconds between the warning of a victim and its end. */
    public int graceSeconds(Job holder) {
        if (options.byQos()) {
            String text = qos(holder, "GraceTime");
            return text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
        }
        return state.partitions()
                .find(holder.desc().firstPartition())
                .map(p -> p.info().graceTimeSeconds())
                .orElse(0);
    }
}
