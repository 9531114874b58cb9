package dev.muster.accounting.table;

import dev.muster.accounting.db.Database;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.job.JobState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.Stream;

/** The table of finished jobs that JobCompType=jobcomp/mysql keeps, with the columns that sites' queries know. */
public final class JobCompletionTable implements AutoCloseable {
    private static final String CREATE = """
        create table if not exists jobcomp_table (jobid int not null, uid int unsigned not null,
        user_name tinytext not null, gid int unsigned not null, group_name tinytext not null,
        name tinytext not null, state int unsigned not null, "partition" tinytext not null,
        timelimit tinytext not null, starttime int unsigned default 0 not null,
        endtime int unsigned default 0 not null, nodelist text, nodecnt int unsigned not null,
        proc_cnt int unsigned not null, connect_type tinytext, reboot tinytext, rotate tinytext,
        maxprocs int unsigned default 0 not null, geometry tinytext, start tinytext, blockid tinytext,
        primary key (jobid, starttime, endtime))\
        """;
    /** Replaces a row, because rows may be written again after a restart. */
    private static final String INSERT = """
        replace into jobcomp_table (jobid, uid, user_name, gid, group_name, name, state, "partition", timelimit,
        starttime, endtime, nodelist, nodecnt, proc_cnt) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)\
        """;

    private final Database database;

    /** Nothing is contacted before the first row. */
    public JobCompletionTable(Database database) {
        this.database = database;
    }

    public void write(JobRow row) throws SQLException {
        database.read(c -> {
            try (Statement s = c.createStatement()) {
                s.execute(CREATE);
            }
            insert(c, row);
            c.commit();
            return row;
        });
    }

    private static void insert(Connection connection, JobRow row) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setInt(1, row.jobId());
            statement.setLong(2, row.userId() & 0xffffffffL);
            statement.setString(3, row.userName());
            statement.setLong(4, row.groupId() & 0xffffffffL);
            statement.setString(5, row.groupName());
            statement.setString(6, row.name());
            statement.setInt(7, state(row.state()));
            statement.setString(8, row.partition());
            statement.setString(9, row.limitMin() < 0 ? "UNLIMITED" : Integer.toString(row.limitMin()));
            statement.setLong(10, row.startTime());
            statement.setLong(11, row.endTime());
            statement.setString(12, row.nodes().isEmpty() ? null : row.nodes());
            statement.setInt(13, row.startTime() == 0 ? 0 : row.nodeCount());
            statement.setInt(14, row.cpusAllocated());
            statement.executeUpdate();
        }
    }

    /** Number of a state; REQUEUED, which is no state of a job, counts as pending. */
    private static int state(String name) {
        return Stream.of(JobState.values())
                .filter(s -> s.name().equals(name))
                .findFirst()
                .orElse(JobState.PENDING)
                .ordinal();
    }

    @Override
    public void close() {
        database.close();
    }
}
