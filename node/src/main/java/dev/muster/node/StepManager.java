package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.StepDesk;
import dev.muster.model.Codec;
import dev.muster.model.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages;
import dev.muster.model.api.SlurmdMessages.Done;
import dev.muster.model.api.SlurmdMessages.DropStep;
import dev.muster.model.api.SlurmdMessages.JobStepsReply;
import dev.muster.model.api.SlurmdMessages.QueryJobSteps;
import dev.muster.model.api.SlurmdMessages.SignalStep;
import dev.muster.model.api.SlurmdMessages.TakeStep;
import dev.muster.model.node.NodeMessages.Charter;
import dev.muster.model.node.NodeMessages.EndStep;
import dev.muster.model.node.NodeMessages.Signal;
import dev.muster.model.node.NodeMessages.StepManaged;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
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
import java.util.function.Supplier;

/**
 * New steps of jobs with a step manager while slurmctld is away. The job's first node decides, by slurmctld's rules and with what that has told of
 * the job; it asks the other nodes what runs there, and none of them may hear of slurmctld. Each node keeps what it has begun so until slurmctld
 * knows.
 */
final class StepManager {
    private static final String FILE = "managed.";
    private static final int WAIT_S = 10;
    private static final int TOKEN_BYTES = 16;

    /** Another node's slurmd. */
    interface Peers {
        /** @return the body of its answer. @throws IOException with the reason where it refuses */
        byte[] post(String node, String message, byte[] body) throws IOException;
    }

    /** @param launching numbers of steps that not all nodes have been told of yet */
    private record Held(int jobId, int attempt, StepDesk.Job job, Set<Integer> launching) {}

    private final Settings settings;
    private final DaemonLog log;
    private final Loop loop;
    private final Jobs jobs;
    private final Reports reports;
    private final Spool spool;
    private final Peers peers;
    private final String bootId;
    private final BooleanSupplier connected;
    private final SecureRandom random = new SecureRandom();
    /** By number and attempt. */
    private final Map<String, Held> held = new ConcurrentHashMap<>();

    /** @param connected whether slurmctld speaks to this node */
    StepManager(Settings settings, DaemonLog log, Loop loop, Jobs jobs, Reports reports, Spool spool, Peers peers, String bootId,
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

    void told(Charter m) {
        held.values().removeIf(h -> jobs.job(h.jobId, h.attempt).filter(j -> !j.isEnding()).isEmpty());
        String key = m.jobId() + "." + m.attempt();
        try {
            Held known = held.get(key);
            if (m.whole()) {
                Optional<StepDesk> desk = ServiceLoader.load(StepDesk.class).findFirst();
                desk.ifPresent(d -> held.put(key, new Held(m.jobId(), m.attempt(), d.open(m.entry()), new HashSet<>())));
            } else if (known != null) {
                synchronized (known) {
                    known.job.follow(m.entry());
                }
            }
        } catch (RuntimeException e) {
            log.error("steps of job " + m.jobId() + " wait for slurmctld when it is away: " + e);
            held.remove(key);
        }
    }

    // ---- what srun asks

    Reply answer(Caller caller, String message, byte[] body) {
        return switch (message) {
            case "AwaitAllocation" -> here(Codec.decode(body, JobMessages.AwaitAllocation.class).jobId(), h -> reply(h.job.allocation(caller.uid())));
            case "CreateStep" -> {
                JobMessages.CreateStep m = Codec.decode(body, JobMessages.CreateStep.class);
                yield here(m.jobId(), h -> create(caller, h, m));
            }
            case "SignalStep" -> signal(caller, Codec.decode(body, SignalStep.class));
            default -> ofPeer(caller, message, body);
        };
    }

    private interface Work {
        Reply of(Held h);
    }

    private Reply here(int jobId, Work work) {
        Optional<Held> found = held.values().stream().filter(h -> h.jobId == jobId).findFirst();
        if (connected.getAsBoolean() || found.isEmpty()) {
            return Reply.error(SlurmErrno.CTLD_CONNECT);
        }
        return work.of(found.get());
    }

    /** Of a step that srun follows: its owner's word, on each of its nodes. */
    private Reply signal(Caller caller, SignalStep m) {
        if (connected.getAsBoolean()) {
            return Reply.error(SlurmErrno.CTLD_CONNECT);
        }
        loop.post(() -> jobs.forRelay(m.jobId(), 0).filter(j -> caller.uid() == 0 || caller.uid() == settings.slurmUserId()
                || caller.uid() == j.share.owner().uid()).ifPresent(j -> {
                    if (m.signal() == Os.SIGNAL_KILL) {
                        jobs.endStep(new EndStep(m.jobId(), j.attempt(), m.stepId(), 0, "Cancelled"));
                    } else {
                        jobs.signal(new Signal(m.jobId(), j.attempt(), m.stepId(), m.signal(), false, false));
                    }
                }));
        return Reply.of(new Done());
    }

    private static Reply reply(StepDesk.Answer<?> answer) {
        return switch (answer) {
            case StepDesk.Given<?> g -> Reply.of(g.value());
            case StepDesk.Refused<?> r -> Reply.error(400, r.errno(), r.sentence());
        };
    }

    private Reply create(Caller caller, Held h, JobMessages.CreateStep m) {
        Map<String, Set<Integer>> before = new TreeMap<>();
        synchronized (h) {
            for (String node : h.job.nodes()) {
                Set<Integer> settled = new HashSet<>(h.job.open(node));
                settled.removeAll(h.launching);
                before.put(node, settled);
            }
        }
        byte[] question = Codec.encode(new QueryJobSteps(h.jobId, h.attempt));
        Map<String, byte[]> said = each(before.keySet(), n -> question, "QueryJobSteps");
        if (said.size() < before.size()) {
            return Reply.error(SlurmErrno.CTLD_CONNECT);
        }
        StepDesk.Answer<StepDesk.Begun> answer;
        synchronized (h) {
            for (Map.Entry<String, byte[]> one : said.entrySet()) {
                JobStepsReply there = Codec.decode(one.getValue(), JobStepsReply.class);
                if (there.connected() || there.highest() >= h.job.nextStep()) {
                    return Reply.error(SlurmErrno.CTLD_CONNECT);
                }
                before.get(one.getKey()).stream().filter(id -> !there.live().contains(id) && h.job.open(one.getKey()).contains(id))
                        .forEach(id -> h.job.over(id, one.getKey(), System.currentTimeMillis()));
            }
            answer = h.job.create(caller.uid(), m, token(), System.currentTimeMillis());
            if (answer instanceof StepDesk.Given<StepDesk.Begun> g) {
                h.launching.add(g.value().started().stepId());
            }
        }
        return answer instanceof StepDesk.Given<StepDesk.Begun> g ? launch(h, g.value()) : reply(answer);
    }

    private Reply launch(Held h, StepDesk.Begun begun) {
        int stepId = begun.started().stepId();
        Map<String, byte[]> orders = new TreeMap<>();
        begun.launches().forEach(l -> orders.put(l.node(), Codec.encode(new TakeStep(l.launch(), begun.managed()))));
        Set<String> taken = each(orders.keySet(), orders::get, "TakeStep").keySet();
        List<String> missed = orders.keySet().stream().filter(n -> !taken.contains(n)).toList();
        log.info("slurmctld is away: StepId=" + h.jobId + "." + stepId + " begins on " + taken);
        synchronized (h) {
            h.launching.remove(stepId);
            missed.forEach(n -> h.job.over(stepId, n, System.currentTimeMillis()));
        }
        if (missed.isEmpty()) {
            return Reply.of(begun.started());
        }
        StepManaged m = begun.managed();
        byte[] drop = Codec.encode(new DropStep(stepId, new StepManaged(0, m.jobId(), m.attempt(), m.uid(), m.requestId(), m.step(), missed)));
        each(taken, n -> drop, "DropStep");
        return Reply.error(SlurmErrno.NODE_NOT_AVAIL);
    }

    private String token() {
        byte[] bytes = new byte[TOKEN_BYTES];
        random.nextBytes(bytes);
        return dev.muster.transport.Hash.hex(bytes);
    }

    private interface Body {
        byte[] of(String node);
    }

    /** Asks all at once. @return the answers of those that gave one */
    private Map<String, byte[]> each(Set<String> nodes, Body body, String message) {
        Map<String, CompletableFuture<byte[]>> asked = new TreeMap<>();
        for (String node : nodes) {
            CompletableFuture<byte[]> answer = new CompletableFuture<>();
            asked.put(node, answer);
            Loop.aside(() -> {
                try {
                    answer.complete(node.equals(settings.nodeName()) ? own(message, body.of(node)) : peers.post(node, message, body.of(node)));
                } catch (IOException | RuntimeException e) {
                    answer.completeExceptionally(e);
                }
            });
        }
        Map<String, byte[]> out = new TreeMap<>();
        asked.forEach((node, answer) -> {
            try {
                out.put(node, answer.get(WAIT_S, TimeUnit.SECONDS));
            } catch (ExecutionException | TimeoutException e) {
                log.error(message + " of node " + node + ": " + (e.getCause() == null ? "it does not answer" : e.getCause().getMessage()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return out;
    }

    private byte[] own(String message, byte[] body) throws IOException {
        return Codec.encode(obey(message, body));
    }

    // ---- what the job's first node asks the others, and itself

    private Reply ofPeer(Caller caller, String message, byte[] body) {
        if (caller.uid() != 0 && caller.uid() != settings.slurmUserId()) {
            log.error("Security violation, " + message + " from uid " + caller.uid());
            return Reply.error(403, SlurmErrno.ACCESS_DENIED, SlurmErrno.ACCESS_DENIED.sentence());
        }
        try {
            return Reply.of(obey(message, body));
        } catch (IOException e) {
            return Reply.error(500, SlurmErrno.ERROR, e.getMessage());
        }
    }

    private Object obey(String message, byte[] body) throws IOException {
        return switch (message) {
            case "QueryJobSteps" -> {
                QueryJobSteps m = Codec.decode(body, QueryJobSteps.class);
                yield onLoop(() -> steps(m));
            }
            case "TakeStep" -> {
                TakeStep m = Codec.decode(body, TakeStep.class);
                String error = onLoop(() -> take(m));
                if (!error.isEmpty()) {
                    throw new IOException(error);
                }
                yield new Done();
            }
            case "DropStep" -> {
                DropStep m = Codec.decode(body, DropStep.class);
                yield onLoop(() -> drop(m));
            }
            default -> throw new IOException("slurmd does not know the message " + message);
        };
    }

    private <T> T onLoop(Supplier<T> question) throws IOException {
        CompletableFuture<T> answer = new CompletableFuture<>();
        loop.post(() -> answer.complete(question.get()));
        try {
            return answer.get(WAIT_S, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IOException("the node does not answer itself", e);
        }
    }

    private JobStepsReply steps(QueryJobSteps m) {
        Optional<NodeJob> job = jobs.job(m.jobId(), m.attempt());
        List<Integer> live = new ArrayList<>();
        int highest = -1;
        if (job.isPresent()) {
            job.get().steps.values().stream().filter(s -> s.phase != NodeStep.Phase.ENDED).forEach(s -> live.add(s.stepId));
            highest = Math.max(job.get().steps.keySet().stream().mapToInt(s -> s).max().orElse(-1),
                    job.get().notStarted.keySet().stream().mapToInt(s -> s).max().orElse(-1));
        }
        return new JobStepsReply(connected.getAsBoolean(), live, highest);
    }

    private String take(TakeStep m) {
        Optional<NodeJob> job = jobs.job(m.managed().jobId(), m.managed().attempt());
        if (job.isEmpty() || job.get().isEnding() || !job.get().share.bootId().equals(bootId) || connected.getAsBoolean()) {
            return "job " + m.managed().jobId() + " cannot begin a step there";
        }
        Path file = spool.jobDirectory(m.managed().jobId(), m.managed().attempt()).resolve(FILE + m.launch().stepId());
        try {
            Files.write(file, Codec.encode(m.managed()));
        } catch (IOException e) {
            return Reasons.of(e);
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
                log.debug(file + ": " + Reasons.of(e));
            }
        });
    }

    /** Before anything else of these jobs is reported: slurmctld may not know their steps. */
    void adopt() throws IOException {
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
