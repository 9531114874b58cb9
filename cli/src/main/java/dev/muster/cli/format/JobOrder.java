package dev.muster.cli.format;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Sorts jobs by squeue's sort keys. It is one class instead of chained comparators, which every process would create
 * anew.
 */
public final class JobOrder implements Comparator<JobOrder.Line> {
    private record Key(JobField field, boolean descending) {}

    /** Column letters that squeue refuses as sort keys. */
    private static final String NO_KEYS = "akoqrswxyAEFKRWXYZ";

    private final List<Key> keys = new ArrayList<>();
    private final JobField.View view;

    private JobOrder(CommandContext context) {
        view = new JobField.View(context, 0, "%s", 0, "", JobField.Style.PLAIN);
    }

    /** @param keys letters of columns, each with an optional sign, commas between */
    public static JobOrder of(CommandContext context, String keys) throws UsageException {
        JobOrder order = new JobOrder(context);
        for (int i = keys.length() - 1; i >= 0; i--) { // the original names the last wrong letter
            char k = keys.charAt(i);
            if ("-+,".indexOf(k) < 0 && (NO_KEYS.indexOf(k) >= 0 || JobField.TABLE.byLetter(k) < 0)) {
                throw context.bad(1, "Invalid sort specification: " + k);
            }
        }
        boolean descending = false;
        for (int i = 0; i < keys.length(); i++) {
            char k = keys.charAt(i);
            if (k == '-' || k == '+' || k == ',') {
                descending = k == '-';
                continue;
            }
            int f = JobField.TABLE.byLetter(k);
            order.keys.add(new Key(JobField.at(f), descending));
            descending = false;
        }
        return order;
    }

    /** A row that is to be printed, with what it is sorted by: the job itself is not kept, there may be very many. */
    public record Line(List<Object> keys, long jobId, String text) {}

    public Line line(Json.Obj job, String text) {
        List<Object> values = new ArrayList<>(keys.size() + 1);
        for (int i = 0; i < keys.size(); i++) {
            JobField field = keys.get(i).field;
            if (isPriority(field)) {
                values.add(job.number("partitionTier"));
            }
            values.add(key(field, job));
        }
        return new Line(values, job.number("jobId"), text);
    }

    private static boolean isPriority(JobField field) {
        return field == JobField.PRIORITY || field == JobField.PRIORITY_LONG;
    }

    @Override
    public int compare(Line a, Line b) {
        int index = 0;
        for (int i = 0; i < keys.size(); i++) {
            Key key = keys.get(i);
            for (int end = index + (isPriority(key.field) ? 2 : 1); index < end; index++) {
                Object x = a.keys.get(index);
                int c = x instanceof Long n
                        ? Long.compare(n, (Long) b.keys.get(index))
                        : ((String) x).compareTo((String) b.keys.get(index));
                if (c != 0) {
                    return key.descending ? -c : c;
                }
            }
        }
        return keys.isEmpty() ? 0 : Long.compare(a.jobId, b.jobId);
    }

    /** Returns the sort key of a column: a number or a text. A priority is the one within the partition's tier. */
    private Object key(JobField field, Json.Obj job) {
        return switch (field) {
            case JOB_ID, JOB_ARRAY_ID, ARRAY_JOB_ID -> job.number("jobId");
            case STATE, STATE_COMPACT -> (long) JobRows.stateOrder(job);
            case PRIORITY, PRIORITY_LONG -> job.number("priority");
            case TIME_LIMIT, TIME_LEFT -> orLast(job, "timeLimitMin", -1);
            case TIME_USED -> JobRows.used(job);
            case NODES -> job.number("nodeCount");
            case CPUS -> job.number("cpus");
            case START_TIME -> orLast(job, "startTime", 0);
            case END_TIME -> orLast(job, "endTime", 0);
            case SUBMIT_TIME -> orLast(job, "submitTime", 0);
            case UID -> job.number("userId");
            case GROUP_ID -> job.number("groupId");
            case NICE -> job.number("nice");
            case MIN_MEMORY -> memory(job);
            default -> field.value(job, view);
        };
    }

    private static long memory(Json.Obj job) {
        return Math.max(job.number("memPerNodeMb"), job.number("memPerCpuMb"));
    }

    /** Returns the value, or one that sorts last if it is unset. */
    private static long orLast(Json.Obj job, String field, long unset) {
        long t = job.number(field);
        return t == unset ? Long.MAX_VALUE : t;
    }
}
