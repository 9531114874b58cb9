package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** muster watch and muster top. */
class FollowingTest {
    private final FakeHost host = new FakeHost();

    @BeforeEach
    void cluster() {
        host.reply("QueryJobs", """
                {"now":1795254380,"jobs":[{"jobId":5,"name":"one\\u001b[2J","userName":"ann","partition":"p",
                 "state":"RUNNING","nodes":"n1","cpus":4,
                  "startTime":1795254280},{"jobId":6,"name":"two","userName":"bob","partition":"p","state":"PENDING",
                  "reason":"Resources","cpus":2},
                 {"jobId":7,"name":"old","userName":"bob","partition":"p","state":"FAILED"}]}""");
        host.reply("QueryNodes", "{\"nodes\":[{\"name\":\"n1\",\"state\":\"MIXED\",\"cpus\":8,\"cpusAllocated\":4}]}");
    }

    @Test
    void topIsOnePictureWhereThereIsNoTerminal() {
        host.reply("Follow", "{\"revision\":\"e.1\"}");
        FakeHost.Ran ran = host.run("muster top");
        assertThat(ran.rc()).isZero();
        assertThat(ran.out())
                .contains("1 running, 1 waiting")
                .contains("[###############---------------] 4 of 8")
                .contains("Nodes 1 mixed")
                .contains("5            one?[2J          ann        p          RUNNING          00:01:40      4  n1")
                .contains("6            two              bob        p          PENDING                        2  "
                        + "Resources")
                .doesNotContain("old")
                .doesNotContain("\033");
    }

    @Test
    void versionIsItsOwnBesideTheOneOfTheInterface() throws Exception {
        Matcher own = Pattern.compile("<version>([0-9.]+)</version>").matcher(Files.readString(Path.of("../pom.xml")));
        assertThat(own.find()).isTrue();
        assertThat(host.run("muster --version").out())
                .isEqualTo("muster " + own.group(1) + ", in place of slurm 26.05.3\n");
    }

    private void told(String state) {
        host.reply("Follow", """
                {"revision":"e.1","now":1795254400,"jobs":[{"jobId":5,"name":"one","userName":"ann","state":"%s",\
                "nodes":"n1"}]}""".formatted(state));
    }

    @Test
    void watchTellsUntilTheJobIsOverAndHowItEnded() {
        told("COMPLETED");
        FakeHost.Ran ran = host.run("muster watch 5");
        assertThat(ran.rc()).isZero();
        assertThat(ran.out())
                .contains("09:46:20  5            one?[2J")
                .contains("RUNNING       n1")
                .contains("09:46:40  5            one              ann        COMPLETED     n1");
        told("FAILED");
        assertThat(host.run("muster watch 5").rc()).isEqualTo(1);
    }

    /**
     * So much happened that the lists are read anew, and slurmctld has forgotten the job: how it ended is not known,
     * which is no good end.
     */
    @Test
    void aJobThatIsForgottenIsNotOneThatEndedWell() {
        host.meanwhile.put("Follow", q -> {
            host.reply(
                    "Follow",
                    "{\"revision\":\"e.9\",\"now\":1795254400,\"reset\":"
                            + !q.text("since").isEmpty() + "}");
            if (!q.text("since").isEmpty()) {
                host.reply("QueryJobs", "{\"jobs\":[]}");
            }
        });
        FakeHost.Ran ran = host.run("muster watch 5");
        assertThat(ran.rc()).isEqualTo(1);
        assertThat(ran.err()).isEqualTo("muster: slurmctld does not know job 5 any more: how it ended is not known\n");
    }

    /** slurmctld goes away, comes back as another, and does not answer when the lists are to be read. */
    @Test
    void watchWaitsForAnUnreachableController() {
        int[] asked = {0};
        host.meanwhile.put("Follow", q -> {
            asked[0]++;
            if (asked[0] == 2 || asked[0] == 4) {
                host.refuse("Follow", 1800, "Unable to contact slurm controller (connect failure)");
            } else {
                host.reply(
                        "Follow",
                        "{\"revision\":\"f." + asked[0] + "\",\"now\":1795254400,\"reset\":" + (asked[0] == 3) + "}");
            }
            if (asked[0] == 5) {
                host.reply(
                        "QueryJobs",
                        "{\"now\":1795254400,"
                                + "\"jobs\":[{\"jobId\":5,\"name\":\"one\",\"userName\":\"ann\","
                                + "\"state\":\"COMPLETED\"}]}");
            }
        });
        FakeHost.Ran ran = host.run("muster watch 5");
        assertThat(ran.rc()).isZero();
        assertThat(ran.out()).contains("RUNNING").contains("COMPLETED");
        assertThat(ran.err()).isEqualTo("muster: slurmctld does not answer: waiting for it\n");
    }

    @Test
    void invalidWatchOrTopIsRefused() {
        host.reply("Follow", "{\"revision\":\"e.1\"}");
        assertThat(host.run("muster watch 99").err()).isEqualTo("muster: error: Invalid job id specified: 99\n");
        assertThat(host.run("muster top 5").err()).startsWith("muster: error: top takes no operands\n");
        assertThat(host.run("muster see").err())
                .startsWith("muster: error: see is not one of its commands; there are: report, why, plan, watch, "
                        + "top, page\n");
    }
}
