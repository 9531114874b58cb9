package dev.muster.cli.sacct;

import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** Filters of {@code sacct} and slurmrestd that no database index serves. They test the rows of an answer. */
public final class SacctFilter implements Predicate<Json.Obj> {
    private static final List<String> FLAGS =
            List.of("None", "SchedSubmit", "SchedMain", "SchedBackfill", "StartReceived");

    private final Set<String> associations = new HashSet<>();
    private final Set<String> flags = new HashSet<>();
    private final Set<String> features = new HashSet<>();

    /** @param numbers of associations, with commas */
    void associations(String numbers) {
        associations.addAll(Texts.split(numbers, ','));
    }

    /** @param names as a row has them, with commas: a job that has one of them is wanted */
    void flags(String names) throws UsageException {
        for (String name : Texts.split(names, ',')) {
            flag(FLAGS.stream()
                    .filter(name::equalsIgnoreCase)
                    .findFirst()
                    .orElseThrow(() ->
                            new UsageException(1, List.of("sacct: error: str_2_job_flags: Invalid job flag " + name))));
        }
    }

    /** @param name as a row has it; None for jobs of which nothing says how they were started */
    public void flag(String name) {
        flags.add(name);
    }

    /** @param names of features, with commas: a job that asked for all of them is wanted */
    public void constraints(String names) {
        features.addAll(Texts.split(names, ','));
    }

    boolean isEmpty() {
        return associations.isEmpty() && flags.isEmpty() && features.isEmpty();
    }

    /** Parts of a row that the filters need. */
    List<String> fields() {
        List<String> out = new ArrayList<>();
        if (!associations.isEmpty()) {
            out.add("assocId");
        }
        if (!flags.isEmpty()) {
            out.add("flags");
        }
        if (!features.isEmpty()) {
            out.add("features");
        }
        return out;
    }

    @Override
    public boolean test(Json.Obj job) {
        return (associations.isEmpty() || associations.contains(Long.toString(job.number("assocId"))))
                && (flags.isEmpty() || flagged(Texts.split(job.text("flags"), ',')))
                && (features.isEmpty() || asked(job.text("features")).containsAll(features));
    }

    private boolean flagged(List<String> has) {
        return flags.contains("None") && has.stream().noneMatch(f -> f.startsWith("Sched"))
                || has.stream().anyMatch(flags::contains);
    }

    /** {@code [a*2&b]|c@f} names a, b, c and f. */
    static Set<String> asked(String expression) {
        Set<String> out = new HashSet<>();
        for (String word : expression.split("[&|,\\[\\]()@]")) {
            int star = word.indexOf('*');
            out.add((star < 0 ? word : word.substring(0, star)).strip());
        }
        return out;
    }
}
