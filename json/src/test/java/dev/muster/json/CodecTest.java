package dev.muster.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CodecTest {
    record Inner(int a, List<String> words) {}

    record Outer(String name, Inner inner, boolean flag, Bytes raw, long big, Exit exit) {}

    record Exit(int code, int signal) {}

    sealed interface Message {
        record EndJob(long jobId, long attempt, int killWait, String reason) implements Message {}

        record Ack(int errno) implements Message {}
    }

    record Row(long jobId, String name, int cpus) {}

    @Test
    void defaultsAreNotWrittenAndReadBackAsDefaults() {
        Outer empty = Codec.decode("{}".getBytes(StandardCharsets.UTF_8), Outer.class);
        assertThat(empty).isEqualTo(new Outer("", new Inner(0, List.of()), false, Bytes.EMPTY, 0, new Exit(0, 0)));
        assertThat(new String(Codec.encode(empty), StandardCharsets.UTF_8)).isEqualTo("{}");
    }

    @Test
    void everyKindOfComponentSurvivesTheRoundTrip() {
        Outer full = new Outer(
                "q\"\\\n\u0001é\uD83D\uDE00",
                new Inner(-7, List.of("", "x")),
                true,
                Bytes.of(new byte[] {0, (byte) 0xff, '\n'}),
                Long.MIN_VALUE,
                new Exit(0, 9));
        assertThat(Codec.decode(Codec.encode(full), Outer.class)).isEqualTo(full);
    }

    @Test
    void sealedInterfacesCarryTheirType() {
        byte[] json = Codec.encode(new Message.EndJob(7, 1, 30, "TimeLimit"), Message.class);
        assertThat(new String(json, StandardCharsets.UTF_8)).startsWith("{\"type\":\"EndJob\",");
        assertThat(Codec.decode(json, Message.class)).isEqualTo(new Message.EndJob(7, 1, 30, "TimeLimit"));
        assertThat(Codec.decode(Codec.encode(new Message.Ack(0), Message.class), Message.class))
                .isEqualTo(new Message.Ack(0));
    }

    @Test
    void onlyTheWantedFieldsAreWritten() {
        Row job = Codec.decode("{\"jobId\":5,\"name\":\"n\",\"cpus\":4}".getBytes(StandardCharsets.UTF_8), Row.class);
        Json.Writer out = new Json.Writer();
        Codec.writeFields(out, job, Set.of("jobId", "name"));
        assertThat(new String(out.toByteArray(), StandardCharsets.UTF_8)).isEqualTo("{\"jobId\":5,\"name\":\"n\"}");
    }

    @Test
    void malformedJsonIsRefused() {
        for (String bad : List.of(
                "",
                "[",
                "{\"name\":1}",
                "{\"name\":\"a\",}",
                "{\"big\":1.5}",
                "nul",
                "{\"a\":\"\\u00g0\"}",
                "01x",
                "{\"x\":\"\n\"}",
                "{\"exit\":{\"code\":99999999999}}",
                "[".repeat(200) + "]".repeat(200))) {
            assertThatThrownBy(() -> Codec.decode(bad.getBytes(StandardCharsets.UTF_8), Outer.class))
                    .as(bad)
                    .isInstanceOf(Json.MalformedException.class);
        }
    }

    /** A tree keeps the size of a number that no long holds, for a reader that refuses it by its field's name. */
    @Test
    void wholeNumberBeyondALongIsFloatingInATree() {
        assertThat(Json.parse("9223372036854775808".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(0x1p63);
        assertThat(Json.parse("[-9223372036854775808]".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(List.of(Long.MIN_VALUE));
    }
}
