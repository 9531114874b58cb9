package dev.muster.controller.stats;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.util.Optional;

/** SlurmSchedLogFile: what the scheduler does, in a file of its own, while SlurmSchedLogLevel is not 0. */
public final class SchedulerLog {
    private final DaemonLog main;
    private Optional<DaemonLog> own = Optional.empty();
    private String path = "";
    private boolean on;

    public SchedulerLog(DaemonLog main) {
        this.main = main;
    }

    /** Takes the level of the configuration; a level that was set by hand is dropped. */
    public synchronized void configure(SlurmConf conf) {
        String wanted = conf.text(Key.SLURM_SCHED_LOG_FILE);
        on = conf.number(Key.SLURM_SCHED_LOG_LEVEL) > 0;
        if (wanted.equals(path)) {
            return;
        }
        path = wanted;
        own = Optional.empty();
        try {
            own = wanted.isEmpty()
                    ? own
                    : Optional.of(new DaemonLog(
                            "slurmctld", wanted, false, DaemonLog.INFO, conf.text(Key.LOG_TIME_FORMAT), 0));
        } catch (IOException e) {
            main.error("SlurmSchedLogFile " + wanted + ": " + ErrorSentence.reason(e));
        }
        main.beside(own);
    }

    /** {@code scontrol schedloglevel}: until the configuration is read again. False where there is no file. */
    public synchronized boolean set(boolean enabled) {
        on = enabled && own.isPresent();
        return own.isPresent();
    }

    public synchronized boolean isOn() {
        return on;
    }

    /** Goes to the daemon's log in any case. */
    public void event(String line) {
        main.info(line);
        Optional<DaemonLog> to;
        synchronized (this) {
            to = on ? own : Optional.empty();
        }
        to.ifPresent(log -> log.info(line));
    }
}
