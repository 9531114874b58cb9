package dev.muster.config;

import dev.muster.config.key.Key;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the proof of a caller's identity comes from, as the configuration says.
 *
 * @param munge AuthType=auth/munge
 * @param mungeSocket AuthInfo=socket=…, "" for munge's default
 * @param clientIds AuthInfo=use_client_ids: the daemon that vouches for a caller names its user
 * @param keyFiles where the cluster's key may be, best first; the last is where a single machine's is made
 * @param sackSockets where a daemon of this host may vouch for its callers
 */
public record AuthPlaces(
        boolean munge, String mungeSocket, boolean clientIds, List<File> keyFiles, List<String> sackSockets) {
    public static AuthPlaces of(SlurmConf conf) {
        boolean munge = conf.authType().equals("auth/munge");
        List<File> keys = new ArrayList<>();
        String named = conf.authInfo().get("key");
        if (named != null && !munge) {
            keys.add(new File(named));
        }
        keys.add(conf.sister("slurm.jwks"));
        keys.add(conf.sister("slurm.key"));
        keys.add(new File(conf.stateSaveLocation(), "slurm.key"));
        List<String> sockets = new ArrayList<>();
        String name = "sack-" + conf.clusterName() + ".socket";
        add(sockets, conf.slurmctldPidFile(), name);
        add(sockets, conf.text(Key.SLURMD_PID_FILE), name);
        return new AuthPlaces(
                munge,
                conf.authInfo().getOrDefault("socket", ""),
                !munge && conf.authInfo().containsKey("use_client_ids"),
                List.copyOf(keys),
                List.copyOf(sockets));
    }

    private static void add(List<String> sockets, String pidFile, String name) {
        int slash = pidFile.lastIndexOf('/');
        String socket = (slash < 0 ? "." : pidFile.substring(0, slash)) + "/" + name;
        if (!sockets.contains(socket) && socket.indexOf('%') < 0) {
            sockets.add(socket);
        }
    }
}
