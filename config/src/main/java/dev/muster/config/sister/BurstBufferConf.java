package dev.muster.config.sister;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.key.KeyTable;
import dev.muster.config.key.Names;
import dev.muster.config.key.Values;
import java.io.File;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * burst_buffer.conf: the users that may have burst buffers, and the time limits of the site's script.
 *
 * @param allowed users by name or number; empty for all users
 * @param denied users by name or number
 * @param directive begins a line that asks for a burst buffer, without its {@code #}
 * @param privateData users see only their own
 * @param teardownFailure what failed is torn down instead of kept to be looked at
 * @param stageInS seconds
 * @param stageOutS seconds
 * @param otherS for the rest, seconds
 * @param validateS for looking at a submission, seconds
 * @param pollS between two questions whether staging is done, seconds
 * @param without keys and flags of the file that have no effect
 */
public record BurstBufferConf(
        List<String> allowed,
        List<String> denied,
        String directive,
        boolean privateData,
        boolean teardownFailure,
        int stageInS,
        int stageOutS,
        int otherS,
        int validateS,
        int pollS,
        List<String> without) {
    private static final KeyTable TABLE = new KeyTable("""
        AllowUsers text -
        CreateBuffer text -
        DefaultPool text -
        DenyUsers text -
        DestroyBuffer text -
        Directive text BB_LUA
        Flags text -
        GetSysState text -
        GetSysStatus text -
        OtherTimeout number 300
        PollInterval number 10
        PrivateData text -
        StageInTimeout number 86400
        StageOutTimeout number 86400
        StartStageIn text -
        StartStageOut text -
        StopStageIn text -
        StopStageOut text -
        ValidateTimeout number 5\
        """, "");
    /** Keys of burst_buffer/datawarp alone. */
    private static final List<String> INERT = List.of(
            "CreateBuffer",
            "DefaultPool",
            "DestroyBuffer",
            "GetSysState",
            "GetSysStatus",
            "StartStageIn",
            "StartStageOut",
            "StopStageIn",
            "StopStageOut");

    private static final List<String> FLAGS =
            List.of("DisablePersistent", "EmulateCray", "EnablePersistent", "PrivateData", "TeardownFailure");
    /** Flags of persistent burst buffers, which a script does not have. */
    private static final List<String> INERT_FLAGS = List.of("EmulateCray", "EnablePersistent");

    private static final int SECONDS_MAX = 24 * 86_400;

    /** Reads the file if slurm.conf asks for burst buffers; mistakes are added to {@code errors}. */
    public static BurstBufferConf read(SlurmConf conf, List<ConfigError> errors) {
        File file = conf.sister("burst_buffer.conf");
        List<ConfigError> found = new ArrayList<>();
        Set<String> names = new HashSet<>();
        Map<String, String> read = TABLE.read(file, found, names);
        List<String> allowed = Values.list(Values.of(read, "allowusers"));
        List<String> denied = Values.list(Values.of(read, "denyusers").replace(':', ','));
        if (!allowed.isEmpty() && !denied.isEmpty()) {
            found.add(new ConfigError(file.getPath(), 0, "AllowUsers and DenyUsers can not both be specified", ""));
        }
        List<String> flags = Values.list(Values.of(read, "flags"));
        for (String flag : flags) {
            if (Names.known(FLAGS, flag).isEmpty()) {
                found.add(new ConfigError(file.getPath(), 0, "Invalid Flags: " + flag, ""));
            }
        }
        if (isAsked(conf)) {
            errors.addAll(found);
        }
        return new BurstBufferConf(
                allowed,
                denied,
                Values.of(read, "directive"),
                has(flags, "PrivateData")
                        || Values.of(read, "privatedata").equalsIgnoreCase("true")
                        || Values.of(read, "privatedata").equalsIgnoreCase("yes"),
                has(flags, "TeardownFailure"),
                seconds(read, "stageintimeout"),
                seconds(read, "stageouttimeout"),
                seconds(read, "othertimeout"),
                seconds(read, "validatetimeout"),
                Math.max(1, seconds(read, "pollinterval")),
                Stream.concat(
                                INERT.stream().filter(k -> names.contains(k.toLowerCase(Locale.ROOT))),
                                INERT_FLAGS.stream().filter(f -> has(flags, f)).map(f -> "Flags=" + f))
                        .toList());
    }

    /** BurstBufferType names the one kind that there is. */
    public static boolean isAsked(SlurmConf conf) {
        return conf.text(Key.BURST_BUFFER_TYPE).endsWith("lua");
    }

    private static boolean has(List<String> flags, String flag) {
        return flags.stream().anyMatch(flag::equalsIgnoreCase);
    }

    private static int seconds(Map<String, String> read, String key) {
        return (int) Math.min(SECONDS_MAX, Long.parseLong(Values.of(read, key)));
    }
}
