package dev.muster.config;

import dev.muster.config.file.SisterFiles;
import dev.muster.config.key.ControllerWords;
import dev.muster.config.key.Key;
import dev.muster.config.sister.AcctGatherConf;
import dev.muster.config.sister.CertmgrConf;
import dev.muster.config.sister.CgroupConf;
import dev.muster.config.sister.MpiConf;
import dev.muster.config.sister.OciConf;
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Settings that are given and have no effect: the daemons log a sentence for each. */
public final class IgnoredSettings {
    private static final String LUSTRE = "acct_gather_filesystem/lustre";
    private static final String SYSFS = "acct_gather_interconnect/sysfs";
    private static final String[][] UNREAD = {
        {"plugstack.conf", "SPANK plugins are shared objects of Slurm and are not loaded"},
        {"knl.conf", "node features of KNL processors are not part of this version"},
        {"scrun.lua", "scrun is not part of this version"},
        {"rpc_queue.yaml", "requests have no queues by kind; rl_enable bounds those of each user"},
    };

    /** One line of the file may name ten thousand nodes. */
    private static final int SENTENCES_MAX = 50;

    private IgnoredSettings() {}

    /** A sentence for every file that is there and has no effect: the daemons log them. */
    public static List<String> unread(SlurmConf conf) {
        List<String> found = new ArrayList<>();
        for (String[] file : UNREAD) {
            File candidate = conf.sister(file[0]);
            if (candidate.exists()) {
                found.add(candidate + " has no effect: " + file[1]);
            }
        }
        return List.copyOf(found);
    }

    /** A sentence for every key that is given and has no effect. */
    public static List<String> inertKeys(SlurmConf conf) {
        List<String> found = new ArrayList<>();
        for (Key key : Key.values()) {
            if (conf.given(key) && !key.honoured() && !harmless(conf, key)) {
                found.add(key.slurmName() + " has no effect: " + key.whyInert());
            }
        }
        return List.copyOf(found);
    }

    private static final String[][] UNKEPT_WORDS = {
        {"BcastParameters", "Compression", "sbcast does not compress"},
        {"CommunicationParameters", "block_null_hash", "every request is authenticated whole"},
        {"CommunicationParameters", "CheckGhalQuiesce", "there is no such network here"},
        {"CommunicationParameters", "DisableIPv4", "daemons listen on both families of addresses"},
        {"CommunicationParameters", "getnameinfo_cache_timeout", "names of hosts are told by those who ask"},
        {
            "CommunicationParameters",
            "host_unreach_retry_count",
            "a connection that is refused is tried again in any case"
        },
        {"CommunicationParameters", "keepaliveinterval", "what is sent again after a break does not depend on it"},
        {"CommunicationParameters", "keepaliveprobes", "what is sent again after a break does not depend on it"},
        {"CommunicationParameters", "keepalivetime", "what is sent again after a break does not depend on it"},
        {"LaunchParameters", "batch_step_set_cpu_freq", "CPU frequency control is not part of this version"},
        {"LaunchParameters", "cray_net_exclusive", "there is no such network here"},
        {"LaunchParameters", "disable_send_gids", "groups always come with the job"},
        {"LaunchParameters", "enable_nss_slurm", "there is no NSS module"},
        {"LaunchParameters", "interactive_step_set_cpu_freq", "steps of srun alone have frequencies of their own"},
        {"LaunchParameters", "lustre_no_flush", "there is no such flush"},
        {"LaunchParameters", "mpir_use_nodeaddr", "there is no MPIR interface"},
        {"LaunchParameters", "slurmstepd_memlock", "only slurmd -M locks memory"},
        {"LaunchParameters", "slurmstepd_memlock_all", "only slurmd -M locks memory"},
        {"LaunchParameters", "ulimit_pam_adopt", "pam_slurm_adopt is not part of this version"},
        {"SlurmdParameters", "contain_spank", "SPANK plugins are shared objects of Slurm and are not loaded"},
        {"TopologyParam", "Dragonfly", "nodes are chosen below the lowest switch that has enough"},
        {"TopologyParam", "RoutePart", "messages go to each node directly"},
        {"TopologyParam", "RouteTree", "messages go to each node directly"},
        {"TopologyParam", "TopoMaxSizeUnroll", "there is no such search"},
        {"PrivateData", "cloud", "nodes without power are shown to everybody"},
        {"PrivateData", "accounts", "the words accounts, events and users belong into slurmdbd.conf"},
        {"PrivateData", "events", "the words accounts, events and users belong into slurmdbd.conf"},
        {"PrivateData", "users", "the words accounts, events and users belong into slurmdbd.conf"},
        {"TaskPluginParam", "slurmdoffspec", "slurmd is not bound to specialised cores"},
        {"TaskPluginParam", "slurmdspecoverride", "specialised cores are those of slurm.conf"}
    };

    /** A sentence for every word of a list that is given and has no effect. */
    public static List<String> inertWords(SlurmConf conf) {
        List<String> found = new ArrayList<>();
        for (String[] word : Stream.concat(Arrays.stream(UNKEPT_WORDS), ControllerWords.unkept())
                .toList()) {
            for (Key key : Key.values()) {
                if (key.slurmName().equals(word[0]) && hasWord(conf, key, word[1])) {
                    found.add(word[0] + "=" + word[1] + " has no effect: " + word[2]);
                }
            }
        }
        inertNodeParameters(conf, found);
        for (String[] word : new String[][] {{"ttl", "sessions are renewed each half minute"}}) {
            if (conf.authInfo().containsKey(word[0])) {
                found.add("AuthInfo=" + word[0] + " has no effect: " + word[1]);
            }
        }
        if (CertmgrConf.of(conf).on() && !TlsPlaces.of(conf).on()) {
            found.add("CertmgrType has no effect: TLSType does not ask for TLS");
        }
        if (conf.authInfo().containsKey("use_client_ids")
                && !AuthPlaces.of(conf).clientIds()) {
            found.add("AuthInfo=use_client_ids has no effect: munge says who callers are by their numbers alone");
        }
        inertSisterWords(conf, found);
        return List.copyOf(found);
    }

    private static void inertNodeParameters(SlurmConf conf, List<String> found) {
        for (NodeConf node : conf.nodes()) {
            for (String word : node.parameters().split(",")) {
                if (!word.isBlank()
                        && !word.strip().equalsIgnoreCase("config_overrides")
                        && found.size() < SENTENCES_MAX) {
                    found.add("NodeName=" + node.name() + ": Parameters=" + word.strip()
                            + " has no effect in this version");
                }
            }
        }
    }

    private static boolean hasWord(SlurmConf conf, Key key, String word) {
        return conf.has(key, word) || conf.parameters(key).containsKey(word.toLowerCase(Locale.ROOT));
    }

    /** Adds sentences about the files beside slurm.conf. */
    private static void inertSisterWords(SlurmConf conf, List<String> found) {
        meters(conf, found);
        AcctGatherConf.read(conf.sister("acct_gather.conf"), new ArrayList<>())
                .without()
                .forEach(name -> found.add(
                        "acct_gather.conf: " + name + " has no effect: what it is for is not part of this version"));
        CgroupConf.read(conf.sister(SisterFiles.CGROUP), new ArrayList<>())
                .without()
                .forEach(name ->
                        found.add("cgroup.conf: " + name + " has no effect: control groups are made without systemd"));
        MpiConf.read(conf.sister(SisterFiles.MPI), new ArrayList<>())
                .without()
                .forEach(name -> found.add(
                        "mpi.conf: " + name + " has no effect: PMIx servers reach each other over the nodes' slurmds"));
        OciConf.read(conf.sister("oci.conf"), new ArrayList<>())
                .without()
                .forEach(name -> found.add("oci.conf: " + name
                        + " has no effect: containers have no log of their own, and there is no scrun"));
    }

    private static void meters(SlurmConf conf, List<String> found) {
        Key[] keys = {Key.ACCT_GATHER_ENERGY_TYPE, Key.ACCT_GATHER_INTERCONNECT_TYPE, Key.ACCT_GATHER_FILESYSTEM_TYPE};
        List<List<String>> known = List.of(
                List.of("acct_gather_energy/rapl", "acct_gather_energy/ipmi", "acct_gather_energy/gpu"),
                List.of(SYSFS),
                List.of(LUSTRE));
        for (int i = 0; i < keys.length; i++) {
            if (conf.given(keys[i])
                    && !harmless(conf, keys[i])
                    && !known.get(i).contains(conf.text(keys[i]).toLowerCase(Locale.ROOT))) {
                found.add(keys[i].slurmName() + "=" + conf.text(keys[i]) + " has no effect: part of this version are "
                        + String.join(", ", known.get(i)));
            }
        }
        if (conf.text(Key.ACCT_GATHER_INTERCONNECT_TYPE).equalsIgnoreCase(SYSFS)
                && !conf.has(Key.ACCOUNTING_STORAGE_TRES, "ic/sysfs")) {
            found.add("AcctGatherInterconnectType has no effect: AccountingStorageTRES does not have ic/sysfs");
        }
        if (conf.text(Key.ACCT_GATHER_FILESYSTEM_TYPE).equalsIgnoreCase(LUSTRE)
                && !conf.has(Key.ACCOUNTING_STORAGE_TRES, "fs/lustre")) {
            found.add("AcctGatherFilesystemType has no effect but on time series: AccountingStorageTRES does "
                    + "not have fs/lustre");
        }
    }

    /** A value that asks for nothing needs no remark. */
    private static boolean harmless(SlurmConf conf, Key key) {
        String value = conf.text(key);
        return value.equals(key.fallback())
                || value.equalsIgnoreCase("none")
                || value.endsWith("/none")
                || value.equalsIgnoreCase("no")
                || value.equals("0");
    }
}
