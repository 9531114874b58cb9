package dev.muster.core.limits;

import dev.muster.core.state.Settings;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** What AccountingStorageEnforce asks for, with what each word implies. */
public record AccountingEnforcement(Set<Word> words) {
    private static final String OPTION = "accounting_enforce";

    /** Of AccountingStorageEnforce. */
    public enum Word {
        ASSOCIATIONS,
        LIMITS,
        NOJOBS,
        NOSTEPS,
        QOS,
        SAFE,
        WCKEYS
    }

    public static AccountingEnforcement of(Settings settings) {
        // the reader of slurm.conf has refused other words, and put what "all" and others imply
        List<String> given = List.of(settings.options().getOrDefault(OPTION, "").split(","));
        Set<Word> words = EnumSet.noneOf(Word.class);
        for (Word word : Word.values()) {
            if (given.contains(word.name().toLowerCase(Locale.ROOT))) {
                words.add(word);
            }
        }
        return new AccountingEnforcement(words);
    }

    public boolean has(Word word) {
        return words.contains(word);
    }
}
