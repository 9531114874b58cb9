package dev.muster.daemon;

import dev.muster.model.Identity;
import dev.muster.model.format.ErrorSentence;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * SlurmUser of slurmctld and slurmdbd. Root's daemon gives it the log, the pid file and the state of a predecessor that
 * ran as root, and then becomes it for good; a daemon of any other user than SlurmUser does not start. Called by both
 * daemons' Main, after the configuration and the keys have been read and before the state is.
 */
public final class DaemonUser {
    /** Numbers of errors of the system: not permitted, no access. */
    private static final int EPERM = 1;

    private static final int EACCES = 13;

    private static final int SAME_GROUP = -1;

    private final String name;
    private final int uid;
    private final int gid;
    private final int ownUid;
    private final int ownGid;

    DaemonUser(String name, int uid, int gid, int ownUid, int ownGid) {
        this.name = name;
        this.uid = uid;
        this.gid = gid;
        this.ownUid = ownUid;
        this.ownGid = ownGid;
    }

    /** @param name SlurmUser: a name or a number; a number without a name is this process's own */
    public static DaemonUser of(String name, Identities identities) {
        int ownUid = ProcessIds.uid();
        int ownGid = ProcessIds.gid();
        Optional<Identity> user = identities.byName(name);
        return new DaemonUser(
                name,
                user.map(Identity::uid).orElse(ownUid),
                user.map(Identity::gid).orElse(ownGid),
                ownUid,
                ownGid);
    }

    /** Returns whether root runs this process and SlurmUser is another user. */
    public boolean isChange() {
        return ownUid == 0 && uid != 0;
    }

    /** @throws IOException in Slurm's words, if this process cannot become SlurmUser */
    public void checkPermitted() throws IOException {
        if (ownUid != 0 && ownGid != gid) {
            throw new IOException(groupRefused());
        }
        if (ownUid != 0 && ownUid != uid) {
            throw new IOException(userRefused("Operation not permitted"));
        }
    }

    private String groupRefused() {
        return "Failed to set GID to " + gid;
    }

    private String userRefused(@Nullable String reason) {
        return "Can not set uid to SlurmUser(" + uid + "): " + reason;
    }

    /** A log that root opened. One that is a link stays root's. */
    public void own(Path file, DaemonLog log) {
        give(file, gid, log);
    }

    /** A pid file: the directory is root's, as is the group. */
    public void ownPidFile(Path file, DaemonLog log) {
        give(file, SAME_GROUP, log);
    }

    private void give(Path file, int group, DaemonLog log) {
        Path absolute = file.toAbsolutePath();
        Path directory = absolute.getParent();
        if (isChange() && directory != null && Files.isRegularFile(absolute)) {
            try {
                handOver(directory, absolute.getFileName().toString(), group);
            } catch (IOException e) {
                log.error("chown(" + file + ", " + uid + ", " + group + "): " + ErrorSentence.reason(e));
            }
        }
    }

    /**
     * Gives SlurmUser what a predecessor that ran as root left in a directory: plain files of one name and directories,
     * never the target of a link.
     *
     * @param key of the configuration that names the directory
     * @param mark a name that only state has: a directory without it stays as it is
     * @param last names of the directory that may hold very many files, and are looked into where others were root's
     */
    public void takeOver(String key, Path directory, String mark, List<String> last, DaemonLog log) throws IOException {
        if (!isChange() || !Files.isDirectory(directory) || !Files.exists(directory.resolve(mark))) {
            return;
        }
        List<String> names;
        try (Stream<Path> all = Files.list(directory)) {
            names = all.map(p -> p.getFileName().toString())
                    .filter(n -> !last.contains(n))
                    .sorted()
                    .toList();
        }
        int[] sum = {0, 0};
        try {
            for (String entry : names) {
                add(sum, handOver(directory, entry, gid));
            }
            for (String entry : last) {
                Path part = directory.resolve(entry);
                if (Files.isDirectory(part)
                        && (sum[0] > 0 || Files.getAttribute(part, "unix:uid").equals(0))) {
                    add(sum, handOver(directory, entry, gid));
                }
            }
            add(sum, handOver(directory, ".", gid));
        } catch (AccessDeniedException e) {
            // root has no rights on the file system, as with NFS's root_squash: what matters is what SlurmUser may do
            log.verbose(key + "=" + directory + ": root cannot look into " + e.getFile());
        } catch (IOException e) {
            throw new IOException(
                    key + "=" + directory + ": files of root cannot be given to SlurmUser " + name + ": "
                            + ErrorSentence.of(e) + ". " + advice(directory),
                    e);
        }
        if (sum[0] > 0) {
            log.info(key + "=" + directory + ": " + sum[0] + " files and directories of root belong to SlurmUser "
                    + name + " now");
        }
        if (sum[1] > 0) {
            log.error(key + "=" + directory + ": " + sum[1]
                    + " links, special files or files with several names stay root's");
        }
    }

    private static void add(int[] sum, int[] more) {
        sum[0] += more[1];
        sum[1] += more[2];
    }

    private int[] handOver(Path directory, String entry, int group) throws IOException {
        int[] answer;
        try {
            answer = Native.handOver(
                    directory.toString().getBytes(StandardCharsets.UTF_8),
                    entry.getBytes(StandardCharsets.UTF_8),
                    uid,
                    group);
        } catch (UnsatisfiedLinkError e) {
            throw new IOException("not started by the launcher", e);
        }
        if (answer[0] == EACCES || answer[0] == EPERM) {
            throw new AccessDeniedException(entry);
        }
        if (answer[0] != 0) {
            throw new IOException(entry + ": " + ProcessIds.words(answer[0]));
        }
        return answer;
    }

    /** Advice for an administrator about files that SlurmUser cannot use. */
    public String advice(Path directory) {
        return "chown -R " + name + " " + directory;
    }

    /**
     * Says which part of a directory's state SlurmUser cannot use: called after the change.
     *
     * @param parts names in the directory that may be there: files, and directories with files
     */
    public Optional<String> unusable(String key, Path directory, List<String> parts) throws IOException {
        for (Path part : parts.stream().map(directory::resolve).toList()) {
            if (!isUsable(part)) {
                return Optional.of(sentence(key, directory, part));
            }
            if (Files.isDirectory(part)) {
                try (Stream<Path> entries = Files.list(part)) {
                    Optional<Path> bad = entries.filter(p -> !isUsable(p)).findFirst();
                    if (bad.isPresent()) {
                        return Optional.of(sentence(key, directory, bad.get()));
                    }
                }
            }
        }
        return Optional.empty();
    }

    private String sentence(String key, Path directory, Path part) {
        return key + "=" + directory + ": SlurmUser " + name + " cannot read and write " + part
                + ". Let root start the daemon once, or: " + advice(directory);
    }

    private static boolean isUsable(Path path) {
        return Files.isSymbolicLink(path)
                || !Files.exists(path)
                || Files.isReadable(path)
                        && Files.isWritable(path)
                        && (!Files.isDirectory(path) || Files.isExecutable(path));
    }

    /**
     * Nothing where it is SlurmUser already.
     *
     * @throws IOException in Slurm's words
     */
    public void become() throws IOException {
        checkPermitted();
        if (!isChange()) {
            return;
        }
        try {
            ProcessIds.setGroups(Optional.of(name), gid);
            ProcessIds.setGid(gid);
        } catch (IOException e) {
            throw new IOException(groupRefused() + ": " + ErrorSentence.of(e), e);
        }
        try {
            ProcessIds.setUid(uid);
            ProcessIds.openToUser();
        } catch (IOException e) {
            throw new IOException(userRefused(ErrorSentence.of(e)), e);
        }
        if (ProcessIds.uid() != uid || ProcessIds.gid() != gid) {
            throw new IOException(userRefused("it stays " + ProcessIds.uid()));
        }
        System.setProperty("user.name", name);
        checkProgram();
    }

    /** Classes are read as they are needed. */
    private void checkProgram() throws IOException {
        for (String jar : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!jar.isEmpty() && !Files.isReadable(Path.of(jar))) {
                throw new IOException("SlurmUser " + name + " cannot read " + jar
                        + ": the installation must be readable by all users");
            }
        }
    }
}
