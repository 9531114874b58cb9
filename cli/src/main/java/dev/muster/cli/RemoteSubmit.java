package dev.muster.cli;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Controller;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.KnownCluster;
import dev.muster.cli.command.Output;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.transport.Frames;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs sbatch for a user at another machine (a browser). The script comes with the request; sbatch's own code reads the
 * options and {@code #SBATCH} lines. slurmrestd calls it. No file of this machine is read or written for the user, and
 * options that need one are refused.
 */
public final class RemoteSubmit {
    private static final Pattern SUBMITTED = Pattern.compile("(?m)^([0-9]{1,10})(?:;.*)?$");
    private static final int UMASK = 022;

    /**
     * The user that submits.
     *
     * @param home the working directory of jobs that name none
     */
    public record Submitter(String name, String home) {}

    /**
     * The outcome of sbatch.
     *
     * @param jobId 0 where nothing was submitted
     * @param messages its lines on standard error and, without a job, on standard output; without the command's name
     */
    public record Result(int jobId, List<String> messages) {}

    private RemoteSubmit() {}

    /**
     * Submits the script.
     *
     * @param host asks slurmctld as the user
     * @param options of sbatch as typed in a terminal; an operand is refused, as a script's name
     */
    public static Result run(Host host, Submitter user, List<String> options, String script) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        List<String> args = new ArrayList<>(List.of("--parsable"));
        options.forEach(o -> args.add(RawText.decode(o.getBytes(StandardCharsets.UTF_8))));
        Map<String, String> env = Map.of(
                "PATH", "/usr/local/bin:/usr/bin:/bin", "USER", user.name, "LOGNAME", user.name, "HOME", user.home);
        CommandContext context = new CommandContext(
                "sbatch",
                "sbatch",
                args,
                env,
                new Remote(host, user),
                new Output(out, false),
                new Output(err, false),
                new ByteArrayInputStream(script.getBytes(StandardCharsets.UTF_8)));
        try {
            CommandTable.run(context);
        } catch (Unserved e) {
            return new Result(0, List.of(e.getMessage()));
        }
        String output = out.toString(StandardCharsets.UTF_8);
        Matcher id = SUBMITTED.matcher(output);
        boolean submitted = id.find();
        List<String> messages = new ArrayList<>();
        (err.toString(StandardCharsets.UTF_8) + (submitted ? "" : output))
                .lines()
                .filter(l -> !l.isBlank())
                .forEach(l -> messages.add(l.replaceFirst("^sbatch: (?:error: |fatal: )?", "")));
        return new Result(submitted ? Integer.parseInt(id.group(1)) : 0, messages);
    }

    /** An option needs what a remote caller does not have. */
    private static final class Unserved extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private Unserved(String reason) {
            super(reason, null, false, false);
        }
    }

    /** A caller without terminal and files. */
    private record Remote(Host to, Submitter user) implements Host {
        @Override
        public String workDir() {
            return user.home;
        }

        @Override
        public long nowMs() {
            return to.nowMs();
        }

        @Override
        public ZoneId zone() {
            return to.zone();
        }

        @Override
        public int uid() {
            return to.userId(user.name);
        }

        @Override
        public int gid() {
            return -1;
        }

        @Override
        public int pid() {
            return 0;
        }

        @Override
        public int umask() {
            return UMASK;
        }

        @Override
        public Map<String, Long> limits() {
            return Map.of();
        }

        @Override
        public String hostName() {
            return to.hostName();
        }

        @Override
        public String userName(int uid) {
            return to.userName(uid);
        }

        @Override
        public String home() {
            return user.home;
        }

        @Override
        public int userId(String nameOrId) {
            return to.userId(nameOrId);
        }

        @Override
        public int groupId(String nameOrId) {
            return to.groupId(nameOrId);
        }

        @Override
        public String groupName(int gid) {
            return to.groupName(gid);
        }

        @Override
        public int nice() {
            return 0;
        }

        @Override
        public byte[] readFile(String path, int maxBytes) {
            throw new Unserved("An option names the file " + path
                    + ", which cannot be read from here: submit the job in a terminal");
        }

        @Override
        public void writeFile(String path, byte[] content, int mode) {
            throw new Unserved("An option names the file " + path
                    + ", which cannot be written from here: submit the job in a terminal");
        }

        @Override
        public boolean isTty(int fd) {
            return false;
        }

        @Override
        public Controller controller() {
            return to.controller();
        }

        @Override
        public Controller accounting() {
            return to.accounting();
        }

        @Override
        public ClientConf settings() {
            return to.settings();
        }

        /** Filters belong to commands on the site's submission hosts; slurmctld's job_submit plugins see every job. */
        @Override
        public List<String> cliFilters() {
            return List.of();
        }

        @Override
        public boolean isAttended() {
            return false;
        }

        @Override
        public void needsOwnProcess() {}

        /** A full queue is reported at once. */
        @Override
        public boolean pause(long ms) {
            return false;
        }

        @Override
        public List<String> clusters() {
            return to.clusters();
        }

        @Override
        public void selectCluster(KnownCluster cluster) {
            throw new Unserved("Jobs of other clusters are submitted in a terminal");
        }

        @Override
        public String requestId() {
            return to.requestId();
        }

        @Override
        public List<String> controllers() {
            return to.controllers();
        }

        @Override
        public Json.Obj callNode(String address, int port, String message, Json.Obj request) throws SlurmException {
            return to.callNode(address, port, message, request);
        }

        @Override
        public Frames openStream(String address, int port, String name) throws IOException, SlurmException {
            return to.openStream(address, port, name);
        }

        @Override
        public void onSignal(String name, Runnable handler) {}
    }
}
