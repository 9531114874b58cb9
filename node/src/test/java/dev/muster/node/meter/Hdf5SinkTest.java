package dev.muster.node.meter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.hdf5.Hdf5.Column;
import dev.muster.model.hdf5.Hdf5.Group;
import dev.muster.model.hdf5.Hdf5.Table;
import dev.muster.model.hdf5.Hdf5Reader;
import dev.muster.node.os.Os;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class Hdf5SinkTest {
    private static final int UID = 4321;

    @TempDir
    private Path dir;

    private final Profiles.Plan plan =
            new Profiles.Plan(7, 3, "ann", UID, UID, 2, 4, 1, List.of("task", "network"), 1, 0, 1, 0, 1_000_000);

    private Hdf5Sink sink() throws IOException {
        return new Hdf5Sink(
                dir.resolve("profiles"),
                dir.resolve("spool"),
                "n1",
                new DaemonLog("slurmd", dir + "/log", false, 5, ""));
    }

    private static Map<String, Number> values(long whole, double real) {
        Map<String, Number> out = new LinkedHashMap<>();
        out.put("RSS", whole);
        out.put("CPUTime", real);
        return out;
    }

    private Group read(String name) throws IOException {
        byte[] bytes = Files.readAllBytes(dir.resolve("profiles/ann").resolve(name));
        return Hdf5Reader.read((at, count) -> Arrays.copyOfRange(bytes, (int) at, (int) at + count));
    }

    private static List<Object> rows(Table t) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        t.data().writeTo(out);
        ByteBuffer b = ByteBuffer.wrap(out.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
        List<Object> found = new java.util.ArrayList<>();
        for (long i = 0; i < t.rows(); i++) {
            t.columns().forEach(c -> found.add(c.real() ? (Object) b.getDouble() : (Object) b.getLong()));
        }
        return found;
    }

    private static Table task(Group file, String task) {
        return (Table) ((Group) ((Group) file.members().get("n1")).members().get("Tasks"))
                .members()
                .get(task);
    }

    @Test
    void aStepIsAFile() throws IOException {
        Hdf5Sink sink = sink();
        sink.begun(plan);
        sink.sample(plan, "task", "2", values(300, 0.5), 1003);
        sink.sample(plan, "task", "2", values(400, 0.25), 1004);
        sink.sample(plan, "network", "Network", Map.of("PacketsIn", 5L), 1002);
        sink.ended(plan);
        Group file = read("7_3_n1.h5");
        Group node = (Group) file.members().get("n1");
        assertThat(node.attributes())
                .containsEntry("Node Index", 1)
                .containsEntry("Node Name", "n1")
                .containsEntry("Number of Tasks", 2)
                .containsEntry("CPUs per Task", 4);
        assertThat(node.attributes().get("Start Time").toString()).hasSize(24).endsWith(" 1970");
        Table t = task(file, "2");
        assertThat(t.columns())
                .containsExactly(
                        new Column("ElapsedTime", false),
                        new Column("EpochTime", false),
                        new Column("RSS", false),
                        new Column("CPUTime", true));
        assertThat(rows(t)).containsExactly(3L, 1003L, 300L, 0.5, 4L, 1004L, 400L, 0.25);
        assertThat(rows((Table) node.members().get("Network"))).containsExactly(2L, 1002L, 5L);
        assertThat(dir.resolve("spool/profile")).isEmptyDirectory();
        Path own = dir.resolve("profiles/ann");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(own)))
                .isEqualTo("rwx------");
        if (Os.uid() == 0) {
            assertThat(Files.getAttribute(own, "unix:uid")).isEqualTo(UID);
            assertThat(Files.getAttribute(own.resolve("7_3_n1.h5"), "unix:uid")).isEqualTo(UID);
        }
    }

    /**
     * What a slurmd that was killed in the middle of a row left goes on, or becomes a file where the step has ended
     * meanwhile.
     */
    @Test
    void aKilledSlurmdLosesNoSample() throws IOException {
        sink().begun(plan);
        sink().sample(plan, "task", "0", values(1, 1), 1001);
        Files.write(dir.resolve("spool/profile/7_3/task.0"), new byte[] {1, 2, 3}, StandardOpenOption.APPEND);
        sink().resumed(Set.of(plan));
        sink().sample(plan, "task", "0", values(2, 2), 1002);
        assertThat(dir.resolve("profiles")).doesNotExist();
        sink().resumed(Set.of());
        assertThat(rows(task(read("7_3_n1.h5"), "0"))).containsExactly(1L, 1001L, 1L, 1.0, 2L, 1002L, 2L, 2.0);
    }

    /** What cannot be written stays, the log says where, and the next start tries again. */
    @Test
    void unwritableProfileStaysUntilTheNextStart() throws IOException {
        Hdf5Sink sink = sink();
        Files.writeString(dir.resolve("profiles"), "no directory");
        sink.begun(plan);
        sink.sample(plan, "task", "0", values(1, 1), 1001);
        sink.ended(plan);
        assertThat(dir.resolve("log"))
                .content()
                .contains("the series of step 7.3 stay in " + dir.resolve("spool/profile/7_3"));
        Files.delete(dir.resolve("profiles"));
        sink().resumed(Set.of());
        assertThat(task(read("7_3_n1.h5"), "0").rows()).isEqualTo(1);
        // a sample that comes after the task's end belongs to no task
        sink.sample(plan, "task", "0", values(1, 1), 1002);
        assertThat(dir.resolve("spool/profile/7_3")).doesNotExist();
    }

    /** The directory is its user's: whatever lies there in the file's place is replaced, never written through. */
    @Test
    void aLinkOfTheUserIsNotFollowed() throws IOException {
        Path own = Files.createDirectories(dir.resolve("profiles/ann"));
        Path secret = Files.writeString(dir.resolve("secret"), "mine");
        Files.createSymbolicLink(own.resolve("7_3_n1.h5"), secret);
        Hdf5Sink sink = sink();
        sink.begun(plan);
        sink.ended(plan);
        assertThat(secret).hasContent("mine");
        assertThat(own.resolve("7_3_n1.h5")).isRegularFile();
        assertThat(Files.isSymbolicLink(own.resolve("7_3_n1.h5"))).isFalse();
    }
}
