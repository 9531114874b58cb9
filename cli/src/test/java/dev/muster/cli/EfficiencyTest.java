package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** {@code seff} and {@code muster report}: what was asked for beside what was used. */
class EfficiencyTest {
    /** A job of four CPUs and two GPUs that gave up a node after 100 s and ran for another 50. */
    private static final String RESIZED = """
        {"now":2000,"cluster":"c","jobs":[
         {"job":{"jobId":7,"sluid":70,"userName":"ann","groupName":"g","state":"RESIZING","startTime":1000,
          "endTime":1100,"limitMin":10,
                 "nodes":"n[1-2]","nodeCount":2,"cpusAllocated":4,"tresAllocated":"cpu=4,mem=4G,node=2,gres/gpu=2"},
          "steps":[{"stepId":0,"jobId":7,"state":"COMPLETED","tasks":4,"startTime":1000,"endTime":1100,
                    "usage":{"userCpuUs":200000000,"maxRssKb":262144}}]},
         {"job":{"jobId":7,"sluid":71,"userName":"ann","groupName":"g","state":"COMPLETED","startTime":1100,
          "endTime":1150,"limitMin":10,
                 "nodes":"n1","nodeCount":1,"cpusAllocated":2,"tresAllocated":"cpu=2,mem=2G,node=1,gres/gpu=1"},
          "steps":[{"stepId":1,"jobId":7,"state":"COMPLETED","tasks":1,"startTime":1100,"endTime":1150,
                    "usage":{"userCpuUs":25000000,"maxRssKb":524288}}]}]}""";

    private final FakeHost host = new FakeHost();

    @Test
    void efficiencySumsAllSizesOfAJob() {
        host.reply("QueryAccounting", RESIZED);
        FakeHost.Ran ran = host.run("muster report 7");
        assertThat(ran.err()).isEmpty();
        assertThat(ran.out()).isEqualTo("""
            Job 7 of ann on c: COMPLETED, exit code 0:0
                         requested          used
            CPU           00:08:20      00:03:45      45.00%
            Memory         4.00 GB      ~1.00 GB      25.00%
            GPU           00:04:10  not measured
            Time          00:10:00      00:02:30      25.00%
            It had 2 CPUs and 1 GPU on 1 node.
            """);
        // half of two GPUs for 100 s, and 80 % of one for 50 s
        host.reply(
                "QueryAccounting",
                RESIZED.replace("\"maxRssKb\":262144", "\"maxRssKb\":262144,\"metered\":\"0/0/2/100/150/4096/4096\"")
                        .replace("\"maxRssKb\":524288", "\"maxRssKb\":524288,\"metered\":\"0/0/1/80/100/4096/4096\""));
        assertThat(host.run("muster report 7").out()).contains("GPU           00:04:10      00:02:20      56.00%");
        host.reply("QueryAccounting", RESIZED);
        assertThat(host.run("seff 7").out())
                .contains(
                        "CPU Efficiency: 45.00% of 00:08:20 core-walltime",
                        "Job Wall-clock time: 00:02:30", "Memory Efficiency: 25.00% of 4.00 GB");
    }

    @Test
    void reportSaysThatAJobHasNotRunOrIsUnknown() {
        host.reply(
                "QueryAccounting",
                "{\"jobs\":[{\"job\":{\"jobId\":8,\"userName\":\"ann\",\"state\":\"PENDING\",\"limitMin\":-1}}]}");
        assertThat(host.run("muster report 8").out()).endsWith("PENDING\nIt has not run yet.\n");
        host.reply(
                "QueryAccounting",
                "{\"jobs\":[{\"job\":{\"jobId\":8,\"userName\":\"ann\",\"state\":\"CANCELLED\",\"limitMin\":5}}]}");
        assertThat(host.run("muster report 8").out()).contains("CANCELLED").endsWith("\nIt never ran.\n");
        host.reply("QueryAccounting", "{\"jobs\":[]}");
        FakeHost.Ran none = host.run("muster report 9");
        assertThat(none.rc()).isEqualTo(1);
        assertThat(none.err()).isEqualTo("muster: error: 9: no such job in accounting\n");
        assertThat(host.run("muster report").rc()).isEqualTo(2);
        assertThat(host.run("muster sing 1").err())
                .startsWith("muster: error: sing is not one of its commands; there are: report, why, plan, "
                        + "watch, top, page\n");
    }
}
