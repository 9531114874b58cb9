package dev.muster.rest.http;

import dev.muster.daemon.Identities;
import dev.muster.daemon.ProcessIds;
import dev.muster.model.Identity;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.util.Optional;

/** Checks the user and group of slurmrestd, and changes to those of its options. */
public final class Privileges {
    private static final Identities IDENTITIES = new Identities();

    private Privileges() {}

    public static String groupName(int gid) {
        return IDENTITIES.groupName(gid);
    }

    public static String userName() {
        return IDENTITIES.userName(ProcessIds.uid());
    }

    /**
     * Refuses what would give the daemon all that slurmctld may.
     *
     * @throws StartupException in Slurm's words
     */
    public static void check(String slurmUser) throws StartupException {
        Optional<Identity> slurm = IDENTITIES.byName(slurmUser);
        if (ProcessIds.uid() == 0) {
            throw new StartupException("slurmrestd should not be run as the root user.");
        }
        if (ProcessIds.gid() == 0) {
            throw new StartupException("slurmrestd should not be run with the root group.");
        }
        if (slurm.isPresent() && slurm.get().uid() == ProcessIds.uid()) {
            throw new StartupException("slurmrestd should not be run as SlurmUser");
        }
        if (slurm.isPresent() && slurm.get().gid() == ProcessIds.gid()) {
            throw new StartupException("slurmrestd should not be run with SlurmUser's group.");
        }
    }

    private static int numeric(String text, boolean user) throws StartupException {
        return (user
                        ? IDENTITIES.byName(text).map(Identity::uid)
                        : IDENTITIES.group(text).map(Identities.Group::gid))
                .or(() -> text.matches("[0-9]{1,9}") ? Optional.of(Integer.parseInt(text)) : Optional.empty())
                .orElseThrow(() -> new StartupException("Unable to resolve " + (user ? "user: " : "gid: ") + text));
    }

    /** @param user and group by name or number, "" to stay */
    public static void become(String user, String group) throws StartupException {
        if (!group.isEmpty()) {
            int gid = numeric(group, false);
            call("setgroups", () -> ProcessIds.setGroups(Optional.empty(), gid));
            call("setgid " + gid, () -> ProcessIds.setGid(gid));
        }
        if (!user.isEmpty()) {
            int uid = numeric(user, true);
            if (group.isEmpty() && ProcessIds.uid() == 0) {
                call("setgroups", () -> ProcessIds.setGroups(Optional.empty(), 0));
                int gid = IDENTITIES
                        .byUid(uid)
                        .map(Identity::gid)
                        .orElseThrow(() -> new StartupException("Unable to resolve user: " + user));
                call("setgid " + gid, () -> ProcessIds.setGid(gid));
            }
            call("setuid " + uid, () -> ProcessIds.setUid(uid));
        }
    }

    private interface Call {
        void run() throws IOException;
    }

    private static void call(String name, Call call) throws StartupException {
        try {
            call.run();
        } catch (IOException e) {
            throw new StartupException("Unable to " + name + ": " + ErrorSentence.of(e));
        }
    }
}
