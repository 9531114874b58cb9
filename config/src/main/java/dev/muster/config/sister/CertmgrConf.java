package dev.muster.config.sister;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.config.key.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How nodes come to their certificates: CertmgrType and CertmgrParameters.
 *
 * @param on             CertmgrType=certmgr/script
 * @param renewalMinutes after which a node asks for a new certificate
 * @param scripts        programs by their word, without {@code _script}
 * @param singleUse      a token that scontrol gave a node counts once
 */
public record CertmgrConf(boolean on, int renewalMinutes, Map<String, String> scripts, boolean singleUse) {
    static final List<String> TYPES = List.of("certmgr/script");
    public static final CertmgrConf NONE = new CertmgrConf(false, 0, Map.of(), false);
    private static final String RENEWAL = "certificate_renewal_period";
    private static final String SINGLE = "single_use_tokens";
    private static final String END = "_script";
    private static final int RENEWAL_MIN = 1440;
    /** What a node runs, each with its name. */
    public static final String TOKEN = "get_node_token";
    public static final String REQUEST = "generate_csr";
    public static final String KEY = "get_node_cert_key";
    /** What slurmctld runs, with the token and with the request. */
    public static final String VALIDATE = "validate_node";
    public static final String SIGN = "sign_csr";
    private static final List<String> NAMES = List.of(TOKEN, REQUEST, KEY, VALIDATE, SIGN);

    public static CertmgrConf of(SlurmConf conf) {
        if (conf.text(Key.CERTMGR_TYPE).isEmpty()) {
            return NONE;
        }
        Map<String, String> words = conf.parameters(Key.CERTMGR_PARAMETERS);
        Map<String, String> scripts = new TreeMap<>();
        words.forEach((name, path) -> {
            if (name.endsWith(END)) {
                scripts.put(name.substring(0, name.length() - END.length()), path);
            }
        });
        return new CertmgrConf(true, minutes(words.getOrDefault(RENEWAL, "" + RENEWAL_MIN)), Map.copyOf(scripts), words.containsKey(SINGLE));
    }

    private static int minutes(String text) {
        return text.matches("[1-9][0-9]{0,7}") ? Integer.parseInt(text) : 0;
    }

    /** Which of these scripts are not named. */
    public List<String> missing(String... names) {
        List<String> out = new ArrayList<>();
        for (String name : names) {
            if (!scripts.containsKey(name)) {
                out.add(name + END);
            }
        }
        return out;
    }

    public static String checkedType(String type, Values values) {
        String full = type.isEmpty() || type.indexOf('/') >= 0 ? type : "certmgr/" + type;
        if (!full.isEmpty() && !TYPES.contains(full)) {
            values.error("CertmgrType=" + type + " is not part of this version; there is " + String.join(", ", TYPES));
        }
        return full;
    }

    public static String checkedParameters(String parameters, Values values) {
        for (Map.Entry<String, String> word : Values.parameters(parameters).entrySet()) {
            String name = word.getKey();
            if (name.equals(RENEWAL)) {
                if (minutes(word.getValue()) == 0) {
                    values.error("Invalid certificate_renewal_period: " + word.getValue() + ". Needs to be positive integer");
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
