package dev.muster.accounting.dbd;

import dev.muster.config.SlurmConf;
import dev.muster.config.SlurmdbdConf;
import dev.muster.daemon.ClusterKey;
import dev.muster.daemon.Identities;
import dev.muster.daemon.KeyFile;
import dev.muster.daemon.TokenKey;
import dev.muster.transport.Audience;
import dev.muster.transport.KeySet;
import dev.muster.transport.Munge;
import dev.muster.transport.Verifier;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How slurmdbd knows its callers: by munge, or by the key that the clusters share with it. */
final class DbdAuth {
    private DbdAuth() {}

    /** @throws IOException if a key that is there is unfit */
    static Verifier verifier(SlurmdbdConf conf, File directory, Identities identities) throws IOException {
        boolean munge = conf.text("AuthType").equals("auth/munge");
        Optional<Munge> daemon = munge
                ? Optional.of(new Munge(conf.parameters("AuthInfo").getOrDefault("socket", "")))
                : Optional.empty();
        KeyFile<KeySet> keys = new KeyFile<>(places(conf, directory, munge), ClusterKey::read, KeySet.NONE);
        keys.check();
        // they are known from now on, also where SlurmUser may not read the file
        keys.get();
        boolean clientIds = !munge && conf.parameters("AuthInfo").containsKey("use_client_ids");
        return new Verifier(
                        keys,
                        "",
                        daemon,
                        TokenKey.tokens(
                                conf.text("AuthAltTypes"),
                                conf.parameters("AuthAltParameters"),
                                directory.getPath(),
                                identities),
                        clientIds ? identities::state : who -> {},
                        System::currentTimeMillis)
                .as(Audience.SLURMDBD);
    }

    private static List<File> places(SlurmdbdConf conf, File directory, boolean munge) {
        List<File> out = new ArrayList<>();
        String named = conf.parameters("AuthInfo").getOrDefault("key", "");
        if (!named.isEmpty() && !munge) {
            out.add(new File(named));
        }
        out.add(new File(directory, "slurm.jwks"));
        out.add(new File(directory, "slurm.key"));
        File slurmConf = new File(directory, "slurm.conf");
        if (slurmConf.isFile() && SlurmConf.read(slurmConf) instanceof SlurmConf.Parsed.Ok ok) {
            out.add(new File(ok.conf().stateSaveLocation(), "slurm.key"));
        }
        return out;
    }
}
