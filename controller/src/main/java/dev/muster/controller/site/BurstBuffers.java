package dev.muster.controller.site;

import dev.muster.config.SlurmConf;
import dev.muster.config.sister.BurstBufferConf;
import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.api.ClusterMessages.BurstBufferInfo;
import dev.muster.model.api.ClusterMessages.BurstBuffersReply;
import dev.muster.model.api.ClusterMessages.BurstPool;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.JobDesc;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * BurstBufferType=burst_buffer/lua around the core: looks at what is submitted, and has the site's script do what a
 * stage asks for. Every stage is of the state, so that what a stop of slurmctld cuts short is begun again.
 */
public final class BurstBuffers {
    /** Calls of stages at the same time. */
    static final int RUNNING_MAX = 128;
    /** Submissions that the script looks at at the same time; more wait for their turn. */
    static final int ASKING_MAX = 4;
    /** The script is asked for its pools so often. */
    static final int POOLS_SECONDS = 30;

    private static final int RETRY_SECONDS = 10;
    private static final int ENVIRONMENT_BYTES_MAX = 64 << 10;
    /** Component number that stands for the whole script, which is then the job's. */
    public static final int ALL = -1;

    private static final String PLUGIN = "burst_buffer/lua: ";

    /** The decision about a submission. */
    public sealed interface Verdict {}

    public record Taken(JobDesc desc) implements Verdict {}

    public record Refused(SlurmErrno errno, String said) implements Verdict {
        Refused(SlurmErrno errno) {
            this(errno, "");
        }

        public String sentence() {
            return said.isEmpty() ? errno.sentence() : said + "\n" + errno.sentence();
        }
    }

    /** Result of pre-run. */
    record Ready(boolean success, List<String> environment) {}

    private final Supplier<SlurmConf> conf;
    private final DaemonLog log;
    private final Consumer<Command> core;
    private final Function<String, Bytes> blobs;
    private final BufferCalls calls;
    private final Semaphore running = new Semaphore(RUNNING_MAX);
    private final Semaphore asking = new Semaphore(ASKING_MAX);
    /** Null where BurstBufferType is not set. A call reads it once: a reconfiguration may unset it meanwhile. */
    private volatile @Nullable BurstBufferConf settings;

    private long poolsAtS;

    public BurstBuffers(
            Supplier<SlurmConf> conf, DaemonLog log, Consumer<Command> core, Function<String, Bytes> blobs) {
        this.conf = conf;
        this.log = log;
        this.core = core;
        this.blobs = blobs;
        calls = new BufferCalls(conf, log);
    }

    /**
     * Loads burst_buffer.conf and its script, at start and at each reconfiguration. Returns what is wrong, "" if
     * nothing is.
     */
    public String configure(SlurmConf c) {
        if (!BurstBufferConf.isAsked(c)) {
            settings = null;
            return "";
        }
        BurstBufferConf fresh = BurstBufferConf.read(c, new ArrayList<>());
        fresh.without().forEach(key -> log.info("warning: burst_buffer.conf: " + key + " has no effect"));
        String wrong = calls.check(c.sister(BufferCalls.FILE).toPath(), fresh.otherS());
        if (wrong.isEmpty()) {
            settings = fresh;
            poolsAtS = 0;
        }
        return wrong.isEmpty() ? "" : PLUGIN + wrong;
    }

    private Path directory(int jobId) {
        return Path.of(conf.get().stateSaveLocation(), "burst_buffer", "job." + jobId);
    }

    /** Returns the job's script as a file that SlurmUser may read, for the site's script to look into. */
    private Path script(BurstBufferConf s, Path directory, Job job) throws IOException {
        Bytes batch = blobs.apply(job.desc().payload().scriptHash());
        Bytes own;
        if (batch.isEmpty()) {
            own = alone(job.desc());
        } else {
            own = section(s, batch, job.isHet() ? job.het().offset() : ALL);
        }

        return script(directory, BufferSymbols.filled(own, s.directive(), job));
    }

    /** Returns the directives as a script, for a job without one. */
    private static Bytes alone(JobDesc desc) {
        return Bytes.of(("#!/bin/bash\n" + desc.extras().burstBuffer() + "\n").getBytes(StandardCharsets.UTF_8));
    }

    private Path script(Path directory, Bytes content) throws IOException {
        Files.createDirectories(
                directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path script = directory.resolve("script");
        Files.write(script, content.toArray());
        return script;
    }

    private static void remove(Path directory) {
        for (String name : List.of("script", "path")) {
            try {
                Files.deleteIfExists(directory.resolve(name));
            } catch (IOException e) {
                // the directory stays, too
            }
        }
        directory.toFile().delete();
    }

    // ---- submission

    /**
     * Lets the site's script check the request of a job. A job without directives is passed through.
     *
     * @param component of a heterogeneous job, with the directives of its part of the script; {@link #ALL} for other
     *     jobs
     */
    public Verdict submitted(State state, JobDesc desc, Bytes whole, int component) {
        BurstBufferConf s = settings;
        if (s == null) {
            // as in the original, a cluster without a burst buffer plugin takes the job and stages nothing
            return new Taken(desc.withExtras(desc.extras().withBurstBuffer("")));
        }
        Bytes batch = section(s, whole, component);
        String directives = directives(s, desc.extras().burstBuffer() + "\n" + batch.text());
        if (directives.isEmpty()) {
            return desc.extras().burstBuffer().isEmpty()
                    ? new Taken(desc)
                    : new Refused(SlurmErrno.INVALID_BURST_BUFFER_REQUEST);
        }
        Optional<BurstBuffer.Claim> claim = BurstBuffer.claim(directives);
        if (claim.isEmpty()
                || !claim.get().pool().isEmpty()
                        && !state.buffers().pools().has(claim.get().pool())) {
            return new Refused(SlurmErrno.INVALID_BURST_BUFFER_REQUEST);
        }
        String user = desc.owner().user();
        String number = Integer.toString(desc.owner().uid());
        boolean may = s.allowed().isEmpty()
                || s.allowed().contains(user)
                || s.allowed().contains(number);
        if (desc.owner().uid() == 0
                || !may
                || s.denied().contains(user)
                || s.denied().contains(number)) {
            return new Refused(SlurmErrno.BURST_BUFFER_PERMISSION, "User " + user + " can not allocate burst buffers");
        }
        JobDesc asking = desc.withExtras(desc.extras().withBurstBuffer(directives));
        return asked(s, asking, batch);
    }

    private Verdict asked(BurstBufferConf s, JobDesc desc, Bytes batch) {
        Path directory = Path.of(
                conf.get().stateSaveLocation(),
                "burst_buffer",
                "new." + Thread.currentThread().threadId());
        asking.acquireUninterruptibly();
        try {
            String script =
                    script(directory, batch.isEmpty() ? alone(desc) : batch).toString();
            Json.Obj job = new Json.Obj().put("description", Json.object(dev.muster.json.Codec.encode(desc)));
            BufferCalls.Answer answer = calls.call(
                    0,
                    "slurm_bb_job_process",
                    List.of(
                            script,
                            Integer.toString(desc.owner().uid()),
                            Integer.toString(desc.owner().gid())),
                    job,
                    s.validateS());
            if (answer.success()) {
                return new Taken(desc);
            }
            return new Refused(
                    SlurmErrno.INVALID_BURST_BUFFER_REQUEST, answer.text().isEmpty() ? "" : PLUGIN + answer.text());

        } catch (IOException e) {
            log.error(PLUGIN + ErrorSentence.of(e));
            return new Refused(SlurmErrno.INVALID_BURST_BUFFER_REQUEST);
        } finally {
            asking.release();
            remove(directory);
        }
    }

    /** Returns the script without directives of other components than this: each begins with {@code #SBATCH hetjob}. */
    static Bytes section(BurstBufferConf s, Bytes script, int component) {
        if (component == ALL || script.isEmpty()) {
            return script;
        }
        StringBuilder out = new StringBuilder();
        int part = 0;
        String text = script.text();
        for (String line : text.split("(?<=\n)")) {
            part += line.strip().matches("#SBATCH\\s+(hetjob|packjob)") ? 1 : 0;
            out.append(part == component || !isDirective(s, line.strip()) ? line : "");
        }
        return Bytes.of(out.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static boolean isDirective(BurstBufferConf s, String line) {
        String word = "#" + s.directive();
        return line.equals(word) || line.startsWith(word + " ") || line.startsWith(word + "\t");
    }

    /** Returns the lines that begin with the directive, before the first that is a command. */
    static String directives(BurstBufferConf s, String script) {
        List<String> found = new ArrayList<>();
        for (String line : script.split("\n")) {
            String text = line.strip();
            if (!text.isEmpty() && !text.startsWith("#")) {
                break;
            }
            if (isDirective(s, text)) {
                found.add(text);
            }
        }
        return String.join("\n", found);
    }

    // ---- stages

    /** Begins what a durable entry has made due, and ends what it has made needless. */
    void follow(State before, State after) {
        if (before.buffers() == after.buffers()) {
            return;
        }
        for (BurstBuffer b : after.buffers().byJob().values()) {
            if (before.buffers()
                    .byJob()
                    .find(b.jobId())
                    .filter(old -> old.round() == b.round() && old.stage() == b.stage())
                    .isEmpty()) {
                log.debug("burst buffer of JobId=" + b.jobId() + " " + b.stage().word());
                begin(after, b);
            }
        }
        for (BurstBuffer b : before.buffers().byJob().values()) {
            if (!after.buffers().byJob().has(b.jobId())) {
                remove(directory(b.jobId()));
            }
        }
    }

    /** Begins again what was going on, after a start of slurmctld. */
    void resume(State state) {
        state.buffers().byJob().values().forEach(b -> begin(state, b));
    }

    private void begin(State state, BurstBuffer b) {
        Optional<Job> job = state.jobs().find(b.jobId());
        boolean works = switch (b.stage()) {
            case STAGING_IN, POST_RUN, STAGING_OUT -> b.words().isEmpty();
            case TEARDOWN, TEARDOWN_FAIL -> true;
            case PENDING, STAGED_IN, PRE_RUN, RUNNING, COMPLETE -> false;
        };
        if (b.stage() != BurstBuffer.Stage.PRE_RUN && b.stage() != BurstBuffer.Stage.RUNNING) {
            calls.kill(b.jobId());
        }
        BurstBufferConf s = settings;
        if (works && s == null && b.stage() != BurstBuffer.Stage.STAGING_IN) {
            log.error("burst buffer of JobId=" + b.jobId() + ": BurstBufferType is not set any more, "
                    + b.stage().word() + " is left out");
            core.accept(new Command.BufferStage(b.jobId(), b.round(), true, "", 0));
        } else if (works && s != null && job.isPresent()) {
            Thread.ofVirtual().name("burst buffer of " + b.jobId()).start(() -> work(s, job.get(), b));
        }
    }

    private void work(BurstBufferConf s, Job job, BurstBuffer b) {
        running.acquireUninterruptibly();
        try {
            String script = script(s, directory(job.id()), job).toString();
            switch (b.stage()) {
                case STAGING_IN -> stageIn(s, job, b, script);
                case POST_RUN ->
                    report(b, step(job, b, "slurm_bb_post_run", script, s.otherS()), "slurm_bb_post_run: ");
                case STAGING_OUT ->
                    report(
                            b,
                            moved(s, job, b, script, "slurm_bb_data_out", "slurm_bb_test_data_out", s.stageOutS()),
                            "slurm_bb_data_out: ");
                case TEARDOWN, TEARDOWN_FAIL -> {
                    if (b.stage() == BurstBuffer.Stage.TEARDOWN_FAIL) {
                        Thread.sleep(RETRY_SECONDS * 1000L);
                    }
                    report(
                            b,
                            calls.call(
                                    job.id(),
                                    "slurm_bb_job_teardown",
                                    List.of(
                                            Integer.toString(job.id()),
                                            script,
                                            Boolean.toString(b.hurry()),
                                            uid(job),
                                            gid(job)),
                                    new Json.Obj(),
                                    s.otherS()),
                            "teardown: ");
                }
                case PENDING, STAGED_IN, PRE_RUN, RUNNING, COMPLETE -> {}
            }
        } catch (IOException e) {
            report(b, new BufferCalls.Answer(false, ErrorSentence.of(e)), "");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            running.release();
        }
    }

    private void stageIn(BurstBufferConf s, Job job, BurstBuffer b, String script) throws InterruptedException {
        BufferCalls.Answer done = calls.call(
                job.id(),
                "slurm_bb_setup",
                List.of(
                        Integer.toString(job.id()),
                        uid(job),
                        gid(job),
                        b.pool().isEmpty() ? "(null)" : b.pool(),
                        Long.toString(b.size()),
                        script),
                BufferCalls.describe(job),
                s.otherS());
        if (!done.success()) {
            report(b, done, "slurm_bb_setup: ");
            return;
        }
        done = moved(s, job, b, script, "slurm_bb_data_in", "slurm_bb_test_data_in", s.stageInS());
        if (!done.success() || b.pool().isEmpty()) {
            report(b, done, "slurm_bb_data_in: ");
            return;
        }
        done = calls.call(
                job.id(),
                "slurm_bb_real_size",
                List.of(Integer.toString(job.id()), uid(job), gid(job)),
                BufferCalls.describe(job),
                s.otherS());
        report(b, done, "slurm_bb_real_size: ");
    }

    /** Begun by one function, and done when another says so. */
    private BufferCalls.Answer moved(
            BurstBufferConf s, Job job, BurstBuffer b, String script, String begin, String ask, int seconds)
            throws InterruptedException {
        BufferCalls.Answer answer = step(job, b, begin, script, seconds);
        long untilNs = System.nanoTime() + seconds * 1_000_000_000L;
        while (answer.success()) {
            answer = step(job, b, ask, script, s.otherS());
            if (!answer.isBusy()) {
                return answer;
            }
            if (System.nanoTime() > untilNs) {
                return new BufferCalls.Answer(false, "it takes longer than " + seconds + " seconds");
            }
            Thread.sleep(s.pollS() * 1000L);
        }
        return answer;
    }

    private BufferCalls.Answer step(Job job, BurstBuffer b, String function, String script, int seconds) {
        return calls.call(
                b.jobId(),
                function,
                List.of(Integer.toString(job.id()), script, uid(job), gid(job)),
                BufferCalls.describe(job),
                seconds);
    }

    private void report(BurstBuffer b, BufferCalls.Answer answer, String function) {
        String words = PLUGIN + function + answer.text();
        if (!answer.success()) {
            log.error(words + " (JobId=" + b.jobId() + ")");
        }
        long size = answer.success() && answer.text().matches("[0-9]{1,18}") ? Long.parseLong(answer.text()) : 0;
        core.accept(
                new Command.BufferStage(b.jobId(), b.round(), answer.success(), answer.success() ? "" : words, size));
    }

    private static String uid(Job job) {
        return Integer.toString(job.desc().owner().uid());
    }

    private static String gid(Job job) {
        return Integer.toString(job.desc().owner().gid());
    }

    /** Runs the stage before the job's start, on behalf of the nodes that it has, and waits for it. */
    Ready preRun(Job job) {
        BurstBufferConf s = settings;
        if (s == null) {
            return new Ready(true, List.of());
        }
        Path directory = directory(job.id());
        try {
            String script = script(s, directory, job).toString();
            Path variables = directory.resolve("path");
            Files.write(variables, new byte[0]);
            List<String> arguments =
                    List.of(Integer.toString(job.id()), script, variables.toString(), uid(job), gid(job));
            BufferCalls.Answer answer =
                    calls.call(job.id(), "slurm_bb_paths", arguments, BufferCalls.describe(job), s.otherS());
            String function = "slurm_bb_paths: ";
            if (answer.success()) {
                function = "slurm_bb_pre_run: ";
                answer = calls.call(
                        job.id(),
                        "slurm_bb_pre_run",
                        List.of(arguments.get(0), script, uid(job), gid(job)),
                        BufferCalls.describe(job),
                        s.otherS());
            }
            if (!answer.success()) {
                log.error(PLUGIN + function + answer.text() + " (JobId=" + job.id() + ")");
                return new Ready(false, List.of());
            }
            return new Ready(
                    true,
                    Files.size(variables) > ENVIRONMENT_BYTES_MAX
                            ? List.of()
                            : Files.readAllLines(variables).stream()
                                    .filter(l -> l.indexOf('=') > 0)
                                    .toList());
        } catch (IOException e) {
            log.error(PLUGIN + ErrorSentence.of(e) + " (JobId=" + job.id() + ")");
            return new Ready(false, List.of());
        }
    }

    // ---- pools and status

    /** Reads the pools from the site's script when it is time. Called every second. */
    void tick() {
        long nowS = System.nanoTime() / 1_000_000_000L;
        BurstBufferConf s = settings;
        if (s == null || poolsAtS != 0 && nowS - poolsAtS < POOLS_SECONDS) {
            return;
        }
        poolsAtS = nowS;
        Thread.ofVirtual().name("burst buffer pools").start(() -> pools(s));
    }

    private void pools(BurstBufferConf s) {
        BufferCalls.Answer answer = calls.call("slurm_bb_pools", List.of(), s.otherS());
        if (!answer.success()) {
            log.error(PLUGIN + "slurm_bb_pools: " + answer.text());
            return;
        }
        try {
            List<BurstBuffer.Pool> pools = new ArrayList<>();
            if (!answer.text().isBlank()) {
                for (Json.Obj p : Json.object(answer.text().getBytes(StandardCharsets.UTF_8))
                        .objects("pools")) {
                    long granularity = Math.max(1, p.number("granularity"));
                    pools.add(new BurstBuffer.Pool(p.text("id"), granularity, granularity * p.number("quantity")));
                }
            }
            pools.sort(java.util.Comparator.comparing(BurstBuffer.Pool::name));
            core.accept(new Command.SetPools(pools));
        } catch (Json.MalformedException e) {
            log.error(PLUGIN + "slurm_bb_pools: " + e.getMessage());
        }
    }

    /** {@code scontrol show bbstat ARGS}: nothing where there is no burst buffer, refused where the script fails. */
    public Reply status(Caller caller, ClusterMessages.QueryBurstStatus m) {
        BurstBufferConf s = settings;
        if (s == null) {
            return Reply.of(new ClusterMessages.BurstStatusReply(""));
        }
        List<String> arguments =
                new ArrayList<>(List.of(Integer.toString(caller.uid()), Integer.toString(caller.gid())));
        arguments.addAll(m.arguments());
        BufferCalls.Answer answer = calls.call("slurm_bb_get_status", arguments, s.otherS());
        return answer.success()
                ? Reply.of(new ClusterMessages.BurstStatusReply(answer.text()))
                : Reply.error(SlurmErrno.NOT_SUPPORTED);
    }

    /**
     * Returns the reply to {@code scontrol show burstbuffer}.
     *
     * @param uid of the caller: with PrivateData only operators see other users' buffers
     */
    public BurstBuffersReply show(State state, int uid) {
        BurstBufferConf s = settings;
        if (s == null) {
            return new BurstBuffersReply("", List.of(), List.of(), "", "", "", 0, 0, 0, 0);
        }
        List<BurstPool> pools = state.buffers().pools().values().stream()
                .map(p -> new BurstPool(
                        p.name(), p.granularity(), p.total(), state.buffers().used(p.name())))
                .toList();
        List<BurstBufferInfo> buffers = new ArrayList<>();
        for (BurstBuffer b : state.buffers().byJob().values()) {
            Optional<Identity> owner =
                    state.jobs().find(b.jobId()).map(j -> j.desc().owner());
            if (b.isAllocated()
                    && owner.isPresent()
                    && (!s.privateData()
                            || Access.isOperator(state, uid)
                            || owner.get().uid() == uid)) {
                buffers.add(new BurstBufferInfo(
                        b.jobId(),
                        b.createTime(),
                        b.pool(),
                        b.size(),
                        owner.get().user(),
                        owner.get().uid()));
            }
        }
        String flags = "DisablePersistent" + (s.privateData() ? ",PrivateData" : "")
                + (s.teardownFailure() ? ",TeardownFailure" : "");
        return new BurstBuffersReply(
                "lua",
                pools,
                buffers,
                flags,
                String.join(",", s.allowed()),
                String.join(",", s.denied()),
                s.stageInS(),
                s.stageOutS(),
                s.validateS(),
                s.otherS());
    }
}
