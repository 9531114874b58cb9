package dev.muster.cli.format;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.tls.Tls;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.HttpsURLConnection;

/**
 * Makes a link to the page that slurmrestd serves, with a code that logs the caller in. The code is valid once and for
 * a minute, so that no token stands in an address. It stands behind the #, which no server logs.
 */
public final class PageLink {
    /** Port at which slurmrestd listens by default. */
    public static final int PORT = 6820;
    /** Environment: where the page is. */
    public static final String PLACE = "MUSTER_PAGE";
    /** File beside slurm.conf: where the page is, for callers without {@link #PLACE}. */
    private static final String FILE = "muster.page";

    private static final int FILE_BYTES_MAX = 4096;
    private static final int CONNECT_MS = 3_000;
    private static final int ANSWER_MS = 10_000;
    private static final int ANSWER_BYTES_MAX = 1 << 16;
    private static final long TOKEN_SECONDS = 12 * 3600;

    private PageLink() {}

    /**
     * Prints the link.
     *
     * @param place as typed; "" for what the environment, else the file beside slurm.conf says, else slurmctld's hosts
     * @return the exit code
     */
    public static int print(CommandContext context, String place) throws SlurmException {
        List<String> places = new ArrayList<>();
        String named;
        if (!place.isEmpty()) {
            named = place;
        } else if (context.env(PLACE).isEmpty()) {
            named = fromFile(context);
        } else {
            named = context.env(PLACE);
        }

        Tls tls = context.host().settings().tls();
        String scheme = tls.isOn() ? "https://" : "http://";
        if (named.isEmpty()) {
            context.host().controllers().forEach(host -> places.add(scheme + host + ":" + PORT));
        } else {
            places.add((named.matches("https?://.*") ? "" : scheme) + named.replaceFirst("/+$", ""));
        }
        String token = context.env("SLURM_JWT");
        if (token.isEmpty()) {
            token = token(context);
        }
        String last = "";
        for (String p : places) {
            try {
                context.out().println(p + "/#code=" + code(p, token, tls));
                return 0;
            } catch (IOException | IllegalArgumentException e) {
                last = p + ": " + ErrorSentence.of(e);
            }
        }
        context.error("no slurmrestd with a page is reached at " + last
                + ". Name its address as an argument, in the variable " + PLACE + " or in the file " + FILE
                + " beside slurm.conf");
        return 1;
    }

    private static String fromFile(CommandContext context) {
        String conf = context.host().confPath();
        try {
            return conf.isEmpty()
                    ? ""
                    : RawText.decode(context.host()
                                    .readFile(conf.substring(0, conf.lastIndexOf('/') + 1) + FILE, FILE_BYTES_MAX))
                            .strip();
        } catch (IOException e) {
            return "";
        }
    }

    private static String token(CommandContext context) throws SlurmException {
        try {
            return context.host()
                    .controller()
                    .call("CreateToken", new Json.Obj().put("lifespanSeconds", TOKEN_SECONDS))
                    .text("token");
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.DISABLED.number()) {
                throw e;
            }
            throw new SlurmException(
                    e.errno(),
                    e.getMessage() + ": the page needs tokens, which slurmctld makes with AuthAltTypes=auth/jwt and "
                            + "AuthAltParameters=jwt_key=PATH in slurm.conf");
        }
    }

    private static String code(String place, String token, Tls tls) throws IOException {
        HttpURLConnection http = (HttpURLConnection)
                URI.create(place + "/muster/v1/session/codes").toURL().openConnection();
        if (http instanceof HttpsURLConnection secure && tls.isOn()) {
            // as with all connections of the cluster its authority counts, not the name
            secure.setSSLSocketFactory(tls.factory());
            secure.setHostnameVerifier((host, session) -> true);
        }
        http.setConnectTimeout(CONNECT_MS);
        http.setReadTimeout(ANSWER_MS);
        http.setRequestMethod("POST");
        http.setRequestProperty("X-SLURM-USER-TOKEN", token);
        http.setInstanceFollowRedirects(false);
        http.setDoOutput(true);
        http.setFixedLengthStreamingMode(0);
        http.getOutputStream().close();
        try (InputStream in = http.getResponseCode() == 200 ? http.getInputStream() : http.getErrorStream()) {
            Json.Obj answer = in == null ? new Json.Obj() : Json.object(in.readNBytes(ANSWER_BYTES_MAX));
            if (answer.text("code").isEmpty()) {
                throw new IOException(
                        answer.objects("errors").isEmpty()
                                ? "it answers " + http.getResponseCode()
                                : answer.objects("errors").getFirst().text("description"));
            }
            return answer.text("code");
        } catch (Json.MalformedException e) {
            throw new IOException("it is no slurmrestd with a page");
        } finally {
            http.disconnect();
        }
    }
}
