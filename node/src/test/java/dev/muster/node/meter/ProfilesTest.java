package dev.muster.node.meter;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.muster.config.sister.ProfileConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.node.config.Settings;
import dev.muster.node.os.ProcessTable;
import dev.muster.node.spool.StatusFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProfilesTest {
    @TempDir
    private Path dir;

    private final List<String> seen = new CopyOnWriteArrayList<>();
    private Profiles.Meters meters = new Profiles.Meters(0, 0, 0, 0, 0, Lustre.NONE);

    private final ProfileSink sink = new ProfileSink() {
        @Override
        public void sample(Profiles.Plan plan, String series, String task, Map<String, Number> values, long epochS) {
            seen.add(series + " " + task + " " + values + " " + epochS);
        }

        @Override
        public void ended(Profiles.Plan plan) {
            seen.add("ended " + plan.jobId());
        }
    };

    private static ProfileConf conf(String host, String standard, int frequencyS, boolean grouped, String... tags) {
        return new ProfileConf(
                "influxdb",
                ProfileConf.series(standard),
                "",
                host,
                "my db",
                "",
                "u",
                "p",
                frequencyS,
                2,
                grouped,
                List.of(tags));
    }

    private static Launch launch(String profile, String frequency) {
        Json.Obj share = new Json.Obj()
                .put("jobId", 7L)
                .put("owner", new Json.Obj().put("uid", 1000L).put("user", "ann lee"));
        return Codec.bind(
                new Json.Obj()
                        .put("share", share)
                        .put("stepId", 3L)
                        .put("step", new Json.Obj().put("profile", profile).put("acctgFreq", frequency)),
                Launch.class);
    }

    /** What a step says counts before what the configuration says: series, and seconds between two samples of each. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ''          | ''                 | task | 30                 | task=30
        none        | ''                 | all  | task=5,energy=5    | ''
        all         | ''                 | none | task=5,energy=6,network=7 | task=5 energy=6 network=7
        all         | task=1,network=2   | none | 30,energy=6        | task=1 energy=6 network=2
        task,energy | 3                  | ''   | task=5,energy=0    | task=3
        lustre      | ''                 | ''   | task=5,filesystem=2 | filesystem=2
        """)
    void stepOptionsOverrideTheProfileDefaults(
            String asked, String frequency, String standard, String configured, String expected) {
        Profiles.Plan plan = Profiles.plan(
                launch(asked, frequency),
                new Settings.Profiling(conf("h:1", standard, 30, false), configured, List.of("lo"), true),
                true,
                0);
        List<String> found = new ArrayList<>();
        for (String series : List.of("task", "energy", "network", "filesystem")) {
            if (plan.seconds(series) > 0) {
                found.add(series + "=" + plan.seconds(series));
            }
        }
        assertThat(String.join(" ", found)).isEqualTo(expected);
    }

    private Profiles profiles(boolean rapl, String frequency) throws IOException {
        DaemonLog log = new DaemonLog("slurmd", dir + "/log", false, 5, "");
        Settings.Sensing how = new Settings.Sensing(
                rapl ? Settings.Energy.RAPL : Settings.Energy.NOT,
                0,
                List.of(),
                false,
                new Settings.Tasks(true, 30, false, false, false),
                new Settings.Profiling(conf("h:1", "all", 30, false), frequency, List.of("lo"), true));
        return new Profiles(null, how, false, List::of, () -> meters, sink, log);
    }

    /** Meters tell what came since the look before; the first is the beginning, and one more is made at the end. */
    @Test
    void meterSamplesAreDifferences() throws Exception {
        Path step = Files.createDirectory(dir.resolve("step"));
        Profiles all = profiles(true, "task=0,energy=10,network=10,filesystem=10");
        meters = new Profiles.Meters(5_000_000, 10, 20, 1 << 20, 2 << 20, new Lustre(1, 1 << 20, 0, 0));
        all.begin(step, launch("", ""));
        assertThat(seen).hasSize(3);
        meters = new Profiles.Meters(305_000_000, 40, 60, 4 << 20, 2 << 20, new Lustre(4, 3 << 20, 2, 1 << 19));
        ProcessTable.Running running = new ProcessTable.Running(
                7, 1, 3, new Identity(1, 1, "", "", List.of(), "", ""), step, 1, Optional.empty(), false);
        all.look(List.of(running), System.currentTimeMillis() + 1_000, System.nanoTime());
        assertThat(seen).hasSize(3);
        all.look(List.of(running), System.currentTimeMillis() + 10_000, System.nanoTime() + 10_000_000_000L);
        assertThat(seen.get(3)).startsWith("energy Energy {Power=30} ");
        assertThat(seen.get(4)).startsWith("network Network {PacketsIn=30, PacketsOut=40, InMB=3.0, OutMB=0.0} ");
        assertThat(seen.get(5)).startsWith("filesystem Filesystem {Reads=3, ReadMB=2.0, Writes=2, WriteMB=0.5} ");
        all.end(step);
        for (int i = 0; i < 100 && seen.stream().noneMatch(s -> s.startsWith("ended")); i++) {
            Thread.sleep(20);
        }
        assertThat(seen).hasSize(10).last().isEqualTo("ended 7");
    }

    /** A task of a step, whose shares are what it has used since the look before; here it is this process. */
    @Test
    void taskSamplesAreDifferences() throws Exception {
        Path step = Files.createDirectory(dir.resolve("step"));
        Profiles all = profiles(false, "task=5");
        all.begin(step, launch("task", ""));
        long me = ProcessHandle.current().pid();
        String status = "job 7\nstep 3\nattempt 1\nstepd 1\nstate running\ntask id=4 phase=running pid=" + me
                + " started=1.000000\nend\n";
        ProcessTable.Running running = new ProcessTable.Running(
                7,
                1,
                3,
                new Identity(1, 1, "", "", List.of(), "", ""),
                step,
                ProcessHandle.current().parent().orElseThrow().pid(),
                StatusFile.parse(status.getBytes(StandardCharsets.UTF_8)),
                false);
        all.look(List.of(running), 1_000_000, 0);
        assertThat(seen.getFirst())
                .matches("task 4 \\{CPUFrequency=0, CPUTime=0.0, CPUUtilization=0.0, RSS=[1-9][0-9]+, "
                        + "VMSize=[1-9][0-9]+, "
                        + "Pages=[0-9]+, ReadMB=0.0, WriteMB=0.0} 1000");
        byte[] much = new byte[3 << 20];
        Files.write(dir.resolve("much"), much);
        // its own time, not the clock's: a busy machine gives less of it
        java.lang.management.ThreadMXBean threads = java.lang.management.ManagementFactory.getThreadMXBean();
        long until = threads.getCurrentThreadCpuTime() + 300_000_000L;
        while (threads.getCurrentThreadCpuTime() < until) {
            Thread.onSpinWait();
        }
        all.look(List.of(running), 1_005_000, 5_000_000_000L);
        String second = seen.get(1);
        double cpu = Double.parseDouble(second.replaceAll(".*CPUTime=([0-9.]+),.*", "$1"));
        assertThat(cpu).isGreaterThan(0.1);
        assertThat(second).contains("CPUUtilization=" + 100 * cpu / 5);
        assertThat(Double.parseDouble(second.replaceAll(".*WriteMB=([0-9.]+).*", "$1")))
                .isGreaterThanOrEqualTo(3);
    }

    private static Map<String, Number> values() {
        Map<String, Number> out = new LinkedHashMap<>();
        out.put("RSS", 12L);
        out.put("CPUTime", 0.126);
        return out;
    }

    private static final Profiles.Plan PLAN =
            new Profiles.Plan(7, -5, "ann lee", 1000, 100, 1, 1, 0, List.of("task"), 1, 0, 0, 0, 0);

    @Test
    void samplesAreWrittenInTheLineProtocol() throws IOException {
        DaemonLog log = new DaemonLog("slurmd", dir + "/log", false, 5, "");
        assertThat(new InfluxSink(conf("h:1", "", 30, false), "c", "n1", log).lines(PLAN, "task", "0", values(), 99))
                .containsExactly(
                        "RSS,job=7,step=-5,task=0,host=n1 value=12 99",
                        "CPUTime,job=7,step=-5,task=0,host=n1 value=0.13 99");
        assertThat(new InfluxSink(conf("h:1", "", 30, true, "cluster", "uid", "user"), "c", "n1", log)
                        .lines(PLAN, "task", "0", values(), 99))
                .containsExactly(
                        "task,job=7,step=-5,task=0,host=n1,cluster=c,uid=1000,user=ann\\ lee RSS=12,CPUTime=0.13 99");
    }

    /**
     * Each sample is sent at once with a frequency of 0, else when the step is over; a server's refusal is logged once.
     */
    @Test
    void samplesAreSentAtOnceOrAtTheStepsEnd() throws IOException, InterruptedException {
        List<String> heard = new CopyOnWriteArrayList<>();
        int[] answer = {204};
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", e -> {
            heard.add(e.getRequestURI() + " " + e.getRequestHeaders().getFirst("Authorization") + " "
                    + new String(e.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            e.sendResponseHeaders(answer[0], -1);
            e.close();
        });
        server.start();
        try {
            DaemonLog log = new DaemonLog("slurmd", dir + "/log", false, 5, "");
            InfluxSink later =
                    new InfluxSink(conf("127.0.0.1:" + server.getAddress().getPort(), "", 30, false), "c", "n1", log);
            later.sample(PLAN, "task", "0", values(), 99);
            assertThat(heard).isEmpty();
            later.ended(PLAN);
            assertThat(heard)
                    .containsExactly(
                            "/write?db=my+db&precision=s Basic dTpw RSS,job=7,step=-5,task=0,host=n1 value=12 99\n"
                                    + "CPUTime,job=7,step=-5,task=0,host=n1 value=0.13 99\n");
            InfluxSink atOnce =
                    new InfluxSink(conf("127.0.0.1:" + server.getAddress().getPort(), "", 0, true), "c", "n1", log);
            atOnce.sample(PLAN, "task", "0", values(), 99);
            for (int i = 0; i < 100 && heard.size() < 2; i++) {
                Thread.sleep(20);
            }
            assertThat(heard).hasSize(2);
            answer[0] = 500;
            for (int i = 0; i < 2; i++) {
                later.sample(PLAN, "task", "0", values(), 99);
                later.ended(PLAN);
            }
            assertThat(Files.readString(dir.resolve("log")).split("the server answers 500", -1))
                    .hasSize(2);
        } finally {
            server.stop(0);
        }
    }

    @Test
    void profileWordsNameTheirSeries() {
        assertThat(ProfileConf.series("Energy,Lustre")).isEqualTo(Set.of("energy", "filesystem"));
        assertThat(ProfileConf.series("ALL")).hasSize(4);
        assertThat(ProfileConf.series("None")).isEmpty();
    }
}
