package dev.muster.config.sister;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.CertmgrWords;
import dev.muster.config.key.Key;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How nodes come to their certificates: CertmgrType and CertmgrParameters.
 *
 * @param on CertmgrType=certmgr/script
 * @param renewalMinutes after which a node asks for a new certificate
 * @param scripts programs by their word, without {@code _script}
 * @param singleUse a token that scontrol gave a node counts once
 */
public record CertmgrConf(boolean on, int renewalMinutes, Map<String, String> scripts, boolean singleUse) {
    public static final CertmgrConf NONE = new CertmgrConf(false, 0, Map.of(), false);

    public static CertmgrConf of(SlurmConf conf) {
        if (conf.text(Key.CERTMGR_TYPE).isEmpty()) {
            return NONE;
        }
        Map<String, String> words = conf.parameters(Key.CERTMGR_PARAMETERS);
        Map<String, String> scripts = new TreeMap<>();
        words.forEach((name, path) -> {
            if (name.endsWith(CertmgrWords.END)) {
                scripts.put(name.substring(0, name.length() - CertmgrWords.END.length()), path);
            }
        });
        int renewalMinutes =
                CertmgrWords.minutes(words.getOrDefault(CertmgrWords.RENEWAL, "" + CertmgrWords.RENEWAL_MIN));
        return new CertmgrConf(true, renewalMinutes, Map.copyOf(scripts), words.containsKey(CertmgrWords.SINGLE));
    }

    /** Which of these scripts are not named. */
    public List<String> missing(String... names) {
        List<String> out = new ArrayList<>();
        for (String name : names) {
            if (!scripts.containsKey(name)) {
                out.add(name + CertmgrWords.END);
            }
        }
        return out;
    }
}
