package dev.muster.model.accounting;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rows of jobs and steps in few bytes, for questions with {@code packed}: what a list of a month's jobs costs is what
 * each of its values costs.
 *
 * <p>First {@link #MARK}, then the clock (number), the cluster's name (text), and for jobs and for steps how many
 * columns there are, each with its kind and its name ({@code exit.code} is the component of a component). Rows follow:
 * {@link #JOB} with the name of its cluster and its columns, {@link #STEP} of the job before it with its columns,
 * {@link #END} with the number of the job to go on from. Numbers are the difference from the value of the row of that
 * kind before, texts the number of a text that was there before.
 */
public final class PackedAnswer {
    /** No JSON begins so. */
    public static final byte MARK = 1;

    private static final int END = 0;
    private static final int JOB = 1;
    private static final int STEP = 2;
    /** Texts that are remembered; those that come later are written each time. */
    private static final int TEXTS_MAX = 1 << 16;

    private static final int NEW_UNKEPT = 0;
    private static final int SHIFT = 7;

    private PackedAnswer() {}

    /** Kinds of columns. */
    public enum Kind {
        NUMBER,
        TEXT,
        FLAG
    }

    /** @param name with dots between a component and its components */
    public record Column(String name, Kind kind) {}

    public static boolean isPacked(byte[] answer) {
        return answer.length > 0 && answer[0] == MARK;
    }

    /** Writes an answer row by row. */
    public static final class Writer {
        private byte[] bytes = new byte[1 << 16];
        private int used;
        private final Map<String, Integer> texts = new HashMap<>();
        private final long[] jobBefore;
        private final long[] stepBefore;
        private final String[] jobText;
        private final String[] stepText;
        private final int[] jobCode;
        private final int[] stepCode;
        private long[] before;
        private String[] text;
        private int[] code;
        private int position;
        private String cluster = "";
        private int clusterCode = -1;

        public Writer(long now, String cluster, List<Column> jobs, List<Column> steps) {
            jobBefore = new long[jobs.size()];
            stepBefore = new long[steps.size()];
            jobText = new String[jobs.size()];
            stepText = new String[steps.size()];
            jobCode = new int[jobs.size()];
            stepCode = new int[steps.size()];
            before = jobBefore;
            text = jobText;
            code = jobCode;
            put(MARK);
            number(now);
            literal(cluster);
            for (List<Column> columns : List.of(jobs, steps)) {
                number(columns.size());
                for (Column column : columns) {
                    number(column.kind.ordinal());
                    literal(column.name);
                }
            }
        }

        /** Begins the row of a job: its columns follow in their order. */
        public void job(String of) {
            put(JOB);
            if (clusterCode < 0 || !of.equals(cluster)) {
                cluster = of;
                clusterCode = coded(of);
            } else {
                number(clusterCode);
            }
            begin(jobBefore, jobText, jobCode);
        }

        /** Begins the row of a step of that job. */
        public void step() {
            put(STEP);
            begin(stepBefore, stepText, stepCode);
        }

        private void begin(long[] numbers, String[] words, int[] codes) {
            before = numbers;
            text = words;
            code = codes;
            position = 0;
        }

        /** The next column's number, or 1 for a flag that is set. */
        public void value(long n) {
            number(n - before[position]);
            before[position++] = n;
        }

        /** The next column's text. */
        public void value(String value) {
            if (value.equals(text[position]) && code[position] != NEW_UNKEPT) {
                number(code[position++]);
                return;
            }
            text[position] = value;
            code[position++] = coded(value);
        }

        /** Bytes so far. */
        public int size() {
            return used;
        }

        /** @param next number of the job to go on from, 0 if that was all */
        public byte[] end(int next) {
            put(END);
            number(next);
            return Arrays.copyOf(bytes, used);
        }

        private int coded(String text) {
            Integer known = texts.get(text);
            if (known != null) {
                number(known);
                return known;
            }
            if (texts.size() >= TEXTS_MAX) {
                number(NEW_UNKEPT);
                literal(text);
                return NEW_UNKEPT;
            }
            int next = texts.size() + 1;
            texts.put(text, next);
            number(next);
            literal(text);
            return next;
        }

        private void literal(String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            number(utf8.length);
            room(utf8.length);
            System.arraycopy(utf8, 0, bytes, used, utf8.length);
            used += utf8.length;
        }

        /** Small ones of either sign in one byte. */
        private void number(long n) {
            long remainder = n << 1 ^ n >> Long.SIZE - 1;
            room(Long.BYTES + 2);
            while ((remainder & -1L << SHIFT) != 0) {
                bytes[used++] = (byte) (remainder | 1 << SHIFT);
                remainder >>>= SHIFT;
            }
            bytes[used++] = (byte) remainder;
        }

        private void put(int b) {
            room(1);
            bytes[used++] = (byte) b;
        }

        private void room(int more) {
            if (used + more > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(used + more, bytes.length * 2));
            }
        }
    }

    /** A place in a tree that a column's values go to. */
    private record Place(Kind kind, Json.Obj in, String name) {}

    /** Reads an answer row by row; each row is in the trees of the one before. */
    public static final class Reader {
        private final byte[] bytes;
        private int position = 1;
        private final long now;
        private final String cluster;
        private final List<Column> jobColumns;
        private final List<Column> stepColumns;
        private final List<String> texts = new ArrayList<>(List.of(""));
        private final Json.Obj job = new Json.Obj();
        private final Place[] jobPlaces;
        private final List<Json.Obj> stepTrees = new ArrayList<>();
        private final List<Place[]> stepPlaces = new ArrayList<>();
        private final long[] jobBefore;
        private final long[] stepBefore;
        private List<Json.Obj> steps = List.of();
        private String jobCluster = "";
        private int tag;
        private int next;

        /** @throws Json.MalformedException if that is no such answer */
        public Reader(byte[] answer) {
            bytes = answer;
            if (!isPacked(answer)) {
                throw new Json.MalformedException("not a packed answer");
            }
            now = number();
            cluster = literal();
            jobColumns = columns();
            stepColumns = columns();
            jobPlaces = places(job, jobColumns);
            jobBefore = new long[jobColumns.size()];
            stepBefore = new long[stepColumns.size()];
            tag();
        }

        /** The clock of the daemon that answers, in seconds. */
        public long now() {
            return now;
        }

        /** The cluster of the daemon that answers. */
        public String cluster() {
            return cluster;
        }

        /**
         * Goes on to the next job.
         *
         * @return whether there is one
         */
        public boolean advance() {
            if (tag != JOB) {
                return false;
            }
            jobCluster = text();
            read(jobPlaces, jobBefore);
            tag();
            int found = 0;
            while (tag == STEP) {
                if (found == stepTrees.size()) {
                    Json.Obj tree = new Json.Obj();
                    stepTrees.add(tree);
                    stepPlaces.add(places(tree, stepColumns));
                }
                read(stepPlaces.get(found++), stepBefore);
                tag();
            }
            steps = stepTrees.subList(0, found);
            return true;
        }

        /** The job's row; another's after {@link #advance}. */
        public Json.Obj job() {
            return job;
        }

        /** The rows of the job's steps. */
        public List<Json.Obj> steps() {
            return steps;
        }

        /** "" for the cluster that answers. */
        public String jobCluster() {
            return jobCluster;
        }

        /** When all rows were read: number of the job to go on from; 0 if that was all. */
        public int next() {
            return next;
        }

        private void tag() {
            tag = byteAt();
            if (tag == END) {
                next = (int) number();
            } else if (tag != JOB && tag != STEP) {
                throw new Json.MalformedException("unknown row " + tag + " at " + position);
            }
        }

        private List<Column> columns() {
            List<Column> out = new ArrayList<>();
            long count = number();
            for (long i = 0; i < count; i++) {
                int kind = (int) number();
                if (kind < 0 || kind >= Kind.values().length) {
                    throw new Json.MalformedException("unknown kind of column " + kind);
                }
                out.add(new Column(literal(), Kind.values()[kind]));
            }
            return out;
        }

        private static Place[] places(Json.Obj tree, List<Column> columns) {
            Place[] out = new Place[columns.size()];
            for (int i = 0; i < out.length; i++) {
                Column column = columns.get(i);
                int dot = column.name.indexOf('.');
                Json.Obj in = tree;
                if (dot >= 0) {
                    in = tree.obj(column.name.substring(0, dot));
                    tree.put(column.name.substring(0, dot), in);
                }
                out[i] = new Place(column.kind, in, column.name.substring(dot + 1));
            }
            return out;
        }

        private void read(Place[] places, long[] before) {
            for (int i = 0; i < places.length; i++) {
                Place place = places[i];
                if (place.kind == Kind.TEXT) {
                    place.in.put(place.name, text());
                } else {
                    before[i] += number();
                    place.in.put(
                            place.name, place.kind == Kind.NUMBER ? (Object) before[i] : (Object) (before[i] != 0));
                }
            }
        }

        private String text() {
            long code = number();
            if (code == NEW_UNKEPT) {
                return literal();
            }
            if (code == texts.size()) {
                texts.add(literal());
            } else if (code < 0 || code > texts.size()) {
                throw new Json.MalformedException("unknown text " + code + " at " + position);
            }
            return texts.get((int) code);
        }

        private String literal() {
            long length = number();
            if (length < 0 || length > bytes.length - position) {
                throw new Json.MalformedException("a text of " + length + " bytes at " + position);
            }
            String text = new String(bytes, position, (int) length, StandardCharsets.UTF_8);
            position += (int) length;
            return text;
        }

        private long number() {
            long remainder = 0;
            for (int shift = 0; shift < Long.SIZE; shift += SHIFT) {
                int b = byteAt();
                remainder |= (long) (b & ~(1 << SHIFT)) << shift;
                if ((b & 1 << SHIFT) == 0) {
                    return remainder >>> 1 ^ -(remainder & 1);
                }
            }
            throw new Json.MalformedException("a number without end at " + position);
        }

        private int byteAt() {
            if (position >= bytes.length) {
                throw new Json.MalformedException("it ends within a row");
            }
            return bytes[position++] & 0xff;
        }
    }
}
