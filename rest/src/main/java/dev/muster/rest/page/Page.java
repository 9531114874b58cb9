package dev.muster.rest.page;

import static java.util.Objects.requireNonNull;

import dev.muster.rest.http.Http;
import dev.muster.rest.http.Request;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The files of the page, from the program itself. They contain no data of users: what a user may see is checked with
 * each request that the page sends.
 */
public final class Page {
    /** Names in the list of the page's files, which stands beside them. */
    private static final String LIST = "files.txt";

    private static final Map<String, String> TYPES = Map.of(
            "html",
            "text/html; charset=utf-8",
            "js",
            "text/javascript; charset=utf-8",
            "css",
            "text/css; charset=utf-8",
            "svg",
            "image/svg+xml");

    /**
     * Scripts, styles and connections of this place alone; nothing may show the page in a frame; no text is ever taken
     * for a script.
     */
    static final Map<String, String> SECURITY = Map.of(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                    + "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                    + "require-trusted-types-for 'script'",
            "X-Content-Type-Options",
            "nosniff",
            "X-Frame-Options",
            "DENY",
            "Referrer-Policy",
            "no-referrer",
            "Cross-Origin-Opener-Policy",
            "same-origin",
            "Cross-Origin-Resource-Policy",
            "same-origin");

    private record File(String type, byte[] body, String tag) {}

    private final Map<String, File> files = new LinkedHashMap<>();

    public Page() {
        for (String name :
                new String(read(LIST), StandardCharsets.UTF_8).strip().lines().toList()) {
            byte[] body = read(name);
            String type = requireNonNull(TYPES.get(name.substring(name.lastIndexOf('.') + 1)), name);
            files.put("/" + name, new File(type, body, tag(body)));
        }
        files.put("/", requireNonNull(files.get("/index.html"), "the page has a first file"));
    }

    private static byte[] read(String name) {
        try (InputStream in = Page.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the page lacks " + name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String tag(byte[] body) {
        try {
            return "\""
                    + HexFormat.of()
                            .formatHex(Arrays.copyOf(
                                    MessageDigest.getInstance("SHA-256").digest(body), 12)) + "\"";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    List<String> paths() {
        return List.copyOf(files.keySet());
    }

    /** Empty for what is no file of the page. */
    public Optional<Http.Reply> answer(Request request) {
        File file = files.get(request.path());
        if (file == null || !request.method().equals("GET") && !request.method().equals("HEAD")) {
            return Optional.empty();
        }
        Map<String, String> headers = new LinkedHashMap<>(SECURITY);
        headers.put("ETag", file.tag);
        headers.put("Cache-Control", "no-cache");
        boolean has = request.header("if-none-match").equals(file.tag);
        return Optional.of(new Http.Reply(has ? 304 : 200, file.type, has ? new byte[0] : file.body).with(headers));
    }
}
