package dev.muster.config.sister;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Time series of steps: AcctGatherProfileType and its settings in acct_gather.conf.
 *
 * @param kind {@code influxdb} or {@code hdf5}, or "" without profiling
 * @param standard series of jobs that do not say: {@code energy}, {@code task} …
 * @param directory ProfileHDF5Dir, which all nodes see; "" with influxdb, as what follows is with hdf5
 * @param host of the server, {@code name:port}
 * @param policy of retention, "" for the server's own
 * @param frequencyS seconds between two words to the server; 0: each sample at once
 * @param timeoutS how long the server may take
 * @param grouped one line for all values of a sample
 * @param tags further tags of each line: cluster, uid, user
 */
public record ProfileConf(
        String kind,
        Set<String> standard,
        String directory,
        String host,
        String database,
        String policy,
        String user,
        String password,
        int frequencyS,
        int timeoutS,
        boolean grouped,
        List<String> tags) {
    public static final ProfileConf NONE =
            new ProfileConf("", Set.of(), "", "", "", "", "", "", 0, 0, false, List.of());
    /** Series that there are. */
    public static final List<String> SERIES = List.of("energy", "filesystem", "network", "task");

    private static final String PREFIX = "acct_gather_profile/";
    private static final List<String> TAGS = List.of("cluster", "uid", "user");
    private static final int FREQUENCY_S = 30;
    private static final int TIMEOUT_S = 10;

    /** Mistakes are added to {@code errors}. */
    public static ProfileConf of(SlurmConf conf, AcctGatherConf gather, List<ConfigError> errors) {
        String type = conf.text(Key.ACCT_GATHER_PROFILE_TYPE);
        Map<String, String> settings = gather.profile();
        if (type.equals(PREFIX + "hdf5")) {
            return hdf5(conf, settings, type, errors);
        }
        if (!type.equals(PREFIX + "influxdb")) {
            return NONE;
        }
        for (String needed : List.of("ProfileInfluxDBHost", "ProfileInfluxDBDatabase")) {
            if (settings.getOrDefault(lower(needed), "").isEmpty()) {
                errors.add(new ConfigError(
                        conf.file(),
                        0,
                        "No " + needed + " in your acct_gather.conf file. This is required to use the " + type
                                + " plugin",
                        ""));
            }
        }
        if (!text(settings, "Pass").isEmpty() && text(settings, "User").isEmpty()) {
            errors.add(new ConfigError(
                    conf.file(),
                    0,
                    "No ProfileInfluxDBUser in your acct_gather.conf file. This is required if "
                            + "ProfileInfluxDBPass is specified to use the " + type + " plugin",
                    ""));
        }
        boolean grouped = words(settings, "Flags", List.of("grouped_fields"), conf, errors)
                .contains("grouped_fields");
        List<String> tags = words(settings, "ExtraTags", TAGS, conf, errors);
        if (!tags.isEmpty() && !grouped) {
            errors.add(new ConfigError(
                    conf.file(), 0, "ProfileInfluxDBExtraTags requires ProfileInfluxDBFlags=grouped_fields", ""));
        }
        return new ProfileConf(
                "influxdb",
                series(text(settings, "Default"), "InfluxDB", conf, errors),
                "",
                text(settings, "Host"),
                text(settings, "Database"),
                text(settings, "RTPolicy"),
                text(settings, "User"),
                text(settings, "Pass"),
                number(settings, "Frequency", FREQUENCY_S, conf, errors),
                number(settings, "Timeout", TIMEOUT_S, conf, errors),
                grouped,
                tags);
    }

    private static ProfileConf hdf5(
            SlurmConf conf, Map<String, String> settings, String type, List<ConfigError> errors) {
        String directory = settings.getOrDefault("profilehdf5dir", "");
        if (directory.isEmpty()) {
            // two blanks, as in the original
            errors.add(new ConfigError(
                    conf.file(),
                    0,
                    "No ProfileHDF5Dir in your acct_gather.conf file.  This is required to use the " + type + " plugin",
                    ""));
        } else if (!directory.startsWith("/")) {
            errors.add(new ConfigError(conf.file(), 0, "ProfileHDF5Dir=" + directory + " is not an absolute path", ""));
        }
        return new ProfileConf(
                "hdf5",
                series(settings.getOrDefault("profilehdf5default", ""), "HDF5", conf, errors),
                directory,
                "",
                "",
                "",
                "",
                "",
                0,
                0,
                false,
                List.of());
    }

    private static String lower(String key) {
        return key.toLowerCase(Locale.ROOT);
    }

    private static String text(Map<String, String> settings, String key) {
        return settings.getOrDefault("profileinfluxdb" + lower(key), "");
    }

    private static int number(
            Map<String, String> settings, String key, int fallback, SlurmConf conf, List<ConfigError> errors) {
        String value = text(settings, key);
        if (!value.matches("[0-9]{0,6}")) {
            errors.add(new ConfigError(conf.file(), 0, "Bad value \"" + value + "\" for ProfileInfluxDB" + key, ""));
            return fallback;
        }
        return value.isEmpty() ? fallback : Integer.parseInt(value);
    }

    private static List<String> words(
            Map<String, String> settings, String key, List<String> known, SlurmConf conf, List<ConfigError> errors) {
        List<String> out = new ArrayList<>();
        for (String word : text(settings, key).split(",")) {
            if (!word.isBlank() && !known.contains(lower(word.strip()))) {
                errors.add(new ConfigError(
                        conf.file(),
                        0,
                        "ProfileInfluxDB" + key + "=" + word + " is not part of this version; there is "
                                + String.join(", ", known),
                        ""));
            } else if (!word.isBlank()) {
                out.add(lower(word.strip()));
            }
        }
        return List.copyOf(out);
    }

    private static Set<String> series(String text, String plugin, SlurmConf conf, List<ConfigError> errors) {
        for (String word : lower(text).split(",")) {
            if (!word.isBlank()
                    && !SERIES.contains(word.strip())
                    && !List.of("all", "none", "lustre").contains(word.strip())) {
                errors.add(new ConfigError(
                        conf.file(),
                        0,
                        "Profile" + plugin + "Default can not be set to " + text + ", please specify a valid option",
                        ""));
                return Set.of();
            }
        }
        return series(text);
    }

    /** The series that {@code --profile=} names; empty for none and "". */
    public static Set<String> series(String text) {
        Set<String> out = new TreeSet<>();
        for (String word : lower(text).split(",")) {
            switch (word.strip()) {
                case "all" -> out.addAll(SERIES);
                case "none", "" -> {}
                case "lustre" -> out.add("filesystem");
                default -> out.add(word.strip());
            }
        }
        return out;
    }
}
