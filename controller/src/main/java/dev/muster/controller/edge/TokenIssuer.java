package dev.muster.controller.edge;

import dev.muster.config.SlurmConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages.CreateToken;
import dev.muster.model.api.ClusterMessages.TokenReply;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import dev.muster.transport.Tokens;
import java.util.Optional;
import java.util.function.Supplier;

/** {@code scontrol token}: proofs of identity for programs (AuthAltTypes=auth/jwt). */
public final class TokenIssuer {
    /** Lifetime of a token for a request that names none. */
    static final long SECONDS_DEFAULT = 1800;
    /** {@code lifespan=infinite}: as long as a number of 32 bits lasts. */
    static final long SECONDS_MAX = 0xffff_ffffL;

    private final Optional<Tokens> tokens;
    private final Supplier<SlurmConf> conf;
    private final Identities identities;
    private final int slurmUid;
    private final DaemonLog log;

    public TokenIssuer(
            Optional<Tokens> tokens, Supplier<SlurmConf> conf, Identities identities, int slurmUid, DaemonLog log) {
        this.tokens = tokens;
        this.conf = conf;
        this.identities = identities;
        this.slurmUid = slurmUid;
        this.log = log;
    }

    Reply answer(Caller caller, CreateToken m) {
        boolean admin = caller.uid() == 0 || caller.uid() == slurmUid;
        if (tokens.isEmpty() || !tokens.get().areMade()) {
            log.error("attempt to retrieve a token while "
                    + (tokens.isEmpty() ? "AuthAltTypes=auth/jwt is not set" : "there is no jwt_key") + ": uid="
                    + caller.uid());
            return Reply.error(SlurmErrno.DISABLED);
        }
        var parameters = conf.get().authAltParameters();
        if (!admin && parameters.containsKey("disable_token_creation")) {
            log.error("attempt to retrieve a token while token creation disabled UID=" + caller.uid());
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        long maxSeconds = admin
                ? SECONDS_MAX
                : Long.parseLong(parameters.getOrDefault("max_token_lifespan", Long.toString(SECONDS_MAX)));
        long seconds = m.lifespanSeconds() == 0 ? Math.min(SECONDS_DEFAULT, maxSeconds) : m.lifespanSeconds();
        if (seconds < 0 || seconds > maxSeconds) {
            log.error("rejecting token lifespan " + seconds + " for user: " + identities.userName(caller.uid()) + "["
                    + caller.uid() + "], exceeds limit of " + maxSeconds);
            return Reply.error(SlurmErrno.INVALID_TIME_LIMIT);
        }
        String own = identities.byUid(caller.uid()).map(Identity::user).orElse("");
        String user = m.user().isEmpty() ? own : m.user();
        if (user.isEmpty() || !admin && !user.equals(own)) {
            log.error("attempt to retrieve a token for a different user=" + m.user() + " from UID=" + caller.uid());
            return Reply.error(SlurmErrno.USER_ID_MISSING);
        }
        log.info("created token for user " + user + " for " + seconds + " seconds");
        return Reply.of(new TokenReply(tokens.get().make(user, seconds)));
    }
}
