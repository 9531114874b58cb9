package dev.muster.controller.site;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests which mails about parts of a time limit of 100 minutes are sent when slurmctld starts again between two looks.
 */
class MailTimesTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "  0 | 49 | ''",
                "  0 | 50 | 50",
                "  0 | 95 | 90, 80, 50",
                // sent by the slurmctld before
                " 55 | 60 | ''",
                " 55 | 81 | 80",
                " 95 | 99 | ''",
            })
    void timeLimitMailIsSentOnceAcrossARestart(long startedAgain, long now, String expected) {
        Site site = new Site();
        site.run("extras.mailType=TIME_LIMIT_50,TIME_LIMIT_80,TIME_LIMIT_90 timing.timeLimitMin=100");
        State state = site.core().state();
        Job job = state.jobs().at(1);
        long beginMs = job.run().limitTickMs() - 100 * 60_000;
        MailTimes times = new MailTimes();
        times.resumed(job, beginMs + startedAgain * 60_000);
        List<Mail> mails = times.reached(state, beginMs + now * 60_000);
        assertThat(mails.stream()
                        .map(m -> m.subject().replaceAll(".*Reached ([0-9]+)%.*", "$1"))
                        .collect(Collectors.joining(", ")))
                .isEqualTo(expected);
        assertThat(times.reached(state, beginMs + now * 60_000)).isEmpty();
    }
}
