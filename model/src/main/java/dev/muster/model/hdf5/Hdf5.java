package dev.muster.model.hdf5;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;

/**
 * The parts of HDF5 that time series use: groups with attributes, and tables whose cells are numbers of 8 bytes. The
 * form is that of the format's first version (HDF5 File Format Specification 3.0, "version 0" superblock), which every
 * reader of HDF5 takes.
 */
public sealed interface Hdf5 {
    /** Bytes of a cell. */
    int CELL = 8;
    /** Bytes of an address and of a length. */
    int WORD = 8;
    /** An address of nothing. */
    long NOWHERE = -1;
    /** Members of a group's leaf, twice what the superblock says. */
    int LEAF = 8;
    /** Children of a node of a group's tree. */
    int FAN = 32;
    /** Children of a node of a table's tree. */
    int CHUNKS = 64;

    /**
     * @param attributes names to Integer or String
     * @param members by name
     */
    record Group(Map<String, Object> attributes, Map<String, Hdf5> members) implements Hdf5 {}

    /**
     * @param rows how many
     * @param data all of them
     */
    record Table(List<Column> columns, long rows, Rows data) implements Hdf5 {
        /** Bytes of a row. */
        public int width() {
            return columns.size() * CELL;
        }
    }

    /** @param real a double, else a whole number without sign */
    record Column(String name, boolean real) {}

    /** A table's rows, one after another, each cell in little-endian order. */
    interface Rows {
        void writeTo(OutputStream out) throws IOException;
    }

    /** Bytes of a file that is read. */
    interface Source {
        /** @throws IOException also if the file has fewer bytes */
        byte[] read(long at, int count) throws IOException;
    }
}
