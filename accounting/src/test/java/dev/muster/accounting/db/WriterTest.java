package dev.muster.accounting.db;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class WriterTest {
    @Test
    void flushWithoutServerReportsTheError() {
        Database away = Database.postgreSql(new Database.Server("127.0.0.1", 1, "", "muster", "", "none"));
        assertThatThrownBy(() -> new Writer(away).flush()).isInstanceOf(SQLException.class);
    }
}
