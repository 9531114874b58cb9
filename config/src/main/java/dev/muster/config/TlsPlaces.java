package dev.muster.config;

import dev.muster.config.key.Key;
import dev.muster.config.key.Values;
import java.io.File;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Whether and with which files connections are encrypted: TLSType and TLSParameters of slurm.conf or slurmdbd.conf.
 *
 * @param on         TLSType=tls/s2n
 * @param directory  where files are that no word names: that of the configuration
 * @param parameters words of TLSParameters in lower case, with their values
 */
public record TlsPlaces(boolean on, String directory, Map<String, String> parameters) {
    static final List<String> TYPES = List.of("tls/none", "tls/s2n");
    private static final List<String> SWITCHES = List.of("load_system_certificates");
    private static final String POLICY = "security_policy_version";

    /** Daemons with a certificate of their own. */
    public enum Role { CTLD, DBD, RESTD, SACKD, SLURMD }

    public static TlsPlaces of(SlurmConf conf) {
        return of(conf.text(Key.TLS_TYPE), conf.text(Key.TLS_PARAMETERS), new File(conf.file()).getAbsoluteFile().getParent());
    }

    public static TlsPlaces of(SlurmdbdConf conf) {
        return of(conf.text("TLSType"), conf.text("TLSParameters"), new File(conf.path()).getAbsoluteFile().getParent());
    }

    /** @param type and parameters as written */
    public static TlsPlaces of(String type, String parameters, String directory) {
        String full = full(type);
        return new TlsPlaces(!full.isEmpty() && !full.equals(TYPES.getFirst()), directory, Values.parameters(parameters));
    }

    private static String full(String type) {
        return type.isEmpty() || type.indexOf('/') >= 0 ? type : "tls/" + type;
    }

    /** The authority that certificates must chain to. */
    public String authority() {
        return parameters.getOrDefault("ca_cert_file", directory + "/ca_cert.pem");
    }

    /** Whom the machine trusts is trusted as well. */
    public boolean system() {
        return parameters.containsKey(SWITCHES.getFirst());
    }

    public String certificate(Role role) {
        return file(role, "_cert");
    }

    public String key(Role role) {
        return file(role, "_cert_key");
    }

    private String file(Role role, String what) {
        String name = role.name().toLowerCase(Locale.ROOT) + what;
        return parameters.getOrDefault(name + "_file", directory + "/" + name + ".pem");
    }

    /** The type's full name. What is known of neither is an error, a policy of another library's is told. */
    public static String checkedType(String type, Values values) {
        String full = full(type);
        if (!full.isEmpty() && !TYPES.contains(full)) {
            values.error("TLSType=" + type + " is not part of this version; there is " + String.join(", ", TYPES));
        }
        return full;
    }

    public static String checkedParameters(String parameters, Values values) {
        for (Map.Entry<String, String> word : Values.parameters(parameters).entrySet()) {
            String name = word.getKey();
            if (name.equals(POLICY)) {
                values.warning("TLSParameters=" + POLICY + " has no effect: connections are TLS 1.3 or 1.2 with the ciphers of the Java runtime");
            } else if (!SWITCHES.contains(name) && !isFile(name)) {
                values.error("Invalid TLSParameters " + name);
            } else if (isFile(name) && !word.getValue().startsWith("/")) {
                values.error("TLSParameters=" + name + " is no absolute path");
            } else if (name.startsWith("sackd_")) {
                values.warning("TLSParameters=" + name + " has no effect: sackd listens on no port");
            }
        }
        return parameters;
    }

    private static boolean isFile(String name) {
        for (Role role : Role.values()) {
            String start = role.name().toLowerCase(Locale.ROOT) + "_cert";
            if (name.equals(start + "_file") || name.equals(start + "_key_file")) {
                return true;
            }
        }
        return name.equals("ca_cert_file");
    }
}
