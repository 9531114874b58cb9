package dev.muster.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A client gets the same rows whether slurmctld sends a reply whole or line by line. */
class RowLinesTest {
    private static final String HEAD = "{\"now\":7,\"jobs\":[";

    private final List<String> seen = new ArrayList<>();
    private final RowLines lines = new RowLines(new Controller.Taker() {
        @Override
        public void head(Json.Obj head) {
            seen.add("now " + head.number("now"));
        }

        @Override
        public void row(Json.Obj row) {
            seen.add(row.text("a"));
        }
    });

    private void line(String... all) {
        for (String l : all) {
            byte[] bytes = ("..." + l + "...").getBytes(StandardCharsets.UTF_8);
            lines.line(bytes, 3, bytes.length - 3);
        }
    }

    @Test
    void rowsAreHandedOnAsTheyCome() throws SlurmException {
        line(HEAD, "{\"a\":\"x\"},", "{\"a\":\"y\\n\",\"b\":1},");
        assertThat(seen).containsExactly("now 7", "x", "y\n");
        line("{\"a\":\"z\"}", "]}");
        lines.finish(new byte[0], "jobs");
        assertThat(seen).containsExactly("now 7", "x", "y\n", "z");
    }

    @Test
    void aWholeReplyIsTheSame() throws SlurmException {
        lines.finish((HEAD + "{\"a\":\"x\"},{\"a\":\"y\"}]}").getBytes(StandardCharsets.UTF_8), "jobs");
        assertThat(seen).containsExactly("now 7", "x", "y");
    }

    @Test
    void replyWithoutItsLastLineIsRefused() {
        line(HEAD, "{\"a\":\"x\"},");
        assertThatThrownBy(() -> lines.finish(new byte[0], "jobs")).isInstanceOf(SlurmException.class);
    }

    @Test
    void aLineThatIsNoRowIsMalformed() {
        line(HEAD);
        assertThatThrownBy(() -> line("17,")).isInstanceOf(Json.MalformedException.class);
        assertThatThrownBy(() -> line("{\"a\":1} x")).isInstanceOf(Json.MalformedException.class);
        assertThatThrownBy(() -> line("")).isInstanceOf(Json.MalformedException.class);
    }
}
