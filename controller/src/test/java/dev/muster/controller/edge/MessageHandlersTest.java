package dev.muster.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.api.JobMessages;
import dev.muster.model.api.MessageRights;
import dev.muster.model.api.MessageRights.Need;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** Messages, the rights that they need, and how their requests are read. */
class MessageHandlersTest {
    private static final Caller CALLER = new Caller(7, 7);

    private static byte[] bytes(String json) {
        return json.getBytes(StandardCharsets.UTF_8);
    }

    private static MessageRights.Rule rule(String message) {
        return MessageRights.controller().get(message);
    }

    @Test
    void aMessageHasTheRightsOfItsWords() {
        MessageHandlers table = new MessageHandlers()
                .byWord(
                        "JobAction",
                        JobMessages.JobAction.class,
                        true,
                        JobMessages.JobAction::action,
                        (_, m) -> Reply.of(m))
                .byWord(
                        "QueryDiagnostics",
                        ClusterMessages.QueryDiagnostics.class,
                        false,
                        q -> q.reset() ? "reset" : "",
                        (_, q) -> Reply.of(q));
        MessageHandlers.Message<?> action = table.find("JobAction").orElseThrow();
        assertThat(action.right(bytes("{\"action\":\"suspend\"}"))).contains(rule("JobAction suspend"));
        assertThat(action.right(bytes("{\"action\":\"dance\"}"))).isEmpty();
        MessageHandlers.Message<?> diagnostics = table.find("QueryDiagnostics").orElseThrow();
        assertThat(diagnostics.right(bytes("{}")).orElseThrow().need()).isEqualTo(Need.ANYBODY);
        assertThat(diagnostics.right(bytes("{\"reset\":true}")).orElseThrow().need())
                .isEqualTo(Need.ADMINISTRATOR);
        assertThat(table.find("Dance")).isEmpty();
    }

    @Test
    void unknownFieldIsRefusedInAChangingRequest() {
        AtomicReference<Object> seen = new AtomicReference<>();
        MessageHandlers table = new MessageHandlers()
                .on("AssignNode", ClusterMessages.AssignNode.class, (_, m) -> {
                    seen.set(m);
                    return Reply.of(m);
                })
                .onKnown("UpdateNode", ClusterMessages.UpdateNode.class, (_, m) -> Reply.of(m))
                .plain("Ping", caller -> {
                    seen.set(caller);
                    return Reply.of(new ClusterMessages.QueryDiagnostics(false));
                });
        table.find("AssignNode").orElseThrow().answer(CALLER, bytes("{\"later\":1}"));
        assertThat(seen.get()).isEqualTo(Codec.bind(new Json.Obj(), ClusterMessages.AssignNode.class));
        Assertions.assertThatExceptionOfType(Json.MalformedException.class)
                .isThrownBy(() -> table.find("UpdateNode").orElseThrow().answer(CALLER, bytes("{\"later\":1}")));
        table.find("Ping").orElseThrow().answer(CALLER, bytes("no JSON at all"));
        assertThat(seen.get()).isEqualTo(CALLER);
    }

    @Test
    void noMessageHasTwoHandlersOrNoRight() {
        MessageHandlers table = new MessageHandlers().plain("Ping", _ -> Reply.of(List.of()));
        assertThatIllegalStateException().isThrownBy(() -> table.plain("Ping", _ -> Reply.of(List.of())));
        assertThatIllegalStateException().isThrownBy(() -> table.plain("Dance", _ -> Reply.of(List.of())));
    }
}
