package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.Release;
import dev.muster.model.node.NodeMessages.Attempt;
import dev.muster.model.node.NodeMessages.Hardware;
import dev.muster.model.node.NodeMessages.Heartbeat;
import dev.muster.model.node.NodeMessages.Register;
import dev.muster.node.config.Settings;
import dev.muster.node.hardware.FeatureHelpers;
import dev.muster.node.hardware.HardwareProbe;
import dev.muster.node.meter.Sensors;
import dev.muster.node.os.Os;
import java.util.List;
import java.util.Optional;

/** What slurmd tells slurmctld about its node: hardware, features, load and the time of its boot. */
final class NodeRegistration {
    /** The result of a change of features. */
    enum FeatureChange {
        FAILED,
        NEEDS_REBOOT,
        DONE
    }

    private final Settings settings;
    private final DaemonLog log;
    private final HardwareProbe probe;
    private final FeatureHelpers helpers;
    private final String bootId;
    private final boolean reportReboot;
    private final long startTime = System.currentTimeMillis() / 1000;
    /** The active ones among the features of its helpers. */
    private volatile List<String> activeFeatures;
    /** When they were changed without a reboot, seconds since 1970. */
    private volatile long featuresTime;

    /** @param reportReboot whether the start of slurmd counts as the node's boot */
    NodeRegistration(
            Settings settings,
            DaemonLog log,
            HardwareProbe probe,
            FeatureHelpers helpers,
            String bootId,
            boolean reportReboot) {
        this.settings = settings;
        this.log = log;
        this.probe = probe;
        this.helpers = helpers;
        this.bootId = bootId;
        this.reportReboot = reportReboot;
        activeFeatures = helpers.active();
    }

    /** Returns the time of slurmd's start, in seconds since 1970. */
    long startTime() {
        return startTime;
    }

    /** Returns whether this slurmd is the first one since the node's boot. */
    boolean isFirstOfBoot() {
        return Os.isFirstOf(bootId, settings.spoolDirectory().resolve("boot"));
    }

    void logStart() {
        Hardware h = hardware();
        log.info("slurmd version " + Release.VERSION + " started");
        log.info("CPUs=" + h.cpus() + " Boards=" + h.boards() + " Sockets=" + h.sockets() + " Cores="
                + h.coresPerSocket()
                + " Threads=" + h.threadsPerCore() + " Memory=" + h.memoryMb() + " TmpDisk=" + h.tmpDiskMb()
                + " Uptime="
                + probe.uptimeSeconds() + " CPUSpecList=(null) FeaturesAvail=" + shown(helpers.available())
                + " FeaturesActive=" + shown(activeFeatures));
    }

    private static String shown(List<String> features) {
        return features.isEmpty() ? "(null)" : String.join(",", features);
    }

    /** Returns the hardware as configured, with what is always measured; as measured without a configuration. */
    Hardware hardware() {
        Hardware real = probe.read(settings.gres());
        long bootTime = reportReboot ? startTime : real.bootTime();
        return settings.registered()
                .map(s -> new Hardware(
                        s.cpus(),
                        s.boards(),
                        s.sockets(),
                        s.coresPerSocket(),
                        s.threadsPerCore(),
                        s.memoryMb(),
                        Math.max(s.tmpDiskMb(), 0),
                        real.gres(),
                        real.architecture(),
                        real.operatingSystem(),
                        bootTime))
                .orElse(new Hardware(
                        real.cpus(),
                        real.boards(),
                        real.sockets(),
                        real.coresPerSocket(),
                        real.threadsPerCore(),
                        real.memoryMb(),
                        real.tmpDiskMb(),
                        real.gres(),
                        real.architecture(),
                        real.operatingSystem(),
                        bootTime));
    }

    /** @param jobs that are on the node */
    Register register(List<Attempt> jobs, int highestJobId) {
        return new Register(
                settings.nodeName(),
                settings.cluster(),
                bootId,
                Release.VERSION,
                startTime,
                hardware(),
                jobs,
                settings.dynamic(),
                settings.extra(),
                helpers.available(),
                activeFeatures,
                featuresTime,
                settings.around().instanceId(),
                settings.around().instanceType(),
                highestJobId);
    }

    Heartbeat heartbeat(Optional<Sensors.Power> power) {
        return power.map(p -> new Heartbeat(probe.load(), probe.freeMemoryMb(), true, p.now(), p.average()))
                .orElseGet(() -> new Heartbeat(probe.load(), probe.freeMemoryMb()));
    }

    /** Sets features through the helpers. They are active afterwards, where no reboot is needed for that. */
    FeatureChange change(List<String> features) {
        if (!helpers.set(features)) {
            return FeatureChange.FAILED;
        }
        if (features.isEmpty() || helpers.needReboot(features, activeFeatures)) {
            return FeatureChange.NEEDS_REBOOT;
        }
        activeFeatures = helpers.active();
        featuresTime = System.currentTimeMillis() / 1000;
        log.info("FeaturesActive=" + shown(activeFeatures) + " without a reboot");
        return FeatureChange.DONE;
    }
}
