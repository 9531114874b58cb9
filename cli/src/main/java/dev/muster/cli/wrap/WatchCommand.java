package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Terminal;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import java.io.IOException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;

/**
 * Runs {@code muster watch} and {@code muster top}, which follow slurmctld's events. One request at a time waits there.
 */
final class WatchCommand {
    private static final int WAIT_MS = 20_000;
    private static final int AWAY_MS = 2_000;
    /** The times on a screen run though nothing happens. */
    private static final int TICK_MS = 2_000;
    /** Milliseconds between two reads of the keyboard. */
    private static final int KEY_MS = 50;
    /** Not oftener is the screen made anew. */
    private static final int PACE_MS = 500;

    private static final String AWAY = "slurmctld does not answer: waiting for it";
    private static final int LINES = 24;
    private static final int COLUMNS = 100;
    /** A narrower terminal has narrower columns. */
    private static final int WIDE = 100;
    /** Cell of a row from which on numbers are aligned to the right. */
    private static final int FIRST_NUMBER = 5;

    private static final List<Object> FIELDS = List.of(
            "jobId",
            "arrayJobId",
            "arrayTaskId",
            "arrayTasks",
            "name",
            "userName",
            "partition",
            "state",
            "flags",
            "reason",
            "nodes",
            "nodeCount",
            "cpus",
            "startTime",
            "endTime",
            "priority",
            "exit");

    private final CommandContext context;
    private final Map<Long, Json.Obj> jobs = new TreeMap<>();
    private final Map<String, Json.Obj> nodes = new TreeMap<>();
    private String revision = "";
    private long now;
    private boolean isAway;
    /** The lists are to be read anew, which may need several attempts. */
    private boolean stale;

    WatchCommand(CommandContext context) {
        this.context = context;
    }

    /** All of it, as it is. */
    private void load() throws SlurmException {
        revision = context.host()
                .controller()
                .call("Follow", new Json.Obj().put("since", "").put("jobFields", FIELDS))
                .text("revision");
        Json.Obj reply = context.host()
                .controller()
                .call(
                        "QueryJobs",
                        new Json.Obj()
                                .put("allStates", true)
                                .put("allPartitions", true)
                                .put("fields", FIELDS));
        jobs.clear();
        reply.objects("jobs").forEach(j -> jobs.put(j.number("jobId"), j));
        now = reply.number("now");
        nodes.clear();
        try {
            context.host()
                    .controller()
                    .call("QueryNodes", new Json.Obj())
                    .objects("nodes")
                    .forEach(n -> nodes.put(n.text("name"), n));
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.ACCESS_DENIED.number()) {
                throw e; // PrivateData: without nodes then
            }
        }
    }

    /**
     * Waits for changes and returns them; returns everything after too many changes, or from another slurmctld.
     *
     * @return what changed
     */
    private Json.Obj next(int waitMs) throws SlurmException {
        Json.Obj reply = context.host()
                .controller()
                .call(
                        "Follow",
                        new Json.Obj()
                                .put("since", revision)
                                .put("waitMs", (long) waitMs)
                                .put("jobFields", FIELDS));
        now = reply.number("now");
        revision = reply.text("revision");
        stale |= reply.flag("reset");
        if (stale) {
            load();
            stale = false;
            reply.put("reset", true);
        }
        isAway = false;
        return reply;
    }

    private static String shown(Json.Obj job) {
        long array = job.number("arrayJobId");
        if (array == 0) {
            return Long.toString(job.number("jobId"));
        }
        return array + "_"
                + (job.text("arrayTasks").isEmpty()
                        ? Long.toString(job.number("arrayTaskId"))
                        : "[" + job.text("arrayTasks") + "]");
    }

    private static String state(Json.Obj job) {
        return job.texts("flags").contains("CONFIGURING") ? "CONFIGURING" : job.text("state");
    }

    private static boolean isOver(Json.Obj job) {
        return !List.of("PENDING", "RUNNING", "SUSPENDED").contains(job.text("state"));
    }

    // ---- watch

    /**
     * @param ids of the jobs to watch; empty for all jobs and the nodes
     * @return 0, or 1 where one of them did not end well
     */
    int watch(List<String> ids) throws SlurmException {
        load();
        Map<String, String> lastStates = new HashMap<>();
        boolean all = ids.isEmpty();
        for (String id : ids) {
            if (jobs.values().stream().noneMatch(j -> isSelected(j, Set.of(id)))) {
                throw new SlurmException(
                        SlurmErrno.INVALID_JOB_ID.number(), SlurmErrno.INVALID_JOB_ID.sentence() + ": " + id);
            }
        }
        Set<String> wanted = new LinkedHashSet<>(ids);
        jobs.values().forEach(j -> report(j, wanted, lastStates, !all));
        nodes.values().forEach(n -> lastStates.put("node " + n.text("name"), nodeState(n)));
        if (context.host().isTty(1)) {
            context.info("waiting for changes; Ctrl-C ends");
        }
        // last states, also of jobs that slurmctld has purged meanwhile
        Map<Long, Json.Obj> watched = new TreeMap<>();
        while (true) {
            jobs.values().stream()
                    .filter(j -> !all && isSelected(j, wanted))
                    .forEach(j -> watched.put(j.number("jobId"), j));
            if (context.out().isBroken()
                    || !all
                            && watched.values().stream()
                                    .allMatch(j -> isOver(j) || !jobs.containsKey(j.number("jobId")))) {
                watched.values().stream()
                        .filter(j -> !isOver(j) && !jobs.containsKey(j.number("jobId")))
                        .forEach(j -> context.info(
                                "slurmctld does not know job " + shown(j) + " any more: how it ended is not known"));
                return watched.values().stream().allMatch(j -> j.text("state").equals("COMPLETED")) ? 0 : 1;
            }
            context.out().flush();
            try {
                changed(next(WAIT_MS), wanted, lastStates);
            } catch (SlurmException e) {
                if (!awaitController(e, false)) {
                    throw e;
                }
            }
        }
    }

    private void changed(Json.Obj reply, Set<String> wanted, Map<String, String> lastStates) {
        (reply.flag("reset") ? List.copyOf(jobs.values()) : reply.objects("jobs")).forEach(j -> {
            jobs.put(j.number("jobId"), j);
            report(j, wanted, lastStates, true);
        });
        forget(reply, lastStates);
        if (wanted.isEmpty()) {
            (reply.flag("reset") ? List.copyOf(nodes.values()) : reply.objects("nodes"))
                    .forEach(n -> reportNode(n, lastStates));
        }
    }

    /** Jobs that slurmctld knows no more. */
    private void forget(Json.Obj reply, Map<String, String> lastStates) {
        for (Object id : reply.list("gone")) {
            Json.Obj job = jobs.remove(((Number) id).longValue());
            lastStates.remove(job == null ? "" : shown(job));
        }
    }

    /**
     * Waits after a lost connection to slurmctld.
     *
     * @param screen the screen shows the loss itself
     * @return false for errors that do not pass
     */
    private boolean awaitController(SlurmException e, boolean screen) throws SlurmException {
        boolean gone = List.of(
                        SlurmErrno.CTLD_CONNECT.number(),
                        SlurmErrno.CTLD_RECV.number(),
                        SlurmErrno.PROTOCOL_SOCKET_IMPL_TIMEOUT.number())
                .contains(e.errno());
        if (gone && !isAway && !screen) {
            context.info(AWAY);
        }
        isAway |= gone;
        return gone && context.host().pause(AWAY_MS);
    }

    private static boolean isSelected(Json.Obj job, Set<String> ids) {
        return ids.contains(Long.toString(job.number("jobId")))
                || ids.contains(shown(job))
                || job.number("arrayJobId") != 0 && ids.contains(Long.toString(job.number("arrayJobId")));
    }

    private void report(Json.Obj job, Set<String> wanted, Map<String, String> lastStates, boolean print) {
        String state = state(job);
        if (!wanted.isEmpty() && !isSelected(job, wanted)
                || state.equals(lastStates.put(shown(job), state))
                || !print) {
            return;
        }
        String more = job.text("state").equals("PENDING") ? job.text("reason") : job.text("nodes");
        context.out()
                .println(safe(
                        time() + "  " + Wrapper.left(shown(job), 12) + " " + Wrapper.left(job.text("name"), 16) + " "
                                + Wrapper.left(job.text("userName"), 10)
                                + " " + Wrapper.left(state, 13) + " " + more));
    }

    private void reportNode(Json.Obj node, Map<String, String> lastStates) {
        String state = nodeState(node);
        String before = lastStates.put("node " + node.text("name"), state);
        if (!state.equals(before)) {
            context.out()
                    .println(safe(time() + "  node " + node.text("name") + " " + (before == null ? "" : before + " -> ")
                            + state + (node.text("reason").isEmpty() ? "" : " (" + node.text("reason") + ")")));
        }
    }

    private static String nodeState(Json.Obj node) {
        List<String> flags = new ArrayList<>(node.texts("flags"));
        flags.removeIf(f -> f.equals("COMPLETING") || f.equals("PLANNED"));
        return node.text("state") + (flags.isEmpty() ? "" : "+" + String.join("+", flags));
    }

    private String time() {
        return DateTimeFormatter.ofPattern("HH:mm:ss")
                .withZone(context.host().zone())
                .format(Instant.ofEpochSecond(now));
    }

    // ---- top

    /** Shows the screen until q or an interrupt; prints it once if the output is not a terminal. */
    int top() throws SlurmException {
        boolean screen = context.host().isTty(1);
        Optional<Terminal> keyboard =
                screen && context.host().isTty(0) ? Optional.of(Terminal.silentKeys()) : Optional.empty();
        // restores the terminal when an interrupt ends the process
        Thread restore = new Thread(() -> keyboard.ifPresent(Terminal::restore));
        Runtime.getRuntime().addShutdownHook(restore);
        try {
            load();
            return frames(screen, keyboard.isPresent());
        } finally {
            keyboard.ifPresent(Terminal::restore);
            Runtime.getRuntime().removeShutdownHook(restore);
        }
    }

    private int frames(boolean screen, boolean keys) throws SlurmException {
        while (true) {
            context.out().print(screen ? "\033[H\033[2J" + screenFrame() : frame(Integer.MAX_VALUE, COLUMNS));
            context.out().flush();
            if (!screen || context.out().isBroken()) {
                return 0;
            }
            try {
                Optional<Json.Obj> news = keys ? nextUnlessQuit() : Optional.of(next(TICK_MS));
                if (news.isEmpty()) {
                    return 0;
                }
                Json.Obj reply = news.get();
                reply.objects("jobs").forEach(j -> jobs.put(j.number("jobId"), j));
                forget(reply, new HashMap<>());
                reply.objects("nodes").forEach(n -> nodes.put(n.text("name"), n));
                reply.texts("goneNodes").forEach(nodes::remove);
            } catch (SlurmException e) {
                if (!awaitController(e, screen)) {
                    throw e;
                }
            }
            if (keys && isQuit() || !context.host().pause(PACE_MS)) {
                return 0;
            }
        }
    }

    private String screenFrame() {
        int[] size = Terminal.size();
        return frame(size[0] > 0 ? size[0] : LINES, size[1] > 0 ? size[1] : COLUMNS);
    }

    /** Like {@link #next}, and polls the keyboard meanwhile. Returns empty after q. */
    private Optional<Json.Obj> nextUnlessQuit() throws SlurmException {
        FutureTask<Json.Obj> request = new FutureTask<>(() -> next(TICK_MS));
        Thread.startVirtualThread(request);
        while (!request.isDone()) {
            if (isQuit() || !context.host().pause(KEY_MS)) {
                return Optional.empty();
            }
        }
        return switch (request.state()) {
            case SUCCESS -> Optional.of(request.resultNow());
            case FAILED -> {
                Throwable cause = request.exceptionNow();
                if (cause instanceof SlurmException e) {
                    throw e;
                }
                throw new IllegalStateException(cause);
            }
            default -> Optional.empty();
        };
    }

    private boolean isQuit() {
        try {
            while (context.in().available() > 0) {
                int key = context.in().read();
                if (key == 'q' || key == 'Q') {
                    return true;
                }
            }
        } catch (IOException e) {
            return false; // the keyboard is gone; an interrupt still ends the command
        }
        return false;
    }

    private String frame(int lines, int columns) {
        StringBuilder out = new StringBuilder();
        head(out, columns);
        line(
                out,
                columns,
                row(
                        columns,
                        "JOBID",
                        "NAME",
                        "USER",
                        "PARTITION",
                        "STATE",
                        "TIME",
                        "CPUS",
                        columns < WIDE ? "WHERE" : "NODES OR REASON"));
        List<Json.Obj> shown = new ArrayList<>(jobs.values());
        shown.removeIf(j -> isOver(j) && !j.texts("flags").contains("COMPLETING"));
        shown.sort(Comparator.comparing((Json.Obj j) -> j.text("state").equals("PENDING"))
                .thenComparingLong(j -> -j.number("priority"))
                .thenComparingLong(j -> j.number("jobId")));
        int room = Math.max(1, lines - 6);
        for (Json.Obj job : shown.subList(0, Math.min(shown.size(), room))) {
            boolean pending = job.text("state").equals("PENDING");
            line(
                    out,
                    columns,
                    row(
                            columns,
                            shown(job),
                            job.text("name"),
                            job.text("userName"),
                            job.text("partition"),
                            isOver(job) ? "COMPLETING" : state(job),
                            pending ? "" : clock(now - job.number("startTime")),
                            Long.toString(job.number("cpus")),
                            pending ? job.text("reason") : job.text("nodes")));
        }
        if (shown.size() > room) {
            line(out, columns, "… and " + (shown.size() - room) + " more");
        }
        return out.toString();
    }

    /** Totals of jobs, CPUs and nodes. */
    private void head(StringBuilder out, int columns) {
        long cpus = nodes.values().stream().mapToLong(n -> n.number("cpus")).sum();
        long busy = nodes.values().stream()
                .mapToLong(n -> n.number("cpusAllocated"))
                .sum();
        Map<String, Integer> states = new TreeMap<>();
        nodes.values().forEach(n -> states.merge(nodeState(n).toLowerCase(java.util.Locale.ROOT), 1, Integer::sum));
        long running = jobs.values().stream()
                .filter(j -> j.text("state").equals("RUNNING"))
                .count();
        long waiting = jobs.values().stream()
                .filter(j -> j.text("state").equals("PENDING"))
                .count();
        StringBuilder counts = new StringBuilder();
        states.forEach((state, n) -> counts.append(counts.isEmpty() ? "" : ", ")
                .append(n)
                .append(' ')
                .append(state));
        String hint = context.host().isTty(1) ? "  (q ends)" : "";
        line(
                out,
                columns,
                String.join(",", context.host().clusters()) + "  " + time() + "  " + running + " running, " + waiting
                        + " waiting" + (isAway ? "  " + AWAY : hint));
        line(out, columns, "CPUs  " + gauge(busy, cpus) + " " + busy + " of " + cpus);
        line(out, columns, "Nodes " + counts);
        line(out, columns, "");
    }

    /** Columns by the terminal's width: the last one has room on 80 columns too. */
    private static String row(int columns, String... cells) {
        int[] widths = columns < WIDE ? new int[] {10, 10, 8, 9, 10, 10, 5} : new int[] {12, 16, 10, 10, 13, 11, 6};
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            out.append(i < FIRST_NUMBER ? Wrapper.left(cells[i], widths[i]) : Wrapper.right(cells[i], widths[i]))
                    .append(' ');
        }
        return out.append(' ').append(cells[widths.length]).toString();
    }

    private static void line(StringBuilder out, int columns, String text) {
        String safe = safe(text);
        out.append(safe.length() > columns ? safe.substring(0, columns) : safe).append('\n');
    }

    /** A job's name may hold what a terminal takes for an order. */
    private static String safe(String text) {
        return text.replaceAll("\\p{Cntrl}", "?").stripTrailing();
    }

    private static String gauge(long part, long whole) {
        int full = whole == 0 ? 0 : (int) Math.round(30.0 * part / whole);
        return "[" + "#".repeat(full) + "-".repeat(30 - full) + "]";
    }

    private static String clock(long seconds) {
        long s = Math.max(0, seconds);
        return (s >= 86_400 ? s / 86_400 + "-" : "") + Wrapper.pad(s / 3600 % 24) + ":" + Wrapper.pad(s / 60 % 60) + ":"
                + Wrapper.pad(s % 60);
    }
}
