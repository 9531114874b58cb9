package dev.muster.node.os;

import dev.muster.model.Identity;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Short programs that slurmd runs as a job's user: what lies in the user's directories is his to read and write, not
 * root's. Blocks.
 */
public final class UserPrograms {
    public static final int OUTPUT_BYTES_MAX = 4 << 20;
    static final int SECONDS_MAX = 60;

    private final Identity owner;
    private final String namespace;
    private final Map<String, String> environment;

    /** @param namespace the job's view of the file system, "" for the node's own */
    public UserPrograms(Identity owner, String namespace, Map<String, String> environment) {
        this.owner = owner;
        this.namespace = namespace;
        this.environment = environment;
    }

    /** @param code exit status, -1 where it had to be ended */
    public record Outcome(int code, byte[] output) {
        public boolean good() {
            return code == 0;
        }
    }

    /** Starts it and nothing more: the caller reads what it says, and ends it. */
    Process start(List<String> command) throws IOException {
        List<String> all = new ArrayList<>();
        if (!namespace.isEmpty()) {
            all.addAll(List.of("nsenter", "--mount=" + namespace));
        }
        if (Os.uid() == 0) {
            String groups = owner.gids().stream().map(String::valueOf).collect(Collectors.joining(","));
            all.addAll(List.of(
                    "setpriv",
                    "--reuid=" + owner.uid(),
                    "--regid=" + owner.gid(),
                    groups.isEmpty() ? "--clear-groups" : "--groups=" + groups,
                    "--"));
        }
        all.addAll(command);
        ProcessBuilder builder =
                new ProcessBuilder(all).directory(new File("/")).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        builder.environment().put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        builder.environment().putAll(environment);
        return builder.start();
    }

    public Outcome run(List<String> command, byte[] input) throws IOException {
        Process process = start(command);
        Thread watchdog = Thread.ofVirtual().start(() -> endLate(process));
        try (OutputStream to = process.getOutputStream()) {
            to.write(input);
        } catch (IOException e) {
            // it ended without reading: its exit status tells
        }
        byte[] output = process.getInputStream().readNBytes(OUTPUT_BYTES_MAX);
        try {
            int code = process.waitFor();
            watchdog.interrupt();
            return new Outcome(code, output);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static void endLate(Process process) {
        try {
            if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            // it ended in time
        }
    }
}
