package dev.muster.cli.profile;

import dev.muster.cli.profile.SeriesFile.Place;
import dev.muster.model.hdf5.Hdf5.Column;
import dev.muster.model.hdf5.Hdf5.Table;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Writes tables of a profile as comma separated values. */
final class Extract {
    private static final int CELL = 8;

    /** Called with one row after another, in little-endian order. */
    private interface RowConsumer {
        void row(ByteBuffer row);
    }

    private Extract() {}

    private static void rows(Table table, RowConsumer each) throws IOException {
        byte[] row = new byte[table.width()];
        ByteBuffer buffer = ByteBuffer.wrap(row).order(ByteOrder.LITTLE_ENDIAN);
        table.data().writeTo(new OutputStream() {
            private int have;

            @Override
            public void write(int one) {
                write(new byte[] {(byte) one}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int count) {
                for (int done = 0; done < count; ) {
                    int part = Math.min(row.length - have, count - done);
                    System.arraycopy(bytes, from + done, row, have, part);
                    done += part;
                    have = (have + part) % row.length;
                    if (have == 0) {
                        each.row(buffer);
                    }
                }
            }
        });
    }

    private static String shown(boolean real, double value, long whole) {
        return real ? String.format(Locale.ROOT, "%f", value) : Long.toUnsignedString(whole);
    }

    private static String cell(Column column, ByteBuffer row, int index) {
        return shown(column.real(), row.getDouble(index * CELL), row.getLong(index * CELL));
    }

    private static String head(List<Place> places, String more) {
        boolean tasks = !places.isEmpty() && !places.getFirst().task().isEmpty();
        return "Step,Node" + (tasks ? ",Series" : "") + ",ElapsedTime" + more;
    }

    private static String name(Place place) {
        return place.step() + "," + place.node() + (place.task().isEmpty() ? "" : "," + place.task());
    }

    /** Each sample. */
    static void series(List<Place> places, PrintStream out) throws IOException {
        StringBuilder more = new StringBuilder();
        if (!places.isEmpty()) {
            places.getFirst().table().columns().stream()
                    .skip(1)
                    .forEach(c -> more.append(',').append(c.name()));
        }
        out.println(head(places, more.toString()));
        for (Place place : places) {
            rows(place.table(), row -> {
                StringBuilder line = new StringBuilder(name(place));
                for (int i = 0; i < place.table().columns().size(); i++) {
                    line.append(',').append(cell(place.table().columns().get(i), row, i));
                }
                out.println(line);
            });
        }
    }

    /** The least, the most, the sum and the mean of each column. */
    private static final class Total {
        private boolean any;
        private double min;
        private double max;
        private double sum;
        private long wholeMin;
        private long wholeMax;
        private long wholeSum;

        void add(double real, long whole) {
            min = any ? Math.min(min, real) : real;
            max = any ? Math.max(max, real) : real;
            sum += real;
            wholeMin = any && Long.compareUnsigned(wholeMin, whole) < 0 ? wholeMin : whole;
            wholeMax = any && Long.compareUnsigned(wholeMax, whole) > 0 ? wholeMax : whole;
            wholeSum += whole;
            any = true;
        }

        String shown(boolean real, long count) {
            double mean;
            if (count == 0) {
                mean = 0;
            } else {
                mean = (real ? sum : wholeSum) / count;
            }

            return "," + Extract.shown(real, min, wholeMin) + "," + Extract.shown(real, max, wholeMax) + ","
                    + Extract.shown(real, sum, wholeSum) + String.format(Locale.ROOT, ",%f", mean);
        }
    }

    static void totals(List<Place> places, PrintStream out) throws IOException {
        StringBuilder more = new StringBuilder();
        if (!places.isEmpty()) {
            places.getFirst().table().columns().stream()
                    .skip(1)
                    .map(Column::name)
                    .forEach(n -> more.append(",Min_" + n + ",Max_" + n + ",Sum_" + n + ",Avg_" + n));
        }
        out.println(head(places, more.toString()));
        for (Place place : places) {
            List<Column> columns = place.table().columns();
            List<Total> totals = new ArrayList<>();
            columns.forEach(c -> totals.add(new Total()));
            rows(place.table(), row -> {
                for (int i = 0; i < columns.size(); i++) {
                    totals.get(i).add(row.getDouble(i * CELL), row.getLong(i * CELL));
                }
            });
            StringBuilder line = new StringBuilder(name(place))
                    .append(',')
                    .append(Long.toUnsignedString(totals.getFirst().wholeMax));
            for (int i = 1; i < columns.size(); i++) {
                line.append(
                        totals.get(i).shown(columns.get(i).real(), place.table().rows()));
            }
            out.println(line);
        }
    }

    // ---- one item over all nodes

    /**
     * All samples of one item in one table.
     *
     * @param real whether values are doubles, else the bits are whole numbers
     */
    private record Samples(Place place, boolean real, List<Long> elapsed, List<Long> bits) {
        double value(int i) {
            return real ? Double.longBitsToDouble(bits.get(i)) : bits.get(i);
        }

        String shown(int i) {
            return Extract.shown(real, value(i), bits.get(i));
        }
    }

    /** Returns null where the table has no such item. */
    private static @Nullable Samples samples(Place place, String item) throws IOException {
        List<String> names = place.table().columns().stream().map(Column::name).toList();
        int index = names.indexOf(item);
        if (index < 0) {
            return null;
        }
        Samples out =
                new Samples(place, place.table().columns().get(index).real(), new ArrayList<>(), new ArrayList<>());
        rows(place.table(), row -> {
            out.elapsed.add(row.getLong(0));
            out.bits.add(row.getLong(index * CELL));
        });
        return out;
    }

    /**
     * One item of a series over all nodes (or tasks) of each step, sample by sample.
     *
     * @param messages gets a line for each step: when the sum over the nodes was highest
     * @return where an item is missing, what is missing; else ""
     */
    static String item(List<Place> places, String series, String item, PrintStream out, List<String> messages)
            throws IOException {
        Map<String, List<Samples>> steps = new LinkedHashMap<>();
        TreeSet<String> columns = new TreeSet<>();
        for (Place place : places) {
            Samples samples = samples(place, item);
            if (samples == null) {
                return "Item " + item + " not found in series /Steps/" + place.step() + "/Nodes/" + place.node() + "/"
                        + series;
            }
            steps.computeIfAbsent(place.step(), k -> new ArrayList<>()).add(samples);
            columns.add(column(series, place));
        }
        // spelled as in the original
        out.println("Step,ElaspedTime,MinNode,MinValue,MaxNode,MaxValue,Sum,Avg,NumNodes"
                + (columns.isEmpty() ? "" : ",") + String.join(",", columns));
        for (Map.Entry<String, List<Samples>> step : steps.entrySet()) {
            messages.add("    Step " + step.getKey() + " Maximum accumulated " + item + " Value "
                    + step(step.getKey(), step.getValue(), series, List.copyOf(columns), out));
        }
        return "";
    }

    private static String column(String series, Place place) {
        return (place.task().isEmpty() ? series : "Task_" + place.task()) + " " + place.node();
    }

    private static String step(String name, List<Samples> all, String series, List<String> columns, PrintStream out) {
        int count = all.stream().mapToInt(s -> s.bits.size()).max().orElse(0);
        double top = 0;
        String when = "";
        for (int i = 0; i < count; i++) {
            int index = i;
            List<Samples> there =
                    all.stream().filter(s -> s.bits.size() > index).toList();
            boolean real = there.getFirst().real;
            Samples least = there.getFirst();
            Samples most = least;
            double sum = 0;
            long whole = 0;
            String[] cells = new String[columns.size()];
            for (Samples samples : there) {
                least = samples.value(i) < least.value(i) ? samples : least;
                most = samples.value(i) > most.value(i) ? samples : most;
                sum += samples.value(i);
                whole += samples.bits.get(i);
                cells[columns.indexOf(column(series, samples.place))] = samples.shown(i);
            }
            String total = shown(real, sum, whole);
            String mean = String.format(Locale.ROOT, "%f", sum / there.size());
            long elapsed = there.getFirst().elapsed.get(i);
            StringBuilder line = new StringBuilder(name + "," + elapsed + "," + least.place.node() + ","
                    + least.shown(i) + "," + most.place.node() + "," + most.shown(i) + "," + total + "," + mean + ","
                    + there.stream().map(s -> s.place.node()).distinct().count());
            for (String cell : cells) {
                line.append(',').append(cell == null ? "" : cell);
            }
            out.println(line);
            if (when.isEmpty() || sum > top) {
                top = sum;
                when = "(" + total + ") occurred at Time=" + elapsed + ", Ave Node " + mean;
            }
        }
        return when;
    }
}
