package dev.muster.daemon;

import dev.muster.model.Identity;
import dev.muster.transport.MonotonicClock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Users and groups of this host through {@code getent} and {@code id}, which ask every source the host is configured
 * for (files, LDAP, sssd). Answers are kept for a while; never called on the core thread.
 */
public final class Identities {
    static final long KEEP_MS = 60_000;
    private static final int STATED_MAX = 200_000;
    /** Before a number, in a key that is no name: names may be all digits. */
    private static final String NUMBER = "+";

    private final Map<String, CacheEntry<Optional<Identity>>> users = new ConcurrentHashMap<>();
    private final Groups groups = new Groups(
            k -> run("getent", "group", k).flatMap(Identities::parseGroup),
            System::currentTimeMillis,
            new java.io.File("/etc/group")::lastModified);

    /** Users as trusted daemons describe them; the least recently named is dropped first. */
    private final Map<String, Identity> stated = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Identity> eldest) {
            return size() > STATED_MAX;
        }
    };

    private record CacheEntry<T>(T value, long untilMs) {}

    public record Group(String name, int gid, List<String> members) {}

    /**
     * Sets this as the user's identity from now on, whatever this host knows. The caller has checked that the
     * description can be trusted.
     */
    public void state(Identity caller) {
        synchronized (stated) {
            for (String key : List.of(NUMBER + caller.uid(), caller.user())) {
                stated.remove(key);
                stated.put(key, caller);
            }
        }
    }

    public Optional<Identity> byUid(int uid) {
        return user(NUMBER + uid);
    }

    /** Finds a user by name; a number is the user of that number only where no user has it as a name. */
    public Optional<Identity> byName(String name) {
        return name.isEmpty() || name.startsWith("-") || name.startsWith(NUMBER) ? Optional.empty() : user(name);
    }

    /** The groups that the user is in now, looked up anew; a described user is in the groups of its description. */
    public Optional<List<Integer>> gidsNow(int uid) {
        users.remove(NUMBER + uid);
        return byUid(uid).map(Identity::gids);
    }

    /** The name, or the number as text where there is none. */
    public String userName(int uid) {
        return byUid(uid).map(Identity::user).orElse(Integer.toString(uid));
    }

    public String groupName(int gid) {
        return group(Integer.toString(gid)).map(Group::name).orElse(Integer.toString(gid));
    }

    public Groups groups() {
        return groups;
    }

    /** @param key name or number */
    public Optional<Group> group(String key) {
        return groups.group(key);
    }

    private Optional<Identity> user(String key) {
        synchronized (stated) {
            Identity identity = stated.get(key);
            if (identity != null) {
                return Optional.of(identity);
            }
        }
        return users.compute(key, (k, old) -> isFresh(old) ? old : entry(lookUp(k))).value;
    }

    private static boolean isFresh(CacheEntry<?> entry) {
        return entry != null && entry.untilMs > MonotonicClock.ms();
    }

    private static <T> CacheEntry<T> entry(T value) {
        return new CacheEntry<>(value, MonotonicClock.ms() + KEEP_MS);
    }

    /** getent takes digits for a number, id for a name first. */
    private Optional<Identity> lookUp(String key) {
        boolean digits = key.chars().allMatch(Character::isDigit);
        Optional<String> name;
        if (digits) {
            name = run("id", "-u", "--", key).map(String::strip);
        } else {
            name = Optional.of(key.startsWith(NUMBER) ? key.substring(NUMBER.length()) : key);
        }

        Optional<String> line = name.flatMap(k -> run("getent", "passwd", k));
        if (line.isEmpty()) {
            return Optional.empty();
        }
        String[] f = line.get().split("\n")[0].split(":", -1);
        if (f.length < 7) {
            return Optional.empty();
        }
        try {
            int gid = Integer.parseInt(f[3]);
            return Optional.of(
                    new Identity(Integer.parseInt(f[2]), gid, f[0], groupName(gid), gids(f[0], gid), f[5], f[6]));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static List<Integer> gids(String user, int primary) {
        TreeSet<Integer> out = new TreeSet<>(List.of(primary));
        run("id", "-G", "--", user).ifPresent(text -> {
            for (String word : text.trim().split("\\s+")) {
                try {
                    out.add(Integer.parseInt(word));
                } catch (NumberFormatException e) {
                    // not a number: id complained; the groups found so far stand
                }
            }
        });
        return List.copyOf(out);
    }

    private static Optional<Group> parseGroup(String text) {
        String[] f = text.split("\n")[0].split(":", -1);
        try {
            if (f.length < 4) {
                return Optional.empty();
            }
            return Optional.of(
                    new Group(f[0], Integer.parseInt(f[2]), f[3].isEmpty() ? List.of() : List.of(f[3].split(","))));

        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> run(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0 && !out.isBlank() ? Optional.of(out) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
