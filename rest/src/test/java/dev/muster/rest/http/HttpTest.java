package dev.muster.rest.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.rest.Rig;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is HTTP and what is not: everything here begins behind a connection. */
class HttpTest {
    /** Text with its escapes, status, and words of the answer. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            GERP / HTTP/1.1\\r\\n\\r\\n                                  | 400 | Invalid HTTP method
            get / HTTP/1.1\\r\\n\\r\\n                                   | 400 | Invalid HTTP method
            INVALID                                                      | 400 | Unexpected end of request
            \\x00\\x01\\xff                                              | 400 | Invalid HTTP method
            GET /open\\x00api HTTP/1.1\\r\\n\\r\\n                       | 400 | Invalid character in URL
            GET openapi HTTP/1.1\\r\\n\\r\\n                             | 400 | Invalid URL
            GET /%4 HTTP/1.1\\r\\n\\r\\n                                 | 400 | Invalid URL
            GET / HTTP/abc\\r\\n\\r\\n                                   | 400 | Invalid HTTP version
            GET / HTTP/9.9\\r\\n\\r\\n                                   | 505 | Invalid HTTP version
            GET / HTTP/1.1\\r\\nHost                                     | 400 | Unexpected end of request
            GET / HTTP/1.1\\r\\nHost: x\\n\\r\\n                         | 400 | Missing an expected CR character
            GET / HTTP/1.1\\r\\nHost: x\\rY\\r\\n\\r\\n                  | 400 | Missing an expected LF character
            GET / HTTP/1.1\\r\\nX\\x00Y: v\\r\\n\\r\\n | 400 | Unexpected character added or missing in HTTP
            GET / HTTP/1.1\\r\\nnothing\\r\\n\\r\\n | 400 | Unexpected character added or missing in HTTP
            POST / HTTP/1.1\\r\\nContent-Length: abc\\r\\n\\r\\n | 400 | unparsable number in HTTP Content-Length header
            POST / HTTP/1.1\\r\\nContent-Length: -1\\r\\n\\r\\n | 400 | unparsable number in HTTP Content-Length header
            POST / HTTP/1.1\\r\\nContent-Length: 99999999999\\r\\n\\r\\n | 413 | body too large
            POST / HTTP/1.1\\r\\nContent-Length: 5\\r\\n\\r\\nab         | 400 | Unexpected end of request
            POST / HTTP/1.1\\r\\nContent-Length: 5\\r\\nContent-Length: 6\\r\\n\\r\\n | 400 | given twice
            POST / HTTP/1.1\\r\\nTransfer-Encoding: gzip\\r\\n\\r\\n     | 501 | chunked
            POST / HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\nxx\\r\\n | 400 | chunk size
            GET /none HTTP/1.1\\r\\n\\r\\n                               | 404 | Unable find requested URL
            """)
    void malformedRequestGetsStatusAndReason(String request, int status, String words) throws IOException {
        String answer = new Rig().raw(unescaped(request));
        assertThat(answer).startsWith("HTTP/1.1 " + status + " ").contains(words);
    }

    private static String unescaped(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            boolean escape = text.charAt(i) == '\\';
            switch (escape ? text.charAt(++i) : 0) {
                case 'r' -> out.append('\r');
                case 'n' -> out.append('\n');
                case 'x' -> {
                    out.append((char) Integer.parseInt(text.substring(i + 1, i + 3), 16));
                    i += 2;
                }
                default -> out.append(text.charAt(i));
            }
        }
        return out.toString();
    }

    @Test
    void connectionServesRequestsUntilItCloses() throws IOException {
        String two = new Rig()
                .raw("GET /openapi HTTP/1.1\r\n\r\nHEAD /openapi HTTP/1.1\r\nConnection: close\r\n\r\nGET "
                        + "/openapi HTTP/1.1\r\n\r\n");
        assertThat(two.split("HTTP/1.1 200 OK", -1)).hasSize(3);
        assertThat(two).contains("Connection: Keep-Alive").endsWith("\r\n\r\n").contains("Connection: Close");
        assertThat(new Rig()
                        .raw("GET /openapi HTTP/1.0\r\n\r\nGET /openapi HTTP/1.0\r\n\r\n")
                        .split("200 OK", -1))
                .hasSize(2);
        assertThat(new Rig().raw("")).isEmpty();
        assertThat(new Rig().raw("GET / HTTP/1.1\r\n")).isEmpty();
    }

    @Test
    void chunkedBodyIsRead() throws IOException {
        String body = "{\"hostlist\":\"n[1-2]\"}";
        String chunks = "5\r\n" + body.substring(0, 5) + "\r\n" + Integer.toHexString(body.length() - 5) + ";x=y\r\n"
                + body.substring(5) + "\r\n0\r\nTrailer: x\r\n\r\n";
        String answer = new Rig()
                .raw("POST /util/v0.0.45/hostnames HTTP/1.1\r\nX-SLURM-USER-TOKEN: a.b.c\r\nExpect: 100-continue\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n" + chunks);
        assertThat(answer)
                .startsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")
                .contains("\"hostnames\":[\"n1\",\"n2\"]");
    }
}
