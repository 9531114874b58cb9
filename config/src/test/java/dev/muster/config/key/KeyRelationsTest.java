package dev.muster.config.key;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines with which release 26.05.3 does not start, and their neighbours with which it does. */
class KeyRelationsTest {
    @TempDir
    private Path dir;

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        MaxJobCount=0                        | MaxJobCount=0, No jobs permitted
        MaxStepCount=0                       | MaxStepCount=0, No steps permitted
        FirstJobId=0                         | FirstJobId cannot be zero
        MaxArraySize=0                           |
        PropagatePrioProcess=3               | Bad PropagatePrioProcess: 3
        PropagatePrioProcess=2                   |
        SlurmSchedLogLevel=1                 | SlurmSchedLogLevel requires SlurmSchedLogFile value
        SlurmSchedLogLevel=0                     |
        SlurmSchedLogFile=/var/s;SlurmSchedLogLevel=1 |
        MCSParameters=ondemand               | MCSParameters=ondemand used and no MCSPlugin
        MCSPlugin=mcs/group                  | MCSPlugin is mcs/group and no MCSParameters
        MCSPlugin=mcs/user                       |
        JobContainerType=job_container/tmpfs | PrologFlags=Contain is required for use with job_container/tmpfs
        NamespaceType=namespace/linux        | PrologFlags=Contain is required for use with namespace/linux
        NamespaceType=namespace/linux;PrologFlags=X11 |
        JobContainerType=job_container/none      |
        SlurmctldHost=ctl                    | Duplicate SlurmctldHost records: ctl
        SlurmctldHost=ctl2(ctl)                  |
        BcastExclude=lib                     | Invalid path for BcastExclude: lib
        BcastExclude=NONE                        |
        Licenses=a:x                         | Invalid configured licenses: a:x
        Licenses=a:1:2                       | Invalid configured licenses: a:1:2
        Licenses=a:-1                        | Invalid configured licenses: a:-1
        Licenses=b,a:1k                      | Invalid configured licenses: b,a:1k
        Licenses=a=x                         | Invalid configured licenses: a=x
        Licenses=a:1,b;Licenses=a@server:3       |

        TaskPluginParam=cores,sockets        | Bad TaskPluginParam: sockets
        TaskPluginParam=none,cores           | Bad TaskPluginParam: cores
        TaskPluginParam=cores,Cores          | Bad TaskPluginParam: Cores
        TaskPluginParam=autobind=cores,autobind=threads | Bad TaskPluginParam: autobind already set
        TaskPluginParam=cores,verbose,autobind=none |
        PropagateResourceLimits=ALL,CORE     | Bad rlimit name: ALL
        PropagateResourceLimits=CORE,NONE    | Bad rlimit name: NONE
        PropagateResourceLimits=ALL              |
        PropagateResourceLimits=CORE,CPU         |

        MaxNodeCount=1                       | Attempting to create node record past MaxNodeCount:1
        MaxNodeCount=2                           |
        NodeName=ALL CPUs=1                  | 'ALL' is a reserved word disallowed for use with NodeName
        NodeName=x[1-2] Port=[1-3]           | Port count must equal that of NodeName records or there must be no more than one (3 != 2)
        NodeName=x[1-2] NodeAddr=a[1-3]      | NodeAddr count must equal that of NodeName records or there must be no more than one (3 != 2)
        NodeName=x[1-2] BcastAddr=a[1-3]     | BcastAddr count must equal that of NodeName records or there must be no more than one (3 != 2)
        NodeName=x[1-2] NodeAddr=a               |
        PartitionName=p Nodes=n1 JobDefaults=DefCpuPerGPU=2 | Parsing error at unrecognized key: JobDefaults
        PartitionName=p Nodes=n1,ALL         | Invalid node names in partition p: ALL
        PartitionName=p Nodes=all                |
        """)
    void contradictoryLineKeepsSlurmctldFromStarting(String lines, String sentence) throws IOException {
        String text = "ClusterName=c\nSlurmctldHost=ctl\nNodeName=n[1-2] CPUs=1\nPartitionName=d Nodes=ALL\n"
                + lines.replace(';', '\n') + "\n";
        List<String> found = new ArrayList<>();
        if (SlurmConf.read(Files.writeString(dir.resolve("slurm.conf"), text).toFile())
                instanceof SlurmConf.Parsed.Invalid bad) {
            bad.errors().forEach(e -> found.add(e.line() + ": " + e.sentence()));
        }
        assertThat(found).isEqualTo(sentence == null ? List.of() : List.of("5: " + sentence));
    }
}
