package dev.muster.cli.list;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import org.junit.jupiter.api.Test;

/** sshare and {@code scontrol show assoc_mgr}, with the original's text. */
class SshareTest {
    private static final String ROWS = """
            "tracked":["license/lic"],"rows":[
            {"id":1,"depth":0,"account":"root","rawShares":"1","normShares":1,"rawUsage":132,"normUsage":1,
             "effectiveUsage":1,"fairShare":0.5,
             "level":1,"tresRunMins":{"cpu":58,"node":29,"billing":58,"license/lic":29},"tresSeconds":{"cpu":132,
             "node":66,"billing":132}},
            {"id":4,"depth":1,"account":"a11","rawShares":"parent","rawUsage":132,"normUsage":1,"effectiveUsage":1,
             "fairShare":0.25,"level":0,
             "grpTresMins":"billing=4444,cpu=10000","tresRunMins":{"cpu":58},"tresSeconds":{"cpu":132}},
            {"id":5,"depth":2,"account":"a11","user":"nobody","rawShares":"1","normShares":0.5,"rawUsage":111,
             "normUsage":0.842109,
             "effectiveUsage":0.842109,"fairShare":0.333333,"level":-1}]}
            """;
    private final FakeHost host = new FakeHost();

    private String run(boolean tree, String line) {
        host.reply("QueryShares", "{\"type\":\"priority/multifactor\",\"tree\":" + tree + "," + ROWS);
        return host.run(line).out();
    }

    @Test
    void sshareOptionHOmitsTheTitles() {
        assertThat(run(true, "sshare -h -a -P"))
                .isEqualTo(run(true, "sshare -n -a -P"))
                .isNotEmpty();
    }

    @Test
    void sshareLongFormHasAllColumns() {
        assertThat(run(true, "sshare -a -l -P")).isEqualTo("""
                Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins
                root|||0.000000|132||1.000000||||cpu=58,mem=0,energy=0,node=29,billing=58,fs/disk=0,vmem=0,pages=0,license/lic=29
                 a11||parent|0.000000|132|1.000000|1.000000|||cpu=10000,billing=4444|cpu=58,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0,\
                license/lic=0
                  a11|nobody|1|0.500000|111|0.842109|0.842109|0.333333|inf||cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0,\
                license/lic=0
                """);
    }

    @Test
    void sshareShowsNoLevelsUnderTheClassicRule() {
        assertThat(run(false, "sshare -a -l -P -o account,user,normshares,fairshare,levelfs"))
                .isEqualTo("""
                Account|User|NormShares|FairShare|LevelFS
                root||1.000000|0.500000|
                 a11||0.000000|0.250000|
                  a11|nobody|0.500000|0.333333|
                """);
        assertThat(run(false, "sshare -a -l -P"))
                .startsWith("Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|GrpTRESMins|");
    }

    @Test
    void columnsAreCutWithAMark() {
        assertThat(run(true, "sshare -a -n -o account%-8,user%3,id,grptresraw%12"))
                .isEqualTo("""
                root              1 cpu=2,mem=0+\s
                 a11              4 cpu=2,mem=0+\s
                  a11    no+      5 cpu=0,mem=0+\s
                """);
    }

    @Test
    void sshareListsItsColumns() {
        assertThat(run(true, "sshare -e")).isEqualTo("""
                Account           Cluster           EffectvUsage      FairShare       \s
                GrpTRESMins       GrpTRESRaw        ID                LevelFS         \s
                NormShares        NormUsage         Partition         RawShares       \s
                RawUsage          TRESRunMins       User            \s
                """);
    }

    @Test
    void userDefaultsAreListed() {
        host.reply("QueryAssocMgr", """
                {"users":[{"user":"ann","userId":7,"defaultAccount":"a","defaultWckey":"w1","adminLevel":"None"},\
                {"user":"bob","userId":8}]}""");
        assertThat(host.run("scontrol -o show assoc_mgr flags=users").out()).isEqualTo("""
                Current Association Manager state
                User Records
                UserName=ann(7) DefAccount=a DefWckey=w1 AdminLevel=None
                UserName=bob(8) DefAccount=(null) DefWckey=(null) AdminLevel=
                """);
    }

    /** Level is the sum of the shares beside an association, with its own; Lineage the way to it. */
    @Test
    void associationLevelSumsTheSharesBesideIt() {
        host.reply("QueryAssocMgr", """
                {"cluster":"c1","tracked":[],"assocs":[
                 {"id":1,"share":{"account":"root","rawShares":"1"}},
                 {"id":2,"share":{"account":"root","user":"root","rawShares":"7","normShares":0.4667}},
                 {"id":5,"parent":"root","share":{"account":"a1","rawShares":"8","normShares":0.5333}},
                 {"id":6,"parent":"a1","share":{"account":"a2","rawShares":"2","normShares":0.2,"level":3.5}},
                 {"id":7,"share":{"account":"a2","user":"ann","rawShares":"1","normShares":1}},
                 {"id":8,"share":{"account":"a1","user":"bob","rawShares":"parent"}},
                 {"id":9,"share":{"account":"a1","user":"eve","partition":"p","rawShares":"8"}}]}""");
        assertThat(host.run("scontrol -o show assoc_mgr flags=assoc")
                        .out()
                        .lines()
                        .flatMap(l -> java.util.regex.Pattern.compile(" ID=\\d+|Factor=(\\S+)|Lineage=(\\S+)")
                                .matcher(l)
                                .results()
                                .map(m -> m.group().strip()))
                        .collect(java.util.stream.Collectors.joining(" ")))
                .isEqualTo("ID=1 Factor=1/0.00/1/0.00 Lineage=/ "
                        + "ID=2 Factor=7/0.47/15/0.00 Lineage=/0-root/ ID=5 Factor=8/0.53/15/0.00 Lineage=/a1/ "
                        + "ID=6 Factor=2/0.20/10/0.00 Lineage=/a1/a2/ ID=7 Factor=1/1.00/1/0.00 "
                        + "Lineage=/a1/a2/0-ann/ "
                        + "ID=8 Factor=2147483647/0.00/10/0.00 Lineage=/a1/0-bob/ ID=9 Factor=8/0.00/10/0.00 "
                        + "Lineage=/a1/0-eve/p/");
    }

    @Test
    void sshareJsonHasUsageAndTotalShares() {
        String json = run(true, "sshare -a --json").replaceAll("\\s+", "");
        assertThat(json)
                .contains(
                        "\"id\":5,\"cluster\":",
                        "\"usage\":[{\"name\":\"cpu\",\"value\":132.0},{\"name\":\"mem\",\"value\":0.0}",
                        "{\"name\":\"node\",\"value\":66.0}",
                        "\"total_shares\":");
    }

    @Test
    void oneLinerPrintsLimitsOnOneLine() {
        host.reply("QueryAssocMgr", """
                {"cluster":"c1","tracked":[],"qos":[{"id":1,"name":"normal",
                 "accounts":[{"name":"a11","running":1,"submitted":1,"tres":{"cpu":2}}]}]}""");
        String line = host.run("scontrol -o show assoc_mgr flags=qos").out();
        assertThat(line)
                .startsWith("Current Association Manager state\nQOS Records\nQOS=normal(1) UsageRaw=0.000000 ")
                .endsWith(" Priority=0 Account Limits= a11={MaxJobsPA=N(1) MaxJobsAccruePA=N(0) "
                        + "MaxSubmitJobsPA=N(1) MaxTRESPA=cpu=N(2),mem=N(0),energy=N(0),"
                        + "node=N(0),billing=N(0),fs/disk=N(0),vmem=N(0),pages=N(0)} User Limits=No Users\n");
    }
}
