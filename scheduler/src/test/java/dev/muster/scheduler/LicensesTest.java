package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.State;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.core.tres.Licenses;
import dev.muster.model.accounting.DbdMessages.RemoteLicense;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Licenses: which jobs get them, which wait, and which may overtake. */
class LicensesTest {
    private static Cluster cluster() {
        return new Cluster(
                "n[1-4] cpus=2 mem=1000",
                "p nodes=n[1-4] default=yes defmempercpu=10",
                "options.licenses=fluent:4,matlab,abaqus:2");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', textBlock = """
            fluent        ! fluent:1
            fluent:2,matlab ! fluent:2,matlab:1
            a,b:2,a       ! a:2,b:2
            a:1|b:2       ! a:1,b:2
            a:0           ! a:0
            a:x           !
            a:-1          !
            :2            !
            a,,b          ! a:1,b:1
            ,a            ! a:1
            a;b:2         ! a:1,b:2
            a|            !
            a|b,c         !
            """)
    void licenseRequestIsParsed(String text, String read) {
        assertThat(LicenseRequest.parse(text).map(w -> LicenseRequest.text(w.items())))
                .isEqualTo(java.util.Optional.ofNullable(read));
    }

    @Test
    void unknownOrTooManyLicensesAreRefused() {
        new Play(cluster()).lines("""
                submit licenses=nope        -> says Invalid license specification
                submit licenses=fluent:5    -> says Invalid license specification
                submit licenses=fluent:x    -> says Invalid license specification
                submit licenses=fluent=1    -> says Invalid license specification
                submit licenses=matlab,fluent=1    -> says Invalid license specification
                submit licenses=fluent:4    -> 1 PENDING
                update 1 licenses=fluent:9  -> says Invalid license specification
                """);
    }

    @Test
    void jobWaitsForFreeLicenses() {
        Cluster c = cluster();
        new Play(c).lines("""
                submit licenses=fluent:3
                submit licenses=fluent:2
                submit licenses=matlab
                schedule                 -> 1 RUNNING n1; 2 PENDING; 3 RUNNING n1
                cancel 1
                schedule                 -> 2 RUNNING n2
                """);
        assertThat(c.state().jobs().at(2).run().allocation().licenses()).isEqualTo("fluent:2");
    }

    @Test
    void jobWithoutLicensesShowsReasonLicenses() {
        Cluster c = cluster();
        c.accept("licenses=fluent:3");
        c.schedule();
        assertThat(c.place("licenses=fluent:2")).isEqualTo("(Licenses)");
    }

    @Test
    void jobTakesOneOfItsAlternativeLicenses() {
        Cluster c = cluster();
        assertThat(c.place("licenses=fluent:3|abaqus:2")).isEqualTo("n1:1");
        assertThat(c.place("licenses=fluent:3|abaqus:2")).isEqualTo("n1:1");
        assertThat(c.state().jobs().at(1).run().allocation().licenses()).isEqualTo("fluent:3");
        assertThat(c.state().jobs().at(2).run().allocation().licenses()).isEqualTo("abaqus:2");
        assertThat(c.place("licenses=fluent:3|abaqus:2")).isEqualTo("(Licenses)");
    }

    /** A job that waits for licenses is not overtaken by one that would keep them from it. */
    @Test
    void laterJobsTakeNoneAwayFromEarlierOnes() {
        new Play(cluster()).lines("""
                submit licenses=fluent:3 timing.timeLimitMin=30
                schedule                                          -> 1 RUNNING n1
                submit licenses=fluent:4 timing.timeLimitMin=30   -> 2 PENDING
                submit licenses=fluent:1 timing.timeLimitMin=600  -> 3 PENDING
                submit licenses=fluent:1 timing.timeLimitMin=5    -> 4 PENDING
                submit tasks=1 timing.timeLimitMin=600
                schedule                                          -> 2 PENDING; 3 PENDING; 4 RUNNING n1; 5 RUNNING n2
                """);
    }

    @Test
    void anArrayTakesThemTaskByTask() {
        new Play(cluster()).lines("""
                submit kind=BATCH timing.array=1-6 licenses=fluent:2
                schedule -> 1_1 RUNNING n1; 1_2 RUNNING n1; 1 PENDING [3-6]
                """);
    }

    @Test
    void hetComponentsGetLicensesTogether() {
        new Play(cluster()).lines("""
                het kind=BATCH licenses=fluent:3 : kind=BATCH licenses=fluent:2 -> says Invalid license specification
                submit licenses=fluent:1 timing.timeLimitMin=60
                schedule
                het kind=BATCH licenses=fluent:2 : kind=BATCH licenses=fluent:2 -> 2 PENDING; 3 PENDING
                submit licenses=fluent:1 timing.timeLimitMin=600
                submit licenses=fluent:2 timing.timeLimitMin=10
                schedule -> 2 PENDING; 3 PENDING; 4 PENDING; 5 RUNNING n1
                cancel 1
                cancel 5
                schedule -> 2 RUNNING n2; 3 RUNNING n3
                """);
    }

    /**
     * Licenses of servers outside, as slurmdbd reports them, count beside slurm.conf's, and from one moment to the
     * next.
     */
    @Test
    void remoteLicensesCountBesideLocalOnes() {
        Cluster c = cluster();
        assertThat(outside(c, "matlab@flex:2"))
                .isEqualTo(Map.of("fluent", 4, "matlab", 1, "abaqus", 2, "matlab@flex", 2));
        int first = c.accept("licenses=matlab@flex:2");
        int second = c.accept("licenses=matlab@flex,matlab");
        c.schedule();
        assertThat(c.shown(first)).startsWith("n");
        assertThat(c.shown(second)).isEqualTo("(Licenses)");
        assertThat(outside(c, "matlab@flex:3", "ansys@rlm:1"))
                .containsEntry("matlab@flex", 3)
                .containsEntry("ansys@rlm", 1);
        c.schedule();
        assertThat(c.shown(second)).startsWith("n");
        assertThat(c.place("licenses=ansys@rlm:2")).contains("Invalid license specification");
        assertThat(outside(c)).doesNotContainKey("matlab@flex");
        State before = c.state();
        List<dev.muster.core.state.Change> records = new java.util.ArrayList<>();
        before.snapshot(records::add);
        assertThat(State.EMPTY
                        .apply(new dev.muster.core.state.Entry(before.tickMs(), 0, -1, "Snapshot", records))
                        .accounts()
                        .licenses())
                .isEmpty();
    }

    private static Map<String, Integer> outside(Cluster c, String... licenses) {
        c.apply(new dev.muster.core.command.Command.ApplyPolicy(new dev.muster.model.accounting.DbdMessages.Policy(
                List.of(), List.of(), List.of(), List.of(), List.of(licenses), List.of())));
        return Licenses.capacities(c.state());
    }

    /**
     * Licenses that a server says are taken count as far as neither the cluster's jobs have them nor other clusters may
     * have them, by when it was said.
     */
    @ParameterizedTest
    @CsvSource({"30, 10, 70", "20, 0, 80", "10, 0, 80", "100, 80, 0", "500, 80, 0"})
    void remoteLicenseDeficitLowersTheCapacity(int consumed, int deficit, int left) {
        Cluster c = cluster();
        remote(c, consumed, 5);
        assertThat(c.state().accounts().remotes().getFirst().deficit()).isEqualTo(deficit);
        assertThat(Licenses.capacities(c.state())).containsEntry("foobar@slurmdb", left);
        assertThat(c.place("licenses=foobar@slurmdb:70")).isEqualTo(left >= 70 ? "n1:1" : "(Licenses)");
    }

    @Test
    void remoteLicenseDeficitExcludesOwnJobs() {
        Cluster c = cluster();
        remote(c, 0, 5);
        c.accept("licenses=foobar@slurmdb:10");
        c.schedule();
        remote(c, 30, 6);
        assertThat(c.state().accounts().remotes().getFirst().deficit()).isZero();
        new Play(c).lines("cancel 1");
        remote(c, 30, 6);
        assertThat(c.state().accounts().remotes().getFirst().deficit())
                .as("nothing new was said")
                .isZero();
        remote(c, 30, 7);
        assertThat(c.state().accounts().remotes().getFirst().deficit()).isEqualTo(10);
    }

    /** 80 of 100 are the cluster's. */
    private static void remote(Cluster c, int consumed, long time) {
        c.apply(new dev.muster.core.command.Command.ApplyPolicy(new dev.muster.model.accounting.DbdMessages.Policy(
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of("foobar@slurmdb:80"),
                List.of(new RemoteLicense("foobar@slurmdb", 100, consumed, 0, time)))));
    }

    /** shows: LicenseParameters */
    @ParameterizedTest
    @CsvSource({
        "matlab, matlab:1",
        "matlab:2, matlab:2",
        "ansys, ansys@rlm:1",
        "ansys:3, ansys@rlm:3",
        "ansys@rlm, ansys@rlm",
        "'ansys:2,fluent', 'ansys@rlm:2,fluent:1'",
        "nastran,",
        "ans,",
        "matlab@rlm, matlab@rlm"
    })
    void bareLicenseNameMeansItsServersLicense(String asked, String kept) {
        Cluster c = new Cluster(
                "n[1-4] cpus=2 mem=1000",
                "p nodes=n[1-4] default=yes defmempercpu=10",
                "options.licenses=fluent:4,matlab:2 options.bare_licences=true");
        outside(c, "ansys@rlm:9", "matlab@rlm:9", "nastran@a:3", "nastran@b:3");
        String place = c.place("licenses=" + asked);
        assertThat(place).isEqualTo(kept == null ? "Invalid license specification" : "n1:1");
        assertThat(kept == null
                        || c.state().jobs().at(1).desc().request().licenses().equals(kept))
                .isTrue();
        assertThat(cluster().place("licenses=ansys"))
                .as("without LicenseParameters")
                .isEqualTo("Invalid license specification");
    }

    /** Jobs may ask for more licenses than there are with allow_zero_lic. */
    @Test
    void allowZeroLicAcceptsMoreLicensesThanExist() {
        new Play(new Cluster(
                        "n[1-4] cpus=2 mem=1000",
                        "p nodes=n[1-4] default=yes defmempercpu=10",
                        "options.licenses=fluent:4,none:0 options.allow_zero_lic=yes"))
                .lines("""
                submit licenses=nope        -> says Invalid license specification
                submit licenses=fluent:5    -> 1 PENDING
                submit licenses=none        -> 2 PENDING
                submit licenses=fluent:4    -> 3 PENDING
                schedule                    -> 1 PENDING; 2 PENDING; 3 RUNNING n1
                why 1                       -> says (Licenses)
                why 2                       -> says (Licenses)
                """);
    }

    @Test
    void aRebuildCountsTheSame() {
        Cluster c = cluster();
        c.accept("licenses=fluent:3");
        c.schedule();
        State before = c.state();
        c.core().reset(before);
        assertThat(c.place("licenses=fluent:2")).isEqualTo("(Licenses)");
        assertThat(Licenses.capacities(before)).isEqualTo(Map.of("fluent", 4, "matlab", 1, "abaqus", 2));
    }

    /** Licenses that a running job gives back are free at once for others; it gets no more than there are. */
    @Test
    void runningJobGivesBackLicenses() {
        new Play(new Cluster(
                        "n[1-2] cpus=4 mem=1000", "p nodes=n[1-2] default=yes defmempercpu=10", "options.licenses=l:4"))
                .lines("""
                submit kind=BATCH licenses=l:3
                schedule                      -> 1 RUNNING n1
                submit kind=BATCH licenses=l:2
                schedule                      -> 2 PENDING
                update 1 licenses=l:1         -> says Access/permission denied
                update 1 licenses=l:5 root    -> says Invalid license specification
                update 1 licenses=l:2 root    -> says
                schedule                      -> 2 RUNNING n1
                update 2 licenses=l:3 root    -> says Invalid license specification
                update 2 licenses= root       -> says
                update 1 licenses=l:4 root    -> says
                """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            tasks=2 tresPerTask=license/fluent:2                   | fluent:4
            tasks=2 tresPerTask=license/fluent:2 licenses=fluent:1 | fluent:5
            tasks=1 licenses=fluent:3                              | fluent:3
            tasks=4 tresPerTask=license/fluent:2                   | Invalid license specification
            tasks=1 tresPerNode=license/fluent:2                   | Invalid generic resource (gres) specification
            """)
    void licensesPerTaskAreMultiplied(String job, String licenses) {
        Cluster c = new Cluster("n1 cpus=8", "p nodes=n1 default=yes defmempercpu=1", "options.licenses=fluent:6");
        String placed = c.place(job);
        assertThat(
                        placed.startsWith("n1")
                                ? c.state().jobs().at(1).run().allocation().licenses()
                                : placed)
                .isEqualTo(licenses);
    }
}
