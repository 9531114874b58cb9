package dev.muster.cli.command;

import dev.muster.model.SlurmErrno;
import dev.muster.model.json.Json;
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
 * What a command may know of the process and machine it is asked from. The warm service and tests bring their own: a
 * command never
 * reads these from its JVM.
 */
public interface Host {
    /** Of /proc/PID/stat, counted behind the name. */
    int NICE_FIELD = 16;

    /** What is said about a command that cannot be found or run. */
    record Found(String path, boolean executable) {}

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

    /** This host's address, as far as it knows one; else that of the loop. */
    default String address() {
        try {
            return java.net.InetAddress.getByName(hostName()).getHostAddress();
        } catch (java.net.UnknownHostException e) {
            return java.net.InetAddress.getLoopbackAddress().getHostAddress();
        }
    }

    String userName(int uid);

    /** The caller's directory as the system's list of users has it, whatever HOME says; "" if it has none. */
    default String home() {
        return NameService.fromGetent("passwd", Integer.toString(uid()), 5);
    }

    /** A user's name as the system's list of users has it; "" if it has none. */
    default String properName(String user) {
        String gecos = NameService.fromGetent("passwd", user, 4);
        int comma = gecos.indexOf(',');
        return comma < 0 ? gecos : gecos.substring(0, comma);
    }

    /** @return uid of a user name or number as typed, -1 if there is none */
    int userId(String nameOrId);

    /** @return gid of a group name or number as typed, -1 if there is none */
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

    /** The caller's nice value; 0 where it cannot be told. */
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

    /** The configuration that the command goes by; the standard values where it cannot be read. */
    ClientConf settings();

    /** CliFilterPlugins that see the command's options. */
    default List<String> cliFilters() {
        return settings().cliFilters;
    }

    /** Whether a caller can wait for the end of a job. */
    default boolean isAttended() {
        return true;
    }

    /** Path of slurm.conf, "" where the host has no files. */
    default String confPath() {
        return "";
    }

    /** The kinds of {@code --mpi} that the installation serves. */
    default List<String> mpiKinds() {
        return MpiHelper.kinds(System.getProperty("muster.prefix", ""));
    }

    /** Whether jobs are charged to workload characterization keys. */
    default boolean tracksWckeys() {
        return settings().trackWckey;
    }

    /** The name of the user that the daemons run as. */
    default String slurmUser() {
        return settings().slurmUser;
    }

    /** AccountingStorageType, "" if the configuration names none. */
    default String accountingType() {
        return settings().accountingType;
    }

    /** AccountingStorageHost. */
    default String accountingHost() {
        return settings().accountingHost;
    }

    default int accountingPort() {
        return settings().accountingPort;
    }

    /** What follows must run in the caller's own process: it talks with a person, or needs the caller's own proof of identity. */
    void needsOwnProcess();

    /** Sleeps; false if the command was interrupted. */
    boolean pause(long ms);

    /** Names of clusters this host can reach: the configured one. */
    List<String> clusters();

    /** From here on another cluster's controller is spoken to. Only in the caller's own process. */
    default void selectCluster(KnownCluster cluster) {
        throw new IllegalStateException("one cluster's commands only");
    }

    /** The cluster that was turned to, where it is not that of slurm.conf. */
    default Optional<KnownCluster> remoteCluster() {
        return Optional.empty();
    }

    /** The cluster that was turned to, "" where it is that of slurm.conf as usual. */
    default String selectedCluster() {
        return "";
    }

    /** 32 fresh random hex digits: a request id. */
    String requestId();

    /** Names of the configured controllers, the primary first. */
    List<String> controllers();

    /** Asks a slurmd. */
    default Json.Obj callNode(String address, int port, String message, Json.Obj request) throws SlurmException {
        throw new SlurmException(SlurmErrno.CTLD_CONNECT.number(), "no way to " + address + ":" + port);
    }

    /** Opens a daemon's stream by name ({@code io}). */
    Frames openStream(String address, int port, String name) throws IOException, SlurmException;

    /** Makes an object that lives as long as the caller's process. */
    interface Maker<T> {
        T make() throws UsageException;
    }

    /** Returns the process's only object of the type, made at the first call. Only the caller's own process has such objects. */
    default <T> T oncePerProcess(Class<T> type, Maker<T> maker) throws UsageException {
        throw new IllegalStateException(type.getSimpleName() + " belongs to its caller's own process");
    }

    /** Runs the handler when the process gets the signal ({@code INT}), from a thread of its own. */
    void onSignal(String name, Runnable handler);

    /** The request that a thread of this command waits for fails at once. */
    default void giveUp(Thread asking) {}

    /** Starts something beside the command that ends with it at the latest. */
    default void startBackground(String name, Runnable work) {
        Thread.ofPlatform().daemon().name(name).start(work);
    }

    /** The caller is gone without having asked for an end. */
    default boolean isCallerGone() {
        return false;
    }

    /** The caller's process is stopped, though what it asked for goes on elsewhere. */
    default boolean isCallerStopped() {
        return false;
    }

    /** From now on this tells another process all it needs to go on in this one's place. */
    default void checkpoint(Json.Obj state) {}

    /** What another process began for this command; empty if this is the first. */
    default Optional<ResumableStep> resumable() {
        return Optional.empty();
    }

    /**
     * Output of a task.
     *
     * @param write writes it and answers up to which offset of the task's stream all has gone out
     * @return that offset
     */
    default long deliver(int task, int stream, LongSupplier write) {
        return write.getAsLong();
    }

    /** The signal does nothing any more. */
    default void ignoreSignal(String name) {}

    /** This process is not in the foreground of its terminal. */
    default boolean inBackground() {
        return false;
    }
}
