package dev.muster.accounting.dbd;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.book.ChangeRules;
import dev.muster.accounting.book.Changes;
import dev.muster.accounting.book.JobKeys;
import dev.muster.accounting.book.Registration;
import dev.muster.accounting.book.RequestFilters;
import dev.muster.accounting.book.ShowColumns;
import dev.muster.accounting.book.Transactions;
import dev.muster.accounting.book.Views;
import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.report.Utilization;
import dev.muster.accounting.table.AccountingStore;
import dev.muster.accounting.table.ActiveJobs;
import dev.muster.accounting.table.ArchiveLoad;
import dev.muster.accounting.table.AssocTreeStore;
import dev.muster.accounting.table.InstanceTable;
import dev.muster.accounting.table.JobEdits;
import dev.muster.accounting.table.PackedRows;
import dev.muster.accounting.table.Projection;
import dev.muster.accounting.table.Purge;
import dev.muster.accounting.table.Reports;
import dev.muster.accounting.table.Runaways;
import dev.muster.config.SlurmdbdConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.daemon.Requests;
import dev.muster.json.Codec;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.AccountingRows;
import dev.muster.model.accounting.DbdMessages;
import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.DbdMessages.Changed;
import dev.muster.model.accounting.DbdMessages.Report;
import dev.muster.model.accounting.DbdMessages.Rows;
import dev.muster.model.accounting.DbdMessages.Show;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.api.MessageRights;
import dev.muster.model.format.Durations;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The edge of slurmdbd: one method per message. */
public final class DbdApi {
    /** How long a change waits for the controllers to have it. */
    private static final Map<String, String> INSTANCE_CONDITIONS = Map.of(
            "cluster",
            "Cluster",
            "node",
            "NodeName",
            "extra",
            "Extra",
            "instanceid",
            "InstanceId",
            "instancetype",
            "InstanceType");

    private static final long CONTROLLERS_MS = 3_000;
    /** How long a question waits for the controllers' rows. */
    private static final long ROWS_MS = 10_000;
    /** Sweeps between two flushes of what is committed, which then survives a loss of power. */
    private static final int FLUSH_EVERY = 2;

    private final AccountingStore store;
    private final AssocTreeStore books;
    private final ControllerLinks links;
    private final Supplier<SlurmdbdConf> conf;
    private final int slurmUid;
    private final Identities identities;
    private final DaemonLog log;
    private final Runnable shutdown;
    private final Runnable reconfigure;
    private final Requests requests;
    private final Runaways runaways;
    private final ActiveJobs active;
    private final JobEdits jobs;
    private final Reports reports;
    private final ArchiveHandler archives;
    private final Purge purge;
    private long purgedHour;
    private int sweeps;

    public DbdApi(
            AccountingStore store,
            AssocTreeStore books,
            Supplier<SlurmdbdConf> conf,
            int slurmUid,
            Identities identities,
            DaemonLog log,
            Runnable shutdown,
            Runnable reconfigure) {
        this.store = store;
        this.books = books;
        this.runaways = new Runaways(store);
        this.active = new ActiveJobs(store);
        this.jobs = new JobEdits(store);
        this.reports = new Reports(store);
        this.purge = new Purge(store, log);
        this.archives = new ArchiveHandler(conf, books, new ArchiveLoad(store, identities), purge, log);
        this.links = new ControllerLinks(books::book);
        this.conf = conf;
        this.slurmUid = slurmUid;
        this.identities = identities;
        this.log = log;
        this.requests = new Requests(log, Set.of("Sync"));
        this.shutdown = shutdown;
        this.reconfigure = reconfigure;
    }

    private static long now() {
        return System.currentTimeMillis() / 1000;
    }

    public Reply handle(Caller caller, String message, byte[] body) {
        if (DbdConfig.hasFlag(conf.get(), "AuditRPCs")) {
            log.info("RPC " + message + " from uid " + caller.uid() + " (" + body.length + " bytes)");
        }
        return requests.serve(caller, RpcNames.of(message, body), () -> answer(caller, message, body));
    }

    private Reply answer(Caller caller, String message, byte[] body) {
        String word = word(message, body);
        Optional<MessageRights.Rule> rule = MessageRights.rule(MessageRights.accounting(), message, word);
        if (rule.isEmpty()) {
            return word.isEmpty()
                    ? Reply.error(404, SlurmErrno.UNEXPECTED_MSG_ERROR, SlurmErrno.UNEXPECTED_MSG_ERROR.sentence())
                    : Reply.error(SlurmErrno.NOT_SUPPORTED);
        }
        return may(caller, rule.get().need())
                ? permitted(caller, message, body)
                : Reply.error(SlurmErrno.ACCESS_DENIED);
    }

    /** The word of a message's body on which its right depends. */
    private static String word(String message, byte[] body) {
        return switch (message) {
            case "Show" -> Codec.decode(body, Show.class).entity();
            case "Report" -> Codec.decode(body, Report.class).kind();
            case "Change" ->
                Codec.decode(body, Change.class).verb() + " "
                        + Codec.decode(body, Change.class).entity();
            default -> "";
        };
    }

    /**
     * Whether the caller's identity alone permits a message. Rules that need the entity check it when they have found
     * it.
     */
    private boolean may(Caller caller, MessageRights.Need need) {
        return switch (need) {
            case ANYBODY,
                    SELF,
                    SELF_OR_OPERATOR,
                    OWNER_ALONE,
                    OWNER,
                    COORDINATOR,
                    OPERATOR_OR_NAMED,
                    SLURM_USER,
                    MAKER -> true;
            case OPERATOR -> atLeast(caller, AdminLevel.OPERATOR);
            case ADMINISTRATOR -> atLeast(caller, AdminLevel.ADMINISTRATOR);
            case DAEMON -> superuser(caller);
        };
    }

    private Reply permitted(Caller caller, String message, byte[] body) {
        return switch (message) {
            case "Register" -> register(caller, Codec.decode(body, DbdMessages.Register.class));
            case "Append" -> append(Codec.decode(body, DbdMessages.Append.class));
            case "ReadRow" -> readRow(Codec.decode(body, DbdMessages.ReadRow.class));
            case "Sync" ->
                links.sync(Codec.decode(body, DbdMessages.Sync.class))
                        .map(Reply::of)
                        .orElseGet(() -> Reply.error(SlurmErrno.IN_STANDBY_MODE));
            case "Show" -> show(caller, Codec.decode(body, Show.class));
            case "Report" -> report(caller, Codec.decode(body, Report.class));
            case "ChangeAll" -> changes(caller, Codec.decode(body, DbdMessages.ChangeAll.class));
            case "Change" -> change(caller, Codec.decode(body, Change.class));
            case "QueryAccounting" -> accounting(caller, Codec.decode(body, AccountingRows.Query.class));
            case "Ping" -> Reply.of(new DbdMessages.Pinged(false));
            case "RollUsage" -> Reply.of(new DbdMessages.Done());
            case "ClearStats" ->
                done(() -> {
                    log.info("Clear stats request received from UID " + caller.uid());
                    requests.reset();
                });
            case "EndRunaways" -> {
                DbdMessages.EndRunaways q = Codec.decode(body, DbdMessages.EndRunaways.class);
                yield done(() -> log.info("cluster " + q.cluster() + ": " + runaways.end(q.cluster(), q.keys())
                        + " runaway jobs are ended for UID " + caller.uid()));
            }
            case "LoadArchive" -> archives.load(caller, Codec.decode(body, DbdMessages.LoadArchive.class));
            case "DumpArchive" -> archives.dump(Codec.decode(body, DbdMessages.DumpArchive.class));
            case "Reconfigure" ->
                done(() -> {
                    log.info("Reconfigure request received");
                    reconfigure.run();
                });
            case "Shutdown" ->
                done(() -> {
                    log.info("Shutdown request received");
                    shutdown.run();
                });
            default -> throw new IllegalStateException("nothing answers " + message);
        };
    }

    /** Ends the wait of controllers: another slurmdbd serves them. */
    void close() {
        links.close();
    }

    private boolean superuser(int uid) {
        return uid == 0 || uid == slurmUid;
    }

    private boolean superuser(Caller caller) {
        return superuser(caller.uid());
    }

    private boolean atLeast(int uid, AdminLevel level) {
        return superuser(uid)
                || books.book()
                        .user(identities.userName(uid))
                        .filter(u -> u.adminLevel().compareTo(level) >= 0)
                        .isPresent();
    }

    private boolean atLeast(Caller caller, AdminLevel level) {
        return atLeast(caller.uid(), level);
    }

    private static Reply done(Runnable work) {
        work.run();
        return Reply.of(new DbdMessages.Done());
    }

    // ---- controllers

    /** A cluster that keeps its rows elsewhere never takes the place of one that has them here. */
    private Reply registerExternal(Caller caller, DbdMessages.Register registration) {
        if (books.book()
                .cluster(registration.cluster())
                .filter(c -> !Registration.isExternal(c))
                .isPresent()) {
            return Reply.of(new DbdMessages.Registered(-1));
        }
        if (books.change(
                draft -> Registration.apply(
                        draft,
                        registration,
                        identities.userName(caller.uid()),
                        now(),
                        conf.get().text("DefaultQOS")),
                c -> c)) {
            log.info("external cluster " + registration.cluster() + " registered by " + registration.host() + ":"
                    + registration.port());
        }
        links.heardFrom(registration.cluster());
        return Reply.of(new DbdMessages.Registered(0));
    }

    private Reply register(Caller caller, DbdMessages.Register registration) {
        if (registration.external()) {
            return registerExternal(caller, registration);
        }
        Projection projection = links.projection(registration.cluster(), registration.journal())
                .orElseGet(() -> store.projection(registration.cluster(), registration.journal()));
        DbdMessages.Registered ahead = new DbdMessages.Registered(0);
        if (projection.sequence() > registration.lastSeq()) {
            Projection.Highest highest = projection.highest();
            ahead = new DbdMessages.Registered(0, projection.sequence(), highest.jobId(), highest.sluid());
            log.info("cluster " + registration.cluster() + ": the tables hold entries up to " + projection.sequence()
                    + ", the journal ends with " + registration.lastSeq());
            projection.rewind(registration.lastSeq());
        }
        int ended = store.endOrphans(projection, registration.cluster(), now());
        if (ended > 0) {
            log.info("cluster " + registration.cluster() + " began anew: " + ended + " jobs of before are ended");
        }
        boolean changed = books.change(
                draft -> Registration.apply(
                        draft,
                        registration,
                        identities.userName(caller.uid()),
                        now(),
                        conf.get().text("DefaultQOS")),
                c -> c);
        if (registration.nodeCount() > 0) {
            store.clusterResources(
                    projection, registration.cluster(), now(), registration.tres(), registration.nodes());
        }
        links.registered(registration.cluster(), registration.journal(), projection);
        log.info("cluster " + registration.cluster() + " registered by " + registration.host() + ":"
                + registration.port());
        if (changed) {
            links.announce(books.book().version(), 0);
        }
        return Reply.of(new DbdMessages.Registered(projection.sequence(), ahead.ahead(), ahead.jobId(), ahead.sluid()));
    }

    private Reply append(DbdMessages.Append a) {
        Optional<Projection> projection = links.projection(a.cluster(), a.journal());
        if (projection.isEmpty()) {
            return Reply.error(SlurmErrno.IN_STANDBY_MODE);
        }
        List<AccountingRows.Batch> batches = tracked(a);
        keys(a.cluster(), batches);
        projection.get().write(batches);
        return Reply.of(new DbdMessages.Registered(projection.get().sequence()));
    }

    /** Adds wckeys of new jobs to the lists before their rows are written: rows that a crash loses come again. */
    private void keys(String cluster, List<AccountingRows.Batch> batches) {
        List<AccountingRows.JobRow> fresh = JobKeys.unknown(
                books.book(),
                cluster,
                batches.stream().flatMap(b -> b.jobs().stream()).toList());
        if (!fresh.isEmpty()) {
            books.change(
                    draft -> {
                        JobKeys.add(draft, cluster, fresh, now());
                        return true;
                    },
                    c -> c);
            links.announce(books.book().version(), 0);
        }
    }

    /**
     * TrackWCKey: a cluster that does not track keys itself has its jobs counted under their users' default ones.
     * Otherwise what the cluster says is the row.
     */
    private List<AccountingRows.Batch> tracked(DbdMessages.Append append) {
        if (!conf.get().text("TrackWCKey").equals("yes")
                || append.batches().stream()
                        .allMatch(
                                b -> b.jobs().stream().noneMatch(j -> j.wckey().isEmpty()))) {
            return append.batches();
        }
        return append.batches().stream()
                .map(b -> new AccountingRows.Batch(
                        b.seq(),
                        b.jobs().stream().map(j -> keyed(append.cluster(), j)).toList(),
                        b.steps(),
                        b.events(),
                        b.texts(),
                        b.contents(),
                        b.reservations(),
                        b.instances()))
                .toList();
    }

    private AccountingRows.JobRow keyed(String cluster, AccountingRows.JobRow job) {
        return job.wckey().isEmpty()
                ? job.with("*" + books.book().defaultWckey(cluster, job.userName()), job.comment(), job.extra(), true)
                : job;
    }

    private Reply readRow(DbdMessages.ReadRow query) {
        Optional<Projection> projection = links.projection(query.cluster(), query.journal());
        if (projection.isEmpty()) {
            return Reply.error(SlurmErrno.IN_STANDBY_MODE);
        }
        boolean job = query.stepId() == DbdMessages.ReadRow.NO_STEP;
        return Reply.of(new DbdMessages.RowRead(
                job
                        ? projection
                                .get()
                                .job(query.sluid(), query.restarts())
                                .map(List::of)
                                .orElse(List.of())
                        : List.of(),
                job
                        ? List.of()
                        : projection
                                .get()
                                .step(query.sluid(), query.restarts(), query.stepId())
                                .map(List::of)
                                .orElse(List.of())));
    }

    /** A controller that went is shown without an address. */
    void sweep() {
        if (++sweeps % FLUSH_EVERY == 0) {
            store.flush();
        }
        long hour = now() / Utilization.HOUR;
        if (hour != purgedHour) {
            purgedHour = hour;
            // on its own thread, so that committed rows are synced to disk meanwhile
            Thread.ofVirtual().start(() -> {
                try {
                    purge.run(conf.get()::text, java.time.ZoneId.systemDefault());
                } catch (java.io.IOException | AccountingException e) {
                    log.error("purge: " + ErrorSentence.of(e));
                }
            });
        }
        for (String cluster : links.away()) {
            log.info("cluster " + cluster + " has not been heard of: its controller is away");
            links.forget(cluster);
            books.change(
                    draft -> {
                        Registration.away(draft, cluster);
                        return true;
                    },
                    c -> c);
        }
    }

    // ---- questions

    private void settle(List<String> clusters) {
        if (!links.flush(clusters, ROWS_MS)) {
            log.info(
                    "answered without the newest rows: a controller has not sent them within " + ROWS_MS / 1000 + " s");
        }
    }

    /** The user for which a controller asks, if the caller is one. */
    private static int asker(Caller caller, AccountingRows.Query query, boolean mayNameOthers) {
        return mayNameOthers && query.asker().matches("\\d{1,9}") ? Integer.parseInt(query.asker()) : caller.uid();
    }

    private PrivateData privacy(int uid) {
        return new PrivateData(
                conf.get().text("PrivateData"),
                books.book(),
                uid,
                identities.userName(uid),
                atLeast(uid, AdminLevel.OPERATOR));
    }

    /** MaxQueryTimeRange: whether a span is longer than others than operators may ask about jobs. */
    private boolean exceedsMaxQueryTime(int uid, long from, long to) {
        java.util.OptionalLong most = Durations.parseMinutes(conf.get().text("MaxQueryTimeRange"));
        long span = (to == 0 ? now() : to) - from;
        return most.isPresent()
                && most.getAsLong() != Durations.UNLIMITED
                && span > most.getAsLong() * Durations.MINUTE
                && !atLeast(uid, AdminLevel.OPERATOR);
    }

    private Reply accounting(Caller caller, AccountingRows.Query query) {
        int asker = asker(caller, query, superuser(caller.uid()));
        if (query.jobs().isEmpty() && exceedsMaxQueryTime(asker, query.from(), query.to())) {
            return Reply.error(SlurmErrno.DB_QUERY_TOO_WIDE);
        }
        settle(query.clusters());
        PrivateData privacy = privacy(asker);
        String cluster = query.clusters().isEmpty() ? "" : query.clusters().getFirst();
        if (query.packed() && query.text().isEmpty() && !privacy.hidesJobs()) {
            return new Reply(200, store.packed(query, now(), cluster, numbers()));
        }
        AccountingRows.Answer found = privacy.shown(
                store.answer(query, now(), cluster).withTextsOf(asker, atLeast(asker, AdminLevel.OPERATOR)));
        if (query.packed()) {
            return new Reply(200, PackedRows.of(query, found, numbers()));
        }
        // the numbers are in the book; a query for other fields does not need them
        boolean numbers = query.fields().isEmpty()
                || query.fields().contains("assocId")
                || query.fields().contains("wckeyId");
        return Reply.of(
                !numbers
                        ? found
                        : new AccountingRows.Answer(
                                found.now(),
                                found.cluster(),
                                found.jobs().stream().map(this::numbered).toList(),
                                found.next()));
    }

    private PackedRows.Numbers numbers() {
        AssocTree book = books.book();
        return new PackedRows.Numbers() {
            @Override
            public int association(String cluster, String account, String user, String partition) {
                return book.assocNumber(cluster, account, user, partition);
            }

            @Override
            public int wckey(String cluster, String user, String key) {
                return book.wckeyNumber(cluster, user, key);
            }
        };
    }

    /** Adds the numbers of association and wckey to a row that lacks them. */
    private AccountingRows.JobWithSteps numbered(AccountingRows.JobWithSteps found) {
        AccountingRows.JobRow job = found.job();
        if (job.assocId() != 0) {
            return found;
        }
        return new AccountingRows.JobWithSteps(
                job.numbered(
                        books.book().assocNumber(found.cluster(), job.account(), job.userName(), job.partition()),
                        books.book().wckeyNumber(found.cluster(), job.userName(), job.wckey())),
                found.steps(),
                found.cluster(),
                found.text());
    }

    private Reply report(Caller caller, Report query) {
        PrivateData privacy = privacy(caller.uid());
        if (query.kind().equals(Report.RESERVATIONS) && privacy.refuses("reservation")) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        if (query.kind().equals(Report.SIZES) && exceedsMaxQueryTime(caller.uid(), query.from(), query.to())) {
            return Reply.error(SlurmErrno.DB_QUERY_TOO_WIDE);
        }
        settle(query.clusters());
        return reports.answer(
                        query,
                        books.book(),
                        privacy,
                        conf.get().text("TrackWCKey").equals("yes"),
                        now())
                .map(rows -> Reply.of(new Rows(rows)))
                .orElseGet(() -> Reply.error(SlurmErrno.NOT_SUPPORTED));
    }

    private Reply show(Caller caller, Show query) {
        Optional<String> refused = RequestFilters.refused(query.entity(), query.where());
        if (refused.isPresent()) {
            return Reply.error(400, SlurmErrno.NOT_SUPPORTED, refused.get().strip());
        }
        for (String key : List.of("maxcpus", "mincpus")) {
            if (!query.where().getOrDefault(key, "0").matches("\\d{1,9}")) {
                return Reply.error(
                        400,
                        SlurmErrno.NOT_SUPPORTED,
                        "Invalid value for " + key + " (" + query.where().get(key) + ")");
            }
        }
        if (query.where().containsKey("condflags") && !open(query)) {
            return Reply.error(
                    400,
                    SlurmErrno.NOT_SUPPORTED,
                    "The value '" + query.where().get("condflags")
                            + "' of the condition 'condflags' is not supported by this version");
        }
        PrivateData privacy = privacy(caller.uid());
        if (privacy.refuses(query.entity())) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        Optional<List<Map<String, String>>> rows =
                new Views(books.book(), query, name -> identities.byName(name).isPresent()).rows();
        if (rows.isPresent()) {
            return Reply.of(new Rows(privacy.shown(query.entity(), rows.get())));
        }
        return switch (query.entity()) {
            case "transaction" ->
                Reply.of(new Rows(new Transactions(books.book(), query)
                        .of(books.transactions(number(query, "start"), number(query, "end")))));
            case "event" -> {
                settle(List.of());
                yield Reply.of(new Rows(events(query)));
            }
            case "instance" -> {
                settle(List.of());
                yield Reply.of(new Rows(InstanceTable.of(store, number(query, "start"), number(query, "end")).stream()
                        .filter(row -> INSTANCE_CONDITIONS.entrySet().stream()
                                .allMatch(e -> fits(query, e.getKey(), ShowColumns.of(row, e.getValue()))))
                        .toList()));
            }
            case "runawayjob" -> {
                settle(List.of(query.where().getOrDefault("cluster", "")));
                yield Reply.of(new Rows(runaways.open(query.where().getOrDefault("cluster", ""))));
            }
            case "reservation" -> {
                settle(List.of());
                yield Reply.of(new Rows(reservations(query, privacy)));
            }
            case "configuration" -> Reply.of(new Rows(List.of(DbdConfig.shown(conf.get(), identities))));
            case "stats" -> Reply.of(new Rows(counts()));
            default -> Reply.error(SlurmErrno.NOT_SUPPORTED);
        };
    }

    /** Counts of requests: by message, then by user, the most frequent first. Times in microseconds. */
    private List<Map<String, String>> counts() {
        List<Map<String, String>> out = new ArrayList<>();
        long[] commands = new long[2];
        requests.forEachMessage((message, c) -> {
            out.add(count("type", message, RpcNames.number(message), c));
            if (RpcNames.ofCommand(message)) {
                commands[0] += c.calls();
                commands[1] += c.us();
            }
        });
        if (commands[0] > 0) {
            out.add(count(
                    "type", RpcNames.END, RpcNames.number(RpcNames.END), new Requests.Count(commands[0], commands[1])));
        }
        requests.forEachUser((uid, c) -> out.add(
                count("user", uid == Requests.OTHERS ? "others" : identities.userName(uid), Integer.toString(uid), c)));
        out.sort(java.util.Comparator.comparingLong(
                        (Map<String, String> row) -> Long.parseLong(ShowColumns.of(row, "Count")))
                .reversed());
        out.addFirst(Map.of("Kind", "since", "Name", Long.toString(requests.since())));
        return out;
    }

    private static Map<String, String> count(String kind, String name, String uid, Requests.Count c) {
        return Map.of(
                "Kind",
                kind,
                "Name",
                name,
                "Uid",
                uid,
                "Count",
                Long.toString(c.calls()),
                "Average",
                Long.toString(c.us() / c.calls()),
                "Total",
                Long.toString(c.us()));
    }

    private static boolean fits(Show query, String key, String value) {
        String wanted = query.where().getOrDefault(key, "");
        return wanted.isEmpty()
                || List.of(wanted.toLowerCase(java.util.Locale.ROOT).split(","))
                        .contains(value.toLowerCase(java.util.Locale.ROOT));
    }

    private static long number(Show query, String key) {
        try {
            return Long.parseLong(query.where().getOrDefault(key, "0"));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** Reservations that have not ended, or those of a given time. */
    private List<Map<String, String>> reservations(Show query, PrivateData privacy) {
        Map<String, String> conditions = new LinkedHashMap<>(query.where());
        List<String> clusters = query.where().containsKey("cluster")
                ? List.of(query.where().get("cluster").split(","))
                : List.of();
        long from = number(query, "start");
        long to = number(query, "end");
        Report report = new Report(
                Report.RESERVATIONS,
                clusters,
                from == 0 && to == 0 ? now() : from,
                to == 0 ? Long.MAX_VALUE : to,
                conditions,
                0);
        return reports.answer(report, books.book(), privacy, false, now()).orElseThrow();
    }

    private List<Map<String, String>> events(Show query) {
        List<Map<String, String>> out = new ArrayList<>();
        for (Map<String, String> row : books.events(number(query, "start"), number(query, "end"))) {
            boolean kind = switch (query.where().getOrDefault("event", "").toLowerCase(java.util.Locale.ROOT)) {
                case "cluster" -> ShowColumns.of(row, "NodeName").isEmpty();
                case "node" -> !ShowColumns.of(row, "NodeName").isEmpty();
                default -> true;
            };
            if (kind
                    && fits(query, "cluster", ShowColumns.of(row, "Cluster"))
                    && fits(query, "node", ShowColumns.of(row, "NodeName"))
                    && fits(query, "reason", ShowColumns.of(row, "Reason"))
                    && states(query, ShowColumns.of(row, "State"))
                    && isOfUser(query, ShowColumns.of(row, "User"))
                    && cpus(query, ShowColumns.of(row, "TRES"))
                    && (!open(query) || ShowColumns.of(row, "TimeEnd").equals("0"))) {
                Map<String, String> named = new LinkedHashMap<>(row);
                named.computeIfPresent("User", (k, uid) -> uid.isEmpty() ? "" : userOf(uid));
                long end = Long.parseLong(ShowColumns.of(row, "TimeEnd"));
                named.put(
                        "Duration",
                        Long.toString(Math.max(
                                0, (end == 0 ? now() : end) - Long.parseLong(ShowColumns.of(row, "TimeStart")))));
                out.add(named);
            }
        }
        return out;
    }

    /** Any of the words of the state, as in {@code IDLE+DRAIN}. */
    private static boolean states(Show query, String state) {
        return query.where().getOrDefault("state", "").isEmpty()
                || List.of(state.split("\\+")).stream().anyMatch(s -> fits(query, "state", s));
    }

    /** Whether the query names this user, by number or by name. */
    private boolean isOfUser(Show query, String uid) {
        if (query.where().getOrDefault("user", "").isEmpty() || fits(query, "user", uid)) {
            return true;
        }
        String named = uid.isEmpty() ? "" : userOf(uid);
        return fits(query, "user", named.substring(0, Math.max(0, named.indexOf('('))));
    }

    private static boolean cpus(Show query, String tres) {
        long cpus = List.of(tres.split(",")).stream()
                .filter(t -> t.startsWith("cpu="))
                .mapToLong(t -> Long.parseLong(t.substring(4)))
                .findFirst()
                .orElse(0);
        long maximum = number(query, "maxcpus");
        return cpus >= number(query, "mincpus") && (maximum == 0 || cpus <= maximum);
    }

    private static boolean open(Show query) {
        return "open".equalsIgnoreCase(query.where().get("condflags"));
    }

    /** {@code ann(1001)} for the number that a controller sent. */
    private String userOf(String uid) {
        try {
            return identities.userName(Integer.parseInt(uid)) + "(" + uid + ")";
        } catch (NumberFormatException e) {
            return uid;
        }
    }

    // ---- changes

    private Reply change(Caller caller, Change c) {
        if (c.entity().equals("job") && c.verb().equals("modify")) {
            settle(List.of());
            return Reply.of(jobs.run(c, caller.uid(), atLeast(caller, AdminLevel.OPERATOR), books.book()));
        }
        if (c.verb().equals("delete")) {
            // jobs that have ended by now keep nothing
            settle(List.of());
        }
        String actor = identities.userName(caller.uid());
        Changed result = books.change(
                draft -> new Changes(draft, actor, superuser(caller), c, now(), rules()).run(),
                r -> c.commit() && r.error().isEmpty());
        if (c.commit() && result.error().isEmpty()) {
            links.announce(books.book().version(), CONTROLLERS_MS);
        }
        return Reply.of(result);
    }

    private ChangeRules rules() {
        SlurmdbdConf slurmdbdConf = conf.get();
        boolean all = slurmdbdConf.hasParameter("PreserveCaseAll");
        return new ChangeRules(
                all || slurmdbdConf.hasParameter("PreserveCaseUser"),
                !slurmdbdConf.text("DisableCoordDBD").equals("yes"),
                slurmdbdConf.text("AllowNoDefAcct").equals("yes"),
                slurmdbdConf.text("AllResourcesAbsolute").equals("yes"),
                all || slurmdbdConf.hasParameter("PreserveCaseResource"),
                slurmdbdConf.text("DefaultQOS"),
                active::of);
    }

    private Reply changes(Caller caller, DbdMessages.ChangeAll all) {
        String actor = identities.userName(caller.uid());
        Changed result = books.change(
                draft -> {
                    for (Change change : all.changes()) {
                        Changed one = new Changes(draft, actor, superuser(caller), change, now(), rules()).run();
                        if (!one.error().isEmpty()) {
                            return one;
                        }
                    }
                    return new Changed(List.of(), List.of(), List.of(), List.of(), 0);
                },
                r -> all.commit() && r.error().isEmpty());
        if (all.commit() && result.error().isEmpty()) {
            links.announce(books.book().version(), CONTROLLERS_MS);
        }
        return Reply.of(result);
    }
}
