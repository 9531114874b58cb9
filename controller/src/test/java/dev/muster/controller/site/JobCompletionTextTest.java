package dev.muster.controller.site;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.AccountingRows.JobRow;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines of jobcomp/filetxt as Slurm's own for the same jobs, times as UTC has them. */
class JobCompletionTextTest {
    private static JobRow row(String more) {
        return Codec.bind(
                Json.object(
                        ("{\"jobId\":7,\"userName\":\"u\",\"groupName\":\"g\",\"name\":\"x\",\"partition\":\"main\","
                                        + "\"limitMin\":5,"
                                        + "\"arrayTaskId\":-1,\"tresRequested\":\"cpu=2,node=1,billing=2\","
                                        + "\"nodeCount\":1,\"cpusRequested\":2,\"workDir\":\"/w\","
                                        + "\"account\":\"a\",\"qos\":\"normal\"," + more.replace('\'', '"') + "}")
                                .getBytes(StandardCharsets.UTF_8)),
                JobRow.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "'state':'COMPLETED','startTime':90,'endTime':95,'nodes':'n1','cpusAllocated':2,"
                        + "'tresAllocated':'cpu=2','eligibleTime':80"
                        + "|JobState=COMPLETED|NodeList=n1 NodeCnt=1 ProcCnt=2|Tres=cpu=2 |DerivedExitCode=0:0 "
                        + "ExitCode=0:0 ",
                "'state':'COMPLETED','startTime':90,'endTime':95,'nodes':'n1','cpusAllocated':2,"
                        + "'eligibleTime':80,'arrayJobId':5,'arrayTaskId':3"
                        + "|JobState=COMPLETED|NodeList=n1 NodeCnt=1 ProcCnt=2|Tres= | ArrayJobId=5 ArrayTaskId=3 "
                        + "DerivedExitCode",
                "'state':'COMPLETED','startTime':90,'endTime':95,'nodes':'n1','cpusAllocated':2,"
                        + "'eligibleTime':80,'hetJobId':6,'hetOffset':1"
                        + "|JobState=COMPLETED|NodeList=n1 NodeCnt=1 ProcCnt=2|Tres= | HetJobId=6 HetJobOffset=1 "
                        + "DerivedExitCode",
                "'state':'CANCELLED','startTime':0,'endTime':95,'nodes':'','cpusAllocated':0"
                        + "|JobState=CANCELLED|NodeList=(null) NodeCnt=0 ProcCnt=0|Tres=cpu=2,node=1,billing=2 "
                        + "|EligibleTime=unknown DerivedExitCode",
                "'state':'REQUEUED','startTime':90,'endTime':95,'nodes':'n1','cpusAllocated':2"
                        + "|JobState=PENDING|NodeList=n1 NodeCnt=1 ProcCnt=2|Tres= |ExitCode=0:0",
            })
    void completionLineHasStateNodesAndTres(String job, String state, String nodes, String tres, String rest) {
        String line = JobCompletionText.line(row(job), "c");
        assertThat(line).contains(" " + state + " ", " " + nodes + " ", " " + tres, rest);
    }

    @ParameterizedTest
    @CsvSource({"0, 95", "90, 90"})
    void jobThatNeverRanShowsItsEndAsStart(long start, long told) {
        String line = JobCompletionText.line(row("'state':'CANCELLED','startTime':" + start + ",'endTime':95"), "c");
        String time = line.replaceAll(".* StartTime=([^ ]*) .*", "$1").strip();
        assertThat(java.time.LocalDateTime.parse(time)
                        .atZone(java.time.ZoneId.systemDefault())
                        .toEpochSecond())
                .isEqualTo(told);
    }
}
