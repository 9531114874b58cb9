package dev.muster.cli.connection;

import dev.muster.cli.command.NameService;
import dev.muster.cli.command.RawText;
import dev.muster.model.format.Digits;
import dev.muster.transport.MonotonicClock;
import java.io.IOException;

/** Users and groups of this machine, read again when older than 10 seconds. */
public final class UserNames {
    private static final long FRESH_MS = 10_000;
    private static final int FILE_BYTES_MAX = 16 << 20;

    private String passwd = "";
    private String group = "";
    private long readMs;

    private synchronized void refresh() {
        long now = MonotonicClock.ms();
        if (passwd.isEmpty() || now - readMs > FRESH_MS) {
            readMs = now;
            passwd = read("/etc/passwd");
            group = read("/etc/group");
        }
    }

    private static String read(String path) {
        try (java.io.FileInputStream in = new java.io.FileInputStream(path)) {
            return RawText.decode(in.readNBytes(FILE_BYTES_MAX));
        } catch (IOException e) {
            return "";
        }
    }

    public String userName(int uid) {
        refresh();
        String name = NameService.nameOf(passwd, uid);
        return name.isEmpty() ? NameService.fromGetent("passwd", Integer.toString(uid), 0) : name;
    }

    public String groupName(int gid) {
        refresh();
        String name = NameService.nameOf(group, gid);
        return name.isEmpty() ? NameService.fromGetent("group", Integer.toString(gid), 0) : name;
    }

    public int userId(String nameOrId) {
        return id("passwd", nameOrId);
    }

    public int groupId(String nameOrId) {
        return id("group", nameOrId);
    }

    private int id(String database, String nameOrId) {
        refresh();
        int id = NameService.idOf(database.equals("passwd") ? passwd : group, nameOrId);
        long n = nameOrId.chars().allMatch(Character::isDigit) ? Digits.parseNumber(nameOrId) : -1;
        if (id >= 0 || n < 0) {
            return id >= 0 ? id : NameService.number(NameService.fromGetent(database, nameOrId, 2));
        }
        // a number may be a name that only the name service knows, which getent would take for the number
        int named = database.equals("passwd") ? NameService.ofDigits(nameOrId) : -1;
        if (named >= 0) {
            return named;
        }
        if (n <= Integer.MAX_VALUE) {
            return (int) n;
        }
        return -1;
    }
}
