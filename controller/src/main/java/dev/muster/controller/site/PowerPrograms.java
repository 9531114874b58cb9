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
import dev.muster.model.format.HostList;
import dev.muster.model.json.Json;
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
        Map<String, TreeSet<String>> stop = new TreeMap<>();
        Map<String, TreeSet<String>> start = new TreeMap<>();
        Map<String, TreeSet<String>> reboot = new TreeMap<>();
        Map<String, TreeSet<String>> changed = new TreeMap<>();
        TreeSet<String> failed = new TreeSet<>();
        for (Change change : entry.changes()) {
            if (change instanceof Change.NodeStateChanged c) {
                Node is = after.nodes().find(c.node()).orElse(null);
                Node was = before.nodes().find(c.node()).orElse(null);
                if (is != null && was != null) {
                    put(stop, is, began(was, is, Node.Flag.POWERING_DOWN));
                    // who had power is on its way up by a reboot
                    put(start, is, began(was, is, Node.Flag.POWERING_UP) && was.has(Node.Flag.POWERED_DOWN));
                    put(reboot, is, began(was, is, Node.Flag.REBOOT_ISSUED));
                    if (began(was, is, Node.Flag.POWERING_UP) && !was.has(Node.Flag.POWERED_DOWN)) {
                        changed.computeIfAbsent(String.join(",", is.wanted()), f -> new TreeSet<>())
                                .add(is.name());
                    }
                    if (was.has(Node.Flag.POWERING_UP)
                            && (began(was, is, Node.Flag.DOWN) || began(was, is, Node.Flag.POWERED_DOWN))) {
                        failed.add(is.name());
                    }
                }
            }
        }
        stop.forEach((action, nodes) ->
                run(program(Key.SUSPEND_PROGRAM, action), nodes, "powering down node ", Map.of(), () -> {}));
        start.forEach((action, nodes) -> {
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
        });
        boolean here = PowerOptions.rebootsHere(conf.get());
        reboot.forEach((action, nodes) -> {
            if (here || !action.isEmpty()) {
                run(program(Key.REBOOT_PROGRAM, action), nodes, "rebooting nodes ", Map.of(), () -> {});
            }
        });
        if (here) {
            changed.forEach((features, nodes) ->
                    run(program(Key.REBOOT_PROGRAM, "").with(features), nodes, "rebooting nodes ", Map.of(), () -> {}));
        }
        failed.forEach(n -> log.error("node " + n + " not resumed by ResumeTimeout, setting "
                + after.nodes()
                        .find(n)
                        .filter(x -> x.has(Node.Flag.DOWN))
                        .map(x -> "DOWN")
                        .orElse("POWERED_DOWN")));
        run(program(Key.RESUME_FAIL_PROGRAM, ""), failed, "power_save: handle failed nodes ", Map.of(), () -> {});
    }

    private static boolean began(Node was, Node is, Node.Flag flag) {
        return is.has(flag) && !was.has(flag);
    }

    /** By the action that was named for each. */
    private static void put(Map<String, TreeSet<String>> names, Node node, boolean now) {
        if (now) {
            names.computeIfAbsent(node.powerAction(), a -> new TreeSet<>()).add(node.name());
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

    /** That of the key, or of the PowerAction that was named or that the key names; none where a slurmd runs it. */
    private Named program(Key key, String action) {
        String said = conf.get().text(key);
        if (action.isEmpty() && conf.get().powerAction(said).isEmpty()) {
            return new Named(key.slurmName(), said.isEmpty() ? List.of() : List.of(said));
        }
        return new Named(
                action.isEmpty() ? key.slurmName() : "PowerAction=" + action,
                conf.get()
                        .powerAction(action.isEmpty() ? said : action)
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

    /** For whom the nodes are started. */
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
            log.error("ResumeProgram cannot be told its jobs: " + file + ": " + e.getMessage());
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
