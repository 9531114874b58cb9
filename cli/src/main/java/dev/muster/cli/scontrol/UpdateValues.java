package dev.muster.cli.scontrol;

import dev.muster.cli.command.Texts;
import dev.muster.cli.option.OptionCheck;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
import dev.muster.model.format.UpdateSign;
import dev.muster.model.job.CpuBind;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Refuses invalid values of {@code scontrol update} before the controller is asked, in scontrol's words. */
final class UpdateValues {
    /** Node states that {@code scontrol update} accepts. An abbreviation stands for the first state that it begins. */
    private static final List<String> NODE_STATES = List.of(
            "CANCEL_REBOOT",
            "DOWN",
            "DRAIN",
            "FAIL",
            "FUTURE",
            "IDLE",
            "ALLOCATED",
            "MIXED",
            "NORESP",
            "POWER_DOWN",
            "POWER_DOWN_ASAP",
            "POWER_DOWN_FORCE",
            "POWER_UP",
            "RESUME",
            "UNDRAIN",
            "UNKNOWN");

    private static final int STATE_LEAST = 3;
    private static final String POWER = "POWER_";
    private static final Set<String> PARTITION_STATES = Set.of("up", "down", "drain", "inactive");

    private static final long SHORT_MAX = 65_533;
    private static final long WORD_MAX = 4_294_967_293L;
    private static final long LONG_MAX = Long.MAX_VALUE;

    private UpdateValues() {}

    /**
     * @param key lower case
     * @return lines for standard error, empty if nothing is wrong that can be seen from here
     */
    static List<String> wrong(String entity, String key, String value, String typed) {
        boolean job = entity.equals("UpdateJob");
        if (typed.indexOf('=') < 0
                && !(job && (key.equals("nice") || key.length() > 4 && "resetaccruetime".startsWith(key)))) {
            return job
                    ? List.of("Invalid input: " + typed, "Request aborted")
                    : List.of("scontrol: error: Invalid input: " + typed + "  Request aborted");
        }
        if (job && List.of("network", "ntaskspernode").contains(key)) {
            return List.of("Update of this parameter is not supported: " + typed, "Request aborted");
        }
        return switch (entity) {
            case "UpdateNode" -> node(key, value, typed);
            case "UpdatePartition" -> partition(key, value, typed);
            default -> job(key, value);
        };
    }

    private static List<String> node(String key, String value, String typed) {
        if (key.equals("state") && nodeState(value).isEmpty()) {
            return List.of(
                    "Invalid input: " + typed,
                    "Request aborted",
                    "Valid states are: NoResp DRAIN FAIL FUTURE RESUME POWER_DOWN POWER_UP UNDRAIN",
                    "Not all states are valid given a node's prior state");
        }
        if (key.equals("cpubind") && CpuBind.defaultMode(value).isEmpty()) {
            return binding(typed);
        }
        if (key.equals("weight") && Digits.parseNumber(value) < 0) {
            return List.of("scontrol: error: Invalid value " + typed + " for Weight");
        }
        return List.of();
    }

    /** Resolves an abbreviation of at least three letters to a node state. POWER_ alone is ambiguous and refused. */
    static Optional<String> nodeState(String typed) {
        String word = Texts.upper(typed);
        return word.length() < STATE_LEAST || POWER.startsWith(word)
                ? Optional.empty()
                : NODE_STATES.stream().filter(s -> s.startsWith(word)).findFirst();
    }

    /** Strips one pair of quotation marks from a node's reason; scripts leave them in. */
    static String reason(String typed) {
        String remainder = typed.startsWith("\"") ? typed.substring(1) : typed;
        return remainder.endsWith("\"") ? remainder.substring(0, remainder.length() - 1) : remainder;
    }

    private static List<String> binding(String typed) {
        return List.of("scontrol: error: Invalid input " + typed);
    }

    /** The keys of a partition that are YES or NO, as they are named. */
    private static final List<String> SWITCHES = List.of(
            "Default",
            "DisableRootJobs",
            "ExclusiveUser",
            "ExclusiveTopo",
            "Hidden",
            "LLN",
            "PowerDownOnIdle",
            "ReqResv",
            "RootOnly");
    /** Numeric keys with their maximum. */
    private static final Map<String, Long> NUMBERS = Map.of(
            "PriorityJobFactor",
            SHORT_MAX,
            "PriorityTier",
            SHORT_MAX,
            "OverTimeLimit",
            SHORT_MAX,
            "GraceTime",
            WORD_MAX,
            "DefMemPerCPU",
            LONG_MAX,
            "DefMemPerNode",
            LONG_MAX,
            "MaxMemPerCPU",
            LONG_MAX,
            "MaxMemPerNode",
            LONG_MAX,
            "MaxCPUsPerNode",
            WORD_MAX,
            "MaxCPUsPerSocket",
            WORD_MAX);
    /** Numeric keys that may be unlimited. */
    private static final List<String> UNBOUND = List.of("OverTimeLimit", "MaxCPUsPerNode", "MaxCPUsPerSocket");

    private static final String SHARES = "no|exclusive|(yes|force)(:[1-9][0-9]{0,4})?";
    private static final String PREEMPTION =
            "|((gang|priority|within),)*(off|cancel|requeue|suspend|gang|priority|within)(,(gang|priority|within))*";

    /** Returns the sentences about a wrong value of a key that takes YES, NO or a number. */
    private static List<String> plain(String key, String value, String typed) {
        for (String name : SWITCHES) {
            boolean good =
                    !value.isEmpty() && ("yes".startsWith(Texts.lower(value)) || "no".startsWith(Texts.lower(value)));
            if (Texts.lower(name).equals(key) && !good) {
                return List.of(
                        "scontrol: error: Invalid input: " + typed,
                        "scontrol: error: Acceptable " + name + " values are YES and NO");
            }
        }
        for (Map.Entry<String, Long> number : NUMBERS.entrySet()) {
            long n = Digits.parseNumber(value);
            boolean unlimited = UNBOUND.contains(number.getKey())
                    && List.of("unlimited", "infinite").contains(Texts.lower(value));
            if (Texts.lower(number.getKey()).equals(key) && !unlimited && (n < 0 || n > number.getValue())) {
                return List.of("scontrol: error: Invalid " + number.getKey() + " value: " + value);
            }
        }
        return List.of();
    }

    private static List<String> partition(String key, String value, String typed) {
        String lower = Texts.lower(value);
        return switch (key) {
            case "state" ->
                acceptable(PARTITION_STATES.contains(lower), typed, "State values are UP, DOWN, DRAIN and INACTIVE");
            case "cpubind" -> CpuBind.defaultMode(value).isEmpty() ? binding(typed) : List.of();
            case "preemptmode" -> preemption(lower, typed);
            case "exclusive" ->
                acceptable(
                        List.of("no", "node", "user", "topo").contains(lower),
                        typed,
                        "Exclusive values are NO, NODE, USER, TOPO");
            case "oversubscribe", "shared" ->
                acceptable(lower.matches(SHARES), typed, "OverSubscribe values are NO, EXCLUSIVE, YES:#, and FORCE:#");
            case "minnodes" -> unless(isNodeCount(value), "\"" + value + "\" is not a valid node count");
            case "maxnodes" -> maxNodes(value);
            case "maxtime", "defaulttime" -> unless(isUnlimited(value) || isTime(value), "Invalid input " + typed);
            default -> plain(key, value, typed);
        };
    }

    private static List<String> acceptable(boolean good, String typed, String values) {
        return good
                ? List.of()
                : List.of("scontrol: error: Invalid input: " + typed, "scontrol: error: Acceptable " + values);
    }

    private static List<String> preemption(String mode, String typed) {
        if (!mode.matches(PREEMPTION)) {
            return List.of("scontrol: error: Invalid input: " + typed);
        }
        return unless(
                !List.of(mode.split(",")).contains("gang"),
                "PreemptMode=GANG is a cluster-wide option and cannot be set at partition level");
    }

    private static List<String> maxNodes(String value) {
        if (isUnlimited(value) || isNodeCount(value)) {
            return List.of();
        }
        return List.of(
                value.matches("[0-9]{10,}")
                        ? "scontrol: error: Numeric argument (" + value + ") too large for MaxNodes."
                        : "scontrol: error: Invalid numeric value \"" + value + "\" for MaxNodes.");
    }

    private static boolean isUnlimited(String value) {
        return List.of("unlimited", "infinite").contains(Texts.lower(value));
    }

    private static boolean isNodeCount(String value) {
        long n = Digits.parseNumber(value);
        return n >= 0 && n <= Integer.MAX_VALUE;
    }

    /** An empty number is 0. */
    private static final String COUNT = "[0-9]{0,10}";

    private static final String SWITCH = "(?i)yes|no|y|n|true|false|" + COUNT;
    private static final String NODES = "([0-9]{1,9}[kKmM]?)(?:-([0-9]{1,9}[kKmM]?))?";
    private static final Pattern LEADING_NUMBER = Pattern.compile("[-+]?[0-9]{1,18}");
    /** Keys that take the leading digits of their value, or 0. */
    private static final Set<String> LENIENT = Set.of("nice", "sitefactor", "arraytaskthrottle");
    /** The sentence about "TimeLimit=+5" of a job without a limit. */
    static final String UNLIMITED_TIME = "Cannot increment/decrement TimeLimit when set to UNLIMITED.";

    /** A key of a job, how it is called in errors, and what its value looks like. */
    private record Form(String name, String pattern) {}

    private static final Map<String, Form> FORMS = Map.ofEntries(
            Map.entry("mincpusnode", new Form("MinCPUsNode", COUNT)),
            Map.entry("minmemorynode", new Form("MinMemoryNode", COUNT)),
            Map.entry("minmemorycpu", new Form("MinMemoryCPU", COUNT)),
            Map.entry("mintmpdisknode", new Form("MinTmpDiskNode", COUNT)),
            Map.entry("numtasks", new Form("NumTasks", COUNT)),
            Map.entry("requeue", new Form("Requeue", COUNT)),
            Map.entry("corespec", new Form("CoreSpec", COUNT)),
            Map.entry("threadspec", new Form("ThreadSpec", COUNT)),
            Map.entry("cpuspertask", new Form("CPUsPerTask", COUNT)),
            Map.entry("reqprocs", new Form("NumTasks", COUNT)),
            Map.entry("wait-for-switch", new Form("wait-for-switch", COUNT)),
            Map.entry("contiguous", new Form("Contiguous", SWITCH)),
            Map.entry("oversubscribe", new Form("OverSubscribe", SWITCH)),
            Map.entry("shared", new Form("OverSubscribe", SWITCH)),
            Map.entry("reboot", new Form("reboot", SWITCH)),
            Map.entry("priority", new Form("Priority", COUNT)),
            Map.entry("reqsockets", new Form("ReqSockets", COUNT)),
            Map.entry("reqcores", new Form("ReqCores", COUNT)),
            Map.entry("reqthreads", new Form("ReqThreads", COUNT)),
            Map.entry("taskspernode", new Form("TasksPerNode", COUNT)),
            Map.entry("numcpus", new Form("NumCPUs", NODES)));
    /** Nice values beyond it are none. */
    private static final long NICE_MOST = 2_147_483_645L;

    private static List<String> form(String key, String value) {
        return switch (key) {
            case "numnodes", "reqnodes" -> nodes(value);
            case "numcpus" -> cpus(value);
            case "arraytaskthrottle" -> unless(leading(value) >= 0, "Invalid ArrayTaskThrottle value");
            case "sitefactor" ->
                unless(
                        Math.abs(leading(value)) <= NICE_MOST,
                        "SiteFactor value out of range (+/- " + NICE_MOST + "). Value ignored");
            case "nice" ->
                unless(
                        !value.matches("-?[0-9]{1,18}") || Math.abs(Long.parseLong(value)) <= NICE_MOST,
                        "Nice value out of range (+/- " + NICE_MOST + "). Value ignored");
            case "mailtype" -> {
                boolean known =
                        Texts.split(value, ',').stream().anyMatch(w -> OptionCheck.MAIL_TYPES.contains(Texts.upper(w)));
                yield known ? List.of() : List.of("Invalid MailType: " + value);
            }
            case "timemin" -> unless(isTime(value), "Invalid TimeMin value");
            case "delayboot" -> unless(isTime(value), "Invalid DelayBoot value");
            case "switches" -> {
                int index = value.indexOf('@');
                boolean good = index < 0
                        || Durations.parseSeconds(value.substring(index + 1)).isPresent();
                yield unless(good, "Invalid Switches value: " + value);
            }
            default -> byForm(key, value);
        };
    }

    private static List<String> unless(boolean good, String sentence) {
        return good ? List.of() : List.of("scontrol: error: " + sentence);
    }

    private static List<String> byForm(String key, String value) {
        Form form = FORMS.get(key);
        if (form == null) {
            return List.of();
        }
        boolean number = form.pattern.equals(COUNT) && value.matches("[0-9]{1,10}");
        boolean beyond = number && Long.parseLong(value) > OptionCheck.PRIORITY_TOP;
        return unless(!beyond && value.matches(form.pattern), "Invalid " + form.name + " value: " + value);
    }

    private static List<String> cpus(String value) {
        String invalid = "scontrol: error: Invalid NumCPUs value: " + value;
        if (!value.matches(NODES)) {
            String number = value.matches("[0-9]{10,}")
                    ? "Numeric argument (" + value + ") too large for NumCPUs."
                    : "Invalid numeric value \"" + value + "\" for NumCPUs.";
            return List.of("scontrol: error: " + number, invalid);
        }
        return isBackwards(value) || value.matches("0+") ? List.of(invalid) : List.of();
    }

    private static List<String> nodes(String value) {
        if (!value.matches(NODES)) {
            return List.of("scontrol: error: \"" + value + "\" is not a valid node count");
        }
        int dash = value.indexOf('-');
        return isBackwards(value)
                ? List.of("scontrol: error: Maximum node count " + count(value.substring(dash + 1))
                        + " is less than minimum node count " + count(value.substring(0, dash)))
                : List.of();
    }

    private static boolean isBackwards(String range) {
        int dash = range.indexOf('-');
        return dash > 0 && count(range.substring(0, dash)) > count(range.substring(dash + 1));
    }

    /** A number of nodes or CPUs: K stands for 1024, M for 1024 K. */
    private static long count(String text) {
        String digits = text.replaceAll("[kKmM]$", "");
        long number = Long.parseLong(digits);
        if (text.length() == digits.length()) {
            return number;
        }
        return number << (Texts.lower(text).endsWith("k") ? 10 : 20);
    }

    private static long leading(String value) {
        Matcher number = LEADING_NUMBER.matcher(value);
        return number.lookingAt() ? Long.parseLong(number.group()) : 0;
    }

    /** Writes a value of a job that {@link #wrong} did not refuse as the controller reads it. */
    static String normalized(String key, String value) {
        Form form = FORMS.get(key);
        if (LENIENT.contains(key) && !(key.equals("nice") && value.isEmpty())) {
            return Long.toString(leading(value));
        }
        if (key.equals("switches") && !value.isEmpty()) {
            int index = value.indexOf('@');
            return Math.max(0, leading(value)) + (index < 0 ? "" : value.substring(index));
        }
        if (List.of("numnodes", "reqnodes", "numcpus").contains(key)) {
            return plainRange(value);
        }
        if (form == null || !value.matches(COUNT)) {
            return value;
        }
        if (form.pattern.equals(SWITCH) || key.equals("requeue")) {
            return value.matches("0*") ? "0" : "1";
        }
        return value.isEmpty() ? "0" : value;
    }

    private static String plainRange(String value) {
        int dash = value.indexOf('-');
        return dash < 0
                ? Long.toString(count(value))
                : count(value.substring(0, dash)) + "-" + count(value.substring(dash + 1));
    }

    private static List<String> job(String key, String value) {
        List<String> form = form(key, value);
        if (!form.isEmpty()) {
            return form;
        }
        String plain = UpdateSign.unsigned(value);
        if (key.equals("timelimit")
                && !List.of("unlimited", "infinite").contains(Texts.lower(plain))
                && !isTime(plain)) {
            return List.of("scontrol: error: Invalid TimeLimit value");
        }
        return List.of();
    }

    private static boolean isTime(String text) {
        return Durations.parseMinutes(text).isPresent();
    }
}
