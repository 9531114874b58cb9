package dev.muster.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.daemon.TokenKey;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.CreateToken;
import dev.muster.model.api.ClusterMessages.TokenReply;
import dev.muster.transport.Caller;
import dev.muster.transport.Server;
import dev.muster.transport.Tokens;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which callers get a token, for which user and for how long. */
class TokenIssuerTest {
    private static final Identities IDENTITIES = new Identities();
    private static final int NOBODY = IDENTITIES.byName("nobody").orElseThrow().uid();

    @TempDir
    Path dir;

    private Path key(String mode) throws IOException {
        Path file = dir.resolve("jwt_hs256.key");
        Files.deleteIfExists(file);
        Files.writeString(file, "a secret of some length");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
        return file;
    }

    private SlurmConf conf(String lines) throws IOException {
        Path file = dir.resolve("slurm.conf");
        Files.writeString(
                file,
                "ClusterName=c\nSlurmctldHost=h\nStateSaveLocation=" + dir + "\nNodeName=n1\nPartitionName=p Nodes=n1\n"
                        + lines);
        return SlurmConf.read(file.toFile()) instanceof SlurmConf.Parsed.Ok ok
                ? ok.conf()
                : Assertions.fail("unreadable");
    }

    private String ask(String lines, int uid, String user, long seconds) throws IOException {
        SlurmConf conf = conf(lines);
        Optional<Tokens> tokens = TokenKey.tokens(
                conf.text(dev.muster.config.key.Key.AUTH_ALT_TYPES),
                conf.authAltParameters(),
                conf.stateSaveLocation(),
                IDENTITIES);
        DaemonLog log = new DaemonLog("test", dir.resolve("log").toString(), false, 3, "iso8601_ms", -1);
        Server.Reply reply = new TokenIssuer(tokens, () -> conf, IDENTITIES, 0, log)
                .answer(new Caller(uid, uid), new CreateToken(user, seconds));
        if (reply.status() != 200) {
            return Json.object(reply.body()).text("error");
        }
        String token = Codec.decode(reply.body(), TokenReply.class).token();
        assertThat(tokens.orElseThrow().caller(token).isPresent()).isEqualTo(!user.equals("nosuchuser"));
        Json.Obj claims = Json.object(Base64.getUrlDecoder().decode(token.split("\\.")[1]));
        return claims.text("sun") + " " + (claims.number("exp") - claims.number("iat"));
    }

    /** shows: AuthAltTypes, AuthAltParameters */
    @Test
    void onlyRootGetsATokenForAnotherUser() throws IOException {
        key("rw-------");
        String on = "AuthAltTypes=auth/jwt\n";
        assertThat(ask("", 0, "", 0)).isEqualTo("Requested operation is presently disabled");
        assertThat(ask(on, 0, "", 0)).isEqualTo("root 1800");
        assertThat(ask(on, 0, "nosuchuser", 60)).isEqualTo("nosuchuser 60");
        assertThat(ask(on, NOBODY, "", 0)).isEqualTo("nobody 1800");
        assertThat(ask(on, NOBODY, "nobody", 60)).isEqualTo("nobody 60");
        assertThat(ask(on, NOBODY, "root", 60)).isEqualTo("Invalid user id");
        String bounded = on + "AuthAltParameters=max_token_lifespan=100,jwt_key=" + dir.resolve("jwt_hs256.key");
        assertThat(ask(bounded, NOBODY, "", 0)).isEqualTo("nobody 100");
        assertThat(ask(bounded, NOBODY, "", 200))
                .isEqualTo("Requested time limit is invalid (missing or exceeds some limit)");
        assertThat(ask(bounded, 0, "", 200)).isEqualTo("root 200");
        String none = on + "AuthAltParameters=disable_token_creation";
        assertThat(ask(none, NOBODY, "", 0)).isEqualTo("Access/permission denied");
        assertThat(ask(none, 0, "", 0)).isEqualTo("root 1800");
    }

    @Test
    void keyFileReadableByOtherUsersIsRefused() throws IOException {
        key("rw-r--r--");
        Assertions.assertThatThrownBy(() -> TokenKey.tokens("auth/jwt", Map.of(), dir.toString(), IDENTITIES))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("must not be accessible");
        Files.delete(dir.resolve("jwt_hs256.key"));
        Assertions.assertThatThrownBy(() -> TokenKey.tokens("auth/jwt", Map.of(), dir.toString(), IDENTITIES))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Could not load key file");
    }

    /** Keys of other kinds are refused as slurmdbd reads them, whose file is not checked word by word. */
    @Test
    void keysOfOtherKindsAreRefused() throws IOException {
        key("rw-------");
        Assertions.assertThatThrownBy(
                        () -> TokenKey.tokens("auth/jwt", Map.of("jwks", "/x"), dir.toString(), IDENTITIES))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Could not load JWKS file (/x)");
        Assertions.assertThatThrownBy(() -> TokenKey.tokens("auth/none", Map.of(), dir.toString(), IDENTITIES))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("auth/none");
        assertThat(TokenKey.tokens("", Map.of(), dir.toString(), IDENTITIES)).isEmpty();
    }

    @Test
    void invalidAuthOrMetricsKeyIsRefused() throws IOException {
        for (String line : new String[] {
            "AuthAltTypes=auth/none",
            "AuthAltParameters=use_jwt_ids",
            "AuthAltParameters=max_token_lifespan=x",
            "MetricsType=metrics/other",
            "MetricsParameters=x",
            "SlurmctldHttpAuthParameters=jwks=/x"
        }) {
            Path file = dir.resolve("slurm.conf");
            Files.writeString(
                    file, "ClusterName=c\nSlurmctldHost=h\nNodeName=n1\nPartitionName=p Nodes=n1\n" + line + "\n");
            assertThat(SlurmConf.read(file.toFile())).as(line).isInstanceOf(SlurmConf.Parsed.Invalid.class);
        }
    }
}
