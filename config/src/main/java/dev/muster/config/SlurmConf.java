package dev.muster.config;

import dev.muster.config.file.Pairs;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.key.KeyCheck;
import dev.muster.config.key.Names;
import dev.muster.config.key.Values;
import dev.muster.model.format.LogLevels;
import dev.muster.model.job.MultiProgram;
import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A slurm.conf as a whole: checked, complete with defaults, immutable. */
public final class SlurmConf {
    /** Channels of an NVIDIA IMEX domain where SwitchParameters says nothing. */
    private static final int IMEX_CHANNELS = 2048;
    /** INFINITE or UNLIMITED where {@link #number} is asked. */
    public static final long UNLIMITED = Values.UNLIMITED;

    public static final String DEFAULT_FILE = "/etc/slurm/slurm.conf";

    /** The result of reading a file. */
    public sealed interface Parsed {
        record Ok(SlurmConf conf) implements Parsed {}

        record Invalid(List<ConfigError> errors) implements Parsed {}
    }

    private final String file;
    private final String[] texts;
    private final long[] numbers;
    private final boolean[] given;
    private final String[] keyFiles;
    private final int[] keyLines;
    /** Keys whose values are lists of words, as they were read. */
    private final Map<Key, Map<String, String>> parsed = new ConcurrentHashMap<>();

    private final List<List<String>> lines;
    private final List<Controller> controllers;
    private final List<NodeConf> nodes;
    private final List<PartitionConf> partitions;
    private final List<NodeSet> nodeSets;
    private final List<PowerAction> powerActions;
    private final List<ConfigError> warnings;
    private final long contentHash;
    private volatile @Nullable Map<String, NodeConf> nodesByName;

    /**
     * A program that scontrol may name for power up, down or reboot.
     *
     * @param location slurmctld or slurmd
     */
    public record PowerAction(String name, String location, String program) {
        public boolean isAtNode() {
            return location.equals("slurmd");
        }

        /** The program with its arguments. */
        public List<String> command() {
            return MultiProgram.words(program);
        }
    }

    /** A named group of nodes for the Nodes of partitions. */
    public record NodeSet(String name, String feature, String nodes) {}

    SlurmConf(SlurmConfReader reader, String file, List<ConfigError> warnings) {
        this.file = file;
        this.texts = reader.texts;
        this.numbers = reader.numbers;
        this.given = reader.given;
        this.keyFiles = reader.files;
        this.keyLines = reader.at;
        this.lines = reader.lines;
        this.controllers = List.copyOf(reader.controllers);
        this.nodes = List.copyOf(reader.nodes);
        this.partitions = List.copyOf(reader.partitions);
        this.nodeSets = List.copyOf(reader.nodeSets);
        this.powerActions = List.copyOf(reader.powerActions);
        this.warnings = List.copyOf(warnings);
        this.contentHash = reader.contentHash;
    }

    /** Reads and checks a file with all it includes. */
    public static Parsed read(File file) {
        return new SlurmConfReader().read(file);
    }

    /** The file to read: SLURM_CONF, else the installation's, else the system's. */
    public static File locate(Optional<String> slurmConf, Optional<File> prefix) {
        if (slurmConf.isPresent() && !slurmConf.get().isEmpty()) {
            return new File(slurmConf.get());
        }
        if (prefix.isPresent()) {
            File installed = new File(prefix.get(), "etc/slurm.conf");
            if (installed.exists()) {
                return installed;
            }
        }
        return new File(DEFAULT_FILE);
    }

    public String file() {
        return file;
    }

    /** A sister file beside slurm.conf, such as gres.conf. */
    public File sister(String name) {
        File parent = new File(file).getAbsoluteFile().getParentFile();
        return new File(parent, name);
    }

    /** The place of a key for error messages: the file, and the line if there is one. */
    public String place(Key key) {
        return given(key) ? new ConfigError(keyFiles[key.ordinal()], keyLines[key.ordinal()], "", "").place() : file;
    }

    /** Things that Slurm complains about without refusing them. */
    public List<ConfigError> warnings() {
        return warnings;
    }

    /** Equal for equal contents; daemons compare it to tell whether their files differ. */
    public long contentHash() {
        return contentHash;
    }

    // Any key.

    /** The value as written, or the default; empty when there is neither. */
    public String text(Key key) {
        return texts[key.ordinal()];
    }

    public boolean given(Key key) {
        return given[key.ordinal()];
    }

    /** The value of a numeric key, {@link #UNLIMITED} for INFINITE; seconds for durations. */
    public long number(Key key) {
        return numbers[key.ordinal()];
    }

    public boolean yes(Key key) {
        return numbers[key.ordinal()] != 0;
    }

    public List<String> list(Key key) {
        return key.kind() == Key.Kind.LINES ? lines.get(key.ordinal()) : Values.list(texts[key.ordinal()]);
    }

    /** True when a comma-separated value has the word, whatever its case. */
    public boolean has(Key key, String word) {
        return !Names.known(list(key), word).isEmpty();
    }

    /** A list of {@code name} or {@code name=value} parts by lower-case name; a bare name has the value "". */
    public Map<String, String> parameters(Key key) {
        return parsed.computeIfAbsent(key, k -> Collections.unmodifiableMap(Values.parameters(text(k))));
    }

    // The cluster.

    public String clusterName() {
        return text(Key.CLUSTER_NAME);
    }

    /** Returns the controllers in order of preference; never empty. */
    public List<Controller> controllers() {
        return controllers;
    }

    public List<Integer> slurmctldPorts() {
        String range = text(Key.SLURMCTLD_PORT);
        int dash = range.indexOf('-');
        int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
        int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
        List<Integer> ports = new ArrayList<>();
        for (int port = first; port <= last; port++) {
            ports.add(port);
        }
        return List.copyOf(ports);
    }

    public int slurmdPort() {
        return (int) number(Key.SLURMD_PORT);
    }

    public String slurmUser() {
        return text(Key.SLURM_USER);
    }

    public String slurmdUser() {
        return text(Key.SLURMD_USER);
    }

    public List<NodeConf> nodes() {
        return nodes;
    }

    public Optional<NodeConf> node(String name) {
        Map<String, NodeConf> index = nodesByName;
        if (index == null) {
            index = new HashMap<>();
            for (NodeConf node : nodes) {
                index.put(node.name(), node);
            }
            nodesByName = index;
        }
        return Optional.ofNullable(index.get(name));
    }

    /**
     * Nodes of a line that does not stand in the file: of scontrol create, or of slurmd -Z. Mistakes are added to the
     * list.
     */
    public List<NodeConf> nodesOf(String nodeLine, List<ConfigError> errors) {
        Values values = new Values(errors).at("", 0, nodeLine);
        Pairs pairs = new Pairs(nodeLine);
        List<NodeConf> found = new ArrayList<>();
        if (!pairs.next() || !pairs.key().equalsIgnoreCase("NodeName")) {
            values.error("Failed to parse nodeline '" + nodeLine + "'");
            return found;
        }
        NodeLine line = NodeLine.read(NodeLine.builtIn(), pairs.value(), pairs, values);
        if (errors.isEmpty()) {
            line.expand(slurmdPort(), found, new ArrayList<>(), values);
        }
        return found;
    }

    public List<PartitionConf> partitions() {
        return partitions;
    }

    /** The PowerAction that SuspendProgram, ResumeProgram, ResumeFailProgram or RebootProgram names. */
    public Optional<PowerAction> powerAction(Key key) {
        return powerAction(text(key));
    }

    public Optional<PowerAction> powerAction(String name) {
        for (PowerAction action : powerActions) {
            if (action.name().equals(name)) {
                return Optional.of(action);
            }
        }
        return Optional.empty();
    }

    public List<PowerAction> powerActions() {
        return powerActions;
    }

    public List<NodeSet> nodeSets() {
        return nodeSets;
    }

    // Places. %n is the node's name, %h its host name.

    public String stateSaveLocation() {
        return text(Key.STATE_SAVE_LOCATION);
    }

    public String slurmctldPidFile() {
        return text(Key.SLURMCTLD_PID_FILE);
    }

    /** Empty: log to syslog or, in the foreground, to stderr. */
    public String slurmctldLogFile() {
        return text(Key.SLURMCTLD_LOG_FILE);
    }

    public String slurmdSpoolDir(NodeConf node) {
        return forNode(text(Key.SLURMD_SPOOL_DIR), node);
    }

    public String slurmdPidFile(NodeConf node) {
        return forNode(text(Key.SLURMD_PID_FILE), node);
    }

    public String slurmdLogFile(NodeConf node) {
        return forNode(text(Key.SLURMD_LOG_FILE), node);
    }

    public String tmpFs(NodeConf node) {
        return forNode(text(Key.TMP_FS), node);
    }

    /** Puts a node's names in the place of {@code %n} and {@code %h}. */
    public static String forNode(String pattern, NodeConf node) {
        if (pattern.indexOf('%') < 0) {
            return pattern;
        }
        return pattern.replace("%n", node.name()).replace("%h", node.hostname());
    }

    // Authentication.

    public String authType() {
        return text(Key.AUTH_TYPE);
    }

    /** Words of AuthInfo: socket, ttl, cred_expire, use_client_ids, disable_sack … */
    public Map<String, String> authInfo() {
        return parameters(Key.AUTH_INFO);
    }

    public Map<String, String> authAltParameters() {
        return parameters(Key.AUTH_ALT_PARAMETERS);
    }

    // Logging.

    /** 0 quiet, 1 fatal, 2 error, 3 info, 4 verbose, 5 to 9 debug to debug5. */
    public int slurmctldDebug() {
        return (int) number(Key.SLURMCTLD_DEBUG);
    }

    public int slurmdDebug() {
        return (int) number(Key.SLURMD_DEBUG);
    }

    /** Level of the system's log; -1 if the key is not set. */
    public int slurmctldSyslogDebug() {
        return text(Key.SLURMCTLD_SYSLOG_DEBUG).isEmpty() ? -1 : (int) number(Key.SLURMCTLD_SYSLOG_DEBUG);
    }

    public int slurmdSyslogDebug() {
        return text(Key.SLURMD_SYSLOG_DEBUG).isEmpty() ? -1 : (int) number(Key.SLURMD_SYSLOG_DEBUG);
    }

    public static String debugName(int level) {
        return LogLevels.WORDS.get(level);
    }

    /** -1 if there is no level of that name. */
    public static int debugLevel(String name) {
        return LogLevels.WORDS.indexOf(name);
    }

    public static List<String> knownDebugFlags() {
        return Names.DEBUG_FLAGS;
    }

    /** Returns the flags as Slurm spells them. */
    public List<String> debugFlags() {
        return list(Key.DEBUG_FLAGS);
    }

    // Times.

    public int slurmdTimeoutSec() {
        return (int) number(Key.SLURMD_TIMEOUT);
    }

    public int slurmctldTimeoutSec() {
        return (int) number(Key.SLURMCTLD_TIMEOUT);
    }

    public int messageTimeoutSec() {
        return (int) number(Key.MESSAGE_TIMEOUT);
    }

    public int killWaitSec() {
        return seconds(Key.KILL_WAIT);
    }

    public int inactiveLimitSec() {
        return seconds(Key.INACTIVE_LIMIT);
    }

    public int minJobAgeSec() {
        return seconds(Key.MIN_JOB_AGE);
    }

    public int completeWaitSec() {
        return seconds(Key.COMPLETE_WAIT);
    }

    public int batchStartTimeoutSec() {
        return seconds(Key.BATCH_START_TIMEOUT);
    }

    public int unkillableStepTimeoutSec() {
        return seconds(Key.UNKILLABLE_STEP_TIMEOUT);
    }

    /** -1 is UNLIMITED. */
    public int overTimeLimitMin() {
        return (int) number(Key.OVER_TIME_LIMIT);
    }

    private int seconds(Key key) {
        long value = number(key);
        return (int) (value < 0 ? Values.U16_MAX : Math.min(value, Integer.MAX_VALUE));
    }

    /** 65534 (NO_VAL16) means that there is no limit. */
    public int prologTimeoutSec() {
        return (int) number(given(Key.PROLOG_TIMEOUT) ? Key.PROLOG_TIMEOUT : Key.PROLOG_EPILOG_TIMEOUT);
    }

    public int epilogTimeoutSec() {
        return (int) number(given(Key.EPILOG_TIMEOUT) ? Key.EPILOG_TIMEOUT : Key.PROLOG_EPILOG_TIMEOUT);
    }

    // Jobs.

    public int returnToService() {
        return (int) number(Key.RETURN_TO_SERVICE);
    }

    public int maxJobCount() {
        return (int) number(Key.MAX_JOB_COUNT);
    }

    public int maxArraySize() {
        return (int) number(Key.MAX_ARRAY_SIZE);
    }

    public int firstJobId() {
        return (int) number(Key.FIRST_JOB_ID);
    }

    public int maxJobId() {
        return (int) number(Key.MAX_JOB_ID);
    }

    public boolean jobRequeue() {
        return number(Key.JOB_REQUEUE) != 0;
    }

    /** 0 is not set. */
    public long defMemPerCpuMb() {
        return number(Key.DEF_MEM_PER_CPU);
    }

    /** 0 is not set. */
    public long defMemPerNodeMb() {
        return number(Key.DEF_MEM_PER_NODE);
    }

    /** 0 is not set. */
    public long maxMemPerCpuMb() {
        return number(Key.MAX_MEM_PER_CPU);
    }

    /** 0 is not set. */
    public long maxMemPerNodeMb() {
        return number(Key.MAX_MEM_PER_NODE);
    }

    /** NO, ANY or ALL. */
    public String enforcePartLimits() {
        return text(Key.ENFORCE_PART_LIMITS);
    }

    // Scheduling.

    public String selectType() {
        return text(Key.SELECT_TYPE);
    }

    /** Returns the parameters in upper case: CR_CORE_MEMORY, CR_LLN … */
    public List<String> selectTypeParameters() {
        return list(Key.SELECT_TYPE_PARAMETERS);
    }

    public boolean memoryConsumable() {
        return text(Key.SELECT_TYPE_PARAMETERS).contains("_MEMORY");
    }

    /** Returns the parameters by lower-case name: bf_interval, batch_sched_delay … */
    public Map<String, String> schedulerParameters() {
        return parameters(Key.SCHEDULER_PARAMETERS);
    }

    /** How many channels SwitchType=switch/nvidia_imex has; 0 without it. */
    public int imexChannels() {
        String value = parameters(Key.SWITCH_PARAMETERS).getOrDefault("imex_channel_count", "");
        if (!text(Key.SWITCH_TYPE).equals("switch/nvidia_imex")) {
            return 0;
        }
        if (value.isEmpty()) {
            return IMEX_CHANNELS;
        }
        return Integer.parseInt(value);
    }

    /** The first and last port of MpiParams, {@code 12000-12999}; empty when there are none. */
    public String mpiPorts() {
        for (String word : Values.list(text(Key.MPI_PARAMS))) {
            if (word.startsWith(KeyCheck.MPI_PORTS)) {
                return word.substring(KeyCheck.MPI_PORTS.length());
            }
        }
        return "";
    }

    public List<String> gresTypes() {
        return list(Key.GRES_TYPES);
    }

    /** The flags with those that they imply: X11 implies Contain, which implies Alloc. */
    public List<String> prologFlags() {
        return list(Key.PROLOG_FLAGS);
    }

    public List<String> taskPlugins() {
        return list(Key.TASK_PLUGIN);
    }

    /** True when the line is SlurmdParameters=config_overrides: the file counts, not what the node found. */
    public boolean configOverrides() {
        return has(Key.SLURMD_PARAMETERS, "config_overrides");
    }
}
