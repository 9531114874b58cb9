package dev.muster.rest;

import dev.muster.model.Json;
import dev.muster.model.SlurmErrno;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a body may say by its schema and no change acts upon: refused with its place before anything is done. What a list says of a record beside
 * its settings (ids, usage, what a cluster registered with) is not here: who posts back what was read does not ask for it.
 */
final class Unheeded {
    /** Place without the numbers of list elements; words, or * for any; why. */
    private static final String[][] RULES = {
        {"accounts/flags", "deleted", "DELETE removes an account"},
        {"users/flags", "deleted", "DELETE removes a user"},
        {"qos/flags", "deleted", "DELETE removes a QOS"},
        {"qos/flags", "partition_qos", "the partition's configuration says which QOS is a partition's"},
        {"associations/flags", "deleted", "DELETE removes associations"},
        {"associations/flags", "noupdate exact", "it is no setting of an association"},
        {"wckeys/flags", "deleted", "DELETE removes a wckey"},
        {"clusters/flags", "deleted", "DELETE removes a cluster"},
        {"instances", "*", "instances are not kept by this version"},
        {"partitions/suspend_time", "*", "it is changed in slurm.conf"},
        {"partitions/timeouts/resume", "*", "it is changed in slurm.conf"},
        {"partitions/timeouts/suspend", "*", "it is changed in slurm.conf"},
        {"purge_completed/time", "infinite", "give a number of seconds"},
        {"reservations/purge_completed/time", "infinite", "give a number of seconds"},
        {"weight", "infinite", "a weight is a number"},
        {"derived_exit_code/return_code", "infinite", "an exit code is a number"},
        {"job_rec/derived_exit_code/return_code", "infinite", "an exit code is a number"},
        {"derived_exit_code/signal/id", "*", "of a derived exit code only return_code can be set"},
        {"job_rec/derived_exit_code/signal/id", "*", "of a derived exit code only return_code can be set"},
        {"derived_exit_code/signal/name", "*", "of a derived exit code only return_code can be set"},
        {"job_rec/derived_exit_code/signal/name", "*", "of a derived exit code only return_code can be set"},
    };

    private Unheeded() {}

    /** @throws RestException for the first of them */
    static void look(Call c) throws RestException {
        look(c, c.body(), "", "#/");
    }

    private static void look(Call c, Object value, String path, String at) throws RestException {
        for (String[] rule : RULES) {
            if (rule[0].equals(path) && meant(value, rule[1])) {
                throw RestException.of(SlurmErrno.NOT_SUPPORTED, path + " is not acted upon: " + rule[2], at);
            }
        }
        if (value instanceof List<?> l) {
            for (int i = 0; i < l.size(); i++) {
                if (l.get(i) instanceof Json.Obj o) {
                    look(c, o, path, at + i + "/");
                }
            }
        } else if (value instanceof Json.Obj o) {
            for (Map.Entry<String, Object> e : o.fields().entrySet()) {
                look(c, e.getValue(), path.isEmpty() ? e.getKey() : path + "/" + e.getKey(), at + e.getKey() + "/");
            }
        }
    }

    private static boolean meant(Object value, String words) {
        if (words.equals("*")) {
            return !isEmpty(value);
        }
        if (value instanceof Json.Obj o) {
            return o.flag(words);
        }
        return value instanceof List<?> l && l.stream().anyMatch(w -> List.of(words.split(" ")).contains(String.valueOf(w).toLowerCase(Locale.ROOT)));
    }

    /** Says nothing, or what is so when nothing is said. */
    static boolean isEmpty(Object value) {
        return switch (value) {
            case null -> true;
            case String s -> s.isEmpty();
            case Number n -> n.doubleValue() == 0;
            case Boolean b -> !b;
            case List<?> l -> l.isEmpty();
            case Json.Obj o -> o.has("set") && o.has("number") ? !o.flag("set") && !o.flag("infinite")
                    : o.fields().values().stream().allMatch(Unheeded::isEmpty);
            default -> false;
        };
    }
}
