package dev.muster.controller.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScriptUploadsTest {
    private final List<String> log = new ArrayList<>();
    private final State state = State.EMPTY.apply(new Entry(
            0,
            0,
            0,
            "Config",
            List.of(new Change.ConfigApplied(
                    json("{'options':{'accounting_store':'job_script'}}", Settings.class), List.of(), List.of()))));
    private final ScriptUploads texts = new ScriptUploads(ScriptUploadsTest::content, log::add);

    private static Bytes content(String hash) {
        return switch (hash) {
            case "gone" -> throw new UncheckedIOException(new IOException("it is gone"));
            case "large" -> Bytes.of(new byte[ScriptUploads.CONTENT_BYTES_MAX + 1]);
            case "half1", "half2", "half3" -> Bytes.of(new byte[ScriptUploads.CONTENT_BYTES_MAX]);
            default -> Bytes.of(hash);
        };
    }

    private static <T> T json(String text, Class<T> type) {
        return Codec.decode(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8), type);
    }

    /** Returns the contents that go out with a batch of jobs that have these scripts. */
    private List<String> batch(String... scripts) {
        ScriptUploads.Batch of = texts.next();
        for (String script : scripts) {
            of.add(
                    state,
                    json(
                            "{'id':1,'sluid':1,'desc':{'kind':'BATCH','payload':{'scriptHash':'" + script + "'}}}",
                            Job.class));
        }
        assertThat(of.rows()).hasSize(scripts.length);
        return of.contents().stream().map(c -> c.hash()).toList();
    }

    @Test
    void textIsSentOnceUntilTheTablesMayHaveLostIt() {
        assertThat(batch("a", "b", "a")).containsExactly("a", "b");
        assertThat(batch("b", "c")).containsExactly("c");
        texts.forget();
        assertThat(batch("b")).containsExactly("b");
    }

    @Test
    void textThatCannotBeKeptIsLogged() {
        assertThat(batch("gone", "large", "a")).containsExactly("a");
        assertThat(log)
                .containsExactly(
                        "accounting: a script or an environment is not kept: it is gone",
                        "accounting: a script or an environment of 8388609 bytes is not kept; at most 8388608 are");
    }

    @Test
    void aBatchIsNoLargerThanAMessage() {
        assertThat(batch("half1", "half2", "a", "half3", "b")).containsExactly("half1", "half2", "a");
        assertThat(batch("half3", "b")).containsExactly("half3", "b");
    }
}
