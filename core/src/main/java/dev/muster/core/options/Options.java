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
public final class Options implements NamedTexts {
    /** Without any option. */
    public static final Options NONE = new Options(Collections.emptySortedMap());

    private final Map<String, String> texts;
    private final AccountingOptions accounting;
    private final PriorityOptions priority;
    private final UsageOptions usage;
    private final PreemptionOptions preemption;
    private final PowerSaving power;
    private final PrologOptions prolog;
    private final SubmissionOptions submission;
    private final RequestOptions requests;
    private final RequeueOptions requeue;
    private final SchedulingOptions scheduling;
    private final SelectOptions select;
    private final BackfillOptions backfill;
    private final StepOptions steps;
    private final NodeOptions nodes;
    private final LicenseOptions licenses;
    private final BufferOptions buffers;
    private final UserRights users;
    private final McsOptions mcs;

    private Options(Map<String, String> texts) {
        this.texts = texts;
        OptionText text = new OptionText(texts);
        this.accounting = AccountingOptions.of(text);
        this.priority = PriorityOptions.of(text);
        this.usage = UsageOptions.of(text);
        this.preemption = PreemptionOptions.of(text);
        this.power = PowerSaving.of(text);
        this.prolog = PrologOptions.of(text);
        this.submission = SubmissionOptions.of(text);
        this.requests = RequestOptions.of(text);
        this.requeue = RequeueOptions.of(text);
        this.scheduling = SchedulingOptions.of(text);
        this.select = SelectOptions.of(text);
        this.backfill = BackfillOptions.of(text);
        this.steps = StepOptions.of(text);
        this.nodes = NodeOptions.of(text);
        this.licenses = LicenseOptions.of(text);
        this.buffers = BufferOptions.of(text);
        this.users = UserRights.of(text);
        this.mcs = McsOptions.of(text);
    }

    public static Options of(Map<String, String> texts) {
        return texts.isEmpty() ? NONE : new Options(Collections.unmodifiableMap(new TreeMap<>(texts)));
    }

    /** The same with other texts for some names; an empty text removes its option. */
    public Options with(Map<String, String> changed) {
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

    /** The stored form: for the journal, and for commands that show an option as it is written. */
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

    public UsageOptions usage() {
        return usage;
    }

    public PreemptionOptions preemption() {
        return preemption;
    }

    public PowerSaving power() {
        return power;
    }

    public PrologOptions prolog() {
        return prolog;
    }

    public SubmissionOptions submission() {
        return submission;
    }

    public RequestOptions requests() {
        return requests;
    }

    public RequeueOptions requeue() {
        return requeue;
    }

    public SchedulingOptions scheduling() {
        return scheduling;
    }

    public SelectOptions select() {
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

    public BufferOptions buffers() {
        return buffers;
    }

    public UserRights users() {
        return users;
    }

    public McsOptions mcs() {
        return mcs;
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof Options o && texts.equals(o.texts);
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
