package dev.muster.accounting.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.accounting.archive.ArchiveSql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArchiveSqlTest {
    @Test
    void statementsAreRead() {
        assertThat(ArchiveSql.read("""
                insert into job_table (jobid, `partition`, name, end) values ('1', 'p', 'it''s \\'x\\'', 7)
                ('2', "q", '(a, b)', null) , (3,'','',0)
                on duplicate key update id=LAST_INSERT_ID(id), end=VALUES(end);
                truncate table "c1_assoc_usage_hour_table";
                truncate table "c1_event_table";
                delete from job_table where nodelist='n 1' cluster='c1';
                delete from job_table where name=x && cluster='c' and jobid=4;
                """))
                .containsExactly(
                        new Statement.Insert(
                                "job_table",
                                List.of(
                                        Map.of("jobid", "1", "partition", "p", "name", "it's 'x'", "end", "7"),
                                        Map.of("jobid", "2", "partition", "q", "name", "(a, b)", "end", ""),
                                        Map.of("jobid", "3", "partition", "", "name", "", "end", "0"))),
                        new Statement.Truncate("c1", "assoc_usage_hour_table"),
                        new Statement.Truncate("c1", "event_table"),
                        new Statement.Delete("job_table", Map.of("nodelist", "n 1", "cluster", "c1")),
                        new Statement.Delete("job_table", Map.of("name", "x", "cluster", "c", "jobid", "4")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "drop table job",
                "select 1;",
                "insert into job_table (a, b) values (1)",
                "insert into t (a) values ('x",
                "delete from job_table",
                "delete from job_table where",
                "truncate table job",
                "truncate table \"c1_secrets\"",
                "insert into t () values ()",
                "update job_table set a=1",
                "\0",
                "insert",
                "insert into t (a) values (1) drop table x"
            })
    void unsupportedArchiveStatementIsRefused(String text) {
        assertThatThrownBy(() -> ArchiveSql.read(text)).isInstanceOf(ArchiveSql.UnreadableException.class);
    }

    @Test
    void aColumnThatWouldBeLostIsRefused() {
        assertThatThrownBy(() -> new PastJob(Map.of("jobid", "1", "secret", "2")))
                .hasMessageContaining("'secret'");
        PastJob job = new PastJob(Map.of(
                "id_job",
                "7",
                "time_submit",
                "100",
                "time_start",
                "200",
                "time_end",
                "260",
                "state",
                "3",
                "tres_alloc",
                "1=4",
                "nodelist",
                "n[1-2]",
                "cluster",
                "c",
                "exit_code",
                "256"));
        var row = job.row("ann", "g", "lab", "", numbers -> "cpu=4");
        assertThat(row.cpusAllocated()).isEqualTo(4);
        assertThat(row.nodeCount()).isEqualTo(2);
        assertThat(row.state()).isEqualTo("COMPLETED");
        assertThat(row.exit().code()).isEqualTo(1);
        assertThat(row.qos()).isEmpty();
        assertThat(row.sluid()).isEqualTo(job.row("ann", "g", "lab", "", n -> n).sluid());
    }

    /** Memory of a node, of a CPU (the highest bit), and the highest value for none. */
    @ParameterizedTest
    @CsvSource({"2048, 2048, false", "9223372036854776832, 1024, true", "18446744073709551615, 0, true", "'', 0, false"
    })
    void memoryIsThatOfTheRow(String column, long mb, boolean perCpu) {
        var row = new PastJob(Map.of("id_job", "7", "time_submit", "100", "state", "3", "mem_req", column))
                .row("ann", "g", "lab", "", n -> n);
        assertThat(row.memoryRequestedMb()).isEqualTo(mb);
        assertThat(row.memoryPerCpu()).isEqualTo(perCpu);
    }

    @Test
    void qosAndDerivedCodeAreKeptAndTheRestIsSaid() {
        PastJob job = new PastJob(Map.of(
                "id_job",
                "7",
                "time_submit",
                "100",
                "state",
                "3",
                "id_qos",
                "2",
                "derived_ec",
                "512",
                "gres_used",
                "gpu:2"));
        assertThat(job.qos()).isEqualTo("2");
        assertThat(job.lost()).singleElement().asString().contains("gres_used").contains("gpu:2");
        var row = job.row("ann", "g", "lab", "high", n -> n);
        assertThat(row.qos()).isEqualTo("high");
        assertThat(row.derivedExit().code()).isEqualTo(2);
    }
}
