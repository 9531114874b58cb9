package dev.muster.node.meter;

import dev.muster.daemon.DaemonLog;
import dev.muster.node.os.NodeProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Programs that show what meters of the node say. What is wrong with one of them the log says once. */
public final class MeterPrograms {
    private static final int PROGRAM_SECONDS = 20;

    private final Map<String, String> environment;
    private final DaemonLog log;
    private final Set<String> complained = ConcurrentHashMap.newKeySet();

    /** @param environment that they are found and run in */
    public MeterPrograms(Map<String, String> environment, DaemonLog log) {
        this.environment = environment;
        this.log = log;
    }

    /** Runs a program and returns its output; empty if it failed. May take seconds. */
    public Optional<String> run(List<String> command) {
        try {
            return Optional.of(NodeProgram.ask(found(command), environment, PROGRAM_SECONDS));
        } catch (NodeProgram.Failed e) {
            if (complained.add(command.getFirst() + e.getMessage())) {
                log.error("meters: " + String.join(" ", command) + ": " + e.getMessage());
            }
            return Optional.empty();
        }
    }

    /** Whether it is to be had. */
    public boolean has(String program) {
        return place(program).isPresent();
    }

    private Optional<Path> place(String program) {
        return List.of(environment
                        .getOrDefault("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
                        .split(":"))
                .stream()
                .map(d -> Path.of(d, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private List<String> found(List<String> command) {
        List<String> out = new ArrayList<>(command);
        place(command.getFirst()).ifPresent(p -> out.set(0, p.toString()));
        return out;
    }
}
