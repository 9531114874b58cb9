package dev.muster.rest.contract;

import java.util.ArrayList;
import java.util.List;

/** Lists of words with commas between. */
public final class Words {
    private Words() {}

    /** The words of the text; empty ones are left out. */
    public static List<String> of(String text) {
        List<String> out = new ArrayList<>();
        for (String word : text.split(",")) {
            if (!word.isBlank()) {
                out.add(word.strip());
            }
        }
        return out;
    }
}
