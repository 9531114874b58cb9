package dev.muster.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.daemon.DaemonLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** shows: SlurmctldParameters */
class RateLimitTest {
    @TempDir
    Path dir;

    private final AtomicLong second = new AtomicLong(1000);
    private final AtomicReference<SlurmConf> conf = new AtomicReference<>();

    private SlurmConf.Parsed read(String parameters) throws IOException {
        Path file = dir.resolve("slurm.conf");
        Files.writeString(
                file,
                "ClusterName=c\nSlurmctldHost=h\nNodeName=n1\nPartitionName=p Nodes=n1\nSlurmctldParameters="
                        + parameters + "\n");
        return SlurmConf.read(file.toFile());
    }

    private RateLimit limit(String parameters) throws IOException {
        conf.set(read(parameters) instanceof SlurmConf.Parsed.Ok ok ? ok.conf() : null);
        return new RateLimit(
                conf::get,
                42,
                second::get,
                new DaemonLog("test", dir.resolve("log").toString(), false, 3, "iso8601_ms", -1));
    }

    private static int answered(RateLimit limit, int uid, int asked) {
        int n = 0;
        for (int i = 0; i < asked; i++) {
            n += limit.takes(uid, "QueryJobs") ? 1 : 0;
        }
        return n;
    }

    @Test
    void userBeyondTheRateLimitIsToldToBackOff() throws IOException {
        assertThat(answered(limit("enable_configless"), 7, 1000)).as("off").isEqualTo(1000);
        RateLimit limit = limit("rl_enable");
        assertThat(answered(limit, 7, 1000)).as("a full bucket").isEqualTo(30);
        assertThat(answered(limit, 8, 5)).as("another user").isEqualTo(5);
        assertThat(answered(limit, 0, 1000) + answered(limit, 42, 1000))
                .as("root and SlurmUser")
                .isEqualTo(2000);
        second.addAndGet(3);
        assertThat(answered(limit, 7, 1000)).as("after three periods").isEqualTo(6);
        second.addAndGet(3600);
        assertThat(answered(limit, 7, 1000)).as("never more than a bucket").isEqualTo(30);
    }

    @Test
    void rateLimitFollowsItsConfiguredParameters() throws IOException {
        RateLimit limit =
                limit("rl_enable,rl_bucket_size=4,rl_refill_rate=3,rl_refill_period=10,rl_table_size=2,rl_log_freq=5");
        assertThat(answered(limit, 7, 50)).isEqualTo(4);
        second.addAndGet(9);
        assertThat(answered(limit, 7, 50)).isEqualTo(0);
        second.addAndGet(1);
        assertThat(answered(limit, 7, 50)).isEqualTo(3);
        assertThat(Files.readString(dir.resolve("log")).split("telling to back off", -1))
                .as("no line within five seconds of another")
                .hasSize(3);
        assertThat(Files.readString(dir.resolve("log"))).contains("RPC rate limit exceeded by uid 7 with QueryJobs");
        // a third user takes the place of the user that has not asked for longest
        assertThat(answered(limit, 8, 50) + answered(limit, 9, 50) + answered(limit, 7, 50))
                .isEqualTo(12);
        conf.set(read("x") instanceof SlurmConf.Parsed.Ok ok ? ok.conf() : null);
        assertThat(answered(limit, 7, 50)).as("switched off without a restart").isEqualTo(50);
    }

    @Test
    void invalidRateLimitNumberIsRefused() throws IOException {
        for (String bad : new String[] {
            "rl_bucket_size=0", "rl_refill_rate=x", "rl_refill_period", "rl_table_size=-1", "rl_log_freq=-2"
        }) {
            assertThat(read("rl_enable," + bad)).as(bad).isInstanceOf(SlurmConf.Parsed.Invalid.class);
        }
        assertThat(read("rl_enable,rl_log_freq=-1,rl_log_freq=0,other=x")).isInstanceOf(SlurmConf.Parsed.Ok.class);
    }
}
