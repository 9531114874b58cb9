package dev.muster.core.options;

import dev.muster.json.NamedTexts;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * The options of the settings, parsed once: SchedulerParameters, and keys of slurm.conf and its sister files that the
 * core reads. The journal has them as texts by name; each record of this package names those that it reads, with their
 * units and defaults. Immutable.
 */
public final class SlurmConfOptions implements NamedTexts {
    /** Options of a configuration that sets none. */
    public static final SlurmConfOptions NONE = new SlurmConfOptions(Collections.emptySortedMap());

    private final Map<String, String> texts;
    private final AccountingOptions accounting;
    private final PriorityOptions priority;
    private final UsageDecayOptions usage;
    private final PreemptionOptions preemption;
    private final PowerSavingOptions power;
    private final PrologOptions prolog;
    private final SubmissionOptions submission;
    private final JobRequestOptions requests;
    private final RequeueOptions requeue;
    private final SchedulingOptions scheduling;
    private final SelectTypeOptions select;
    private final BackfillOptions backfill;
    private final StepOptions steps;
    private final NodeOptions nodes;
    private final LicenseOptions licenses;
    private final BurstBufferOptions buffers;
    private final UserRights users;
    private final McsOptions mcs;
    private final ControllerOptions controllers;

    private SlurmConfOptions(Map<String, String> texts) {
        this.texts = texts;
        OptionParser text = new OptionParser(texts);
        this.accounting = AccountingOptions.of(text);
        this.priority = PriorityOptions.of(text);
        this.usage = UsageDecayOptions.of(text);
        this.preemption = PreemptionOptions.of(text);
        this.power = PowerSavingOptions.of(text);
        this.prolog = PrologOptions.of(text);
        this.submission = SubmissionOptions.of(text);
        this.requests = JobRequestOptions.of(text);
        this.requeue = RequeueOptions.of(text);
        this.scheduling = SchedulingOptions.of(text);
        this.select = SelectTypeOptions.of(text);
        this.backfill = BackfillOptions.of(text);
        this.steps = StepOptions.of(text);
        this.nodes = NodeOptions.of(text);
        this.licenses = LicenseOptions.of(text);
        this.buffers = BurstBufferOptions.of(text);
        this.users = UserRights.of(text);
        this.mcs = McsOptions.of(text);
        this.controllers = ControllerOptions.of(text);
    }

    public static SlurmConfOptions of(Map<String, String> texts) {
        return texts.isEmpty() ? NONE : new SlurmConfOptions(Collections.unmodifiableMap(new TreeMap<>(texts)));
    }

    /** Returns the options with other texts for some names; an empty text removes its option. */
    public SlurmConfOptions with(Map<String, String> changed) {
        Map<String, String> out = new TreeMap<>(texts);
        changed.forEach((name, value) -> {
            // a word without a value is empty in the file, but no change can add one
            if (value.isEmpty()) {
                out.remove(name);
            } else {
                out.put(name, value);
            }
        });
        return of(out);
    }

    /** Returns the stored form: for the journal, and for commands that show an option as it is written. */
    @Override
    public Map<String, String> texts() {
        return texts;
    }

    public AccountingOptions accounting() {
        return accounting;
    }

    public PriorityOptions priority() {
        return priority;
    }

    public UsageDecayOptions usage() {
        return usage;
    }

    public PreemptionOptions preemption() {
        return preemption;
    }

    public PowerSavingOptions power() {
        return power;
    }

    public PrologOptions prolog() {
        return prolog;
    }

    public SubmissionOptions submission() {
        return submission;
    }

    public JobRequestOptions requests() {
        return requests;
    }

    public RequeueOptions requeue() {
        return requeue;
    }

    public SchedulingOptions scheduling() {
        return scheduling;
    }

    public SelectTypeOptions select() {
        return select;
    }

    public BackfillOptions backfill() {
        return backfill;
    }

    public StepOptions steps() {
        return steps;
    }

    public NodeOptions nodes() {
        return nodes;
    }

    public LicenseOptions licenses() {
        return licenses;
    }

    public BurstBufferOptions buffers() {
        return buffers;
    }

    public ControllerOptions controllers() {
        return controllers;
    }

    public UserRights users() {
        return users;
    }

    public McsOptions mcs() {
        return mcs;
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof SlurmConfOptions o && texts.equals(o.texts);
    }

    @Override
    public int hashCode() {
        return texts.hashCode();
    }

    @Override
    public String toString() {
        return texts.toString();
    }
}
