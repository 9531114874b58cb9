package dev.muster.rest.operation;

import dev.muster.cli.sacct.SacctFilter;
import dev.muster.json.Json;
import dev.muster.rest.contract.RestException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Conditions of {@code GET /slurmdb/…/jobs} that slurmrestd tests on rows of jobs, beside those that slurmctld and
 * slurmdbd apply.
 */
final class EndedJobs {
    /** Conditions of a query by flags of a row. */
    private static final Map<String, String> STARTED = Map.of(
            "scheduled_on_submit",
            "SchedSubmit",
            "scheduled_by_main",
            "SchedMain",
            "scheduled_by_backfill",
            "SchedBackfill",
            "job_started",
            "StartReceived",
            "scheduler_unset",
            "None");

    private static final long EXIT_MAX = 0xff;

    private EndedJobs() {}

    /** @throws RestException for what is no number where one is meant */
    static Predicate<Json.Obj> of(RestCall call) throws RestException {
        Predicate<Json.Obj> all =
                numbered(call, "association", "assocId").and(numbered(call, "reservation_id", "reservationId"));
        Set<String> reservations = new HashSet<>(call.list("reservation"));
        if (!reservations.isEmpty()) {
            all = all.and(j -> reservations.contains(j.text("reservation")));
        }
        if (!call.asked("exit_code").isEmpty()) {
            long code = call.number("exit_code");
            if (code > EXIT_MAX) {
                throw RestException.query(code + " is no exit code", "#/exit_code/");
            }
            all = all.and(j -> j.number("endTime") > 0 && j.obj("exit").number("code") == code);
        }
        // as sacct --constraints and --flags
        SacctFilter filter = new SacctFilter();
        filter.constraints(String.join(",", call.list("constraints")));
        STARTED.forEach((parameter, flag) -> {
            if (call.given(parameter)) {
                filter.flag(flag);
            }
        });
        return all.and(filter);
    }

    private static Predicate<Json.Obj> numbered(RestCall call, String parameter, String field) throws RestException {
        Set<Long> wanted = new HashSet<>();
        for (String word : call.list(parameter)) {
            if (!word.matches("[0-9]{1,10}")) {
                throw RestException.query("\"" + word + "\" is no number", "#/" + parameter + "/");
            }
            wanted.add(Long.parseLong(word));
        }
        return wanted.isEmpty() ? j -> true : j -> wanted.contains(j.number(field));
    }
}
