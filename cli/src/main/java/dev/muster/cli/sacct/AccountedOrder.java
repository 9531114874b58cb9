package dev.muster.cli.sacct;

import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * Orders sacct's jobs: those outside arrays by number, then arrays by the numbers of array and task, with waiting tasks
 * last. slurmdbd answers by job number, so that an answer in parts can be streamed: more than {@link #JOBS_MAX} jobs
 * stay in that order.
 */
final class AccountedOrder {
    /** Jobs that are held in memory to be sorted. */
    static final int JOBS_MAX = 20_000;
    /** The fields of a job that decide its place. */
    static final List<String> FIELDS = List.of("arrayJobId", "arrayTaskId");

    record Entry(String cluster, Json.Obj job, List<Json.Obj> steps) {
        private long array() {
            return job.number("arrayJobId");
        }

        private long task() {
            long task = job.number("arrayTaskId");
            return array() == 0 || task >= 0 ? task : Long.MAX_VALUE;
        }

        private long number() {
            return array() == 0 ? job.number("jobId") : array();
        }
    }

    private static final Comparator<Entry> ORDER = Comparator.<Entry>comparingInt(e -> e.array() == 0 ? 0 : 1)
            .thenComparingLong(Entry::number)
            .thenComparingLong(Entry::task);

    private final Consumer<Entry> out;
    private final List<Entry> held = new ArrayList<>();
    private boolean streams;

    AccountedOrder(Consumer<Entry> out) {
        this.out = out;
    }

    void add(Entry entry) {
        if (!streams && held.size() == JOBS_MAX) {
            stream();
        }
        if (streams) {
            out.accept(entry);
        } else {
            held.add(new Entry(
                    entry.cluster,
                    copy(entry.job),
                    entry.steps.stream().map(AccountedOrder::copy).toList()));
        }
    }

    /** The reader of an answer uses its objects again for the next job. */
    private static Json.Obj copy(Json.Obj row) {
        Json.Obj out = new Json.Obj();
        row.fields().forEach((name, value) -> out.put(name, value instanceof Json.Obj part ? copy(part) : value));
        return out;
    }

    /** Gives up the order: what is held goes out as it came, and so does all that comes. */
    void stream() {
        streams = true;
        held.forEach(out);
        held.clear();
    }

    /** The last job has been added. */
    void end() {
        if (!streams) {
            held.sort(ORDER);
            stream();
        }
    }
}
