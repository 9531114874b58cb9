package dev.muster.accounting.dbd;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.DbdMessages.Show;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Under which of the original's names {@code sacctmgr show stats} counts a message that does the same here. Others keep
 * their own names.
 */
final class RpcNames {
    /** The end of an exchange with a command. */
    static final String END = "DBD_FINI";

    private static final Map<String, String> NAMES = Map.ofEntries(
            Map.entry("Append", "DBD_SEND_MULT_MSG"),
            Map.entry("Register", "DBD_REGISTER_CTLD"),
            Map.entry("QueryAccounting", "DBD_GET_JOBS_COND"),
            Map.entry("LoadArchive", "DBD_ARCHIVE_LOAD"),
            Map.entry("DumpArchive", "DBD_ARCHIVE_DUMP"),
            Map.entry("RollUsage", "DBD_ROLL_USAGE"),
            Map.entry("Reconfigure", "DBD_RECONFIG"));
    private static final Map<String, String> SHOWN = Map.ofEntries(
            Map.entry("account", "ACCOUNTS"),
            Map.entry("association", "ASSOCS"),
            Map.entry("cluster", "CLUSTERS"),
            Map.entry("configuration", "CONFIG"),
            Map.entry("event", "EVENTS"),
            Map.entry("instance", "INSTANCES"),
            Map.entry("problem", "PROBS"),
            Map.entry("qos", "QOS"),
            Map.entry("resource", "RES"),
            Map.entry("stats", "STATS"),
            Map.entry("transaction", "TXN"),
            Map.entry("tres", "TRES"),
            Map.entry("user", "USERS"),
            Map.entry("coordinator", "ACCOUNTS"),
            Map.entry("wckey", "WCKEYS"),
            Map.entry("reservation", "RESVS"));
    private static final Map<String, String> CHANGED = Map.of(
            "account",
            "ACCOUNTS",
            "cluster",
            "CLUSTERS",
            "coordinator",
            "ACCOUNT_COORDS",
            "job",
            "JOB",
            "qos",
            "QOS",
            "resource",
            "RES",
            "user",
            "USERS");
    private static final Map<String, Integer> NUMBERS = Map.ofEntries(
            Map.entry(END, 1401),
            Map.entry("DBD_ADD_ACCOUNTS", 1402),
            Map.entry("DBD_ADD_ACCOUNT_COORDS", 1403),
            Map.entry("DBD_ADD_CLUSTERS", 1405),
            Map.entry("DBD_ADD_USERS", 1406),
            Map.entry("DBD_GET_ACCOUNTS", 1409),
            Map.entry("DBD_GET_ASSOCS", 1410),
            Map.entry("DBD_GET_CLUSTERS", 1412),
            Map.entry("DBD_RECONFIG", 1414),
            Map.entry("DBD_GET_USERS", 1415),
            Map.entry("DBD_MODIFY_ACCOUNTS", 1428),
            Map.entry("DBD_MODIFY_USERS", 1431),
            Map.entry("DBD_REGISTER_CTLD", 1434),
            Map.entry("DBD_REMOVE_ACCOUNTS", 1435),
            Map.entry("DBD_REMOVE_ACCOUNT_COORDS", 1436),
            Map.entry("DBD_REMOVE_CLUSTERS", 1438),
            Map.entry("DBD_REMOVE_USERS", 1439),
            Map.entry("DBD_ROLL_USAGE", 1440),
            Map.entry("DBD_GET_JOBS_COND", 1444),
            Map.entry("DBD_GET_TXN", 1445),
            Map.entry("DBD_ADD_QOS", 1447),
            Map.entry("DBD_GET_QOS", 1448),
            Map.entry("DBD_REMOVE_QOS", 1450),
            Map.entry("DBD_MODIFY_QOS", 1451),
            Map.entry("DBD_GET_WCKEYS", 1453),
            Map.entry("DBD_ARCHIVE_DUMP", 1459),
            Map.entry("DBD_ARCHIVE_LOAD", 1460),
            Map.entry("DBD_GET_RESVS", 1464),
            Map.entry("DBD_GET_CONFIG", 1466),
            Map.entry("DBD_GET_PROBS", 1468),
            Map.entry("DBD_GET_EVENTS", 1470),
            Map.entry("DBD_SEND_MULT_MSG", 1474),
            Map.entry("DBD_MODIFY_JOB", 1476),
            Map.entry("DBD_ADD_RES", 1477),
            Map.entry("DBD_GET_RES", 1478),
            Map.entry("DBD_REMOVE_RES", 1480),
            Map.entry("DBD_MODIFY_RES", 1481),
            Map.entry("DBD_GET_TRES", 1486),
            Map.entry("DBD_GET_STATS", 1489));

    private RpcNames() {}

    static String of(String message, byte[] body) {
        try {
            return switch (message) {
                case "Show" ->
                    named("GET", SHOWN.get(Codec.decode(body, Show.class).entity()), message);
                case "Change" -> {
                    Change change = Codec.decode(body, Change.class);
                    yield named(
                            change.verb().equals("delete")
                                    ? "REMOVE"
                                    : change.verb().toUpperCase(Locale.ROOT),
                            CHANGED.get(change.entity()),
                            message);
                }
                default -> NAMES.getOrDefault(message, message);
            };
        } catch (Json.MalformedException e) {
            return message;
        }
    }

    private static String named(String verb, @Nullable String entity, String otherwise) {
        String name = "DBD_" + verb + "_" + entity;
        return NUMBERS.containsKey(name) ? name : otherwise;
    }

    /** Whether a person's command sent it, and with its answer is done. */
    static boolean ofCommand(String name) {
        return !name.equals("DBD_SEND_MULT_MSG") && !name.equals("DBD_REGISTER_CTLD") && !name.equals("ReadRow");
    }

    /** The original's number of it; "" for one of our own. */
    static String number(String name) {
        Integer number = NUMBERS.get(name);
        return number == null ? "" : number.toString();
    }
}
