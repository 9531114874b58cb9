package dev.muster.cli;

import dev.muster.model.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** squeue's sort keys. One class instead of chained comparators: those are made anew in every process. */
final class JobOrder implements Comparator<Json.Obj> {
    private record Key(JobField field, boolean descending) {}

    private final List<Key> keys = new ArrayList<>();
    private final JobField.View view;

    private JobOrder(CommandContext c) {
        view = new JobField.View(c, 0, "%s", 0, "", JobField.Style.PLAIN);
    }

    /** @param keys letters of columns, each with an optional sign, commas between */
    static JobOrder of(CommandContext c, String keys) throws UsageException {
        JobOrder order = new JobOrder(c);
        boolean descending = false;
        for (int i = 0; i < keys.length(); i++) {
            char k = keys.charAt(i);
            if (k == '-' || k == '+' || k == ',') {
                descending = k == '-';
                continue;
            }
            int f = JobField.TABLE.byLetter(k);
            if (f < 0) {
                throw c.bad(1, "Invalid sort specification: " + k);
            }
            order.keys.add(new Key(JobField.at(f), descending));
            descending = false;
        }
        return order;
    }

    @Override
    public int compare(Json.Obj a, Json.Obj b) {
        for (int i = 0; i < keys.size(); i++) {
            Key k = keys.get(i);
            int c = compare(k.field, a, b);
            if (c != 0) {
                return k.descending ? -c : c;
            }
        }
        return keys.isEmpty() ? 0 : Long.compare(a.number("jobId"), b.number("jobId"));
    }

    private int compare(JobField f, Json.Obj a, Json.Obj b) {
        return switch (f) {
            case JOB_ID, JOB_ARRAY_ID, ARRAY_JOB_ID -> numbers(a, b, "jobId");
            case STATE, STATE_COMPACT -> Integer.compare(JobRows.stateOrder(a), JobRows.stateOrder(b));
            case PRIORITY, PRIORITY_LONG -> numbers(a, b, "partitionTier") != 0 ? numbers(a, b, "partitionTier")
                    : numbers(a, b, "priority");
            case TIME_LIMIT, TIME_LEFT -> Long.compare(orLast(a, "timeLimitMin", -1), orLast(b, "timeLimitMin", -1));
            case TIME_USED -> Long.compare(JobRows.used(a), JobRows.used(b));
            case NODES -> numbers(a, b, "nodeCount");
            case CPUS -> numbers(a, b, "cpus");
            case START_TIME -> Long.compare(orLast(a, "startTime", 0), orLast(b, "startTime", 0));
            case END_TIME -> Long.compare(orLast(a, "endTime", 0), orLast(b, "endTime", 0));
            case SUBMIT_TIME -> Long.compare(orLast(a, "submitTime", 0), orLast(b, "submitTime", 0));
            case UID -> numbers(a, b, "userId");
            case GROUP_ID -> numbers(a, b, "groupId");
            case NICE -> numbers(a, b, "nice");
            case MIN_MEMORY -> Long.compare(memory(a), memory(b));
            default -> f.value(a, view).compareTo(f.value(b, view));
        };
    }

    private static int numbers(Json.Obj a, Json.Obj b, String field) {
        return Long.compare(a.number(field), b.number(field));
    }

    private static long memory(Json.Obj j) {
        return Math.max(j.number("memPerNodeMb"), j.number("memPerCpuMb"));
    }

    /** What is not set comes last. */
    private static long orLast(Json.Obj j, String field, long unset) {
        long t = j.number(field);
        return t == unset ? Long.MAX_VALUE : t;
    }
}
