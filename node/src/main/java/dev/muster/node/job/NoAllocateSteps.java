package dev.muster.node.job;

import dev.muster.daemon.Identities;
import dev.muster.json.Bytes;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.SlurmdMessages;
import dev.muster.model.api.SlurmdMessages.RunUnallocated;
import dev.muster.model.api.SlurmdMessages.SignalUnallocated;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.MultiProgram;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages.EndJob;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Signal;
import dev.muster.model.node.NodeMessages.Task;
import dev.muster.node.config.Settings;
import dev.muster.node.os.EventLoop;
import dev.muster.node.step.NodeJob;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * srun --no-allocate: steps that administrators start past slurmctld, which hears nothing of them. Each is a job of its
 * own here and ends with its step. A step is ended when no srun is connected to it any more.
 */
public final class NoAllocateSteps {
    private static final int ATTEMPT = 1;
    private static final int SIGKILL = 9;
    private static final int RANKS_MAX = 65_536;
    /** Longest absence of srun. */
    private static final int ALONE_MS = 20_000;

    private final Settings settings;
    private final EventLoop loop;
    private final Jobs jobs;
    private final String bootId;
    private final Identities identities = new Identities();

    public NoAllocateSteps(Settings settings, EventLoop loop, Jobs jobs, String bootId) {
        this.settings = settings;
        this.loop = loop;
        this.jobs = jobs;
        this.bootId = bootId;
    }

    public static boolean is(int jobId) {
        return jobId >= SlurmdMessages.UNALLOCATED_FIRST;
    }

    /** Whether no step of the job runs any more: no daemon but this one ends it. */
    static boolean isOver(NodeJob job) {
        return is(job.jobId()) && job.phase == NodeJob.Phase.READY && !job.hasLiveSteps();
    }

    public Reply run(Caller caller, RunUnallocated m) {
        boolean fits = is(m.jobId())
                && m.stepId() >= 0
                && !m.ranks().isEmpty()
                && m.ranks().size() <= RANKS_MAX
                && !m.ioToken().isEmpty()
                && m.ranks().stream().allMatch(r -> r >= 0 && r < m.stepTasks())
                && !(m.step().arguments().isEmpty() && m.step().multiProg().isEmpty());
        if (!fits) {
            return Reply.error(400, SlurmErrno.UNEXPECTED_MSG_ERROR, SlurmErrno.UNEXPECTED_MSG_ERROR.sentence());
        }
        Optional<Identity> owner = identities.byUid(caller.uid());
        if (owner.isEmpty()) {
            return Reply.error(403, SlurmErrno.ACCESS_DENIED, SlurmErrno.ACCESS_DENIED.sentence());
        }
        Launch launch = launch(owner.get(), m);
        loop.post(() -> {
            jobs.launch(launch);
            loop.later(ALONE_MS, () -> watch(m.jobId()));
        });
        return Reply.of(new SlurmdMessages.Done());
    }

    private void watch(int jobId) {
        jobs.job(jobId, ATTEMPT).ifPresent(job -> {
            if (job.steps.values().stream().allMatch(s -> s.relays == 0)) {
                end(jobId);
            }
            loop.later(ALONE_MS, () -> watch(jobId));
        });
    }

    private void end(int jobId) {
        jobs.endJob(new EndJob(jobId, ATTEMPT, 0, "Cancelled"));
    }

    public Reply signal(Caller caller, SignalUnallocated m) {
        try {
            return loop.ask(() -> {
                Optional<NodeJob> job = jobs.job(m.jobId(), ATTEMPT).filter(j -> is(m.jobId()));
                if (job.isPresent() && !mayTouch(caller, job.get())) {
                    return Reply.error(SlurmErrno.ACCESS_DENIED);
                }
                if (job.isPresent() && m.signal() == SIGKILL) {
                    end(m.jobId());
                } else if (job.isPresent()) {
                    jobs.signal(new Signal(m.jobId(), ATTEMPT, m.stepId(), m.signal(), false, false));
                }
                return Reply.of(new SlurmdMessages.Done());
            });
        } catch (IOException e) {
            throw new IllegalStateException(ErrorSentence.of(e), e);
        }
    }

    private boolean mayTouch(Caller caller, NodeJob job) {
        return caller.uid() == 0
                || caller.uid() == settings.slurmUserId()
                || caller.uid() == job.share.owner().uid();
    }

    private Launch launch(Identity owner, RunUnallocated m) {
        StepDesc step = m.step();
        JobShare share = new JobShare(
                m.jobId(),
                ATTEMPT,
                bootId,
                owner,
                List.of(),
                "",
                0,
                Map.of(),
                m.limitS() > 0 ? m.limitS() : -1,
                0,
                false,
                Bytes.of(step.name()),
                0,
                "");
        List<Task> tasks = new ArrayList<>();
        for (int local = 0; local < m.ranks().size(); local++) {
            int rank = m.ranks().get(local);
            List<Bytes> program = step.multiProg().isEmpty()
                    ? List.of()
                    : MultiProgram.arguments(step.multiProg(), rank, step.arguments());
            tasks.add(new Task(
                    rank,
                    local,
                    "",
                    program,
                    List.of(Bytes.of("SLURM_PROCID=" + rank), Bytes.of("SLURM_LOCALID=" + local))));
        }
        return new Launch(
                share,
                m.stepId(),
                tasks,
                environment(owner, m),
                Bytes.EMPTY,
                step.withEnvironment(List.of()),
                step.workDir(),
                step.umask(),
                step.limits(),
                Bytes.EMPTY,
                Bytes.EMPTY,
                Bytes.EMPTY,
                step.io().openMode().startsWith("a"),
                m.nodeIndex(),
                m.stepNodes(),
                m.stepTasks(),
                share.secondsLeft(),
                m.ioToken(),
                0,
                m.nodeList(),
                false,
                Map.of());
    }

    private List<Bytes> environment(Identity owner, RunUnallocated m) {
        Map<String, Object> own = new TreeMap<>();
        own.put("SLURM_CLUSTER_NAME", settings.cluster());
        own.put("SLURM_JOB_GID", owner.gid());
        own.put("SLURM_JOB_NAME", m.step().name());
        own.put("SLURM_JOB_NODELIST", m.nodeList());
        own.put("SLURM_JOB_UID", owner.uid());
        own.put("SLURM_JOB_USER", owner.user());
        own.put("SLURM_NNODES", m.stepNodes());
        own.put("SLURM_NODEID", m.nodeIndex());
        own.put("SLURM_NODELIST", m.nodeList());
        own.put("SLURM_NPROCS", m.stepTasks());
        own.put("SLURM_NTASKS", m.stepTasks());
        own.put("SLURM_STEPID", m.stepId());
        own.put("SLURM_STEP_ID", m.stepId());
        own.put("SLURM_STEP_NODELIST", m.nodeList());
        own.put("SLURM_STEP_NUM_NODES", m.stepNodes());
        own.put("SLURM_STEP_NUM_TASKS", m.stepTasks());
        List<Bytes> out = new ArrayList<>(m.step().environment());
        own.forEach((name, value) -> out.add(Bytes.of(name + "=" + value)));
        return out;
    }
}
