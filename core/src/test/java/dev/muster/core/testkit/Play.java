package dev.muster.core.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.JobMessages.CancelReply;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.StepDesc;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A play in lines: what is asked of the core or reported to it, and after an arrow how the job (or node) then stands.
 *
 * <pre>
 *   submit kind=BATCH                 -> 1 PENDING
 *   schedule                          -> 1 RUNNING n1
 *   exited 1 batch 3:0                -> 1 FAILED+COMPLETING NonZeroExitCode 3:0
 *   done 1 n1                         -> 1 FAILED NonZeroExitCode 3:0
 * </pre>
 *
 * A line without an arrow is only done. {@code a -> b; c} looks at several. A refused command shows its sentence.
 */
public final class Play {
    private final Cluster cluster;
    private final List<Entry> entries = new ArrayList<>();
    private String said = "";

    public Play(Cluster cluster) {
        this.cluster = cluster;
        cluster.record(entries::add);
    }

    public static void play(String lines) {
        new Play(new Cluster(
                        "n[1-2] cpus=2 mem=1000",
                        "p nodes=n[1-2] default=yes defmempercpu=10",
                        "requeueJobs=true returnToService=1"))
                .lines(lines);
    }

    public List<Entry> entries() {
        return entries;
    }

    public void lines(String lines) {
        for (String line : lines.strip().split("\n")) {
            String[] sides = line.strip().split("->", 2);
            said = "";
            perform(sides[0].strip());
            for (String expected : sides.length > 1 ? sides[1].split(";") : new String[0]) {
                assertThat(shown(expected.strip())).as(line.strip()).isEqualTo(expected.strip());
            }
        }
    }

    /** Returns when the job was given its nodes, in seconds. */
    private long firstStart(int id) {
        return entries.stream()
                .filter(e -> e.changes().stream()
                        .anyMatch(c -> c instanceof dev.muster.core.state.Change.JobStarted s && s.jobId() == id))
                .mapToLong(e -> e.timeMs() / 1000)
                .max()
                .orElse(0);
    }

    /** Shows how things stand: of the job or node that the expectation begins with, or what the last command said. */
    private String shown(String expected) {
        String subject = expected.split(" ")[0];
        if (subject.equals("says")) {
            return ("says " + said).strip();
        }
        if (subject.equals("ending")) {
            String[] of = expected.split(" ")[1].split("\\.");
            return ("ending " + expected.split(" ")[1] + " "
                            + cluster.state()
                                    .jobs()
                                    .at(Integer.parseInt(of[0]))
                                    .step(stepId(of[1]))
                                    .map(Step::ending)
                                    .orElse(""))
                    .strip();
        }
        if (subject.equals("started")) {
            int id = Integer.parseInt(expected.split(" ")[1]);
            return "started " + id + " " + (cluster.state().jobs().at(id).run().startTime() - firstStart(id));
        }
        if (subject.equals("steps")) {
            int id = Integer.parseInt(expected.split(" ")[1]);
            List<String> steps = cluster.state().jobs().at(id).run().steps().stream()
                    .map(s -> s.id() == Step.BATCH
                            ? "batch"
                            : s.id() == Step.EXTERN ? "extern" : Integer.toString(s.id()))
                    .sorted()
                    .toList();
            return ("steps " + id + " " + String.join(" ", steps)).strip();
        }
        if (subject.equals("derived")) {
            int id = Integer.parseInt(expected.split(" ")[1]);
            return "derived " + id + " " + cluster.state().jobs().at(id).run().derivedExit();
        }
        if (subject.equals("ages")) {
            Job job = cluster.state().jobs().at(Integer.parseInt(expected.split(" ")[1]));
            return "ages " + job.id()
                    + java.util.stream.LongStream.of(
                                    job.submitTime(),
                                    job.eligibleTime(),
                                    dev.muster.core.limits.Priorities.accrueTime(cluster.state(), job))
                            .mapToObj(t -> t == 0 ? " -" : " " + (cluster.seconds() - t))
                            .collect(java.util.stream.Collectors.joining());
        }
        if (subject.equals("members")) {
            return "members "
                    + String.join(
                                    ",",
                                    cluster.state()
                                            .partitions()
                                            .at(expected.split(" ")[1].split("=")[0])
                                            .nodes())
                            .transform(n -> expected.split(" ")[1].split("=")[0] + "=" + n);
        }
        if (subject.matches("[0-9]+(_[0-9]+)?")) {
            int bar = subject.indexOf('_');
            return cluster.state()
                    .job(
                            Integer.parseInt(bar < 0 ? subject : subject.substring(0, bar)),
                            bar < 0 ? -1 : Integer.parseInt(subject.substring(bar + 1)))
                    .map(j -> subject + describe(j))
                    .orElse(subject + " unknown");
        }
        if (cluster.state().reservations().has(subject)) {
            return subject + describe(cluster.state().reservations().at(subject));
        }
        return cluster.state()
                .nodes()
                .find(subject)
                .map(n -> subject + describe(n))
                .orElse(subject + " unknown");
    }

    public static String describe(Job job) {
        StringBuilder out = new StringBuilder(" ").append(job.state());
        for (JobFlag flag : JobFlag.values()) {
            out.append(job.has(flag) ? "+" + flag : "");
        }
        String reason = job.reason().word();
        out.append(reason.equals("None") ? "" : " " + reason);
        out.append(job.reasonText().isEmpty() ? "" : " '" + job.reasonText() + "'");
        ExitStatus exit = job.run().exit();
        out.append(exit.isSuccess() ? "" : " " + exit.code() + ":" + exit.signal());
        if (job.state().isActive()) {
            out.append(' ')
                    .append(job.run().allocation().hostList())
                    .append(job.run().allocation().backfilled() ? " ahead" : "");
        }
        for (Step s : job.run().steps()) {
            out.append(s.isAsked() ? " step" + s.name() + "=" + s.state() : "");
        }
        out.append(job.isArrayRecord() ? " [" + job.array().pending().compact() + "]" : "");
        return out.append(job.restarts() > 0 ? " restarts=" + job.restarts() : "")
                .toString();
    }

    private String describe(Reservation r) {
        StringBuilder out = new StringBuilder(r.isActive(cluster.seconds()) ? " active" : " waits");
        for (String n : r.nodes()) {
            out.append(' ')
                    .append(n)
                    .append(r.units().isEmpty() ? "" : ":" + r.units().get(n).compact());
        }
        for (ReservationFlag flag : ReservationFlag.values()) {
            out.append(r.has(flag) ? " " + flag : "");
        }
        return out.toString();
    }

    private static String describe(Node node) {
        StringBuilder out = new StringBuilder(" ").append(node.jobs().isEmpty() ? "free" : "holds " + node.jobs());
        for (Node.Flag flag : Node.Flag.values()) {
            out.append(node.has(flag) ? "+" + flag : "");
        }
        out.append(node.powerAction().isEmpty() ? "" : " by " + node.powerAction());
        return out.append(node.reason().isEmpty() ? "" : " '" + node.reason() + "'")
                .toString();
    }

    private static Command changed(String reservation, Map<String, String> changes) {
        return new Command.UpdateReservation(0, "root", List.of(), reservation, changes, Map.of());
    }

    private void perform(String line) {
        String[] w = line.split(" +");
        String rest = line.contains(" ") ? line.substring(line.indexOf(' ') + 1) : "";
        switch (w[0]) {
            case "reserve" ->
                say(cluster.apply(
                        new Command.CreateReservation(0, w[1], cluster.moments(changes(w, 2)), Map.of("staff", 50))));
            case "rereserve" -> say(cluster.apply(changed(w[1], cluster.moments(changes(w, 2)))));
            case "unreserve" ->
                say(cluster.apply(new Command.DeleteReservation(
                        w.length > 2 ? Cluster.USER : 0, w.length > 2 ? w[2] : "root", List.of(), w[1])));
            case "gres" ->
                said = String.join(
                        " ",
                        cluster.state().jobs().at(Integer.parseInt(w[1])).run().allocation().nodes().stream()
                                .map(s -> s.node()
                                        + s.gres().entrySet().stream()
                                                .map(g -> " " + g.getKey() + "="
                                                        + g.getValue().compact())
                                                .toList()
                                                .getFirst())
                                .toList());
            case "failed" ->
                said = cluster.state().jobs().at(Integer.parseInt(w[1])).failedNode();
            case "why" -> said = cluster.shown(Integer.parseInt(w[1]));
            case "submit" -> say(cluster.submit(rest));
            case "admin" ->
                say(cluster.apply(new Command.SubmitJob(
                        0,
                        Cluster.desc(rest.substring("submit ".length()) + " owner.uid=0"),
                        "",
                        Bytes.EMPTY,
                        Bytes.EMPTY,
                        false,
                        false)));
            case "immediately" ->
                say(cluster.apply(new Command.SubmitJob(
                        Cluster.USER, Cluster.desc(rest), "", Bytes.EMPTY, Bytes.EMPTY, true, false)));
            case "het" ->
                say(cluster.apply(new Command.SubmitHet(
                        Cluster.USER,
                        java.util.Arrays.stream(rest.split(" : "))
                                .map(part -> (Command.SubmitJob) submission("", part))
                                .toList(),
                        "",
                        false,
                        false)));
            case "hetstep" ->
                say(cluster.apply(new Command.CreateHetStep(
                        Cluster.USER,
                        "",
                        java.util.Arrays.stream(w[1].split(","))
                                .map(id -> new Command.CreateStep(
                                        Cluster.USER,
                                        "",
                                        Integer.parseInt(id),
                                        step(Integer.parseInt(w[2])),
                                        Bytes.EMPTY,
                                        "io"))
                                .toList())));
            case "again" -> say(cluster.apply(submission(w[1], rest.substring(w[1].length()))));
            case "schedule" -> cluster.schedule();
            case "settle" -> cluster.settle();
            case "pass" -> cluster.pass(Long.parseLong(w[1]));
            case "cancel", "signal", "stop", "cancelpart", "killscript" -> say(cluster.apply(cancellation(w)));
            case "once" ->
                say(cluster.apply(new Command.Once(
                        w[1],
                        Cluster.USER,
                        w[2].equals("requeue")
                                ? new Command.RequeueJobs(Cluster.USER, refs(w[3]), false, false)
                                : new Command.UpdateJob(Cluster.USER, refs(w[3]).getFirst(), changes(w, 4)))));
            case "hold" -> say(cluster.apply(new Command.HoldJobs(uid(w), refs(w[1]), true, false)));
            case "release" -> say(cluster.apply(new Command.HoldJobs(uid(w), refs(w[1]), false, false)));
            case "notify" ->
                say(cluster.apply(new Command.NotifyJob(uid(w), refs(w[1]).getFirst(), w[2])));
            case "trigger" ->
                say(cluster.apply(new Command.SetTrigger(
                        uid(w),
                        "u",
                        List.of(w[1].split(",")),
                        Integer.parseInt(w[2]),
                        w[3].equals("*") ? "" : w[3],
                        Integer.parseInt(w[4]),
                        "/p",
                        w[5].equals("perm"))));
            case "untrigger" -> say(cluster.apply(new Command.ClearTriggers(uid(w), Integer.parseInt(w[1]), 0, -1)));
            case "requeue" -> say(cluster.apply(new Command.RequeueJobs(uid(w), refs(w[1]), false, false)));
            case "top" -> say(cluster.apply(new Command.TopJobs(uid(w), refs(w[1]))));
            case "incomplete" -> say(cluster.apply(new Command.RequeueJobs(uid(w), refs(w[1]), false, false, true)));
            case "requeuehold" -> say(cluster.apply(new Command.RequeueJobs(uid(w), refs(w[1]), true, false)));
            case "specialexit" -> say(cluster.apply(new Command.RequeueJobs(uid(w), refs(w[1]), false, true)));
            case "suspend" -> say(cluster.apply(new Command.SuspendJobs(uid(w), refs(w[1]), true)));
            case "resume" -> say(cluster.apply(new Command.SuspendJobs(uid(w), refs(w[1]), false)));
            case "complete" ->
                say(cluster.apply(new Command.CompleteAllocation(Cluster.USER, Integer.parseInt(w[1]), status(w[2]))));
            case "step" ->
                say(cluster.apply(new Command.CreateStep(
                        Cluster.USER,
                        w.length > 3 ? w[3] : "",
                        Integer.parseInt(w[1]),
                        step(Integer.parseInt(w[2])),
                        Bytes.EMPTY,
                        "io")));
            case "shell" ->
                say(cluster.apply(
                        created(w, new Json.Obj().put("interactive", true).put("overlap", true))));
            case "async" -> say(cluster.apply(created(w, new Json.Obj().put("async", true))));
            case "update" ->
                say(cluster.apply(new Command.UpdateJob(
                        w[w.length - 1].equals("root") ? 0 : Cluster.USER,
                        refs(w[1]).getFirst(),
                        changes(w, 2))));
            case "node" -> say(cluster.apply(new Command.UpdateNode(0, Cluster.names(w[1]), changes(w, 2))));
            case "setting" ->
                say(cluster.apply(
                        new Command.ChangeSetting(w[1].equals("bob") ? 1001 : 0, w[2], w.length > 3 ? w[3] : "")));
            case "partition" -> say(cluster.apply(new Command.UpdatePartition(0, w[1], changes(w, 2))));
            case "delete" -> say(cluster.apply(new Command.DeletePartition(0, w[1])));
            case "reboot" ->
                say(cluster.apply(new Command.RebootNodes(
                        admin(w),
                        Cluster.names(w[1]),
                        w.length > 2 && w[2].equals("asap"),
                        w.length > 3 && !w[3].startsWith("action=") ? w[3] : "",
                        "",
                        w.length > 2 && w[2].equals("force"),
                        w.length > 3 && w[3].startsWith("action=") ? w[3].substring(7) : "")));
            case "create" -> say(cluster.apply(new Command.AddNodes(admin(w), cluster.specs(rest), false)));
            case "introduce" -> say(cluster.apply(new Command.AddNodes(0, cluster.specs(rest), true)));
            case "remove" -> say(cluster.apply(new Command.RemoveNodes(admin(w), Cluster.names(w[1]))));
            case "assign" ->
                say(cluster.apply(new Command.AssignNode(
                        0,
                        w[1],
                        w[1],
                        7,
                        w.length > 3 ? w[3] : "",
                        new NodeMessages.Hardware(
                                Integer.parseInt(w[2]), 1, 1, Integer.parseInt(w[2]), 1, 1000, 0, "", "", "", 0))));
            case "reconfigure" -> cluster.reconfigure();
            case "skip" -> say(cluster.apply(new Command.SkipReservedIds()));
            case "ahead" ->
                say(cluster.apply(new Command.RegisterNode(
                        cluster.registration(w[1], w[2], List.of()).knowing(Integer.parseInt(w[3])))));
            case "lost" -> say(cluster.apply(new Command.NodeLost(w[1])));
            case "silent" -> say(cluster.apply(new Command.NodeResponding(w[1], false)));
            case "register" ->
                say(cluster.apply(new Command.RegisterNode(cluster.registration(w[1], w[2], attempts(w, 3)))));
            case "features" ->
                say(cluster.apply(new Command.RegisterNode(cluster.registration(w[1], w[2], List.of())
                        .with(List.of(w[3].split(",")), w.length > 4 ? List.of(w[4].split(",")) : List.of()))));
            default -> report(w);
        }
    }

    /** {@code cancelpart} ends waiting components alone, as scancel --ctld does; {@code killscript} is scancel -b. */
    private static Command cancellation(String[] w) {
        List<Command.JobRef> jobs = refs(w[1]);
        return switch (w[0]) {
            case "stop" -> new Command.CancelJobs(uid(w), jobs, 19, false, true);
            case "killscript" -> new Command.CancelJobs(uid(w), jobs, 0, true, false);
            case "cancelpart" ->
                new Command.Once(
                        "part" + w[1],
                        uid(w),
                        new Command.CancelJobs(
                                uid(w), jobs, 0, false, false, false, false, "", java.util.Set.of(), true));
            default ->
                new Command.CancelJobs(uid(w), jobs, w[0].equals("signal") ? Integer.parseInt(w[2]) : 0, false, false);
        };
    }

    private static Command submission(String requestId, String words) {
        return new Command.SubmitJob(
                Cluster.USER, Cluster.desc(words), requestId, Bytes.EMPTY, Bytes.EMPTY, false, false);
    }

    /**
     * {@code launched JOB STEP}, {@code exited JOB STEP CODE:SIGNAL [REASON]}, {@code done JOB NODE [ERROR]},
     * {@code prolog JOB NODE [ERROR]}.
     */
    private void report(String[] w) {
        int id = Integer.parseInt(w[1]);
        Job job = cluster.state().jobs().at(id);
        List<String> nodes = job.run().allocation().nodeNames();
        switch (w[0]) {
            case "launched" ->
                tell(nodes.getFirst(), new NodeMessages.StepLaunched(1, id, job.attempt(), stepId(w[2]), List.of(1)));
            case "failed" ->
                tell(
                        nodes.getFirst(),
                        new NodeMessages.LaunchFailed(1, id, job.attempt(), stepId(w[2]), "no such", true, false));
            case "unfit" ->
                tell(
                        nodes.getFirst(),
                        new NodeMessages.LaunchFailed(
                                1, id, job.attempt(), stepId(w[2]), "No space left on device", true, true));
            case "exited" -> {
                Step s = job.step(stepId(w[2])).orElseThrow();
                for (Step.Part part : s.nodes()) {
                    Map<String, ExitStatus> exits = new TreeMap<>();
                    part.tasks().forEach(t -> exits.put(Integer.toString(t), status(w[3])));
                    tell(
                            part.node(),
                            new NodeMessages.StepExited(
                                    1,
                                    id,
                                    job.attempt(),
                                    s.id(),
                                    exits,
                                    w.length > 4 ? w[4] : "",
                                    0,
                                    new NodeMessages.Usage(1, 1, 1, 1, 0, 0, 0)));
                }
            }
            case "stale" ->
                tell(
                        nodes.getFirst(),
                        new NodeMessages.StepExited(
                                1,
                                id,
                                job.attempt() - 1,
                                Step.BATCH,
                                Map.of("0", ExitStatus.NONE),
                                "",
                                0,
                                new NodeMessages.Usage(1, 1, 1, 1, 0, 0, 0)));
            case "aborted" -> tell(nodes.getFirst(), new NodeMessages.StepAborted(1, id, job.attempt(), stepId(w[2])));
            case "done" -> tell(w[2], new NodeMessages.JobDone(1, id, job.attempt(), w.length > 3 ? w[3] : ""));
            case "ctldprolog" -> cluster.apply(new Command.ControllerProlog(id, job.attempt(), w[2].equals("ok")));
            case "prolog" -> tell(w[2], new NodeMessages.PrologDone(1, id, job.attempt(), w.length > 3 ? w[3] : ""));
            default -> throw new IllegalArgumentException(w[0]);
        }
    }

    private void tell(String node, NodeMessages.ToController message) {
        say(cluster.apply(new Command.Report(node, message)));
    }

    private void say(Decision decision) {
        said = switch (decision) {
            case Decision.Rejected r -> r.sentence();
            case Decision.Accepted a
            when a.reply() instanceof CancelReply reply && !reply.errors().isEmpty() ->
                reply.errors().getFirst().error();
            case Decision.Accepted a
            when a.reply() instanceof CancelReply reply
                    && reply.done().isEmpty()
                    && a.direct().isEmpty() -> "";
            case Decision.Accepted a ->
                a.direct().isEmpty()
                        ? String.valueOf(a.reply())
                        : String.join(
                                " ",
                                a.direct().stream()
                                        .map(d -> d.message().getClass().getSimpleName() + "@" + d.node())
                                        .toList());
        };
    }

    private static int uid(String[] w) {
        String last = w[w.length - 1];
        return last.startsWith("uid=") ? Integer.parseInt(last.substring(4)) : last.equals("root") ? 0 : Cluster.USER;
    }

    private static int admin(String[] w) {
        return w[w.length - 1].startsWith("uid=") ? uid(w) : 0;
    }

    private static List<Command.JobRef> refs(String text) {
        String[] dot = text.split("\\.");
        String[] bar = dot[0].split("_");
        return List.of(new Command.JobRef(
                text,
                Integer.parseInt(bar[0]),
                bar.length > 1 ? Integer.parseInt(bar[1]) : -1,
                dot.length > 1 ? stepId(dot[1]) : Command.JobRef.NO_STEP));
    }

    private static int stepId(String word) {
        return switch (word.toLowerCase(Locale.ROOT)) {
            case "batch" -> Step.BATCH;
            case "extern" -> Step.EXTERN;
            default -> StepId.parse(word).orElseThrow();
        };
    }

    private static ExitStatus status(String text) {
        String[] parts = text.split(":");
        return new ExitStatus(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), false);
    }

    private static Command created(String[] w, Json.Obj desc) {
        desc.put("request", new Json.Obj().put("tasks", Long.valueOf(w[2])));
        return new Command.CreateStep(
                Cluster.USER, "", Integer.parseInt(w[1]), Codec.bind(desc, StepDesc.class), Bytes.EMPTY, "io");
    }

    private static StepDesc step(int tasks) {
        return Codec.bind(new Json.Obj().put("request", new Json.Obj().put("tasks", (long) tasks)), StepDesc.class);
    }

    private static Map<String, String> changes(String[] w, int from) {
        Map<String, String> out = new TreeMap<>();
        for (int i = from; i < w.length && !w[i].equals("root"); i++) {
            int equals = w[i].indexOf('=');
            out.put(w[i].substring(0, equals).toLowerCase(Locale.ROOT), w[i].substring(equals + 1));
        }
        return out;
    }

    /** {@code JOB:ATTEMPT:BOOT}: what a node says that it still has. */
    private static List<NodeMessages.Attempt> attempts(String[] w, int from) {
        List<NodeMessages.Attempt> out = new ArrayList<>();
        for (int i = from; i < w.length; i++) {
            String[] part = w[i].split(":");
            out.add(new NodeMessages.Attempt(
                    Integer.parseInt(part[0]), Integer.parseInt(part[1]), part[2], List.of(), false));
        }
        return out;
    }
}
