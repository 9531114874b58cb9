package dev.muster.config.key;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Checks that need more than the value of one key: keys that need or exclude each other, and numbers that leave nothing
 * to run. The reader of slurm.conf calls it at the end of the file. Each mistake is an error at the line of its key,
 * since 26.05.3 does not start with it.
 */
public final class KeyRelations {
    private static final int PROPAGATE_PRIO_MAX = 2;

    private final Given file;

    /** The keys of a file that was read. */
    public interface Given {
        boolean isGiven(Key key);

        long number(Key key);

        String text(Key key);

        /** Records errors at the line of the key. */
        Values valuesAt(Key key);

        /** Names of SlurmctldHost, in their order. */
        List<String> controllerHosts();
    }

    public KeyRelations(Given file) {
        this.file = file;
    }

    public void check() {
        zero(Key.MAX_JOB_COUNT, "MaxJobCount=0, No jobs permitted");
        zero(Key.MAX_STEP_COUNT, "MaxStepCount=0, No steps permitted");
        zero(Key.FIRST_JOB_ID, "FirstJobId cannot be zero");
        if (number(Key.PROPAGATE_PRIO_PROCESS) > PROPAGATE_PRIO_MAX) {
            error(Key.PROPAGATE_PRIO_PROCESS, "Bad PropagatePrioProcess: " + number(Key.PROPAGATE_PRIO_PROCESS));
        }
        if (number(Key.SLURM_SCHED_LOG_LEVEL) > 0
                && text(Key.SLURM_SCHED_LOG_FILE).isEmpty()) {
            error(Key.SLURM_SCHED_LOG_LEVEL, "SlurmSchedLogLevel requires SlurmSchedLogFile value");
        }
        labels();
        namespaces();
        controllers();
        for (String path : Values.list(text(Key.BCAST_EXCLUDE))) {
            if (!path.startsWith("/") && !path.equalsIgnoreCase("NONE")) {
                error(Key.BCAST_EXCLUDE, "Invalid path for BcastExclude: " + path);
            }
        }
        for (String license : text(Key.LICENSES).split("[,;|]")) {
            if (!isLicense(license.strip())) {
                error(Key.LICENSES, "Invalid configured licenses: " + text(Key.LICENSES));
                break;
            }
        }
    }

    /** Checks that slurm.conf names no more nodes than MaxNodeCount allows. */
    public void checkNodes(int nodes) {
        if (file.isGiven(Key.MAX_NODE_COUNT) && nodes > number(Key.MAX_NODE_COUNT)) {
            error(
                    Key.MAX_NODE_COUNT,
                    "Attempting to create node record past MaxNodeCount:" + number(Key.MAX_NODE_COUNT));
        }
    }

    private void zero(Key key, String sentence) {
        if (file.isGiven(key) && number(key) == 0 && Values.count(text(key)) == 0) {
            error(key, sentence);
        }
    }

    private void labels() {
        boolean none = text(Key.MCS_PLUGIN).isEmpty() || text(Key.MCS_PLUGIN).equals("mcs/none");
        if (none && !text(Key.MCS_PARAMETERS).isEmpty()) {
            error(Key.MCS_PARAMETERS, "MCSParameters=" + text(Key.MCS_PARAMETERS) + " used and no MCSPlugin");
        } else if (text(Key.MCS_PLUGIN).equals("mcs/group")
                && text(Key.MCS_PARAMETERS).isEmpty()) {
            error(Key.MCS_PLUGIN, "MCSPlugin is mcs/group and no MCSParameters");
        }
    }

    /** A job's namespace is made with its extern step. */
    private void namespaces() {
        for (Key key : List.of(Key.JOB_CONTAINER_TYPE, Key.NAMESPACE_TYPE)) {
            boolean made = !text(key).isEmpty() && !text(key).endsWith("/none");
            if (made && !Values.list(text(Key.PROLOG_FLAGS)).contains("Contain")) {
                error(key, "PrologFlags=Contain is required for use with " + text(key));
            }
        }
    }

    private void controllers() {
        Set<String> hosts = new HashSet<>();
        for (String host : file.controllerHosts()) {
            if (!hosts.add(host)) {
                error(Key.SLURMCTLD_HOST, "Duplicate SlurmctldHost records: " + host);
            }
        }
    }

    private static boolean isLicense(String text) {
        int sign = Math.max(text.indexOf(':'), text.indexOf('='));
        return sign < 0
                || sign == text.length() - 1
                || Values.count(text.substring(sign + 1)) >= 0 && Character.isDigit(text.charAt(text.length() - 1));
    }

    private long number(Key key) {
        return file.number(key);
    }

    private String text(Key key) {
        return file.text(key);
    }

    private void error(Key key, String sentence) {
        file.valuesAt(key).error(sentence);
    }
}
