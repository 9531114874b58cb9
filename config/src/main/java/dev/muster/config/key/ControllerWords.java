package dev.muster.config.key;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Words of SlurmctldParameters: values that they may have, and those that slurmctld knows and that change nothing in
 * it.
 */
public final class ControllerWords {
    private static final String[][] UNKEPT = {
        {"SlurmctldParameters", "enable_async_reply", "no reply keeps a thread from its work"},
        {"SlurmctldParameters", "no_quick_restart", "one that runs is never ended by one that starts"},
        {"SlurmctldParameters", "validate_nodeaddr_threads", "addresses of nodes are looked for when they are needed"},
        {"SlurmctldParameters", "power_save_interval", "nodes are looked at each second"}
    };

    private static final int PORT_MAX = 65_535;
    private static final String BACKLOG = "max_dbd_msg_action";

    /** Values that can only be meant otherwise are errors. */
    static String checked(String value, Values values) {
        for (String part : Values.list(value)) {
            int equals = part.indexOf('=');
            String name = (equals < 0 ? part : part.substring(0, equals)).toLowerCase(Locale.ROOT);
            String argument = equals < 0 ? "" : part.substring(equals + 1);
            boolean right = switch (name) {
                case BACKLOG -> argument.equalsIgnoreCase("discard") || argument.equalsIgnoreCase("exit");
                case "power_save_min_interval" -> argument.matches("[0-9]{1,5}");
                case "max_powered_nodes" -> argument.matches("[0-9]{1,9}");
                case "node_reg_mem_percent" -> argument.matches("[0-9]{1,2}(\\.[0-9]{1,6})?|100(\\.0{1,6})?");
                case "raft_port" -> argument.matches("[1-9][0-9]{0,4}") && Integer.parseInt(argument) <= PORT_MAX;
                case "rl_log_freq" -> argument.equals("-1") || argument.equals("0") || isRate(argument);
                default -> !Names.RATE_LIMITS.contains(name) || isRate(argument);
            };
            if (!right) {
                values.error("Invalid SlurmctldParameters=" + part);
            }
        }
        return value;
    }

    /** Checks a number of the request limit: a mistake would silently set another limit. */
    private static boolean isRate(String value) {
        long number = Values.count(value);
        return number > 0 && number <= Integer.MAX_VALUE / 2;
    }

    /** Words without an effect: for each the key, the word, and why. */
    public static Stream<String[]> unkept() {
        return Arrays.stream(UNKEPT);
    }

    private ControllerWords() {}
}
