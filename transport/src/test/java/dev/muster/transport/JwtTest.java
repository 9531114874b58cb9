package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.model.Identity;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JwtTest {
    private static final byte[] KEY = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8);

    /** RFC 7515, appendix A.1: other people's tokens are understood. */
    @Test
    void exampleTokenOfRfc7515IsAccepted() {
        byte[] key = Base64.getUrlDecoder()
                .decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
        String token = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
                + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
                + "Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assertThat(Jwt.check(key, "iss", token, 1300819379).map(Jwt::user)).contains("joe");
        assertThat(Jwt.check(key, "iss", token, 1300819380)).isEmpty();
        assertThat(Jwt.check(key, "", token, 1300819379)).isEmpty();
        assertThat(Jwt.check(KEY, "iss", token, 1300819379)).isEmpty();
    }

    private static String token(String header, String claims) {
        String text = encode(header) + "." + encode(claims);
        return text + "."
                + Base64.getUrlEncoder()
                        .withoutPadding()
                        .encodeToString(Hash.hmac(KEY, text.getBytes(StandardCharsets.UTF_8)));
    }

    private static String encode(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void tokenIsTakenOnlyWithUserSignatureAndTimes() {
        String header = "{\"alg\":\"HS256\"}";
        String[][] table = {
            {header, "{\"sun\":\"ann\",\"exp\":100}", "ann"},
            {header, "{\"username\":\"ann\",\"exp\":100}", "ann"},
            {header, "{\"own\":\"ann\",\"exp\":100}", "ann"},
            {header, "{\"sun\":\"ann\",\"own\":\"bob\",\"exp\":100}", "ann"},
            {header, "{\"sun\":\"ann\"}", ""},
            {header, "{\"sun\":\"ann\",\"exp\":50}", ""},
            {header, "{\"sun\":\"ann\",\"exp\":100,\"nbf\":60}", ""},
            {header, "{\"exp\":100}", ""},
            {header, "[]", ""},
            {"{\"alg\":\"none\"}", "{\"sun\":\"ann\",\"exp\":100}", ""},
            {"{\"alg\":\"RS256\"}", "{\"sun\":\"ann\",\"exp\":100}", ""}
        };
        for (String[] row : table) {
            assertThat(Jwt.check(KEY, "own", token(row[0], row[1]), 50)
                            .map(Jwt::user)
                            .orElse(""))
                    .as(row[1])
                    .isEqualTo(row[2]);
        }
        for (String bad : new String[] {
            "",
            ".",
            "..",
            "a.b.c",
            "x".repeat(9000),
            encode(header) + "." + encode("{\"sun\":\"ann\",\"exp\":100}") + "."
        }) {
            assertThat(Jwt.check(KEY, "", bad, 50)).as(bad).isEmpty();
        }
    }

    /** A whole token's word counts with use_jwt_client_ids; with use_jwt_client_ids_only nothing else does. */
    @Test
    void tokenWithClientIdsDescribesItsUser() {
        String[][] table = {
            {"'uid':5,'gid':6,'id':{'gecos':'','dir':'/h','shell':'/s','gids':[7,6]}", "5 6 6 [6, 7] /h /s"},
            {
                "'uid':5,'gid':6,'id':{'gecos':'','dir':'/h','shell':'/s','groups':{'six':6,'nine':9}}",
                "5 6 six [6, 9] /h /s"
            },
            {"'uid':5,'gid':6,'id':{'gecos':'','dir':'/h','shell':'/s','gids':[]}", "5 6 6 [6] /h /s"},
            {"'uid':5,'gid':6", ""},
            {"'uid':5,'gid':6,'id':{'gecos':'','dir':'/h','shell':'/s'}", ""},
            {"'uid':5,'gid':6,'id':{'dir':'/h','shell':'/s','gids':[6]}", ""},
            {"'uid':5,'id':{'gecos':'','dir':'/h','shell':'/s','gids':[6]}", ""},
            {"'uid':-1,'gid':6,'id':{'gecos':'','dir':'/h','shell':'/s','gids':[6]}", ""},
            {"'uid':4294967295,'gid':6,'id':{'gecos':'','dir':'/h','shell':'/s','gids':[6]}", ""},
            {"'uid':5,'gid':6,'id':{'gecos':'','dir':'/h','shell':'/s','gids':['6']}", ""},
            {"'uid':5,'gid':6,'id':{'gecos':'','dir':'/h','shell':'/s','groups':{'a':-2}}", ""},
            {"'uid':5,'gid':6,'id':{'gecos':'','dir':'h','shell':'/s','gids':[6]}", ""},
        };
        for (String[] row : table) {
            String token =
                    token("{\"alg\":\"HS256\"}", "{\"sun\":\"ann\",\"exp\":100," + row[0].replace('\'', '"') + "}");
            for (boolean only : new boolean[] {false, true}) {
                List<Identity> stated = new ArrayList<>();
                Tokens tokens = new Tokens(
                        Optional.of(KEY),
                        Optional::empty,
                        "",
                        name -> Optional.of(new Caller(1, 2)),
                        new Tokens.Ids(true, only, name -> Optional.empty(), stated::add),
                        () -> 50_000);
                Optional<Caller> caller = tokens.caller(token);
                assertThat(caller)
                        .as(row[0])
                        .isEqualTo(
                                !row[1].isEmpty()
                                        ? Optional.of(new Caller(5, 6))
                                        : only ? Optional.empty() : Optional.of(new Caller(1, 2)));
                assertThat(stated.stream()
                                .map(i -> i.uid() + " " + i.gid() + " " + i.group() + " " + i.gids() + " " + i.home()
                                        + " " + i.shell())
                                .findFirst()
                                .orElse(""))
                        .as(row[0])
                        .isEqualTo(row[1]);
            }
            assertThat(new Tokens(KEY, "", name -> Optional.of(new Caller(1, 2)), () -> 50_000).caller(token))
                    .contains(new Caller(1, 2));
        }
    }

    @Test
    void tokensMadeHereSayItWhereTheyMust() {
        Identity ann = new Identity(5, 6, "ann", "six", List.of(6, 7), "/home/ann", "/bin/sh");
        List<Identity> stated = new ArrayList<>();
        Tokens tokens = new Tokens(
                Optional.of(KEY),
                Optional::empty,
                "",
                name -> Optional.empty(),
                new Tokens.Ids(
                        true, true, name -> name.equals("ann") ? Optional.of(ann) : Optional.empty(), stated::add),
                () -> 50_000);
        assertThat(tokens.caller(tokens.make("ann", 10))).contains(new Caller(5, 6));
        assertThat(stated.getFirst().gids()).containsExactly(6, 7);
        assertThat(tokens.caller(tokens.make("eve", 10))).isEmpty();
    }

    /** The vouching host names the caller with use_client_ids; a stranger can state nothing. */
    @Test
    void callersIdentityCountsOnlyFromTheVouchingHost() {
        Identity ann = new Identity(5, 6, "ann", "six", List.of(6, 7), "/home/ann", "/bin/sh");
        List<Identity> stated = new ArrayList<>();
        Verifier verifier =
                new Verifier(() -> KeySet.of(KEY), "c", Optional.empty(), Optional.empty(), stated::add, () -> 50_000);
        Session right = Session.issue(KEY, "c", new Caller(5, 6), Optional.of(ann), 50_000, new byte[16]);
        assertThat(verifier.verify(right.sign("POST", "/p", new byte[0], 50_000, "n"), "POST", "/p", new byte[0]))
                .isEqualTo(new Verifier.Verified(new Caller(5, 6)));
        assertThat(stated).containsExactly(ann);
        stated.clear();
        Session stolen = new Session(right.token(), KEY);
        verifier.verify(stolen.sign("POST", "/p", new byte[0], 50_000, "m"), "POST", "/p", new byte[0]);
        Session other = Session.issue(KEY, "c", new Caller(9, 6), Optional.of(ann), 50_000, new byte[16]);
        verifier.verify(other.sign("POST", "/p", new byte[0], 50_000, "o"), "POST", "/p", new byte[0]);
        assertThat(stated).isEmpty();
    }

    /** What is seen on the wire is of no use: the signature never travels. */
    @Test
    void aSessionProvesATokenWithoutShowingIt() {
        List<String> asked = new ArrayList<>();
        Tokens tokens = new Tokens(
                KEY,
                "",
                name -> {
                    asked.add(name);
                    return name.equals("ann") ? Optional.of(new Caller(7, 8)) : Optional.empty();
                },
                () -> 50_000);
        Verifier verifier =
                new Verifier(() -> KeySet.NONE, "c", Optional.empty(), Optional.of(tokens), who -> {}, () -> 50_000);
        Session session = Session.ofJwt(tokens.make("ann", 10));
        String header = session.sign("POST", "/p", new byte[0], 50_000, "n");
        assertThat(header)
                .doesNotContain(
                        tokens.make("ann", 10).substring(tokens.make("ann", 10).lastIndexOf('.')));
        assertThat(verifier.verify(header, "POST", "/p", new byte[0]))
                .isEqualTo(new Verifier.Verified(new Caller(7, 8)));
        assertThat(verifier.verify(header, "POST", "/p", new byte[0]))
                .isEqualTo(new Verifier.Denied("replayed credential"));
        String stolen = new Session(session.token(), KEY).sign("POST", "/p", new byte[0], 50_000, "m");
        asked.clear();
        assertThat(verifier.verify(stolen, "POST", "/p", new byte[0])).isInstanceOf(Verifier.Denied.class);
        assertThat(asked).as("names are not looked up for strangers").isEmpty();
        String stranger = Session.ofJwt(tokens.make("eve", 10)).sign("POST", "/p", new byte[0], 50_000, "n");
        assertThat(verifier.verify(stranger, "POST", "/p", new byte[0])).isInstanceOf(Verifier.Denied.class);
        Verifier without = new Verifier(KEY, "c", Optional.empty(), () -> 50_000);
        assertThat(without.verify(header, "POST", "/p", new byte[0])).isInstanceOf(Verifier.Denied.class);
        assertThat(tokens.caller(tokens.make("ann", 10))).contains(new Caller(7, 8));
        assertThat(tokens.caller(tokens.make("ann", 0))).isEmpty();
        for (String bad : new String[] {"daemon", "a.b", "a.b.c d", "a.b.%", ""}) {
            assertThatThrownBy(() -> Session.ofJwt(bad)).as(bad).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
