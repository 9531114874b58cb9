package dev.muster.rest;

import dev.muster.cli.Texts;
import dev.muster.model.Json;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Conditions of {@code GET /slurmdb/…/jobs} that rows of jobs are looked at for, beside those that slurmctld and slurmdbd know. */
final class EndedJobs {
    /** Of a query, by what a row's flags say. */
    private static final Map<String, String> STARTED = Map.of("scheduled_on_submit", "SchedSubmit", "scheduled_by_main", "SchedMain",
            "scheduled_by_backfill", "SchedBackfill", "job_started", "StartReceived");
    private static final long EXIT_MAX = 0xff;

    private EndedJobs() {}

    /** @throws RestException for what is no number where one is meant */
    static Predicate<Json.Obj> of(Call c) throws RestException {
        Predicate<Json.Obj> all = numbered(c, "association", "assocId").and(numbered(c, "reservation_id", "reservationId"));
        Set<String> reservations = new HashSet<>(c.list("reservation"));
        if (!reservations.isEmpty()) {
            all = all.and(j -> reservations.contains(j.text("reservation")));
        }
        List<String> constraints = c.list("constraints");
        if (!constraints.isEmpty()) {
            // as sacct --constraints: all of them
            all = all.and(j -> features(j.text("features")).containsAll(constraints));
        }
        if (!c.asked("exit_code").isEmpty()) {
            long code = c.number("exit_code");
            if (code > EXIT_MAX) {
                throw RestException.query(code + " is no exit code", "#/exit_code/");
            }
            all = all.and(j -> j.number("endTime") > 0 && j.obj("exit").number("code") == code);
        }
        return all.and(started(c));
    }

    private static Predicate<Json.Obj> numbered(Call c, String parameter, String field) throws RestException {
        Set<Long> wanted = new HashSet<>();
        for (String word : c.list(parameter)) {
            if (!word.matches("[0-9]{1,10}")) {
                throw RestException.query("\"" + word + "\" is no number", "#/" + parameter + "/");
            }
            wanted.add(Long.parseLong(word));
        }
        return wanted.isEmpty() ? j -> true : j -> wanted.contains(j.number(field));
    }

    /** Any of the ways that are asked for. */
    private static Predicate<Json.Obj> started(Call c) {
        List<String> ways = new ArrayList<>();
        STARTED.forEach((parameter, flag) -> {
            if (c.given(parameter)) {
                ways.add(flag);
            }
        });
        boolean none = c.given("scheduler_unset");
        if (ways.isEmpty() && !none) {
            return j -> true;
        }
        return j -> {
            List<String> flags = Texts.split(j.text("flags"), ',');
            return none && flags.stream().noneMatch(f -> f.startsWith("Sched")) || flags.stream().anyMatch(ways::contains);
        };
    }

    /** {@code [a*2&b]|c@f} names a, b, c and f. */
    private static Set<String> features(String expression) {
        Set<String> out = new HashSet<>();
        for (String word : expression.split("[&|,\\[\\]()@]")) {
            int star = word.indexOf('*');
            out.add((star < 0 ? word : word.substring(0, star)).strip());
        }
        return out;
    }
}
