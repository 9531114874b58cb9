package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.Qos;
import dev.muster.model.accounting.Entities.Tres;
import dev.muster.model.accounting.LimitField;
import dev.muster.model.format.UpdateSign;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A value that is set over an old one. */
final class Values {
    private Values() {}

    /**
     * The new value; "" for none. Errors are sentences.
     *
     * @param typed may begin with {@code +=} or {@code -=}, of lists and flags
     */
    static String applied(
            AssocTree book, LimitField field, String old, String typed, boolean ofQos, List<String> errors) {
        char sign;
        if (typed.startsWith("+=")) {
            sign = '+';
        } else if (typed.startsWith("-=")) {
            sign = '-';
        } else {
            sign = '=';
        }

        String value = sign == '=' ? typed : typed.substring(2);
        return switch (field.kind()) {
            case TRES -> tres(book, old, value, errors);
            case NAMES ->
                field.name().equals("Preempt")
                        ? preempt(book, old, value, sign, errors)
                        : qos(book, old, value, sign, errors);
            case NAME ->
                value.isEmpty()
                                || book.qos(value.toLowerCase(java.util.Locale.ROOT))
                                        .isPresent()
                        ? value.toLowerCase(java.util.Locale.ROOT)
                        : refused("", badDefaultQos(value), errors);
            case FLAGS -> flags(field, old, value, sign, ofQos, errors);
            default -> value;
        };
    }

    static String badDefaultQos(String name) {
        return "You gave a bad default qos '" + name + "'.  Use 'list qos' to get complete list.";
    }

    private static String refused(String result, String sentence, List<String> errors) {
        if (!errors.contains(sentence)) {
            errors.add(sentence);
        }
        return result;
    }

    private static String tres(AssocTree book, String old, String value, List<String> errors) {
        if (value.isEmpty()) {
            return "";
        }
        List<String> whole = new ArrayList<>();
        for (String item : value.split(",")) {
            int equalSign = item.indexOf('=');
            char sign = item.charAt(equalSign - 1);
            boolean signed = sign == '+' || sign == '-';
            String name = named(book, item.substring(0, signed ? equalSign - 1 : equalSign));
            whole.add(name + "="
                    + (signed ? moved(old, name, sign, item.substring(equalSign + 1)) : item.substring(equalSign + 1)));
            if (book.tres().stream().noneMatch(t -> t.full().equalsIgnoreCase(name))) {
                return refused(old, "sacctmgr: error: slurmdb_format_tres_str: no TRES known by type " + name, errors);
            }
        }
        String merged = EffectiveLimits.mergedTres(old, String.join(",", whole));
        List<String> items = new ArrayList<>(merged.isEmpty() ? List.of() : List.of(merged.split(",")));
        items.sort(java.util.Comparator.comparing(i -> i.substring(0, i.indexOf('='))));
        return String.join(",", items);
    }

    /** A resource may be called by its number as well: {@code 1} is cpu. */
    private static String named(AssocTree book, String typed) {
        return book.tres().stream()
                .filter(t -> Integer.toString(t.id()).equals(typed))
                .findFirst()
                .map(Tres::full)
                .orElse(typed);
    }

    /** A count with something added or taken: never below nothing. */
    private static String moved(String old, String name, char sign, String by) {
        BigInteger now = BigInteger.ZERO;
        for (String item : old.split(",")) {
            if (item.startsWith(name + "=")) {
                now = new BigInteger(item.substring(name.length() + 1));
            }
        }
        BigInteger delta = new BigInteger(by);
        return (sign == '+' ? now.add(delta) : now.subtract(delta))
                .max(BigInteger.ZERO)
                .min(LimitField.COUNT_MAX)
                .toString();
    }

    private static Set<String> words(String list) {
        Set<String> out = new LinkedHashSet<>();
        for (String word : list.split(",")) {
            if (!word.isBlank()) {
                out.add(word.strip());
            }
        }
        return out;
    }

    private static Optional<String> badQos(AssocTree book, Set<String> names) {
        for (String name : names) {
            if (book.qos(name).isEmpty()) {
                return Optional.of("sacctmgr: error: You gave a bad qos '" + name + "'. Valid QOS's are "
                        + String.join(",", book.qos().stream().map(Qos::name).toList()));
            }
        }
        return Optional.empty();
    }

    /** QOS of an association: a whole list, or changes to the list of its parent. */
    private static String qos(AssocTree book, String old, String value, char sign, List<String> errors) {
        Set<String> names = new LinkedHashSet<>();
        Set<String> signed = new LinkedHashSet<>();
        for (String word : words(value.toLowerCase(java.util.Locale.ROOT))) {
            boolean isChange = UpdateSign.isSigned(word);
            names.add(UpdateSign.unsigned(word));
            signed.add(isChange ? word : sign + word);
        }
        Optional<String> invalid = badQos(book, names);
        if (invalid.isPresent()) {
            return refused(old, invalid.get(), errors);
        }
        if (sign == '=' && signed.stream().allMatch(w -> w.startsWith("="))) {
            return String.join(",", names);
        }
        boolean whole = !old.isEmpty() && !old.startsWith("+") && !old.startsWith("-");
        Set<String> out = words(old);
        for (String word : signed) {
            String name = word.substring(1);
            boolean add = word.charAt(0) != '-';
            out.remove("+" + name);
            out.remove("-" + name);
            if (whole) {
                if (add) {
                    out.add(name);
                } else {
                    out.remove(name);
                }
            } else {
                out.add((add ? "+" : "-") + name);
            }
        }
        return String.join(",", out);
    }

    private static String preempt(AssocTree book, String old, String value, char sign, List<String> errors) {
        Set<String> names = words(value.toLowerCase(java.util.Locale.ROOT));
        Optional<String> invalid = badQos(book, names);
        if (invalid.isPresent()) {
            return refused(old, invalid.get(), errors);
        }
        return combined(old, names, sign);
    }

    private static String combined(String old, Set<String> words, char sign) {
        Set<String> out = sign == '=' ? new LinkedHashSet<>() : words(old);
        if (sign == '-') {
            out.removeAll(words);
        } else {
            out.addAll(words);
        }
        return String.join(",", out);
    }

    /** Flag of an account by which its users coordinate it. */
    private static String coordinators(String old, String value, char sign, List<String> errors) {
        String none = "No" + LimitField.USERS_ARE_COORDS;
        Set<String> names = words(value);
        Optional<String> unknown = names.stream()
                .filter(w -> !w.equalsIgnoreCase(LimitField.USERS_ARE_COORDS) && !w.equalsIgnoreCase(none))
                .findFirst();
        if (unknown.isPresent()) {
            return refused(old, " Unknown Flag(s)=" + unknown.get(), errors);
        }
        if (names.stream().anyMatch(none::equalsIgnoreCase)) {
            return "";
        }
        return combined(old, value.isBlank() ? Set.of() : Set.of(LimitField.USERS_ARE_COORDS), sign);
    }

    private static String flags(
            LimitField field, String old, String value, char sign, boolean ofQos, List<String> errors) {
        if (!ofQos) {
            return coordinators(old, value, sign, errors);
        }
        if (field.name().equals("PreemptMode")) {
            return preemptMode(old, value, errors);
        }
        List<String> known = LimitField.QOS_FLAGS;
        Set<String> spelled = new LinkedHashSet<>();
        for (String word : words(value)) {
            Optional<String> match =
                    known.stream().filter(k -> k.equalsIgnoreCase(word)).findFirst();
            if (match.isEmpty()) {
                return refused(
                        old,
                        " Unknown QOS flag used in:\n  '" + value + "'\n Valid QOS flags are\n  '"
                                + String.join(",", known) + "'",
                        errors);
            }
            spelled.add(match.get());
        }
        Set<String> combined = words(combined(old, spelled, sign));
        return String.join(",", known.stream().filter(combined::contains).toList());
    }

    /** PreemptMode of a QOS: one mode, and WITHIN. OFF means the mode of the cluster and is stored as no value. */
    private static String preemptMode(String old, String value, List<String> errors) {
        List<String> modes =
                words(value.toUpperCase(java.util.Locale.ROOT)).stream().toList();
        List<String> ways = modes.stream()
                .filter(w -> !w.equals("WITHIN") && !w.equals("PRIORITY"))
                .toList();
        if (ways.size() > 1 || !LimitField.PREEMPT_MODES.containsAll(modes)) {
            return refused(old, " Bad Preempt Mode given: preemptmode=" + value, errors);
        }
        return String.join(
                ",",
                LimitField.PREEMPT_MODES.stream()
                        .filter(w -> modes.contains(w) && !w.equals("OFF") && !w.equals("CLUSTER"))
                        .toList());
    }
}
