package dev.muster.node.job;

import static java.util.Objects.requireNonNull;

import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.StepAllocator;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages;
import dev.muster.model.api.SlurmdMessages.Done;
import dev.muster.model.api.SlurmdMessages.DropStep;
import dev.muster.model.api.SlurmdMessages.JobStepsReply;
import dev.muster.model.api.SlurmdMessages.QueryJobSteps;
import dev.muster.model.api.SlurmdMessages.SignalStep;
import dev.muster.model.api.SlurmdMessages.TakeStep;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages.Charter;
import dev.muster.model.node.NodeMessages.EndStep;
import dev.muster.model.node.NodeMessages.Signal;
import dev.muster.model.node.NodeMessages.StepManaged;
import dev.muster.node.config.Settings;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.StepManagerFile;
import dev.muster.node.step.NodeJob;
import dev.muster.node.step.NodeStep;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * New steps of jobs with a step manager while slurmctld is away. The job's first node decides, by slurmctld's rules and
 * with what that has told of the job; it asks the other nodes what runs there, and none of them may hear of slurmctld.
 * Each node keeps what it has begun so until slurmctld knows.
 */
public final class StepManager {
    private static final String FILE = "managed.";
    private static final int WAIT_S = 10;
    private static final int TOKEN_BYTES = 16;

    /** Another node's slurmd. */
    public interface Peers {
        /** @return the body of its answer. @throws IOException with the reason where it refuses */
        byte[] post(String node, String message, byte[] body) throws IOException;
    }

    /** @param launching numbers of steps that not all nodes have been told of yet */
    private record Held(int jobId, int attempt, StepAllocator.Job job, Set<Integer> launching) {}

    private final Settings settings;
    private final DaemonLog log;
    private final EventLoop loop;
    private final Jobs jobs;
    private final UnacknowledgedReports reports;
    private final JobSpool spool;
    private final Peers peers;
    private final String bootId;
    private final BooleanSupplier connected;
    private final SecureRandom random = new SecureRandom();
    /** Jobs by number and attempt. */
    private final Map<String, Held> held = new ConcurrentHashMap<>();

    /** @param connected whether slurmctld speaks to this node */
    public StepManager(
            Settings settings,
            DaemonLog log,
            EventLoop loop,
            Jobs jobs,
            UnacknowledgedReports reports,
            JobSpool spool,
            Peers peers,
            String bootId,
            BooleanSupplier connected) {
        this.settings = settings;
        this.log = log;
        this.loop = loop;
        this.jobs = jobs;
        this.reports = reports;
        this.spool = spool;
        this.peers = peers;
        this.bootId = bootId;
        this.connected = connected;
    }

    // ---- what slurmctld tells, on the node's thread

    public void told(Charter m) {
        held.values()
                .removeIf(h ->
                        jobs.job(h.jobId, h.attempt).filter(j -> !j.isEnding()).isEmpty());
        String key = m.jobId() + "." + m.attempt();
        StepManagerFile file = new StepManagerFile(spool.jobDirectory(m.jobId(), m.attempt()));
        try {
            Held known = held.get(key);
            if (m.whole()) {
                file.begin(List.of(m.entry()));
                opened(m.jobId(), m.attempt(), file, List.of(m.entry()));
            } else if (known != null) {
                synchronized (known) {
                    known.job.follow(m.entry());
                    file.add(m.entry());
                }
            }
        } catch (RuntimeException e) {
            lost(key, file, e);
        }
    }

    private void opened(int jobId, int attempt, StepManagerFile file, List<Bytes> entries) {
        ServiceLoader.load(StepAllocator.class).findFirst().ifPresent(desk -> {
            StepAllocator.Job job = desk.open(entries.getFirst(), file::add);
            entries.subList(1, entries.size()).forEach(job::follow);
            held.put(jobId + "." + attempt, new Held(jobId, attempt, job, new HashSet<>()));
        });
    }

    private void lost(String key, StepManagerFile file, RuntimeException why) {
        log.error("steps of job " + key + " wait for slurmctld when it is away: " + why);
        held.remove(key);
        file.remove();
    }

    // ---- what srun asks

    public Reply answer(Caller caller, String message, byte[] body) {
        return switch (message) {
            case "AwaitAllocation" -> {
                int jobId =
                        Codec.decode(body, JobMessages.AwaitAllocation.class).jobId();
                yield answered(jobId, h -> reply(h.job.allocation(caller.uid(), jobId)));
            }
            case "CreateStep" -> {
                JobMessages.CreateStep m = Codec.decode(body, JobMessages.CreateStep.class);
                yield answered(m.jobId(), h -> create(caller, h, m.requestId(), List.of(m), false));
            }
            case "CreateHetStep" -> {
                JobMessages.CreateHetStep m = Codec.decode(body, JobMessages.CreateHetStep.class);
                yield m.parts().isEmpty()
                        ? Reply.error(SlurmErrno.NOT_HET_JOB)
                        : answered(
                                m.parts().getFirst().jobId(), h -> create(caller, h, m.requestId(), m.parts(), true));
            }
            case "SignalStep" -> signal(caller, Codec.decode(body, SignalStep.class));
            default -> ofPeer(message, body);
        };
    }

    private interface Work {
        Reply of(Held h);
    }

    /**
     * A slurmd that has just been started again may still be reading what the one before it knew: that is waited for.
     */
    private Reply answered(int jobId, Work work) {
        try {
            loop.ask(() -> true);
        } catch (IOException e) {
            return Reply.error(SlurmErrno.CTLD_CONNECT);
        }
        Optional<Held> found =
                held.values().stream().filter(h -> h.job.jobs().contains(jobId)).findFirst();
        if (connected.getAsBoolean() || found.isEmpty()) {
            return Reply.error(SlurmErrno.CTLD_CONNECT);
        }
        return work.of(found.get());
    }

    /** Signals a step for its owner, on each of its nodes. */
    private Reply signal(Caller caller, SignalStep m) {
        if (connected.getAsBoolean()) {
            return Reply.error(SlurmErrno.CTLD_CONNECT);
        }
        try {
            return loop.ask(() -> {
                Optional<NodeJob> job = jobs.forRelay(m.jobId(), 0);
                boolean may = caller.uid() == 0 || caller.uid() == settings.slurmUserId();
                if (job.isPresent()
                        && !may
                        && caller.uid() != job.get().share.owner().uid()) {
                    return Reply.error(SlurmErrno.ACCESS_DENIED);
                }
                job.ifPresent(j -> signal(j, m));
                return Reply.of(new Done());
            });
        } catch (IOException e) {
            return Reply.error(SlurmErrno.CTLD_CONNECT);
        }
    }

    private void signal(NodeJob job, SignalStep m) {
        if (m.signal() == Os.SIGNAL_KILL) {
            jobs.endStep(new EndStep(m.jobId(), job.attempt(), m.stepId(), 0, "Cancelled"));
        } else {
            jobs.signal(new Signal(m.jobId(), job.attempt(), m.stepId(), m.signal(), false, false));
        }
    }

    private static Reply reply(StepAllocator.Answer<?> answer) {
        return switch (answer) {
            case StepAllocator.Given<?> g -> Reply.of(g.value());
            case StepAllocator.Refused<?> r -> Reply.error(400, r.errno(), r.sentence());
        };
    }

    private Reply create(Caller caller, Held h, String requestId, List<JobMessages.CreateStep> parts, boolean het) {
        Map<Target, Set<Integer>> before = new TreeMap<>();
        synchronized (h) {
            if (!h.job.jobs()
                    .containsAll(
                            parts.stream().map(JobMessages.CreateStep::jobId).toList())) {
                return Reply.error(SlurmErrno.NOT_HET_JOB);
            }
            for (int jobId : h.job.jobs()) {
                for (String node : h.job.nodes(jobId)) {
                    Set<Integer> settled = new HashSet<>(h.job.open(jobId, node));
                    settled.removeIf(id -> h.launching.contains(StepId.number(id)));
                    before.put(new Target(jobId, node), settled);
                }
            }
        }
        Map<Target, byte[]> questions = new TreeMap<>();
        before.keySet()
                .forEach(t -> questions.put(t, Codec.encode(new QueryJobSteps(t.jobId, h.job.attempt(t.jobId)))));
        Map<Target, byte[]> answers = each(questions, "QueryJobSteps");
        if (answers.size() < before.size()) {
            return Reply.error(SlurmErrno.CTLD_CONNECT);
        }
        StepAllocator.Answer<StepAllocator.Begun> answer;
        synchronized (h) {
            for (Map.Entry<Target, byte[]> one : answers.entrySet()) {
                JobStepsReply reply = Codec.decode(one.getValue(), JobStepsReply.class);
                if (reply.connected() || reply.highest() >= h.job.nextStep()) {
                    return Reply.error(SlurmErrno.CTLD_CONNECT);
                }
                Target t = one.getKey();
                before.getOrDefault(t, Set.of()).stream()
                        .filter(id -> !reply.live().contains(id)
                                && h.job.open(t.jobId, t.node).contains(id))
                        .forEach(id -> h.job.over(t.jobId, id, t.node, System.currentTimeMillis()));
            }
            try {
                answer = h.job.create(caller.uid(), requestId, parts, token(), System.currentTimeMillis());
            } catch (UncheckedIOException e) {
                log.error("a step of job " + h.jobId + " cannot be kept: "
                        + ErrorSentence.reason(requireNonNull(e.getCause())));
                return Reply.error(SlurmErrno.CTLD_CONNECT);
            }
            if (answer instanceof StepAllocator.Given<StepAllocator.Begun> g) {
                h.launching.add(g.value().stepId());
            }
        }
        return answer instanceof StepAllocator.Given<StepAllocator.Begun> g ? launch(h, g.value(), het) : reply(answer);
    }

    private Reply launch(Held h, StepAllocator.Begun begun, boolean het) {
        int stepId = begun.stepId();
        Map<Target, byte[]> orders = new TreeMap<>();
        Map<Target, Integer> ids = new TreeMap<>();
        begun.pieces()
                .forEach(p -> p.launches().forEach(l -> {
                    Target to = new Target(p.managed().jobId(), l.node());
                    orders.put(to, Codec.encode(new TakeStep(l.launch(), p.managed())));
                    ids.put(to, l.launch().stepId());
                }));
        Set<Target> taken = each(orders, "TakeStep").keySet();
        Map<Target, Integer> missed = new TreeMap<>(ids);
        missed.keySet().removeAll(taken);
        log.info("slurmctld is away: StepId=" + h.jobId + "." + stepId + " begins on "
                + taken.stream().map(Target::node).distinct().toList());
        synchronized (h) {
            h.launching.remove(stepId);
            missed.forEach((t, id) -> h.job.over(t.jobId, id, t.node, System.currentTimeMillis()));
        }
        if (missed.isEmpty()) {
            List<JobMessages.StepStarted> started =
                    begun.pieces().stream().map(StepAllocator.Piece::started).toList();
            return het ? Reply.of(new JobMessages.HetStepStarted(started)) : Reply.of(started.getFirst());
        }
        Map<Target, byte[]> drops = new TreeMap<>();
        begun.pieces().forEach(p -> {
            StepManaged m = p.managed();
            int id = p.started().stepId();
            List<String> nodes = missed.entrySet().stream()
                    .filter(e -> e.getKey().jobId == m.jobId() && e.getValue() == id)
                    .map(e -> e.getKey().node)
                    .toList();
            byte[] drop = Codec.encode(new DropStep(
                    id, new StepManaged(0, m.jobId(), m.attempt(), m.uid(), m.requestId(), m.step(), nodes)));
            p.launches().forEach(l -> drops.put(new Target(m.jobId(), l.node()), drop));
        });
        drops.keySet().retainAll(taken);
        each(drops, "DropStep");
        return Reply.error(SlurmErrno.NODE_NOT_AVAIL);
    }

    private String token() {
        byte[] bytes = new byte[TOKEN_BYTES];
        random.nextBytes(bytes);
        return dev.muster.transport.Hash.hex(bytes);
    }

    /** A component's share of a node. */
    private record Target(int jobId, String node) implements Comparable<Target> {
        @Override
        public int compareTo(Target o) {
            int byJob = Integer.compare(jobId, o.jobId);
            return byJob != 0 ? byJob : node.compareTo(o.node);
        }
    }

    /**
     * Asks all at once.
     *
     * @return the answers by target; a target without one is missing
     */
    private Map<Target, byte[]> each(Map<Target, byte[]> bodies, String message) {
        Map<Target, CompletableFuture<byte[]>> asked = new TreeMap<>();
        bodies.forEach((t, body) -> {
            CompletableFuture<byte[]> answer = new CompletableFuture<>();
            asked.put(t, answer);
            EventLoop.aside(() -> {
                try {
                    answer.complete(
                            t.node.equals(settings.nodeName())
                                    ? obeyLocally(message, body)
                                    : peers.post(t.node, message, body));
                } catch (IOException | RuntimeException e) {
                    answer.completeExceptionally(e);
                }
            });
        });
        Map<Target, byte[]> out = new TreeMap<>();
        asked.forEach((t, answer) -> {
            try {
                out.put(t, answer.get(WAIT_S, TimeUnit.SECONDS));
            } catch (ExecutionException | TimeoutException e) {
                log.error(message + " of node " + t.node + ": "
                        + (e.getCause() == null ? "it does not answer" : ErrorSentence.of(e.getCause())));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return out;
    }

    private byte[] obeyLocally(String message, byte[] body) throws IOException {
        return Codec.encode(obey(message, body));
    }

    // ---- what the job's first node asks the others, and itself

    private Reply ofPeer(String message, byte[] body) {
        try {
            return Reply.of(obey(message, body));
        } catch (IOException e) {
            return Reply.error(500, SlurmErrno.ERROR, ErrorSentence.of(e));
        }
    }

    private Object obey(String message, byte[] body) throws IOException {
        return switch (message) {
            case "QueryJobSteps" -> {
                QueryJobSteps m = Codec.decode(body, QueryJobSteps.class);
                yield loop.ask(() -> steps(m));
            }
            case "TakeStep" -> {
                TakeStep m = Codec.decode(body, TakeStep.class);
                String error = loop.ask(() -> take(m));
                if (!error.isEmpty()) {
                    throw new IOException(error);
                }
                yield new Done();
            }
            case "DropStep" -> {
                DropStep m = Codec.decode(body, DropStep.class);
                yield loop.ask(() -> drop(m));
            }
            default -> throw new IOException("slurmd does not know the message " + message);
        };
    }

    private JobStepsReply steps(QueryJobSteps m) {
        Optional<NodeJob> job = jobs.job(m.jobId(), m.attempt());
        List<Integer> live = new ArrayList<>();
        int highest = -1;
        if (job.isPresent()) {
            job.get().steps.values().stream()
                    .filter(s -> s.phase != NodeStep.Phase.ENDED)
                    .forEach(s -> live.add(s.stepId));
            highest = Math.max(
                    job.get().steps.keySet().stream()
                            .mapToInt(StepId::number)
                            .max()
                            .orElse(-1),
                    job.get().notStarted.keySet().stream()
                            .mapToInt(StepId::number)
                            .max()
                            .orElse(-1));
        }
        return new JobStepsReply(connected.getAsBoolean(), live, highest);
    }

    private String take(TakeStep m) {
        Optional<NodeJob> job = jobs.job(m.managed().jobId(), m.managed().attempt());
        if (job.isEmpty()
                || job.get().isEnding()
                || !job.get().share.bootId().equals(bootId)
                || connected.getAsBoolean()) {
            return "job " + m.managed().jobId() + " cannot begin a step there";
        }
        Path file = spool.jobDirectory(m.managed().jobId(), m.managed().attempt())
                .resolve(FILE + m.launch().stepId());
        try {
            Files.write(file, Codec.encode(m.managed()));
        } catch (IOException e) {
            return ErrorSentence.reason(e);
        }
        report(file, m.managed());
        jobs.launch(m.launch());
        return "";
    }

    private Done drop(DropStep m) {
        StepManaged s = m.managed();
        report(spool.jobDirectory(s.jobId(), s.attempt()).resolve(FILE + m.stepId()), s);
        jobs.endStep(new EndStep(s.jobId(), s.attempt(), m.stepId(), 0, ""));
        return new Done();
    }

    private void report(Path file, StepManaged m) {
        reports.add(m::numbered, () -> {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                log.debug(file + ": " + ErrorSentence.reason(e));
            }
        });
    }

    /** Takes over a job with steps that an earlier slurmd managed. */
    public void adopt(int jobId, int attempt) {
        StepManagerFile file = new StepManagerFile(spool.jobDirectory(jobId, attempt));
        try {
            List<Bytes> entries = file.read();
            if (!entries.isEmpty()) {
                file.begin(entries); // without what was being written when it ended
                opened(jobId, attempt, file, entries);
            }
        } catch (RuntimeException e) {
            lost(jobId + "." + attempt, file, e);
        }
    }

    /** Before anything else of these jobs is reported: slurmctld may not know their steps. */
    public void adopt() throws IOException {
        for (Path directory : spool.jobDirectories()) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, FILE + "*")) {
                for (Path file : files) {
                    report(file, Codec.decode(Files.readAllBytes(file), StepManaged.class));
                }
            } catch (Json.MalformedException e) {
                log.error(directory + ": " + e.getMessage());
            }
        }
    }
}
