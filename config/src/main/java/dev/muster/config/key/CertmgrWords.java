package dev.muster.config.key;

import java.util.List;
import java.util.Map;

/** Checks CertmgrType and CertmgrParameters. */
public final class CertmgrWords {
    private static final List<String> TYPES = List.of("certmgr/script");
    public static final String RENEWAL = "certificate_renewal_period";
    public static final String SINGLE = "single_use_tokens";
    public static final String END = "_script";
    public static final int RENEWAL_MIN = 1440;
    /** Scripts that a node runs with its name. */
    public static final String TOKEN = "get_node_token";

    public static final String REQUEST = "generate_csr";
    public static final String KEY = "get_node_cert_key";
    /** Scripts that slurmctld runs with the token and with the request. */
    public static final String VALIDATE = "validate_node";

    public static final String SIGN = "sign_csr";
    private static final List<String> NAMES = List.of(TOKEN, REQUEST, KEY, VALIDATE, SIGN);

    private CertmgrWords() {}

    /** Minutes of a renewal period; 0 if the text is no positive number. */
    public static int minutes(String text) {
        return text.matches("[1-9][0-9]{0,7}") ? Integer.parseInt(text) : 0;
    }

    /** Returns the type with its prefix. */
    public static String checkedType(String type, Values values) {
        String full = type.isEmpty() || type.indexOf('/') >= 0 ? type : "certmgr/" + type;
        if (!full.isEmpty() && !TYPES.contains(full)) {
            values.error("CertmgrType=" + type + " is not part of this version; there is " + String.join(", ", TYPES));
        }
        return full;
    }

    /** Returns the parameters as they are. */
    public static String checkedParameters(String parameters, Values values) {
        for (Map.Entry<String, String> word : Values.parameters(parameters).entrySet()) {
            String name = word.getKey();
            if (name.equals(RENEWAL)) {
                if (minutes(word.getValue()) == 0) {
                    values.error("Invalid certificate_renewal_period: " + word.getValue()
                            + ". Needs to be positive integer");
                }
            } else if (name.endsWith(END) && NAMES.contains(name.substring(0, name.length() - END.length()))) {
                if (!word.getValue().startsWith("/")) {
                    values.error("CertmgrParameters=" + name + " is no absolute path");
                }
            } else if (!name.equals(SINGLE)) {
                values.error("Invalid CertmgrParameters " + name);
            }
        }
        return parameters;
    }
}
