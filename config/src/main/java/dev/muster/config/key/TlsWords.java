package dev.muster.config.key;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Checks TLSType and TLSParameters. */
public final class TlsWords {
    public static final List<String> TYPES = List.of("tls/none", "tls/s2n");
    public static final List<String> SWITCHES = List.of("load_system_certificates");
    private static final String POLICY = "security_policy_version";

    private TlsWords() {}

    /** The type with its prefix; "" for "". */
    public static String full(String type) {
        return type.isEmpty() || type.indexOf('/') >= 0 ? type : "tls/" + type;
    }

    /** The type's full name. An unknown type is an error; a policy of another library is reported. */
    public static String checkedType(String type, Values values) {
        String full = full(type);
        if (!full.isEmpty() && !TYPES.contains(full)) {
            values.error("TLSType=" + type + " is not part of this version; there is " + String.join(", ", TYPES));
        }
        return full;
    }

    /** Returns the parameters as they are. */
    public static String checkedParameters(String parameters, Values values) {
        for (Map.Entry<String, String> word : Values.parameters(parameters).entrySet()) {
            String name = word.getKey();
            if (name.equals(POLICY)) {
                values.warning("TLSParameters=" + POLICY
                        + " has no effect: connections are TLS 1.3 or 1.2 with the ciphers of the Java runtime");
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
        for (TlsRole role : TlsRole.values()) {
            String start = role.name().toLowerCase(Locale.ROOT) + "_cert";
            if (name.equals(start + "_file") || name.equals(start + "_key_file")) {
                return true;
            }
        }
        return name.equals("ca_cert_file");
    }
}
