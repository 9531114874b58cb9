package dev.muster.controller.edge;

import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.view.HostFunctions;
import dev.muster.controller.view.JobName;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.job.JobUpdateKeys;
import dev.muster.core.job.TaskOutcomes;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages;
import dev.muster.model.api.JobMessages.JobError;
import dev.muster.model.format.IndexSet;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Handles {@code scontrol update}, {@code hold} and {@code release} of jobs: job_submit.lua decides on each change
 * before the core, and its lines for the user are returned.
 */
final class JobUpdateHandler {
    private static final String PRIORITY = "priority";
    /** Priority in the update of a released job: a computed one. */
    private static final String COMPUTED = "4294967295";

    private final CoreThread core;
    private final SubmitFilter filter;
    private final BlobStore blobs;

    JobUpdateHandler(CoreThread core, SubmitFilter filter, BlobStore blobs) {
        this.core = core;
        this.filter = filter;
        this.blobs = blobs;
    }

    Reply update(Caller caller, JobMessages.UpdateJob m) {
        Optional<JobName> name = JobName.parse(m.job(), core.durable());
        if (name.isEmpty()) {
            return Reply.error(SlurmErrno.INVALID_JOB_ID);
        }
        Map<String, String> typed = new TreeMap<>();
        m.changes().forEach((k, v) -> typed.put(k.toLowerCase(Locale.ROOT), v));
        Map<String, String> changes = JobUpdateKeys.whole(typed);
        int part = 0;
        List<Command.JobRef> refs = name.get().refs();
        TaskOutcomes outcomes = new TaskOutcomes(name.get().jobId());
        List<JobError> errors = new ArrayList<>();
        for (Command.JobRef ref : refs) {
            State state = core.durable();
            int number = part++;
            Optional<SubmitFilter.Changed> filtered = asked(state, ref, changes, caller);
            String said = filtered.map(f -> String.join("\n", f.said())).orElse("");
            if (filtered.isPresent() && filtered.get().refused() != 0) {
                refused(
                        state,
                        ref,
                        new JobError(
                                ref.text(),
                                filtered.get().refused(),
                                filtered.get().sentence(),
                                said),
                        outcomes,
                        errors);
                continue;
            }
            Map<String, String> meant = HostFunctions.expanded(
                    filtered.map(SubmitFilter.Changed::changes).orElse(changes), state);
            switch (core.execute(
                    Replies.once(caller, m.requestId(), number, new Command.UpdateJob(caller.uid(), ref, meant)),
                    caller.uid())) {
                case Decision.Rejected r
                when said.isEmpty() && refs.size() == 1 || r.errno() == SlurmErrno.NOT_SUPPORTED -> {
                    return Replies.rejected(r);
                }
                case Decision.Rejected r ->
                    refused(
                            state,
                            ref,
                            new JobError(ref.text(), r.errno().number(), r.sentence(), said),
                            outcomes,
                            errors);
                case Decision.Accepted a ->
                    done(state, ref, ((JobMessages.CancelReply) a.reply()).errors(), said, outcomes, errors);
            }
        }
        errors.addAll(outcomes.told());
        return Reply.of(new JobMessages.CancelReply(List.of(), errors));
    }

    /**
     * Selects the jobs that job_submit.lua allows to be held or released. The fields that the script changes besides
     * the priority become an update of the job, recorded under {@link #ofScript} so that a retry of the request applies
     * it once.
     *
     * @param errors receives the refused jobs, and the lines that the script told about the allowed ones
     */
    List<Command.JobRef> held(
            Caller caller, String requestId, List<Command.JobRef> refs, boolean hold, List<JobError> errors) {
        if (!filter.isConfigured()) {
            return refs;
        }
        List<Command.JobRef> out = new ArrayList<>();
        int part = 0;
        for (Command.JobRef ref : refs) {
            int number = part++;
            State state = core.durable();
            String priority = hold ? "0" : COMPUTED;
            Map<String, String> wanted = new TreeMap<>(Map.of(PRIORITY, priority));
            Optional<SubmitFilter.Changed> filtered = asked(state, ref, wanted, caller);
            // for tasks of an array the original reports errors only
            String said = isOfArray(state, ref)
                    ? ""
                    : filtered.map(f -> String.join("\n", f.said())).orElse("");
            if (filtered.isPresent() && filtered.get().refused() != 0) {
                errors.add(new JobError(
                        shown(state, ref),
                        filtered.get().refused(),
                        filtered.get().sentence(),
                        said));
                continue;
            }
            if (!said.isEmpty()) {
                errors.add(new JobError(ref.text(), 0, TaskOutcomes.done("").error(), said));
            }
            Map<String, String> more =
                    new TreeMap<>(filtered.map(SubmitFilter.Changed::changes).orElse(wanted));
            boolean asItWas = priority.equals(more.get(PRIORITY));
            if (asItWas) {
                more.remove(PRIORITY);
                out.add(ref);
            }
            Command update =
                    Replies.once(caller, ofScript(requestId), number, new Command.UpdateJob(caller.uid(), ref, more));
            if (!more.isEmpty() && core.execute(update, caller.uid()) instanceof Decision.Rejected r) {
                errors.add(new JobError(shown(state, ref), r.errno().number(), r.sentence()));
            }
        }
        return out;
    }

    /**
     * Returns the id of a request's second record. It differs from all ids of the first, which are the request's id or
     * that with a number behind it.
     */
    static String ofScript(String requestId) {
        return requestId.isEmpty() ? "" : requestId + ".script";
    }

    private Optional<SubmitFilter.Changed> asked(
            State state, Command.JobRef ref, Map<String, String> changes, Caller caller) {
        return state.job(ref.jobId(), ref.task())
                .filter(j -> !j.state().isTerminal())
                .flatMap(j -> filter.modify(j, changes, scriptOf(j), caller.uid()));
    }

    private static void refused(
            State state, Command.JobRef ref, JobError why, TaskOutcomes outcomes, List<JobError> errors) {
        if (isOfArray(state, ref)) {
            outcomes.put(tasks(state, ref), new JobError("", why.errno(), why.error(), why.said()));
        } else {
            errors.add(why);
        }
    }

    /** @param partly the core's errors for refused tasks, if it refused some of them */
    private static void done(
            State state,
            Command.JobRef ref,
            List<JobError> partly,
            String said,
            TaskOutcomes outcomes,
            List<JobError> errors) {
        if (!partly.isEmpty()) {
            partly.forEach(e -> errors.add(
                    e.errno() == SlurmErrno.JOB_FINISHED.number()
                            ? e
                            : new JobError(e.job(), e.errno(), e.error(), said)));
        } else if (isOfArray(state, ref)) {
            outcomes.put(tasks(state, ref), TaskOutcomes.done(said));
        } else if (!said.isEmpty()) {
            errors.add(new JobError(ref.text(), 0, TaskOutcomes.done("").error(), said));
        }
    }

    private static boolean isOfArray(State state, Command.JobRef ref) {
        return ref.task() >= 0
                || state.jobs()
                        .find(ref.jobId())
                        .filter(j -> j.array().jobId() == j.id())
                        .isPresent();
    }

    private static IndexSet tasks(State state, Command.JobRef ref) {
        return ref.task() >= 0 ? IndexSet.of(ref.task()) : TaskOutcomes.ofArray(state, ref.jobId());
    }

    private static String shown(State state, Command.JobRef ref) {
        return isOfArray(state, ref) ? ref.jobId() + "_" + tasks(state, ref).compact() : ref.text();
    }

    private Bytes scriptOf(Job job) {
        String hash = job.desc().payload().scriptHash();
        return hash.isEmpty() ? Bytes.EMPTY : blobs.read(hash);
    }
}
