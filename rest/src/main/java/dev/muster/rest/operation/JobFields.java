package dev.muster.rest.operation;

import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.contract.RestException;
import java.util.HashSet;
import java.util.List;
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

    /** How a plain number says that it is none. */
    private static final long NO_VAL = 4_294_967_294L;

    private static final List<String> SIGNED = List.of("nice", "site_factor");
    /** Seconds since 1970, to the end of the year 9999. */
    private static final long TIME_MAX = 253_402_300_799L;

    private static final long MEMORY_MB_MAX = 1L << 43;
    private static final long NICE_MAX = 2_147_483_645;
    /** The largest numbers of fields that do not hold an int. */
    private static final Map<String, Long> MAX = Map.of(
            "nice",
            NICE_MAX,
            "site_factor",
            NICE_MAX,
            "deadline",
            TIME_MAX,
            "begin_time",
            TIME_MAX,
            "end_time",
            TIME_MAX,
            "memory_per_cpu",
            MEMORY_MB_MAX,
            "memory_per_node",
            MEMORY_MB_MAX,
            "priority",
            NO_VAL - 1,
            "kill_warning_delay",
            65_533L);

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

    /**
     * A value that goes where only some numbers fit; 0 where it is not set. Infinite is -1.
     *
     * @throws RestException if the number is out of the field's range
     */
    final long bounded(String field) throws RestException {
        long value = isSet(field) ? value(field) : 0;
        long max = MAX.getOrDefault(field, (long) Integer.MAX_VALUE);
        long min = SIGNED.contains(field) ? -max : 0;
        boolean isInfinite = in.raw(field) instanceof Json.Obj && value < 0;
        if (!isInfinite && (value < min || value > max)) {
            throw RestException.unfit(
                    field + "=" + value + " is out of range: it may be " + min + " to " + max, at + field + "/");
        }
        return value;
    }

    /** Whether the body has a field with a value. */
    final boolean isSet(String field) {
        return switch (in.raw(field)) {
            case Json.Obj o -> o.flag("set") || o.flag("infinite");
            case Long number -> number != NO_VAL;
            case null, default -> in.has(field);
        };
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
