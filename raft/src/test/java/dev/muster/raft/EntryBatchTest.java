package dev.muster.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;

class EntryBatchTest {
    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void entriesComeBackInTheirOrder() {
        EntryBatch back =
                EntryBatch.decode(new EntryBatch(7, List.of(bytes("a"), bytes(""), bytes("long one"))).encode());
        assertThat(back.first()).isEqualTo(7);
        assertThat(back.last()).isEqualTo(9);
        assertThat(back.entries()).containsExactly(bytes("a"), bytes(""), bytes("long one"));
    }

    @Test
    void aCutBatchIsRefused() {
        ByteString whole = new EntryBatch(1, List.of(bytes("entry"))).encode();
        for (int length = 0; length < whole.size(); length++) {
            ByteString cut = whole.substring(0, length);
            if (length != Long.BYTES) {
                assertThatThrownBy(() -> EntryBatch.decode(cut)).isInstanceOf(IllegalArgumentException.class);
            }
        }
    }
}
