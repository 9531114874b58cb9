package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.Change;
import java.util.LinkedHashMap;
import java.util.Map;

/** Changes as tests write them. */
final class Lines {
    private Lines() {}

    /** {@code verb entity where… set…}: words with = after the word "set" are settings. */
    static Change change(String line) {
        String[] word = line.split(" ");
        Map<String, String> where = new LinkedHashMap<>();
        Map<String, String> set = new LinkedHashMap<>();
        Map<String, String> to = where;
        for (int i = 2; i < word.length; i++) {
            if (word[i].equals("set")) {
                to = set;
            } else {
                to.put(word[i].substring(0, word[i].indexOf('=')), word[i].substring(word[i].indexOf('=') + 1));
            }
        }
        return new Change(word[0], word[1], set, where, true);
    }
}
