package dev.muster.cli.acct;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The words of a sacctmgr command after the entity, split at {@code where} and {@code set}.
 *
 * @param where before {@code set}, or after {@code where}
 * @param set after {@code set}
 * @param hasSet whether {@code set} was given
 */
record Clause(List<Item> where, List<Item> set, boolean hasSet) {
    /**
     * @param key "" for a bare word
     * @param sign {@code =}, {@code +} or {@code -}
     * @param typed the whole clause as typed
     */
    record Item(String key, char sign, String value, String typed) {}

    static Clause of(List<String> args) {
        List<Item> where = new ArrayList<>();
        List<Item> set = new ArrayList<>();
        boolean setting = false;
        boolean hasSet = false;
        for (String arg : args) {
            String lower = arg.toLowerCase(Locale.ROOT);
            if (lower.equals("set")) {
                setting = true;
                hasSet = true;
            } else if (lower.equals("where")) {
                setting = false;
            } else {
                (setting ? set : where).add(item(arg));
            }
        }
        return new Clause(where, set, hasSet);
    }

    static Item item(String arg) {
        int equalSign = arg.indexOf('=');
        if (equalSign <= 0) {
            return new Item("", '=', unquoted(arg), arg);
        }
        char before = arg.charAt(equalSign - 1);
        boolean signed = before == '+' || before == '-';
        return new Item(
                arg.substring(0, signed ? equalSign - 1 : equalSign).strip(),
                signed ? before : '=',
                unquoted(arg.substring(equalSign + 1).strip()),
                arg);
    }

    static String unquoted(String text) {
        if (text.length() >= 2
                && (text.charAt(0) == '"' || text.charAt(0) == '\'')
                && text.charAt(text.length() - 1) == text.charAt(0)) {
            return text.substring(1, text.length() - 1);
        }
        return text;
    }
}
