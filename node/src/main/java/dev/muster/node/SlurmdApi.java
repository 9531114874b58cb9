package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.MessageRights;
import dev.muster.model.api.SlurmdMessages;
import dev.muster.model.api.SlurmdMessages.StepProcesses;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages.Hardware;
import dev.muster.node.config.CgroupSettings;
import dev.muster.node.config.Settings;
import dev.muster.node.job.Jobs;
import dev.muster.node.job.NoAllocateSteps;
import dev.muster.node.job.StepManager;
import dev.muster.node.meter.Sensors;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.os.ProcessTable;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Answers queries of users: about slurmd itself, and about the processes of the caller's jobs. */
public final class SlurmdApi {
    private final Settings settings;
    private final EventLoop loop;
    private final Jobs jobs;
    private final Sensors sensors;
    private final Supplier<Hardware> hardware;
    private final LongSupplier lastMessage;
    private final DaemonLog log;
    private final NoAllocateSteps unallocated;
    private final StepManager manager;
    private final long startTime;
    private final Consumer<SlurmdMessages.FollowController> follow;

    SlurmdApi(
            Settings settings,
            DaemonLog log,
            EventLoop loop,
            Jobs jobs,
            Sensors sensors,
            Supplier<Hardware> hardware,
            LongSupplier lastMessage,
            long startTime,
            NoAllocateSteps unallocated,
            StepManager manager,
            Consumer<SlurmdMessages.FollowController> follow) {
        this.follow = follow;
        this.unallocated = unallocated;
        this.manager = manager;
        this.settings = settings;
        this.log = log;
        this.loop = loop;
        this.jobs = jobs;
        this.sensors = sensors;
        this.hardware = hardware;
        this.lastMessage = lastMessage;
        this.startTime = startTime;
    }

    Reply answer(Caller caller, String message, byte[] body) {
        MessageRights.Rule rule = MessageRights.node().get(message);
        if (rule == null) {
            return Reply.error(404, SlurmErrno.UNEXPECTED_MSG_ERROR, "slurmd does not know the message " + message);
        }
        if (rule.need() == MessageRights.Need.DAEMON && caller.uid() != 0 && caller.uid() != settings.slurmUserId()) {
            log.error("Security violation, " + message + " from uid " + caller.uid());
            return Reply.error(403, SlurmErrno.ACCESS_DENIED, SlurmErrno.ACCESS_DENIED.sentence());
        }
        try {
            return switch (message) {
                case "QueryDaemon" -> Reply.of(daemon(caller));
                case "QueryProcesses" ->
                    Reply.of(processes(caller, Codec.decode(body, SlurmdMessages.QueryProcesses.class)));
                case "RunUnallocated" ->
                    unallocated.run(caller, Codec.decode(body, SlurmdMessages.RunUnallocated.class));
                case "SignalUnallocated" ->
                    unallocated.signal(caller, Codec.decode(body, SlurmdMessages.SignalUnallocated.class));
                case "FollowController" -> {
                    follow.accept(Codec.decode(body, SlurmdMessages.FollowController.class));
                    yield Reply.of(new SlurmdMessages.Done());
                }
                case "AwaitAllocation",
                        "CreateStep",
                        "CreateHetStep",
                        "SignalStep",
                        "QueryJobSteps",
                        "TakeStep",
                        "DropStep" -> manager.answer(caller, message, body);
                default -> throw new IllegalStateException("nothing answers " + message);
            };
        } catch (Json.MalformedException e) {
            return Reply.error(400, SlurmErrno.UNEXPECTED_MSG_ERROR, SlurmErrno.UNEXPECTED_MSG_ERROR.sentence());
        } catch (IllegalStateException e) {
            return Reply.error(500, SlurmErrno.INTERNAL, ErrorSentence.of(e));
        }
    }

    private List<ProcessTable.Running> running() {
        try {
            return loop.ask(jobs::running);
        } catch (IOException e) {
            throw new IllegalStateException(ErrorSentence.of(e), e);
        }
    }

    private SlurmdMessages.DaemonReply daemon(Caller caller) {
        List<String> steps = new ArrayList<>();
        boolean all = !settings.around().privateJobs() || caller.uid() == 0 || caller.uid() == settings.slurmUserId();
        running().stream()
                .filter(r -> all || r.owner().uid() == caller.uid())
                .forEach(r -> steps.add(r.jobId() + "." + StepId.name(r.stepId())));
        Hardware h = hardware.get();
        return new SlurmdMessages.DaemonReply(
                settings.nodeName(),
                Os.read(java.nio.file.Path.of("/proc/sys/kernel/hostname"))
                        .map(String::trim)
                        .orElse(settings.nodeName()),
                Release.VERSION,
                (int) ProcessHandle.current().pid(),
                startTime,
                lastMessage.getAsLong(),
                Integer.toString(settings.debugLevel()),
                settings.logFile(),
                h.cpus(),
                h.boards(),
                h.sockets(),
                h.coresPerSocket(),
                h.threadsPerCore(),
                h.memoryMb(),
                h.tmpDiskMb(),
                steps);
    }

    /** Processes of the caller's jobs; root and SlurmUser see all. */
    private SlurmdMessages.ProcessesReply processes(Caller caller, SlurmdMessages.QueryProcesses q) {
        ProcessTable table = new ProcessTable(
                settings.confinement().tracking() == CgroupSettings.Tracking.GROUP,
                settings.around().sensing().tasks());
        boolean all = caller.uid() == 0 || caller.uid() == settings.slurmUserId();
        List<StepProcesses> out = new ArrayList<>();
        for (ProcessTable.Running step : running()) {
            boolean meant =
                    (q.jobId() == 0 || q.jobId() == step.jobId()) && (q.pid() == 0 || table.isOf(q.pid(), step));
            if (meant && (all || caller.uid() == step.owner().uid())) {
                out.add(table.of(step, sensors.used(step.directory())));
            }
        }
        return new SlurmdMessages.ProcessesReply(settings.nodeName(), out);
    }
}
