package dev.muster.controller.accounting;

import dev.muster.accounting.table.ProjectionWriter;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.controller.dbd.DbdLink;
import dev.muster.controller.dbd.ExternalDbds;
import dev.muster.controller.engine.HighestIds;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Trigger;
import dev.muster.core.tres.TrackedTypes;
import dev.muster.daemon.Sessions;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.model.Release;
import dev.muster.model.accounting.AccountingRows;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.Register;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Accounting in slurmdbd: the same rows as in the embedded tables, by way of a link. */
public final class DbdAccounting implements Accounting {
    private static final int PORT_DEFAULT = 6819;

    private final EmbeddedAccounting rows;
    private final DbdLink link;
    /** SlurmctldParameters=max_dbd_msg_action=exit. */
    private final boolean ends;
    /** SlurmctldParameters=max_dbd_msg_action=discard. */
    private final boolean discards;

    private final Runnable overflown;

    /**
     * @param journal names the journal
     * @param last the journal's last index
     * @param state the newest durable state
     * @param policy takes a new policy and returns when it is durable
     * @param contents scripts and environments by their hash
     * @param happened is told the events of triggers
     * @param overflown called when more waits for slurmdbd than MaxDBDMsgs, where slurmctld is to end then
     */
    public DbdAccounting(
            Supplier<SlurmConf> confs,
            Sessions sessions,
            String journal,
            LongSupplier last,
            Supplier<State> state,
            Consumer<Policy> policy,
            Function<String, Bytes> contents,
            Consumer<String> log,
            Consumer<String> happened,
            Runnable overflown) {
        SlurmConf conf = confs.get();
        this.overflown = overflown;
        String action = conf.parameters(Key.SLURMCTLD_PARAMETERS).getOrDefault("max_dbd_msg_action", "");
        ends = action.equalsIgnoreCase("exit");
        discards = action.equalsIgnoreCase("discard");
        int port = (int) conf.number(Key.ACCOUNTING_STORAGE_PORT);
        link = new DbdLink(
                hosts(conf),
                port > 0 ? port : PORT_DEFAULT,
                sessions.tls(),
                sessions::accountingSession,
                sessions::nonce,
                home(confs, state, journal, last, policy, log, happened));
        link.greet();
        rows = new EmbeddedAccounting(link, questions(), contents, log, waitingMax(conf), discards);
    }

    private DbdLink.Home home(
            Supplier<SlurmConf> confs,
            Supplier<State> state,
            String journal,
            LongSupplier last,
            Consumer<Policy> policy,
            Consumer<String> log,
            Consumer<String> happened) {
        return new DbdLink.Home() {
            @Override
            public Register introduction() {
                return DbdAccounting.introduction(confs.get(), state.get(), journal, last.getAsLong());
            }

            @Override
            public void apply(Policy p) {
                policy.accept(p);
            }

            @Override
            public boolean settle(long ms) {
                return rows.awaitRows(ms);
            }

            @Override
            public Batch everything() {
                return rows.everything();
            }

            @Override
            public void log(String sentence) {
                log.accept(sentence);
            }

            @Override
            public void changed(DbdLink.Part part, boolean up) {
                happened.accept(
                        switch (part) {
                            case SLURMDBD -> up ? Trigger.DBD_RESUMED : Trigger.DBD_FAILED;
                            case DATABASE -> up ? Trigger.DATABASE_RESUMED : Trigger.DATABASE_FAILED;
                        });
            }
        };
    }

    private EmbeddedAccounting.RowQueries questions() {
        return new EmbeddedAccounting.RowQueries() {
            @Override
            public AccountingRows.Answer answer(AccountingRows.Query query, String cluster) {
                return Codec.decode(asked(query, cluster), AccountingRows.Answer.class);
            }

            private byte[] asked(AccountingRows.Query query, String cluster) {
                AccountingRows.Query own = query.clusters().isEmpty() ? query.of(List.of(cluster)) : query;
                return link.ask("QueryAccounting", Codec.encode(own));
            }

            @Override
            public Optional<byte[]> written(AccountingRows.Query query, String cluster) {
                return Optional.of(asked(query, cluster));
            }

            @Override
            public void close() {
                link.close();
            }
        };
    }

    /** MaxDBDMsgs: rows that wait for slurmdbd; with more of them no job is taken. */
    private static int waitingMax(SlurmConf conf) {
        long maxMessages = conf.number(Key.MAX_DBD_MSGS);
        return maxMessages == 0 ? ProjectionWriter.MAX_WAITING_ROWS : (int) Math.min(Integer.MAX_VALUE, maxMessages);
    }

    private static List<String> hosts(SlurmConf conf) {
        String backup = conf.text(Key.ACCOUNTING_STORAGE_BACKUP_HOST);
        String host = conf.text(Key.ACCOUNTING_STORAGE_HOST);
        return backup.isEmpty() ? List.of(host) : List.of(host, backup);
    }

    /** Returns the other slurmdbds that are told where this cluster is. */
    public static ExternalDbds external(
            Supplier<SlurmConf> confs, Sessions sessions, Supplier<State> state, Consumer<String> log) {
        return new ExternalDbds(
                () -> {
                    int port = (int) confs.get().number(Key.ACCOUNTING_STORAGE_PORT);
                    return ExternalDbds.Place.list(
                            confs.get().text(Key.ACCOUNTING_STORAGE_EXTERNAL_HOST), port > 0 ? port : PORT_DEFAULT);
                },
                () -> introduction(confs.get(), state.get(), "", 0).abroad(),
                sessions.tls(),
                sessions::accountingSession,
                sessions::nonce,
                log);
    }

    private static Register introduction(SlurmConf conf, State state, String journal, long last) {
        long cpus = 0;
        long memory = 0;
        Map<String, Integer> gres = new TreeMap<>();
        TrackedTypes types = TrackedTypes.of(state.settings());
        List<String> nodes = new ArrayList<>();
        for (Node n : state.nodes().values()) {
            cpus += n.spec().cpus();
            memory += n.spec().memoryMb();
            types.all(gres, n);
            nodes.add(n.name());
        }
        StringBuilder tres = new StringBuilder("cpu=" + cpus + ",mem=" + memory + ",energy=0,node=" + nodes.size()
                + ",billing=" + cpus + ",fs/disk=0,vmem=0,pages=0");
        TreeSet<String> names = new TreeSet<>(conf.list(Key.ACCOUNTING_STORAGE_TRES));
        names.removeIf(n -> !n.contains("/"));
        Map<String, Integer> all = new TreeMap<>();
        gres.forEach((name, count) -> all.put("gres/" + name, count));
        LicenseRequest.parse(String.join(",", conf.list(Key.LICENSES)))
                .ifPresent(w -> w.items().forEach(i -> all.put("license/" + i.name(), i.count())));
        names.forEach(name -> tres.append(',').append(name).append('=').append(all.getOrDefault(name, 0)));
        return new Register(
                conf.clusterName(),
                journal,
                last,
                conf.controllers().getFirst().address(),
                conf.slurmctldPorts().getFirst(),
                Release.RPC_VERSION,
                tres.toString(),
                HostList.of(nodes).compressed(),
                nodes.size(),
                List.copyOf(names));
    }

    /** Begins to wait for policies; the nodes are known now. */
    public void start() {
        link.greet();
        link.start();
    }

    /** Tells slurmdbd of nodes and resources after a new configuration. */
    public void reconfigured() {
        link.greet();
    }

    @Override
    public void follow(long index, Entry entry, State after) {
        rows.follow(index, entry, after);
        // after a start all that waits is there at once, and goes out at once where slurmdbd answers
        if (ends && rows.overloaded() && !link.isUp()) {
            overflown.run();
        }
    }

    @Override
    public AccountingRows.Answer query(AccountingRows.Query query, long index) {
        return rows.query(query, index);
    }

    @Override
    public Optional<byte[]> written(AccountingRows.Query query, long index) {
        return rows.written(query, index);
    }

    @Override
    public HighestIds highest() {
        return new HighestIds(
                link.ahead().ahead(), link.ahead().jobId(), link.ahead().sluid());
    }

    @Override
    public long projected() {
        return rows.projected();
    }

    @Override
    public void close() {
        rows.close();
    }

    @Override
    public void queue(WaitReasons.Queue queue) {
        rows.queue(queue);
    }

    @Override
    public void begin(long index, State state) {
        rows.begin(index, state);
    }

    @Override
    public boolean settle(long index, long waitMs) {
        return rows.settle(index, waitMs);
    }

    @Override
    public boolean overloaded() {
        return rows.overloaded();
    }

    @Override
    public boolean discards() {
        return discards;
    }
}
