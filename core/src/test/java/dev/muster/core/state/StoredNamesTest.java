package dev.muster.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Codec;
import dev.muster.model.accounting.DbdMessages;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Components whose names have changed keep their old names in the journal and in messages. */
class StoredNamesTest {
    private static String json(Object record) {
        return new String(Codec.encode(record), StandardCharsets.UTF_8);
    }

    @Test
    void allocationKeepsItsStoredLicenseName() {
        Allocation held = Codec.decode("{\"licences\":\"lic:2\"}".getBytes(StandardCharsets.UTF_8), Allocation.class);
        assertThat(held.licenses()).isEqualTo("lic:2");
        assertThat(json(held)).contains("\"licences\":\"lic:2\"");
    }

    @Test
    void remoteLicensesKeepTheirStoredName() {
        String written = "{\"licences\":[\"a@b:1\"]}";
        byte[] bytes = written.getBytes(StandardCharsets.UTF_8);
        assertThat(Codec.decode(bytes, Change.PolicyChanged.class).licenses()).isEqualTo(List.of("a@b:1"));
        DbdMessages.Policy policy = Codec.decode(bytes, DbdMessages.Policy.class);
        assertThat(policy.licenses()).isEqualTo(List.of("a@b:1"));
        assertThat(json(policy)).contains("\"licences\":[\"a@b:1\"]");
    }
}
