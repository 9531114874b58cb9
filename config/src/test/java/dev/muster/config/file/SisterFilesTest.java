package dev.muster.config.file;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.Controller;
import dev.muster.config.IgnoredSettings;
import dev.muster.config.SlurmConf;
import dev.muster.config.SlurmdbdConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.sister.AcctGatherConf;
import dev.muster.config.sister.CgroupConf;
import dev.muster.config.sister.GresConf;
import dev.muster.config.sister.TopologyConf;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SisterFilesTest {
    @TempDir
    private Path dir;

    private final List<ConfigError> errors = new ArrayList<>();

    private File file(String name, String text) throws IOException {
        return Files.writeString(dir.resolve(name), text).toFile();
    }

    private List<String> messages() {
        return errors.stream().map(e -> e.message().replace(dir + "/", "")).toList();
    }

    @Test
    void gresConfIsRead() throws IOException {
        GresConf conf = GresConf.read(file("gres.conf", """
            AutoDetect=off
            # two kinds of device
            NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-3] Cores=0-15 Links=-1,0,1,2
            Name=gpu Type=k80 Count=2 Flags=CountOnly,nvidia_gpu_env NodeName=n3
            Name=bandwidth Count=4G
            NodeName=n4 AutoDetect=nvml
            Name=tty File=/dev/tty1,/dev/tty[3-4]
            Name=nic NodeName=n5 MultipleFiles=/dev/a[0-1]
            """), errors);
        assertThat(messages()).isEmpty();
        assertThat(conf.autoDetect()).isEqualTo("off");
        assertThat(conf.forNode("n2")).extracting(GresConf.Device::name).containsExactly("gpu", "bandwidth", "tty");
        GresConf.Device gpu = conf.forNode("n2").getFirst();
        assertThat(gpu.files()).containsExactly("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia2", "/dev/nvidia3");
        assertThat(gpu.count()).isEqualTo(4);
        assertThat(gpu.cores()).isEqualTo("0-15");
        assertThat(conf.forNode("n3").getFirst().flags()).containsExactly("CountOnly", "nvidia_gpu_env");
        assertThat(conf.forNode("n3").get(1).count()).isEqualTo(4L << 30);
        assertThat(conf.forNode("n9").get(1).files()).containsExactly("/dev/tty1", "/dev/tty3", "/dev/tty4");
        assertThat(conf.forNode("n4").get(1).autoDetect()).isEqualTo("nvml");
        GresConf.Device nic = conf.forNode("n5").getLast();
        assertThat(nic.multiple()).containsExactly("/dev/a0", "/dev/a1");
        assertThat(nic.count()).isEqualTo(1);
    }

    @Test
    void invalidGresConfIsReported() throws IOException {
        GresConf.read(file("gres.conf", """
            Name=gpu Foo=1
            Name=gpu Count=x
            Name=gpu Count=3 File=/dev/nvidia[0-1]
            Type=a100
            Name=gpu Flags=zzz
            AutoDetect=magic
            """), errors);
        assertThat(messages())
                .startsWith(
                        "gres.conf:1: Parsing error at unrecognized key: Foo",
                        "gres.conf:2: Invalid GRES Count value: x",
                        "gres.conf:3: Invalid GRES record for gpu, count does not match File value",
                        "gres.conf:4: Invalid GRES data, no type name (Type=a100)",
                        "gres.conf:5: Invalid GRES flag: zzz",
                        "gres.conf:6: Invalid AutoDetect: magic");
    }

    @Test
    void cgroupConfIsRead() throws IOException {
        CgroupConf none = CgroupConf.read(dir.resolve("absent").toFile(), errors);
        assertThat(none.plugin()).isEqualTo("autodetect");
        assertThat(none.constrainCores()).isFalse();
        CgroupConf conf = CgroupConf.read(file("cgroup.conf", """
            CgroupAutomount=yes
            CgroupPlugin=cgroup/v2
            ConstrainCores=yes
            constrainramspace=YES
            AllowedRAMSpace=98.5
            """), errors);
        assertThat(messages()).isEmpty();
        assertThat(conf.constrainCores()).isTrue();
        assertThat(conf.constrainRamSpace()).isTrue();
        assertThat(conf.allowedRamPercent()).isEqualTo(98.5);
        assertThat(conf.show())
                .contains(
                        "Cgroup Support Configuration:",
                        "AllowedRAMSpace         = 98.5%",
                        "CgroupPlugin            = cgroup/v2",
                        "MemorySwappiness        = (null)");
        CgroupConf.read(file("bad.conf", "ConstrainCores=maybe\nNope=1\nCgroupPlugin=cgroup/v9\n"), errors);
        assertThat(messages())
                .containsExactly(
                        "bad.conf:1: \"maybe\" is not a valid option for \"ConstrainCores\"",
                        "bad.conf:2: _parse_next_key: Parsing error at unrecognized key: Nope",
                        "bad.conf: Invalid CgroupPlugin cgroup/v9");
    }

    @Test
    void slurmdbdParametersAreReadOrReported() throws IOException {
        SlurmdbdConf conf = SlurmdbdConf.read(
                file(
                        "slurmdbd.conf",
                        "Parameters=PreserveCaseAll\n" + "StorageParameters=SSL_CA=/ca,token_duration=5\n"),
                errors);
        assertThat(messages()).isEmpty();
        assertThat(conf.hasParameter("preservecaseall")).isTrue();
        assertThat(conf.tokenDurationS()).isEqualTo(5);
        SlurmdbdConf.read(
                file(
                        "slurmdbd.conf",
                        "ArchiveJobs=yes\nArchiveJobEnv=no\nPurgeJobEnvAfter=1day\nPurgeJobScriptAfter=1day\n"),
                errors);
        assertThat(messages())
                .containsExactly("slurmdbd.conf: PurgeJobScriptAfter needs ArchiveJobScript=no: this version does not "
                        + "archive them");
        errors.clear();
        SlurmdbdConf.read(
                file(
                        "slurmdbd.conf",
                        "Parameters=PreserveCaseAll,PreserveAll\n"
                                + "StorageParameters=SSL_CA=/ca,SSL_ROOT=/ca,token_duration=x\n"),
                errors);
        assertThat(messages())
                .containsExactly(
                        "slurmdbd.conf: Bad StorageParameters: SSL_ROOT=/ca",
                        "slurmdbd.conf: Bad StorageParameters: token_duration=x",
                        "slurmdbd.conf: Bad Parameters: PreserveAll");
    }

    @Test
    void slurmdbdConfIsRead() throws IOException {
        SlurmdbdConf conf = SlurmdbdConf.read(file("slurmdbd.conf", """
            AuthType=auth/munge
            DbdHost=righost
            DbdAddr=127.0.0.1
            DbdPort=6819
            SlurmUser=root
            StorageType=accounting_storage/mysql
            StorageLoc=slurm_acct
            PurgeJobAfter=12months
            """), errors);
        assertThat(messages()).isEmpty();
        assertThat(conf.dbdAddress()).isEqualTo("127.0.0.1");
        assertThat(conf.dbdPort()).isEqualTo(6819);
        assertThat(conf.text("MessageTimeout")).isEqualTo("10");
        SlurmdbdConf.read(file("slurmdbd.conf", "DbdPort=x\nFoo=1\n"), errors);
        assertThat(messages()).hasSize(2);
    }

    @Test
    void acctGatherConfIsRead() throws IOException {
        AcctGatherConf conf = AcctGatherConf.read(file("acct_gather.conf", """
            # sensors
            sysfsinterfaces=eth0,ib0
            EnergyIPMIFrequency=10
            EnergyIPMIUsername=me
            EnergyIPMIPowerSensors=Socket0=16;Node=16,19
            """), errors);
        assertThat(messages()).isEmpty();
        assertThat(conf)
                .isEqualTo(new AcctGatherConf(
                        List.of("eth0", "ib0"), 10, "16,19", List.of("EnergyIPMIUsername"), Map.of()));
        assertThat(AcctGatherConf.read(dir.resolve("absent").toFile(), errors).interfaces())
                .isEmpty();
        AcctGatherConf.read(
                file(
                        "acct_gather.conf",
                        "Foo=1\nSysfsInterfaces=../x\nEnergyIPMIFrequency=often\n"
                                + "EnergyIPMIPowerSensors=Socket0=1\n"),
                errors);
        assertThat(messages())
                .containsExactly(
                        "acct_gather.conf:1: Parsing error at unrecognized key: Foo",
                        "acct_gather.conf:2: Invalid interface name in SysfsInterfaces: ../x",
                        "acct_gather.conf:3: EnergyIPMIFrequency is a number of seconds: often",
                        "acct_gather.conf:4: EnergyIPMIPowerSensors needs Node= and numbers of sensors, DCMI "
                                + "or DCMI_ENHANCED: Socket0=1");
    }

    @Test
    void topologyConfIsRead() throws IOException {
        TopologyConf conf = TopologyConf.read(file("topology.conf", """
            SwitchName=s0 Nodes=n[0-5]
            SwitchName=s2 Switches=s[0-1] LinkSpeed=5
            BlockName=b1 Nodes=n[1-2]
            BlockSizes=2,4
            """), errors);
        assertThat(messages()).isEmpty();
        assertThat(conf.switches().getFirst().nodes()).hasSize(6);
        assertThat(conf.switches().get(1).switches()).containsExactly("s0", "s1");
        assertThat(conf.blocks().getFirst().nodes()).containsExactly("n1", "n2");
        assertThat(conf.blockSizes()).containsExactly(2, 4);
        TopologyConf.read(file("topology.conf", "SwitchName=s0\n"), errors);
        assertThat(messages()).containsExactly("topology.conf:1: switch s0 has neither children nor nodes");
    }

    @Test
    void exitCodesAreNumbersAndRanges() throws IOException {
        for (String[] row : new String[][] {
            {"1-9,18", "ok"}, {"0", "ok"}, {"x", "bad"}, {"9-1", "bad"}, {"256", "bad"}, {"1,,2", "bad"}
        }) {
            file("slurm.conf", "ClusterName=c\nSlurmctldHost=h\nRequeueExit=" + row[0] + "\n");
            assertThat(SlurmConf.read(dir.resolve("slurm.conf").toFile()) instanceof SlurmConf.Parsed.Ok)
                    .as(row[0])
                    .isEqualTo(row[1].equals("ok"));
        }
    }

    @ParameterizedTest
    @CsvSource({"Core, cores", "threads, threads", "LDOM, ldoms", "none, none", "sideways, "})
    void cpuBindKeysAcceptTheirWords(String said, String word) throws IOException {
        file(
                "slurm.conf",
                "ClusterName=c\nSlurmctldHost=h\nNodeName=n1 CpuBind=" + said + "\nPartitionName=p Nodes=n1 CpuBind="
                        + said + "\n");
        SlurmConf.Parsed read = SlurmConf.read(dir.resolve("slurm.conf").toFile());
        if (word == null) {
            assertThat(((SlurmConf.Parsed.Invalid) read).errors())
                    .hasSize(2)
                    .first()
                    .asString()
                    .contains("Invalid CpuBind value sideways");
            return;
        }
        SlurmConf conf = ((SlurmConf.Parsed.Ok) read).conf();
        assertThat(conf.nodes().getFirst().cpuBind() + " "
                        + conf.partitions().getFirst().cpuBind())
                .isEqualTo(word + " " + word);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            AuthType=auth/munge,AuthInfo=use_client_ids ~ AuthInfo=use_client_ids has no effect: munge says who callers are by their numbers alone
            AuthType=auth/slurm,AuthInfo=use_client_ids ~
            CertmgrType=certmgr/script ~ CertmgrType has no effect: TLSType does not ask for TLS
            CertmgrType=certmgr/script,TLSType=tls/s2n ~
            SlurmctldParameters=max_powered_nodes=3 ~
            SlurmctldParameters=max_dbd_msg_action=exit ~
            SlurmctldParameters=max_dbd_msg_action=discard ~
            SlurmctldParameters=power_save_interval=3 ~ SlurmctldParameters=power_save_interval has no effect: nodes are looked at each second
            SlurmctldParameters=no_quick_restart ~ SlurmctldParameters=no_quick_restart has no effect: one that runs is never ended by one that starts
            MpiParams=disable_slurm_hydra_bootstrap ~
            TLSType=tls/s2n,TLSParameters=sackd_cert_file=/a ~ TLSParameters=sackd_cert_file has no effect: sackd listens on no port
            """)
    void keyWithoutEffectBesideOtherKeysIsReported(String keys, String said) throws IOException {
        file("slurm.conf", "ClusterName=c\nSlurmctldHost=h\n" + keys.replace(",", "\n") + "\n");
        SlurmConf conf =
                ((SlurmConf.Parsed.Ok) SlurmConf.read(dir.resolve("slurm.conf").toFile())).conf();
        List<String> all = new ArrayList<>(IgnoredSettings.inertWords(conf));
        conf.warnings().forEach(w -> all.add(w.message().replaceFirst("^.*:\\d+: ", "")));
        assertThat(all).isEqualTo(said == null ? List.of() : List.of(said));
    }

    @Test
    void aValueThatCanOnlyBeMeantOtherwiseIsAnError() throws IOException {
        for (String word : List.of(
                "max_powered_nodes=x",
                "max_powered_nodes",
                "node_reg_mem_percent=101",
                "node_reg_mem_percent=-1",
                "max_dbd_msg_action=stop",
                "max_dbd_msg_action")) {
            file("slurm.conf", "ClusterName=c\nSlurmctldHost=h\nSlurmctldParameters=enable_configless," + word + "\n");
            assertThat(SlurmConf.read(dir.resolve("slurm.conf").toFile()))
                    .as(word)
                    .isInstanceOf(SlurmConf.Parsed.Invalid.class);
        }
    }

    @Test
    void keyWithoutEffectIsReported() throws IOException {
        file("plugstack.conf", "required /usr/lib/foo.so\n");
        file("slurm.conf", """
            ClusterName=c
            SlurmctldHost=h
            MpiDefault=none
            SwitchType=switch/none
            BurstBufferType=burst_buffer/lua
            FederationParameters=fed_display
            LaunchParameters=use_interactive_step,lustre_no_flush
            SlurmctldAddr=virtual
            AcctGatherEnergyType=acct_gather_energy/xcc
            AcctGatherInterconnectType=acct_gather_interconnect/sysfs
            NodeName=n[1-2] BcastAddr=b Parameters=config_overrides,l3cache_as_socket
            """);
        file("rpc_queue.yaml", "");
        file("cgroup.conf", "IgnoreSystemd=yes\nConstrainCores=yes\n");
        SlurmConf conf =
                ((SlurmConf.Parsed.Ok) SlurmConf.read(dir.resolve("slurm.conf").toFile())).conf();
        assertThat(IgnoredSettings.unread(conf))
                .containsExactly(
                        dir
                                + "/plugstack.conf has no effect: SPANK plugins are shared objects of Slurm and are "
                                + "not loaded",
                        dir
                                + "/rpc_queue.yaml has no effect: requests have no queues by kind; rl_enable bounds "
                                + "those of each user");
        assertThat(IgnoredSettings.inertKeys(conf))
                .containsExactly("FederationParameters has no effect: federation is not part of this version");
        assertThat(IgnoredSettings.inertWords(conf))
                .containsExactly(
                        "LaunchParameters=lustre_no_flush has no effect: there is no such flush",
                        "NodeName=n1: Parameters=l3cache_as_socket has no effect in this version",
                        "NodeName=n2: Parameters=l3cache_as_socket has no effect in this version",
                        "AcctGatherEnergyType=acct_gather_energy/xcc has no effect: part of this version are "
                                + "acct_gather_energy/rapl, acct_gather_energy/ipmi, "
                                + "acct_gather_energy/gpu",
                        "AcctGatherInterconnectType has no effect: AccountingStorageTRES does not have ic/sysfs",
                        "cgroup.conf: IgnoreSystemd has no effect: control groups are made without systemd");
        assertThat(conf.controllers().getFirst()).isEqualTo(new Controller("h", "virtual"));
    }
}
