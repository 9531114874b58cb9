package dev.muster.cli.command;

import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.transport.Frames;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The process and machine that a command runs for. A command never reads these from its own JVM: the command service
 * and tests bring hosts of their own.
 */
public interface Host {
    /** Field of /proc/PID/stat, counted behind the name. */
    int NICE_FIELD = 16;

    String workDir();

    long nowMs();

    ZoneId zone();

    int uid();

    int gid();

    int pid();

    int umask();

    /** RLIMIT name without prefix to soft limit, -1 for unlimited. */
    Map<String, Long> limits();

    String hostName();

    /** Returns this host's address; the loopback address if its name has none. */
    default String address() {
        try {
            return java.net.InetAddress.getByName(hostName()).getHostAddress();
        } catch (java.net.UnknownHostException e) {
            return java.net.InetAddress.getLoopbackAddress().getHostAddress();
        }
    }

    String userName(int uid);

    /** Returns the caller's home directory from the user database, whatever HOME is; "" if it has none. */
    default String home() {
        return NameService.fromGetent("passwd", Integer.toString(uid()), 5);
    }

    /** Returns a user's full name from the user database; "" if it has none. */
    default String properName(String user) {
        String gecos = NameService.fromGetent("passwd", user, 4);
        int comma = gecos.indexOf(',');
        return comma < 0 ? gecos : gecos.substring(0, comma);
    }

    /** Returns uid of a user name or number as typed, -1 if there is none. */
    int userId(String nameOrId);

    /** Returns gid of a group name or number as typed, -1 if there is none. */
    int groupId(String nameOrId);

    /** "" if there is no such group. */
    String groupName(int gid);

    /** Reads a file as the caller, at most maxBytes and one more. */
    byte[] readFile(String path, int maxBytes) throws IOException;

    /** Opens a file as the caller; only in the caller's own process is it read as it is asked for. */
    default InputStream openFile(String path) throws IOException {
        return new ByteArrayInputStream(readFile(path, Integer.MAX_VALUE - 8));
    }

    /** Writes a file as the caller. */
    void writeFile(String path, byte[] content, int mode) throws IOException;

    boolean isTty(int fd);

    Controller controller();

    /** Returns the caller's nice value; 0 if it cannot be read. */
    default int nice() {
        try {
            String stat = RawText.decode(readFile("/proc/" + pid() + "/stat", 4096));
            return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[NICE_FIELD]);
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }

    /** slurmdbd. */
    Controller accounting();

    /** Returns the command's configuration; default values if it cannot be read. */
    ClientConf settings();

    /** Returns the CliFilterPlugins that see the command's options. */
    default List<String> cliFilters() {
        return settings().cliFilters;
    }

    /** Returns whether the caller can wait for the end of a job. */
    default boolean isAttended() {
        return true;
    }

    /** Returns the path of slurm.conf, "" if the host has no files. */
    default String confPath() {
        return "";
    }

    /** Returns the kinds of {@code --mpi} that the installation serves. */
    default List<String> mpiKinds() {
        return MpiHelper.kinds(System.getProperty("muster.prefix", ""));
    }

    /** Returns whether jobs are charged to workload characterization keys. */
    default boolean tracksWckeys() {
        return settings().trackWckey;
    }

    /** Returns the name of the user that the daemons run as. */
    default String slurmUser() {
        return settings().slurmUser;
    }

    /** Returns AccountingStorageType, "" if the configuration names none. */
    default String accountingType() {
        return settings().accountingType;
    }

    /** Returns AccountingStorageHost. */
    default String accountingHost() {
        return settings().accountingHost;
    }

    /** Returns the hosts of slurmdbd: AccountingStorageHost, then AccountingStorageBackupHost if there is one. */
    default List<String> accountingHosts() {
        String backup = settings().accountingBackupHost;
        return backup.isEmpty() ? List.of(accountingHost()) : List.of(accountingHost(), backup);
    }

    /**
     * Calls the slurmdbd of one host, whether it serves or not.
     *
     * @param index of {@link #accountingHosts}
     */
    default Json.Obj callAccounting(int index, String message, Json.Obj request) throws SlurmException {
        return accounting().call(message, request);
    }

    default int accountingPort() {
        return settings().accountingPort;
    }

    /**
     * Demands the caller's own process for the rest of the command, which talks with the user or needs the caller's
     * credential.
     */
    void needsOwnProcess();

    /** Sleeps. Returns false if the command was interrupted. */
    boolean pause(long ms);

    /**
     * Returns the names of the clusters that this host reaches without slurmdbd: the configured or the selected one.
     */
    List<String> clusters();

    /** Directs later requests to another cluster's controller. Only the caller's own process can. */
    default void selectCluster(KnownCluster cluster) {
        throw new IllegalStateException("one cluster's commands only");
    }

    /** Returns the selected cluster, unless it is that of slurm.conf. */
    default Optional<KnownCluster> remoteCluster() {
        return Optional.empty();
    }

    /** Returns the name of the selected cluster; "" if none was selected. */
    default String selectedCluster() {
        return "";
    }

    /** Returns a new request id: 32 hex digits. */
    String requestId();

    /** Returns the names of the configured controllers, the primary first. */
    List<String> controllers();

    /**
     * Calls one of the configured controllers, whether it leads or not.
     *
     * @param index of {@link #controllers}
     */
    default Json.Obj callController(int index, String message, Json.Obj request) throws SlurmException {
        if (index > 0) {
            throw new SlurmException(SlurmErrno.CTLD_CONNECT.number(), SlurmErrno.CTLD_CONNECT.sentence());
        }
        return controller().call(message, request);
    }

    /** Calls a slurmd. */
    default Json.Obj callNode(String address, int port, String message, Json.Obj request) throws SlurmException {
        throw new SlurmException(SlurmErrno.CTLD_CONNECT.number(), "no way to " + address + ":" + port);
    }

    /** Opens a daemon's stream by name ({@code io}). */
    Frames openStream(String address, int port, String name) throws IOException, SlurmException;

    /** Makes an object that lives as long as the caller's process. */
    interface Maker<T> {
        T make() throws UsageException;
    }

    /**
     * Returns the process's only object of the type, made at the first call. Only the caller's own process has such
     * objects.
     */
    default <T> T oncePerProcess(Class<T> type, Maker<T> maker) throws UsageException {
        throw new IllegalStateException(type.getSimpleName() + " belongs to its caller's own process");
    }

    /** Runs the handler when the process gets the signal ({@code INT}), from a thread of its own. */
    void onSignal(String name, Runnable handler);

    /** Aborts the request that a thread of this command waits for. */
    default void giveUp(Thread asking) {}

    /** Starts work in the background, which ends with the command at the latest. */
    default void startBackground(String name, Runnable work) {
        Thread.ofPlatform().daemon().name(name).start(work);
    }

    /** Returns whether the caller is gone without having asked for an end. */
    default boolean isCallerGone() {
        return false;
    }

    /** Returns whether the caller's process is stopped while another process serves it. */
    default boolean isCallerStopped() {
        return false;
    }

    /** Sets the state from which another process can resume the command. */
    default void checkpoint(Json.Obj state) {}

    /** Returns the step that another process started for this command; empty if this is the first. */
    default Optional<ResumableStep> resumable() {
        return Optional.empty();
    }

    /**
     * Delivers output of a task.
     *
     * @param write writes it and answers up to which offset of the task's stream all has gone out
     * @return that offset
     */
    default long deliver(int task, int stream, LongSupplier write) {
        return write.getAsLong();
    }

    /** Ignores the signal from now on. */
    default void ignoreSignal(String name) {}

    /** Returns whether this process is in the background of its terminal. */
    default boolean inBackground() {
        return false;
    }
}
