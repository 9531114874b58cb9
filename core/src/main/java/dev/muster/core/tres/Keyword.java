package dev.muster.core.tres;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/** scontrol's keywords may be cut short: {@code allowaccount} is AllowAccounts. */
public final class Keyword {
    private static final int LEAST = 3;

    private Keyword() {}

    /** Returns the keyword that is meant, or what was typed if it is none or could be several. Lower case. */
    static String of(String typed, Collection<String> known) {
        if (known.contains(typed) || typed.length() < LEAST) {
            return typed;
        }
        String found = "";
        for (String key : known) {
            if (key.startsWith(typed)) {
                if (!found.isEmpty()) {
                    return typed;
                }
                found = key;
            }
        }
        return found.isEmpty() ? typed : found;
    }

    public static Map<String, String> whole(Map<String, String> changes, Collection<String> known) {
        Map<String, String> out = new TreeMap<>();
        changes.forEach((key, value) -> out.put(of(key, known), value));
        return out;
    }
}
