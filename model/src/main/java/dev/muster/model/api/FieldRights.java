package dev.muster.model.api;

import dev.muster.json.Bytes;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.StepDesc;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Table of the rights to set each field of a submission. No client may set a field without a row, and a test requires a
 * row for each component of the records. The edge of slurmctld checks them before the site's script and the core see a
 * description, so that fields which those add need no right.
 */
public final class FieldRights {
    /** The least that a caller must be to set a field to anything but its default. */
    public enum Setter {
        /** Every user, for itself. */
        USER,
        /** Every user may name itself; a rule of its own decides about others. */
        SELF,
        OPERATOR,
        ADMINISTRATOR,
        /** The controller alone. */
        CONTROLLER
    }

    private static final Map<String, Setter> JOB = new TreeMap<>();
    private static final Map<String, Setter> STEP = new TreeMap<>();
    private static final Map<String, Predicate<JobDesc>> IS_SET = new TreeMap<>();

    static {
        put(JOB, Setter.USER, "", "kind name partition");
        put(JOB, Setter.SELF, "owner.", "uid gid user group");
        put(JOB, Setter.USER, "charge.", "account qos wckey reservation");
        put(
                JOB,
                Setter.USER,
                "request.",
                ""
                        + "nodesMin nodesMax tasks cpusPerTask tasksPerNode tasksPerSocket tasksPerCore tasksPerGpu "
                        + "cpusPerNodeMin cpusPerGpu "
                        + "memPerNodeMb memPerCpuMb memPerGpuMb memAll tmpDiskMb tresPerNode tresPerJob tresPerTask "
                        + "tresPerSocket features prefer nodeList "
                        + "excludeList exclusive oversubscribe overcommit contiguous spread useMinNodes "
                        + "socketsPerNode coresPerSocket threadsPerCore "
                        + "coreSpec threadSpec licenses network switches gresFlags hint distribution segment "
                        + "spreadSegments consolidateSegments nodeSizes");
        put(
                JOB,
                Setter.USER,
                "timing.",
                "timeLimitMin timeMinMin beginTime deadline dependency array hold requeue killOnInvalidDependency "
                        + "delayBootMin expedite");
        put(JOB, Setter.USER, "files.", "workDir stdin stdout stderr openMode");
        put(
                JOB,
                Setter.USER,
                "extras.",
                "comment extra cluster mailUser mailType signal container containerId burstBuffer mcsLabel "
                        + "batchFeatures "
                        + "acctgFreq cpuFreq tresBind tresFreq profile power x11 noKill waitAllNodes getUserEnv "
                        + "stepMgr warnSignal warnSeconds "
                        + "warnBatchOnly oomKillStep noShell containerType resvPorts memUpdateMargin memUpdateMin "
                        + "warnReserve");
        put(JOB, Setter.USER, "payload.", "arguments submitHost submitPid submitLine umask limits");
        only(
                Setter.OPERATOR,
                "extras.adminComment",
                d -> !d.extras().adminComment().isEmpty());
        only(Setter.ADMINISTRATOR, "extras.reboot", d -> d.extras().reboot());
        // a user may lower its job's priority: with a nice value, or to 0, which holds it
        only(Setter.OPERATOR, "timing.priority", d -> d.timing().priority() != 0);
        put(JOB, Setter.USER, "timing.", "nice prioritySet");
        only(Setter.OPERATOR, "timing.siteFactor", d -> d.timing().siteFactor() != 0);
        only(Setter.CONTROLLER, "owner.gids", d -> !d.owner().gids().isEmpty());
        only(Setter.CONTROLLER, "owner.home", d -> !d.owner().home().isEmpty());
        only(Setter.CONTROLLER, "owner.shell", d -> !d.owner().shell().isEmpty());
        only(
                Setter.CONTROLLER,
                "charge.licensesTag",
                d -> !d.charge().licensesTag().isEmpty());
        only(Setter.CONTROLLER, "charge.drawn", d -> d.charge().drawn());
        only(Setter.CONTROLLER, "charge.qosAsked", d -> !d.charge().qosAsked().isEmpty());
        only(Setter.CONTROLLER, "charge.defaulted", d -> !d.charge().defaulted().isEmpty());
        only(
                Setter.CONTROLLER,
                "payload.scriptHash",
                d -> !d.payload().scriptHash().isEmpty());
        only(Setter.CONTROLLER, "payload.envHash", d -> !d.payload().envHash().isEmpty());
        only(Setter.CONTROLLER, "partitions", d -> !d.partitions().isEmpty());
        only(Setter.CONTROLLER, "request.cpusPerTaskAsked", d -> d.request().cpusPerTaskAsked() != 0);

        for (String field :
                JOB.keySet().stream().filter(k -> k.startsWith("request.")).toList()) {
            STEP.put(field, Setter.USER);
        }
        put(
                STEP,
                Setter.USER,
                "",
                "name overlap wholeNodes relative timeLimitMin cpuBind memBind mpi arguments multiProg "
                        + "environment workDir "
                        + "killOnBadExit noKill waitSeconds pty ptyRows ptyColumns preserveEnv taskProlog taskEpilog "
                        + "umask immediateFail container "
                        + "submitHost submitPid submitLine limits tresBind oomKillStep acctgFreq resvPorts async "
                        + "debugLevel waitForChildren cpuFreq "
                        + "containerId profile awaitsCaller interactive");
        put(STEP, Setter.USER, "io.", "stdin stdout stderr openMode labelled unbuffered");
    }

    private FieldRights() {}

    private static void put(Map<String, Setter> table, Setter setter, String prefix, String names) {
        for (String name : names.split(" ")) {
            table.put(prefix + name, setter);
        }
    }

    private static void only(Setter setter, String field, Predicate<JobDesc> isSet) {
        JOB.put(field, setter);
        IS_SET.put(field, isSet);
    }

    /** Fields of a job's description, as paths into the record. */
    public static Map<String, Setter> job() {
        return Collections.unmodifiableMap(JOB);
    }

    /** Fields of a step's description. */
    public static Map<String, Setter> step() {
        return Collections.unmodifiableMap(STEP);
    }

    /** Returns the fields of a description that need more than a user's rights, each with that right. */
    public static Map<String, Setter> restricted(JobDesc desc) {
        Map<String, Setter> out = new TreeMap<>();
        IS_SET.forEach((field, isSet) -> {
            if (isSet.test(desc)) {
                out.put(field, JOB.get(field));
            }
        });
        return out;
    }

    /** Every binary value of a submission: none may hold a NUL. */
    public static List<Bytes> texts(JobMessages.Submit submit) {
        List<Bytes> out = new ArrayList<>(submit.environment());
        JobDesc.Files f = submit.job().files();
        Collections.addAll(
                out,
                submit.script(),
                f.workDir(),
                f.stdin(),
                f.stdout(),
                f.stderr(),
                submit.job().payload().submitLine());
        out.addAll(submit.job().payload().arguments());
        return out;
    }

    /** Every binary value of a step. */
    public static List<Bytes> texts(StepDesc step) {
        List<Bytes> out = new ArrayList<>(step.environment());
        out.addAll(step.arguments());
        Collections.addAll(
                out,
                step.multiProg(),
                step.workDir(),
                step.taskProlog(),
                step.taskEpilog(),
                step.submitLine(),
                step.io().stdin(),
                step.io().stdout(),
                step.io().stderr());
        return out;
    }
}
