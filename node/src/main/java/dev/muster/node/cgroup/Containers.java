package dev.muster.node.cgroup;

import dev.muster.config.sister.OciConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Task;
import dev.muster.node.config.Settings;
import dev.muster.node.os.Os;
import dev.muster.node.os.UserPrograms;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.step.Launcher;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Tasks in OCI containers. The site's runtime does the work, as the job's user: what a task executes becomes the
 * runtime's command line, and the bundle that this reads is made from the user's own. When the step is over on the
 * node, however it ended, what the runtime still has of it is killed and deleted. Blocks: runs on the starters'
 * threads.
 */
public final class Containers {
    /** Longest config.json of a user. */
    static final int CONFIG_BYTES_MAX = UserPrograms.OUTPUT_BYTES_MAX;

    private static final int QUERY_ROUNDS_MAX = 20;
    private static final long QUERY_PAUSE_MS = 500;
    private static final String REMEMBERED = "container";
    private static final String STARTUP = "startup";
    private static final String INSIDE = "/tmp/slurm";

    private final Settings settings;
    private final OciConf conf;
    private final DaemonLog log;

    public Containers(Settings settings, DaemonLog log) {
        this.settings = settings;
        this.conf = settings.around().oci();
        this.log = log;
    }

    /** Clean-up of one step, kept in its directory. Its commands still have %p. */
    record StoredBundle(
            Identity owner, String namespace, String spool, List<String> environment, List<Commands> tasks) {}

    record Commands(int rank, String bundle, String query, String kill, String delete) {}

    /** Whether a container is run: without oci.conf it is only noted, as Slurm does it. */
    public boolean runs(Launch launch) {
        return conf.isThere() && !launch.step().container().isEmpty();
    }

    /**
     * The launch with the runtime's command lines in place of the tasks' own.
     *
     * @param environment of a task, whole
     */
    public Launch prepare(
            Launch launch, Path stepDirectory, Path script, String namespace, Function<Task, List<Bytes>> environment)
            throws IOException, Launcher.FailedException {
        Identity owner = launch.share().owner();
        UserPrograms user = new UserPrograms(owner, namespace, Map.of());
        Optional<Json.Obj> config = conf.ignoreConfig()
                ? Optional.empty()
                : Optional.of(config(user, launch.step().container()));
        Path spool = makeSpool(launch, user);
        List<Task> tasks = new ArrayList<>();
        List<Commands> commands = new ArrayList<>();
        for (Task task : launch.tasks()) {
            Bundle b = new Bundle(
                    launch,
                    task,
                    spool,
                    config.map(c -> rootOf(c, launch.step().container()))
                            .orElse(launch.step().container()),
                    launch.stepId() == NodeMessages.STEP_BATCH);
            List<Bytes> whole = without(environment.apply(task), conf.excluded());
            fill(user, b, config, whole, script);
            String run = conf.run().isEmpty() ? "" : b.expand(conf.run());
            List<String> argv = conf.run().isEmpty()
                    ? List.of(
                            settings.stepd().toString(),
                            "--container",
                            b.directory.toString(),
                            b.expand(conf.create()),
                            b.expand(conf.start()),
                            b.expand(conf.query()))
                    : List.of("/bin/sh", "-c", "cd \"$0\" && " + run, b.directory.toString());
            tasks.add(new Task(
                    task.rank(),
                    task.local(),
                    task.cpus(),
                    argv.stream().map(Bytes::of).toList(),
                    without(task.environment(), conf.runtimeExcluded())));
            commands.add(new Commands(
                    task.rank(),
                    b.directory.toString(),
                    b.expand(conf.query()),
                    b.expand(conf.kill()),
                    b.expand(conf.delete())));
        }
        StoredBundle kept = new StoredBundle(
                owner,
                namespace,
                spool.toString(),
                launch.tasks().isEmpty()
                        ? List.of()
                        : without(environment.apply(launch.tasks().getFirst()), conf.runtimeExcluded()).stream()
                                .map(Bytes::text)
                                .toList(),
                commands);
        Files.write(stepDirectory.resolve(REMEMBERED), Codec.encode(kept));
        return launch.withTasks(tasks).withEnvironment(without(launch.environment(), conf.runtimeExcluded()));
    }

    private static List<Bytes> without(List<Bytes> environment, Optional<Pattern> excluded) {
        return excluded.isEmpty()
                ? environment
                : environment.stream()
                        .filter(e -> !excluded.get().matcher(e.text()).find())
                        .toList();
    }

    // ---- the bundle

    /** One task's part of the step. */
    private final class Bundle {
        final Launch launch;
        final Task task;
        final Path spool;
        final Path directory;
        final String root;
        final boolean batch;

        Bundle(Launch launch, Task task, Path spool, String root, boolean batch) {
            this.launch = launch;
            this.task = task;
            this.spool = spool;
            this.root = root;
            this.batch = batch;
            this.directory = spool.resolve(String.format(Locale.ROOT, "task-%05d", task.rank()));
        }

        String mountedSpool() {
            return conf.mountSpool().isEmpty() ? INSIDE : expand(conf.mountSpool());
        }

        List<String> command() {
            List<String> own = task.arguments().stream().map(Bytes::text).toList();
            if (batch) {
                List<String> all = new ArrayList<>(List.of(
                        conf.ignoreConfig() ? directory.resolve(STARTUP).toString() : mountedSpool() + "/" + STARTUP));
                all.addAll(own);
                return all;
            }
            return own.isEmpty()
                    ? launch.step().arguments().stream().map(Bytes::text).toList()
                    : own;
        }

        /** Replaces all patterns but %p, the process id, which is known later. */
        String expand(String pattern) {
            return Containers.expand(pattern, this::value);
        }

        private String value(char c) {
            return switch (c) {
                case '@' -> quoted(command());
                case 'b' -> directory.toString();
                case 'e' -> directory.resolve("environment").toString();
                case 'r' -> root;
                case 't' -> Integer.toString(task.rank());
                default -> ofStep(launch, spool.toString(), c);
            };
        }
    }

    static String expand(String pattern, Function<Character, String> values) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c != '%' || i + 1 == pattern.length()) {
                out.append(c);
                continue;
            }
            char code = pattern.charAt(++i);
            out.append(
                    switch (code) {
                        case '%' -> "%";
                        case 'p' -> "%p";
                        default -> values.apply(code);
                    });
        }
        return out.toString();
    }

    static String quoted(List<String> words) {
        return String.join(
                " ",
                words.stream().map(w -> "'" + w.replace("'", "'\\''") + "'").toList());
    }

    private String ofStep(Launch launch, String spool, char c) {
        return switch (c) {
            case 'j' -> Integer.toString(launch.share().jobId());
            case 'm' -> spool;
            case 'n' -> settings.nodeName();
            case 's' -> Integer.toUnsignedString(StepId.number(launch.stepId()));
            case 'u' -> launch.share().owner().user();
            case 'U' -> Integer.toString(launch.share().owner().uid());
            default -> "";
        };
    }

    private static Json.Obj config(UserPrograms user, String bundle) throws IOException, Launcher.FailedException {
        UserPrograms.Outcome read = bundle.startsWith("/")
                ? user.run(List.of("cat", "--", bundle + "/config.json"), new byte[0])
                : new UserPrograms.Outcome(1, new byte[0]);
        if (!read.good() || read.output().length >= CONFIG_BYTES_MAX) {
            throw Launcher.FailedException.ofUser("No such file or directory");
        }
        try {
            if (Json.parse(read.output()) instanceof Json.Obj config) {
                return config;
            }
        } catch (Json.MalformedException e) {
            // told below
        }
        throw Launcher.FailedException.ofUser("Container runtime not configured or invalid");
    }

    private static String rootOf(Json.Obj config, String bundle) {
        String path = config.obj("root").text("path");
        return path.startsWith("/") ? path : bundle + "/" + path;
    }

    private Path makeSpool(Launch launch, UserPrograms user) throws IOException, Launcher.FailedException {
        Identity owner = launch.share().owner();
        String step = launch.stepId() < 0
                ? StepId.name(launch.stepId())
                : String.format(Locale.ROOT, "%05d", StepId.number(launch.stepId()));
        if (conf.spool().isEmpty()) {
            Path spool = settings.spoolDirectory()
                    .resolve(String.format(
                            Locale.ROOT, "oci-job%05d-%s", launch.share().jobId(), step));
            JobSpool.removeTree(spool);
            Files.createDirectory(spool);
            JobSpool.setMode(spool, "rwxr-x---");
            Os.own(spool, owner.uid(), owner.gid());
            return spool;
        }
        String path = expand(conf.spool(), c -> {
            if (c == 'm') {
                return settings.spoolDirectory().toString();
            }
            if (c == 't' || c == 'b' || c == 'e' || c == 'r' || c == '@') {
                return "";
            }
            return ofStep(launch, "", c);
        });
        if (!user.run(List.of("mkdir", "-p", "-m", "750", "--", path), new byte[0])
                .good()) {
            throw Launcher.FailedException.ofUser("cannot make the container's directory " + path);
        }
        return Path.of(path);
    }

    private void fill(UserPrograms user, Bundle b, Optional<Json.Obj> config, List<Bytes> environment, Path script)
            throws IOException, Launcher.FailedException {
        Map<String, byte[]> files = new LinkedHashMap<>();
        if (b.batch) {
            files.put(STARTUP, Files.readAllBytes(script));
        }
        if (conf.environment() != OciConf.EnvFile.DISABLED) {
            files.put("environment", lines(environment, conf.environment()));
        }
        config.ifPresent(c -> files.put("config.json", Json.print(changed(c, b, environment))));
        String make = "umask 027; mkdir -p \"$0\"";
        boolean good = user.run(List.of("/bin/sh", "-c", make, b.directory.toString()), new byte[0])
                .good();
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            good = good
                    && user.run(
                                    List.of(
                                            "/bin/sh",
                                            "-c",
                                            "umask 027; cat > \"$0\" && chmod 750 \"$0\"",
                                            b.directory.resolve(file.getKey()).toString()),
                                    file.getValue())
                            .good();
        }
        if (!good) {
            throw Launcher.FailedException.ofUser("cannot make the container's bundle in " + b.directory);
        }
    }

    static byte[] lines(List<Bytes> environment, OciConf.EnvFile how) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Bytes entry : environment) {
            if (how == OciConf.EnvFile.NULL || entry.text().indexOf('\n') < 0) {
                out.writeBytes(entry.toArray());
                out.write(how == OciConf.EnvFile.NULL ? 0 : '\n');
            }
        }
        return out.toByteArray();
    }

    /** The user's config.json with this task's command and environment; what it says besides stays. */
    private Json.Obj changed(Json.Obj original, Bundle b, List<Bytes> environment) {
        Json.Obj config = copy(original);
        config.put("root", copy(original.obj("root")).put("path", b.root));
        Json.Obj process = copy(original.obj("process"));
        process.put("terminal", b.launch.step().pty() && b.task.rank() == 0);
        process.put("args", new ArrayList<Object>(b.command()));
        List<Object> env = new ArrayList<>(original.obj("process").list("env"));
        environment.forEach(e -> env.add(e.text()));
        process.put("env", env);
        if (!process.has("cwd")) {
            process.put("cwd", "/");
        }
        config.put("process", process);
        List<Object> mounts = new ArrayList<>(original.list("mounts"));
        if (!conf.mountSpool().isEmpty()) {
            mounts.add(mount(b.directory.toString(), b.mountedSpool(), List.of("bind")));
        } else if (b.batch) {
            mounts.add(mount(b.directory.resolve(STARTUP).toString(), INSIDE + "/" + STARTUP, List.of("bind", "ro")));
        }
        config.put("mounts", mounts);
        if (!conf.disabledHooks().isEmpty() && original.has("hooks")) {
            Json.Obj hooks = copy(original.obj("hooks"));
            hooks.fields()
                    .keySet()
                    .removeIf(kind -> conf.disabledHooks().stream().anyMatch(kind::equalsIgnoreCase));
            config.put("hooks", hooks);
        }
        return config;
    }

    private static Json.Obj copy(Json.Obj of) {
        Json.Obj out = new Json.Obj();
        of.fields().forEach(out::put);
        return out;
    }

    private static Json.Obj mount(String source, String destination, List<Object> options) {
        return new Json.Obj()
                .put("destination", destination)
                .put("type", "none")
                .put("source", source)
                .put("options", new ArrayList<>(options));
    }

    // ---- the end

    public boolean has(Path stepDirectory) {
        return Files.exists(stepDirectory.resolve(REMEMBERED));
    }

    private Optional<StoredBundle> kept(Path stepDirectory) {
        try {
            Path file = stepDirectory.resolve(REMEMBERED);
            return Files.exists(file)
                    ? Optional.of(Codec.decode(Files.readAllBytes(file), StoredBundle.class))
                    : Optional.empty();
        } catch (IOException | Json.MalformedException e) {
            log.error(stepDirectory + ": " + ErrorSentence.reason(e));
            return Optional.empty();
        }
    }

    private static UserPrograms user(StoredBundle kept) {
        Map<String, String> environment = new LinkedHashMap<>();
        for (String entry : kept.environment()) {
            int equals = entry.indexOf('=');
            if (equals > 0) {
                environment.put(entry.substring(0, equals), entry.substring(equals + 1));
            }
        }
        return new UserPrograms(kept.owner(), kept.namespace(), environment);
    }

    /** The step is being ended: the runtime passes that on to its containers. */
    public void stop(Path stepDirectory, Map<Integer, Long> pids) {
        kept(stepDirectory)
                .ifPresent(kept -> kept.tasks().forEach(task -> {
                    if (isAlive(kept, task)) {
                        call(kept, "RunTimeKill", withPid(task.kill(), task, pids));
                    }
                }));
    }

    /**
     * The step is over here: nothing of its containers stays.
     *
     * @param pids of the tasks' first processes, by rank
     */
    public void remove(Path stepDirectory, Map<Integer, Long> pids) {
        Optional<StoredBundle> found = kept(stepDirectory);
        if (found.isEmpty()) {
            return;
        }
        StoredBundle kept = found.get();
        for (Commands task : kept.tasks()) {
            int round = 0;
            while (isAlive(kept, task) && round++ < QUERY_ROUNDS_MAX) {
                call(kept, "RunTimeKill", withPid(task.kill(), task, pids));
                pause();
            }
            call(kept, "RunTimeDelete", withPid(task.delete(), task, pids));
        }
        if (!conf.keepFiles()) {
            discard(kept);
        }
        try {
            Files.deleteIfExists(stepDirectory.resolve(REMEMBERED));
        } catch (IOException e) {
            log.error(stepDirectory + ": " + ErrorSentence.reason(e));
        }
    }

    /** Removes the directories as the user that owns them; only the default place is in a directory of slurmd. */
    private void discard(StoredBundle kept) {
        try {
            UserPrograms user = user(kept);
            for (Commands task : kept.tasks()) {
                user.run(List.of("rm", "-rf", "--", task.bundle()), new byte[0]);
            }
            if (conf.spool().isEmpty()) {
                JobSpool.removeTree(Path.of(kept.spool()));
            } else {
                user.run(List.of("rmdir", "--", kept.spool()), new byte[0]);
            }
        } catch (IOException e) {
            log.error("cannot remove " + kept.spool() + ": " + ErrorSentence.reason(e));
        }
    }

    private static String withPid(String command, Commands task, Map<Integer, Long> pids) {
        return command.replace("%p", Long.toString(pids.getOrDefault(task.rank(), 0L)));
    }

    private boolean isAlive(StoredBundle kept, Commands task) {
        if (task.query().isEmpty()) {
            return false;
        }
        UserPrograms.Outcome answer = call(kept, "RunTimeQuery", task.query());
        try {
            return answer.good()
                    && Json.parse(answer.output()) instanceof Json.Obj state
                    && List.of("creating", "created", "running", "paused").contains(state.text("status"));
        } catch (Json.MalformedException e) {
            log.error("RunTimeQuery: "
                    + new String(answer.output(), 0, Math.min(200, answer.output().length), StandardCharsets.UTF_8));
            return false;
        }
    }

    private UserPrograms.Outcome call(StoredBundle kept, String what, String command) {
        if (command.isEmpty()) {
            return new UserPrograms.Outcome(0, new byte[0]);
        }
        try {
            UserPrograms.Outcome outcome = user(kept).run(List.of("/bin/sh", "-c", command), new byte[0]);
            log.debug(what + " " + command + ": " + outcome.code());
            return outcome;
        } catch (IOException e) {
            log.error(what + ": " + ErrorSentence.reason(e));
            return new UserPrograms.Outcome(-1, new byte[0]);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(QUERY_PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
