package dev.muster.cli.scontrol;

import dev.muster.cli.command.Texts;
import dev.muster.cli.option.OptionCheck;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
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
        String rest = typed.startsWith("\"") ? typed.substring(1) : typed;
        return rest.endsWith("\"") ? rest.substring(0, rest.length() - 1) : rest;
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
        if (key.equals("state") && !PARTITION_STATES.contains(Texts.lower(value))) {
            return List.of(
                    "scontrol: error: Invalid input: " + typed,
                    "scontrol: error: Acceptable State values are UP, DOWN, DRAIN and INACTIVE");
        }
        if (key.equals("cpubind") && CpuBind.defaultMode(value).isEmpty()) {
            return binding(typed);
        }
        if (key.equals("preemptmode") && !Texts.lower(value).matches(PREEMPTION)) {
            return List.of("scontrol: error: Invalid input: " + typed);
        }
        if (key.equals("preemptmode") && List.of(Texts.lower(value).split(",")).contains("gang")) {
            return List.of(
                    "scontrol: error: PreemptMode=GANG is a cluster-wide option and cannot be set at partition level");
        }
        if (key.equals("exclusive") && !List.of("no", "node", "user", "topo").contains(Texts.lower(value))) {
            return List.of(
                    "scontrol: error: Invalid input: " + typed,
                    "scontrol: error: Acceptable Exclusive values are NO, NODE, USER, TOPO");
        }
        if ((key.equals("oversubscribe") || key.equals("shared"))
                && !Texts.lower(value).matches(SHARES)) {
            return List.of(
                    "scontrol: error: Invalid input: " + typed,
                    "scontrol: error: Acceptable OverSubscribe values are NO, EXCLUSIVE, YES:#, and FORCE:#");
        }
        List<String> plain = plain(key, value, typed);
        if (!plain.isEmpty()) {
            return plain;
        }
        boolean named = List.of("unlimited", "infinite").contains(Texts.lower(value));
        if (key.equals("minnodes") && !isNodeCount(value)) {
            return List.of("scontrol: error: \"" + value + "\" is not a valid node count");
        }
        if (key.equals("maxnodes") && value.matches("[0-9]{10,}") && !isNodeCount(value)) {
            return List.of("scontrol: error: Numeric argument (" + value + ") too large for MaxNodes.");
        }
        if (key.equals("maxnodes") && !named && !isNodeCount(value)) {
            return List.of("scontrol: error: Invalid numeric value \"" + value + "\" for MaxNodes.");
        }
        if ((key.equals("maxtime") || key.equals("defaulttime")) && !named && !isTime(value)) {
            return List.of("scontrol: error: Invalid input " + typed);
        }
        return List.of();
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
    /** Keys whose value is what its leading digits say, or 0. */
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
        Form form = FORMS.get(key);
        if (key.equals("numnodes") || key.equals("reqnodes")) {
            return nodes(value);
        }
        if (key.equals("arraytaskthrottle") && leading(value) < 0) {
            return List.of("scontrol: error: Invalid ArrayTaskThrottle value");
        }
        if (key.equals("sitefactor") && Math.abs(leading(value)) > NICE_MOST) {
            return List.of("scontrol: error: SiteFactor value out of range (+/- " + NICE_MOST + "). Value ignored");
        }
        boolean number = form != null && form.pattern.equals(COUNT) && value.matches("[0-9]{1,10}");
        boolean beyond = number && Long.parseLong(value) > OptionCheck.PRIORITY_TOP;
        if (key.equals("numcpus") && !value.matches(NODES)) {
            boolean large = value.matches("[0-9]{10,}");
            return List.of(
                    "scontrol: error: "
                            + (large
                                    ? "Numeric argument (" + value + ") too large for NumCPUs."
                                    : "Invalid numeric value \"" + value + "\" for NumCPUs."),
                    "scontrol: error: Invalid NumCPUs value: " + value);
        }
        if (form != null && (beyond || !value.matches(form.pattern))) {
            return List.of("scontrol: error: Invalid " + form.name + " value: " + value);
        }
        boolean mail = Texts.split(value, ',').stream().anyMatch(w -> OptionCheck.MAIL_TYPES.contains(Texts.upper(w)));
        if (key.equals("mailtype") && !mail) {
            return List.of("Invalid MailType: " + value);
        }
        if (key.equals("numcpus") && (isBackwards(value) || value.matches("0+"))) {
            return List.of("scontrol: error: Invalid NumCPUs value: " + value);
        }
        if (key.equals("nice") && value.matches("-?[0-9]{1,18}") && Math.abs(Long.parseLong(value)) > NICE_MOST) {
            return List.of("scontrol: error: Nice value out of range (+/- " + NICE_MOST + "). Value ignored");
        }
        if ((key.equals("timemin") || key.equals("delayboot")) && !isTime(value)) {
            return List.of("scontrol: error: Invalid " + (key.equals("timemin") ? "TimeMin" : "DelayBoot") + " value");
        }
        int at = value.indexOf('@');
        return key.equals("switches")
                        && at >= 0
                        && Durations.parseSeconds(value.substring(at + 1)).isEmpty()
                ? List.of("scontrol: error: Invalid Switches value: " + value)
                : List.of();
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
        return Long.parseLong(digits)
                << (text.length() == digits.length() ? 0 : Texts.lower(text).endsWith("k") ? 10 : 20);
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
            int at = value.indexOf('@');
            return Math.max(0, leading(value)) + (at < 0 ? "" : value.substring(at));
        }
        if (List.of("numnodes", "reqnodes", "numcpus").contains(key)) {
            int dash = value.indexOf('-');
            return dash < 0
                    ? Long.toString(count(value))
                    : count(value.substring(0, dash)) + "-" + count(value.substring(dash + 1));
        }
        boolean number = form != null && value.matches(COUNT);
        if (number && (form.pattern.equals(SWITCH) || key.equals("requeue"))) {
            return value.matches("0*") ? "0" : "1";
        }
        return number && value.isEmpty() ? "0" : value;
    }

    private static List<String> job(String key, String value) {
        List<String> form = form(key, value);
        if (!form.isEmpty()) {
            return form;
        }
        String plain = value.startsWith("+") || value.startsWith("-") ? value.substring(1) : value;
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
