package dev.muster.config;

import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * acct_gather.conf: what the sensors of a node look at.
 *
 * @param interfaces names of network interfaces whose traffic acct_gather_interconnect/sysfs adds up
 * @param without    keys that were given and belong to sensors that are not part of this version
 */
public record AcctGatherConf(List<String> interfaces, List<String> without) {
    private static final List<String> OF_OTHERS = List.of("energyipmifrequency", "energyipmicalcadjustment", "energyipmipowersensors",
            "energyipmiusername", "energyipmipassword", "energyipmitimeout", "energyipmivariable", "profilehdf5dir", "profilehdf5default",
            "profileinfluxdbdatabase", "profileinfluxdbdefault", "profileinfluxdbhost", "profileinfluxdbpass", "profileinfluxdbrtpolicy",
            "profileinfluxdbuser", "infinibandofedport");

    /** What the file says, nothing where it is not there; mistakes are added to {@code errors}. */
    public static AcctGatherConf read(File file, List<ConfigError> errors) {
        Reader reader = new Reader(errors);
        if (file.exists()) {
            new ConfLines(file, reader, errors).read(file);
        }
        return new AcctGatherConf(List.copyOf(reader.interfaces), List.copyOf(reader.without));
    }

    private static final class Reader implements ConfLines.Sink {
        private final Values values;
        private final List<String> interfaces = new ArrayList<>();
        private final List<String> without = new ArrayList<>();

        Reader(List<ConfigError> errors) {
            this.values = new Values(errors);
        }

        @Override
        public String clusterName() {
            return "";
        }

        @Override
        public void line(String text, String file, int line) {
            values.at(file, line, text);
            Map<String, String> read = new HashMap<>();
            Pairs pairs = new Pairs(text);
            while (pairs.next()) {
                values.text(pairs.rest());
                String key = pairs.key().toLowerCase(Locale.ROOT);
                if (key.equals("sysfsinterfaces")) {
                    read.put(key, pairs.value());
                } else if (OF_OTHERS.contains(key)) {
                    without.add(pairs.key());
                } else {
                    values.error("Parsing error at unrecognized key: " + pairs.key());
                }
            }
            if (!pairs.atEnd()) {
                values.text(pairs.rest()).error("Parsing error");
            }
            for (String name : read.getOrDefault("sysfsinterfaces", "").split(",")) {
                if (name.contains("/") || name.startsWith(".")) {
                    values.error("Invalid interface name in SysfsInterfaces: " + name);
                } else if (!name.isEmpty() && !interfaces.contains(name)) {
                    interfaces.add(name);
                }
            }
        }
    }
}
