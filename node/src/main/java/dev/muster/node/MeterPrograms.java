package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Programs that show what meters of the node say. What is wrong with one of them the log says once. */
final class MeterPrograms {
    private static final long PROGRAM_SECONDS = 20;
    private static final int OUTPUT_MAX = 1 << 20;

    private final Map<String, String> environment;
    private final DaemonLog log;
    private final Set<String> complained = ConcurrentHashMap.newKeySet();

    /** @param environment that they are found and run in */
    MeterPrograms(Map<String, String> environment, DaemonLog log) {
        this.environment = environment;
        this.log = log;
    }

    /** What it wrote; empty if it failed. It may take a while. */
    Optional<String> run(List<String> command) {
        File output = null;
        try {
            output = File.createTempFile("muster-meter", "");
            ProcessBuilder builder = new ProcessBuilder(found(command)).directory(new File("/")).redirectInput(new File("/dev/null"))
                    .redirectOutput(output).redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().clear();
            builder.environment().putAll(environment);
            Process process = builder.start();
            if (!process.waitFor(PROGRAM_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return failed(command, "timed out after " + PROGRAM_SECONDS + " s");
            }
            byte[] bytes = Files.readAllBytes(output.toPath());
            String text = new String(bytes, 0, Math.min(bytes.length, OUTPUT_MAX), StandardCharsets.UTF_8);
            return process.exitValue() == 0 ? Optional.of(text) : failed(command, "exit status " + process.exitValue());
        } catch (IOException e) {
            return failed(command, Reasons.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } finally {
            if (output != null && !output.delete()) {
                log.error("cannot delete " + output);
            }
        }
    }

    /** Whether it is to be had. */
    boolean has(String program) {
        return place(program).isPresent();
    }

    private Optional<Path> place(String program) {
        return List.of(environment.getOrDefault("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").split(":")).stream().map(d -> Path.of(d, program))
                .filter(Files::isExecutable).findFirst();
    }

    private List<String> found(List<String> command) {
        List<String> out = new ArrayList<>(command);
        place(command.getFirst()).ifPresent(p -> out.set(0, p.toString()));
        return out;
    }

    private Optional<String> failed(List<String> command, String why) {
        if (complained.add(command.getFirst() + why)) {
            log.error("meters: " + String.join(" ", command) + ": " + why);
        }
        return Optional.empty();
    }
}
