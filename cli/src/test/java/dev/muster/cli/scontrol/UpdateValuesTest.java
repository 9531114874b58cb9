package dev.muster.cli.scontrol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import dev.muster.cli.command.Texts;
import dev.muster.model.SlurmErrno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code scontrol update} says by itself, as the original says it. */
class UpdateValuesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            UpdateNode      | CpuBind=x            | E: Invalid input CpuBind=x
            UpdateNode      | CpuBind=LDom         | ''
            UpdateNode      | Weight=x             | E: Invalid value Weight=x for Weight
            UpdatePartition | CpuBind=x            | E: Invalid input CpuBind=x
            UpdatePartition | CpuBind=off          | ''
            UpdatePartition | Hidden=x | E: Invalid input: Hidden=x / E: Acceptable Hidden values are YES and NO
            UpdatePartition | LLN=yes              | ''
            UpdatePartition | PowerDownOnIdle=1    | E: Invalid input: PowerDownOnIdle=1 / E: Acceptable PowerDownOnIdle values are YES and NO
            UpdatePartition | PreemptMode=x        | E: Invalid input: PreemptMode=x
            UpdatePartition | PreemptMode=suspend,gang | E: PreemptMode=GANG is a cluster-wide option and cannot be set at partition level
            UpdatePartition | PreemptMode=within,requeue | ''
            UpdatePartition | PriorityTier=70000   | E: Invalid PriorityTier value: 70000
            UpdatePartition | PriorityTier=65533   | ''
            UpdatePartition | OverTimeLimit=70000  | E: Invalid OverTimeLimit value: 70000
            UpdatePartition | OverTimeLimit=unlimited | ''
            UpdatePartition | GraceTime=x          | E: Invalid GraceTime value: x
            UpdatePartition | DefMemPerCPU=x       | E: Invalid DefMemPerCPU value: x
            UpdatePartition | MaxCPUsPerNode=x     | E: Invalid MaxCPUsPerNode value: x
            UpdatePartition | MaxNodes=x           | E: Invalid numeric value "x" for MaxNodes.
            UpdatePartition | MaxNodes=4294967294  | E: Numeric argument (4294967294) too large for MaxNodes.
            UpdatePartition | MaxNodes=unlimited   | ''
            UpdatePartition | MinNodes=unlimited   | E: "unlimited" is not a valid node count
            UpdatePartition | MinNodes=2           | ''
            UpdatePartition | GraceTime=UNLIMITED  | E: Invalid GraceTime value: UNLIMITED
            UpdatePartition | DefMemPerCPU=infinite | E: Invalid DefMemPerCPU value: infinite
            UpdatePartition | PriorityTier=INFINITE | E: Invalid PriorityTier value: INFINITE
            UpdatePartition | MaxCPUsPerNode=UNLIMITED | ''
            UpdatePartition | MaxTime=default      | E: Invalid input MaxTime=default
            UpdatePartition | MaxTime=INFINITE     | ''
            UpdatePartition | Hidden=y             | ''
            UpdatePartition | Hidden= | E: Invalid input: Hidden= / E: Acceptable Hidden values are YES and NO
            UpdatePartition | Shared=force:0       | E: Invalid input: Shared=force:0 / SHARES
            UpdatePartition | OverSubscribe=force:3 | ''
            UpdatePartition | PreemptMode=priority | ''
            UpdateNode      | comment              | E: Invalid input: comment  Request aborted
            UpdatePartition | State                | E: Invalid input: State  Request aborted
            UpdateJob | Network=x            | Update of this parameter is not supported: Network=x / Request aborted
            UpdateJob       | Comment              | Invalid input: Comment / Request aborted
            UpdateJob       | Name                 | Invalid input: Name / Request aborted
            UpdateJob       | Nice                 | ''
            UpdateJob       | ResetAccrueTime      | ''
            UpdateJob       | ReqSockets=x         | E: Invalid ReqSockets value: x
            UpdateJob       | TasksPerNode=x       | E: Invalid TasksPerNode value: x
            UpdatePartition | Exclusive=x          | E: Invalid input: Exclusive=x / E: Acceptable Exclusive values are NO, NODE, USER, TOPO
            UpdatePartition | Exclusive=user       | ''
            UpdateJob       | NumNodes=x           | E: "x" is not a valid node count
            UpdateJob       | NumNodes=2-3         | ''
            UpdateJob       | NumNodes=1K          | ''
            UpdateJob       | NumNodes=3-1         | E: Maximum node count 1 is less than minimum node count 3
            UpdateJob       | ReqNodes=            | E: "" is not a valid node count
            UpdateJob       | NumCPUs=1k           | ''
            UpdateJob | NumCPUs=-1           | E: Invalid numeric value "-1" for NumCPUs. / E: Invalid NumCPUs value: -1
            UpdateJob       | NumCPUs=99999999999  | E: Numeric argument (99999999999) too large for NumCPUs. / E: Invalid NumCPUs value: 99999999999
            UpdateJob       | MinMemoryNode=2G     | E: Invalid MinMemoryNode value: 2G
            UpdateJob       | MinMemoryCPU=100M    | E: Invalid MinMemoryCPU value: 100M
            UpdateJob       | MinTmpDiskNode=1G    | E: Invalid MinTmpDiskNode value: 1G
            UpdateJob       | MinTmpDiskNode=99999999999 | E: Invalid MinTmpDiskNode value: 99999999999
            UpdateJob       | MinCPUsNode=         | ''
            UpdateJob       | Priority=INFINITE    | E: Invalid Priority value: INFINITE
            UpdateJob       | Priority=            | ''
            UpdateJob       | ReqProcs=x           | E: Invalid NumTasks value: x
            UpdateJob       | Requeue=2            | ''
            UpdateJob       | Requeue=yes          | E: Invalid Requeue value: yes
            UpdateJob       | Contiguous=2         | ''
            UpdateJob       | Shared=-1            | E: Invalid OverSubscribe value: -1
            UpdateJob       | ArrayTaskThrottle=x  | ''
            UpdateJob       | ArrayTaskThrottle=-1 | E: Invalid ArrayTaskThrottle value
            UpdateJob       | Switches=x           | ''
            UpdateJob       | wait-for-switch=x    | E: Invalid wait-for-switch value: x
            UpdateJob       | SiteFactor=x         | ''
            UpdateJob       | SiteFactor=99999999999 | E: SiteFactor value out of range (+/- 2147483645). Value ignored
            UpdateJob | NumCPUs=x            | E: Invalid numeric value "x" for NumCPUs. / E: Invalid NumCPUs value: x
            UpdateJob       | NumCPUs=0            | E: Invalid NumCPUs value: 0
            UpdateJob       | NumCPUs=3-2          | E: Invalid NumCPUs value: 3-2
            UpdateJob       | Priority=4294967294  | E: Invalid Priority value: 4294967294
            UpdateJob       | Priority=4294967293  | ''
            UpdateJob       | MailType=            | 'Invalid MailType: '
            UpdateJob       | MailType=foo,bar     | 'Invalid MailType: foo,bar'
            UpdateJob       | MailType=foo,end     | ''
            """)
    void invalidUpdateValueIsRefusedInSlurmsWords(String entity, String typed, String expected) {
        String key = typed.split("=")[0];
        String value = typed.indexOf('=') < 0 ? "" : typed.substring(key.length() + 1);
        assertThat(String.join(" / ", UpdateValues.wrong(entity, Texts.lower(key), value, typed)))
                .isEqualTo(expected.replace(
                                "SHARES", "E: Acceptable OverSubscribe values are NO, EXCLUSIVE, YES:#, and FORCE:#")
                        .replace("E: ", "scontrol: error: "));
    }

    /** What the controller is told, after values that scontrol reads generously. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            mincpusnode, '', 0
            minmemorynode, 2048, 2048
            requeue, 2, 1
            requeue, '', 0
            contiguous, 2, 1
            contiguous, yes, yes
            oversubscribe, '', 0
            nice, '', ''
            nice, x, 0
            nice, -5, -5
            nice, 1K, 1
            sitefactor, 1-2, 1
            arraytaskthrottle, 1K, 1
            switches, 2@5, 2@5
            switches, x, 0
            switches, '', ''
            numnodes, 1K, 1024
            numnodes, 1-2k, 1-2048
            numcpus, 1m, 1048576
            comment, '', ''
            """)
    void updateValueIsNormalizedForTheController(String key, String typed, String sent) {
        assertThat(UpdateValues.normalized(key, typed)).isEqualTo(sent);
    }

    /** An abbreviation needs a number of letters that differs from key to key. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            a, account
            adminc, admincomment
            admin, ''
            arraytaskt, arraytaskthrottle
            arraytask, ''
            de, dependency
            dea, deadline
            dela, ''
            w, wckey
            wo, workdir
            st, starttime
            std, ''
            stdin, stdin
            stdou, ''
            pr, priority
            pref, prefer
            minc, mincpusnode
            mint, ''
            mintm, mintmpdisknode
            minmemory, ''
            minmemoryn, minmemorynode
            numtask, ''
            numcpu, numcpus
            reqs, reqsockets
            reqt, reqthreads
            reqta, ''
            reqtasks, ''
            reqprocs, reqprocs
            rese, reservationname
            requ, requeue
            cpus/task, ''
            cpuspert, ''
            cpusperta, cpuspertask
            network, ''
            hold, ''
            con, contiguous
            cont, contiguous
            cor, ''
            core, corespec
            """)
    void updateKeyMayBeAbbreviated(String typed, String key) {
        assertThat(JobUpdateKeys.resolve(typed, true).orElse("")).isEqualTo(key);
    }

    /** Words of which the first that is wrong decides, and those that are passed over. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            deadline=               | 1 | No changes specified
            starttime=x             | 1 | Invalid time specification (pos=0): x / No changes specified
            endtime=x               | 0 | Invalid time specification (pos=0): x
            endtime=                | 0 | ''
            numnodes=x comment=c    | 0 | scontrol: error: "x" is not a valid node count
            comment+=5              | 1 | 'scontrol: error: Option comment+=5 does not accept [+|-]= syntax'
            reqtasks=2              | 1 | Update of this parameter is not supported: reqtasks=2 / Request aborted
            cpus/task=2             | 1 | Update of this parameter is not supported: cpus/task=2 / Request aborted
            resetaccruetime=        | 1 | Update of this parameter is not supported: resetaccruetime= / Request aborted
            starttime= comment=c    | 0 | ''
            """)
    void firstInvalidUpdateWordDecides(String words, int rc, String lines) {
        FakeHost host = new FakeHost();
        host.reply("UpdateJob", "{}");
        FakeHost.Ran ran = host.run("scontrol update jobid=5 " + words);
        assertThat(ran.rc() + " " + ran.err().strip().replace("\n", " / ")).isEqualTo(rc + " " + lines);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            dra, DRAIN
            Down, DOWN
            fut, FUTURE
            nor, NORESP
            unk, UNKNOWN
            power_d, POWER_DOWN
            power_down_a, POWER_DOWN_ASAP
            can, CANCEL_REBOOT
            dr, ''
            power_, ''
            draining, ''
            failing, ''
            blocked, ''
            """)
    void nodeStatesAreTheirBeginnings(String typed, String state) {
        assertThat(UpdateValues.nodeState(typed).orElse("")).isEqualTo(state);
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '`', textBlock = """
            "disk bad", disk bad
            'disk bad', 'disk bad'
            "a" b, a" b
            a "b", a "b
            """)
    void aReasonLosesTheQuotationMarksAroundIt(String typed, String kept) {
        assertThat(UpdateValues.reason(typed)).isEqualTo(kept);
    }

    @Test
    void nodesAndPartitionsNeedTheEqualsSign() {
        FakeHost host = new FakeHost();
        assertThat(host.run("scontrol update nodename n1 weight 3").err())
                .isEqualTo("scontrol: error: Invalid input: nodename  Request aborted\n");
        assertThat(host.run("scontrol create partition p2").err())
                .isEqualTo("scontrol: error: Invalid input: partition  Request aborted\n");
        assertThat(host.run("scontrol create partitionname=default nodes=n1").err())
                .isEqualTo("scontrol: error: PartitionName cannot be \"DEFAULT\".\n");
    }

    /** What it says of a limit that nothing can be taken from is its own; of other refusals it says for which job. */
    @Test
    void refusedTimeLimitUpdateSaysWhy() {
        FakeHost host = new FakeHost();
        host.refuse(
                "UpdateJob",
                SlurmErrno.TIME_LIMIT_DECREMENT.number(),
                "TimeLimit decrement larger than current time limit (20 > 10)");
        assertThat(host.run("scontrol update jobid=5 timelimit=-20").err())
                .isEqualTo("scontrol: error: TimeLimit decrement larger than current time limit (20 > 10)\n");
        host.refuse("UpdateJob", SlurmErrno.INVALID_TIME_LIMIT.number(), "TimeLimit of some kind");
        assertThat(host.run("scontrol update jobid=5 timelimit=5").err())
                .isEqualTo("TimeLimit of some kind for job 5\n");
    }

    /** Suspending an unknown job is an error. */
    @Test
    void noJobIsSuspended() {
        FakeHost host = new FakeHost();
        host.reply("JobAction", "{\"errors\":[{\"job\":\"99\",\"error\":\"Invalid job id specified\"}]}");
        assertThat(host.run("scontrol suspend 99").err()).isEqualTo("Unexpected message received for job 99\n");
        assertThat(host.run("scontrol requeue 99").err()).isEqualTo("Invalid job id specified for job 99\n");
    }

    @Test
    void partlyFailedArrayUpdateNamesItsTasks() {
        FakeHost host = new FakeHost();
        String errors = "{\"errors\":[{\"job\":\"5_1-2\",\"error\":\"No error\"},"
                + "{\"job\":\"5_3\",\"errno\":2021,\"error\":\"Job has already finished\"}]}";
        String lines = "5_[1-2]: No error\n5_[3]: Job has already finished\n";
        host.reply("UpdateJob", errors);
        assertThat(host.run("scontrol update jobid=5 timelimit=5")).isEqualTo(new FakeHost.Ran(1, "", lines));
        host.reply("JobAction", errors);
        assertThat(host.run("scontrol hold 5")).isEqualTo(new FakeHost.Ran(1, "", lines));
        assertThat(host.run("scontrol -Q update jobid=5 timelimit=5")).isEqualTo(new FakeHost.Ran(1, "", ""));
        assertThat(host.run("scontrol -Q hold 5")).isEqualTo(new FakeHost.Ran(1, "", ""));
    }

    @Test
    void invalidReservationTimeIsRefused() {
        assertThat(new FakeHost()
                        .run("scontrol update reservation=r starttime=nosuch")
                        .err())
                .endsWith("Invalid start time starttime=nosuch.  No reservation update.\nslurm_update error: "
                        + "Invalid time specified\n");
        assertThat(new FakeHost()
                        .run("scontrol update reservation=r duration=nosuch")
                        .err())
                .isEqualTo("scontrol: error: Invalid duration duration=nosuch.  No reservation update.\n");
    }
}
