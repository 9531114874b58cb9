package dev.muster.accounting.table;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.db.AccountingException;
import dev.muster.json.Codec;
import dev.muster.model.accounting.Entities;
import dev.muster.model.accounting.Entities.Entity;
import dev.muster.model.accounting.Entities.Transaction;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The book in the database: the newest one in memory, every change in one transaction. */
public final class AssocTreeStore {
    private final AccountingStore store;
    private volatile AssocTree book;

    /** Reads what is there, or begins a new book. */
    public AssocTreeStore(AccountingStore store, long now) {
        this.store = store;
        List<Entity> found = readAll();
        if (found.isEmpty()) {
            AssocTree first = AssocTree.initial(now);
            write(first);
            book = first;
        } else {
            book = AssocTree.of(found, now * 1000);
        }
    }

    /** The newest book; not to be changed. */
    public AssocTree book() {
        return book;
    }

    private static Class<? extends Entity> type(String kind) {
        return switch (kind) {
            case "cluster" -> Entities.Cluster.class;
            case "account" -> Entities.Account.class;
            case "user" -> Entities.User.class;
            case "assoc" -> Entities.Assoc.class;
            case "qos" -> Entities.Qos.class;
            case "tres" -> Entities.Tres.class;
            case "wckey" -> Entities.Wckey.class;
            case "resource" -> Entities.Resource.class;
            default ->
                throw new AccountingException(
                        "the accounting database holds entities of kind '" + kind + "', unknown to this version", null);
        };
    }

    private List<Entity> readAll() {
        try {
            return store.database().read(c -> {
                List<Entity> out = new ArrayList<>();
                try (PreparedStatement all = c.prepareStatement("select \"kind\", \"body\" from \"entity\"");
                        ResultSet row = all.executeQuery()) {
                    while (row.next()) {
                        out.add(Codec.decode(
                                row.getString(2).getBytes(StandardCharsets.UTF_8), type(row.getString(1))));
                    }
                }
                return out;
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("read", e);
        }
    }

    /** Works on a draft; if the work says so, the draft is written and becomes the book. */
    public synchronized <T> T change(Function<AssocTree, T> work, Function<T, Boolean> keep) {
        AssocTree draft = book.draft();
        T result = work.apply(draft);
        if (keep.apply(result)
                && !(draft.written().isEmpty() && draft.transactions().isEmpty())) {
            write(draft);
            book = AssocTree.of(draft);
        }
        return result;
    }

    private void write(AssocTree draft) {
        Map<String, Entity> last = new LinkedHashMap<>();
        draft.written().forEach(e -> last.put(e.kind() + "\n" + e.key(), e));
        try {
            store.writer().execute(c -> {
                String sql = store.database()
                        .dialect()
                        .merge("entity", "\"kind\", \"entity_key\", \"body\"", "\"kind\", \"entity_key\"", "?, ?, ?");
                try (PreparedStatement put = c.prepareStatement(sql)) {
                    for (Entity e : last.values()) {
                        put.setString(1, e.kind());
                        put.setString(2, e.key());
                        put.setString(3, new String(Codec.encode(e), StandardCharsets.UTF_8));
                        put.addBatch();
                    }
                    if (!last.isEmpty()) {
                        put.executeBatch();
                    }
                }
                log(c, draft.transactions());
            });
        } catch (SQLException e) {
            throw AccountingStore.failed("write to", e);
        }
    }

    private static void log(Connection connection, List<Transaction> transactions) throws SQLException {
        if (transactions.isEmpty()) {
            return;
        }
        long id;
        try (PreparedStatement max = connection.prepareStatement("select coalesce(max(\"id\"), 0) from \"txn\"");
                ResultSet row = max.executeQuery()) {
            row.next();
            id = row.getLong(1);
        }
        try (PreparedStatement add = connection.prepareStatement(
                "insert into \"txn\" (\"id\", \"time\", \"action\", \"actor\", \"cluster\", \"name\", \"info\") "
                        + "values (?, ?, ?, ?, ?, ?, ?)")) {
            for (Transaction transaction : transactions) {
                add.setLong(1, ++id);
                add.setLong(2, transaction.time());
                add.setString(3, transaction.action());
                add.setString(4, transaction.actor());
                add.setString(5, transaction.cluster());
                add.setString(6, transaction.name());
                add.setString(7, transaction.info());
                add.addBatch();
            }
            add.executeBatch();
        }
    }

    /**
     * Transactions from the first on, oldest first.
     *
     * @param from seconds, 0 for all
     */
    public List<Map<String, String>> transactions(long from, long to) {
        return store.rows(
                "select \"id\", \"time\", \"action\", \"actor\", \"cluster\", \"name\", \"info\" from \"txn\" "
                        + "where \"time\" >= ? and \"time\" <= ? order by \"id\"",
                row -> Map.of(
                        "ID",
                        row.getString(1),
                        "Time",
                        row.getString(2),
                        "Action",
                        row.getString(3),
                        "Actor",
                        row.getString(4),
                        "Cluster",
                        row.getString(5),
                        "Where",
                        row.getString(6),
                        "Info",
                        row.getString(7)),
                from,
                to == 0 ? Long.MAX_VALUE : to);
    }

    /** Events that overlap a window, oldest first. */
    public List<Map<String, String>> events(long from, long to) {
        return store.rows(
                "select \"cluster\", \"node\", \"start_time\", \"end_time\", \"state\", \"reason\", "
                        + "\"reason_user\", \"tres\", \"cluster_nodes\" from \"node_event\" where \"start_time\" <= ? "
                        + "and (\"end_time\" = 0 or \"end_time\" >= ?) order by \"start_time\", \"node\"",
                row -> Map.of(
                        "Cluster",
                        row.getString(1),
                        "NodeName",
                        row.getString(2),
                        "TimeStart",
                        row.getString(3),
                        "TimeEnd",
                        row.getString(4),
                        "State",
                        row.getString(5),
                        "Reason",
                        row.getString(6),
                        "User",
                        row.getString(7),
                        "TRES",
                        row.getString(8),
                        "ClusterNodes",
                        row.getString(9),
                        "Event",
                        row.getString(2).isEmpty() ? "Cluster" : "Node"),
                to == 0 ? Long.MAX_VALUE : to,
                from);
    }
}
