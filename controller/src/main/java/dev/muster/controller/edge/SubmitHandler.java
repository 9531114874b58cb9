package dev.muster.controller.edge;

import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.lua.SubmitScript;
import dev.muster.controller.site.BurstBuffers;
import dev.muster.controller.view.HostFunctions;
import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.job.JobSubmit;
import dev.muster.core.options.SubmissionOptions;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.json.Bytes;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.FieldRights;
import dev.muster.model.api.JobMessages;
import dev.muster.model.format.TextCheck;
import dev.muster.model.job.JobDesc;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** New jobs: users, groups and contents are looked up, and the site's own rules asked, before the core decides. */
public final class SubmitHandler {
    /** The sentence for a NUL character, which C texts on a node cannot hold. */
    static final String NUL = "A text of the request contains a NUL character";

    private static final String NOT_ALLOWED = " since it's not allowed by configuration (AllowSpecResourcesUsage = No)";

    private final ControllerServices services;
    private final CoreThread core;
    private final Identities identities;
    private final BlobStore blobs;
    private final DaemonLog log;

    SubmitHandler(ControllerServices services, CoreThread core, Identities identities, BlobStore blobs, DaemonLog log) {
        this.services = services;
        this.core = core;
        this.identities = identities;
        this.blobs = blobs;
        this.log = log;
    }

    private SubmissionOptions options() {
        return core.durable().settings().options().submission();
    }

    Reply submit(Caller caller, JobMessages.Submit m) {
        return switch (request(caller, m)) {
            case Refused r -> r.reply(r.said());
            case Request r ->
                saying(decided(r.command(), caller.uid(), List.of(r.command())), Request.lines(r.ignored(), r.said()));
        };
    }

    /** Puts the lines of job_submit.lua for the user before the rest. */
    private static Reply saying(Decision decision, List<String> said) {
        if (said.isEmpty()) {
            return Replies.tested(decision);
        }
        return switch (decision) {
            case Decision.Accepted a when a.reply() instanceof JobMessages.SubmitReply s -> Reply.of(s.saying(said));
            case Decision.Accepted a -> Reply.of(a.reply());
            // before a refusal's sentence every line is said as an error
            case Decision.Rejected r ->
                Reply.error(
                        400,
                        r.errno(),
                        String.join("\n", said).replaceAll("(?m)^error: (Ignoring .*)$", "$1") + "\n" + r.sentence());
        };
    }

    Reply submitHet(Caller caller, JobMessages.SubmitHet m) {
        List<Command.SubmitJob> parts = new ArrayList<>();
        List<List<String>> said = new ArrayList<>();
        List<String> ignored = new ArrayList<>();
        for (JobMessages.Submit part : m.parts()) {
            int component = m.parts().size() > 1 ? parts.size() : BurstBuffers.ALL;
            switch (request(
                    caller,
                    new JobMessages.Submit("", part.job(), part.script(), part.environment(), false, false),
                    component,
                    m.immediate())) {
                case Refused r -> {
                    said.add(r.said());
                    return r.reply(perComponent(said));
                }
                case Request r -> {
                    parts.add(r.command());
                    said.add(r.said());
                    ignored.addAll(r.ignored());
                }
            }
        }
        Command all = new Command.SubmitHet(caller.uid(), parts, m.requestId(), m.immediate(), m.testOnly());
        Decision decision = decided(all, caller.uid(), m.testOnly() ? List.of() : parts);
        // an allocation is checked component by component, so that the script has not seen the components behind the
        // refused one
        int seen = decision instanceof Decision.Rejected r
                        && parts.getFirst().desc().kind() != JobDesc.Kind.BATCH
                ? Math.min(said.size(), r.component() + 1)
                : said.size();
        return saying(decision, Request.lines(ignored, perComponent(said.subList(0, seen))));
    }

    /** Prefixes each line with the number of its component. */
    private static List<String> perComponent(List<List<String>> said) {
        List<String> out = new ArrayList<>();
        for (int i = 0; i < said.size(); i++) {
            for (String text : said.get(i)) {
                for (String line : text.split("\n", -1)) {
                    out.add(i + ": " + line);
                }
            }
        }
        return out;
    }

    /**
     * Returns the core's decision. Scripts and environments become files only with the record that accepts them.
     *
     * @param parts of the command
     */
    Decision decided(Command command, int uid, List<Command.SubmitJob> parts) {
        for (Command.SubmitJob part : parts) {
            if (!part.testOnly()) {
                blobs.offer(part.desc().payload().scriptHash(), part.script());
                blobs.offer(part.desc().payload().envHash(), part.environment());
            }
        }
        boolean accepted = false;
        try {
            Decision decision = core.execute(command, uid);
            accepted = decision instanceof Decision.Accepted;
            return decision;
        } finally {
            for (Command.SubmitJob part : parts) {
                if (!part.testOnly()) {
                    blobs.settle(part.desc().payload().scriptHash(), accepted);
                    blobs.settle(part.desc().payload().envHash(), accepted);
                }
            }
        }
    }

    sealed interface Resolved {}

    /**
     * @param said lines of job_submit.lua for the user, whether the job is accepted or not
     * @param ignored errors about options that this cluster ignores, printed before all else
     */
    record Request(Command.SubmitJob command, List<String> said, List<String> ignored) implements Resolved {
        /** Returns the lines for the user in their order. */
        static List<String> lines(List<String> ignored, List<String> said) {
            List<String> out = new ArrayList<>(ignored);
            out.addAll(said);
            return out;
        }
    }

    /** @param said lines of job_submit.lua; empty if another rule refuses */
    record Refused(int errno, String sentence, List<String> said) implements Resolved {
        Refused(SlurmErrno errno) {
            this(errno, errno.sentence());
        }

        Refused(SlurmErrno errno, String sentence) {
            this(errno.number(), sentence, List.of());
        }

        /** @param lines printed before the sentence */
        Reply reply(List<String> lines) {
            return Reply.error(
                    400,
                    errno,
                    String.join("", lines.stream().map(line -> line + "\n").toList()) + sentence);
        }
    }

    Resolved request(Caller caller, JobMessages.Submit m) {
        return request(caller, m, BurstBuffers.ALL, m.immediate());
    }

    /**
     * Users, groups and contents looked up.
     *
     * @param component as in {@link BurstBuffers#submitted}
     * @param immediate of the whole request, for the site's script
     */
    private Resolved request(Caller caller, JobMessages.Submit m, int component, boolean immediate) {
        Optional<Refused> refusal = refusal(caller, m);
        if (refusal.isPresent()) {
            return refusal.get();
        }
        int uid = m.job().owner().user().isEmpty() && m.job().owner().uid() == 0
                ? caller.uid()
                : m.job().owner().uid();
        Optional<Identity> owner = identities.byUid(uid);
        if (owner.isEmpty()) {
            return new Refused(SlurmErrno.USER_ID_MISSING);
        }
        int group = group(caller, m.job().owner(), owner.get());
        Optional<Identity> asked = withGroup(owner.get(), group, Access.isSuperUser(core.durable(), caller.uid()));
        if (asked.isEmpty()) {
            return new Refused(SlurmErrno.ACCESS_DENIED);
        }
        if (m.job().kind() == JobDesc.Kind.BATCH && m.script().isEmpty()) {
            return new Refused(SlurmErrno.JOB_SCRIPT_MISSING);
        }
        return checked(caller, m, component, immediate, asked.get());
    }

    /** Returns why a request is refused before it is looked at closely; empty if it is not. */
    private Optional<Refused> refusal(Caller caller, JobMessages.Submit m) {
        if (services.isFull()) {
            return Optional.of(new Refused(SlurmErrno.MAX_JOB_COUNT, "Resource temporarily unavailable"));
        }
        if (m.script().length() > options().scriptBytesMax()
                || m.job().payload().submitLine().length() > options().lineBytesMax()) {
            return Optional.of(new Refused(SlurmErrno.PATHNAME_TOO_LONG));
        }
        if (!mayDescribe(caller, m.job())) {
            return Optional.of(new Refused(SlurmErrno.ACCESS_DENIED));
        }
        return TextCheck.hasNul(FieldRights.texts(m))
                ? Optional.of(new Refused(SlurmErrno.ERROR, NUL))
                : Optional.empty();
    }

    /**
     * Returns the group of a job: the one that its description names, else the group that the caller has taken on
     * (newgrp, sg), which its credential says, else the owner's first.
     */
    private static int group(Caller caller, Identity described, Identity owner) {
        // a number of 0 counts with its name alone
        if (described.gid() != 0 || !described.group().isEmpty()) {
            return described.gid();
        }
        boolean isOwn = owner.uid() == caller.uid() && owner.gids().contains(caller.gid());
        return isOwn ? caller.gid() : owner.gid();
    }

    /** Asks the site's script and the burst buffers. */
    private Resolved checked(Caller caller, JobMessages.Submit m, int component, boolean immediate, Identity owner) {
        List<String> ignored = new ArrayList<>();
        JobDesc wanted = HostFunctions.expanded(m.job(), core.durable()).withOwner(owner);
        Bytes batch = m.script();
        List<Bytes> variables = m.environment();
        List<String> said = new ArrayList<>();
        boolean mayNotWait = m.immediate();
        JobDesc before = JobSubmit.before(core.durable(), wanted, "lua");
        switch (services.filter()
                .submit(before, batch, variables, immediate, component, caller.uid())
                .orElse(null)) {
            case SubmitScript.Refused r -> {
                return new Refused(r.errno(), r.sentence(), r.said());
            }
            case SubmitScript.Passed p -> {
                wanted = p.job();
                batch = p.script();
                variables = p.environment();
                said.addAll(p.said());
                mayNotWait = p.changed().get("immediate") instanceof Long n ? n != 0 : mayNotWait;
            }
            case null -> {}
        }
        boolean isAsked = m.job().request().coreSpec() != 0 || m.job().request().threadSpec() > 0;
        wanted = allowed(wanted, isAsked ? ignored : new ArrayList<>());
        switch (services.buffers().submitted(core.durable(), wanted, batch, component)) {
            case BurstBuffers.Taken t -> wanted = t.desc();
            case BurstBuffers.Refused r -> {
                return new Refused(r.errno(), r.sentence());
            }
        }
        Bytes environment = joined(variables);
        String scriptHash = BlobStore.hash(batch);
        String envHash = BlobStore.hash(environment);
        JobDesc.Payload p = wanted.payload();
        JobDesc desc = wanted.withPayload(new JobDesc.Payload(
                scriptHash,
                envHash,
                p.arguments(),
                p.submitHost(),
                p.submitPid(),
                p.submitLine(),
                p.umask(),
                p.limits()));
        if (services.conf().has(dev.muster.config.key.Key.JOB_SUBMIT_PLUGINS, "logging")) {
            log.info(JobSubmit.logged(desc, caller.uid()));
        }
        return new Request(
                new Command.SubmitJob(caller.uid(), desc, m.requestId(), batch, environment, mayNotWait, m.testOnly()),
                said,
                ignored);
    }

    /**
     * Tests whether the caller may set all that the description says ({@link FieldRights}); the site's script and the
     * core add to it later.
     */
    private boolean mayDescribe(Caller caller, JobDesc job) {
        return FieldRights.restricted(job).values().stream().allMatch(setter -> switch (setter) {
            case USER, SELF -> true;
            case OPERATOR -> Access.isOperator(core.durable(), caller.uid());
            case ADMINISTRATOR -> Access.isAdmin(core.durable(), caller.uid());
            case CONTROLLER -> false;
        });
    }

    /**
     * Cores and threads are left alone only where that is allowed; otherwise the user hears that it is not, and the job
     * is taken without.
     */
    private JobDesc allowed(JobDesc wanted, List<String> ignored) {
        boolean spared = wanted.request().coreSpec() != 0 || wanted.request().threadSpec() > 0;
        if (!spared) {
            return wanted;
        }
        if (core.durable().settings().options().requests().specUsage()) {
            return wanted.withRequest(wanted.request().alone());
        }
        ignored.add("error: Ignoring " + (wanted.request().threadSpec() > 0 ? "--thread-spec" : "-S") + NOT_ALLOWED);
        return wanted.withRequest(wanted.request().withoutSpecialized());
    }

    /** {@code --gid}: a group of the owner's, or any if an administrator asks; empty if it is not theirs. */
    private Optional<Identity> withGroup(Identity owner, int gid, boolean admin) {
        if (gid == owner.gid()) {
            return Optional.of(owner);
        }
        if (!admin && !owner.gids().contains(gid)) {
            return Optional.empty();
        }
        List<Integer> gids = new ArrayList<>(owner.gids());
        if (!gids.contains(gid)) {
            gids.add(gid);
        }
        String group = identities.groupName(gid);
        return Optional.of(
                new Identity(owner.uid(), gid, owner.user(), group, List.copyOf(gids), owner.home(), owner.shell()));
    }

    public static Bytes joined(List<Bytes> entries) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Bytes entry : entries) {
            out.writeBytes(entry.toArray());
            out.write(0);
        }
        return Bytes.of(out.toByteArray());
    }
}
