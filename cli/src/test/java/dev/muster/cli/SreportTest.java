package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tables are the original's for the same figures. */
class SreportTest {
    private static final String SPAN = " cluster=c1 start=2007-12-31T23:00:00 end=2008-01-02T12:00:00";
    private final FakeHost host = new FakeHost();

    private void rows(String json) {
        host.reply("Report", "{\"rows\":[" + json + "]}");
    }

    @BeforeEach
    void resources() {
        host.reply(
                "Show",
                "{\"rows\":[{\"Type\":\"cpu\"},{\"Type\":\"mem\"},{\"Type\":\"energy\"},{\"Type\":\"node\"},"
                        + "{\"Type\":\"gres\","
                        + "\"Name\":\"gpu\"}]}");
    }

    private void utilization() {
        rows("""
                {"Cluster":"c1","TRES":"cpu","Count":"4","Allocated":"361200","Down":"3600","PlannedDown":"0",\
                "Idle":"154200","Planned":"13800","OverCommitted":"2400","Reported":"532800"},
                {"Cluster":"c1","TRES":"mem","Count":"4000","Allocated":"348480000","Down":"3600000","PlannedDown":"0",\
                "Idle":"180720000","Planned":"0","OverCommitted":"0","Reported":"532800000"}""");
    }

    @Test
    void utilizationReportCoversAllResources() {
        utilization();
        assertThat(host.run("sreport cluster utilization -T cpu,mem -tsecper" + SPAN)
                        .out())
                .isEqualTo("""
                --------------------------------------------------------------------------------
                Cluster Utilization 2007-12-31T23:00:00 - 2008-01-02T11:59:59
                Usage reported in TRES Seconds/Percentage of Total
                --------------------------------------------------------------------------------
                """
                        + "  Cluster      TRES Name          Allocated              Down         PLND Down           "
                        + "    Idle           Planned"
                        + "           Reported \n"
                        + "--------- -------------- ------------------ ----------------- ----------------- "
                        + "------------------ -----------------"
                        + " ------------------ \n"
                        + "       c1            cpu     361200(67.79%)       3600(0.68%)          0(0.00%)     "
                        + "154200(28.94%)      13800(2.59%)"
                        + "    532800(100.00%) \n"
                        + "       c1            mem  348480000(65.41%)    3600000(0.68%)          0(0.00%)  "
                        + "180720000(33.92%)          0(0.00%)"
                        + " 532800000(100.00%) \n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            -t Seconds ~ c1|361200|3600|0|154200|13800|532800
            -tMin      ~ c1|6020|60|0|2570|230|8880
            -t h       ~ c1|100|1|0|43|4|148
            -t p       ~ c1|67.79%|0.68%|0.00%|28.94%|2.59%|100.00%
            -t hourper ~ c1|100(67.79%)|1(0.68%)|0(0.00%)|43(28.94%)|4(2.59%)|148(100.00%)
            -t minp    ~ c1|6020(67.79%)|60(0.68%)|0(0.00%)|2570(28.94%)|230(2.59%)|8880(100.00%)
            """)
    void sreportTimeUnitIsChosenByItsOption(String option, String expected) {
        utilization();
        assertThat(host.run("sreport -nP " + option + " cl ut" + SPAN).out()).isEqualTo(expected + "\n");
    }

    /** A cluster that has records for a quarter of the time. */
    @Test
    void reportedShowsHolesInAccounting() {
        rows("""
                {"Cluster":"c1","TRES":"cpu","Count":"4","Allocated":"66600","Down":"0","PlannedDown":"0",\
                "Idle":"66600","Planned":"0",\
                "OverCommitted":"0","Reported":"133200"}""");
        assertThat(host.run("sreport -nP -t percent cl ut" + SPAN).out())
                .isEqualTo("c1|50.00%|0.00%|0.00%|50.00%|0.00%|25.00%\n");
        assertThat(host.run("sreport -nP -t secper cl ut format=reported" + SPAN)
                        .out())
                .isEqualTo("133200(25.00%)\n");
    }

    @Test
    void formatChoosesFieldsAndWidths() {
        utilization();
        assertThat(host.run(
                        "sreport -tsec clu util format=cluster%-20,trescount,tresname,over,alloc%30,res,pland" + SPAN))
                .isEqualTo(new FakeHost.Ran(1, """
                --------------------------------------------------------------------------------
                Cluster Utilization 2007-12-31T23:00:00 - 2008-01-02T11:59:59
                Usage reported in CPU Seconds
                --------------------------------------------------------------------------------
                Cluster              TRES Count      TRES Name Over Com                      Allocated  Planned\s
                -------------------- ---------- -------------- -------- ------------------------------ --------\s
                c1                            4            cpu     2400                         361200    13800\s
                """, " Unknown field 'pland'\n"));
    }

    private void accounts() {
        rows("""
                {"Cluster":"c1","Account":"root","User":"","Depth":"0","cpu":"361200","mem":"7"},
                {"Cluster":"c1","Account":"a1","User":"","Depth":"1","cpu":"7800"},
                {"Cluster":"c1","Account":"a1","User":"u1","Depth":"2","cpu":"7800"},
                {"Cluster":"c1","Account":"a2","User":"","Depth":"1","cpu":"353400"},
                {"Cluster":"c1","Account":"a2","User":"u1","Depth":"2","cpu":"7800","energy":"5"},
                {"Cluster":"c1","Account":"a3","User":"","Depth":"2","cpu":"345600"},
                {"Cluster":"c1","Account":"a3","User":"u2","Depth":"3","cpu":"345600"}""");
    }

    @Test
    void treeOptionIndentsAccounts() {
        accounts();
        assertThat(host.run("sreport -tsec cluster AccountUtilizationByUser tree accounts=a2" + SPAN)
                        .out())
                .isEqualTo("""
                --------------------------------------------------------------------------------
                Cluster/Account/User Utilization 2007-12-31T23:00:00 - 2008-01-02T11:59:59 (133200 secs)
                Usage reported in CPU Seconds
                --------------------------------------------------------------------------------
                  Cluster Account                  Login     Proper Name     Used   Energy\s
                --------- -------------------- --------- --------------- -------- --------\s
                       c1 a2                                               353400        0\s
                       c1  a2                         u1                     7800        5\s
                       c1  a3                                              345600        0\s
                       c1   a3                        u2                   345600        0\s
                """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            cluster accountutilizationbyuser users=u1               ~ c1|a1|u1||7800|0 c1|a2|u1||7800|5
            cluster accountutilizationbyuser users=u1 accounts=a1   ~ c1|a1|u1||7800|0
            cluster accountutilizationbyuser users=u2 accounts=a2   ~ ''
            cluster userutilizationbyaccount   ~ c1|u2||a3|345600|0 c1|u1||a1|7800|0 c1|u1||a2|7800|5
            user top                           ~ c1|u2||a3|345600|0 c1|u1||a1|7800|0 c1|u1||a2|7800|5
            user top topcount=1                ~ c1|u2||a3|345600|0
            user top topcount=-1               ~ c1|u2||a3|345600|0 c1|u1||a1|7800|0 c1|u1||a2|7800|5
            user top group                     ~ c1|u2||a3|345600|0 c1|u1||a1, a2|15600|5
            user top account=a3                ~ c1|u2||a3|345600|0
            -T mem,cpu user top users=u2       ~ c1|u2||a3|mem|0 c1|u2||a3|cpu|345600
            user top format=used,login         ~ 345600|u2 7800|u1 7800|u1
            """)
    void usageReportsFilterUsersAndAccounts(String command, String expected) {
        accounts();
        assertThat(String.join(
                        " ",
                        host.run("sreport -nP -tsec " + command + SPAN)
                                .out()
                                .lines()
                                .toList()))
                .isEqualTo(expected);
    }

    @Test
    void jobSizesReportGroupsByAccount() {
        rows("{\"Cluster\":\"c1\",\"Name\":\"a1\",\"CPUs\":\"2\",\"Seconds\":\"7800\",\"Jobs\":\"2\"},"
                + "{\"Cluster\":\"c1\",\"Name\":\"a2\",\"CPUs\":\"2\",\"Seconds\":\"7800\",\"Jobs\":\"1\"},"
                + "{\"Cluster\":\"c1\",\"Name\":\"a2\",\"CPUs\":\"4\",\"Seconds\":\"345600\",\"Jobs\":\"1\"}");
        assertThat(host.run("sreport -nP -tsec j s grouping=2,4" + SPAN).out())
                .isEqualTo("c1|a1|0|7800|0|7800|2.16%\nc1|a2|0|7800|345600|353400|97.84%\n");
        assertThat(host.run("sreport -nP job sizes printjobcount grouping=individual" + SPAN)
                        .out())
                .isEqualTo("c1|a1|2|0|2|50.00%\nc1|a2|1|1|2|50.00%\n");
        assertThat(host.run("sreport -p -tsec job sizesbywckey" + SPAN).out())
                .contains(
                        "Job Sizes by Wckey 2007-12-31T23:00:00 - 2008-01-02T11:59:59"
                                + " (133200 secs)\nTime reported in Seconds\n",
                        "Cluster|Wckey|0-49 CPUs|50-249 CPUs|250-499 CPUs|500-999 CPUs|>= 1000 CPUs|"
                                + "Total Count|% of cluster|\n");
        assertThat(host.sent.get("Report").obj("where").text("by")).isEqualTo("wckey");
    }

    @Test
    void accountUtilizationIsReportedByQos() {
        rows(("{'Cluster':'c1','Account':'a1','QOS':'high','cpu':'7200','energy':'5'},"
                        + "{'Cluster':'c1','Account':'a1','QOS':'normal','cpu':'60'}")
                .replace('\'', '"'));
        assertThat(host.run("sreport cluster AccountUtilizationByQOS" + SPAN).out())
                .isEqualTo("""
                --------------------------------------------------------------------------------
                Cluster/Account/QOS Utilization 2007-12-31T23:00:00 - 2008-01-02T11:59:59 (133200 secs)
                Usage reported in CPU Minutes
                --------------------------------------------------------------------------------
                  Cluster         Account          QOS     Used   Energy\s
                --------- --------------- ------------ -------- --------\s
                       c1              a1         high      120        0\s
                       c1              a1       normal        1        0\s
                """);
        assertThat(host.run("sreport -nP cluster accountutilizationbyq qos=normal" + SPAN)
                        .out())
                .isEqualTo("c1|a1|normal|1|0\n");
        assertThat(host.run("sreport cluster accountu" + SPAN).err()).startsWith("Not valid report accountu");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            start=2008-01-01T00:10 end=2008-01-01T00:50 ~ 2008-01-01T00:00:00 - 2008-01-01T00:59:59
            start=2008-01-01T00:10 end=2008-01-01T03:50 ~ 2008-01-01T00:00:00 - 2008-01-01T03:59:59
            start=2008-01-01T00:50 end=2008-01-01T03:10 ~ 2008-01-01T00:00:00 - 2008-01-01T03:59:59
            start=2008-01-01T01:00 end=2008-01-01T03:00 ~ 2008-01-01T01:00:00 - 2008-01-01T02:59:59
            start=2026-11-21T12:00 end=2026-11-21T14:00 ~ 2026-11-21T12:00:00 - 2026-11-21T12:59:59
            start=2008-01-05 end=2008-01-04             ~ 2008-01-05T00:00:00 - 2008-01-05T00:59:59
            start=now-1hour end=now                     ~ 2026-11-21T08:00:00 - 2026-11-21T09:59:59
            start=2026-11-21T09:00 end=2026-11-21T12:00 ~ 2026-11-21T09:00:00 - 2026-11-21T09:59:59
            ''                                          ~ 2026-11-20T00:00:00 - 2026-11-21T00:59:59
            """)
    void spansAreWholeHours(String words, String expected) {
        rows("");
        assertThat(host.run("sreport cluster utilization " + words)
                        .out()
                        .lines()
                        .toList()
                        .get(1))
                .isEqualTo("Cluster Utilization " + expected);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            bogus                        ~ 'invalid keyword: bogus'
            c u                          ~ 'invalid keyword: c'
            job                          ~ 'too few arguments for keyword:job'
            user bogus                   ~ 'Not valid report bogus'
            reservation bogus            ~ 'Valid reservation reports are, "Utilization"'
            cluster ux                   ~ 'Not valid report ux'
            job sizesbyaccountx          ~ 'Not valid report sizesbyaccountx'
            cluster utilization bogus=1  ~ ' Unknown condition: bogus=1'
            cluster utilization format=x ~ Unknown field
            -T bogus cluster utilization ~ 'sreport: fatal: No valid TRES given'
            -T cpu,mem job sizes         ~ ' Job report only supports a single --tres type.'
            -T node cluster utilization  ~ 'sreport: fatal: TRES node usage is no longer reported in the Cluster Utilization report'
            -T node -tper user top ~ 'sreport: fatal: TRES node usage is no longer reported in percent format reports'
            user top topcount=x          ~ 'sreport: error: Invalid value for TopCount (x)'
            job sizes grouping=x         ~ 'sreport: error: Invalid value for grouping (x)'
            --bogus                      ~ 'Try "sreport --help" for more information'
            """)
    void invalidSreportCommandIsRefused(String command, String sentence) {
        rows("");
        FakeHost.Ran ran = host.run("sreport " + command);
        assertThat(ran.rc()).isEqualTo(1);
        assertThat(ran.err()).contains(sentence);
    }

    /** The first letters name a report, whatever follows them. */
    @ParameterizedTest
    @CsvSource({
        "user topuser, Top",
        "user tx, Top",
        "cluster utx, Cluster Utilization",
        "cluster accountutilizationbyux, Cluster/Account/User",
        "reservation ux, Reservation Utilization"
    })
    void firstLettersNameAReport(String report, String title) {
        rows("");
        assertThat(host.run("sreport " + report).out().lines().toList().get(1)).startsWith(title);
    }

    @Test
    void interactiveSreportRunsEachLine() {
        accounts();
        host.stdin =
                "parsable\nuser top users=u2" + SPAN + "\ntime sec\nbogus\nuser top users=u2" + SPAN + "\n!!\nexit\n";
        FakeHost.Ran ran = host.run("sreport -n");
        assertThat(ran.rc()).isEqualTo(1);
        assertThat(ran.out())
                .isEqualTo(
                        "sreport: sreport: c1|u2||a3|5760|0|\nsreport: sreport: sreport: c1|u2||a3|345600|0|\nsreport: "
                                + "c1|u2||a3|345600|0|\nsreport: ");
    }

    @Test
    void sreportRequestsTheNamedClusters() {
        rows("");
        host.run("sreport -M x,y cluster utilization cluster=z");
        assertThat(host.sent.get("Report").texts("clusters")).containsExactly("x", "y", "z");
        host.run("sreport -a cluster utilization");
        assertThat(host.sent.get("Report").texts("clusters")).isEmpty();
        host.accountingType = "accounting_storage/none";
        assertThat(host.run("sreport user top").rc()).isEqualTo(1);
    }
}
