package dev.muster.accounting.report;

import java.util.Map;

/**
 * One attempt of a job as reports see it. Times are seconds since 1970, 0 for none.
 *
 * @param end 0 while it is not over
 * @param suspended seconds of its run in which it held still; taken off evenly over the run, so that the parts of a run
 *     add up to the whole
 * @param planned CPUs that it waited for
 * @param tres allocated, memory in MiB
 * @param energyJ of all its steps, spread evenly over the run
 * @param qos name of the job's QOS
 */
public record JobUse(
        int jobId,
        String cluster,
        String account,
        String user,
        int uid,
        int gid,
        String wckey,
        String partition,
        String reservation,
        String nodes,
        long eligible,
        long start,
        long end,
        long suspended,
        long planned,
        int cpus,
        Map<String, Long> tres,
        long energyJ,
        String qos) {

    /** Seconds of use in a span. */
    public long active(long from, long to, long now) {
        if (start == 0 || to <= from) {
            return 0;
        }
        long over = Math.max(start, end == 0 ? now : end);
        return upTo(to, over) - upTo(from, over);
    }

    /** Its use of everything in a span: amounts times seconds, and joules. */
    public Map<String, Long> used(long from, long to, long now) {
        Map<String, Long> out = Amounts.none();
        long seconds = active(from, to, now);
        tres.forEach((name, n) -> {
            if (!name.equals("energy")) {
                out.merge(name, n * seconds, Long::sum);
            }
        });
        if (energyJ > 0 && start > 0) {
            long over = Math.max(start, end == 0 ? now : end);
            out.put(
                    "energy",
                    share(energyJ, ran(to, over), over - start) - share(energyJ, ran(from, over), over - start));
        }
        return out;
    }

    /** Seconds of a span in which it could have run and did not. */
    public long waited(long from, long to, long now) {
        if (eligible == 0) {
            return 0;
        }
        long until;
        if (start > 0) {
            until = start;
        } else if (end > 0) {
            until = end;
        } else {
            until = now;
        }

        return Math.max(0, Math.min(to, until) - Math.max(from, eligible));
    }

    private long ran(long moment, long over) {
        return Math.max(0, Math.min(moment, over) - start);
    }

    private long upTo(long moment, long over) {
        long ran = ran(moment, over);
        return ran - share(Math.min(suspended, over - start), ran, over - start);
    }

    private static long share(long of, long part, long whole) {
        if (whole <= 0) {
            return 0;
        }
        if (Math.multiplyHigh(of, part) == 0) {
            return of * part / whole;
        }
        return (long) ((double) of * part / whole);
    }
}
