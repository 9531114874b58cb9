package dev.muster.rest.operation;

import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.contract.RestException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Reads a job as a request's body describes it ({@code job_desc_msg}), and remembers the fields that were read, so that
 * the others are refused instead of ignored.
 */
abstract class JobFields {
    private static final Map<String, String> MAIL = Map.of(
            "INVALID_DEPENDENCY",
            "INVALID_DEPEND",
            "TIME=100%",
            "TIME_LIMIT",
            "TIME=90%",
            "TIME_LIMIT_90",
            "TIME=80%",
            "TIME_LIMIT_80",
            "TIME=50%",
            "TIME_LIMIT_50");

    final Json.Obj in;
    /** Place of the job in the request's body, for errors. */
    final String at;

    private final Set<String> read = new HashSet<>();

    JobFields(Json.Obj in, String at) {
        this.in = in;
        this.at = at;
    }

    final RestException unfit(String field, String reason) {
        return new RestException(
                422, SlurmErrno.NOT_SUPPORTED.number(), SlurmErrno.NOT_SUPPORTED.sentence(), reason, at + field + "/");
    }

    /** Whether the body has a field, which counts as read from now on. */
    final boolean takes(String field) {
        read.add(field);
        return in.has(field);
    }

    /** A plain number, or the one of {@code {set, infinite, number}}: -1 for infinite, 0 where it is not set. */
    final long value(String field) {
        if (!(in.raw(field) instanceof Json.Obj o)) {
            return in.number(field);
        }
        if (o.flag("infinite")) {
            return -1;
        }
        if (o.flag("set")) {
            return o.number("number");
        }
        return 0;
    }

    /** Whether the body has a field with a value. */
    final boolean isSet(String field) {
        return in.has(field) && (!(in.raw(field) instanceof Json.Obj o) || o.flag("set") || o.flag("infinite"));
    }

    /** The events of mail_type in sbatch's words, with commas. */
    final String mailTypes() {
        return String.join(
                ",",
                in.texts("mail_type").stream().map(m -> MAIL.getOrDefault(m, m)).toList());
    }

    /** The argument of --switches. */
    final String switches(long waitSeconds) {
        return value("required_switches") + (waitSeconds > 0 ? "@" + waitSeconds / 60 + ":" + waitSeconds % 60 : "");
    }

    /** Refuses fields that have a value and were not read. */
    final void refuseUnread() throws RestException {
        for (Map.Entry<String, Object> entry : in.fields().entrySet()) {
            if (!read.contains(entry.getKey()) && !IgnoredFields.isEmpty(entry.getValue())) {
                throw unfit(entry.getKey(), entry.getKey() + " is not supported by this version");
            }
        }
    }
}
