package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.AdminLevel;
import java.util.Locale;
import java.util.Optional;

/** An administrator's level as it is typed. */
final class AdminLevels {
    private AdminLevels() {}

    static Optional<AdminLevel> of(String typed) {
        String lower = typed.toLowerCase(Locale.ROOT);
        if (lower.isEmpty()) {
            return Optional.empty();
        }
        if (lower.startsWith("n") || lower.equals("-1")) {
            return Optional.of(AdminLevel.NONE);
        }
        if (lower.startsWith("o")) {
            return Optional.of(AdminLevel.OPERATOR);
        }
        return lower.startsWith("ad") || lower.startsWith("su") || lower.equals("a")
                ? Optional.of(AdminLevel.ADMINISTRATOR)
                : Optional.empty();
    }
}
