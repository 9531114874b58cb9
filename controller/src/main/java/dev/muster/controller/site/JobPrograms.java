package dev.muster.controller.site;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.controller.view.JobEnvironment;
import dev.muster.core.command.Command;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Trigger;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.MultiProgram;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The programs that slurmctld runs for jobs: PrologSlurmctld, EpilogSlurmctld and MailProg, as SlurmUser. The thread
 * that carries out effects waits for none of them.
 */
public final class JobPrograms {
    /** Programs that run at the same time. */
    static final int RUNNING_MAX = 64;
    /** Programs that wait for their turn; mails beyond are dropped. */
    static final int WAITING_MAX = 20_000;
    /** A trigger's program is ended then, as Slurm does. */
    static final int TRIGGER_SECONDS_MAX = 300;

    /** A program of SlurmctldPrimaryOnProg or …OffProg is ended then. */
    static final int PRIMARY_SECONDS_MAX = 60;

    private final Supplier<SlurmConf> conf;
    private final DaemonLog log;
    private final Consumer<Command> core;
    private final Semaphore running = new Semaphore(RUNNING_MAX);
    private final AtomicInteger waiting = new AtomicInteger();
    private final MailTimes times = new MailTimes();
    private final PowerPrograms power;
    private final JobCompletion completion;
    private final BurstBuffers buffers;

    /**
     * @param core takes commands
     * @param blobs content by hash
     */
    public JobPrograms(
            Supplier<SlurmConf> conf,
            DaemonLog log,
            Consumer<Command> core,
            Function<String, Bytes> blobs,
            BurstBuffers buffers) {
        this.buffers = buffers;
        this.conf = conf;
        this.log = log;
        this.core = core;
        completion = new JobCompletion(
                conf, log, (command, environment) -> run("jobcomp/script", 0, command, environment), blobs);
        power = new PowerPrograms(
                conf,
                log,
                (name, command, environment, then) -> later(name, () -> {
                    run(name, 0, command, environment);
                    then.run();
                }));
    }

    /** Ends the thread that starts programs: nothing follows any more. */
    public void close() {
        completion.close();
    }

    /** Starts the programs that follow from a durable entry. */
    public void follow(Entry entry, State before, State after) {
        power.follow(entry, before, after);
        completion.follow(entry, before, after);
        buffers.follow(before, after);
        for (Change change : entry.changes()) {
            switch (change) {
                case Change.JobStarted c ->
                    after.jobs().find(c.jobId()).ifPresent(job -> {
                        prolog(after, job);
                        times.started(job);
                    });
                case Change.JobEnded c -> after.jobs().find(c.jobId()).ifPresent(job -> epilog(after, job));
                case Change.JobRequeued c ->
                    before.jobs()
                            .find(c.jobId())
                            .filter(j -> j.state().isActive())
                            .flatMap(j -> after.jobs().find(c.jobId()))
                            .ifPresent(job -> epilog(after, job));
                case Change.TriggerFired c ->
                    before.triggers().byId().find(c.id()).ifPresent(t -> trigger(t, c.cause()));
                default -> {}
            }
        }
        reservations(ReservationTimes.of(entry, before, after));
        Mail.of(entry.changes(), before, after).forEach(mail -> send(mail, after));
    }

    /** Starts prologs without a known end again, and watches time limits again, after a start of slurmctld. */
    public void resume(State state, Iterable<Job> active, long tickMs) {
        for (Job job : active) {
            prolog(state, job);
            times.resumed(job, tickMs);
        }
        buffers.resume(state);
    }

    /** Sends the mails of parts of a time limit that are reached. Called every second. */
    public void tick(State state, long tickMs) {
        buffers.tick();
        times.reached(state, tickMs).forEach(mail -> send(mail, state));
    }

    /** Runs ResvProlog and ResvEpilog, those of one entry one after the other. */
    private void reservations(List<ReservationTimes.Event> events) {
        List<Runnable> programs = new ArrayList<>();
        for (ReservationTimes.Event event : events) {
            Key key = event.begins() ? Key.RESV_PROLOG : Key.RESV_EPILOG;
            String program = conf.get().text(key);
            if (!program.isEmpty()) {
                log.info(key.slurmName() + " of reservation " + event.name());
                programs.add(() -> run(
                        key.slurmName(),
                        0,
                        List.of(program, event.name()),
                        Map.of(
                                "PATH",
                                "/usr/local/bin:/usr/bin:/bin",
                                "SLURM_CONF",
                                conf.get().file())));
            }
        }
        if (!programs.isEmpty()) {
            later("ResvProlog", () -> programs.forEach(Runnable::run));
        }
    }

    private void prolog(State state, Job job) {
        if (!job.state().isActive() || !job.run().allocation().awaitsController()) {
            return;
        }
        Map<String, String> environment = JobEnvironment.ofController(state, job, "prolog_slurmctld");
        List<String> programs = lines(Key.PROLOG_SLURMCTLD);
        later("PrologSlurmctld", () -> {
            BurstBuffers.Ready buffer = state.buffers().byJob().has(job.id())
                    ? buffers.preRun(job)
                    : new BurstBuffers.Ready(true, List.of());
            boolean success = buffer.success();
            for (String program : programs) {
                success = success && run("PrologSlurmctld", job.id(), List.of(program), environment);
            }
            core.accept(new Command.ControllerProlog(
                    job.id(), job.attempt(), success, buffer.success(), buffer.environment()));
        });
    }

    private void epilog(State state, Job job) {
        List<String> programs = lines(Key.EPILOG_SLURMCTLD);
        if (programs.isEmpty() || job.run().allocation().isEmpty()) {
            return;
        }
        Map<String, String> environment = JobEnvironment.ofController(state, job, "epilog_slurmctld");
        later(
                "EpilogSlurmctld",
                () -> programs.forEach(program -> run("EpilogSlurmctld", job.id(), List.of(program), environment)));
    }

    /**
     * Runs a trigger's program as the user that set it, in an environment of its own. A program that takes too long is
     * killed.
     */
    private void trigger(Trigger t, String cause) {
        log.info("launching program for trigger[" + t.id() + "]: uid=" + t.uid() + " program=" + t.program() + " arg="
                + cause);
        later("trigger", () -> {
            List<String> command =
                    new ArrayList<>(List.of("timeout", "-k", "5", Integer.toString(TRIGGER_SECONDS_MAX)));
            command.addAll(MultiProgram.words(t.program()));
            command.add(cause);
            run(
                    "trigger[" + t.id() + "]",
                    0,
                    t.user(),
                    command,
                    Map.of("PATH", "/usr/local/bin:/usr/bin:/bin", "USER", t.user()));
        });
    }

    private void send(Mail mail, State state) {
        if (waiting.get() > WAITING_MAX) {
            log.error("mail for JobId=" + mail.job().id() + " dropped: too many wait");
            return;
        }
        String path = mailProg();
        Map<String, String> environment = JobEnvironment.ofController(state, mail.job(), "");
        environment.putAll(mail.environment());
        String user = mail.job().desc().extras().mailUser();
        String domain = conf.get().text(Key.MAIL_DOMAIN);
        String to;
        if (!user.isEmpty()) {
            to = user;
        } else {
            to = mail.job().desc().owner().user() + (domain.isEmpty() ? "" : "@" + domain);
        }

        log.info("email msg to " + to + ": " + mail.subject());
        later("MailProg", () -> run("MailProg", mail.job().id(), List.of(path, "-s", mail.subject(), to), environment));
    }

    private String mailProg() {
        String program = conf.get().text(Key.MAIL_PROG);
        return program.equals("/bin/mail") && !new File(program).exists() ? "/usr/bin/mail" : program;
    }

    /**
     * Runs the program for a controller that begins or ends to be in charge: by start and shutdown, while there is no
     * other to take over. Waited for, but not for ever: an address that the program moves should be there when the
     * controller answers, and gone when it does not.
     */
    public void primary(boolean on) {
        Key key = on ? Key.SLURMCTLD_PRIMARY_ON_PROG : Key.SLURMCTLD_PRIMARY_OFF_PROG;
        String program = conf.get().text(key);
        if (!program.isEmpty()) {
            Map<String, String> environment = new TreeMap<>(System.getenv());
            environment.put("SLURM_CONF", conf.get().file());
            if (run(
                    key.slurmName(),
                    0,
                    List.of("timeout", "-k", "5", Integer.toString(PRIMARY_SECONDS_MAX), program),
                    environment)) {
                log.info(key.slurmName() + " completed successfully");
            }
        }
    }

    /** Says in the log what is configured and cannot be run. */
    public void check() {
        if (!new File(mailProg()).canExecute()) {
            log.error("Configured MailProg is invalid");
        }
    }

    private List<String> lines(Key key) {
        return conf.get().list(key);
    }

    private void later(String name, Runnable work) {
        waiting.incrementAndGet();
        Thread.ofVirtual().name(name).start(() -> {
            running.acquireUninterruptibly();
            waiting.decrementAndGet();
            try {
                work.run();
            } finally {
                running.release();
            }
        });
    }

    /** Runs a program; true for an exit with 0. A prolog may take as long as it likes, as Slurm allows it. */
    private boolean run(String name, int jobId, List<String> command, Map<String, String> environment) {
        return run(name, jobId, conf.get().slurmUser(), command, environment);
    }

    private boolean run(String name, int jobId, String user, List<String> command, Map<String, String> environment) {
        List<String> all = new ArrayList<>();
        if (System.getProperty("user.name", "").equals("root") && !user.equals("root") && !user.equals("0")) {
            all.addAll(List.of("setpriv", "--reuid", user, "--init-groups", "--"));
        }
        all.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(all)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        builder.environment().putAll(environment);
        try {
            int status = builder.start().waitFor();
            if (status != 0) {
                log.error((jobId == 0 ? "" : "JobId=" + jobId + " ") + name + " exit status "
                        + (status > 128 ? "0:" + (status - 128) : status + ":0"));
            }
            return status == 0;
        } catch (IOException e) {
            log.error((jobId == 0 ? "" : "JobId=" + jobId + " ") + name + " cannot be run: " + ErrorSentence.of(e));
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
