package dev.muster.rest.contract;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.command.SlurmException;
import dev.muster.model.SlurmErrno;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A request that is refused: Slurm's number and sentence, where it came from, and the code of HTTP. */
public final class RestException extends Exception {
    private static final long serialVersionUID = 1L;

    public static final int INVALID_QUERY = 9000;
    public static final int FAIL_PARSING = 9001;
    public static final int INVALID_JOBS = 9002;
    public static final int UNKNOWN_URL = 9006;
    public static final int CONVERSION = 9202;
    public static final int UNKNOWN_TYPE = 9204;
    public static final int NO_PATH = 9200;
    public static final int INVALID_FLAG = 9207;
    public static final int NO_LIST = 9208;
    public static final int NO_OBJECT = 9209;
    static final int AMBIGUOUS = 9210;
    public static final int INVALID_DATA = 9216;

    private final int status;
    private final int errno;
    private final String description;
    private final String source;

    public RestException(int status, int errno, String error, String description, String source) {
        super(error, null, false, false);
        this.status = status;
        this.errno = errno;
        this.description = description;
        this.source = source;
    }

    /** The error: a Throwable may have none, this one has. */
    @Override
    public String getMessage() {
        return requireNonNull(super.getMessage(), "the constructor is given one");
    }

    /**
     * Returns the error of slurmctld or slurmdbd.
     *
     * @param source {@code slurm_submit_batch_job()}
     */
    public static RestException of(SlurmException e, String source) {
        int errno = e.errno();
        return new RestException(status(errno), errno, e.getMessage(), e.getMessage(), source);
    }

    private static final Set<Integer> TROUBLE = Stream.of(
                    SlurmErrno.INTERNAL,
                    SlurmErrno.CTLD_CONNECT,
                    SlurmErrno.CTLD_RECV,
                    SlurmErrno.DB_CONNECTION,
                    SlurmErrno.PROTOCOL_SOCKET_IMPL_TIMEOUT)
            .map(SlurmErrno::number)
            .collect(Collectors.toSet());

    /**
     * Returns the HTTP status for a daemon's error: 404 for an unknown job, 422 for a refused request, 500 for a
     * failure of the daemon.
     */
    public static int status(int errno) {
        if (errno == SlurmErrno.PROTOCOL_AUTHENTICATION_ERROR.number()
                || errno == SlurmErrno.AUTH_CRED_INVALID.number()) {
            return 401;
        }
        if (errno == SlurmErrno.CTLD_BACKOFF.number()) {
            return 429;
        }
        if (errno == SlurmErrno.INVALID_JOB_ID.number()) {
            return 404;
        }
        if (TROUBLE.contains(errno) || errno <= 0) {
            return 500;
        }
        return 422;
    }

    public static RestException of(SlurmErrno no, String description, String source) {
        return new RestException(status(no.number()), no.number(), no.sentence(), description, source);
    }

    /**
     * The request's own fault.
     *
     * @param where {@code #/job/time_limit/}
     */
    public static RestException unfit(String description, String where) {
        return new RestException(400, CONVERSION, "Unable to convert Data type", description, where);
    }

    /** Reports a word that the schema does not have. Clients expect the original's status 500. */
    public static RestException flag(String word, String where) {
        return new RestException(
                500, INVALID_FLAG, "Data parser unable to parse invalid flag", "Unknown flag \"" + word + "\"", where);
    }

    /** Returns the place of a list's element: {@code #/jobs/} becomes {@code #/jobs[0]/}. */
    public static String element(String list, int index) {
        return list.substring(0, list.length() - 1) + "[" + index + "]/";
    }

    /** Several objects would be changed by an operation on one. */
    public static RestException ambiguous(String description, String source) {
        return new RestException(
                500,
                AMBIGUOUS,
                "Request matched more than one object to modify. Modifications must only apply to a single object."
                        + " Try adding more properties to make update match a unique object.",
                description,
                source);
    }

    /** The body lacks what the operation is about. */
    public static RestException incomplete(String description) {
        return new RestException(422, FAIL_PARSING, "Failure during parsing", description, "#/");
    }

    public static RestException query(String description, String where) {
        return new RestException(422, INVALID_QUERY, "Query empty or not RFC7320 compliant", description, where);
    }

    public int status() {
        return status;
    }

    public int errno() {
        return errno;
    }

    public String description() {
        return description;
    }

    public String source() {
        return source;
    }
}
