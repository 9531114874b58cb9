package dev.muster.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.key.ConfigError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Keys of a PartitionName or NodeName line that exclude each other or leave nothing to use, as release 26.05.3 settles
 * them.
 */
class PartitionLineTest {
    @TempDir
    private Path dir;

    private SlurmConf read(String lines) throws IOException {
        String text = "ClusterName=c\nSlurmctldHost=h\nNodeName=n1 CPUs=2\n" + lines.replace(';', '\n') + "\n";
        return ((SlurmConf.Parsed.Ok) SlurmConf.read(
                        Files.writeString(dir.resolve("slurm.conf"), text).toFile()))
                .conf();
    }

    private static List<String> warnings(SlurmConf conf) {
        return conf.warnings().stream().map(ConfigError::sentence).toList();
    }

    private static List<String> words(String warning) {
        return warning == null ? List.of() : List.of(warning.split("; "));
    }

    /** Exclusive counts before ExclusiveUser and ExclusiveTopo, wherever the keys stand. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        OverSubscribe=FORCE Exclusive=NODE                 | NODE NO |
        Exclusive=NODE OverSubscribe=YES                   | NODE NO |
        Exclusive=TOPO OverSubscribe=FORCE                 | TOPO NO |
        ExclusiveTopo=YES OverSubscribe=YES                | TOPO YES:4 |
        Exclusive=USER OverSubscribe=FORCE                 | USER FORCE:4 |
        OverSubscribe=EXCLUSIVE ExclusiveUser=YES          | NODE EXCLUSIVE |
        OverSubscribe=EXCLUSIVE Exclusive=USER             | NODE EXCLUSIVE |
        OverSubscribe=EXCLUSIVE Exclusive=NO               | NO NO |
        Exclusive=NO ExclusiveUser=YES                     | NO NO |
        Exclusive=USER ExclusiveUser=NO                    | USER NO |
        Exclusive=NODE ExclusiveUser=YES OverSubscribe=YES | NODE NO |
        Exclusive=NODE ExclusiveTopo=YES                   | NODE NO |
        ExclusiveUser=YES ExclusiveTopo=YES                | TOPO NO | Exclusive=USER ignored, since it's mutually exclusive with Exclusive=TOPO
        OverSubscribe=YES:2 Shared=FORCE:3                 | NO YES:2 |
        Shared=FORCE:3                                     | NO FORCE:3 |
        """)
    void exclusiveCountsBeforeExclusiveUserAndTopo(String keys, String expected, String warning) throws IOException {
        for (String lines : List.of(
                "PartitionName=p Nodes=n1 " + keys, "PartitionName=DEFAULT " + keys + ";PartitionName=p Nodes=n1")) {
            SlurmConf conf = read(lines);
            PartitionConf p = conf.partitions().getFirst();
            boolean node = p.exclusiveNode() || p.overSubscribe().equals("EXCLUSIVE");
            String use = p.exclusiveTopo() ? "TOPO" : p.exclusiveUser() ? "USER" : node ? "NODE" : "NO";
            assertThat(use + " " + p.overSubscribe()).as(lines).isEqualTo(expected);
            assertThat(warnings(conf)).as(lines).isEqualTo(words(warning));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        DefMemPerNode=2 DefMemPerCPU=1 | 0 2 0 0 | DefMemPerCPU ignored, since it's mutually exclusive with DefMemPerNode
        DefMemPerCPU=1 DefMemPerNode=2 | 0 2 0 0 | DefMemPerCPU ignored, since it's mutually exclusive with DefMemPerNode
        MaxMemPerNode=2 MaxMemPerCPU=1 | 0 0 0 2 | MaxMemPerCPU ignored, since it's mutually exclusive with MaxMemPerNode
        MaxMemPerNode=9 DefMemPerCPU=1 | 1 0 0 9  |
        """)
    void memoryOfANodeCountsBeforeThatOfACpu(String keys, String expected, String warning) throws IOException {
        SlurmConf conf = read("PartitionName=p Nodes=n1 " + keys);
        PartitionConf p = conf.partitions().getFirst();
        assertThat(p.defMemPerCpuMb() + " " + p.defMemPerNodeMb() + " " + p.maxMemPerCpuMb() + " "
                        + p.maxMemPerNodeMb())
                .isEqualTo(expected);
        assertThat(warnings(conf)).isEqualTo(words(warning));
    }

    /** Columns: PriorityJobFactor, PriorityTier, DefaultTime, MaxTime, and the lists of those that may submit. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        PartitionName=p Nodes=n1 Priority=7 PriorityTier=2                        | 7 7 -1 -1 [] [] |
        PartitionName=DEFAULT Priority=9;PartitionName=p Nodes=n1 PriorityTier=3  | 9 9 -1 -1 [] [] |
        PartitionName=p Nodes=n1 PriorityTier=3                                   | 1 3 -1 -1 [] [] |
        PartitionName=p Nodes=n1 DefaultTime=10 MaxTime=5 | 1 1 -1 5 [] []  | partition p DefaultTime exceeds MaxTime (10 > 5)
        PartitionName=DEFAULT DefaultTime=3;PartitionName=p Nodes=n1 MaxTime=2 | 1 1 -1 2 [] [] | partition p DefaultTime exceeds MaxTime (3 > 2)
        PartitionName=p Nodes=n1 DefaultTime=5 MaxTime=5                          | 1 1 5 5 [] [] |
        PartitionName=p Nodes=n1 AllowAccounts=A DenyAccounts=b | 1 1 -1 -1 [a] [] | BOTH
        PartitionName=p Nodes=n1 AllowAccounts=ALL DenyAccounts=B                 | 1 1 -1 -1 [] [b] |
        PartitionName=p Nodes=n1 Nodes=n1 | 1 1 -1 -1 [] [] | Nodes 1 specified more than once, latest value used
        """)
    void conflictingPartitionKeysAreResolved(String lines, String expected, String warning) throws IOException {
        SlurmConf conf = read(lines);
        PartitionConf p = conf.partitions().getFirst();
        assertThat(p.priorityJobFactor() + " " + p.priorityTier() + " " + p.defaultTimeMin() + " " + p.maxTimeMin()
                        + " " + p.allowAccounts() + " " + p.denyAccounts())
                .isEqualTo(expected);
        String both = "Both AllowAccounts and DenyAccounts are defined, DenyAccounts will be ignored";
        assertThat(warnings(conf)).isEqualTo(words(warning == null ? null : warning.replace("BOTH", both)));
    }

    /** CPUs, CoreSpecCount, CpuSpecList, MemSpecLimit and Weight (without a sign). */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        CPUs=0                                 | 1 0 '' 0 1 | NodeNames=x CPUs=0 is invalid, reset to 1
        CPUs=4 CoreSpecCount=4                 | 4 1 '' 0 1 | NodeNames=x CoreSpecCount=4 is invalid, reset to 1
        CPUs=4 CoreSpecCount=3                 | 4 3 '' 0 1 |
        CPUs=4 CoreSpecCount=2 CpuSpecList=0   | 4 0 0 0 1  | NodeNames=x CoreSpecCount=2 is invalid with CPUSpecList, reset to 0
        CPUs=4 CpuSpecList=1-4                 | 4 0 '' 0 1 | NodeNames=x CpuSpecList=1-4 - LIST
        CPUs=4 CpuSpecList=0,2-3               | 4 0 0,2-3 0 1 |
        CPUs=4 MemSpecLimit=100 RealMemory=100 | 4 0 '' 0 1 | NodeNames=x MemSpecLimit=100 is invalid, reset to 0
        CPUs=4 MemSpecLimit=99 RealMemory=100  | 4 0 '' 99 1 |
        CPUs=4 Weight=4294967295               | 4 0 '' 0 4294967294 |
        CPUs=4 Weight=4000000000               | 4 0 '' 0 4000000000 |
        CPUs=4 CPUs=2                          | 2 0 '' 0 1 | CPUs 1 specified more than once, latest value used
        """)
    void invalidNodeValueIsResetWithAWarning(String keys, String expected, String warning) throws IOException {
        SlurmConf conf = read("NodeName=x " + keys);
        NodeConf n = conf.nodes().getLast();
        assertThat(n.cpus() + " " + n.coreSpecCount() + " " + (n.cpuSpecList().isEmpty() ? "''" : n.cpuSpecList()) + " "
                        + n.memSpecLimitMb() + " " + Integer.toUnsignedLong(n.weight()))
                .isEqualTo(expected);
        String list = "unable to convert it to bitmap of size CPUs=4. Ignoring CpuSpecList.";
        assertThat(warnings(conf)).isEqualTo(words(warning == null ? null : warning.replace("LIST", list)));
    }
}
