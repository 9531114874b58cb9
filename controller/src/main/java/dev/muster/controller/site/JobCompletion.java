package dev.muster.controller.site;

import dev.muster.accounting.db.Database;
import dev.muster.accounting.db.PassScript;
import dev.muster.accounting.table.JobCompletionTable;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.config.sister.KafkaConf;
import dev.muster.controller.kafka.KafkaOutbox;
import dev.muster.controller.lua.CompletionScript;
import dev.muster.controller.outbox.Outbox;
import dev.muster.controller.view.JobRecord;
import dev.muster.controller.view.JobRows;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.format.ErrorSentence;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * JobCompType: a record of each finished job for the site's own use. No job waits for it. Records for a server wait
 * while the server is away; others that cannot be written are dropped and logged.
 */
final class JobCompletion implements AutoCloseable {
    /** Jobs that wait to be written; more are dropped. */
    static final int WAITING_MAX = 20_000;

    private static final int TRIES = 3;
    private static final int SQL_PORT = 3306;
    private static final String FILE = "/var/log/slurm_jobcomp.log";
    private static final String SCRIPT = "jobcomp.lua";
    private static final String KAFKA = "kafka";
    private static final String ELASTIC = "elasticsearch";
    private static final int CLOSE_MS = 1_000;
    private static final String TABLES = "slurm_jobcomp_db";

    /** Runs jobcomp/script's program. */
    interface Runner {
        void run(List<String> command, Map<String, String> environment);
    }

    /** @param started it began to run; otherwise it is over */
    private record Finished(Job job, JobRow row, boolean started) {}

    private final Supplier<SlurmConf> conf;
    private final DaemonLog log;
    private final Runner runner;
    private final Function<String, Bytes> blobs;
    private final BlockingQueue<Finished> waiting = new ArrayBlockingQueue<>(WAITING_MAX);
    private final Thread writer;
    private String tableOf = "";
    private Optional<JobCompletionTable> table = Optional.empty();
    private Optional<CompletionScript> script = Optional.empty();
    /** Records for a server; they wait here while it does not answer. */
    private Optional<Outbox> outbox = Optional.empty();

    private String outboxOf = "";

    /** @param blobs content by hash */
    JobCompletion(Supplier<SlurmConf> conf, DaemonLog log, Runner runner, Function<String, Bytes> blobs) {
        this.conf = conf;
        this.log = log;
        this.runner = runner;
        this.blobs = blobs;
        // files, programs and databases hold the thread that they run on
        writer = Thread.ofPlatform().daemon().name("jobcomp").start(this::write);
    }

    private String type() {
        String type = conf.get().text(Key.JOB_COMP_TYPE);
        return type.startsWith("jobcomp/") ? type.substring("jobcomp/".length()) : type;
    }

    void follow(Entry entry, State before, State after) {
        if (type().isEmpty() || type().equals("none")) {
            return;
        }
        boolean starts = type().equals(KAFKA) && parameters().containsKey("enable_job_start");
        for (Change change : entry.changes()) {
            switch (change) {
                case Change.JobEnded c -> finished(after, c.jobId(), false);
                case Change.PendingJobEnded c -> finished(after, c.jobId(), false);
                case Change.JobStarted c when starts -> finished(after, c.jobId(), true);
                // what it ran is over, though the job is not
                case Change.JobRequeued c ->
                    before.jobs()
                            .find(c.jobId())
                            .ifPresent(job -> JobRows.Left.by(entry, job, c)
                                    .ifPresent(left ->
                                            offer(new Finished(job, JobRows.left(before, job, left, 0), false))));
                default -> {}
            }
        }
    }

    private void finished(State after, int id, boolean started) {
        after.jobs().find(id).ifPresent(job -> offer(new Finished(job, JobRows.job(after, job, 0), started)));
    }

    private void offer(Finished f) {
        if (!waiting.offer(f)) {
            log.error("jobcomp: the record of JobId=" + f.job.id() + " is dropped: too many wait");
        }
    }

    private void write() {
        while (true) {
            try {
                settleOutbox();
                Finished next = waiting.take();
                settleOutbox();
                write(next);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void write(Finished f) throws InterruptedException {
        SlurmConf c = conf.get();
        for (int i = 1; ; i++) {
            try {
                switch (type()) {
                    case "filetxt" ->
                        Files.writeString(
                                Path.of(place(c, FILE)),
                                JobCompletionText.line(f.row, c.clusterName()),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.APPEND);
                    case "script" ->
                        runner.run(List.of(place(c, "")), JobCompletionText.environment(f.job, f.row, c.clusterName()));
                    case "mysql" -> table(c).write(f.row);
                    case ELASTIC, KAFKA ->
                        outbox.ifPresent(o -> o.add(topic(c, f), document(c, f), "JobId=" + f.job.id()));
                    case "lua" -> script(c).record(JobRecord.finished(f.job, f.row, batchScript(f.job)));
                    default -> {}
                }
                return;
            } catch (IOException | SQLException | IllegalArgumentException e) {
                if (i == TRIES || e instanceof IllegalArgumentException) {
                    log.error("jobcomp/" + type() + ": the record of JobId=" + f.job.id() + " is dropped: "
                            + ErrorSentence.of(e));
                    return;
                }
                Thread.sleep(i * 1000L);
            }
        }
    }

    /**
     * Opens or closes the outbox as JobCompType says. Records that waited when slurmctld ended are sent even if no job
     * ends now.
     */
    private void settleOutbox() {
        String type = type();
        String wanted = type.equals(KAFKA) || type.equals(ELASTIC) ? type : "";
        if (wanted.equals(outboxOf)) {
            return;
        }
        outbox.ifPresent(Outbox::close);
        if (wanted.equals(KAFKA)) {
            outbox = Optional.of(brokers());
        } else if (wanted.equals(ELASTIC)) {
            outbox = Optional.of(ElasticsearchOutbox.open(conf, log));
        } else {
            outbox = Optional.empty();
        }

        outboxOf = wanted;
    }

    private Outbox brokers() {
        KafkaConf how = KafkaConf.read(conf.get(), new ArrayList<>());
        how.without()
                .forEach(name ->
                        log.info("warning: " + conf.get().text(Key.JOB_COMP_LOC) + ": " + name + " has no effect"));
        if (how.params().containsKey("poll_interval")) {
            log.info("warning: JobCompParams=poll_interval has no effect: no broker has to be asked");
        }
        return KafkaOutbox.open(
                how,
                () -> KafkaConf.read(conf.get(), new ArrayList<>()),
                Path.of(conf.get().stateSaveLocation()),
                log);
    }

    private Map<String, String> parameters() {
        return conf.get().parameters(Key.JOB_COMP_PARAMS);
    }

    private String topic(SlurmConf c, Finished f) {
        return f.started
                ? parameters().getOrDefault("topic_job_start", c.clusterName() + "-job-start")
                : parameters().getOrDefault("topic", c.clusterName());
    }

    private String document(SlurmConf c, Finished f) {
        String batch = parameters().containsKey("send_script") ? batchScript(f.job) : "";
        String comment = parameters().containsKey("send_comment") ? f.row.comment() : "";
        return JobCompletionText.document(f.job, f.row, c.clusterName(), batch, comment, f.started);
    }

    private static String place(SlurmConf c, String fallback) {
        String place = c.text(Key.JOB_COMP_LOC);
        return place.isEmpty() ? fallback : place;
    }

    /** Opens the table with the password that JobCompPassScript prints, or JobCompPass. */
    private JobCompletionTable table(SlurmConf c) {
        String host = c.text(Key.JOB_COMP_HOST);
        int port = (int) c.number(Key.JOB_COMP_PORT);
        String user = c.text(Key.JOB_COMP_USER);
        String program = c.text(Key.JOB_COMP_PASS_SCRIPT);
        String password = c.text(Key.JOB_COMP_PASS);
        int durationS = (int) seconds(c.parameters(Key.JOB_COMP_PARAMS), "token_duration", PassScript.DURATION_S)
                .toSeconds();
        String which = String.join(
                "\n",
                host,
                Integer.toString(port),
                user,
                password,
                program,
                place(c, TABLES),
                Integer.toString(durationS));
        if (!which.equals(tableOf)) {
            table.ifPresent(JobCompletionTable::close);
            Database.Secret secret;
            if (program.isEmpty()) {
                secret = () -> password;
            } else {
                secret = new PassScript("JobCompPassScript", program, host, port > 0 ? port : SQL_PORT, user, durationS)
                        ::password;
            }

            table = Optional.of(new JobCompletionTable(
                    Database.mariaDb(new Database.Server(host, port, "", user, secret, place(c, TABLES), ""))));
            tableOf = which;
        }
        return table.orElseThrow();
    }

    private String batchScript(Job job) {
        String hash = job.desc().payload().scriptHash();
        return hash.isEmpty() ? "" : blobs.apply(hash).text();
    }

    private CompletionScript script(SlurmConf c) {
        File file = c.sister(SCRIPT);
        if (script.filter(s -> s.file().equals(file)).isEmpty()) {
            script = Optional.of(new CompletionScript(file, log::info, log::error));
        }
        return script.get();
    }

    private static Duration seconds(Map<String, String> parameters, String name, int fallback) {
        String value = parameters.getOrDefault(name, "");
        return Duration.ofSeconds(value.matches("[1-9][0-9]{0,4}") ? Integer.parseInt(value) : fallback);
    }

    @Override
    public void close() {
        writer.interrupt();
        try {
            writer.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        outbox.ifPresent(o -> {
            SlurmConf c = conf.get();
            for (Finished f = waiting.poll(); f != null; f = waiting.poll()) {
                o.add(topic(c, f), document(c, f), "JobId=" + f.job.id());
            }
            o.close();
        });
    }
}
