package dev.muster.config;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * acct_gather.conf: what the sensors of a node look at.
 *
 * @param interfaces names of network interfaces whose traffic acct_gather_interconnect/sysfs adds up
 * @param without    keys that were given and belong to sensors that are not part of this version
 * @param profile    what is said of time series, by key in lower case
 */
public record AcctGatherConf(List<String> interfaces, List<String> without, Map<String, String> profile) {
    private static final List<String> OF_OTHERS = List.of("energyipmifrequency", "energyipmicalcadjustment", "energyipmipowersensors",
            "energyipmiusername", "energyipmipassword", "energyipmitimeout", "energyipmivariable", "infinibandofedport");
    private static final List<String> OF_PROFILES = List.of("profileinfluxdbdatabase", "profileinfluxdbdefault", "profileinfluxdbextratags",
            "profileinfluxdbflags", "profileinfluxdbfrequency", "profileinfluxdbhost", "profileinfluxdbpass", "profileinfluxdbrtpolicy",
            "profileinfluxdbtimeout", "profileinfluxdbuser", "profilehdf5dir", "profilehdf5default");

    /** What the file says, nothing where it is not there; mistakes are added to {@code errors}. */
    public static AcctGatherConf read(File file, List<ConfigError> errors) {
        List<String> interfaces = new ArrayList<>();
        List<String> without = new ArrayList<>();
        Map<String, String> profile = new TreeMap<>();
        if (file.exists()) {
            PairLines.read(file, key -> {
                if (OF_OTHERS.contains(key.toLowerCase(Locale.ROOT))) {
                    without.add(key);
                    return "";
                }
                return key.equalsIgnoreCase("SysfsInterfaces") || OF_PROFILES.contains(key.toLowerCase(Locale.ROOT)) ? "" : PairLines.unknown(key);
            }, (pairs, values) -> {
                OF_PROFILES.stream().filter(pairs::containsKey).forEach(key -> profile.put(key, pairs.get(key)));
                for (String name : pairs.getOrDefault("sysfsinterfaces", "").split(",")) {
                    if (name.contains("/") || name.startsWith(".")) {
                        values.error("Invalid interface name in SysfsInterfaces: " + name);
                    } else if (!name.isEmpty() && !interfaces.contains(name)) {
                        interfaces.add(name);
                    }
                }
            }, errors);
        }
        return new AcctGatherConf(List.copyOf(interfaces), List.copyOf(without), Map.copyOf(profile));
    }
}
