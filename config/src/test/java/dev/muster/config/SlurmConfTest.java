package dev.muster.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.key.Names;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SlurmConfTest {
    private static final String BASE = """
        ClusterName=c
        SlurmctldHost=ctl
        NodeName=n[1-2] CPUs=1
        PartitionName=d Nodes=ALL
        """;

    @TempDir
    private Path dir;

    private SlurmConf.Parsed parse(String text) {
        try {
            return SlurmConf.read(
                    Files.writeString(dir.resolve("slurm.conf"), text).toFile());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private SlurmConf read(String text) {
        SlurmConf.Parsed parsed = parse(text);
        if (parsed instanceof SlurmConf.Parsed.Invalid invalid) {
            throw new AssertionError(invalid.errors().toString());
        }
        return ((SlurmConf.Parsed.Ok) parsed).conf();
    }

    private List<String> errors(String text) {
        SlurmConf.Parsed parsed = parse(text);
        List<String> found = new ArrayList<>();
        if (parsed instanceof SlurmConf.Parsed.Invalid invalid) {
            invalid.errors().forEach(e -> found.add(e.message().replace(dir.toString() + "/", "")));
        }
        return found;
    }

    /** PreemptMode without PreemptType, or the reverse, is refused, except GANG alone. */
    @Test
    void preemptionHasAWayAndAReason() {
        for (String good : List.of(
                "",
                "PreemptMode=GANG",
                "PreemptType=preempt/none\nPreemptMode=OFF",
                "PreemptType=preempt/qos\nPreemptMode=CANCEL,GANG",
                "PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG",
                "PreemptType=preempt/qos\nPreemptMode=REQUEUE,WITHIN,PRIORITY")) {
            assertThat(errors(BASE + good)).as(good).isEmpty();
        }
        for (String wrong : List.of(
                "PreemptMode=CANCEL",
                "PreemptMode=SUSPEND,GANG",
                "PreemptType=preempt/qos",
                "PreemptType=preempt/qos\nPreemptMode=OFF",
                "PreemptType=preempt/partition_prio\nPreemptMode=GANG",
                "PreemptType=preempt/qos\nPreemptMode=WITHIN")) {
            assertThat(errors(BASE + wrong))
                    .as(wrong)
                    .hasSize(1)
                    .first()
                    .asString()
                    .endsWith("PreemptType and PreemptMode values incompatible");
        }
    }

    /**
     * Usage must decay or be reset: a half-life of 0 without PriorityUsageResetPeriod is an error, unless the file says
     * none.
     */
    @Test
    void usageMustDecayOrBeReset() {
        assertThat(errors(BASE + "PriorityDecayHalfLife=0"))
                .containsExactly("slurm.conf: You have to either have PriorityDecayHalfLife != 0 "
                        + "or PriorityUsageResetPeriod set to something or the priority plugin will result "
                        + "in rolling over.");
        assertThat(errors(BASE + "PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=none"))
                .isEmpty();
        assertThat(errors(BASE + "PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=Weekly"))
                .isEmpty();
    }

    /** Nodes are given as a whole, and nothing of them counts but memory where it is named. */
    @Test
    void wholeNodesHaveWordsOfTheirOwn() {
        assertThat(read(BASE + "SelectType=select/linear").selectTypeParameters())
                .containsExactly("NONE");
        assertThat(read(BASE + "SelectType=select/linear").memoryConsumable()).isFalse();
        assertThat(read(BASE + "SelectType=select/linear\nSelectTypeParameters=CR_Memory")
                        .memoryConsumable())
                .isTrue();
        assertThat(read(BASE).memoryConsumable()).isTrue();
        assertThat(errors(BASE + "SelectTypeParameters=CR_Core,CR_LLN\nSelectType=select/linear"))
                .containsExactly("slurm.conf:5: Invalid SelectTypeParameters for select/linear: CR_CORE,CR_LLN, it "
                        + "can't contain CR_(CPU|CORE|SOCKET).");
    }

    /** Mistakes that slurmctld logs and continues with. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        MinJobAge=5;MinJobAge=6         | MinJobAge 1 specified more than once, latest value used
        SlurmctldHost=i                 | ''
        MinJobAge=1                     | MinJobAge must be at least 2
        HealthCheckNodeState=IDLE,BOGUS | Invalid HealthCheckNodeState value BOGUS ignored
        PartitionName=a Nodes=n1 Default=YES;PartitionName=b Nodes=n1 Default=YES | changing default partition from a to b
        """)
    void correctedLineIsWarnedAbout(String lines, String warning) {
        SlurmConf conf =
                read("ClusterName=c\nSlurmctldHost=h\nNodeName=n[1-2] CPUs=2\n" + lines.replace(';', '\n') + "\n");
        assertThat(conf.warnings())
                .extracting(ConfigError::sentence)
                .isEqualTo(warning.isEmpty() ? List.of() : List.of(warning));
        assertThat(conf.partitions().stream().filter(PartitionConf::isDefault).map(PartitionConf::name))
                .isSubsetOf("b");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        AccountingStorageTRES=gres/gpu,bogus/x | _init_tres: Unknown tres type 'bogus/x', acceptable types are
        NodeSet=big Nodes=n[2-3];PartitionName=a Nodes=big           | Invalid node names in partition a: n3
        """)
    void unknownTresOrNodeIsRefused(String lines, String error) {
        assertThat(errors("ClusterName=c\nSlurmctldHost=h\nNodeName=n[1-2] CPUs=2\n" + lines.replace(';', '\n') + "\n"))
                .hasSize(1)
                .first()
                .asString()
                .contains(error);
    }

    /** What SuspendExc... names that is not there is said, and left out. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        SuspendExcNodes=n1:x,n[1-2]:1  | n[1-2]:1   | Invalid SuspendExcNodes n1:x ignored
        SuspendExcNodes=n[1-2]:3,n2    | n2         | Invalid SuspendExcNodes n[1-2]:3 ignored
        SuspendExcNodes=n[1-2]:0       | ''         | Invalid SuspendExcNodes n[1-2]:0 ignored
        SuspendExcNodes=zz,n1          | n1         | Invalid SuspendExcNodes zz ignored
        SuspendExcNodes=n[1-           | ''         | Invalid SuspendExcNodes n[1- ignored
        SuspendExcNodes=fast:1         | n1:1       |
        SuspendExcNodes=fs:2,n1        | n[1-2]:2,n1 |
        SuspendExcNodes=feature{f}:1   | n[1-2]:1   |
        SuspendExcNodes=feature{g}     | ''         | Invalid SuspendExcNodes feature{g} ignored
        SuspendExcNodes=fast:2         | ''         | Invalid SuspendExcNodes fast:2 ignored
        SuspendExcParts=zz,d           | d          | Invalid SuspendExcPart zz ignored
        SuspendExcStates=cloud,mad     | cloud      | Invalid SuspendExcState mad ignored
        """)
    void exceptionsOfPowerSavingAreNamed(String line, String left, String warning) {
        SlurmConf conf = read("ClusterName=c\nSlurmctldHost=h\nNodeName=n[1-2] CPUs=2 Feature=f\nNodeSet=fast "
                + "Nodes=n1\nNodeSet=fs Nodes=feature{f}\n"
                + "PartitionName=d Nodes=n[1-2]\n" + line + "\n");
        Key key = Key.valueOf(
                "SUSPEND_EXC_" + line.substring(10, line.indexOf('=')).toUpperCase(java.util.Locale.ROOT));
        assertThat(String.join(",", conf.list(key))).isEqualTo(left);
        assertThat(conf.warnings())
                .extracting(w -> w.line() + ": " + w.sentence())
                .isEqualTo(warning == null ? List.of() : List.of("7: " + warning));
    }

    /** Where more nodes may come than the file names, a count is still a number of nodes. */
    @Test
    void suspendExceptionCountIsCheckedWithMaxNodeCount() {
        SlurmConf conf =
                read("ClusterName=c\nSlurmctldHost=h\nMaxNodeCount=5000\nNodeName=n[1-2] CPUs=2\nPartitionName=d "
                        + "Nodes=n[1-2]\n"
                        + "SuspendExcNodes=n[1-2]:2k,n[1-9]:9999999999,cloud[1-9]:5,n1\n");
        assertThat(String.join(",", conf.list(Key.SUSPEND_EXC_NODES))).isEqualTo("cloud[1-9]:5,n1");
        assertThat(conf.warnings())
                .extracting(w -> w.line() + ": " + w.sentence())
                .containsExactly(
                        "6: Invalid SuspendExcNodes n[1-2]:2k ignored",
                        "6: Invalid SuspendExcNodes n[1-9]:9999999999 ignored");
    }

    /** Programs of power saving may be named PowerActions, which have arguments of their own. */
    @Test
    void powerSavingProgramMayBeAPowerAction() {
        String actions = BASE + "PowerAction=off Location=slurmd Program=\"/bin/off now\"\n"
                + "PowerAction=on Location=slurmctld Program=\"/bin/on -a 'b c'\"\n";
        SlurmConf conf = read(actions + "SuspendProgram=off\nResumeProgram=on\nRebootProgram=/bin/reboot\n");
        assertThat(conf.powerAction(Key.SUSPEND_PROGRAM).orElseThrow().isAtNode())
                .isTrue();
        assertThat(conf.powerAction(Key.RESUME_PROGRAM).orElseThrow().command())
                .containsExactly("/bin/on", "-a", "b c");
        assertThat(conf.powerAction(Key.REBOOT_PROGRAM)).isEmpty();
        assertThat(errors(actions + "ResumeProgram=off"))
                .containsExactly("slurm.conf:7: ResumeProgram=off needs a PowerAction with Location=slurmctld");
    }

    @Test
    void keysKnowWhereTheyStand() {
        SlurmConf conf = read(BASE + "PriorityFlags=MAX_TRES\n");
        assertThat(conf.place(Key.PRIORITY_FLAGS)).isEqualTo(dir + "/slurm.conf:5");
        assertThat(conf.place(Key.PRIORITY_TYPE)).isEqualTo(conf.file());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        FooBar=1                          | _parse_next_key: Parsing error at unrecognized key: FooBar
        KillWait=abc                      | KillWait value "abc" is not a valid number
        KillWait=70000                    | KillWait value (70000) is greater than 65535
        KillWait=-1                       | KillWait value (-1) is less than zero
        KillWait=                         | Parsing error
        KillWait                          | Parsing error
        garbage                           | Parsing error
        PrEpPlugins=prep/other            | cannot find prep plugin for prep/other
        AuthAltTypes=auth/none            | AuthAltTypes=auth/none is not part of this version; there is auth/jwt
        AcctGatherProfileType=acct_gather_profile/x | AcctGatherProfileType=acct_gather_profile/x is not part of this version; there is PROFILES
        AccountingStorageParameters=max_step_records=x | Bad AccountingStorageParameters: max_step_records=x
        AccountingStorageParameters=bogus=1 | Bad AccountingStorageParameters: bogus=1
        KillWait=5 MinJobAge=7            | Parsing error
        NodeName=x CPUs=foo               | CPUs value "foo" is not a valid number
        NodeName=x Foo=1                  | Parsing error at unrecognized key: Foo
        NodeName=x State=foo              | Invalid state foo from x
        NodeName=x Weight=-5              | Weight value (-5) is less than zero
        NodeName=x[1-3                    | Invalid NodeName expression: x[1-3
        NodeName=n1                       | Duplicated NodeHostName n1 in config file
        NodeName=y[1-3] NodeHostname=z[1-2] | NodeHostname count must equal that of NodeName records or there must be no more than one (2 != 3)
        NodeName=x Gres=gpu:a:b:c         | Invalid GRES data for gpu, gpu:a:b:c
        PartitionName=p Fooo=1            | Parsing error at unrecognized key: Fooo
        PartitionName=p State=foo         | Bad value "foo" for State
        PartitionName=p MaxTime=foo       | Bad value "foo" for MaxTime
        PartitionName=p Default=foo       | "foo" is not a valid option for "Default"
        PartitionName=p OverSubscribe=foo | Bad value "foo" for OverSubscribe
        PartitionName=p Nodes=zzz         | Invalid node names in partition p: zzz
        PartitionName=p TRESBillingWeights=foo | failed to parse tres weights str 'foo'
        PartitionName=p TRESBillingWeights=GRES/gpu:a=1 | TRES weight 'GRES:gpu:a' is not a configured TRES type.
        PriorityWeightTRES=cpu=x          | failed to parse tres weights str 'cpu=x'
        PriorityWeightTRES=cpu=1K         | failed to parse tres weights str 'cpu=1K'
        PriorityWeightTRES=License/l=1    | TRES weight 'License:l' is not a configured TRES type.
        PartitionName=d Nodes=n1          | duplicate entry for partition d
        SlurmdDebug=foo                   | Invalid SlurmdDebug foo
        PreemptMode=foo                   | PreemptMode=foo invalid
        PreemptMode=CANCEL,REQUEUE        | PreemptMode=CANCEL,REQUEUE invalid
        PreemptMode=SUSPEND               | PreemptMode=SUSPEND requires GANG too
        PreemptExemptTime=foo             | PreemptExemptTime=foo invalid
        PriorityCalcPeriod=0              | Bad value "0" for PriorityCalcPeriod
        PriorityCalcPeriod=INFINITE       | Bad value "INFINITE" for PriorityCalcPeriod
        PriorityUsageResetPeriod=HOURLY   | Bad value "HOURLY" for PriorityUsageResetPeriod
        PrioritySiteFactorPlugin=site_factor/own | PrioritySiteFactorPlugin=site_factor/own: not known; job_submit.lua sets site factors
        SelectTypeParameters=CR_Foo       | Bad SelectTypeParameter: CR_Foo
        SelectTypeParameters=CR_Core,CR_Socket | Bad SelectTypeParameter: CR_Core,CR_Socket
        SelectTypeParameters=CR_Core_Memory,CR_Memory | Bad SelectTypeParameter: CR_Core_Memory,CR_Memory
        SelectTypeParameters=CR_CPU,CR_ONE_TASK_PER_CORE | CR_ONE_TASK_PER_CORE is not compatible with CR_CPU*, please change to use CR_CORE* instead.
        SelectTypeParameters=CR_LLN | `Invalid SelectTypeParameters: CR_LLN, You need at least CR_(CPU|CORE|SOCKET)*`
        SelectTypeParameters=CR_Memory    | `Invalid SelectTypeParameters: CR_MEMORY, You need at least CR_(CPU|CORE|SOCKET)*`
        PriorityDecayHalfLife=foo         | Bad value "foo" for PriorityDecayHalfLife
        DisableRootJobs=maybe             | "maybe" is not a valid option for "DisableRootJobs"
        EnforcePartLimits=maybe           | Bad EnforcePartLimits: maybe
        MaxMemPerCPU=2G                   | MaxMemPerCPU value "2G" is not a valid number
        DebugFlags=foo                    | Invalid DebugFlag: foo
        PrologFlags=foo                   | Invalid PrologFlag: foo
        AccountingStoreFlags=job_scripts  | Bad AccountingStoreFlags: job_scripts
        NodeName=x Port=99999             | Invalid Port 99999
        TaskPluginParam=foo               | Bad TaskPluginParam: foo
        JobRequeue=foo                    | JobRequeue value "foo" is not a valid number
        PropagateResourceLimits=foo       | Bad rlimit name: foo
        SlurmctldHost=x(1.2.3.4           | Bad value "x(1.2.3.4" for SlurmctldHost
        SlurmctldPort=70000               | Bad value "70000" for SlurmctldPort
        AccountingStorageEnforce=foo      | Invalid parameter for AccountingStorageEnforce: foo
        AccountingStorageEnforce=none     | Invalid parameter for AccountingStorageEnforce: none
        AccountingStorageEnforce=0        | Invalid parameter for AccountingStorageEnforce: 0
        SchedulerParameters=muster_backfill=best | Invalid SchedulerParameters muster_backfill=best: one of easy, short, expected, slowdown
        Include nowhere.conf              | cannot stat file DIR/nowhere.conf: No such file or directory
        FrontendName=x                    | FrontendName: front end nodes are not supported
        """)
    void mistakesAreNamedWithTheirLine(String line, String sentence) {
        assertThat(errors(BASE + line))
                .containsExactly("slurm.conf:5: "
                        + sentence.replace("DIR/", "").replace("PROFILES", String.join(", ", Names.PROFILES)));
    }

    @Test
    void conflictingPrologFlagsAreRefused() {
        assertThat(errors(BASE + "PrologFlags=Contain,NoHold"))
                .containsExactly("slurm.conf:5: PrologFlags invalid "
                        + "combination: NoHold cannot be combined with Contain and/or X11");
    }

    @Test
    void allMistakesAreReportedAtOnce() {
        assertThat(errors("KillWait=x\nFoo=1\nNodeName=a CPUs=1 Bar=2\n"))
                .containsExactly(
                        "slurm.conf:1: KillWait value \"x\" is not a valid number",
                        "slurm.conf:2: _parse_next_key: Parsing error at unrecognized key: Foo",
                        "slurm.conf:3: Parsing error at unrecognized key: Bar",
                        "slurm.conf: ClusterName needs to be specified",
                        "slurm.conf: No SlurmctldHost defined.");
    }

    /** One mistake hides no other: an administrator that migrates a site's file can correct all in one go. */
    @Test
    void allMistakesAreToldAtOnce() {
        assertThat(errors(BASE
                        + "FooBar=3\nReturnToService=zz\nTaskPluginParam=Nonsense\n"
                        + "PreemptMode=CANCEL\nSelectTypeParameters=CR_Foo\n"
                        + "PriorityDecayHalfLife=0\nNodeName=m1 CPUs=many\n"
                        + "PartitionName=bad Nodes=n99\nInclude missing.conf\n"))
                .extracting(e -> e.replaceAll(
                        "^(\\S+): .*?(FooBar|ReturnToService|TaskPluginParam|PreemptMode|SelectType|Decay|CPUs|n99"
                                + "|missing).*",
                        "$1 $2"))
                .contains(
                        "slurm.conf:5 FooBar",
                        "slurm.conf:6 ReturnToService",
                        "slurm.conf:7 TaskPluginParam",
                        "slurm.conf PreemptMode",
                        "slurm.conf:9 SelectType",
                        "slurm.conf Decay",
                        "slurm.conf:11 CPUs",
                        "slurm.conf:12 n99",
                        "slurm.conf:13 missing");
    }

    @Test
    void parseErrorQuotesTheRestOfTheLine() {
        SlurmConf.Parsed.Invalid invalid = (SlurmConf.Parsed.Invalid) parse(BASE + "NodeName=x CPUs=foo Port=1");
        assertThat(invalid.errors().getFirst().parseError())
                .isEqualTo("Parse error in file " + dir + "/slurm.conf line 5: \" CPUs=foo Port=1\"");
    }

    @Test
    void slurmConfSyntaxIsRead() throws IOException {
        Files.writeString(dir.resolve("a.inc"), "KillWait=7\nInclude b.inc\n");
        Files.writeString(dir.resolve("b.inc"), "MinJobAge=8\n");
        Files.createDirectory(dir.resolve("conf.d"));
        Files.writeString(dir.resolve("conf.d/1.conf"), "ReturnToService=2\n");
        Files.writeString(dir.resolve("conf.d/2.conf"), "ReturnToService=1\n");
        Files.writeString(dir.resolve("conf.d/skipped"), "Nonsense\n");
        Files.writeString(dir.resolve("c.special"), "MessageTimeout=77\n");
        SlurmConf conf = read(BASE + """
            # a comment that ends with a backslash \\
              kILLwAIT = 5   # another
            Include a.inc
            INCLUDE conf.d/*.conf
            Include %c.special
            MailProg="/bin/my mail"
            Epilog=/a/b\\#c
            SchedulerParameters=bf_interval=5,\\
            batch_sched_delay=0,bf_continue
            SlurmctldTimeout="60"\r
            Prolog=/one
            Prolog=/two
            SlurmctldHost=backup(10.0.0.2)
            FastSchedule=1
            """);
        assertThat(conf.killWaitSec()).isEqualTo(7);
        assertThat(conf.minJobAgeSec()).isEqualTo(8);
        assertThat(conf.returnToService()).isEqualTo(1);
        assertThat(conf.messageTimeoutSec()).isEqualTo(77);
        assertThat(conf.text(Key.MAIL_PROG)).isEqualTo("/bin/my mail");
        assertThat(conf.list(Key.EPILOG)).containsExactly("/a/b#c");
        assertThat(conf.list(Key.PROLOG)).containsExactly("/one", "/two");
        assertThat(conf.schedulerParameters()).containsEntry("bf_interval", "5").containsEntry("bf_continue", "");
        assertThat(conf.slurmctldTimeoutSec()).isEqualTo(60);
        assertThat(conf.controllers())
                .containsExactly(new Controller("ctl", "ctl"), new Controller("backup", "10.0.0.2"));
        assertThat(conf.warnings())
                .extracting(ConfigError::sentence)
                .hasSize(3)
                .contains(
                        "KillWait 1 specified more than once, latest value used",
                        "ReturnToService 1 specified more than once, latest value used");
    }

    @Test
    void socketsAndCpusAreDerivedAsInSlurm() {
        SlurmConf conf = read("""
            ClusterName=Camel
            SlurmctldHost=ctl
            NodeName=a1 CPUs=8
            NodeName=a2 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2
            NodeName=a3 CPUs=16 CoresPerSocket=4
            NodeName=a4 CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2
            NodeName=a5 Boards=2 SocketsPerBoard=2 CoresPerSocket=4
            NodeName=a6
            NodeName=a7 CPUs=16 ThreadsPerCore=2
            NodeName=a8 CPUs=4 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2
            NodeName=b1 CPUs=8 Boards=2
            NodeName=b2 CPUs=7 CoresPerSocket=2
            """);
        List<String> found = new ArrayList<>();
        for (NodeConf n : conf.nodes()) {
            found.add(n.name() + " " + n.cpus() + "=" + n.boards() + "," + n.sockets() + "," + n.coresPerSocket() + ","
                    + n.threadsPerCore());
        }
        assertThat(found)
                .containsExactly(
                        "a1 8=1,8,1,1",
                        "a2 16=1,2,4,2",
                        "a3 16=1,4,4,1",
                        "a4 8=1,2,4,2",
                        "a5 16=2,4,4,1",
                        "a6 1=1,1,1,1",
                        "a7 16=1,8,1,2",
                        "a8 16=1,2,4,2",
                        "b1 8=2,8,1,1",
                        "b2 6=1,3,2,1");
        assertThat(conf.clusterName()).isEqualTo("camel");
        assertThat(conf.warnings()).extracting(ConfigError::line).containsExactly(10, 12);
    }

    @Test
    void nodesExpand() {
        SlurmConf conf = read("""
            ClusterName=c
            SlurmctldHost=ctl
            SlurmdSpoolDir=/s/%n/%h
            NodeName=DEFAULT RealMemory=100 Weight=3 State=CLOUD
            NodeName=n[1-3] NodeHostname=host NodeAddr=127.0.0.1 Port=[7001-7003] Gres=gpu:a100:2,shard:1K
            NodeName=m[08-09] NodeAddr=10.0.0.[8-9] Feature=x,y Reason="not yet" State=UNKNOWN
            NodeName=DEFAULT Weight=4
            NodeName=k Port=7
            DownNodes=n2 State=FAIL Reason=broken
            """);
        List<NodeConf> nodes = conf.nodes();
        assertThat(nodes).extracting(NodeConf::name).containsExactly("n1", "n2", "n3", "m08", "m09", "k");
        assertThat(nodes).extracting(NodeConf::port).containsExactly(7001, 7002, 7003, 6818, 6818, 7);
        assertThat(nodes)
                .extracting(NodeConf::address)
                .containsExactly("127.0.0.1", "127.0.0.1", "127.0.0.1", "10.0.0.8", "10.0.0.9", "k");
        assertThat(nodes).extracting(NodeConf::hostname).containsExactly("host", "host", "host", "m08", "m09", "k");
        assertThat(nodes).extracting(NodeConf::weight).containsExactly(3, 3, 3, 3, 3, 4);
        assertThat(nodes)
                .extracting(NodeConf::state)
                .containsExactly("CLOUD", "FAIL", "CLOUD", "UNKNOWN", "UNKNOWN", "CLOUD");
        assertThat(nodes.get(1).reason()).isEqualTo("broken");
        assertThat(nodes.get(3).features()).containsExactly("x", "y");
        assertThat(nodes.get(3).reason()).isEqualTo("not yet");
        assertThat(nodes.get(0).gres())
                .containsExactly(
                        new NodeConf.Gres("gpu", "a100", 2, false), new NodeConf.Gres("shard", "", 1024, false));
        assertThat(conf.slurmdSpoolDir(nodes.get(2))).isEqualTo("/s/n3/host");
        assertThat(conf.node("m09")).isPresent();
        assertThat(conf.node("nope")).isEmpty();
    }

    @Test
    void powerActionsAreRead() {
        SlurmConf conf = read("ClusterName=c\nSlurmctldHost=ctl\npoweraction=up Location=slurmctld Program=/bin/up\n"
                + "PowerAction=cycle Program=/bin/cycle location=SLURMD\n");
        assertThat(conf.powerActions())
                .containsExactly(
                        new SlurmConf.PowerAction("up", "slurmctld", "/bin/up"),
                        new SlurmConf.PowerAction("cycle", "slurmd", "/bin/cycle"));
        String head = "ClusterName=c\nSlurmctldHost=ctl\n";
        assertThat(errors(head + "PowerAction=x Program=/x\n").toString())
                .contains("needs Location=slurmctld or slurmd, and Program");
        assertThat(errors(head + "PowerAction=x Location=slurmd Program=/x\nPowerAction=x Location=slurmd Program=/y\n")
                        .toString())
                .contains("PowerAction=x is given twice");
    }

    @Test
    void noNodeSetHasTheNameOfANode() {
        assertThat(errors("ClusterName=c\nSlurmctldHost=ctl\nNodeName=a[1-2] Feature=x\nNodeSet=a1 Feature=x\n"
                                + "PartitionName=p Nodes=ALL\n")
                        .toString())
                .contains("NodeSet a1 has the name of a node");
    }

    /**
     * Nodes are named by what they have, or by the part of the network that they hang on; an unknown name is no node.
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Nodes=feature{x}                | n1 n3",
                "Nodes=Feature{y},n4             | n2 n4",
                "Nodes=block{b2},feature{x}      | n1 n3 n4",
                "Nodes=blockwith{n1}             | n1 n2",
                "Nodes=s                         | n1 n3",
                "Nodes=feature{none}             | !Invalid node names in partition p: feature{none}",
                "Nodes=n1,switch{b2}             | !Invalid node names in partition p: switch{b2}",
            })
    void partitionNodesAreSelectedByFeatureOrTopology(String nodes, String expected) throws IOException {
        Files.writeString(
                dir.resolve("topology.conf"), "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2\n");
        String text = "ClusterName=c\nSlurmctldHost=ctl\nTopologyPlugin=topology/block\nNodeName=n[1,3] "
                + "Feature=x\nNodeName=n2 Feature=y\n"
                + "NodeName=n4\nNodeSet=s Nodes=feature{x}\nPartitionName=p " + nodes + "\n";
        if (expected.startsWith("!")) {
            assertThat(errors(text).toString()).contains(expected.substring(1));
        } else {
            assertThat(read(text).partitions().getFirst().nodes()).containsExactlyInAnyOrder(expected.split(" "));
        }
    }

    @Test
    void partitionLinesAreRead() {
        SlurmConf conf = read("""
            ClusterName=c
            SlurmctldHost=ctl
            DisableRootJobs=YES
            NodeName=a[1-9] CPUs=2
            NodeName=b1 Feature=x,y
            NodeSet=ns1 Feature=x
            NodeSet=ns2 Nodes=a[1-2]
            PartitionName=DEFAULT MaxTime=30 State=UP
            PartitionName=p1 Nodes=ns1,ns2 Default=YES
            PartitionName=p2 Nodes=ALL MaxTime=1-0 DefaultTime=10 AllowGroups=root OverSubscribe=FORCE:7 MaxNodes=2
            PartitionName=p3 Nodes=a[3,1] Shared=YES Priority=5 GraceTime=10 LLN=YES State=DRAIN DisableRootJobs=NO \
            AllowAccounts=ALL PreemptMode=cancel OverTimeLimit=7
            PartitionName=p4 Nodes=a1 OverSubscribe=exclusive MaxTime=UNLIMITED
            """);
        List<PartitionConf> parts = conf.partitions();
        assertThat(parts).extracting(PartitionConf::name).containsExactly("p1", "p2", "p3", "p4");
        assertThat(parts.get(0).nodes()).containsExactly("a1", "a2", "b1");
        assertThat(parts.get(0).nodeSets()).containsExactly("ns1", "ns2");
        assertThat(parts.get(1).nodes()).hasSize(10);
        assertThat(parts.get(2).nodes()).containsExactly("a1", "a3");
        assertThat(parts).extracting(PartitionConf::maxTimeMin).containsExactly(30L, 1440L, 30L, -1L);
        assertThat(parts).extracting(PartitionConf::defaultTimeMin).containsExactly(-1L, 10L, -1L, -1L);
        assertThat(parts)
                .extracting(PartitionConf::overSubscribe)
                .containsExactly("NO", "FORCE:7", "YES:4", "EXCLUSIVE");
        assertThat(parts).extracting(PartitionConf::priorityTier).containsExactly(1, 1, 5, 1);
        assertThat(parts).extracting(PartitionConf::disableRootJobs).containsExactly(true, true, false, true);
        assertThat(parts.get(2).allowAccounts()).isEmpty();
        assertThat(parts.get(2).preemptMode()).isEqualTo("CANCEL");
        assertThat(parts.get(2).overTimeLimitMin()).hasValue(7);
        assertThat(parts.get(1).maxNodes()).isEqualTo(2);
    }

    @Test
    void flagsAreShownAsSlurmShowsThem() {
        SlurmConf conf = read(BASE + """
            PrologFlags=x11
            HealthCheckNodeState=IDLE,cycle
            SelectTypeParameters=CR_Core_Memory,CR_LLN
            DebugFlags=gres,Backfill
            AccountingStorageEnforce=safe
            EnforcePartLimits=yes
            SlurmctldDebug=6
            KillWait=INFINITE
            """);
        assertThat(conf.prologFlags()).containsExactly("Alloc", "Contain", "X11");
        assertThat(conf.selectTypeParameters()).containsExactly("CR_CORE_MEMORY", "CR_LLN");
        assertThat(conf.debugFlags()).contains("Gres");
        assertThat(conf.text(Key.DEBUG_FLAGS)).isEqualTo("Backfill,Gres");
        assertThat(conf.text(Key.HEALTH_CHECK_NODE_STATE)).isEqualTo("CYCLE,IDLE");
        assertThat(conf.text(Key.ACCOUNTING_STORAGE_ENFORCE)).isEqualTo("associations,limits,safe");
        assertThat(conf.enforcePartLimits()).isEqualTo("ALL");
        assertThat(conf.slurmctldDebug()).isEqualTo(6);
        assertThat(SlurmConf.debugName(6)).isEqualTo("debug2");
        assertThat(conf.killWaitSec()).isEqualTo(65535);
    }

    @Test
    void showConfigPrintsValuesAsSlurm() {
        SlurmConf conf = read(BASE + """
            SlurmctldHost=two(10.0.0.2)
            Epilog=/etc/epilog.sh
            PriorityFlags=CALCULATE_RUNNING,DEPTH_OBLIVIOUS
            PriorityDecayHalfLife=14-0
            DefMemPerCPU=100
            SuspendTime=300
            DefCpuPerGPU=2
            OverTimeLimit=5
            ResvOverRun=UNLIMITED
            """);
        List<String> lines =
                ShowConfig.of(conf, new LiveValues("2026-01-01T00:00:00", 17, "26.05.3", user -> user + "(0)"));
        assertThat(lines)
                .startsWith(
                        "AccountingStorageBackupHost = (null)",
                        "AccountingStorageEnforce = none",
                        "AccountingStorageHost   = localhost");
        assertThat(lines)
                .containsSequence(
                        "VSizeFactor             = 0 percent",
                        "WaitTime                = 0 sec",
                        "X11Parameters           = (null)",
                        "",
                        "MPI Plugins Configuration:");
        assertThat(lines)
                .containsSubsequence(
                        "BOOT_TIME               = 2026-01-01T00:00:00",
                        "ClusterName             = c",
                        "CredType                = cred/munge",
                        "DefMemPerCPU            = 100",
                        "Epilog[0]               = /etc/epilog.sh",
                        "EpilogMsgTime           = 2000 usec",
                        "HASH_VAL                = Match",
                        "InteractiveStepOptions  = --interactive --preserve-env --pty $SHELL",
                        "JobDefaults             = DefCpuPerGPU=2",
                        "KillWait                = 30 sec",
                        "MaxDBDMsgs              = 20008",
                        "MaxMemPerNode           = UNLIMITED",
                        "MaxNodeCount            = 2",
                        "NEXT_JOB_ID             = 17",
                        "OverTimeLimit           = 5 min",
                        "PriorityDecayHalfLife   = 14-00:00:00",
                        "PriorityFlags           = CALCULATE_RUNNING,DEPTH_OBLIVIOUS,NO_FAIR_TREE",
                        "PriorityWeightTRES      = (null)",
                        "ResumeRate              = 300 nodes/min",
                        "ResvOverRun             = UNLIMITED",
                        "SlurmUser               = root(0)",
                        "SlurmctldDebug          = info",
                        "SlurmctldHost[0]        = ctl",
                        "SlurmctldHost[1]        = two(10.0.0.2)",
                        "SlurmctldPort           = 6817",
                        "SLURM_VERSION           = 26.05.3",
                        "SrunPortRange           = 0-0",
                        "SuspendTime             = 300 sec",
                        "TaskPluginParam         = (null type)",
                        "UsePam                  = no");
    }

    /** The shapes that benchmark clusters, client rigs and test suites write. */
    @Test
    void clusterOnOneHostIsRead() {
        SlurmConf bench = read("""
            ClusterName=bench
            SlurmctldHost=vm(127.0.0.1)
            SlurmctldHost=vm-bk(127.0.0.2)
            CommunicationParameters=NoCtldInAddrAny
            AuthType=auth/munge
            AuthInfo=socket=/b/run/munge.socket
            AuthAltTypes=auth/jwt
            AuthAltParameters=jwt_key=/b/jwt.key
            SlurmctldPort=16817
            SlurmdPort=16818
            SlurmdLogFile=/b/log/slurmd-%n.log
            JobAcctGatherType=jobacct_gather/none
            SchedulerParameters=batch_sched_delay=20,bf_continue,bf_interval=300
            MaxJobCount=100000
            MaxArraySize=100001
            AccountingStorageType=accounting_storage/slurmdbd
            SlurmdParameters=config_overrides
            NodeName=n[1-8] NodeHostname=vm NodeAddr=127.0.0.1 Port=[16918-16925] CPUs=8 RealMemory=4000
            PartitionName=main Nodes=n[1-8] Default=YES MaxTime=INFINITE State=UP
            SuspendProgram=/bin/true
            SuspendTime=INFINITE
            ResumeTimeout=60000
            ResumeRate=0
            NodeName=c[1-500] CPUs=8 RealMemory=64000 State=CLOUD
            PartitionName=scale Nodes=c[1-500] Default=NO MaxTime=INFINITE State=UP
            """);
        assertThat(bench.nodes()).hasSize(508);
        assertThat(bench.nodes().get(7).port()).isEqualTo(16925);
        assertThat(bench.authInfo()).containsEntry("socket", "/b/run/munge.socket");
        assertThat(bench.slurmdLogFile(bench.nodes().get(2))).isEqualTo("/b/log/slurmd-n3.log");
        assertThat(bench.configOverrides()).isTrue();
        assertThat(bench.warnings()).isEmpty();
        SlurmConf suite = read("""
            ClusterName=atf
            SlurmctldHost=slurmhost
            SlurmUser=slurm
            CredType=cred/munge
            AuthAltParameters=jwt_key=@ETC@/jwt_hs256.key
            TmpFS=/var/slurm/tmp/%n
            SlurmctldDebug=debug
            MailProg=/bin/true
            AccountingStorageHost=slurmhost
            NodeName=node0 NodeHostname=slurmhost Port=6830
            PartitionName=primary Nodes=ALL Default=YES MaxTime=INFINITE State=UP
            """);
        assertThat(suite.tmpFs(suite.nodes().getFirst())).isEqualTo("/var/slurm/tmp/node0");
        assertThat(suite.slurmctldDebug()).isEqualTo(5);
    }

    @Test
    void slurmConfIsLocatedByItsPrecedence() throws IOException {
        assertThat(SlurmConf.locate(Optional.of("/x/y"), Optional.empty()).getPath())
                .isEqualTo("/x/y");
        Files.createDirectory(dir.resolve("etc"));
        assertThat(SlurmConf.locate(Optional.empty(), Optional.of(dir.toFile())).getPath())
                .isEqualTo("/etc/slurm/slurm.conf");
        Files.createFile(dir.resolve("etc/slurm.conf"));
        assertThat(SlurmConf.locate(Optional.of(""), Optional.of(dir.toFile())).toPath())
                .isEqualTo(dir.resolve("etc/slurm.conf"));
    }

    @Test
    void everyKeyIsEitherHonouredOrSaysWhyNot() {
        for (Key key : Key.values()) {
            assertThat(key.honoured() || key.whyInert().length() > 10)
                    .as(key.slurmName())
                    .isTrue();
            SlurmConf conf = read(BASE);
            assertThat(conf.text(key)).as(key.slurmName()).isNotNull();
        }
    }

    @Test
    void tenThousandNodeLinesAreRead() {
        StringBuilder text = new StringBuilder("ClusterName=c\nSlurmctldHost=ctl\n");
        for (int i = 0; i < 10_000; i++) {
            text.append("NodeName=node")
                    .append(i)
                    .append(" CPUs=64 RealMemory=256000 Gres=gpu:8 Weight=")
                    .append(i % 7)
                    .append('\n');
        }
        text.append("PartitionName=p Nodes=ALL\nPartitionName=q Nodes=node[0-9999]\n");
        assertThat(read(text.toString()).partitions().get(1).nodes()).hasSize(10_000);
    }
}
