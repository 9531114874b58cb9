package dev.muster.accounting.db;

import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcConnection;
import org.h2.jdbcx.JdbcDataSource;
import org.h2.mvstore.MVStore;

/**
 * Where the tables are: the embedded database in a file, or a MariaDB or PostgreSQL server. Hands out connections;
 * thread-safe.
 */
public final class Database implements AutoCloseable {
    /** Connections kept for the next reader. */
    private static final int IDLE_MAX = 4;
    /** Memory for pages of the embedded database. */
    private static final int CACHE_KB = 16_384;
    /** Time for which the embedded database keeps data that it no longer needs: {@link #flush} is called more often. */
    private static final int RETENTION_MS = 10_000;
    /** Chunks of the file that hold less than this are written together, of bounded size at once. */
    private static final int FILL_PERCENT = 60;

    private static final int COMPACT_BYTES = 16 << 20;
    private static final int VALID_WITHIN_S = 2;
    private static final int CONNECT_WITHIN_MS = 5_000;
    /** Time in seconds after which a server ends a transaction in which nothing happens. */
    private static final int IDLE_WRITER_S = 5;
    /** The file of embedded tables, in their directory. */
    public static final String EMBEDDED_FILE = "accounting.mv.db";

    public static final int PORT = 3306;
    public static final int POSTGRESQL_PORT = 5432;
    /** PostgreSQL's error codes for a missing database and for one that exists already. */
    private static final String NO_DATABASE = "3D000";

    private static final String DUPLICATE_DATABASE = "42P04";
    /** Rows that a driver fetches at once: it would otherwise hold all of an answer. */
    private static final int FETCH_ROWS = 1_000;

    /** The differences between the databases. */
    public enum Dialect {
        H2,
        MARIADB,
        POSTGRESQL;

        /** A statement of a migration in this database's words. */
        String translated(String sql) {
            return switch (this) {
                case H2 -> sql;
                case MARIADB -> sql.replaceAll("\\bvarchar\\b(?! *\\()", "longtext");
                case POSTGRESQL ->
                    sql.replaceAll("\\blongtext\\b", "text")
                            .replaceAll("(generated always as\\s*\\(.*\\bend\\))", "$1 stored")
                            .replaceAll(
                                    "alter table \"(\\w+)\" drop primary key",
                                    "alter table \"$1\" drop constraint \"$1_pkey\"");
            };
        }

        /** Inserts a row or replaces the one with the same key. */
        public String merge(String table, String columns, String keys, String marks) {
            return switch (this) {
                case H2 -> "merge into \"" + table + "\" (" + columns + ") key (" + keys + ") values (" + marks + ")";
                case MARIADB -> "replace into \"" + table + "\" (" + columns + ") values (" + marks + ")";
                case POSTGRESQL ->
                    "insert into \"" + table + "\" (" + columns + ") values (" + marks + ") on conflict (" + keys
                            + ") do update set "
                            + String.join(
                                    ", ",
                                    List.of(columns.split(", ")).stream()
                                            .map(c -> c + " = excluded." + c)
                                            .toList());
            };
        }

        /** The database's clock in milliseconds since 1970, whatever its time zone is. */
        String nowMs() {
            return switch (this) {
                case H2 -> "cast(extract(epoch from current_timestamp) * 1000 as bigint)";
                case MARIADB -> "timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000";
                case POSTGRESQL -> "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";
            };
        }

        /** Whether changes of tables belong to the transaction that they are made in. */
        boolean transactionalTables() {
            return this == POSTGRESQL;
        }
    }

    /** Opens one connection. */
    private interface Opener {
        public Connection open() throws SQLException;
    }

    /** Work on a connection. */
    public interface Work<T> {
        T with(Connection connection) throws SQLException;
    }

    /** Work on a connection without a result. */
    public interface Action {
        void on(Connection connection) throws SQLException;
    }

    /** Says a password when a connection is opened. */
    public interface Secret {
        String now() throws IOException;
    }

    /**
     * A server as slurmdbd.conf names it.
     *
     * @param host "" or localhost: of MariaDB and MySQL through the Unix socket, if one of the usual ones is there and
     *     nothing is encrypted; a second one, tried where the first does not answer, stands behind a comma
     * @param port 0 for the default
     * @param socket path of the Unix socket, "" to look in the usual places
     * @param name of the database; made if the server has none of that name
     * @param parameters as StorageParameters has them: what is encrypted
     */
    public record Server(
            String host, int port, String socket, String user, Secret password, String name, String parameters) {
        public Server(String host, int port, String socket, String user, String password, String name) {
            this(host, port, socket, user, () -> password, name, "");
        }

        /**
         * The encryption that the parameters configure.
         *
         * @throws IllegalArgumentException if it cannot be done
         */
        public Optional<DatabaseTls> tls() {
            return DatabaseTls.of(parameters);
        }

        private String secret() throws SQLException {
            try {
                return password.now();
            } catch (IOException e) {
                throw new SQLException(ErrorSentence.of(e), e);
            }
        }
    }

    private final Dialect dialect;
    private final String where;
    private final Opener opener;
    private final ArrayDeque<Connection> idle = new ArrayDeque<>();

    /** The embedded database's number for a file that cannot be used. */
    private static final int IO_FAILED = 90031;

    private Optional<Path> file = Optional.empty();

    private Database(Dialect dialect, String where, Opener opener) {
        this.dialect = dialect;
        this.where = where;
        this.opener = opener;
    }

    /**
     * The embedded database in a directory. Committed rows are in the file when the commit returns (WRITE_DELAY=0),
     * written by the committing thread. A thread of the database's own would write later, so that a kill loses what was
     * committed, and would do so table by table beside a transaction that goes on: the file could hold a journal's
     * index without its rows.
     */
    public static Database embedded(Path directory) {
        // slurmdbd's log has the errors; the database's own trace file would contain statements and have the umask's
        // mode
        Database out = h2("jdbc:h2:file:" + directory.toAbsolutePath().resolve("accounting")
                + ";DB_CLOSE_ON_EXIT=FALSE;WRITE_DELAY=0;RETENTION_TIME=" + RETENTION_MS + ";CACHE_SIZE=" + CACHE_KB
                + ";TRACE_LEVEL_FILE=0");
        out.file = Optional.of(directory.toAbsolutePath().resolve(EMBEDDED_FILE));
        return out;
    }

    /** The file of an embedded database. */
    public Optional<Path> file() {
        return file;
    }

    private Connection opened() throws SQLException {
        ownFile();
        return opener.open();
    }

    /** The file is its owner's alone, before the library makes it with the mode that the umask leaves. */
    private void ownFile() throws SQLException {
        try {
            if (file.isPresent() && !Files.exists(file.get())) {
                Files.createDirectories(
                        file.get().getParent(),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
                Files.createFile(
                        file.get(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            } else if (file.isPresent()) {
                Files.setPosixFilePermissions(file.get(), PosixFilePermissions.fromString("rw-------"));
            }
        } catch (IOException e) {
            throw new SQLException(file.get() + ": " + ErrorSentence.reason(e), "", IO_FAILED, e);
        }
    }

    /** A database in memory, for tests and simulations. */
    public static Database inMemory(String name) {
        return h2("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1;DB_CLOSE_ON_EXIT=FALSE");
    }

    private static Database h2(String url) {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL(url);
        source.setUser("muster");
        return new Database(Dialect.H2, url, source::getConnection);
    }

    /** A server. Nothing is contacted before the first connection is asked for. */
    public static Database mariaDb(Server server) {
        return new Database(
                Dialect.MARIADB,
                server.user() + "@" + (server.host().isEmpty() ? "localhost" : server.host()) + "/" + server.name(),
                () -> connect(server));
    }

    /** A PostgreSQL server. Nothing is contacted before the first connection is asked for. */
    public static Database postgreSql(Server server) {
        return new Database(
                Dialect.POSTGRESQL,
                server.user() + "@" + (server.host().isEmpty() ? "localhost" : server.host()) + "/" + server.name(),
                () -> connectPostgreSql(server));
    }

    private static Connection connectPostgreSql(Server server) throws SQLException {
        try {
            return postgreSql(server, server.name());
        } catch (SQLException e) {
            if (!NO_DATABASE.equals(e.getSQLState())) {
                throw e;
            }
        }
        try (Connection connection = postgreSql(server, "postgres");
                Statement statement = connection.createStatement()) {
            statement.execute("create database \"" + server.name().replace("\"", "\"\"")
                    + "\" template template0 encoding 'UTF8' " + "lc_collate 'C' lc_ctype 'C'");
        } catch (SQLException e) {
            // another connection may have made it meanwhile
            if (!DUPLICATE_DATABASE.equals(e.getSQLState())) {
                throw e;
            }
        }
        return postgreSql(server, server.name());
    }

    private static Connection postgreSql(Server server, String name) throws SQLException {
        Properties p = new Properties();
        p.setProperty("user", server.user());
        p.setProperty("password", server.secret());
        server.tls().ifPresent(tls -> {
            p.setProperty("sslmode", "require");
            p.setProperty("sslfactory", PostgreSqlTls.class.getName());
            p.setProperty(DatabaseTls.OPTION, tls.text());
        });
        p.setProperty("connectTimeout", Integer.toString(CONNECT_WITHIN_MS / 1000));
        p.setProperty("tcpKeepAlive", "true");
        p.setProperty("defaultRowFetchSize", Integer.toString(FETCH_ROWS));
        p.setProperty("ApplicationName", "slurmdbd");
        return DriverManager.getConnection(
                "jdbc:postgresql://" + hosts(server, "localhost", POSTGRESQL_PORT) + "/"
                        + java.net.URLEncoder.encode(name, java.nio.charset.StandardCharsets.UTF_8),
                p);
    }

    private static String hosts(Server server, String local, int standard) {
        List<String> out = new ArrayList<>();
        for (String host : server.host().split(",")) {
            out.add((host.isEmpty() || host.equals("localhost") ? local : host) + ":"
                    + (server.port() > 0 ? server.port() : standard));
        }
        return String.join(",", out);
    }

    private static Connection connect(Server server) throws SQLException {
        boolean local = server.host().isEmpty() || server.host().equals("localhost");
        String socket = local && server.tls().isEmpty() ? socket(server) : "";
        Properties p = new Properties();
        p.setProperty("user", server.user());
        p.setProperty("password", server.secret());
        server.tls().ifPresent(tls -> {
            p.setProperty("sslMode", "verify-ca");
            p.setProperty("tlsSocketType", MariaDbTls.NAME);
            p.setProperty(DatabaseTls.OPTION, tls.text());
            if (!tls.ciphers().isEmpty()) {
                p.setProperty("enabledSslCipherSuites", String.join(",", tls.ciphers()));
            }
        });
        p.setProperty("connectTimeout", Integer.toString(CONNECT_WITHIN_MS));
        p.setProperty("sessionVariables", "sql_mode='ANSI_QUOTES,STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'");
        p.setProperty("useServerPrepStmts", "true");
        p.setProperty("rewriteBatchedStatements", "true");
        p.setProperty("allowPublicKeyRetrieval", "true");
        if (!socket.isEmpty()) {
            p.setProperty("socketFactory", UnixSocketFactory.class.getName());
            p.setProperty(UnixSocketFactory.PATH, socket);
        }
        Connection connection =
                DriverManager.getConnection("jdbc:mariadb://" + hosts(server, "127.0.0.1", PORT) + "/", p);
        try (Statement statement = connection.createStatement()) {
            String quoted = "\"" + server.name().replace("\"", "\"\"") + "\"";
            try {
                statement.execute("use " + quoted);
            } catch (SQLException absent) {
                statement.execute(
                        "create database if not exists " + quoted + " character set utf8mb4 collate utf8mb4_bin");
                statement.execute("use " + quoted);
            }
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    private static String socket(Server server) {
        if (!server.socket().isEmpty()) {
            return server.socket();
        }
        for (String path : List.of(
                "/run/mysqld/mysqld.sock",
                "/var/run/mysqld/mysqld.sock",
                "/var/lib/mysql/mysql.sock",
                "/tmp/mysql.sock")) {
            if (java.nio.file.Files.exists(Path.of(path))) {
                return path;
            }
        }
        return "";
    }

    public Dialect dialect() {
        return dialect;
    }

    /**
     * Has the rows of a long answer come while they are read, and not all before the first. One such answer at a time
     * on a connection.
     */
    public void inParts(PreparedStatement select) throws SQLException {
        select.setFetchSize(FETCH_ROWS);
    }

    /** Names the database in sentences. */
    public String where() {
        return where;
    }

    /** A connection of one's own. */
    public Connection open() throws SQLException {
        return opened();
    }

    /**
     * Opens the connection of a writer. A server ends it, with its locks, when the writer stands still within a
     * transaction: another slurmdbd would wait for a process that has been stopped.
     */
    Connection openForWrites() throws SQLException {
        Connection out = opened();
        try (Statement statement = out.createStatement()) {
            out.setAutoCommit(false);
            if (dialect == Dialect.POSTGRESQL) {
                statement.execute("set idle_in_transaction_session_timeout = " + IDLE_WRITER_S * 1000);
            } else if (dialect == Dialect.MARIADB
                    && out.getMetaData().getDatabaseProductName().equals("MariaDB")) {
                statement.execute("set session idle_transaction_timeout = " + IDLE_WRITER_S);
            }
            out.commit();
            return out;
        } catch (SQLException e) {
            closeQuietly(out);
            throw e;
        }
    }

    /** Bounds the time that each statement of a connection waits for a server, which may be cut off. */
    void boundWaits(Connection connection, long ms) throws SQLException {
        if (dialect != Dialect.H2) {
            connection.setNetworkTimeout(Runnable::run, (int) ms);
        }
    }

    /** Like {@link #read}, for readers that keep what they find themselves. */
    public void scan(Action action) throws SQLException {
        read(c -> {
            action.on(c);
            return true;
        });
    }

    /** Reads within one transaction that sees one moment. */
    public <T> T read(Work<T> work) throws SQLException {
        Connection connection = take();
        boolean fit = false;
        try {
            T result = work.with(connection);
            connection.rollback();
            fit = true;
            return result;
        } finally {
            if (fit) {
                give(connection);
            } else {
                closeQuietly(connection);
            }
        }
    }

    private Connection take() throws SQLException {
        Connection known;
        synchronized (idle) {
            known = idle.poll();
        }
        if (known != null) {
            if (known.isValid(VALID_WITHIN_S)) {
                return known;
            }
            closeQuietly(known);
        }
        Connection fresh = opened();
        fresh.setAutoCommit(false);
        fresh.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        return fresh;
    }

    private void give(Connection connection) {
        synchronized (idle) {
            if (idle.size() < IDLE_MAX) {
                idle.add(connection);
                return;
            }
        }
        closeQuietly(connection);
    }

    public static void closeQuietly(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            // broken already: nothing is lost with it
        }
    }

    /**
     * Makes what is committed survive a loss of power.
     *
     * @param tidy compacts the embedded database's file too, which nothing else does
     */
    void flush(Connection connection, boolean tidy) throws SQLException {
        if (dialect == Dialect.H2) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("checkpoint sync");
            }
            connection.commit();
            MVStore file = ((SessionLocal)
                            connection.unwrap(JdbcConnection.class).getSession())
                    .getDatabase()
                    .getStore()
                    .getMvStore();
            if (tidy && file.getFileStore() != null) {
                file.compact(FILL_PERCENT, COMPACT_BYTES);
            }
        }
    }

    @Override
    public void close() {
        synchronized (idle) {
            idle.forEach(Database::closeQuietly);
            idle.clear();
        }
    }

    /** Closes the embedded database's file. */
    void shutDown(Connection connection) throws SQLException {
        if (dialect == Dialect.H2) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("shutdown");
            }
        } else {
            connection.close();
        }
    }
}
