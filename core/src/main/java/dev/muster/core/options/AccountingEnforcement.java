package dev.muster.core.options;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Words of AccountingStorageEnforce, with what each word implies. */
public record AccountingEnforcement(Set<Word> words) {
    /** A word of AccountingStorageEnforce. */
    public enum Word {
        ASSOCIATIONS,
        LIMITS,
        NOJOBS,
        NOSTEPS,
        QOS,
        SAFE,
        WCKEYS
    }

    static AccountingEnforcement of(List<String> given) {
        // the reader of slurm.conf has refused other words, and put what "all" and others imply
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
