package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.CronTime;
import dev.muster.core.state.Crontab;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.json.Bytes;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** scrontab. shows: ScronParameters */
class CrontabTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "* * * * *               | 2026-03-04T10:20:30 | 2026-03-04T10:21",
                "0 * * * *               | 2026-03-04T10:00:00 | 2026-03-04T11:00",
                "*/15 8-17/2 * * *       | 2026-03-04T10:46:00 | 2026-03-04T12:00",
                "1-5,30 8-17/2 * * wed   | 2026-03-04T16:30:00 | 2026-03-11T08:01",
                "0 0 31 * *              | 2026-04-01T00:00:00 | 2026-05-31T00:00",
                "0 0 29 2 *              | 2026-03-01T00:00:00 | 2028-02-29T00:00",
                "0 12 1 * fri            | 2026-03-02T00:00:00 | 2026-03-06T12:00",
                "0 0 * Jan SUN           | 2026-12-30T00:00:00 | 2027-01-03T00:00",
                "0 0 * * 7               | 2026-03-04T00:00:00 | 2026-03-08T00:00",
                "5/20 1 * * *            | 2026-03-04T01:06:00 | 2026-03-04T01:25",
                "@hourly                 | 2026-03-04T10:20:30 | 2026-03-04T11:00",
                "@yearly                 | 2026-03-04T10:20:30 | 2027-01-01T00:00",
                "@weekly                 | 2026-03-04T10:20:30 | 2026-03-08T00:00",
                "@teatime                | 2026-03-04T16:00:00 | 2026-03-05T16:00",
                // the hour that is left out in spring is made up for, not left out
                "30 2 29 3 *             | 2026-03-28T00:00:00 | 2026-03-29T03:30",
                "0 0 30 2 *              | 2026-03-04T00:00:00 | never",
                "60 * * * *              | 2026-03-04T00:00:00 | wrong",
                "* * * *                 | 2026-03-04T00:00:00 | wrong",
                "5-1 * * * *             | 2026-03-04T00:00:00 | wrong",
                "*/0 * * * *             | 2026-03-04T00:00:00 | wrong",
                "1,,2 * * * *            | 2026-03-04T00:00:00 | wrong",
                "0 0 * * xyz             | 2026-03-04T00:00:00 | wrong",
                "@often                  | 2026-03-04T00:00:00 | wrong",
            })
    void cronLineIsDueAtItsNextTime(String line, String after, String expected) {
        ZoneId zone = ZoneId.of("Europe/Berlin");
        long now = LocalDateTime.parse(after).atZone(zone).toEpochSecond();
        String next = CronTime.parse(line)
                .map(t -> t.after(now, zone.getId()).stream()
                        .mapToObj(s -> Instant.ofEpochSecond(s)
                                .atZone(zone)
                                .toLocalDateTime()
                                .toString())
                        .findFirst()
                        .orElse("never"))
                .orElse("wrong");
        assertThat(next).isEqualTo(expected);
    }

    private static Cluster cluster(String parameters) {
        return new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 defmempercpu=10", "options.scron=" + parameters);
    }

    /** @param whens each of the next lines of {@code text} */
    private static String crontab(Cluster c, int uid, String text, String... whens) {
        List<Command.CronEntry> entries = new ArrayList<>();
        for (String when : whens) {
            Command.SubmitJob job = new Command.SubmitJob(
                    Cluster.USER,
                    Cluster.desc("kind=BATCH partition=p name=j" + entries.size()),
                    "",
                    Bytes.of("#!/bin/sh"),
                    Bytes.EMPTY,
                    false,
                    false);
            entries.add(new Command.CronEntry(job, when, entries.size() + 1, entries.size() + 1));
        }
        return c.apply(new Command.SetCrontab(uid, Cluster.USER, "Z", text, entries)) instanceof Decision.Rejected r
                ? r.sentence()
                : "";
    }

    private static String text(Cluster c) {
        return c.state().crontabs().find(Cluster.USER).map(Crontab::text).orElse("");
    }

    /** The cluster's time begins at 13:46:40. */
    @Test
    void cronJobIsRequeuedForItsNextTime() {
        Cluster c = cluster("enable");
        assertThat(crontab(c, Cluster.USER, "0 14 * * * a\n@daily b\n", "0 14 * * *", "@daily"))
                .isEmpty();
        Play play = new Play(c);
        play.lines("""
                schedule               -> 1 PENDING BeginTime; 2 PENDING BeginTime
                pass 800
                schedule               -> 1 RUNNING n1; 2 PENDING BeginTime
                exited 1 batch 1:0
                pass 1                 -> 1 FAILED+COMPLETING NonZeroExitCode 1:0
                done 1 n1
                pass 1                 -> 1 PENDING+REQUEUED BeginTime restarts=1
                schedule               -> 1 PENDING+REQUEUED BeginTime restarts=1
                pass 86400
                schedule               -> 1 RUNNING n1 restarts=1; 2 RUNNING n1
                """);
    }

    @Test
    void cancelledCronJobBecomesACommentInItsCrontab() {
        Cluster c = cluster("enable");
        crontab(c, Cluster.USER, "0 14 * * * a\n@daily b\n", "0 14 * * *", "@daily");
        new Play(c).lines("""
                cancel 2
                pass 1                 -> 1 PENDING BeginTime
                pass 800
                schedule               -> 1 RUNNING n1
                cancel 1
                done 1 n1
                pass 1                 -> 1 CANCELLED 'by 1000'
                """);
        assertThat(text(c)).isEqualTo("#DISABLED: 0 14 * * * a\n#DISABLED: @daily b\n");
        assertThat(c.state().crontabs().at(Cluster.USER).entries()).isEmpty();
    }

    @Test
    void requeueSkipsATime() {
        Cluster c = cluster("enable");
        crontab(c, Cluster.USER, "0 * * * * a\n", "0 * * * *");
        new Play(c).lines("""
                requeue 1
                pass 800
                schedule               -> 1 PENDING BeginTime
                pass 3600
                schedule               -> 1 RUNNING n1
                requeue 1              -> 1 PENDING+COMPLETING+REQUEUED BeginTime restarts=1
                done 1 n1
                pass 1
                schedule               -> 1 PENDING+REQUEUED BeginTime restarts=1
                pass 3600
                schedule               -> 1 RUNNING n1 restarts=1
                """);
    }

    @Test
    void aNewOneTakesThePlaceOfTheOld() {
        Cluster c = cluster("enable");
        crontab(c, Cluster.USER, "* * * * * a\n@daily b\n", "* * * * *", "@daily");
        new Play(c).lines("""
                pass 60
                schedule               -> 1 RUNNING n1
                """);
        assertThat(crontab(c, Cluster.USER, "@daily c\n", "@daily")).isEmpty();
        new Play(c).lines("""
                schedule               -> 1 RUNNING n1; 2 CANCELLED 'by 1000'; 3 PENDING BeginTime
                exited 1 batch 0:0
                done 1 n1
                pass 1                 -> 1 COMPLETED
                """);
        assertThat(crontab(c, Cluster.USER, "")).isEmpty();
        assertThat(c.state().crontabs().size()).isZero();
    }

    @Test
    void crontabIsTakenAsAWholeOrRefused() {
        Cluster c = cluster("enable");
        assertThat(crontab(c, Cluster.USER, "x", "@daily", "61 * * * *"))
                .isEqualTo("line 2: invalid time specification: 61 * * * *");
        assertThat(crontab(c, 1001, "x", "@daily")).isEqualTo("Access/permission denied");
        assertThat(crontab(c, 0, "x", "@daily")).isEmpty();
        assertThat(crontab(cluster("none"), Cluster.USER, "x", "@daily"))
                .isEqualTo("scrontab is disabled on this cluster");
        assertThat(c.state().jobs().size()).isEqualTo(1);
    }

    @Test
    void explicitScancelAsksForTheFlag() {
        Cluster c = cluster("enable;explicit_scancel".replace(';', ','));
        crontab(c, Cluster.USER, "@daily a\n", "@daily");
        new Play(c).lines("""
                cancel 1               -> 1 PENDING BeginTime
                pass 1                 -> 1 PENDING BeginTime
                """);
        c.apply(new Command.CancelJobs(
                Cluster.USER,
                List.of(new Command.JobRef("1", 1, -1, Command.JobRef.NO_STEP)),
                0,
                false,
                false,
                true,
                false,
                ""));
        new Play(c).lines("pass 1                 -> 1 CANCELLED BeginTime 'by 1000'\n");
    }
}
