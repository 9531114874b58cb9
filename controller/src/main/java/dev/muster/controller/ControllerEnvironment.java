package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.controller.stats.DebugFlags;
import dev.muster.controller.stats.SchedulerLog;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.daemon.TlsLog;
import dev.muster.model.Identity;
import dev.muster.transport.Hash;
import java.io.File;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.function.Consumer;

/** What slurmctld knows before it starts: its configuration, logs and users, and how its process is ended. */
final class ControllerEnvironment {
    private static final int TOKEN_BYTES = 16;

    private final File confFile;
    private volatile SlurmConf conf;
    private final DaemonLog log;
    private final SchedulerLog schedulerLog;
    private final DebugFlags debugFlags;
    private final Runnable onShutdown;
    private final Consumer<Throwable> onFault;
    private final Identities identities = new Identities();
    private final SecureRandom random = new SecureRandom();
    private final long bootTime = System.currentTimeMillis() / 1000;
    private final long startedNs = System.nanoTime();

    /**
     * @param confFile that the configuration was read from
     * @param onShutdown called when a request asks slurmctld to end
     * @param onFault called when slurmctld cannot go on
     */
    ControllerEnvironment(
            SlurmConf conf, File confFile, DaemonLog log, Runnable onShutdown, Consumer<Throwable> onFault) {
        this.conf = conf;
        this.confFile = confFile;
        this.log = log;
        this.onShutdown = onShutdown;
        this.onFault = onFault;
        schedulerLog = new SchedulerLog(log);
        schedulerLog.configure(conf);
        debugFlags = new DebugFlags(log);
        debugFlags.set(conf.debugFlags());
    }

    /** Returns the configuration in force. */
    SlurmConf conf() {
        return conf;
    }

    SlurmConf.Parsed readConf() {
        return SlurmConf.read(confFile);
    }

    /** Puts a configuration in force. The levels and flags of the logs follow with {@link #configureLogs}. */
    void replaceConf(SlurmConf read) {
        conf = read;
    }

    /** Takes the levels and flags of the configuration; those that were set by hand are dropped. */
    void configureLogs() {
        log.level(conf.slurmctldDebug());
        debugFlags.set(conf.debugFlags());
        schedulerLog.configure(conf);
    }

    DaemonLog log() {
        return log;
    }

    SchedulerLog schedulerLog() {
        return schedulerLog;
    }

    DebugFlags debugFlags() {
        return debugFlags;
    }

    Identities identities() {
        return identities;
    }

    /** Returns the time of the start, in seconds since 1970. */
    long bootTime() {
        return bootTime;
    }

    /** Returns the time of the start, as of {@link System#nanoTime}. */
    long startedNs() {
        return startedNs;
    }

    /** Returns the uid of SlurmUser; root's if the user is unknown. */
    int slurmUid(SlurmConf c) {
        String user = c.slurmUser();
        return identities
                .byName(user)
                .map(Identity::uid)
                .orElseGet(() -> user.matches("[0-9]{1,9}") ? Integer.parseInt(user) : 0);
    }

    /** @throws IOException if a key is unfit */
    Credentials readCredentials() throws IOException {
        SlurmConf c = conf;
        return Credentials.read(c, slurmUid(c), identities, new TlsLog(debugFlags::has, log::info), log);
    }

    /** Returns random bytes, as hexadecimal digits. */
    String randomToken() {
        byte[] bytes = new byte[TOKEN_BYTES];
        random.nextBytes(bytes);
        return Hash.hex(bytes);
    }

    void shutdown() {
        onShutdown.run();
    }

    void fault(Throwable e) {
        onFault.accept(e);
    }
}
