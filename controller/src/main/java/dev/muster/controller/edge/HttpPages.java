package dev.muster.controller.edge;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.transport.Caller;
import dev.muster.transport.Server;
import dev.muster.transport.Server.Page;
import dev.muster.transport.Tokens;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Pages on slurmctld's port for web programs: its health, and with MetricsType its metrics for the users that may see
 * them.
 */
public final class HttpPages implements Server.OpenHandler {
    private static final String OPENMETRICS = "application/openmetrics-text";
    private static final String METRICS_TYPE = OPENMETRICS + "; version=1.0.0; charset=utf-8";
    /** The type for clients that do not accept OpenMetrics. In its format the mark of the end is a comment. */
    private static final String PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final Supplier<SlurmConf> conf;
    private final Optional<Tokens> tokens;
    private final IntPredicate isAdmin;
    private final Function<String, String> userId;
    private final Function<String, Optional<String>> metrics;

    /**
     * @param tokens that identify the user of a request
     * @param isAdmin by user id
     * @param userId of a user's name, as text; "" for none
     * @param metrics the text of a path below /metrics/
     */
    public HttpPages(
            Supplier<SlurmConf> conf,
            Optional<Tokens> tokens,
            IntPredicate isAdmin,
            Function<String, String> userId,
            Function<String, Optional<String>> metrics) {
        this.conf = conf;
        this.tokens = tokens;
        this.isAdmin = isAdmin;
        this.userId = userId;
        this.metrics = metrics;
    }

    @Override
    public Optional<Page> get(String path) {
        return get(path, name -> "");
    }

    @Override
    public Optional<Page> get(String path, UnaryOperator<String> header) {
        SlurmConf c = conf.get();
        if (c.has(Key.COMMUNICATION_PARAMETERS, "disable_http")) {
            return Optional.empty();
        }
        boolean isMetrics = path.equals("/metrics") || path.startsWith("/metrics/");
        if (isMetrics && !c.text(Key.METRICS_TYPE).isEmpty()) {
            String name = path.equals("/metrics") ? "" : path.substring("/metrics/".length());
            String type = name.isEmpty() ? "text/plain" : type(header.apply("Accept"));
            return metrics.apply(name).map(text -> refusal(c, header).orElseGet(() -> page(200, type, text)));
        }
        return List.of("/livez", "/readyz", "/healthz").contains(path)
                ? Optional.of(page(200, "text/plain", "ok\n"))
                : Optional.empty();
    }

    private static String type(String accept) {
        return accept.contains("text/plain") && !accept.contains(OPENMETRICS) && !accept.startsWith("*/*")
                ? PROMETHEUS_TYPE
                : METRICS_TYPE;
    }

    private static Page page(int status, String type, String text) {
        return new Page(status, type, text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Returns the error page for a caller that may not see metrics. Administrators may; users of MetricsAuthUsers may;
     * without that key everyone may, unless PrivateData hides something.
     */
    private Optional<Page> refusal(SlurmConf c, UnaryOperator<String> header) {
        String bearer = header.apply("Authorization");
        String token = bearer.startsWith("Bearer ") ? bearer.substring(7).strip() : header.apply("X-SLURM-USER-TOKEN");
        Optional<Caller> caller = token.isEmpty() ? Optional.empty() : tokens.flatMap(t -> t.caller(token));
        if (caller.isEmpty() && !token.isEmpty()) {
            return Optional.of(page(401, "text/plain", "the token is not valid\n"));
        }
        String named = header.apply("X-SLURM-USER-NAME");
        boolean admin = caller.map(who -> isAdmin.test(who.uid())).orElse(false);
        String callerUid = caller.map(known -> Integer.toString(known.uid())).orElse("");
        if (!named.isEmpty() && caller.isPresent() && !userId.apply(named).equals(callerUid)) {
            if (!admin) {
                return Optional.of(page(401, "text/plain", "the token is another user's\n"));
            }
            callerUid = userId.apply(named);
            admin = callerUid.matches("[0-9]+") && isAdmin.test(Integer.parseInt(callerUid));
        }
        if (admin || showsMetricsTo(c, callerUid)) {
            return Optional.empty();
        }
        if (caller.isPresent()) {
            return Optional.of(page(403, "text/plain", "not for this user\n"));
        }
        return Optional.of(page(401, "text/plain", "a token is needed\n"));
    }

    /** @param uid user's number in decimal, "" for a caller without a token */
    private boolean showsMetricsTo(SlurmConf c, String uid) {
        List<String> users = c.list(Key.METRICS_AUTH_USERS);
        if (!users.isEmpty()) {
            return !uid.isEmpty()
                    && users.stream().anyMatch(user -> userId.apply(user).equals(uid));
        }
        boolean isPrivate = c.list(Key.PRIVATE_DATA).stream().anyMatch(word -> !word.equals("none"));
        return !isPrivate || c.has(Key.METRICS_PARAMETERS, "ignore_private_data");
    }
}
