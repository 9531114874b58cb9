package dev.muster.cli.command;

import dev.muster.model.format.Digits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Looks up users and groups: in the text of the local files, and by getent what they lack. */
public final class NameService {
    private NameService() {}

    public static String nameOf(String table, int id) {
        String wanted = Integer.toString(id);
        int index = 0;
        while (index < table.length()) {
            int end = table.indexOf('\n', index);
            end = end < 0 ? table.length() : end;
            int a = table.indexOf(':', index);
            int b = a < 0 ? -1 : table.indexOf(':', a + 1);
            int c = b < 0 ? -1 : table.indexOf(':', b + 1);
            if (c > 0 && c < end && table.substring(b + 1, c).equals(wanted)) {
                return table.substring(index, a);
            }
            index = end + 1;
        }
        return "";
    }

    public static int idOf(String table, String name) {
        int index = 0;
        while (index < table.length()) {
            int end = table.indexOf('\n', index);
            end = end < 0 ? table.length() : end;
            if (table.startsWith(name + ":", index)) {
                int b = table.indexOf(':', index + name.length() + 1);
                int c = b < 0 ? -1 : table.indexOf(':', b + 1);
                return c < 0 ? -1 : number(table.substring(b + 1, c));
            }
            index = end + 1;
        }
        return -1;
    }

    public static int number(String text) {
        long n = Digits.parseNumber(text);
        return n < 0 || n > Integer.MAX_VALUE ? -1 : (int) n;
    }

    /** Field number of getent's line, "" if the name service knows nothing. */
    public static String fromGetent(String database, String key, int field) {
        if (key.isEmpty() || key.startsWith("-")) {
            return "";
        }
        String line = output("getent", database, key);
        int from = 0;
        for (int i = 0; i < field; i++) {
            from = line.indexOf(':', from) + 1;
            if (from == 0) {
                return "";
            }
        }
        int end = line.indexOf(':', from);
        return end < 0 ? "" : line.substring(from, end);
    }

    /**
     * Resolves a word of digits to a uid: the user with that name, else the user with that uid; -1 if neither exists.
     */
    public static int ofDigits(String digits) {
        return number(output("id", "-u", digits).strip());
    }

    private static String output(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            try (InputStream in = process.getInputStream()) {
                return new String(in.readNBytes(4096), StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            return "";
        }
    }
}
