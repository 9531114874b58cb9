package dev.muster.cli.format;

/** Orders names that end in numbers as users expect: n2 before n10. */
public final class NaturalOrder {
    private NaturalOrder() {}

    public static int compare(String a, String b) {
        int x = digitsFrom(a);
        int y = digitsFrom(b);
        int c = a.substring(0, x).compareTo(b.substring(0, y));
        if (c != 0) {
            return c;
        }
        int lengths = Integer.compare(a.length() - x, b.length() - y);
        return lengths != 0 ? lengths : a.compareTo(b);
    }

    private static int digitsFrom(String text) {
        int i = text.length();
        while (i > 0 && text.charAt(i - 1) >= '0' && text.charAt(i - 1) <= '9') {
            i--;
        }
        return i;
    }
}
