package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

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
            UpdatePartition | Hidden=x             | E: Invalid input: Hidden=x / E: Acceptable Hidden values are YES and NO
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
            UpdatePartition | Hidden=              | E: Invalid input: Hidden= / E: Acceptable Hidden values are YES and NO
            UpdatePartition | Shared=force:0       | E: Invalid input: Shared=force:0 / SHARES
            UpdatePartition | OverSubscribe=force:3 | ''
            UpdatePartition | PreemptMode=priority | ''
            UpdateNode      | comment              | E: Invalid input: comment  Request aborted
            UpdatePartition | State                | E: Invalid input: State  Request aborted
            UpdateJob       | Network=x            | Update of this parameter is not supported: Network=x / Request aborted
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
            UpdateJob       | NumCPUs=x            | E: Invalid numeric value "x" for NumCPUs. / E: Invalid NumCPUs value: x
            UpdateJob       | NumCPUs=0            | E: Invalid NumCPUs value: 0
            UpdateJob       | NumCPUs=3-2          | E: Invalid NumCPUs value: 3-2
            UpdateJob       | Priority=4294967294  | E: Invalid Priority value: 4294967294
            UpdateJob       | Priority=4294967293  | ''
            UpdateJob       | MailType=            | 'Invalid MailType: '
            UpdateJob       | MailType=foo,bar     | 'Invalid MailType: foo,bar'
            UpdateJob       | MailType=foo,end     | ''
            """)
    void sentences(String entity, String typed, String expected) {
        String key = typed.split("=")[0];
        String value = typed.indexOf('=') < 0 ? "" : typed.substring(key.length() + 1);
        assertThat(String.join(" / ", UpdateValues.wrong(entity, Texts.lower(key), value, typed)))
                .isEqualTo(expected.replace("SHARES", "E: Acceptable OverSubscribe values are NO, EXCLUSIVE, YES:#, and FORCE:#")
                        .replace("E: ", "scontrol: error: "));
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
        assertThat(host.run("scontrol update nodename n1 weight 3").err()).isEqualTo("scontrol: error: Invalid input: nodename  Request aborted\n");
        assertThat(host.run("scontrol create partition p2").err()).isEqualTo("scontrol: error: Invalid input: partition  Request aborted\n");
        assertThat(host.run("scontrol create partitionname=default nodes=n1").err())
                .isEqualTo("scontrol: error: PartitionName cannot be \"DEFAULT\".\n");
    }

    /** What it says of a limit that nothing can be taken from is its own; of other refusals it says for which job. */
    @Test
    void whatIsRefused() {
        FakeHost host = new FakeHost();
        host.refuse("UpdateJob", SlurmErrno.TIME_LIMIT_DECREMENT.number(), "TimeLimit decrement larger than current time limit (20 > 10)");
        assertThat(host.run("scontrol update jobid=5 timelimit=-20").err())
                .isEqualTo("scontrol: error: TimeLimit decrement larger than current time limit (20 > 10)\n");
        host.refuse("UpdateJob", SlurmErrno.INVALID_TIME_LIMIT.number(), "TimeLimit of some kind");
        assertThat(host.run("scontrol update jobid=5 timelimit=5").err()).isEqualTo("TimeLimit of some kind for job 5\n");
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
    void tasksOfAnArrayOfWhichSomeCouldNotBeChanged() {
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
    void timesOfReservations() {
        assertThat(new FakeHost().run("scontrol update reservation=r starttime=nosuch").err())
                .endsWith("Invalid start time starttime=nosuch.  No reservation update.\nslurm_update error: Invalid time specified\n");
        assertThat(new FakeHost().run("scontrol update reservation=r duration=nosuch").err())
                .isEqualTo("scontrol: error: Invalid duration duration=nosuch.  No reservation update.\n");
    }
}
