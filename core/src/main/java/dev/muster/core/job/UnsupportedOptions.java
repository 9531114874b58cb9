package dev.muster.core.job;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Settings;
import dev.muster.core.step.NetworkOption;
import dev.muster.core.step.Ports;
import dev.muster.model.SlurmErrno;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import dev.muster.model.job.X11;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Refuses a job's options that this version or the cluster's configuration does not support, rather than accept and
 * ignore them.
 */
public final class UnsupportedOptions {
    private UnsupportedOptions() {}

    private static final String ONE_TASK_PER_SHARING = "one-task-per-sharing";
    private static final String MULTIPLE_SHARING = "MULTIPLE_SHARING_GRES_PJ";
    private static final List<String> KNOWN_FLAGS = List.of(
            "",
            "disable-binding",
            "enforce-binding",
            "multiple-tasks-per-sharing",
            "allow-task-sharing",
            ONE_TASK_PER_SHARING);

    private record Rule(boolean asked, String what) {}

    public static Optional<Decision.Rejected> refusal(JobDesc desc, Settings settings) {
        return first(List.of(new Rule(
                        desc.extras().reboot() && !settings.options().requests().reboots(),
                        "without RebootProgram --reboot")))
                .or(() -> first(resources(desc.request(), settings)))
                .or(() -> notSelected(desc.request(), settings))
                .or(() -> first(extras(desc.extras())))
                .or(() -> windows(desc, settings))
                .or(() -> managed(desc, settings))
                .or(() -> NetworkOption.refusal(desc.request().network(), settings))
                .or(() -> desc.timing().expedite()
                                && !settings.options().requests().expedites()
                        ? Optional.of(Decision.reject(SlurmErrno.DISABLED))
                        : Optional.empty());
    }

    private static Optional<Decision.Rejected> windows(JobDesc desc, Settings settings) {
        String asked = desc.extras().x11();
        if (asked.isEmpty()) {
            return Optional.empty();
        }
        if (!settings.options().requests().x11()) {
            return Optional.of(new Decision.Rejected(SlurmErrno.X11_NOT_AVAIL, SlurmErrno.X11_NOT_AVAIL.sentence()));
        }
        return desc.kind() == JobDesc.Kind.BATCH || X11.parse(asked).isEmpty()
                ? Optional.of(new Decision.Rejected(
                        SlurmErrno.NOT_SUPPORTED,
                        "X11 forwarding needs an srun or salloc that stays, and the cookie of its display"))
                : Optional.empty();
    }

    /**
     * Refuses options that a step manager excludes or lacks: the rules of Slurm, where an extern step is what manages a
     * job's steps.
     */
    private static Optional<Decision.Rejected> managed(JobDesc desc, Settings settings) {
        JobDesc.Extras e = desc.extras();
        String needs;
        if (e.stepMgr() && !settings.externSteps()) {
            needs = "--stepmgr needs PrologFlags=Contain";
        } else if (e.resvPorts() != 0 && !e.stepMgr()) {
            needs = "Slurmstepd step management must be enabled to use --resv-ports for job allocations";
        } else if (e.memUpdateMin() > 0 && !settings.options().requests().memoryUpdates()) {
            needs = "--mem-update needs SlurmctldParameters=enable_stepmgr and JobAcctGatherType=jobacct_gather/cgroup";
        } else {
            needs = "";
        }

        if (!needs.isEmpty()) {
            return Optional.of(new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, needs));
        }
        if (e.resvPorts() > Ports.count(settings) || e.resvPorts() != 0 && Ports.count(settings) == 0) {
            return Optional.of(Decision.reject(SlurmErrno.PORTS_INVALID));
        }
        return Optional.empty();
    }

    /** Refuses, in Slurm's words, a flag that SelectTypeParameters forbids. */
    private static Optional<Decision.Rejected> notSelected(ResourceRequest r, Settings settings) {
        return gresFlags(r).contains(ONE_TASK_PER_SHARING) && !settings.selects(MULTIPLE_SHARING)
                ? Optional.of(new Decision.Rejected(
                        SlurmErrno.NOT_SUPPORTED,
                        "In order to use --gres-flags=" + ONE_TASK_PER_SHARING
                                + " you must also have SelectTypeParameters=" + MULTIPLE_SHARING
                                + " in your slurm.conf"))
                : Optional.empty();
    }

    private static Optional<Decision.Rejected> first(List<Rule> rules) {
        for (Rule r : rules) {
            if (r.asked) {
                return Optional.of(new Decision.Rejected(
                        SlurmErrno.NOT_SUPPORTED, r.what + " is not supported by this version of Muster"));
            }
        }
        return Optional.empty();
    }

    private static List<Rule> resources(ResourceRequest r, Settings settings) {
        boolean specUsage = settings.options().requests().specUsage();
        return List.of(
                new Rule(
                        !specUsage && (r.coreSpec() != 0 || r.threadSpec() > 0),
                        "without AllowSpecResourcesUsage=yes --core-spec or --thread-spec"),
                new Rule(r.coreSpec() != 0 && r.threadSpec() > 0, "--core-spec together with --thread-spec"),
                new Rule(!KNOWN_FLAGS.containsAll(gresFlags(r)), "--gres-flags=" + r.gresFlags()));
    }

    private static List<String> gresFlags(ResourceRequest r) {
        return List.of(r.gresFlags().toLowerCase(Locale.ROOT).split(","));
    }

    private static List<Rule> extras(JobDesc.Extras e) {
        return List.of(given(e.power(), "--power"));
    }

    private static Rule given(String value, String what) {
        return new Rule(!value.isEmpty(), what);
    }
}
