package dev.muster.controller.site;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.controller.config.PowerOptions;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.HostList;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/** SuspendProgram, ResumeProgram and ResumeFailProgram: one run for all nodes of an entry, told by their states. */
final class PowerPrograms {
    /** Runs a program aside. */
    interface Runner {
        /** @param then whatever came of it */
        void run(String name, List<String> command, Map<String, String> environment, Runnable then);
    }

    private final Supplier<SlurmConf> conf;
    private final DaemonLog log;
    private final Runner runner;

    PowerPrograms(Supplier<SlurmConf> conf, DaemonLog log, Runner runner) {
        this.conf = conf;
        this.log = log;
        this.runner = runner;
    }

    void follow(Entry entry, State before, State after) {
        PowerTransitions nodes = new PowerTransitions(before, after);
        for (Change change : entry.changes()) {
            if (change instanceof Change.NodeStateChanged c) {
                nodes.add(c.node());
            }
        }
        nodes.stopping.forEach((action, names) ->
                run(program(Key.SUSPEND_PROGRAM, action), names, "powering down node ", Map.of(), () -> {}));
        nodes.starting.forEach((action, names) -> resume(action, names, entry, after));
        boolean here = PowerOptions.rebootsHere(conf.get());
        nodes.rebooting.forEach((action, names) -> {
            if (here || !action.isEmpty()) {
                run(program(Key.REBOOT_PROGRAM, action), names, "rebooting nodes ", Map.of(), () -> {});
            }
        });
        if (here) {
            nodes.changingFeatures.forEach((features, names) ->
                    run(program(Key.REBOOT_PROGRAM, "").with(features), names, "rebooting nodes ", Map.of(), () -> {}));
        }
        nodes.notResumed.forEach(n -> log.error("node " + n + " not resumed by ResumeTimeout, setting "
                + after.nodes()
                        .find(n)
                        .filter(x -> x.has(Node.Flag.DOWN))
                        .map(x -> "DOWN")
                        .orElse("POWERED_DOWN")));
        run(
                program(Key.RESUME_FAIL_PROGRAM, ""),
                nodes.notResumed,
                "power_save: handle failed nodes ",
                Map.of(),
                () -> {});
    }

    private void resume(String action, TreeSet<String> nodes, Entry entry, State after) {
        Named program = program(Key.RESUME_PROGRAM, action);
        if (!program.command.isEmpty()) {
            Path file = Path.of(conf.get().stateSaveLocation())
                    .resolve("resume." + entry.tickMs() + (action.isEmpty() ? "" : "." + action) + ".json");
            run(
                    program,
                    nodes,
                    "power_save: waking nodes ",
                    write(file, jobs(nodes, after)) ? Map.of("SLURM_RESUME_FILE", file.toString()) : Map.of(),
                    () -> remove(file));
        }
    }

    /** @param second argument after the nodes, where there is one */
    private record Named(String name, List<String> command, String second) {
        Named(String name, List<String> command) {
            this(name, command, "");
        }

        Named with(String argument) {
            return new Named(name, command, argument);
        }
    }

    /**
     * Returns the program of a key, or of the PowerAction that was named or that the key names; none if a slurmd runs
     * it.
     */
    private Named program(Key key, String action) {
        String configured = conf.get().text(key);
        if (action.isEmpty() && conf.get().powerAction(configured).isEmpty()) {
            return new Named(key.slurmName(), configured.isEmpty() ? List.of() : List.of(configured));
        }
        return new Named(
                action.isEmpty() ? key.slurmName() : "PowerAction=" + action,
                conf.get()
                        .powerAction(action.isEmpty() ? configured : action)
                        .filter(a -> !a.isAtNode())
                        .map(SlurmConf.PowerAction::command)
                        .orElse(List.of()));
    }

    private void run(Named program, TreeSet<String> nodes, String says, Map<String, String> more, Runnable then) {
        if (nodes.isEmpty() || program.command.isEmpty()) {
            return;
        }
        String list = HostList.of(List.copyOf(nodes)).compressed();
        log.info(says + list);
        Map<String, String> environment = new TreeMap<>(more);
        environment.put("SLURM_CONF", conf.get().file());
        environment.put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        // it alone has them one by one, as with Slurm
        String first = program.name.equals(Key.REBOOT_PROGRAM.slurmName())
                ? String.join(",", HostList.of(nodes).names())
                : list;
        List<String> command = new ArrayList<>(program.command);
        command.add(first);
        if (!program.second.isEmpty()) {
            command.add(program.second);
        }
        runner.run(program.name, command, environment, then);
    }

    /** Returns the jobs for which nodes are started, as the text of SLURM_RESUME_FILE. */
    static String jobs(TreeSet<String> starting, State state) {
        TreeSet<Integer> ids = new TreeSet<>();
        starting.forEach(n -> state.nodes().find(n).ifPresent(node -> ids.addAll(node.jobs())));
        List<Object> jobs = new ArrayList<>();
        for (int id : ids) {
            Job job = state.jobs().at(id);
            List<String> all = job.run().allocation().nodeNames();
            jobs.add(new Json.Obj()
                    .put("extra", job.desc().extras().extra())
                    .put("features", job.desc().request().features())
                    .put("job_id", (long) id)
                    .put("nodes_alloc", HostList.of(all).compressed())
                    .put(
                            "nodes_resume",
                            HostList.of(all.stream().filter(starting::contains).toList())
                                    .compressed())
                    .put(
                            "oversubscribe",
                            job.desc().request().exclusive() == dev.muster.model.job.ResourceRequest.Exclusive.SHARED
                                    ? "OK"
                                    : "NO")
                    .put("partition", job.desc().partition())
                    .put("reservation", job.desc().charge().reservation()));
        }
        return new Json.Obj()
                .put("all_nodes_resume", HostList.of(List.copyOf(starting)).compressed())
                .put("jobs", jobs)
                .toString();
    }

    private boolean write(Path file, String text) {
        try {
            Files.writeString(file, text + "\n");
            return true;
        } catch (IOException e) {
            log.error("ResumeProgram cannot be told its jobs: " + file + ": " + ErrorSentence.reason(e));
            return false;
        }
    }

    private static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // the next one has another name
        }
    }
}
