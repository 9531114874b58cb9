package dev.muster.model.hdf5;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.hdf5.Hdf5.Column;
import dev.muster.model.hdf5.Hdf5.Group;
import dev.muster.model.hdf5.Hdf5.Table;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Files of HDF5 that a user gives: each is read or refused in words, and never beyond its end. */
class Hdf5FuzzTest {
    static List<byte[]> seeds() throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        Table table = new Table(List.of(new Column("ElapsedTime", false)), 1, out -> out.write(new byte[8]));
        Hdf5Writer.write(new Group(Map.of("Number of Tasks", 7, "Node Name", "n1"), Map.of("Tasks", table)), file);
        return List.of(file.toByteArray(), Arrays.copyOf(file.toByteArray(), 200), new byte[0]);
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        try {
            Group root = Hdf5Reader.read((at, count) -> {
                if (at + count > data.length) {
                    throw new EOFException("ends at " + data.length);
                }
                return Arrays.copyOfRange(data, (int) at, (int) at + count);
            });
            for (Object member : root.members().values()) {
                if (member instanceof Table t) {
                    t.data().writeTo(OutputStream.nullOutputStream());
                }
            }
        } catch (IOException e) {
            assertThat(e.getMessage()).isNotBlank();
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
