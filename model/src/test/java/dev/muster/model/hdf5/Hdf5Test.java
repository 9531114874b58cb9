package dev.muster.model.hdf5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.model.hdf5.Hdf5.Column;
import dev.muster.model.hdf5.Hdf5.Group;
import dev.muster.model.hdf5.Hdf5.Table;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Hdf5Test {
    private static final List<Column> COLUMNS = List.of(new Column("ElapsedTime", false), new Column("CPUTime", true));

    private static byte[] rows(int count) {
        ByteBuffer b = ByteBuffer.allocate(count * 16).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            b.putLong(i).putDouble(i / 4.0);
        }
        return b.array();
    }

    private static Table table(int count) {
        return new Table(COLUMNS, count, out -> out.write(rows(count)));
    }

    private static byte[] written(Group root) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Hdf5Writer.write(root, out);
        return out.toByteArray();
    }

    private static Group read(byte[] file) throws IOException {
        return Hdf5Reader.read((at, count) -> {
            if (at + count > file.length) {
                throw new EOFException("ends at " + file.length);
            }
            return Arrays.copyOfRange(file, (int) at, (int) at + count);
        });
    }

    /** Rows fill no chunk, one, and more than fit a tree's node at ten each. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 10, 11, 640, 641, 70_000})
    void rowsComeBack(int count) throws IOException {
        Group file = read(written(new Group(
                Map.of("Number of Tasks", 7, "Node Name", "n1"),
                Map.of("Tasks", new Group(Map.of(), Map.of("0", table(count)))))));
        assertThat(file.attributes()).isEqualTo(Map.of("Number of Tasks", 7, "Node Name", "n1"));
        Table found = (Table) ((Group) file.members().get("Tasks")).members().get("0");
        assertThat(found.columns()).isEqualTo(COLUMNS);
        assertThat(found.rows()).isEqualTo(count);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        found.data().writeTo(out);
        assertThat(out.toByteArray()).isEqualTo(rows(count));
    }

    /** Members fill no leaf, one, one node of leaves, and more than one. */
    @ParameterizedTest
    @ValueSource(ints = {0, 8, 9, 256, 257, 9000})
    void membersComeBack(int count) throws IOException {
        TreeMap<String, Hdf5> members = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            members.put("n" + i, new Group(Map.of("Node Index", i), Map.of()));
        }
        assertThat(read(written(new Group(Map.of(), members)))).isEqualTo(new Group(Map.of(), members));
    }

    /** Whatever is cut off or turned over, an error says so or the file is read: nothing runs away. */
    @Test
    void damagedFileIsReadOrRefused() throws IOException {
        byte[] file = written(new Group(Map.of("a", "b"), Map.of("t", table(30), "g", new Group(Map.of(), Map.of()))));
        assertThatThrownBy(() -> read(new byte[200])).hasMessage("not an HDF5 file");
        for (int i = 0; i < file.length; i++) {
            byte[] other = file.clone();
            other[i] ^= (byte) 0xff;
            try {
                read(other).members().values().forEach(m -> {
                    if (m instanceof Table t) {
                        drain(t);
                    }
                });
            } catch (IOException e) {
                assertThat(e.getMessage()).isNotEmpty();
            }
        }
        for (int i = 0; i < 1000; i++) {
            byte[] less = Arrays.copyOf(file, i);
            assertThatThrownBy(() -> read(less)).isInstanceOf(IOException.class);
        }
    }

    private static void drain(Table t) {
        try {
            t.data().writeTo(new ByteArrayOutputStream());
        } catch (IOException e) {
            assertThat(e.getMessage()).isNotEmpty();
        }
    }
}
