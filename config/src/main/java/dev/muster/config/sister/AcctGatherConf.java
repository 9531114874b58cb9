package dev.muster.config.sister;

import dev.muster.config.file.PairLines;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Values;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * acct_gather.conf: the configuration of a node's sensors.
 *
 * @param interfaces names of network interfaces whose traffic acct_gather_interconnect/sysfs adds up
 * @param energySeconds EnergyIPMIFrequency: seconds between two readings of the management controller
 * @param energySensors EnergyIPMIPowerSensors: its value for Node
 * @param without keys that were given and belong to sensors that are not part of this version
 * @param profile settings of time series, by key in lower case
 */
public record AcctGatherConf(
        List<String> interfaces,
        int energySeconds,
        String energySensors,
        List<String> without,
        Map<String, String> profile) {
    private static final List<String> OF_OTHERS = List.of(
            "energyipmiusername",
            "energyipmipassword",
            "energyipmitimeout",
            "energyipmivariable",
            "infinibandofedport");
    private static final List<String> OF_IPMI =
            List.of("energyipmifrequency", "energyipmicalcadjustment", "energyipmipowersensors");
    /** Seconds between two readings of a power meter. */
    public static final int ENERGY_SECONDS_DEFAULT = 30;

    private static final List<String> OF_PROFILES = List.of(
            "profileinfluxdbdatabase",
            "profileinfluxdbdefault",
            "profileinfluxdbextratags",
            "profileinfluxdbflags",
            "profileinfluxdbfrequency",
            "profileinfluxdbhost",
            "profileinfluxdbpass",
            "profileinfluxdbrtpolicy",
            "profileinfluxdbtimeout",
            "profileinfluxdbuser",
            "profilehdf5dir",
            "profilehdf5default");

    /** Reads the file, which may be missing; mistakes are added to {@code errors}. */
    public static AcctGatherConf read(File file, List<ConfigError> errors) {
        List<String> interfaces = new ArrayList<>();
        List<String> without = new ArrayList<>();
        Map<String, String> profile = new TreeMap<>();
        Map<String, String> ipmi = new TreeMap<>();
        if (file.exists()) {
            PairLines.read(
                    file,
                    key -> {
                        if (OF_OTHERS.contains(key.toLowerCase(Locale.ROOT))) {
                            without.add(key);
                            return "";
                        }
                        String lower = key.toLowerCase(Locale.ROOT);
                        return lower.equals("sysfsinterfaces") || OF_PROFILES.contains(lower) || OF_IPMI.contains(lower)
                                ? ""
                                : PairLines.unknown(key);
                    },
                    (pairs, values) -> {
                        ipmi(pairs, ipmi, values);
                        OF_PROFILES.stream()
                                .filter(pairs::containsKey)
                                .forEach(key -> profile.put(key, pairs.get(key)));
                        for (String name :
                                pairs.getOrDefault("sysfsinterfaces", "").split(",")) {
                            if (name.contains("/") || name.startsWith(".")) {
                                values.error("Invalid interface name in SysfsInterfaces: " + name);
                            } else if (!name.isEmpty() && !interfaces.contains(name)) {
                                interfaces.add(name);
                            }
                        }
                    },
                    errors);
        }
        return new AcctGatherConf(
                List.copyOf(interfaces),
                Integer.parseInt(ipmi.getOrDefault("energyipmifrequency", "" + ENERGY_SECONDS_DEFAULT)),
                ipmi.getOrDefault("energyipmipowersensors", ""),
                List.copyOf(without),
                Map.copyOf(profile));
    }

    private static void ipmi(Map<String, String> pairs, Map<String, String> into, Values values) {
        String seconds = pairs.getOrDefault("energyipmifrequency", "");
        if (!seconds.isEmpty() && !seconds.matches("[1-9][0-9]{0,4}")) {
            values.error("EnergyIPMIFrequency is a number of seconds: " + seconds);
        } else if (!seconds.isEmpty()) {
            into.put("energyipmifrequency", seconds);
        }
        String sensors = pairs.getOrDefault("energyipmipowersensors", "");
        if (!sensors.isEmpty()) {
            // the others are names of a site for time series
            String node = List.of(sensors.split(";")).stream()
                    .filter(s -> s.regionMatches(true, 0, "Node=", 0, 5))
                    .map(s -> s.substring(5))
                    .findFirst()
                    .orElse("");
            if (!node.matches("DCMI|DCMI_ENHANCED|[0-9]+(,[0-9]+)*")) {
                values.error(
                        "EnergyIPMIPowerSensors needs Node= and numbers of sensors, DCMI or DCMI_ENHANCED: " + sensors);
            }
            into.put("energyipmipowersensors", node);
        }
    }
}
