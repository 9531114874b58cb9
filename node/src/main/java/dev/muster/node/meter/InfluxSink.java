package dev.muster.node.meter;

import dev.muster.config.sister.ProfileConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.ErrorSentence;
import dev.muster.node.os.EventLoop;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * acct_gather_profile/influxdb: series as lines of InfluxDB's protocol, sent together each ProfileInfluxDBFrequency
 * seconds, when there are many and when a step ends. What the server does not take is lost, as in Slurm; that it did
 * not is in the log, once until it takes some again.
 */
public final class InfluxSink implements ProfileSink {
    /** Bytes of lines that wait; more are sent at once. */
    private static final int WAITING_MAX = 64 << 10;

    private final ProfileConf conf;
    private final String cluster;
    private final String node;
    private final DaemonLog log;
    private final URI place;
    private final StringBuilder waiting = new StringBuilder();
    private long sentNs = System.nanoTime();
    private boolean complained;
    private @Nullable HttpClient http;

    public InfluxSink(ProfileConf conf, String cluster, String node, DaemonLog log) {
        this.conf = conf;
        this.cluster = cluster;
        this.node = node;
        this.log = log;
        place = URI.create(
                (conf.host().contains("://") ? "" : "http://") + conf.host() + "/write?db=" + encoded(conf.database())
                        + (conf.policy().isEmpty() ? "" : "&rp=" + encoded(conf.policy())) + "&precision=s");
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Override
    public void sample(Profiles.Plan plan, String series, String task, Map<String, Number> values, long epochS) {
        String ready;
        synchronized (this) {
            lines(plan, series, task, values, epochS)
                    .forEach(line -> waiting.append(line).append('\n'));
            boolean isTime = System.nanoTime() - sentNs >= conf.frequencyS() * 1_000_000_000L;
            ready = isTime || waiting.length() > WAITING_MAX ? taken() : "";
        }
        if (!ready.isEmpty()) {
            EventLoop.aside(() -> send(ready));
        }
    }

    @Override
    public void ended(Profiles.Plan plan) {
        String ready;
        synchronized (this) {
            ready = taken();
        }
        send(ready);
    }

    private String taken() {
        String out = waiting.toString();
        waiting.setLength(0);
        sentNs = System.nanoTime();
        return out;
    }

    /** A line for each value, or with grouped_fields one for all. */
    List<String> lines(Profiles.Plan plan, String series, String task, Map<String, Number> values, long epochS) {
        String tags = ",job=" + plan.jobId() + ",step=" + plan.stepId() + ",task=" + task + ",host=" + node;
        if (conf.grouped()) {
            String fields = values.entrySet().stream()
                    .map(v -> v.getKey() + "=" + number(v.getValue()))
                    .collect(Collectors.joining(","));
            return List.of(series + tags + more(plan) + " " + fields + " " + epochS);
        }
        List<String> out = new ArrayList<>();
        values.forEach((name, value) -> out.add(name + tags + " value=" + number(value) + " " + epochS));
        return out;
    }

    private String more(Profiles.Plan plan) {
        StringBuilder out = new StringBuilder();
        for (String tag : conf.tags()) {
            out.append(',')
                    .append(tag)
                    .append('=')
                    .append(
                            switch (tag) {
                                case "cluster" -> escaped(cluster);
                                case "uid" -> Integer.toUnsignedString(plan.uid());
                                default -> escaped(plan.user());
                            });
        }
        return out.toString();
    }

    /** Escapes characters that would end a tag's value. */
    private static String escaped(String value) {
        return value.replaceAll("([,= ])", "\\\\$1");
    }

    private static String number(Number value) {
        return value instanceof Double d ? String.format(Locale.ROOT, "%.2f", d) : value.toString();
    }

    private void send(String lines) {
        if (lines.isEmpty()) {
            return;
        }
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder(place)
                    .timeout(Duration.ofSeconds(Math.max(1, conf.timeoutS())))
                    .header("Content-Type", "text/plain; charset=utf-8")
                    .POST(HttpRequest.BodyPublishers.ofString(lines));
            if (!conf.user().isEmpty()) {
                request.header(
                        "Authorization",
                        "Basic "
                                + Base64.getEncoder()
                                        .encodeToString((conf.user() + ":" + conf.password())
                                                .getBytes(StandardCharsets.UTF_8)));
            }
            HttpResponse<String> answer = client().send(request.build(), HttpResponse.BodyHandlers.ofString());
            reportTrouble(
                    answer.statusCode() / 100 == 2
                            ? ""
                            : "the server answers " + answer.statusCode() + " "
                                    + answer.body().strip());
        } catch (IOException e) {
            reportTrouble(ErrorSentence.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized HttpClient client() {
        if (http == null) {
            http = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(Duration.ofSeconds(Math.max(1, conf.timeoutS())))
                    .build();
        }
        return http;
    }

    private synchronized void reportTrouble(String trouble) {
        if (trouble.isEmpty()) {
            complained = false;
        } else if (!complained) {
            complained = true;
            log.error("acct_gather_profile/influxdb: what was sampled is lost: " + trouble);
        }
    }
}
