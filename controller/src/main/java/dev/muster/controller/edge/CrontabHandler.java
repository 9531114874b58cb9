package dev.muster.controller.edge;

import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.view.PrivateDataFilter;
import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Crontab;
import dev.muster.daemon.Identities;
import dev.muster.json.Bytes;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.CronMessages;
import dev.muster.model.api.JobMessages;
import dev.muster.model.job.JobDesc;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The edge of scrontab: each entry's job is resolved as one of sbatch, and times of the day are this host's. */
final class CrontabHandler {
    private final SubmitHandler submissions;
    private final CoreThread core;
    private final Identities identities;

    CrontabHandler(SubmitHandler submissions, CoreThread core, Identities identities) {
        this.submissions = submissions;
        this.core = core;
        this.identities = identities;
    }

    void register(MessageHandlers messages) {
        messages.onKnown("SetCrontab", CronMessages.SetCrontab.class, this::set)
                .on("QueryCrontab", CronMessages.QueryCrontab.class, this::query);
    }

    private Reply query(Caller caller, CronMessages.QueryCrontab m) {
        if (m.userId() != caller.uid() && isHidden(caller)) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        return Reply.of(new CronMessages.CrontabReply(
                core.durable().crontabs().find(m.userId()).map(Crontab::text).orElse("")));
    }

    /** Tests whether PrivateData hides crontabs from the caller: it hides them from all but operators. */
    private boolean isHidden(Caller caller) {
        return new PrivateDataFilter(List.of("jobs"), core.durable(), caller.uid(), identities.userName(caller.uid()))
                .hides("jobs");
    }

    private Reply set(Caller caller, CronMessages.SetCrontab m) {
        Optional<Identity> owner = identities.byUid(m.userId());
        if (owner.isEmpty()) {
            return Reply.error(SlurmErrno.USER_ID_MISSING);
        }
        if (m.userId() != caller.uid() && !Access.isAdmin(core.durable(), caller.uid())) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        // the rules for jobs apply to the owner of the crontab
        Caller submitter = caller.uid() == m.userId()
                ? caller
                : new Caller(owner.get().uid(), owner.get().gid());
        List<Command.CronEntry> entries = new ArrayList<>();
        List<Command.SubmitJob> jobs = new ArrayList<>();
        for (CronMessages.CronJob e : m.entries()) {
            switch (submissions.request(submitter, athome(e.job(), owner.get()))) {
                case SubmitHandler.Refused r -> {
                    return r.reply(r.said());
                }
                case SubmitHandler.Request r -> {
                    jobs.add(r.command());
                    entries.add(new Command.CronEntry(r.command(), e.when(), e.firstLine(), e.lastLine()));
                }
            }
        }
        String zone = ZoneId.systemDefault().getId();
        Command command = new Command.SetCrontab(caller.uid(), m.userId(), zone, m.text(), entries);
        Decision decision = submissions.decided(command, caller.uid(), jobs);
        return switch (decision) {
            case Decision.Rejected r -> Reply.error(400, r.errno(), r.sentence());
            case Decision.Accepted a ->
                Reply.of(new CronMessages.CrontabSet(
                        ((List<?>) a.reply()).stream().map(id -> (Integer) id).toList()));
        };
    }

    private static JobMessages.Submit athome(JobMessages.Submit m, Identity owner) {
        JobDesc.Files f = m.job().files();
        JobDesc.Files athome =
                new JobDesc.Files(Bytes.of(owner.home()), f.stdin(), f.stdout(), f.stderr(), f.openMode());
        JobDesc job = f.workDir().isEmpty() ? m.job().withFiles(athome) : m.job();
        return new JobMessages.Submit("", job, m.script(), m.environment(), false, false);
    }
}
