package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** muster why and muster plan. */
class PlannedTest {
    private final FakeHost host = new FakeHost();

    private void told() {
        host.reply("QueryWhy", """
                {"jobId":6,"shown":"6","user":"bob","state":"PENDING","reason":"Resources","says":"It comes next.",
                 "evidence":["Until @1795254380@\\u001b[2J."],
                 "change":"Less of it.","start":1795254380,"nodes":"n[1-2]","now":1795254300}""");
    }

    @Test
    void whyPrintsReasonEvidenceAndPlannedStart() {
        told();
        FakeHost.Ran ran = host.run("muster why 6");
        assertThat(ran.rc()).isZero();
        assertThat(ran.out()).isEqualTo("""
                Job 6 of bob: PENDING (Resources)
                It comes next.
                  Until 2026-11-21T09:46:20?[2J.
                What would help: Less of it.
                It is planned to start at 2026-11-21T09:46:20 on n[1-2].
                """);
        assertThat(host.run("muster -json why 6").out())
                .contains("\"reason\":\"Resources\"")
                .contains("Until 2026-11-21T09:46:20");
    }

    @Test
    void planDrawsNodesOverTimeAndTheNextStarts() {
        host.reply("QueryPlan", """
                {"now":%d,"waiting":2,"planned":1,"nodes":[{"name":"n1","partitions":["p"],"cpus":4,"usable":true},
                 {"name":"n2","partitions":["p"],"cpus":4,"usable":true},{"name":"n3","partitions":["p"],"cpus":4}],
                 "bars":[{"jobId":5,"shown":"5","user":"ann","partition":"p","running":true,"start":1,"end":%d,
                 "nodes":"n1","cpus":4},
                 {"jobId":6,"shown":"6","user":"bob","partition":"p","start":%d,"end":0,"nodes":"n[1-2]","cpus":4}]}
                """.formatted(1795254300, 1795254300 + 3600, 1795254300 + 3600));
        FakeHost.Ran ran = host.run("muster plan -hours 2");
        assertThat(ran.rc()).isZero();
        String[] lines = ran.out().split("\n");
        assertThat(lines[1]).matches("n1 {14} #{41}\\+{40}|n1 {15}#{40}\\+{41}");
        assertThat(lines[2]).matches("n2 {14} \\.{41}\\+{40}|n2 {15}\\.{40}\\+{41}");
        assertThat(lines[3]).startsWith("n3 ").endsWith("----");
        assertThat(ran.out())
                .contains("2 jobs wait, 1 has a time")
                .contains("6            bob        p          2026-11-21T10:45:00      4  n[1-2]");
    }

    @Test
    void invalidWhyOrPlanIsRefused() {
        told();
        assertThat(host.run("muster why").err()).startsWith("muster: error: a job has to be named\n");
        assertThat(host.run("muster why x").err()).isEqualTo("muster: error: Invalid job id specified: x\n");
        assertThat(host.run("muster plan 5").err()).startsWith("muster: error: plan takes no operands\n");
        assertThat(host.run("muster -hours 999 plan").err())
                .isEqualTo("muster: error: hours are from 1 to 168, not 999\n");
        assertThat(host.run("muster -hours 9 top").err()).startsWith("muster: error: top has no option -hours\n");
    }
}
