package dev.muster.rest.operation;

import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.contract.RestException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Refuses fields that the schema allows in a body but that no change uses, with their place and before anything is
 * done. Fields that a list has beside the settings (ids, usage, what a cluster registered with) are not refused: they
 * come back when a client posts what it has read.
 */
public final class IgnoredFields {
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

    /**
     * Query parameters without effect. Columns: a pattern of the operation's id without its prefix; names of
     * parameters; values that count, * for any; the reason. A query gets a warning, a change is refused.
     */
    private static final String[][] QUERIES = {
        {"get_.*", "format", "*", "every field is shown"},
        {
            "get_(associations?|wckeys|cluster)",
            "with_usage include_usage usage_start usage_end",
            "*",
            "usage is not in this list: see sreport"
        },
        {"get_(jobs?|nodes?|partitions?)", "flags", "sibling federation", "this cluster is in no federation"},
        {"get_clusters", "update_time", "*", "all clusters are listed"},
        {"get_accounts", "nousersarecoords", "*", "all coordinators are shown"},
        {"get_jobs", "disable_wait_for_result", "*", "the result is waited for"},
        {"get_jobs", "job_altered usage_time_as_submit_time", "*", ""},
        {"post_.*", "*", "*", "what is changed is said in the body"},
        {"delete_cluster", "*", "*", ""},
    };

    private static final Pattern OPERATION = Pattern.compile("(slurm|slurmdb|util)_\\{v}_");

    private IgnoredFields() {}

    /** @throws RestException for the first of them */
    public static void look(RestCall call) throws RestException {
        String operation = OPERATION.matcher(call.operation().id()).replaceFirst("");
        for (String[] rule : QUERIES) {
            if (operation.matches(rule[0])) {
                for (String name : call.query().keySet()) {
                    boolean named =
                            rule[1].equals("*") || List.of(rule[1].split(" ")).contains(name);
                    if (named
                            && (rule[2].equals("*")
                                    ? call.given(name)
                                    : meant(RestCall.objects(call.list(name)), rule[2]))) {
                        query(call, name, rule[3]);
                    }
                }
            }
        }
        look(call, call.body(), "", "#/");
    }

    /** @param reason "" where to pass it over would be to answer something else */
    private static void query(RestCall call, String name, String reason) throws RestException {
        if (reason.isEmpty()) {
            throw RestException.of(
                    SlurmErrno.NOT_SUPPORTED,
                    "The filter " + name + " is not supported by this version",
                    "#/" + name + "/");
        }
        call.out().warning(name + " is not acted upon: " + reason, "#/" + name + "/");
    }

    private static void look(RestCall call, Object value, String path, String at) throws RestException {
        for (String[] rule : RULES) {
            if (rule[0].equals(path) && meant(value, rule[1])) {
                throw RestException.of(SlurmErrno.NOT_SUPPORTED, path + " is not acted upon: " + rule[2], at);
            }
        }
        if (value instanceof List<?> l) {
            for (int i = 0; i < l.size(); i++) {
                if (l.get(i) instanceof Json.Obj o) {
                    look(call, o, path, RestException.element(at, i));
                }
            }
        } else if (value instanceof Json.Obj o) {
            for (Map.Entry<String, Object> entry : o.fields().entrySet()) {
                look(
                        call,
                        entry.getValue(),
                        path.isEmpty() ? entry.getKey() : path + "/" + entry.getKey(),
                        at + entry.getKey() + "/");
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
        return value instanceof List<?> l
                && l.stream()
                        .anyMatch(w -> List.of(words.split(" "))
                                .contains(String.valueOf(w).toLowerCase(Locale.ROOT)));
    }

    /** Whether a value is empty or the default. */
    static boolean isEmpty(Object value) {
        return switch (value) {
            case null -> true;
            case String text -> text.isEmpty();
            case Number n -> n.doubleValue() == 0;
            case Boolean b -> !b;
            case List<?> l -> l.isEmpty();
            case Json.Obj o ->
                o.has("set") && o.has("number")
                        ? !o.flag("set") && !o.flag("infinite")
                        : o.fields().values().stream().allMatch(IgnoredFields::isEmpty);
            default -> false;
        };
    }
}
