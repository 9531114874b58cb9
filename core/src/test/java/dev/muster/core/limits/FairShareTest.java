package dev.muster.core.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.options.PriorityOptions;
import dev.muster.core.state.Accounts;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Shares;
import dev.muster.core.state.State;
import dev.muster.core.state.Table;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.PlannerSource;
import dev.muster.core.testkit.Play;
import dev.muster.model.accounting.DbdMessages;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.LimitField;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Shares, usage and what follows from them for a user's place in the queue. shows: PriorityDecayHalfLife,
 * PriorityFavorSmall, PriorityFlags, PriorityMaxAge, PriorityUsageResetPeriod
 */
class FairShareTest {
    /** {@code account[/user] shares usage} with accounts before what is in them, two blanks per level. */
    private static String factors(FairShare.Rule rule, String lines) {
        List<AssocPolicy> assocs = new ArrayList<>(List.of(assoc(1, 0, "root", "", "1")));
        Table<Integer, Long> usage = Table.empty();
        int[] at = new int[10];
        at[0] = 1;
        String[] account = new String[10];
        account[0] = "root";
        for (String line : lines.stripIndent().strip().split("\n")) {
            int level = (line.length() - line.stripLeading().length()) / 2 + 1;
            String[] w = line.strip().split(" +");
            boolean user = w[0].startsWith("/");
            int id = assocs.size() + 1;
            at[level] = id;
            account[level] = user ? account[level - 1] : w[0];
            assocs.add(assoc(id, at[level - 1], account[level], user ? w[0].substring(1) : "", w[1]));
            usage = w.length > 2 ? usage.with(id, Long.parseLong(w[2]) * 1000) : usage;
        }
        Accounts known = accounts(assocs, List.of());
        StringBuilder out = new StringBuilder();
        for (FairShare.Row r : new FairShare(known, usage, rule, 1).rows()) {
            if (!r.assoc().user().isEmpty()) {
                out.append(out.isEmpty() ? "" : " ")
                        .append(r.assoc().user())
                        .append('=')
                        .append(String.format(Locale.ROOT, "%.3f", r.factor()));
            }
        }
        return out.toString();
    }

    private static AssocPolicy assoc(int id, int parent, String account, String user, String shares) {
        return new AssocPolicy(
                id,
                parent,
                account,
                user,
                "",
                true,
                new TreeMap<>(Map.of("Fairshare", shares)),
                List.of("normal"),
                "normal");
    }

    private static Accounts accounts(List<AssocPolicy> assocs, List<DbdMessages.QosPolicy> qos) {
        Core core = new Core(PlannerSource.find());
        DecisionTime now = new DecisionTime(1000, 1000);
        Decision d =
                core.decide(new Command.ApplyPolicy(new DbdMessages.Policy(assocs, qos, List.of(), List.of())), now);
        core.apply(new Entry(1000, 1000, 0, "test", ((Decision.Accepted) d).changes()));
        return core.state().accounts();
    }

    /**
     * SMALL_RELATIVE_TO_TIME, with the original's figures: CPUs, no fewer than its nodes have on average, by the
     * minutes of its limit.
     */
    @Test
    void sizeFactorIsRelativeToTheTimeLimit() {
        String[][] rows = {
            {"tasks=1 timing.timeLimitMin=20", "0.0250000"},
            {"tasks=3 timing.timeLimitMin=20", "0.0250000"},
            {"tasks=6 timing.timeLimitMin=20", "0.0375000"},
            {"tasks=2 nodesMin=2 nodesMax=2 timing.timeLimitMin=20", "0.0500000"},
            {"tasks=8 nodesMin=2 timing.timeLimitMin=10", "0.1000000"},
            {"tasks=5 timing.timeLimitMin=1", "0.6250000"},
            {"tasks=1", "0.0000000"}
        };
        for (String[] row : rows) {
            Cluster c = new Cluster(
                    "n1 cpus=2\nn2 cpus=6",
                    "p nodes=n[1-2] default=yes",
                    "options." + PriorityOptions.TYPE + "=priority/multifactor"
                            + " options.priority_flags=SMALL_RELATIVE_TO_TIME options.priority_weight_size=1");
            int id = c.accept(row[0]);
            assertThat(String.format(
                            Locale.ROOT,
                            "%.7f",
                            new Priorities(c.state(), 1000)
                                    .factors(c.state().jobs().at(id), "p")
                                    .size()))
                    .as(row[0])
                    .isEqualTo(row[1]);
        }
    }

    @Test
    void accountRankDecidesBeforeTheUsers() {
        assertThat(factors(FairShare.Rule.TREE, """
                a 40
                  /u1 1 10
                  /u2 1 20
                b 60
                  /u3 1 50
                  /u4 1 0
                """)).isEqualTo("u1=1.000 u2=0.750 u3=0.250 u4=0.500");
    }

    @Test
    void equalsShareTheirRank() {
        assertThat(factors(FairShare.Rule.TREE, """
                a 1
                  /u1 1
                  /u2 1
                b 1
                  /u3 1 100
                """)).isEqualTo("u1=1.000 u2=1.000 u3=0.333");
        // the best in an account that is level with the one before has the rank that was given last
        assertThat(factors(FairShare.Rule.TREE, """
                a 1
                  /u1 1 30
                  /u2 1 20
                b 1
                  /u3 1 10
                  /u4 1 40
                """)).isEqualTo("u1=0.750 u2=1.000 u3=0.750 u4=0.250");
    }

    /** Each account has the level that Debian's slurmctld answered for the same trees. */
    @Test
    void fairTreeLevelsMatchSlurm() {
        String[][] walked = {
            {"""
                /root 1
                /u1 1
                a 1
                  /u2 1
                  /u3 1
                """, "root=1.000 u1=1.000 u2=1.000 u3=1.000"},
            {"""
                /root 1
                /u1 1
                a 1
                  b 1
                    /u2 1
                    /u3 0
                  /u4 0
                """, "root=1.000 u1=1.000 u4=0.200 u2=1.000 u3=0.400"},
            {"""
                /root 0
                /u1 1
                a 1
                  /u2 1
                  /u3 0
                b 1
                  /u5 1
                  /u6 0
                c 1
                  /u7 1
                  /u8 0
                d 1
                  /u10 0
                  /u9 1
                """, "root=0.100 u1=1.000 u2=1.000 u3=0.800 u5=0.800 u6=0.600 u7=0.600 u8=0.400 u10=0.200 u9=0.400"},
            // an account without users, before which others are better
            {"""
                /root 1
                /u1 1
                e 0
                f 0
                  /u4 1
                """, "root=1.000 u1=1.000 u4=1.000"}
        };
        for (String[] row : walked) {
            assertThat(factors(FairShare.Rule.TREE, row[0])).as(row[0]).isEqualTo(row[1]);
        }
    }

    @Test
    void usersWithParentSharesAreAsIfTheyHadUsedNothing() {
        assertThat(factors(FairShare.Rule.TREE, """
                /root 1
                a 1
                  /bin 1 1
                  /daemon parent 1
                  /sys 1
                b 1
                  /games 1 2
                  /lp parent
                  /man 1 1
                c 1
                  /mail 1 1
                  /news 2 2
                  x 2
                    /uucp 1 2
                d parent
                  /backup parent 1
                  /proxy 1 1
                e 1
                  /list 1 1
                  /nobody 1 1
                """))
                .isEqualTo("root=1.000 bin=0.643 daemon=0.786 sys=0.786 games=0.286 lp=0.429 man=0.357 "
                        + "mail=0.214 news=0.214 uucp=0.214"
                        + " backup=1.000 proxy=0.857 list=0.643 nobody=0.643");
        // in each other
        assertThat(factors(FairShare.Rule.TREE, """
                /root 0
                a 1
                  e parent
                    /u1 parent
                    /u2 0
                    f 0
                      /u3 1
                      /u9 parent
                b 0
                  /u6 0
                  c parent
                    /u4 parent
                    /u5 1
                    d parent
                      /u7 0
                      /u8 parent
                """))
                .isEqualTo(
                        "root=0.600 u1=1.000 u2=0.900 u3=0.900 u9=0.900 u6=0.200 u4=0.600 u5=0.600 u7=0.200 u8=0.600");
    }

    @Test
    void parentSharesPutChildrenAmongTheUncles() {
        assertThat(factors(FairShare.Rule.TREE, """
                a parent
                  /u1 1 10
                  /u2 1 0
                b 1
                  /u3 1 90
                """)).isEqualTo("u1=0.667 u2=1.000 u3=0.333");
    }

    /** Slurm's own dump of associations has the number. */
    @Test
    void parentSharesAreAWordOrANumber() {
        LimitField shares = LimitField.find(LimitField.ASSOC, "fairshare").orElseThrow();
        assertThat(List.of("parent", "Parent", "2147483647"))
                .allSatisfy(w -> assertThat(shares.canonical(w)).contains(LimitField.PARENT_SHARES));
        assertThat(shares.canonical("2147483646")).contains("2147483646");
    }

    @Test
    void classicFairShareMatchesItsFormula() {
        assertThat(factors(FairShare.Rule.CLASSIC, """
                a 50
                  /u1 1 0
                b 50
                  /u2 1 100
                """)).isEqualTo("u1=1.000 u2=0.250");
        // the example of classic_fair_share.html, with what others had of the machine
        assertThat(factors(FairShare.Rule.CLASSIC, """
                a 40
                  b 30
                    /u1 1 20
                  c 10
                    /u2 1 25
                    /u3 1
                d 60
                  e 25
                    /u4 1 25
                  f 35
                    /u5 1
                x 0
                  /u6 1 30
                """))
                .isEqualTo("u1=0.408 u2=0.022 u3=0.125 u4=0.500 u5=0.749 u6=0.000");
    }

    /**
     * The order of the classic rule: the children of an account with parent shares stand among its parent's children.
     */
    @Test
    void classicRuleRanksParentShareChildrenBesideTheirUncles() {
        assertThat(factors(FairShare.Rule.CLASSIC, """
                /root 1
                a1 1
                  /mail parent
                  a11 1
                    /daemon 1 20978
                    /nobody 1 665399
                  p2 parent
                    /games 1 302830
                    /lp parent 100944
                    /man 1
                p1 parent
                  /bin 1 201889
                """))
                .isEqualTo("root=1.000 mail=0.173 daemon=0.017 nobody=0.001 games=0.065 lp=0.173 man=0.173 bin=0.723");
    }

    /**
     * a has had twice its shares: u1, with two thirds of its own, is drawn towards that, and u2, with more, is not. b
     * is alike at each depth.
     */
    @Test
    void depthObliviousFactorsMatchTheirFormula() {
        String lines = """
                a 20
                  /u1 1 20
                  /u2 1 100
                b 80
                  c 1
                    d 1
                      /u3 1 180
                e 0
                  /u4 1
                """;
        assertThat(factors(FairShare.Rule.DEPTH_OBLIVIOUS, lines)).isEqualTo("u1=0.280 u2=0.099 u3=0.595 u4=0.000");
        // an account without usage, and in another account a user without usage
        assertThat(factors(FairShare.Rule.DEPTH_OBLIVIOUS, """
                a 1
                  /u1 1
                  /u2 parent
                b 1
                  /u3 1 50
                  /u4 1
                  /u5 parent
                """))
                .isEqualTo("u1=1.000 u2=1.000 u3=0.063 u4=1.000 u5=0.250");
    }

    @Test
    void priorityFlagChoosesTheFairShareRule() {
        for (String[] row : new String[][] {
            {"", "TREE"},
            {"NO_FAIR_TREE", "CLASSIC"},
            {"DEPTH_OBLIVIOUS", "DEPTH_OBLIVIOUS"},
            {"NO_FAIR_TREE,depth_oblivious", "DEPTH_OBLIVIOUS"}
        }) {
            Cluster c = cluster(row[0].isEmpty() ? "" : "options.priority_flags=" + row[0]);
            assertThat(PriorityFlags.rule(c.state().settings()).name()).isEqualTo(row[1]);
        }
    }

    // ---- usage

    private static Cluster cluster(String options) {
        Cluster c = new Cluster(
                "n[1-2] cpus=4 mem=1000",
                "p nodes=n[1-2] default=yes defmempercpu=10 priorityjobfactor=5\n"
                        + "q nodes=n[1-2] defmempercpu=10 priorityjobfactor=10",
                "options.priority_type=priority/multifactor options.priority_calc_period=60 " + options);
        c.apply(new Command.ApplyPolicy(new DbdMessages.Policy(
                List.of(
                        assoc(1, 0, "root", "", "1"),
                        assoc(2, 1, "lab", "", "1"),
                        assoc(3, 2, "lab", "alice", "1"),
                        assoc(4, 2, "lab", "bob", "1")),
                List.of(
                        new DbdMessages.QosPolicy(1, "normal", new TreeMap<>(Map.of("Priority", "10"))),
                        new DbdMessages.QosPolicy(
                                2, "half", new TreeMap<>(Map.of("UsageFactor", "0.5", "Priority", "5")))),
                List.of(),
                List.of())));
        return c;
    }

    private static long used(Cluster c, int assoc) {
        return c.state().shares().usage().find(assoc).orElse(0L) / 1000;
    }

    /** The time of a suspension is charged to no association, also where charges fall into it or the job ends in it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            pass 20; suspend 1; pass 10; resume 1; pass 130                                             | 150
            pass 50; suspend 1; pass 30; resume 1; pass 120                                             | 170
            pass 20; suspend 1; pass 10; resume 1; pass 10; suspend 1; pass 10; resume 1; pass 130       | 160
            pass 50; suspend 1; pass 130; resume 1; pass 20; suspend 1; pass 10; resume 1; pass 120      | 190
            pass 20; suspend 1; pass 100; cancel 1; done 1 n1; pass 60                                  | 20
            pass 20; suspend 1; pass 10; resume 1; pass 5; exited 1 batch 0:0; done 1 n1; pass 120      | 25
            """)
    void suspensionsAreNotCharged(String lines, long seconds) {
        Cluster c = cluster("options.priority_half_life=0");
        c.pass(1);
        new Play(c)
                .lines("submit kind=BATCH charge.account=lab timing.timeLimitMin=600\nschedule\n"
                        + lines.replace("suspend 1", "suspend 1 root")
                                .replace("resume 1", "resume 1 root")
                                .replace("; ", "\n"));
        new Play(c).lines(c.state().jobs().at(1).state().isTerminal() ? "pass 120" : "cancel 1\ndone 1 n1\npass 120");
        assertThat(used(c, 3)).isEqualTo(seconds);
    }

    @Test
    void jobsAreChargedForTheirTimeAndUsageFades() {
        Cluster c = cluster("options.priority_half_life=600");
        c.pass(1);
        Play play = new Play(c);
        play.lines("""
                submit kind=BATCH tasks=3 charge.account=lab
                submit kind=BATCH tasks=2 charge.account=lab charge.qos=half owner.user=bob owner.uid=1000
                schedule                         -> 1 RUNNING n1; 2 RUNNING n2
                pass 100
                """);
        assertThat(used(c, 3)).isEqualTo(300);
        assertThat(used(c, 4)).isEqualTo(100);
        play.lines("""
                pass 20
                exited 1 batch 0:0
                done 1 n1
                pass 580
                """);
        // 300 fade to half, 60 come for the last 20 seconds
        assertThat(used(c, 3)).isEqualTo(210);
        State state = c.state();
        List<dev.muster.core.state.Change> snapshot = new ArrayList<>();
        state.snapshot(snapshot::add);
        Shares restored = State.EMPTY
                .apply(new Entry(state.tickMs(), 0, -1, "Snapshot", snapshot))
                .shares();
        assertThat(restored).isEqualTo(state.shares());
    }

    private static DbdMessages.Policy policy(Map<String, String> ofAlice, Map<String, String> ofNormal) {
        AssocPolicy alice = assoc(3, 2, "lab", "alice", "1");
        alice.limits().putAll(ofAlice);
        return new DbdMessages.Policy(
                List.of(
                        assoc(1, 0, "root", "", "1"),
                        assoc(2, 1, "lab", "", "1"),
                        alice,
                        assoc(4, 2, "lab", "bob", "1")),
                List.of(new DbdMessages.QosPolicy(1, "normal", new TreeMap<>(ofNormal))),
                List.of(),
                List.of());
    }

    /** {@code sacctmgr modify … set RawUsage=0}: up to that moment, between two charges, and once for each number. */
    @Test
    void rawUsageResetForgetsUsageOnce() {
        Cluster c = cluster("options.priority_half_life=0");
        c.pass(1);
        new Play(c).lines("""
                submit kind=BATCH tasks=2 charge.account=lab charge.qos=normal
                submit kind=BATCH charge.account=lab owner.user=bob owner.uid=1000
                schedule
                pass 100
                """);
        assertThat(List.of(used(c, 3), used(c, 4))).containsExactly(200L, 100L);
        c.pass(30);
        Map<String, String> reset = Map.of(LimitField.USAGE_RESET, "7");
        c.apply(new Command.ApplyPolicy(policy(reset, Map.of())));
        assertThat(List.of(used(c, 3), used(c, 4))).containsExactly(0L, 130L);
        assertThat(c.state().shares().each().find(3)).isEmpty();
        assertThat(c.state().shares().qos().find(1)).contains(390_000L);
        c.pass(60);
        c.apply(new Command.ApplyPolicy(policy(reset, reset)));
        assertThat(List.of(used(c, 3), used(c, 4))).containsExactly(120L, 190L);
        assertThat(c.state().shares().qos().find(1)).isEmpty();
        assertThat(c.state().shares().qosEach().find(1)).isEmpty();
        c.apply(new Command.ApplyPolicy(policy(Map.of(LimitField.USAGE_RESET, "8"), reset)));
        assertThat(used(c, 3)).isZero();
    }

    /** An account is not relieved of a user's usage by removing and adding the user, as in Slurm. */
    @Test
    void usageOfARemovedUserStaysWithTheAccount() {
        Cluster c = cluster("options.priority_half_life=0");
        c.pass(1);
        new Play(c).lines("""
                submit kind=BATCH tasks=2 charge.account=lab
                schedule
                pass 100
                """);
        DbdMessages.Policy before = policy(Map.of(), Map.of());
        c.apply(new Command.ApplyPolicy(before));
        c.apply(new Command.ApplyPolicy(new DbdMessages.Policy(
                before.assocs().stream().filter(a -> a.id() != 3).toList(), before.qos(), List.of(), List.of())));
        assertThat(List.of(used(c, 2), used(c, 3))).containsExactly(200L, 0L);
        assertThat(c.state().shares().each().find(2).orElseThrow()).containsEntry("cpu", 200_000L);
        c.apply(new Command.ApplyPolicy(before));
        assertThat(List.of(used(c, 2), used(c, 3))).containsExactly(200L, 0L);
        // and with what is above an account that goes as a whole
        c.apply(new Command.ApplyPolicy(
                new DbdMessages.Policy(List.of(before.assocs().getFirst()), before.qos(), List.of(), List.of())));
        assertThat(used(c, 1)).isEqualTo(200);
    }

    @Test
    void usageIsForgottenAtItsResetPeriod() {
        Cluster c = cluster("options.priority_reset_period=DAILY options.priority_half_life=0");
        c.pass(1);
        new Play(c).lines("""
                submit kind=BATCH charge.account=lab
                schedule
                pass 100
                """);
        assertThat(used(c, 3)).isEqualTo(100);
        c.pass(86_400);
        assertThat(used(c, 3)).isEqualTo(86_400);
    }

    /** PriorityUsageResetPeriod=NOW, at each start and each reading of the configuration; what NoDecay keeps stays. */
    @Test
    void resetPeriodNowForgetsUsageButNotNoDecay() {
        Cluster c = cluster("options.priority_reset_period=NOW options.priority_half_life=0");
        c.pass(1);
        new Play(c).lines("""
                submit kind=BATCH charge.account=lab charge.qos=normal
                schedule
                pass 100
                """);
        assertThat(used(c, 3)).isEqualTo(100);
        assertThat(c.state().shares().qos().find(1)).contains(100_000L);
        c.reconfigure();
        assertThat(List.of(used(c, 3), c.state().shares().qos().size())).containsExactly(0L, 0);
        c.pass(100);
        assertThat(used(c, 3)).isEqualTo(100);
        c.apply(new Command.ApplyPolicy(policy(Map.of(), Map.of("Flags", "NoDecay"))));
        c.reconfigure();
        assertThat(used(c, 3)).isZero();
        assertThat(c.state().shares().qos().find(1)).contains(100_000L);
    }

    @Test
    void jobOfTheUserWithLessUsageStartsFirst() {
        Cluster c = cluster("options.priority_weight_fairshare=1000");
        c.pass(1);
        new Play(c).lines("""
                submit kind=BATCH tasks=8 charge.account=lab timing.timeLimitMin=10
                schedule                         -> 1 RUNNING n[1-2]
                pass 100
                submit kind=BATCH tasks=8 charge.account=lab
                submit kind=BATCH tasks=8 charge.account=lab owner.user=bob
                exited 1 batch 0:0
                done 1 n1
                done 1 n2
                schedule                         -> 3 RUNNING n[1-2]; 2 PENDING
                """);
        assertThat(c.state().jobs().at(3).priority()).isEqualTo(1000);
        assertThat(new Priorities(c.state(), c.seconds()).of(c.state().jobs().at(2)))
                .isEqualTo(500);
    }

    private static long priority(Cluster c, String job, long later) {
        int id = c.accept(job);
        return new Priorities(c.state(), c.seconds() + later)
                .of(c.state().jobs().at(id));
    }

    @Test
    void priorityIsTheSumOfItsWeightedFactors() {
        String all = "options.priority_weight_age=1000 options.priority_max_age=100 "
                + "options.priority_weight_size=800 options.priority_weight_partition=40"
                + " options.priority_weight_qos=60 options.priority_weight_tres=cpu=80 ";
        String table = """
                partition=p charge.account=lab charge.qos=normal                  | 0   | 340
                partition=q charge.account=lab charge.qos=normal                  | 0   | 360
                partition=p charge.account=lab charge.qos=half                    | 0   | 310
                partition=p charge.account=lab charge.qos=normal                  | 50  | 840
                partition=p charge.account=lab charge.qos=normal                  | 500 | 1340
                partition=p tasks=8 nodesMin=2 charge.account=lab charge.qos=normal | 0   | 960
                partition=p charge.account=lab charge.qos=normal timing.nice=30   | 0   | 310
                partition=p,q charge.account=lab charge.qos=normal                | 0   | 360
                partition=p charge.account=lab charge.qos=normal timing.nice=9999 | 0   | 1
                partition=p charge.account=lab charge.qos=normal timing.siteFactor=7 | 0   | 347
                """;
        for (String row : table.strip().split("\n")) {
            String[] cell = row.split("\\|");
            assertThat(priority(cluster(all), cell[0].strip(), Long.parseLong(cell[1].strip())))
                    .as(row)
                    .isEqualTo(Long.parseLong(cell[2].strip()));
        }
        // PriorityMaxAge=INFINITE: the age factor of every job stays 0; 0: it is 1 at once
        assertThat(priority(
                        cluster(all + "options.priority_max_age=-1"),
                        "partition=p charge.account=lab charge.qos=normal",
                        500))
                .isEqualTo(340);
        assertThat(priority(
                        cluster(all + "options.priority_max_age=0"),
                        "partition=p charge.account=lab charge.qos=normal",
                        5))
                .isEqualTo(1340);
        assertThat(priority(
                        cluster(all + "options.priority_favor_small=true"),
                        "partition=p charge.account=lab charge.qos=normal",
                        0))
                .isEqualTo(640);
        Cluster dear = cluster("options.priority_weight_tres=billing=80 options.priority_flags=NO_NORMAL_TRES");
        dear.apply(new Command.UpdatePartition(0, "p", Map.of("tresbillingweights", "CPU=3")));
        assertThat(priority(dear, "partition=p tasks=2 charge.account=lab", 0)).isEqualTo(480);
        assertThat(priority(
                        cluster("options.priority_weight_partition=1 options.priority_weight_qos=1 "
                                + "options.priority_weight_tres=cpu=1"
                                + " options.priority_flags=NO_NORMAL_ALL"),
                        "partition=p tasks=2 charge.account=lab charge.qos=normal",
                        0))
                .isEqualTo(17);
    }

    @Test
    void prioritySetByHandStandsUntilReleased() {
        Cluster c = cluster("options.priority_weight_partition=100");
        new Play(c).lines("""
                submit kind=BATCH charge.account=lab timing.nice=5
                update 1 priority=7              -> says Changes to job priority are not persistent, change nice instead
                update 1 priority=900000000      -> says Access/permission denied
                update 1 priority=7 root
                """);
        Job job = c.state().jobs().at(1);
        assertThat(new Priorities(c.state(), c.seconds()).of(job)).isEqualTo(7);
        assertThat(job.desc().timing().nice()).isZero();
        new Play(c).lines("""
                update 1 nice=3
                update 1 nice=-3
                """);
        assertThat(new Priorities(c.state(), c.seconds()).of(c.state().jobs().at(1)))
                .isEqualTo(7);
        assertThat(c.state().jobs().at(1).desc().timing().nice()).isZero();
        new Play(c).lines("""
                hold 1 root
                update 1 priority=9 root            -> says Job is in held state, pending scheduler release
                release 1 root
                """);
        assertThat(c.state().jobs().at(1).desc().timing().prioritySet()).isFalse();
        new Play(c).lines("""
                update 1 priority=9 root
                release 1 root
                """);
        assertThat(c.state().jobs().at(1).desc().timing().prioritySet()).isFalse();
    }

    /**
     * scontrol top compares computed priorities: a job that goes back gets one less where its own priority would put it
     * first.
     */
    @Test
    void topJobGetsThePriorityOfTheFirstJob() {
        Cluster c = cluster("options.priority_weight_tres=cpu=100 options.priority_flags=NO_NORMAL_TRES");
        new Play(c).lines("""
                submit kind=BATCH charge.account=lab tasks=2
                submit kind=BATCH charge.account=lab
                submit kind=BATCH charge.account=lab
                submit kind=BATCH charge.account=lab partition=p,q
                top 4 root                          -> says Requested partition configuration not available now
                top 3 root
                """);
        Priorities now = new Priorities(c.state(), c.seconds());
        assertThat(List.of(3, 1, 2).stream()
                        .map(id -> now.of(c.state().jobs().at(id)))
                        .toList())
                .containsExactly(200L, 100L, 100L);
        new Play(c).lines("top 2 root");
        assertThat(List.of(2, 3, 1).stream()
                        .map(id -> new Priorities(c.state(), c.seconds())
                                .of(c.state().jobs().at(id)))
                        .toList())
                .containsExactly(200L, 100L, 99L);
    }
}
