package dev.muster.config.file;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Files of an Include line: one file, or with {@code *} and {@code ?} in its last part all matching files of that
 * directory, by name.
 */
public final class IncludedFiles {
    private IncludedFiles() {}

    /**
     * Returns empty where a directory with patterns cannot be listed; one file without patterns may be there or not.
     */
    public static Optional<List<File>> of(File target) {
        String last = target.getName();
        if (last.indexOf('*') < 0 && last.indexOf('?') < 0) {
            return Optional.of(List.of(target));
        }
        String[] names = target.getAbsoluteFile().getParentFile().list();
        if (names == null) {
            return Optional.empty();
        }
        Arrays.sort(names);
        return Optional.of(Arrays.stream(names)
                .filter(n -> !n.startsWith(".") && matches(last, 0, n, 0))
                .map(n -> new File(target.getParentFile(), n))
                .toList());
    }

    private static boolean matches(String pattern, int p, String name, int n) {
        if (p == pattern.length()) {
            return n == name.length();
        }
        if (pattern.charAt(p) == '*') {
            for (int skip = n; skip <= name.length(); skip++) {
                if (matches(pattern, p + 1, name, skip)) {
                    return true;
                }
            }
            return false;
        }
        return n < name.length()
                && (pattern.charAt(p) == '?' || pattern.charAt(p) == name.charAt(n))
                && matches(pattern, p + 1, name, n + 1);
    }
}
