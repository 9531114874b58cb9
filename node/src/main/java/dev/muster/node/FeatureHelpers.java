package dev.muster.node;

import dev.muster.config.HelpersConf;
import dev.muster.daemon.DaemonLog;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The programs of helpers.conf: what features this node has, and which it is to have after its next boot. */
final class FeatureHelpers {
    private static final int OUTPUT_MAX = 65_536;

    private final HelpersConf conf;
    private final String node;
    private final Map<String, String> environment;
    private final DaemonLog log;

    FeatureHelpers(HelpersConf conf, String node, Map<String, String> environment, DaemonLog log) {
        this.conf = conf;
        this.node = node;
        this.environment = environment;
        this.log = log;
    }

    List<String> available() {
        return conf.of(node).stream().map(HelpersConf.Feature::name).distinct().toList();
    }

    /** What the helpers say is active, of what is known here. Each program runs once. */
    List<String> active() {
        List<String> known = available();
        Set<String> out = new LinkedHashSet<>();
        conf.of(node).stream().map(HelpersConf.Feature::helper).distinct().forEach(helper -> run(helper).ifPresent(text ->
                text.lines().map(String::trim).filter(known::contains).forEach(out::add)));
        return List.copyOf(out);
    }

    /** Answers whether all were set. */
    boolean set(List<String> features) {
        boolean all = true;
        for (HelpersConf.Feature feature : conf.of(node)) {
            all &= !features.contains(feature.name()) || run(feature.helper(), feature.name()).isPresent();
        }
        return all;
    }

    /** Whether one of those that are not active yet is not to be had as the node runs. */
    boolean needReboot(List<String> wanted, List<String> active) {
        return conf.of(node).stream().anyMatch(f -> wanted.contains(f.name()) && !active.contains(f.name()) && !f.rebootless());
    }

    private Optional<String> run(String... command) {
        File output = null;
        try {
            output = File.createTempFile("muster-helper", "");
            ProcessBuilder builder = new ProcessBuilder(command).directory(new File("/")).redirectInput(new File("/dev/null"))
                    .redirectOutput(output).redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().clear();
            builder.environment().putAll(environment);
            Process process = builder.start();
            if (!process.waitFor(conf.execSeconds(), TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                return failed(command, "timed out after " + conf.execSeconds() + " s");
            }
            if (process.exitValue() != 0) {
                return failed(command, "exit status " + process.exitValue());
            }
            byte[] bytes = Files.readAllBytes(output.toPath());
            return Optional.of(new String(bytes, 0, Math.min(bytes.length, OUTPUT_MAX), StandardCharsets.UTF_8));
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

    private Optional<String> failed(String[] command, String why) {
        log.error("node_features/helpers: " + String.join(" ", command) + ": " + why);
        return Optional.empty();
    }
}
