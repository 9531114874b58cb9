package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.hdf5.Hdf5;
import dev.muster.model.hdf5.Hdf5.Column;
import dev.muster.model.hdf5.Hdf5.Group;
import dev.muster.model.hdf5.Hdf5.Table;
import dev.muster.model.hdf5.Hdf5Writer;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Sh5utilTest {
    @TempDir
    private Path dir;

    private final FakeHost host = new FakeHost();
    private String user;

    private static Table table(String whole, String real, double... values) {
        ByteBuffer b = ByteBuffer.allocate(values.length * 32).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < values.length; i++) {
            b.putLong(i).putLong(1000 + i).putLong((long) values[i]).putDouble(values[i] / 2);
        }
        return new Table(
                List.of(
                        new Column("ElapsedTime", false),
                        new Column("EpochTime", false),
                        new Column(whole, false),
                        new Column(real, true)),
                values.length,
                out -> out.write(b.array()));
    }

    private void step(String step, String node, Map<String, Hdf5> series) throws IOException {
        Path place = Files.createDirectories(dir.resolve("profiles").resolve(user));
        try (OutputStream out = Files.newOutputStream(place.resolve("7_" + step + "_" + node + ".h5"))) {
            Hdf5Writer.write(new Group(Map.of(), Map.of(node, new Group(Map.of("Node Name", node), series))), out);
        }
    }

    @BeforeEach
    void steps() throws IOException {
        user = host.userName(host.uid());
        step(
                "0",
                "n1",
                Map.of(
                        "Network",
                        table("PacketsIn", "InMB", 4, 6),
                        "Tasks",
                        new Group(
                                Map.of(),
                                Map.of("0", table("RSS", "CPUTime", 100), "1", table("RSS", "CPUTime", 300)))));
        step("0", "n_2", Map.of("Network", table("PacketsIn", "InMB", 8, 1, 3)));
        step("batch", "n1", Map.of("Network", table("PacketsIn", "InMB", 2)));
    }

    private FakeHost.Ran run(String line) {
        return host.run("sh5util -p " + dir + "/profiles -i " + dir + "/job.h5 " + line);
    }

    private FakeHost.Ran merged(String more) {
        FakeHost.Ran ran = run("-o " + dir + "/job.h5 " + more);
        assertThat(ran.rc()).isZero();
        assertThat(ran.err()).isEqualTo("sh5util: Merging node-step files into " + dir + "/job.h5\n");
        return ran;
    }

    private List<String> extracted(String line) throws IOException {
        assertThat(run("-j 7 -o " + dir + "/out.csv " + line).rc()).isZero();
        return Files.readAllLines(dir.resolve("out.csv"));
    }

    @Test
    void stepProfilesAreMergedIntoAJob() throws IOException {
        merged("-S -j 7");
        assertThat(dir.resolve("profiles/" + user)).isDirectoryContaining("glob:**/7_batch_n1.h5");
        assertThat(extracted("-E -s Network"))
                .containsExactly(
                        "Step,Node,ElapsedTime,Min_EpochTime,Max_EpochTime,Sum_EpochTime,Avg_EpochTime,"
                                + "Min_PacketsIn,Max_PacketsIn,Sum_PacketsIn,Avg_PacketsIn,Min_InMB,Max_InMB,"
                                + "Sum_InMB,Avg_InMB",
                        "0,n1,1,1000,1001,2001,1000.500000,4,6,10,5.000000,2.000000,3.000000,5.000000,2.500000",
                        "0,n_2,2,1000,1002,3003,1001.000000,1,8,12,4.000000,0.500000,4.000000,6.000000,2.000000",
                        "batch,n1,0,1000,1000,1000,1000.000000,2,2,2,2.000000,1.000000,1.000000,1.000000,1.000000");
        merged("-j 7.batch,7.1");
        assertThat(dir.resolve("profiles/" + user))
                .isDirectoryNotContaining("glob:**/7_batch_n1.h5")
                .isDirectoryContaining("glob:**/7_0_n1.h5");
        assertThat(extracted("-E -l Node:TimeSeries -s Network"))
                .containsExactly("Step,Node,ElapsedTime,EpochTime,PacketsIn,InMB", "batch,n1,0,1000,2,1.000000");
        assertThat(run("-j 8").err()).endsWith("sh5util: No node-step files found for jobid 8\n");
    }

    @Test
    void sh5utilExtractsTasksAndNodes() throws IOException {
        merged("-j 7");
        assertThat(extracted("-E -l Node:TimeSeries -s Task"))
                .containsExactly(
                        "Step,Node,Series,ElapsedTime,EpochTime,RSS,CPUTime",
                        "0,n1,0,0,1000,100,50.000000",
                        "0,n1,1,0,1000,300,150.000000");
        assertThat(extracted("-E -l Node:TimeSeries -s Task_1"))
                .hasSize(2)
                .last()
                .isEqualTo("0,n1,1,0,1000,300,150.000000");
        assertThat(extracted("-E -l Node:TimeSeries -s Network -N n_2")).hasSize(4);
        assertThat(run("-j 7 -L -s Task").out()).isEqualTo("ElapsedTime\nEpochTime\nRSS\nCPUTime\n");
    }

    @Test
    void sh5utilExtractsOneItemOverAllNodes() throws IOException {
        merged("-j 7");
        FakeHost.Ran ran = run("-j 7 -I -s Network -d PacketsIn -o " + dir + "/out.csv");
        assertThat(ran.out())
                .isEqualTo("    Step 0 Maximum accumulated PacketsIn Value (12) occurred at Time=0, Ave Node 6.000000\n"
                        + "    Step batch Maximum accumulated PacketsIn Value (2) occurred at Time=0, Ave "
                        + "Node 2.000000\n");
        assertThat(dir.resolve("out.csv")).hasContent("""
            Step,ElaspedTime,MinNode,MinValue,MaxNode,MaxValue,Sum,Avg,NumNodes,Network n1,Network n_2
            0,0,n1,4,n_2,8,12,6.000000,2,4,8
            0,1,n_2,1,n1,6,7,3.500000,2,6,1
            0,2,n_2,3,n_2,3,3,3.000000,1,,3
            batch,0,n1,2,n1,2,2,2.000000,1,2,
            """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ''                     | 255 | sh5util: error: JobID must be specified.
        -j 7 -E                | 1   | sh5util: fatal: Must specify series option --series
        -j 7 -I -s Task        | 1   | 'sh5util: fatal: Must specify data option --data '
        -j 7 -L -s task        | 255 | sh5util: error: Bad value for --series="task"
        -j 7_1 | 255 | sh5util: error: Invalid job or step: 7_1 (array tasks and components go by their own job IDs)
        -j 7,8                 | 255 | sh5util: error: One job at a time: 7 and 8
        -j 7 --user nosuch     | 255 | sh5util: error: No such user --uid="nosuch"
        -j 7 -L -s Energy      | 237 | sh5util: error: Series Energy not found
        -j 7 -I -s Task -d Foo | 237 | sh5util: error: Item Foo not found in series /Steps/0/Nodes/n1/Task
        -j 7 -Z                | 255 | sh5util: invalid option -- 'Z'
        """)
    void invalidSh5utilCommandIsRefused(String line, int rc, String said) {
        merged("-S -j 7");
        FakeHost.Ran ran = run("-o " + dir + "/out.csv " + line);
        assertThat(ran.rc()).isEqualTo(rc);
        assertThat(ran.err().lines().toList().getLast()).isEqualTo(said);
        assertThat(dir.resolve("out.csv")).doesNotExist();
    }

    /** Files of steps are not removed before the job's is there. */
    @Test
    void failedMergeKeepsTheFilesOfSteps() throws IOException {
        Files.writeString(dir.resolve("profiles/" + user + "/7_1_n1.h5"), "damaged");
        FakeHost.Ran ran = run("-j 7 -o " + dir + "/job.h5");
        assertThat(ran.rc()).isEqualTo(255);
        assertThat(ran.err()).contains("sh5util: error: Failed to open " + dir + "/profiles/" + user + "/7_1_n1.h5: ");
        assertThat(dir.resolve("job.h5")).doesNotExist();
        assertThat(dir.resolve("profiles/" + user)).isDirectoryContaining("glob:**/7_0_n1.h5");
    }
}
