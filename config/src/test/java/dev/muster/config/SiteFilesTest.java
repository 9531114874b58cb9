package dev.muster.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What stands in the files of sites that have come from older Slurms. */
class SiteFilesTest {
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

    private static final String BASE = """
        ClusterName=c
        SlurmctldHost=ctl
        NodeName=n[1-2] CPUs=4
        PartitionName=d Nodes=ALL
        """;

    private SlurmConf read(String text) {
        return switch (parse(text)) {
            case SlurmConf.Parsed.Ok ok -> ok.conf();
            case SlurmConf.Parsed.Invalid bad ->
                throw new AssertionError(bad.errors().toString());
        };
    }

    private static List<String> sentences(List<ConfigError> remarks) {
        return remarks.stream().map(ConfigError::sentence).toList();
    }

    @Test
    void aFileOfTenYearsAgoIsReadAndEachOldKeyIsNamed() {
        SlurmConf conf = read("""
            ClusterName=Old
            ControlMachine=head
            ControlAddr=10.0.0.1
            CacheGroups=0
            CryptoType=crypto/munge
            FastSchedule=1
            SelectType=select/cons_res
            SelectTypeParameters=CR_CPU_Memory
            TaskPlugin=affinity
            Waittime=0
            MpiParams=ports:12000-12999
            SlurmctldDebug=3
            NodeName=c[01-04] Procs=8 RealMemory=1000 State=UNKNOWN
            PartitionName=std.q Nodes=c[01-02],c03 Default=yes Priority=50 Shared=NO MaxTime=5-00:00:00 State=UP
            PartitionName=night Nodes=c[03-04] Shared=FORCE:2 MaxTime=1440 DefMemPerCPU=500
            """);
        assertThat(sentences(conf.warnings()))
                .containsExactly(
                        "The option \"ControlMachine\" is defunct, please remove it from slurm.conf.",
                        "The option \"ControlAddr\" is defunct, please remove it from slurm.conf.",
                        "The option \"CacheGroups\" is defunct, please remove it from slurm.conf.",
                        "The option \"CryptoType\" is defunct, please remove it from slurm.conf.",
                        "The option \"FastSchedule\" is defunct, please remove it from slurm.conf."
                                + " SlurmdParameters=config_overrides has the function of FastSchedule=2 now.",
                        "SelectType=select/cons_res is defunct, select/cons_tres is used.",
                        "MpiParams=ports:12000-12999 has no effect: it is not known to this version");
        assertThat(conf.selectType()).isEqualTo("select/cons_tres");
        assertThat(conf.text(Key.TASK_PLUGIN)).isEqualTo("task/affinity");
        assertThat(conf.controllers()).containsExactly(new Controller("head", "10.0.0.1"));
        assertThat(conf.nodes()).hasSize(4);
        assertThat(conf.partitions()).hasSize(2);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        SelectType=select/linear                         | select/linear
        SelectType=linear                                | select/linear
        TaskPlugin=task/cgroup,affinity                  | task/cgroup,task/affinity
        AccountingStorageType=none                       | accounting_storage/none
        SwitchType=switch/none                           | switch/none
        SwitchType=nvidia_imex                           | switch/nvidia_imex
        PriorityType=basic                               | priority/basic
        SelectType=select/bluegene                       | error: cannot find select plugin for select/bluegene
        SelectType=sched/linear                          | error: cannot find select plugin for sched/linear
        TaskPlugin=task/affinity,cpuset                  | error: cannot find task plugin for cpuset
        AuthType=auth/none                               | error: cannot find auth plugin for auth/none
        SchedulerType=sched/wiki2                        | error: cannot find sched plugin for sched/wiki2
        PriorityType=priority/multifactr                 | error: cannot find priority plugin for priority/multifactr
        ProctrackType=proctrack/lua                      | error: cannot find proctrack plugin for proctrack/lua
        JobAcctGatherType=jobacct_gather/aix | error: cannot find jobacct_gather plugin for jobacct_gather/aix
        AccountingStorageType=accounting_storage/filetxt | error: cannot find accounting_storage plugin for accounting_storage/filetxt
        AccountingStorageType=accounting_storage/mysql   | error: AccountingStorageType=accounting_storage/mysql only permitted in SlurmDBD.
        PreemptType=preempt/all                          | error: cannot find preempt plugin for preempt/all
        SwitchParameters=imex_channel_count=0            | error: Bad value "imex_channel_count=0" for SwitchParameters
        SwitchType=switch/elan                           | error: cannot find switch plugin for switch/elan
        SlurmEventHandler=/bin/true | error: _parse_next_key: Parsing error at unrecognized key: SlurmEventHandler
        MpiParams=ports=12000-12999                      | ports=12000-12999
        MpiParams=ports=12999-12000                      | error: Bad value "ports=12999-12000" for MpiParams
        SchedulerTimeSlice=5                             | 5
        TaskPluginParam=Sched                            | error: Bad TaskPluginParam: Sched
        """)
    void pluginAndListValuesAreReadOrRefused(String line, String expected) {
        String said = switch (parse(BASE + line + "\n")) {
            case SlurmConf.Parsed.Invalid bad -> "error: " + String.join("; ", sentences(bad.errors()));
            case SlurmConf.Parsed.Ok ok -> {
                assertThat(ok.conf().warnings()).isEmpty();
                String name = line.substring(0, line.indexOf('='));
                yield java.util.Arrays.stream(Key.values())
                        .filter(k -> k.slurmName().equals(name))
                        .map(ok.conf()::text)
                        .findFirst()
                        .orElseThrow();
            }
        };
        assertThat(said).isEqualTo(expected);
    }
}
