package dev.muster.cli.option;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.StepId;
import java.util.List;
import java.util.Optional;

/** Checks and resolves ids of jobs, array tasks and steps as users type them. */
public final class JobIds {
    private JobIds() {}

    /** {@code 12}, {@code 12_3}, {@code 12_[1-3]}, {@code 12_*}, {@code 12+1}. */
    public static boolean isJob(String text) {
        int end = 0;
        if (Sluid.parse(text).isPresent()) {
            return true;
        }
        while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
            end++;
        }
        if (end == 0
                || end > 10
                || Digits.parseNumber(text.substring(0, end)) < 1
                || Long.parseLong(text.substring(0, end)) > Integer.MAX_VALUE) {
            return false;
        }
        String remainder = text.substring(end);
        if (remainder.isEmpty()) {
            return true;
        }
        String tail = remainder.substring(1);
        return switch (remainder.charAt(0)) {
            case '_' ->
                tail.equals("*")
                        || !IndexSet.parseSpec(tail, IndexSet.MAX_INDEX).isEmpty();
            case '+' -> Digits.parseNumber(tail) >= 0;
            default -> false;
        };
    }

    /**
     * The number of a job as typed, which may be its SLUID or a task of an array; -1 if it is no id, 0 if there is no
     * such job.
     */
    public static int resolve(CommandContext context, String text) throws SlurmException {
        long number = Digits.parseNumber(text);
        if (number > 0 && number <= Integer.MAX_VALUE) {
            return (int) number;
        }
        return isJob(text) ? lookUp(context, text) : -1;
    }

    /** Returns whether the job of an id exists, with or without a step behind the id. */
    public static boolean isKnown(CommandContext context, String text) throws SlurmException {
        String job = text.indexOf('.') < 0 ? text : text.substring(0, text.indexOf('.'));
        return isJob(job) && lookUp(context, job) > 0;
    }

    private static int lookUp(CommandContext context, String text) throws SlurmException {
        Json.Obj query = new Json.Obj();
        query.put("jobs", List.of(text));
        query.put("allStates", Boolean.TRUE);
        query.put("fields", List.of("jobId"));
        try {
            for (Json.Obj job :
                    context.host().controller().call("QueryJobs", query).objects("jobs")) {
                return job.integer("jobId");
            }
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.INVALID_JOB_ID.number()) {
                throw e;
            }
        }
        return 0;
    }

    /** The errors of one number in an id. */
    private enum Part {
        JOB(
                SlurmErrno.JOB_ID_EMPTY,
                SlurmErrno.JOB_ID_NEGATIVE,
                SlurmErrno.JOB_ID_TOO_LARGE,
                SlurmErrno.JOB_ID_ZERO,
                4_294_967_293L),
        TASK(
                SlurmErrno.ARRAY_ID_EMPTY,
                SlurmErrno.ARRAY_ID_NEGATIVE,
                SlurmErrno.ARRAY_ID_TOO_LARGE,
                SlurmErrno.ARRAY_ID_NON_NUMERIC,
                4_294_967_293L),
        COMPONENT(
                SlurmErrno.HET_COMPONENT_EMPTY,
                SlurmErrno.HET_COMPONENT_NEGATIVE,
                SlurmErrno.HET_COMPONENT_TOO_LARGE,
                SlurmErrno.HET_COMPONENT_EMPTY,
                StepId.COMPONENTS_MAX),
        STEP(
                SlurmErrno.STEP_ID_EMPTY,
                SlurmErrno.STEP_ID_NEGATIVE,
                SlurmErrno.STEP_ID_TOO_LARGE,
                SlurmErrno.STEP_ID_NON_NUMERIC,
                4_294_967_293L),
        STEP_COMPONENT(
                SlurmErrno.HET_STEP_EMPTY,
                SlurmErrno.HET_STEP_NEGATIVE,
                SlurmErrno.HET_STEP_TOO_LARGE,
                SlurmErrno.HET_STEP_EMPTY,
                StepId.COMPONENTS_MAX);

        final SlurmErrno empty;
        final SlurmErrno negative;
        final SlurmErrno large;
        final SlurmErrno noNumber;
        final long most;

        Part(SlurmErrno empty, SlurmErrno negative, SlurmErrno large, SlurmErrno noNumber, long maximum) {
            this.empty = empty;
            this.negative = negative;
            this.large = large;
            this.noNumber = noNumber;
            this.most = maximum;
        }

        /** @param number leading digits of the text; may be empty */
        Optional<SlurmErrno> fault(String text, String number) {
            if (text.isEmpty()) {
                return Optional.of(empty);
            }
            if (text.matches("-[0-9].*")) {
                return Optional.of(negative);
            }
            if (number.isEmpty()) {
                return Optional.of(noNumber);
            }
            long value = Digits.parseNumber(number);
            if (value < 0 || value > most) {
                return Optional.of(large);
            }
            boolean zero = value == 0 && this == JOB;
            if (zero) {
                return Optional.of(SlurmErrno.JOB_ID_ZERO);
            }
            if (value == 0 && this == STEP_COMPONENT) {
                return Optional.of(SlurmErrno.HET_STEP_ZERO);
            }
            return Optional.empty();
        }
    }

    /** Returns whether the text can only be an SLUID: these begin with a small s. */
    public static boolean isSluidLike(String text) {
        return text.startsWith("s");
    }

    private static String digits(String text) {
        int end = 0;
        while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
            end++;
        }
        return text.substring(0, end);
    }

    /**
     * Checks the id of one job, task, component or step. Returns the error, empty for a valid id. Task sets
     * ({@code 1_[2-3]}) are invalid here.
     */
    public static Optional<SlurmErrno> fault(String text) {
        if (Sluid.parse(text.split("\\.", 2)[0]).isPresent()) {
            return Optional.empty();
        }
        if (isSluidLike(text)) {
            return Optional.of(SlurmErrno.SLUID_INVALID);
        }
        String number = digits(text);
        Optional<SlurmErrno> fault = Part.JOB.fault(text, number);
        String remainder = text.substring(number.length());
        boolean component = remainder.startsWith("+");
        if (fault.isEmpty() && (component || remainder.startsWith("_"))) {
            if (remainder.startsWith("_[")) {
                return Optional.of(SlurmErrno.JOB_ID_NON_NUMERIC);
            }
            String of = digits(remainder.substring(1));
            fault = (component ? Part.COMPONENT : Part.TASK).fault(remainder.substring(1), of);
            remainder = remainder.substring(1 + of.length());
        }
        if (fault.isPresent() || remainder.isEmpty()) {
            return fault;
        }
        return remainder.charAt(0) == '.'
                ? stepFault(remainder.substring(1))
                : Optional.of(SlurmErrno.JOB_ID_NON_NUMERIC);
    }

    private static Optional<SlurmErrno> stepFault(String text) {
        if (StepId.parse(text).isPresent() && digits(text).isEmpty() || text.equals("TBD")) {
            return Optional.empty();
        }
        String number = digits(text);
        Optional<SlurmErrno> fault = Part.STEP.fault(text, number);
        String remainder = text.substring(number.length());
        if (fault.isPresent() || remainder.isEmpty()) {
            return fault;
        }
        if (remainder.charAt(0) != '+') {
            return Optional.of(SlurmErrno.STEP_ID_NON_NUMERIC);
        }
        String of = digits(remainder.substring(1));
        fault = Part.STEP_COMPONENT.fault(remainder.substring(1), of);
        return fault.isPresent() || of.length() + 1 == remainder.length()
                ? fault
                : Optional.of(SlurmErrno.HET_STEP_NON_NUMERIC);
    }

    /** Refuses an invalid id of a job or step with the sentence of srun, sattach and sbcast. */
    public static void check(CommandContext context, String text, int exitCode) throws UsageException {
        Optional<SlurmErrno> fault = fault(text);
        if (fault.isPresent()) {
            throw new UsageException(
                    exitCode,
                    List.of(context.name() + ": fatal: Bad job/step specified: " + text + ": "
                            + fault.get().sentence()));
        }
    }

    /** Returns the sentence of sacct and sstat for an invalid id. */
    public static String objection(String text) {
        boolean hasSentence = isSluidLike(text) || !text.isEmpty() && text.charAt(0) >= '0' && text.charAt(0) <= '9';
        return "Bad job/step specified: " + text
                + (hasSentence ? fault(text).map(f -> ": " + f.sentence()).orElse("") : "");
    }

    /** A job id with an optional {@code .step}. */
    public static boolean isJobOrStep(String text) {
        int dot = text.indexOf('.');
        if (dot < 0) {
            return isJob(text);
        }
        String step = text.substring(dot + 1);
        return isJob(text.substring(0, dot))
                && (Digits.parseNumber(step) >= 0 || StepId.parse(step).isPresent() || step.equals("TBD"));
    }
}
