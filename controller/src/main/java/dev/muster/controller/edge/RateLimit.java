package dev.muster.controller.edge;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.SlurmErrno;
import dev.muster.transport.Client;
import dev.muster.transport.Server;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits the requests of each user (SlurmctldParameters=rl_enable) by a token bucket: a request takes a token, and
 * tokens are added at a fixed rate. Without a token the answer is to back off. root and SlurmUser are not limited.
 * Thread-safe.
 */
public final class RateLimit {
    /**
     * @param size tokens of a full bucket
     * @param rate tokens that are added each period
     * @param periodS seconds
     * @param users with a bucket at a time; the least recently used bucket is dropped
     * @param logS seconds between lines about it in the log; 0 for each, below for none
     */
    record Settings(int size, int rate, int periodS, int users, int logS) {
        static Optional<Settings> of(SlurmConf conf) {
            if (!conf.has(Key.SLURMCTLD_PARAMETERS, "rl_enable")) {
                return Optional.empty();
            }
            Map<String, String> given = conf.parameters(Key.SLURMCTLD_PARAMETERS);
            return Optional.of(new Settings(
                    number(given, "rl_bucket_size", 30),
                    number(given, "rl_refill_rate", 2),
                    number(given, "rl_refill_period", 1),
                    number(given, "rl_table_size", 8192),
                    number(given, "rl_log_freq", 0)));
        }

        private static int number(Map<String, String> given, String name, int otherwise) {
            String text = given.getOrDefault(name.toLowerCase(Locale.ROOT), "");
            return text.matches("-?[0-9]{1,9}") ? Integer.parseInt(text) : otherwise;
        }
    }

    private static final class Bucket {
        private int tokens;
        private long filledS;
    }

    private final Supplier<SlurmConf> conf;
    private final int slurmUid;
    private final LongSupplier nowS;
    private final DaemonLog log;
    private final Map<Integer, Bucket> buckets = new LinkedHashMap<>(16, 0.75f, true);
    private @Nullable SlurmConf settingsConf;
    private Optional<Settings> settings = Optional.empty();
    private long loggedS = Long.MIN_VALUE / 2;

    /** @param nowS seconds of a clock that does not go back */
    public RateLimit(Supplier<SlurmConf> conf, int slurmUid, LongSupplier nowS, DaemonLog log) {
        this.conf = conf;
        this.slurmUid = slurmUid;
        this.nowS = nowS;
        this.log = log;
    }

    /** Returns a handler of messages behind this limit. */
    public Server.MessageHandler before(Server.MessageHandler api) {
        return (caller, message, body) -> takes(caller.uid(), message)
                ? api.handle(caller, message, body)
                : Server.Reply.error(Client.BACK_OFF, SlurmErrno.CTLD_BACKOFF, SlurmErrno.CTLD_BACKOFF.sentence());
    }

    /** Tests whether a request may be answered now. */
    boolean takes(int uid, String message) {
        return uid == 0 || uid == slurmUid || taken(uid, message);
    }

    private synchronized boolean taken(int uid, String message) {
        SlurmConf now = conf.get();
        if (now != settingsConf) {
            settingsConf = now;
            Optional<Settings> before = settings;
            settings = Settings.of(now);
            if (!settings.equals(before)) {
                buckets.clear();
            }
        }
        if (settings.isEmpty()) {
            return true;
        }
        Settings s = settings.get();
        Bucket bucket = bucket(uid, s);
        if (bucket.tokens > 0) {
            bucket.tokens--;
            return true;
        }
        long second = nowS.getAsLong();
        if (s.logS >= 0 && second - loggedS >= s.logS) {
            loggedS = second;
            log.info("RPC rate limit exceeded by uid " + uid + " with " + message + ", telling to back off");
        }
        return false;
    }

    private Bucket bucket(int uid, Settings s) {
        long second = nowS.getAsLong();
        Bucket b = buckets.get(uid);
        if (b == null) {
            b = new Bucket();
            b.tokens = s.size;
            b.filledS = second;
            buckets.put(uid, b);
            if (buckets.size() > s.users) {
                buckets.remove(buckets.keySet().iterator().next());
            }
            return b;
        }
        long periods = (second - b.filledS) / s.periodS;
        b.filledS += periods * s.periodS;
        b.tokens = (int) Math.min(s.size, b.tokens + periods * s.rate);
        return b;
    }
}
