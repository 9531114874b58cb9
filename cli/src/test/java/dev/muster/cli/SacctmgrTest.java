package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Expected texts are the original's. */
class SacctmgrTest {
    private final FakeHost host = new FakeHost();

    private FakeHost.Ran run(String line) {
        return host.run("sacctmgr " + line);
    }

    @Test
    void listIsPrintedInColumnsOrWithBars() {
        host.reply("Show", """
            {"rows":[{"User":"bin","DefaultAccount":"a2","AdminLevel":"NONE"},
             {"User":"root","DefaultAccount":"root","AdminLevel":"ADMINISTRATOR"}]}""");
        assertThat(run("show user").out()).isEqualTo("""
                  User   Def Acct     Admin\s
            ---------- ---------- ---------\s
                   bin         a2      None\s
                  root       root Administ+\s
            """);
        assertThat(run("-n -P show user format=user,admin").out()).isEqualTo("bin|None\nroot|Administrator\n");
        assertThat(run("show user -p format=user%3,defaulta%-6").out())
                .isEqualTo("User|Def Acct|\nbin|a2|\nroot|root|\n");
        assertThat(run("show user format=user%3,defaulta%-6").out())
                .isEqualTo("Use Def Ac \n--- ------ \nbin a2     \nro+ root   \n");
    }

    @Test
    void limitsArePrintedWithTheirUnits() {
        host.reply("Show", """
            {"rows":[{"Account":"a","GrpTRES":"cpu=4,mem=1024,node=3","MaxWall":"90","MaxTRES":"node=700",\
            "Fairshare":"1"}]}""");
        assertThat(run("-nP show assoc format=account,grptres,maxwall,grpmemory,grpcpus,maxnodes,grpjobs,share")
                        .out())
                .isEqualTo("a|cpu=4,mem=1G,node=3|01:30:00|1024|4|700||1\n");
        host.reply("Show", """
            {"rows":[{"Name":"q","GraceTime":"3600","UsageThreshold":"0.500000","PreemptExemptTime":"600"}]}""");
        assertThat(run("-nP show qos "
                                + "format=name,gracetime,usagethres,usagefactor,preemptexempttime,preemptmode,"
                                + "priority,maxwall")
                        .out())
                .isEqualTo("q|01:00:00|0.500000|1.000000|00:10:00|cluster|0|\n");
    }

    @Test
    void addedAccountIsPrintedWithItsSettings() {
        host.reply("Change", """
            {"names":["a1"],"assocs":[{"cluster":"rig","account":"a1","parent":"acct"}]}""");
        assertThat(run("-i add account a1 description=d1 organization=o1 parent=acct fairshare=5 maxjobs=3 "
                                + "grptres=cpu=4,mem=1g")
                        .out())
                .isEqualTo("""
             Adding Account(s)
              a1
             Settings
              Description     = d1
              Organization    = o1
             Associations =
              C = rig        A = a1                 \s
             Settings
              Fairshare     = 5
              GrpTRES       = cpu=4,mem=1G
              MaxJobs       = 3
              Parent        = acct
            """);
        Json.Obj sent = host.sent.get("Change");
        assertThat(sent.obj("set").text("GrpTRES")).isEqualTo("cpu=4,mem=1024");
        assertThat(sent.obj("where").text("name")).isEqualTo("a1");
        assertThat(sent.flag("commit")).isTrue();
    }

    /** Events of yesterday and today; where states are asked for, what is in them now. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "show event | true | ''",
                "show event node=n1 | true | ''",
                "show event state=dow,drain | false | open",
                "show event state=down start=now-1hour | true | ''",
                "show event state=down end=now | true | ''",
                "show event state=down all_time | false | ''",
                "show event all_time | false | ''",
            })
    void eventsAreAskedForSinceYesterday(String line, boolean since, String flags) {
        host.reply("Show", "{\"rows\":[]}");
        run(line);
        Json.Obj where = host.sent.get("Show").obj("where");
        assertThat(where.has("start")).isEqualTo(since);
        assertThat(where.text("condflags")).isEqualTo(flags);
        assertThat(where.text("event")).isEqualTo(line.contains("state") ? "node" : "");
    }

    @Test
    void bareWordAfterShowProblemIsIgnored() {
        host.reply("Show", "{\"rows\":[]}");
        run("show problem nosuch");
        assertThat(host.sent.get("Show").obj("where").fields()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -i modify job 2 set comment=abc                       | jobid=2
            -i modify job where 2 set comment=abc                 | jobid=2
            -i modify job set comment=abc where 2                 | jobid=2
            -i modify job 2 3_1 4+1 set comment=abc               | 'jobid=2,3_1,4+1'
            -i modify job 2.batch,3 set comment=abc               | 'jobid=2,3'
            -i modify job jobid=2 job=3 set derivedes=x           | 'jobid=2,3'
            -i modify job 2 set tres=Energy=12,cpu=2k             | 'jobid=2'
            -i modify job 2 set derivedexitcode=-1                | 'jobid=2'
            """)
    void modifyJobTakesJobNumbers(String line, String where) {
        host.reply("Change", "{\"names\":[\"2\\t0\"]}");
        assertThat(run(line).err()).isEmpty();
        assertThat("jobid=" + host.sent.get("Change").obj("where").text("jobid"))
                .isEqualTo(where);
        String tres = host.sent.get("Change").obj("set").text("tres");
        assertThat(tres).isEqualTo(line.contains("tres") ? "cpu=2048,energy=12" : "");
    }

    /** Shortest abbreviations of the entities that add, modify and delete accept. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -i modify j 2 set comment=x          | job
            -i delete a b                        | account
            -i delete res lic                    | resource
            -i delete r lic                      | resource
            -i delete q low                      | qos
            -i delete u ann                      | user
            -i delete co account=a names=ann     | coordinator
            """)
    void entityAbbreviationIsAccepted(String line, String entity) {
        host.reply("Change", "{\"names\":[\"2\\t0\"]}");
        run(line);
        assertThat(host.sent.get("Change").text("entity")).isEqualTo(entity);
        assertThat(run("-i modify jobs 2 set comment=x").err()).startsWith("No valid entity in modify command");
    }

    /** A wrong option changes no job. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = true, textBlock = """
            -i modify job foo set comment=x             | 'sacctmgr: fatal: Bad job/step specified: foo'
            -i modify job 0 set comment=x | 'sacctmgr: fatal: Bad job/step specified: 0: JobID can not be zero'
            -i modify job jobid= set comment=x          | 'Invalid job id(s)  specified'
            -i modify job user= set comment=x           | ''
            -i modify job user=nosuch set comment=x     | 'sacctmgr: error: Invalid user id: nosuch'
            -i modify job 1 starttime=foo set comment=x | 'Invalid time specification (pos=0): foo'
            -i modify job 1 set comment                 | ' Bad format on comment: End your option with an ''='' sign'
            -i modify job 1 set comment+=x              | ' Invalid operator ''+='' in comment+=x'
            -i modify job 1 set com=x                   | ' Unknown option: com=x'
            -i modify job 1 set tres=energy | 'sacctmgr: error: slurmdb_format_tres_str: no TRES id found for energy'
            -i modify job 1 set tres=                   | ''
            -i modify job 1 set derivedexitcode=1:2     | 'sacctmgr: error: Invalid value for DerivedExitCode (1:2)'
            -i modify job 1                             | ' You didn''t give me anything to set'
            -i modify user ann set fairshare+=1         | ' Invalid operator ''+='' in fairshare+=1'
            -i modify qos normal set priority-=1        | ' Invalid operator ''-='' in priority-=1'
            """)
    void invalidJobModificationIsRefused(String line, String first) {
        var result = run(line);
        assertThat(result.err().lines().findFirst().orElse("")).isEqualTo(first);
        assertThat(result.rc()).isEqualTo(1);
        assertThat(host.sent).doesNotContainKey("Change");
    }

    @Test
    void invalidShowConditionIsRefused() {
        host.reply("Show", "{\"rows\":[{\"Name\":\"normal\"}]}");
        assertThat(run("show assoc nosuch").err()).isEqualTo("sacctmgr: error: Invalid value for AssocId (nosuch)\n");
        assertThat(run("show assoc nosuch=1").err()).isEqualTo(" Unknown condition: nosuch=1\n");
        assertThat(run("show assoc format=").err()).isEqualTo("Unknown field ''\n");
        assertThat(run("show assoc qos=nosuch").err())
                .isEqualTo("sacctmgr: error: You gave a bad qos 'nosuch'. Valid QOS's are normal\n Unknown "
                        + "condition: qos=nosuch\n");
        assertThat(run("show event event=nosuch").err())
                .isEqualTo(" Unknown event type: 'nosuch'  Valid events are Cluster and Node.\n");
        assertThat(run("show transaction action=nosuch").err())
                .isEqualTo("sacctmgr: error: You gave a bad action 'nosuch'.\n");
        assertThat(run("show transaction action=Add-QOS").rc()).isEqualTo(1);
    }

    /** What an empty variable of a script would clear or set, and words without a value. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -i modify user ann set defaultqos=    | 'You gave a bad default qos ''''.  Use ''list qos'' to get complete list.'
            -i add user ann account=a defaultqos= | 'You gave a bad default qos ''''.  Use ''list qos'' to get complete list.'
            -i modify user ann set grptres=       | ' Unknown option: grptres='
            -i modify qos q set maxtrespu=        | ' Unknown option: maxtrespu='
            -i modify qos q set flags=            | ''
            -i modify user ann set fairshare      | ' Bad format on fairshare: End your option with an ''='' sign'
            -i modify account a set description   | ' Can''t modify the name of an account'
            -i modify qos q set priority          | ' Unknown option: priority'
            """)
    void emptyOrMissingValueIsRefused(String line, String first) {
        FakeHost.Ran ran = run(line);
        assertThat(ran.rc()).as(line).isEqualTo(1);
        assertThat(ran.err().lines().findFirst().orElse("")).isEqualTo(first);
        assertThat(host.sent).doesNotContainKey("Change");
    }

    /** One sentence for all of them, and nothing is asked of slurmdbd. */
    @ParameterizedTest
    @CsvSource({
        "show federation",
        "list fed tree",
        "-i add federation f",
        "-i modify federation f set clusters=c",
        "-i delete fed f",
        "-i modify cluster c set federation=f",
        "-i modify cluster c set fedstate=drain",
        "-i modify cluster c set features=a",
        "-i add cluster c federation=f"
    })
    void federationsAreRefused(String line) {
        assertThat(run(line))
                .isEqualTo(new FakeHost.Ran(1, "", "sacctmgr: error: Federations are not supported by this version\n"));
        assertThat(host.sent).isEmpty();
    }

    @Test
    void aClusterIsInNoFederation() {
        host.reply(
                "Show", "{\"rows\":[{\"Cluster\":\"c\",\"ControlHost\":\"h\",\"ControlPort\":\"1\",\"RPC\":\"2\"}]}");
        assertThat(run("-P -o show cluster withfed wolimits").out())
                .isEqualTo("Cluster|ControlHost|ControlPort|RPC|Federation|ID|Features|FedState\nc|h|1|2||0||NA\n");
        assertThat(run("-n -P show cluster format=fedstateraw").out()).isEqualTo("0\n");
    }

    @Test
    void quietAndVerboseExcludeEachOther() {
        assertThat(run("-Q -v show cluster"))
                .isEqualTo(new FakeHost.Ran(1, "", "sacctmgr: error: --quiet and --verbose are mutually exclusive\n"));
    }

    /** The list has no associations to which the condition could apply. */
    @Test
    void conditionsOfAssociationsAreAskedAbout() {
        host.reply("Show", "{\"rows\":[{\"Account\":\"a\"}]}");
        assertThat(run("-n show account parent=root format=account").out()).isEqualTo("""
            You requested options that are only valid when querying with the withassoc option.
            Are you sure you want to continue? (You have 30 seconds to decide)
            (N/y):\s
            Aborted
            """);
        assertThat(run("-n -i show account parent=root format=account").out()).isEqualTo("         a \n");
        assertThat(run("-nP show account withassoc parent=root format=account").out())
                .isEqualTo("a\n");
    }

    @Test
    void cpuLimitGivenTwiceIsSetOnce() {
        host.reply("Change", "{\"names\":[\"q\"]}");
        assertThat(run("-i add qos q grpcpus=9 grptres=cpu=9,mem=1G").out()).contains("= cpu=9,mem=1G\n");
    }

    @Test
    void woLimitsOptionOmitsLimitColumns() {
        host.reply(
                "Show",
                "{\"rows\":[{\"Cluster\":\"c\",\"Account\":\"a\",\"User\":\"u\",\"ControlHost\":\"h\","
                        + "\"ControlPort\":\"6817\"}]}");
        assertThat(run("-P show assoc wolimits").out()).isEqualTo("Cluster|Account|User|Partition\nc|a|u|\n");
        assertThat(run("-P show cluster wolimits").out()).isEqualTo("Cluster|ControlHost|ControlPort|RPC\nc|h|6817|\n");
        assertThat(run("-P show assoc wopl format=account").out()).isEqualTo("Account\na\n");
    }

    @Test
    void pingReportsWhetherSlurmdbdResponds() {
        host.reply("Ping", "{}");
        FakeHost.Ran ran = run("ping --json");
        assertThat(ran.rc()).isZero();
        assertThat(ran.out())
                .contains("\"responding\": true")
                .contains("\"status\": \"No error\"")
                .doesNotContain("is UP");
        assertThat(run("ping").out()).startsWith("slurmdbd(primary) at ").endsWith(" is UP\n");
    }

    /** Columns: answer of AccountingStorageHost, of AccountingStorageBackupHost, exit code. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            serves, standby, UP,   UP,   0
            away,   serves,  DOWN, UP,   0
            serves, away,    UP,   DOWN, 0
            away,   standby, DOWN, UP,   1
            away,   away,    DOWN, DOWN, 1
            """)
    void pingNamesBothHosts(String primary, String backup, String first, String second, int rc) {
        host.accountingHosts = List.of("a", "b");
        Map<String, String> answers = Map.of("Ping", primary, "Ping1", backup);
        answers.forEach((message, answer) -> {
            if (answer.equals("away")) {
                host.refuse(message, 1800, "x");
            } else {
                host.reply(message, "{\"standby\":" + answer.equals("standby") + "}");
            }
        });
        FakeHost.Ran ran = run("ping");
        assertThat(ran.out())
                .isEqualTo("slurmdbd(primary) at a is " + first + "\nslurmdbd(backup) at b is " + second + "\n");
        assertThat(ran.rc()).isEqualTo(rc);
        assertThat(run("ping --json").out()).contains("\"hostname\": \"b\"").contains("\"primary\": false");
    }

    @Test
    void invalidLimitValueIsRefused() {
        assertThat(run("-i modify user u set maxwall=x").err())
                .isEqualTo(" Bad MaxWall time format: maxwall=x\n Unknown option: maxwall=x\n Use keyword "
                        + "'where' to modify condition\n");
        assertThat(run("-i add account a fairshare=x").err())
                .isEqualTo("sacctmgr: error: Invalid value for FairShare (x)\n Unknown option: fairshare=x\n "
                        + "Use keyword 'where' to modify condition\n");
    }

    /** Scripts write several words of one field: the last word does not reset the others. */
    @Test
    void wordsAboutOneFieldCountTogether() {
        host.reply("Change", "{\"names\":[\"q\"]}");
        run("-i modify qos q set grpcpus=-1 grpnodes=18 grptres=billing=-1 maxtresperuser=cpu=3,node=2");
        Json.Obj set = host.sent.get("Change").obj("set");
        assertThat(set.text("GrpTRES")).isEqualTo("billing=-1,cpu=-1,node=18");
        assertThat(set.text("MaxTRESPU")).isEqualTo("cpu=3,node=2");
    }

    @Test
    void changeIsMadeOnlyAfterConfirmation() {
        host.reply("Change", "{\"names\":[\"bin\"]}");
        host.stdin = "n\n";
        FakeHost.Ran no = run("modify user bin set adminlevel=none");
        assertThat(no.out())
                .isEqualTo(" Modified users...\n  bin\nWould you like to commit changes? (You have 30 seconds "
                        + "to decide)\n(N/y): \n"
                        + " Changes Discarded\n");
        assertThat(no.rc()).isZero();
        assertThat(host.sent.get("Change").flag("commit")).isFalse();
        host.stdin = "y\n";
        assertThat(run("modify user bin set adminlevel=none").out()).doesNotContain("Discarded");
        assertThat(host.sent.get("Change").flag("commit")).isTrue();
    }

    @Test
    void rawUsageIsResetOnTheLocalClusterByDefault() {
        host.reply("Change", "{\"names\":[\"q\"]}");
        FakeHost.Ran here = run("-i modify qos q set RawUsage=0");
        String local = host.clusters().getFirst();
        assertThat(List.of(here.rc(), here.out(), here.err()))
                .isEqualTo(List.of(0, "No cluster specified, resetting on local cluster " + local + "\n", ""));
        assertThat(host.sent.get("Change").obj("where").text("cluster")).isEqualTo(local);
        assertThat(host.sent.get("Change").obj("set").text("rawusage")).isEqualTo("0");
        assertThat(run("-i modify account a cluster=far set rawusage=0").out()).isEmpty();
        host.stdin = "n\n";
        assertThat(run("modify account a cluster=far set rawusage=0").out())
                .isEqualTo("Would you like to reset usage? (You have 30 seconds to decide)\n(N/y): \n Changes "
                        + "Discarded\n");
        assertThat(host.sent.get("Change").flag("commit")).isFalse();
        run("-i modify qos q set RawUsage=0 priority=3");
        assertThat(host.sent.get("Change").obj("set").text("Priority")).isEqualTo("3");
        assertThat(host.sent.get("Change").obj("where").has("cluster")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        show bogus                              | No valid entity in list command
        bogus                                   | invalid keyword: bogus
        -i add bogus                            | No valid entity in add command
        show user format=bogus                  | Unknown field 'bogus'
        show account bogus=a                    | ' Unknown condition: bogus=a'
        -i modify account a2 set bogus=3        | ' Unknown option: bogus=3'
        -i modify qos q set maxwall-=3          | ' Invalid operator ''-='' in maxwall-=3'
        -i modify qos q set grptres+=cpu=3      | ' Invalid operator ''+='' in grptres+=cpu=3'
        -i modify account a2 set maxjobs=x      | sacctmgr: error: Invalid value for MaxJobs (x)
        -i modify account a2                    | ' You didn''t give me anything to set'
        -i modify qos q set rawusage=5          | sacctmgr: error: Raw usage can only be set to 0 (zero)
        -i modify user u set rawusage=0         | sacctmgr: error: An account must be specified
        -i modify cluster set rawusage=0        | ' Unknown option: rawusage=0'
        -r add account x                        | Can't run this command in readonly mode.
        """)
    void invalidSacctmgrCommandIsRefused(String line, String first) {
        FakeHost.Ran ran = run(line);
        assertThat(ran.rc()).isEqualTo(1);
        assertThat(ran.err().lines().findFirst()).contains(first);
    }

    @Test
    void refusalOfSlurmdbdIsPrinted() {
        host.reply("Change", "{\"error\":[\" Nothing new added.\"],\"errno\":-1}");
        FakeHost.Ran ran = run("-i add qos normal");
        assertThat(List.of(ran.rc(), ran.out(), ran.err())).isEqualTo(List.of(1, " Nothing new added.\n", ""));
        host.reply("Change", "{\"error\":[\"Access/permission denied\"],\"errno\":2002}");
        assertThat(run("-i add account nn").err())
                .isEqualTo(" error: Only admins/operators/coordinators can add accounts\n");
        assertThat(run("-i add user nn account=a").err())
                .isEqualTo(" error: Problem adding user associations: Access/permission denied"
                        + " (Only admins/operators/coordinators can add accounts)\n");
        ran = run("-i add qos nn");
        assertThat(List.of(ran.rc(), ran.out(), ran.err()))
                .isEqualTo(List.of(
                        1,
                        " Adding QOS(s)\n  nn\n Settings\n  Description    = nn\n",
                        " Problem adding QOS: Access/permission denied\n"));
        ran = run("-i modify account ww set description=X");
        assertThat(ran.out()).isEqualTo(" Modified accounts...\n");
        assertThat(host.sent.get("Change").obj("set").text("description")).isEqualTo("x");
        ran = run("-i modify user ww set grpjobs=1");
        assertThat(ran.out()).isEqualTo(" Modified user associations...\n");
        assertThat(run("-i del account ww").err())
                .isEqualTo("sacctmgr: error: Your user doesn't have privilege to perform this action\n"
                        + " Error with request: Access/permission denied\n");
    }

    /** Rows of a tree are indented by their depth below the topmost printed row. */
    @Test
    void partialTreeIsIndentedFromItsTopRow() {
        host.reply("Show", "{\"rows\":[{\"Account\":\"b\",\"Depth\":\"2\"},{\"Account\":\"c\",\"Depth\":\"3\"}]}");
        assertThat(run("-n -P show assoc tree format=account account=b").out()).isEqualTo("b\n c\n");
    }

    /** The error about a value names the option that set it. */
    @Test
    void refusedValueIsReportedWithItsOption() {
        String bad = "sacctmgr: error: You gave a bad qos 'q'. Valid QOS's are normal";
        host.reply("Change", "{\"error\":[\"" + bad + "\"],\"errno\":-1}");
        assertThat(run("-i add user u account=a qos=+q").err()).isEqualTo(bad + "\n Unknown option: qos=+q\n");
        assertThat(run("-i modify account a set qos=q").err())
                .isEqualTo(bad + "\n Unknown option: qos=q\n Use keyword 'where' to modify condition\n");
        String tres = "sacctmgr: error: slurmdb_format_tres_str: no TRES known by type x";
        host.reply("Change", "{\"error\":[\"" + tres + "\"],\"errno\":-1}");
        FakeHost.Ran ran = run("-i modify user u set grptres=x=1 maxjobs=2");
        assertThat(List.of(ran.rc(), ran.out(), ran.err()))
                .isEqualTo(List.of(
                        1, "", tres + "\n Unknown option: grptres=x=1\n Use keyword 'where' to modify condition\n"));
        assertThat(run("-i modify qos q set priority=x").err())
                .isEqualTo("sacctmgr: error: Invalid value for Priority (x)\n You didn't give me anything to set\n");
        assertThat(run("-i modify qos q set usagefactor=x").err())
                .isEqualTo("sacctmgr: error: UsageFactor value (x) is not a valid number\n You didn't give me "
                        + "anything to set\n");
    }

    @ParameterizedTest
    @CsvSource({
        "accounts,account",
        "acct,account",
        "assoc,association",
        "associations,association",
        "clusters,cluster",
        "qos,qos",
        "users,user",
        "u,user",
        "txn,transaction",
        "tres,tres",
        "wckeys,wckey",
        "resource,resource",
        "events,event",
        "problems,problem"
    })
    void entitiesAreAbbreviatedAndInThePlural(String typed, String entity) {
        host.reply("Show", "{\"rows\":[]}");
        assertThat(run("show " + typed).rc()).isZero();
        assertThat(host.sent.get("Show").text("entity")).isEqualTo(entity);
    }

    @Test
    void sacctmgrIsRefusedWithoutSlurmdbd() {
        host.accountingType = "";
        FakeHost.Ran ran = run("show cluster");
        assertThat(ran.rc()).isEqualTo(1);
        assertThat(ran.err())
                .isEqualTo("You are not running a supported accounting_storage plugin\n"
                        + "Only 'accounting_storage/slurmdbd' is supported.\n");
    }

    @Test
    void eventsHaveADuration() {
        host.reply("Show", """
            {"rows":[{"NodeName":"n1","TimeStart":"1000","TimeEnd":"1003","Duration":"3","State":"DRAIN"},
             {"NodeName":"","TimeStart":"1000","TimeEnd":"0","Duration":"90061","State":""}]}""");
        assertThat(run("-n show event format=nodename%5,duration,state").out())
                .isEqualTo("   n1      00:00:03  DRAIN \n" + "         1-01:01:01        \n");
        assertThat(run("-nP show event format=duration").out()).isEqualTo("00:00:03\n1-01:01:01\n");
    }

    /** What was added and what was there before: texts of Slurm 26.05. */
    @Test
    void addedUsersAndAccountsArePrinted() {
        host.reply(
                "Change",
                "{\"names\":[\"u1\"],\"assocs\":[{\"cluster\":\"rig\",\"account\":\"b1\",\"user\":\"u1\","
                        + "\"partition\":\"debug\"}],"
                        + "\"more\":[\"rig\\nu1\\nw1\"]}");
        assertThat(run("-i add user u1 account=b1 wckeys=w1 partition=debug").out())
                .isEqualTo(" Adding User(s)\n  u1\n Settings\n Associations =\n"
                        + "  C = rig        A = b1                   U = u1        P = debug\n Wckey(s)\n  C "
                        + "= rig        W = w1         U = u1       \n");
        host.reply("Change", "{\"assocs\":[{\"cluster\":\"rig\",\"account\":\"b1\",\"user\":\"u1\"}]}");
        assertThat(run("-i add user u1 account=b1 maxjobs=2").out())
                .isEqualTo(" Associations =\n"
                        + "  C = rig        A = b1                   U = u1       \n Non Default Settings\n  "
                        + "MaxJobs       = 2\n");
        host.reply("Change", "{\"names\":[\"b6\"],\"assocs\":[{\"cluster\":\"rig\",\"account\":\"b6\"}]}");
        assertThat(run("-i add account b1,b6 maxjobs=1").out())
                .isEqualTo(" Adding Account(s)\n  b6\n Settings\n  Description     = Account Name\n"
                        + "  Organization    = Parent/Account Name\nAlready existing account b1 on cluster rig\n  C "
                        + "= rig        A = b6                  \n"
                        + " Settings\n  MaxJobs       = 1\n");
        host.reply("Change", "{\"error\":[\" Nothing new added.\"],\"errno\":-1}");
        assertThat(run("-i add account b1 cluster=rig"))
                .isEqualTo(new FakeHost.Ran(1, " Already existing account b1 on cluster rig\n", ""));
        assertThat(run("-i add user u1 account=b1"))
                .matches(r -> r.rc() == 1 && r.out().startsWith("Request didn't affect anything\nNothing added.\n"));
    }

    /** What was modified, and exit code 1 where nothing was: texts of Slurm 26.05. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "user ren set newname=rena                          | {\"names\":[\"ren\"]} | ' Modified "
                        + "users...;  ren;'",
                "user ren set newname=rena adminlevel=operator      | {\"names\":[\"ren\"]} | ' Modified "
                        + "users...;  ren;'",
                "user ren set adminlevel=operator                   | {\"names\":[\"ren\"]} | ' Modified "
                        + "users...;  ren;'",
                "user no set adminlevel=operator                    | {}                   | ' Modified "
                        + "users...;  Nothing modified;'",
                "user no set fairshare=3                            | {}                   | ' Modified user "
                        + "associations...;  Nothing modified;'",
                "account no set description=d                       | {}                   | ' Modified "
                        + "accounts...;  Nothing modified;'",
                "qos no set priority=3                              | {}                   | '  Nothing modified;'",
            })
    void modificationPrintsWhatItChanged(String words, String reply, String said) {
        host.reply("Change", reply);
        FakeHost.Ran ran = run("-i modify " + words);
        assertThat(ran.out().replace("\n", ";")).isEqualTo(said);
        assertThat(ran.rc()).isEqualTo(said.contains("Nothing") ? 1 : 0);
    }

    @Test
    void runawayJobIsOneTheControllerDoesNotKnow() {
        host.reply("Show", """
            {"rows":[{"ID":"7","Name":"a","Partition":"p","Cluster":"c","State":"RUNNING","TimeStart":"0","TimeEnd":"0",
             "Key":"70:0"},
             {"ID":"8","Name":"b","Partition":"p","Cluster":"c","State":"RUNNING","TimeStart":"0","TimeEnd":"0",
              "Key":"80:1"}]}""");
        host.reply("QueryJobs", "{\"jobs\":[{\"jobId\":7}]}");
        host.reply("EndRunaways", "{}");
        String out = run("-nPi show runawayjobs format=id,name,state").out();
        assertThat(out).contains("8|b|RUNNING\n").doesNotContain("7|a");
        host.reply("QueryJobs", "{\"jobs\":[{\"jobId\":7},{\"jobId\":8}]}");
        assertThat(run("show runawayjobs").out()).startsWith("Runaway Jobs: No runaway jobs found on cluster ");
    }

    @Test
    void sacctmgrOptionsAreAppliedOrRefused() {
        host.reply("Show", "{\"rows\":[]}");
        FakeHost.Ran ran = run("-i load /nosuch");
        assertThat(ran.out() + ran.err()).isEqualTo(" Unable to read \"/nosuch\": No such file or directory\n");
        assertThat(run("--nosuch show user").rc()).isEqualTo(1);
        assertThat(run("-nv show user name=ann").err()).contains("show user where {name=ann}");
        host.reply("Change", "{\"names\":[\"q\"]}");
        assertThat(run("-iQ add qos q").out()).isEmpty();
        assertThat(run("-i add qos q").out()).contains("q");
    }

    /** Coordinators are listed with their accounts; runaway jobs, reservations and federations have other names. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "list coord | No valid entity in list command",
                "show coordinators | No valid entity in list command",
                "list f | sacctmgr: error: Federations are not supported by this version",
                "list lost | No valid entity"
            })
    void unknownEntityNameIsRefused(String line, String said) {
        FakeHost.Ran ran = run(line);
        assertThat((ran.err() + ran.out()).startsWith(said)).as(ran.toString()).isEqualTo(!line.equals("list lost"));
    }
}
