package dev.muster.rest.http;

import dev.muster.daemon.Identities;
import dev.muster.model.Identity;
import dev.muster.rest.Options;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Who this process is, and becoming somebody else for good. The C library changes the identity of all threads. */
public final class Privileges {
    private static final Identities IDENTITIES = new Identities();

    private Privileges() {}

    private static int status(String key) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith(key + ":")) {
                    return Integer.parseInt(line.substring(key.length() + 1).strip().split("\\s+")[1]);
                }
            }
        } catch (IOException | NumberFormatException e) {
            return -1;
        }
        return -1;
    }

    /** Effective. */
    public static int uid() {
        return status("Uid");
    }

    public static int gid() {
        return status("Gid");
    }

    public static String groupName(int gid) {
        return IDENTITIES.groupName(gid);
    }

    public static String userName() {
        return IDENTITIES.userName(uid());
    }

    /** Refuses what would give the daemon all that slurmctld may. @throws Options.Unfit in Slurm's words */
    public static void check(String slurmUser) throws Options.Unfit {
        Optional<Identity> slurm = IDENTITIES.byName(slurmUser);
        if (uid() == 0) {
            throw new Options.Unfit("slurmrestd should not be run as the root user.");
        }
        if (gid() == 0) {
            throw new Options.Unfit("slurmrestd should not be run with the root group.");
        }
        if (slurm.isPresent() && slurm.get().uid() == uid()) {
            throw new Options.Unfit("slurmrestd should not be run as SlurmUser");
        }
        if (slurm.isPresent() && slurm.get().gid() == gid()) {
            throw new Options.Unfit("slurmrestd should not be run with SlurmUser's group.");
        }
    }

    private static int numeric(String text, boolean user) throws Options.Unfit {
        return (user ? IDENTITIES.byName(text).map(Identity::uid) : IDENTITIES.group(text).map(Identities.Group::gid))
                .or(() -> text.matches("[0-9]{1,9}") ? Optional.of(Integer.parseInt(text)) : Optional.empty())
                .orElseThrow(() -> new Options.Unfit("Unable to resolve " + (user ? "user: " : "gid: ") + text));
    }

    /** @param user and group by name or number, "" to stay */
    public static void become(String user, String group) throws Options.Unfit {
        if (!group.isEmpty()) {
            call("setgroups", 0);
            call("setgid", numeric(group, false));
        }
        if (!user.isEmpty()) {
            int uid = numeric(user, true);
            if (group.isEmpty() && uid() == 0) {
                call("setgroups", 0);
                int gid = IDENTITIES.byUid(uid).map(Identity::gid).orElseThrow(() -> new Options.Unfit("Unable to resolve user: " + user));
                call("setgid", gid);
            }
            call("setuid", uid);
        }
    }

    private static void call(String name, int value) throws Options.Unfit {
        Linker linker = Linker.nativeLinker();
        MemorySegment address = linker.defaultLookup().find(name).orElseThrow(() -> new Options.Unfit("no " + name));
        int rc;
        try {
            if (name.equals("setgroups")) {
                rc = (int) linker.downcallHandle(address, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS))
                        .invokeExact(0L, MemorySegment.NULL);
            } else {
                rc = (int) linker.downcallHandle(address, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)).invokeExact(value);
            }
        } catch (Throwable e) {
            throw new Options.Unfit(name + ": " + e.getMessage());
        }
        if (rc != 0) {
            throw new Options.Unfit("Unable to " + name + (name.equals("setgroups") ? "" : " " + value) + ": Operation not permitted");
        }
    }
}
