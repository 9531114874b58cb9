package dev.muster.accounting;

import dev.muster.config.SlurmConf;
import dev.muster.config.SlurmdbdConf;
import dev.muster.transport.Munge;
import dev.muster.transport.Verifier;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How slurmdbd knows its callers: by munge, or by the key that the clusters share with it. */
final class DbdAuth {
    private static final int KEY_BYTES_MIN = 17;

    private DbdAuth() {}

    /** @throws IOException if the key that AuthType asks for is missing or open to others */
    static Verifier verifier(SlurmdbdConf conf, File directory) throws IOException {
        boolean munge = conf.text("AuthType").equals("auth/munge");
        Optional<byte[]> key = key(conf, directory, munge);
        if (!munge && key.isEmpty()) {
            throw new IOException("no key for " + conf.text("AuthType") + ": looked for " + String.join(", ", places(conf, directory, munge).stream()
                    .map(File::getPath).toList()));
        }
        Optional<Munge> daemon = munge ? Optional.of(new Munge(info(conf, "socket"))) : Optional.empty();
        return new Verifier(key.orElse(new byte[0]), "", daemon, System::currentTimeMillis);
    }

    private static String info(SlurmdbdConf conf, String name) {
        for (String item : conf.text("AuthInfo").split(",")) {
            if (item.startsWith(name + "=")) {
                return item.substring(name.length() + 1);
            }
        }
        return "";
    }

    private static List<File> places(SlurmdbdConf conf, File directory, boolean munge) {
        List<File> out = new ArrayList<>();
        if (!info(conf, "key").isEmpty() && !munge) {
            out.add(new File(info(conf, "key")));
        }
        out.add(new File(directory, "slurm.key"));
        File slurmConf = new File(directory, "slurm.conf");
        if (slurmConf.isFile() && SlurmConf.read(slurmConf) instanceof SlurmConf.Parsed.Ok ok) {
            out.add(new File(ok.conf().stateSaveLocation(), "slurm.key"));
        }
        return out;
    }

    private static Optional<byte[]> key(SlurmdbdConf conf, File directory, boolean munge) throws IOException {
        for (File file : places(conf, directory, munge)) {
            if (file.isFile() && file.canRead()) {
                byte[] key = Files.readAllBytes(file.toPath());
                if (key.length < KEY_BYTES_MIN) {
                    throw new IOException(file + " is too short: at least " + KEY_BYTES_MIN + " bytes are needed");
                }
                return Optional.of(key);
            }
        }
        return Optional.empty();
    }
}
