package dev.muster.rest.operation;

import dev.muster.cli.Access;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.daemon.ProcessIds;
import dev.muster.json.Json;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.http.Privileges;
import dev.muster.rest.http.Request;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the user that a request acts as. A token is passed on: slurmctld and slurmdbd check it. A local caller is
 * accepted if the kernel reports it as root or as the user of this daemon; it acts as that user. Thread-safe.
 */
public class Auth {
    public static final String JWT = "rest_auth/jwt";
    public static final String LOCAL = "rest_auth/local";
    /** Most callers for which connections are kept. */
    private static final int KEPT_MAX = 256;

    private static final long KEPT_MS = 300_000;
    /** Lifetime of a token for the user that root or SlurmUser names. */
    private static final long LENT_SECONDS = 900;

    private static final int TOKEN_LENGTH_MAX = 8192;

    /** @param host asks as that user */
    public record Caller(Host host, Request.User user) {}

    private record CachedCaller(Caller caller, long untilMs) {}

    private final Set<String> plugins;
    private final String slurmConf;
    private final String ownName;
    private final Map<String, CachedCaller> callers = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, CachedCaller> eldest) {
            return size() > KEPT_MAX;
        }
    };

    /**
     * @param plugins that are loaded
     * @param slurmConf "" to be looked for
     * @param ownName the user that this process runs as
     */
    public Auth(Set<String> plugins, String slurmConf, String ownName) {
        this.plugins = plugins;
        this.slurmConf = slurmConf;
        this.ownName = ownName;
    }

    /** @throws RestException 401 without an accepted credential */
    public Caller caller(Request request, Optional<Request.Peer> peer) throws RestException {
        String token = token(request);
        String name = request.header("x-slurm-user-name");
        if (!token.isEmpty() && plugins.contains(JWT)) {
            if (token.length() > TOKEN_LENGTH_MAX
                    || token.chars().filter(c -> c == '.').count() != 2) {
                throw refused("what was sent is not a token");
            }
            return withToken(token, name);
        }
        boolean isOwnUser = peer.isPresent()
                && (peer.get().uid() == ProcessIds.uid() || peer.get().uid() == 0);
        if (isOwnUser && plugins.contains(LOCAL) && (name.isEmpty() || name.equals(ownName))) {
            return cached(
                    "",
                    () -> new Caller(
                            Access.of(environment("")),
                            new Request.User(
                                    ownName, Privileges.groupName(peer.get().gid()))));
        }
        throw refused("no token, and no local connection of the user that slurmrestd runs as");
    }

    public static RestException refused(String reason) {
        return new RestException(
                401, 1007, "Protocol authentication error", "Authentication failure: " + reason, "slurmrestd");
    }

    public static String token(Request request) {
        String token = request.header("x-slurm-user-token");
        String bearer = request.header("authorization");
        if (!token.isEmpty()) {
            return token;
        }
        if (bearer.regionMatches(true, 0, "Bearer ", 0, 7)) {
            return bearer.substring(7).strip();
        }
        return "";
    }

    private Map<String, String> environment(String token) {
        Map<String, String> env = new LinkedHashMap<>();
        if (!slurmConf.isEmpty()) {
            env.put("SLURM_CONF", slurmConf);
        }
        if (!token.isEmpty()) {
            env.put("SLURM_JWT", token);
        }
        return env;
    }

    private Caller withToken(String token, String name) throws RestException {
        String speaksFor = userOf(token);
        if (name.isEmpty() || name.equals(speaksFor)) {
            return cached(token, () -> new Caller(Access.of(environment(token)), new Request.User(speaksFor, "")));
        }
        if (Sessions.end(token) <= System.currentTimeMillis()) {
            throw refused("the token is out of date");
        }
        // only root and SlurmUser get a token for another user
        return cached(token + "\n" + name, () -> {
            Host host = Access.of(environment(token));
            Json.Obj made;
            try {
                made = host.controller()
                        .call("CreateToken", new Json.Obj().put("user", name).put("lifespanSeconds", LENT_SECONDS));
            } catch (SlurmException e) {
                throw refused("the token is not for " + name + ": " + e.getMessage());
            }
            String tokenText = made.text("token").replace("SLURM_JWT=", "").strip();
            return new Caller(Access.of(environment(tokenText)), new Request.User(name, ""));
        });
    }

    /** The user that a token names, for display: the token is not checked here. */
    private static String userOf(String token) throws RestException {
        try {
            String[] parts = token.split("\\.", -1);
            Json.Obj claims = Json.object(Base64.getUrlDecoder().decode(parts[1].getBytes(StandardCharsets.US_ASCII)));
            List<String> names = new ArrayList<>(List.of(claims.text("sun"), claims.text("username")));
            names.removeIf(String::isEmpty);
            return names.isEmpty() ? "" : names.getFirst();
        } catch (IllegalArgumentException | Json.MalformedException e) {
            throw refused("what was sent is not a token");
        }
    }

    private interface Maker {
        Caller make() throws RestException;
    }

    private Caller cached(String key, Maker maker) throws RestException {
        long now = System.currentTimeMillis();
        synchronized (callers) {
            CachedCaller found = callers.get(key);
            if (found != null && found.untilMs > now) {
                return found.caller;
            }
        }
        Caller made = maker.make();
        synchronized (callers) {
            callers.remove(key);
            callers.put(key, new CachedCaller(made, now + KEPT_MS));
        }
        return made;
    }
}
