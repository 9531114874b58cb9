package dev.muster.config;

import dev.muster.config.key.Key;
import dev.muster.config.key.TlsRole;
import dev.muster.config.key.TlsWords;
import dev.muster.config.key.Values;
import java.io.File;
import java.util.Locale;
import java.util.Map;

/**
 * Whether and with which files connections are encrypted: TLSType and TLSParameters of slurm.conf or slurmdbd.conf.
 *
 * @param on TLSType=tls/s2n
 * @param directory where files are that no word names: that of the configuration
 * @param parameters words of TLSParameters in lower case, with their values
 */
public record TlsPlaces(boolean on, String directory, Map<String, String> parameters) {
    public static TlsPlaces of(SlurmConf conf) {
        return of(
                conf.text(Key.TLS_TYPE),
                conf.text(Key.TLS_PARAMETERS),
                new File(conf.file()).getAbsoluteFile().getParent());
    }

    public static TlsPlaces of(SlurmdbdConf conf) {
        return of(
                conf.text("TLSType"),
                conf.text("TLSParameters"),
                new File(conf.path()).getAbsoluteFile().getParent());
    }

    /** @param type and parameters as written */
    public static TlsPlaces of(String type, String parameters, String directory) {
        String full = TlsWords.full(type);
        return new TlsPlaces(
                !full.isEmpty() && !full.equals(TlsWords.TYPES.getFirst()), directory, Values.parameters(parameters));
    }

    /** The authority that certificates must chain to. */
    public String authority() {
        return parameters.getOrDefault("ca_cert_file", directory + "/ca_cert.pem");
    }

    /** Whether the certificate authorities of the machine are trusted as well. */
    public boolean system() {
        return parameters.containsKey(TlsWords.SWITCHES.getFirst());
    }

    public String certificate(TlsRole role) {
        return file(role, "_cert");
    }

    public String key(TlsRole role) {
        return file(role, "_cert_key");
    }

    private String file(TlsRole role, String suffix) {
        String name = role.name().toLowerCase(Locale.ROOT) + suffix;
        return parameters.getOrDefault(name + "_file", directory + "/" + name + ".pem");
    }
}
