package dev.muster.config.key;

import dev.muster.model.format.Durations;
import dev.muster.model.format.LogLevels;
import dev.muster.model.format.TresWeights;
import dev.muster.model.job.MpiBootstrap;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/** Checks values with a closed set of words and brings them into the form that is shown. */
public final class KeyCheck {
    private KeyCheck() {}

    public static String normalized(Key key, String value, Values values) {
        return switch (key) {
            case CLUSTER_NAME -> value.toLowerCase(Locale.ROOT);
            case DEBUG_FLAGS -> debugFlags(value, values);
            case SELECT_TYPE_PARAMETERS ->
                SelectWords.checked(
                        words(value, Names.SELECT_PARAMETERS, "Bad SelectTypeParameter: ", values), value, values);
            case PREEMPT_MODE -> preemptMode(value, values);
            case ENFORCE_PART_LIMITS -> enforcePartLimits(value, values);
            case ACCOUNTING_STORAGE_ENFORCE -> enforce(value, values);
            case PROLOG_FLAGS -> prologFlags(value, values);
            case TASK_PLUGIN_PARAM -> taskParameters(value, values);
            case PROPAGATE_RESOURCE_LIMITS, PROPAGATE_RESOURCE_LIMITS_EXCEPT -> limits(value, values);
            case PRIVATE_DATA -> flags(value, Names.PRIVATE_DATA, "Bad PrivateData: ", values);
            case HEALTH_CHECK_NODE_STATE -> healthStates(value, values);
            case ACCOUNTING_STORAGE_TRES -> tracked(value, values);
            case REQUEUE_EXIT, REQUEUE_EXIT_HOLD -> exitCodes(key, value, values);
            case MCS_PLUGIN -> mcsPlugin(value, values);
            case SLURMCTLD_PORT -> port(value, values);
            case SRUN_PORT_RANGE -> range(value, values);
            case MPI_PARAMS -> mpi(value, values);
            case SWITCH_PARAMETERS -> channels(value, values);
            case SCRON_PARAMETERS ->
                words(value, List.of("enable", "explicit_scancel"), "Bad ScronParameters: ", values);
            case JOB_SUBMIT_PLUGINS -> plugins(key, value, Names.JOB_SUBMIT, values);
            case ACCT_GATHER_PROFILE_TYPE -> plugin(key, value, Names.PROFILES, values);
            case JOB_COMP_TYPE -> plugin(key, value, Names.JOB_COMPLETION, values);
            case BURST_BUFFER_TYPE -> plugin(key, value, Names.BURST_BUFFER, values);
            case PREP_PLUGINS -> prep(key, value, values);
            case PRIORITY_SITE_FACTOR_PLUGIN -> siteFactor(value, values);
            case METRICS_TYPE -> plugin(key, value, Names.METRICS, values);
            case ACCOUNTING_STORAGE_PARAMETERS -> storageParameters(value, values);
            case ACCOUNTING_STORE_FLAGS -> words(value, Names.ACCOUNTING_STORE, "Bad AccountingStoreFlags: ", values);
            case METRICS_PARAMETERS -> words(value, Names.METRICS_PARAMETERS, "Bad MetricsParameters: ", values);
            case AUTH_ALT_TYPES -> altTypes(key, value, values);
            case AUTH_ALT_PARAMETERS -> tokenParameters(key, value, Names.TOKENS, values);
            case SLURMCTLD_HTTP_AUTH_PARAMETERS -> tokenParameters(key, value, List.of("jwt_key"), values);
            case TLS_TYPE -> TlsWords.checkedType(value, values);
            case TLS_PARAMETERS -> TlsWords.checkedParameters(value, values);
            case CERTMGR_TYPE -> CertmgrWords.checkedType(value, values);
            case CERTMGR_PARAMETERS -> CertmgrWords.checkedParameters(value, values);
            case SUSPEND_TIME -> suspendTime(value, values);
            case SCHEDULER_TIME_SLICE -> timeSlice(value, values);
            case PREEMPT_EXEMPT_TIME -> exemptTime(value, values);
            case PRIORITY_USAGE_RESET_PERIOD -> resetPeriod(value, values);
            case SLURMCTLD_PARAMETERS -> ControllerWords.checked(value, values);
            case SCHEDULER_PARAMETERS -> backfill(value, values);
            case PRIORITY_WEIGHT_TRES -> weights(value, false, values);
            default -> PluginNames.checks(key) ? PluginNames.checked(key, value, values) : value;
        };
    }

    /** @param units letters of units may stand behind numbers */
    public static String weights(String value, boolean units, Values values) {
        if (!value.isEmpty() && !TresWeights.isValid(value, units)) {
            values.error("failed to parse tres weights str '" + value + "'");
        }
        return value;
    }

    /** A word of our own has values of our own. */
    private static String backfill(String value, Values values) {
        for (String word : Values.list(value)) {
            if (word.startsWith("muster_backfill") && !Names.BACKFILL.contains(word.replaceFirst("[^=]*=?", ""))) {
                values.error("Invalid SchedulerParameters " + word + ": one of " + String.join(", ", Names.BACKFILL));
            }
        }
        return value;
    }

    private static final int TIME_SLICE_MIN_S = 5;
    private static final int DATABASE_MESSAGES_MIN = 10_000;

    public static long debugLevel(String name, String value, Values values) {
        for (int level = 0; level < LogLevels.WORDS.size(); level++) {
            if (LogLevels.WORDS.get(level).equalsIgnoreCase(value)) {
                return level;
            }
        }
        long number = Values.count(value);
        if (number < 0) {
            values.error("Invalid " + name + " " + value);
            return 0;
        }
        return Math.min(number, LogLevels.WORDS.size() - 1L);
    }

    private static String exitCodes(Key key, String value, Values values) {
        boolean right = value.isEmpty() || value.matches("\\d{1,3}(-\\d{1,3})?(,\\d{1,3}(-\\d{1,3})?)*");
        if (right && !value.isEmpty()) {
            for (String range : value.split(",")) {
                String[] ends = range.split("-");
                int last = Integer.parseInt(ends[ends.length - 1]);
                right &= last <= 255 && Integer.parseInt(ends[0]) <= last;
            }
        }
        if (!right) {
            values.error("Invalid " + key.slurmName() + ": " + value);
        }
        return value;
    }

    private static String words(String value, List<String> known, String complaint, Values values) {
        List<String> found = new ArrayList<>();
        for (String word : Values.list(value)) {
            String spelled = Names.known(known, word);
            if (spelled.isEmpty()) {
                values.error(complaint.concat(word));
            } else if (!found.contains(spelled)) {
                found.add(spelled);
            }
        }
        return String.join(",", found);
    }

    /**
     * Checks that at most one word sets a binding and at most one sets the automatic binding. The same word twice is
     * refused as well.
     */
    private static String taskParameters(String value, Values values) {
        boolean isBound = false;
        boolean isAutomatic = false;
        for (String word : Values.list(value)) {
            boolean binds = Names.BINDINGS.stream().anyMatch(word::equalsIgnoreCase);
            boolean automatic = word.toLowerCase(Locale.ROOT).startsWith("autobind=");
            if (binds && isBound) {
                values.error("Bad TaskPluginParam: " + word);
            } else if (automatic && isAutomatic) {
                values.error("Bad TaskPluginParam: autobind already set");
            }
            isBound |= binds;
            isAutomatic |= automatic;
        }
        return words(value, Names.TASK_PARAMETERS, "Bad TaskPluginParam: ", values);
    }

    /** Checks that ALL and NONE stand alone: beside other words they are no names of limits. */
    private static String limits(String value, Values values) {
        List<String> given = Values.list(value);
        return words(
                value,
                given.size() > 1 ? Names.LIMITS.subList(2, Names.LIMITS.size()) : Names.LIMITS,
                "Bad rlimit name: ",
                values);
    }

    /** Reads {@link #words} and puts them in the order in which Slurm shows them. */
    private static String flags(String value, List<String> known, String complaint, Values values) {
        List<String> found = Values.list(words(value, known, complaint, values));
        List<String> sorted = new ArrayList<>();
        for (String word : known) {
            if (found.contains(word)) {
                sorted.add(word);
            }
        }
        return String.join(",", sorted);
    }

    private static String healthStates(String value, Values values) {
        List<String> known = new ArrayList<>();
        for (String word : Values.list(value)) {
            if (Names.known(Names.HEALTH_STATES, word).isEmpty()) {
                values.warning("Invalid HealthCheckNodeState value " + word + " ignored");
            } else {
                known.add(word);
            }
        }
        return flags(String.join(",", known), Names.HEALTH_STATES, "", values);
    }

    /** TRES types that slurmctld counts. Types with a slash need a name. */
    private static String tracked(String value, Values values) {
        for (String tres : Values.list(value)) {
            if (!tres.toLowerCase(Locale.ROOT)
                    .matches("billing|cpu|energy|mem|node|pages|vmem|(fs|gres|ic|license)/.+")) {
                values.error("_init_tres: Unknown tres type '" + tres
                        + "', acceptable types are Billing,CPU,Energy,FS/,Gres/,IC/,License/,Mem,Node,Pages,VMem");
            }
        }
        return value;
    }

    private static String debugFlags(String value, Values values) {
        if (value.equalsIgnoreCase("NONE")) {
            return "";
        }
        if (value.equalsIgnoreCase("ALL")) {
            return String.join(",", Names.DEBUG_FLAGS);
        }
        return flags(value, Names.DEBUG_FLAGS, "Invalid DebugFlag: ", values);
    }

    private static String siteFactor(String value, Values values) {
        if (!value.isEmpty() && !value.equals("site_factor/none")) {
            values.error("PrioritySiteFactorPlugin=" + value + ": not known; job_submit.lua sets site factors");
        }
        return value;
    }

    private static String mcsPlugin(String value, Values values) {
        if (!value.isEmpty() && !value.matches("mcs/(none|user|group|account|label)")) {
            values.error("Invalid MCSPlugin: " + value);
        }
        return value;
    }

    private static String preemptMode(String value, Values values) {
        String upper = value.toUpperCase(Locale.ROOT);
        List<String> modes = Values.list(upper);
        if (!Names.PREEMPT_MODES.containsAll(modes)
                || modes.stream()
                                .filter(List.of("OFF", "CANCEL", "REQUEUE", "SUSPEND")::contains)
                                .count()
                        > 1) {
            values.error("PreemptMode=" + value + " invalid");
        } else if (modes.contains("SUSPEND") && !modes.contains("GANG")) {
            values.error("PreemptMode=SUSPEND requires GANG too");
        }
        return upper;
    }

    private static String exemptTime(String value, Values values) {
        if (!value.isEmpty() && Durations.parseSeconds(value).isEmpty()) {
            values.error("PreemptExemptTime=" + value + " invalid");
        }
        return value;
    }

    private static String resetPeriod(String value, Values values) {
        String upper = value.toUpperCase(Locale.ROOT);
        if (!Names.RESET_PERIODS.contains(upper)) {
            values.error("Bad value \"" + value + "\" for PriorityUsageResetPeriod");
        }
        return upper;
    }

    private static String enforcePartLimits(String value, Values values) {
        return switch (value.toUpperCase(Locale.ROOT)) {
            case "NO", "DOWN", "FALSE", "0" -> "NO";
            case "ANY" -> "ANY";
            case "ALL", "YES", "UP", "TRUE", "1" -> "ALL";
            default -> {
                values.error("Bad EnforcePartLimits: " + value);
                yield "NO";
            }
        };
    }

    private static String enforce(String value, Values values) {
        switch (value) {
            case "1" -> {
                return "associations";
            }
            case "2" -> {
                return "associations,limits";
            }
            default -> {
                String known = words(value, Names.ENFORCE, "Invalid parameter for AccountingStorageEnforce: ", values);
                return implied(known);
            }
        }
    }

    /**
     * Adds the implied words: limits, qos and safe need associations, nojobs includes nosteps, and all stands for every
     * word that is implemented.
     */
    private static String implied(String known) {
        TreeSet<String> words = new TreeSet<>(Values.list(known));
        if (words.remove("all")) {
            words.addAll(List.of("associations", "limits", "qos", "safe", "wckeys"));
        }
        if (words.contains("nojobs")) {
            words.add("nosteps");
        }
        if (words.contains("safe")) {
            words.add("limits");
        }
        if (words.contains("limits") || words.contains("qos") || words.contains("wckeys")) {
            words.add("associations");
        }
        return String.join(",", words);
    }

    private static String prologFlags(String value, Values values) {
        String known = words(value, Names.PROLOG_FLAGS, "Invalid PrologFlag: ", values);
        List<String> flags = new ArrayList<>(Values.list(known));
        boolean contain = flags.contains("Contain") || flags.contains("X11") || flags.contains("RunInJob");
        if (contain && flags.contains("NoHold")) {
            values.error("PrologFlags invalid combination: NoHold cannot be combined with Contain and/or X11");
        }
        List<String> all = new ArrayList<>();
        for (String flag : Names.PROLOG_FLAGS) {
            boolean implied = flag.equals("Alloc") && !flags.isEmpty() || flag.equals("Contain") && contain;
            if (implied || flags.contains(flag)) {
                all.add(flag);
            }
        }
        return String.join(",", all);
    }

    private static String port(String value, Values values) {
        int dash = value.indexOf('-');
        long first = Values.count(dash < 0 ? value : value.substring(0, dash));
        long last = dash < 0 ? first : Values.count(value.substring(dash + 1));
        if (first < 1 || last < first || last > Values.U16_MAX) {
            values.error("Bad value \"" + value + "\" for SlurmctldPort");
            return Key.SLURMCTLD_PORT.fallback();
        }
        return value;
    }

    public static final String MPI_PORTS = "ports=";

    private static String range(String value, Values values) {
        if (!isPortRange(value)) {
            values.error("Bad value \"" + value + "\" for SrunPortRange");
        }
        return value;
    }

    private static boolean isPortRange(String value) {
        int dash = value.indexOf('-');
        long first = dash < 0 ? -1 : Values.count(value.substring(0, dash));
        long last = dash < 0 ? -1 : Values.count(value.substring(dash + 1));
        return first >= 0 && last >= first && last <= Values.U16_MAX;
    }

    /** Parameters of an NVIDIA IMEX domain. */
    private static final List<String> OF_CHANNELS = List.of("imex_channel_count", "imex_dev_major");

    private static String channels(String value, Values values) {
        for (String word : Values.list(value)) {
            int equals = word.indexOf('=');
            long n = equals < 0 ? -1 : Values.count(word.substring(equals + 1));
            if (!OF_CHANNELS.contains((equals < 0 ? word : word.substring(0, equals)).toLowerCase(Locale.ROOT))) {
                values.warning("SwitchParameters=" + word + " has no effect: it is not known to this version");
            } else if (n < 1 || n > Values.U16_MAX) {
                values.error("Bad value \"" + word + "\" for SwitchParameters");
            }
        }
        return value;
    }

    private static String mpi(String value, Values values) {
        for (String word : Values.list(value)) {
            if (word.equalsIgnoreCase(MpiBootstrap.OFF)) {
                continue;
            }
            if (!word.startsWith(MPI_PORTS)) {
                // as older Slurms had it: the original passes over it without a word
                values.warning("MpiParams=" + word + " has no effect: it is not known to this version");
            } else if (!isPortRange(word.substring(MPI_PORTS.length()))) {
                values.error("Bad value \"" + word + "\" for MpiParams");
            }
        }
        return value;
    }

    /** Checks AccountingStorageParameters. Those of the database connection concern slurmdbd alone. */
    private static String storageParameters(String value, Values values) {
        for (String item : Values.list(value)) {
            int equalSign = item.indexOf('=');
            String name = (equalSign < 0 ? item : item.substring(0, equalSign)).toLowerCase(Locale.ROOT);
            if (name.equals("max_step_records")
                    ? !item.substring(equalSign + 1).matches("[0-9]{1,9}")
                    : !name.startsWith("ssl_")) {
                values.error("Bad AccountingStorageParameters: " + item);
            } else if (name.startsWith("ssl_")) {
                values.warning("AccountingStorageParameters=" + item
                        + " has no effect: slurmdbd opens the connections to its database");
            }
        }
        return value;
    }

    /** One of a kind of plugins that there is here, in its full name. */
    private static String plugin(Key key, String value, List<String> known, Values values) {
        String kind = known.getFirst().substring(0, known.getFirst().indexOf('/') + 1);
        String full = value.isEmpty() || value.startsWith(kind) ? value : kind + value;
        if (!full.isEmpty() && !known.contains(full)) {
            values.error(key.slurmName() + "=" + value + " is not part of this version; there is "
                    + String.join(", ", known));
        }
        return full;
    }

    /** Plugins of a list by their short names, each of which must be one that there is here. */
    private static String plugins(Key key, String value, List<String> known, Values values) {
        List<String> found = new ArrayList<>();
        for (String word : Values.list(value)) {
            String name = word.substring(word.indexOf('/') + 1);
            if (!known.contains(name)) {
                values.error(key.slurmName() + "=" + word + " is not part of this version; there is "
                        + String.join(", ", known));
            }
            found.add(name);
        }
        return String.join(",", found);
    }

    private static String prep(Key key, String value, Values values) {
        for (String name : Values.list(value)) {
            if (!name.equals("script") && !name.equals(key.fallback())) {
                values.error("cannot find prep plugin for " + (name.contains("/") ? name : "prep/" + name));
            }
        }
        return value;
    }

    private static String altTypes(Key key, String value, Values values) {
        for (String type : Values.list(value)) {
            if (!Names.ALT_AUTH.contains(type)) {
                values.error(key.slurmName() + "=" + type + " is not part of this version; there is "
                        + String.join(", ", Names.ALT_AUTH));
            }
        }
        return value;
    }

    /**
     * Refuses unknown parts: an administrator that relies on a restriction without effect is worse off than without it.
     */
    private static String tokenParameters(Key key, String value, List<String> known, Values values) {
        for (String part : Values.list(value)) {
            int equals = part.indexOf('=');
            String name = (equals < 0 ? part : part.substring(0, equals)).toLowerCase(Locale.ROOT);
            String given = equals < 0 ? "" : part.substring(equals + 1);
            if (!known.contains(name)) {
                values.error(key.slurmName() + "=" + part + " is not part of this version; there is "
                        + String.join(", ", known));
            } else if (name.equals("max_token_lifespan") && Values.count(given) < 1) {
                values.error("Invalid max_token_lifespan in " + key.slurmName() + ": " + given);
            }
        }
        return value;
    }

    /** Reads SchedulerTimeSlice as 26.05.3 does: the usual slice stands in place of one that is too short. */
    private static String timeSlice(String value, Values values) {
        long seconds = Values.count(value);
        if (seconds < 0 || seconds >= TIME_SLICE_MIN_S) {
            return value;
        }
        values.warning("SchedulerTimeSlice must be at least " + TIME_SLICE_MIN_S + " seconds");
        return Key.SCHEDULER_TIME_SLICE.fallback();
    }

    public static long databaseMessages(String value, Values values) {
        long maximum = values.number(Key.MAX_DBD_MSGS.slurmName(), value, Values.U32_MAX);
        if (maximum != 0 && maximum < DATABASE_MESSAGES_MIN) {
            values.error("MaxDBDMsgs=" + value + " is less than " + DATABASE_MESSAGES_MIN);
        }
        return maximum;
    }

    /** How tasks are bound on a node, or in a partition, by the word of {@code --cpu-bind}. */
    public static String cpuBind(String value, Values values) {
        return dev.muster.model.job.CpuBind.defaultMode(value).orElseGet(() -> {
            values.error("Invalid CpuBind value " + value);
            return "";
        });
    }

    public static String suspendTime(String value, Values values) {
        boolean never = value.equalsIgnoreCase("NONE") || value.equals("-1") || value.equalsIgnoreCase("INFINITE");
        if (!never) {
            values.number(Key.SUSPEND_TIME.slurmName(), value, Values.U32_MAX);
        }
        return never ? "INFINITE" : value;
    }
}
