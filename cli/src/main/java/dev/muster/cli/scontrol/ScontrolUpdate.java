package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.submit.ResizeScripts;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.model.format.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Runs the commands of scontrol that change the cluster: update, create, delete, hold, suspend and their like. */
final class ScontrolUpdate {
    private static final List<String> CREATED_STATES = List.of("FUTURE", "CLOUD", "EXTERNAL");

    private ScontrolUpdate() {}

    /** @param key lower case */
    private record Change(String key, String value, String typed) {}

    private static List<Change> changes(List<String> words) {
        return pairs(joined(words));
    }

    private static List<Change> pairs(List<String> words) {
        List<Change> out = new ArrayList<>();
        for (String w : words) {
            int eq = w.indexOf('=');
            if (eq > 1 && (w.charAt(eq - 1) == '+' || w.charAt(eq - 1) == '-')) {
                out.add(new Change(Texts.lower(w.substring(0, eq - 1)), w.charAt(eq - 1) + w.substring(eq + 1), w));
            } else {
                out.add(new Change(
                        eq < 0 ? Texts.lower(w) : Texts.lower(w.substring(0, eq)),
                        eq < 0 ? "" : w.substring(eq + 1),
                        w));
            }
        }
        return out;
    }

    /** Accepts "Key value" for "Key=value" in updates of jobs and in "delete". Nodes and partitions need the sign. */
    private static List<String> joined(List<String> words) {
        List<String> out = new ArrayList<>();
        for (int i = 0; i < words.size(); i++) {
            boolean pair = words.get(i).indexOf('=') < 0
                    && i + 1 < words.size()
                    && words.get(i + 1).indexOf('=') < 0;
            out.add(pair ? words.get(i) + "=" + words.get(++i) : words.get(i));
        }
        return out;
    }

    private static boolean isKey(String typed, String key, int least) {
        return typed.length() >= least && key.startsWith(typed);
    }

    /** Jobs have a Reservation, too, but they name themselves first. */
    private static boolean isReservation(String word) {
        int eq = word.indexOf('=');
        return isKey(Texts.lower(eq < 0 ? word : word.substring(0, eq)), "reservationname", 3);
    }

    /** @param quiet {@code -Q}: nothing is said of jobs that could not be changed */
    static int update(CommandContext c, List<String> words, boolean quiet) throws SlurmException {
        if (words.isEmpty()) {
            c.err().println("too few arguments for update keyword");
            return 1;
        }
        List<Change> all = changes(words);
        if (isOfReservation(words)) {
            return ScontrolReservation.update(c, words);
        }
        for (Change ch : all) {
            String k = ch.key;
            if (isKey(k, "nodename", 3)) {
                return isUnsigned(c, words) ? 1 : entity(c, "UpdateNode", "nodes", ch, all, "slurm_update error");
            }
            if (isKey(k, "partitionname", 3)) {
                return isUnsigned(c, words)
                        ? 1
                        : entity(c, "UpdatePartition", "partition", ch, all, "slurm_update error");
            }
            if (isKey(k, "jobid", 3) || k.equals("job")) {
                return jobs(c, HostList.split(ch.value), ch, all, quiet);
            }
            if (isKey(k, "stepid", 4)) {
                return step(c, ch, all);
            }
            if (k.startsWith("suspendexc")) {
                return setting(c, ch);
            }
            if (isKey(k, "frontendname", 5)) {
                c.err().println("scontrol: error: updating " + ch.typed + " is not supported by this cluster");
                return 1;
            }
        }
        for (Change ch : all) {
            if (isKey(ch.key, "jobname", 4)) {
                return named(c, ch, all, quiet);
            }
        }
        c.err().println("No valid entity in update command");
        c.err()
                .println("Input line must include \"NodeName\", \"PartitionName\", \"Reservation\", \"JobId\", or "
                        + "\"SlurmctldDebug\"");
        return 1;
    }

    /** Jobs have a key Reservation as well: the entity is the key that comes first. */
    private static boolean isOfReservation(List<String> words) {
        for (String word : words) {
            int eq = word.indexOf('=');
            String key = Texts.lower(eq < 0 ? word : word.substring(0, eq));
            if (isKey(key, "jobid", 3) || key.equals("job") || isKey(key, "jobname", 4) || key.equals("name")) {
                return false;
            }
            if (isKey(key, "reservationname", 3)) {
                return true;
            }
        }
        return false;
    }

    private static int setting(CommandContext c, Change ch) throws SlurmException {
        for (String key : List.of("suspendexcnodes", "suspendexcparts", "suspendexcstates")) {
            if (key.startsWith(ch.key) && ch.key.length() > "suspendexc".length()) {
                return Scontrol.simple(
                        c,
                        "UpdateSetting",
                        new Json.Obj().put("key", key).put("value", ch.value),
                        "slurm_update error");
            }
        }
        c.err().println("Update of this parameter is not supported: " + ch.typed);
        return 1;
    }

    /** All jobs of a name, of one user if UserID is given. */
    private static int named(CommandContext c, Change name, List<Change> all, boolean quiet) throws SlurmException {
        List<Change> rest = new ArrayList<>(all);
        int uid = -1;
        for (Change ch : all) {
            if (isKey(ch.key, "userid", 3)) {
                uid = c.host().userId(ch.value);
                if (uid < 0) {
                    c.err().println("Invalid UserID: " + ch.value);
                    return 1;
                }
                rest.remove(ch);
            }
        }
        List<String> ids = byName(c, name.value, uid);
        if (ids.isEmpty()) {
            c.error("No jobs with" + (uid < 0 ? "" : " user ID " + uid + " and") + " name '" + name.value + "'");
            return 1;
        }
        return jobs(c, ids, name, rest, quiet);
    }

    /** Reports the first word without "=". */
    private static boolean isUnsigned(CommandContext c, List<String> words) {
        Optional<String> first = words.stream().filter(w -> w.indexOf('=') < 0).findFirst();
        first.ifPresent(w -> c.error("Invalid input: " + w + "  Request aborted"));
        return first.isPresent();
    }

    private static Json.Obj changesWithout(List<Change> all, Change entity) {
        Json.Obj out = new Json.Obj();
        for (Change ch : all) {
            if (ch != entity) {
                // "Nice=" is none, "Nice" is some
                out.put(ch.key, ch.key.equals("nice") && ch.typed.endsWith("=") ? "0" : ch.value);
            }
        }
        return out;
    }

    /** Returns the first change that is refused without asking the controller, after it has said why. */
    private static Optional<Change> refused(CommandContext c, String message, List<Change> all) {
        for (Change ch : all) {
            List<String> lines = UpdateValues.wrong(message, ch.key, ch.value, ch.typed);
            if (!lines.isEmpty()) {
                lines.forEach(c.err()::println);
                return Optional.of(ch);
            }
        }
        return Optional.empty();
    }

    private static int entity(
            CommandContext c, String message, String field, Change entity, List<Change> all, String what) {
        if (refused(c, message, all).isPresent()) {
            return 1;
        }
        Json.Obj changes = changesWithout(all, entity);
        if (changes.fields().isEmpty()) {
            c.err().println((message.equals("UpdateNode") ? "" : c.name() + ": error: ") + "No changes specified");
            return 1;
        }
        if (message.equals("UpdateNode")) {
            String state = UpdateValues.nodeState(changes.text("state")).orElse("");
            JobRequest.put(changes, "state", state);
            JobRequest.put(changes, "reason", UpdateValues.reason(changes.text("reason")));
            boolean takesDown = List.of("DOWN", "DRAIN", "FAIL").contains(state);
            if (!takesDown
                    && !changes.text("resumeafter").isEmpty()
                    && !changes.text("resumeafter").equals("-1")) {
                c.err().println("You can only specify a resume time when DOWNING or DRAINING a node. Request denied");
                return 1;
            }
            if (takesDown && changes.text("reason").isBlank()) {
                c.err().println("You must specify a reason when DOWNING or DRAINING a node. Request denied");
                return 1;
            }
        }
        Json.Obj q = new Json.Obj();
        q.put(field, entity.value);
        q.put("changes", changes);
        q.put("requestId", c.host().requestId());
        try {
            Scontrol.warnings(c, c.host().controller().call(message, q));
            return 0;
        } catch (SlurmException e) {
            if (isUnknownKey(c, e, all)) {
                return 1;
            }
            return CommonOptions.reportFailure(c, what, e);
        }
    }

    /** Tells about a parameter that cannot be updated, as it was typed. */
    private static boolean isUnknownKey(CommandContext c, SlurmException e, List<Change> all) {
        for (Change ch : all) {
            if (e.getMessage().startsWith("Updating " + ch.key + " of a partition ")) {
                c.error("Update of this parameter is not supported: " + ch.typed + "\n");
                c.error("Request aborted");
                return true;
            }
            if (e.getMessage().startsWith("Updating " + ch.key + " of a ")) {
                c.err().println("Update of this parameter is not supported: " + ch.typed);
                c.err().println("Request aborted");
                return true;
            }
        }
        return false;
    }

    private static final List<String> MOMENTS = List.of("starttime", "eligibletime", "endtime", "deadline");

    /** {@code StepId=12.0 TimeLimit=5}; without a step's number all steps that the job has. */
    private static int step(CommandContext c, Change step, List<Change> all) {
        if (!JobIds.isJobOrStep(step.value)) {
            c.err().println("Invalid StepID parameter: " + step.typed);
            c.err().println("Request aborted");
            return 1;
        }
        Json.Obj changes = changesWithout(all, step);
        if (changes.fields().isEmpty()) {
            c.err().println("No changes specified");
            return 1;
        }
        for (Change ch : all) {
            if (ch != step && !isKey(ch.key, "timelimit", 5)) {
                c.err().println("Update of this parameter is not supported: " + ch.typed);
                c.err().println("Request aborted");
                return 1;
            }
        }
        changes.put("stepid", step.value);
        Json.Obj q = new Json.Obj();
        q.put("job", step.value);
        q.put("changes", changes);
        q.put("requestId", c.host().requestId());
        try {
            c.host().controller().call("UpdateJob", q);
            return 0;
        } catch (SlurmException e) {
            for (Change ch : all) {
                if (e.getMessage().startsWith("Updating " + ch.key + " of a ")) {
                    c.err().println("Update of this parameter is not supported: " + ch.typed);
                    c.err().println("Request aborted");
                    return 1;
                }
            }
            return CommonOptions.reportFailure(c, "slurm_update error", e);
        }
    }

    /**
     * Moments as people write them become seconds since 1970. A moment that is empty or none is left out; the latter is
     * said.
     */
    private static List<Change> withMoments(CommandContext c, List<Change> all) {
        List<Change> out = new ArrayList<>();
        for (Change ch : all) {
            if (!MOMENTS.contains(ch.key)) {
                out.add(ch);
            } else if (!ch.value.isEmpty()) {
                switch (Times.parse(ch.value, c.host().nowMs() / 1000, c.host().zone(), false)) {
                    case Times.Parsed.Ok ok -> out.add(new Change(ch.key, Long.toString(ok.epochSec()), ch.typed));
                    case Times.Parsed.Invalid bad ->
                        c.err().println("Invalid time specification (pos=" + bad.position() + "): " + ch.value);
                }
            }
        }
        return out;
    }

    /** Changes by the names of their keys; empty if one is no key of a job, which has been said. */
    private static Optional<List<Change>> withNames(CommandContext c, Change entity, List<Change> all) {
        List<Change> out = new ArrayList<>();
        for (Change ch : all) {
            boolean valued = ch.typed.indexOf('=') >= 0;
            Optional<String> key = ch == entity ? Optional.of(ch.key) : JobUpdateKeys.resolve(ch.key, valued);
            if (ch != entity && ch.typed.matches("[^=]+[+-]=.*") && !key.equals(Optional.of("timelimit"))) {
                c.error("Option " + ch.typed + " does not accept [+|-]= syntax");
                return Optional.empty();
            }
            if (key.isEmpty()) {
                c.err()
                        .println(
                                valued
                                        ? "Update of this parameter is not supported: " + ch.typed
                                        : "Invalid input: " + ch.typed);
                c.err().println("Request aborted");
                return Optional.empty();
            }
            out.add(ch == entity ? ch : new Change(key.get(), ch.value, ch.typed));
        }
        return Optional.of(out);
    }

    private static int jobs(CommandContext c, List<String> ids, Change entity, List<Change> typed, boolean quiet) {
        int rc = 0;
        Optional<List<Change>> known = withNames(c, entity, typed);
        if (known.isEmpty()) {
            return 1;
        }
        List<Change> all = new ArrayList<>(withMoments(c, known.get()));
        Optional<Change> refused = refused(c, "UpdateJob", all);
        if (refused.isPresent()) {
            // scontrol complains about a node count and succeeds
            return refused.get().key.endsWith("nodes") ? 0 : 1;
        }
        all.replaceAll(
                ch -> ch == entity ? ch : new Change(ch.key, UpdateValues.normalized(ch.key, ch.value), ch.typed));
        if (!isUserKnown(c, all)) {
            return 1;
        }
        // UserId selects the owner's jobs of a name and changes nothing
        boolean named = isKey(entity.key, "jobname", 4);
        all.removeIf(ch -> !named && isKey(ch.key, "userid", 3));
        if (all.size() < 2) {
            if (known.get().stream().anyMatch(ch -> ch.key.equals("endtime"))) {
                // an end that is none still counts as a change
                return 0;
            }
            c.err().println("No changes specified");
            return 1;
        }
        for (String id : ids) {
            if (!JobIds.isJob(id)) {
                c.err().println(SlurmErrno.INVALID_JOB_ID.sentence() + " for job " + id);
                return 1;
            }
        }
        for (String id : ids) {
            try {
                rc = Math.max(rc, updateJob(c, id, entity, all, quiet));
            } catch (SlurmException e) {
                if (isUnknownKey(c, e, all)) {
                    return 1;
                }
                reportRefusal(c, id, e, all, quiet);
                rc = 1;
            }
        }
        return rc;
    }

    private static void reportRefusal(CommandContext c, String id, SlurmException e, List<Change> all, boolean quiet) {
        if (e.errno() == SlurmErrno.NOT_SUPPORTED.number()
                && all.stream().anyMatch(ch -> ch.key.equals("arraytaskthrottle"))) {
            say(c, quiet, "scontrol: error: Update of ArrayTaskThrottle is only allowed on ArrayJobId");
        }
        if (isOfTimeLimit(e.getMessage())) {
            say(c, false, "scontrol: error: " + e.getMessage());
        } else {
            say(c, quiet, failed(id, e.getMessage()));
        }
    }

    private static boolean isUserKnown(CommandContext c, List<Change> all) {
        for (Change ch : all) {
            if (isKey(ch.key, "userid", 3) && c.host().userId(ch.value) < 0) {
                c.err().println("Invalid UserID: " + ch.value);
                c.err().println("Request aborted");
                return false;
            }
        }
        return true;
    }

    private static int updateJob(CommandContext c, String id, Change entity, List<Change> all, boolean quiet)
            throws SlurmException {
        Json.Obj q = new Json.Obj();
        q.put("job", id);
        q.put("changes", changesWithout(all, entity));
        q.put("requestId", c.host().requestId());
        int rc = 0;
        for (Json.Obj e : c.host().controller().call("UpdateJob", q).objects("errors")) {
            tell(c, quiet, e, e.text("error"));
            rc = e.integer("errno") == 0 && !e.text("said").isEmpty() ? rc : 1;
        }
        if (all.stream()
                .anyMatch(x -> List.of("numnodes", "reqnodes", "nodelist").contains(Texts.lower(x.key())))) {
            ResizeScripts.write(c, id);
        }
        return rc;
    }

    /** scontrol's own complaints of a relative time limit. */
    private static boolean isOfTimeLimit(String sentence) {
        return sentence.startsWith(SlurmErrno.TIME_LIMIT_DECREMENT.sentence())
                || sentence.equals(UpdateValues.UNLIMITED_TIME);
    }

    private static void say(CommandContext c, boolean quiet, String line) {
        if (!quiet) {
            c.err().println(line);
        }
    }

    /**
     * Prints the outcome for a job or tasks. The lines of job_submit.lua precede a job's error and follow the error of
     * tasks.
     */
    private static void tell(CommandContext c, boolean quiet, Json.Obj outcome, String error) {
        String said = outcome.text("said");
        boolean done = outcome.integer("errno") == 0 && !said.isEmpty();
        String job = outcome.text("job");
        if (isOfTimeLimit(error)) {
            c.error(error);
            return;
        }
        if (said.isEmpty()) {
            say(c, quiet, failed(job, error));
        } else if (job.indexOf('_') < 0) {
            Texts.split(said, '\n').forEach(c::error);
            say(c, quiet || done, failed(job, error));
        } else if (done) {
            c.out().println(failed(job, said));
        } else {
            say(c, quiet, failed(job, error + " (" + said + ")"));
        }
    }

    /** Tasks of arrays come before what is wrong with them, jobs after it. */
    private static String failed(String id, String error) {
        if (error.startsWith(id + "_")) {
            return error;
        }
        int bar = id.indexOf('_');
        if (bar < 0) {
            return error + " for job " + id;
        }
        return (id.startsWith("[", bar + 1) ? id : id.substring(0, bar) + "_[" + id.substring(bar + 1) + "]") + ": "
                + error;
    }

    private static List<String> byName(CommandContext c, String name) throws SlurmException {
        return byName(c, name, -1);
    }

    private static List<String> byName(CommandContext c, String name, int uid) throws SlurmException {
        Json.Obj q = new Json.Obj();
        if (uid >= 0) {
            q.put("userIds", List.of((long) uid));
        }
        q.put("names", List.of(name));
        q.put("allStates", Boolean.TRUE); // a job that has ended is an error
        q.put("fields", List.of("jobId", "arrayJobId", "arrayTaskId", "arrayTasks", "state"));
        List<String> out = new ArrayList<>();
        for (Json.Obj j : c.host().controller().call("QueryJobs", q).objects("jobs")) {
            out.add(JobRows.id(j, 0));
        }
        return out;
    }

    static int create(CommandContext c, List<String> words) {
        if (words.isEmpty()) {
            c.err().println("too few arguments for create keyword");
            return 1;
        }
        for (String word : words) {
            if (isReservation(word)) {
                return ScontrolReservation.create(c, words);
            }
        }
        List<Change> all = changes(words);
        for (Change ch : all) {
            if (isKey(ch.key, "partitionname", 3) && isUnsigned(c, words)) {
                return 1;
            }
            if (isKey(ch.key, "partitionname", 3) && (ch.value.isEmpty() || ch.value.equalsIgnoreCase("DEFAULT"))) {
                c.error("PartitionName cannot be \"DEFAULT\".");
                return 1;
            }
            if (isKey(ch.key, "partitionname", 3)) {
                return createPartition(c, ch, all);
            }
            if (isKey(ch.key, "nodename", 5)) {
                return createNodes(c, words, all);
            }
        }
        c.error("Invalid creation entity: " + words.getFirst());
        return 1;
    }

    private static int createPartition(CommandContext c, Change name, List<Change> all) {
        if (refused(c, "UpdatePartition", all).isPresent()) {
            return 1;
        }
        Json.Obj q = new Json.Obj();
        q.put("partition", name.value);
        q.put("values", changesWithout(all, name));
        q.put("requestId", c.host().requestId());
        try {
            c.host().controller().call("CreatePartition", q);
            return 0;
        } catch (SlurmException e) {
            return isUnknownKey(c, e, all) ? 1 : CommonOptions.reportFailure(c, "Error creating the partition", e);
        }
    }

    private static int createNodes(CommandContext c, List<String> words, List<Change> all) {
        boolean may = all.stream()
                .anyMatch(ch -> isKey(ch.key, "state", 5)
                        && CREATED_STATES.contains(ch.value.toUpperCase(java.util.Locale.ROOT)));
        if (!may) {
            c.err()
                    .println("scontrol: error: Only State=FUTURE, CLOUD, or EXTERNAL allowed for nodes "
                            + "created by scontrol");
            c.err().println("Error creating node(s): Invalid node state specified");
            return 1;
        }
        Json.Obj q = new Json.Obj();
        q.put("line", String.join(" ", words));
        return nodes(c, "CreateNodes", q, "", "Error creating node(s)");
    }

    /**
     * Slurm says what failed in two lines.
     *
     * @param first "" where only a line that cannot be read has one
     */
    private static int nodes(CommandContext c, String message, Json.Obj q, String first, String what) {
        q.put("requestId", c.host().requestId());
        try {
            c.host().controller().call(message, q);
            return 0;
        } catch (SlurmException e) {
            int of = e.getMessage().endsWith(")") ? e.getMessage().lastIndexOf(" (") : -1;
            if (first.isEmpty() && of > 0) {
                c.err().println("scontrol: error: " + e.getMessage());
                return CommonOptions.reportFailure(
                        c, what, new SlurmException(e.errno(), e.getMessage().substring(0, of)));
            }
            boolean unread = first.isEmpty() && e.errno() == SlurmErrno.ERROR.number();
            if (!first.isEmpty() && e.errno() != SlurmErrno.USER_ID_MISSING.number() || unread) {
                c.err()
                        .println("scontrol: error: "
                                + (unread ? "Failed to parse nodeline '" + q.text("line") + "'" : first));
            }
            return CommonOptions.reportFailure(c, what, e);
        }
    }

    static int delete(CommandContext c, List<String> words) {
        if (words.isEmpty()) {
            c.err().println("too few arguments for delete keyword");
            return 1;
        }
        if (words.size() == 1 && words.getFirst().indexOf('=') < 0) {
            c.error("Proper format is 'delete <ENTITY>=<ID>' or 'delete <ENTITY> <ID>'");
            return 1;
        }
        Change ch = changes(words).getFirst();
        String name = ch.value.isEmpty() && words.size() > 1 ? words.get(1) : ch.value;
        if (isKey(ch.key, "partitionname", 3)) {
            Json.Obj q = new Json.Obj();
            q.put("partition", name);
            return Scontrol.simple(c, "DeletePartition", q, "delete_partition " + words.getFirst());
        }
        if (isKey(ch.key, "nodename", 4)) {
            Json.Obj q = new Json.Obj();
            q.put("nodes", name);
            return nodes(c, "DeleteNodes", q, "failed to delete nodes " + name, "delete_node " + words.getFirst());
        }
        if (isReservation(ch.key)) {
            return ScontrolReservation.delete(c, words.getFirst(), name);
        }
        c.err().println("Invalid deletion entity: " + words.getFirst());
        return 1;
    }

    /** hold, release, requeue and their like: a list of jobs, commas or blanks between. */
    static int action(CommandContext c, String keyword, List<String> words, boolean quiet) throws SlurmException {
        if (words.isEmpty()) {
            return Scontrol.tooFew(c, keyword);
        }
        String action = keyword.equals("holdu") ? "uhold" : keyword;
        if (action.equals("top") && words.size() > 1) {
            c.err().println("too many arguments for keyword:top");
            return 1;
        }
        String argument = "";
        int rc = 0;
        for (String w : words) {
            int eq = w.indexOf('=');
            if (action.startsWith("requeue") && w.equalsIgnoreCase("state=SpecialExit")) {
                argument = w.substring(eq + 1);
            } else if (Texts.lower(w).equals("incomplete")) {
                argument = "Incomplete";
            } else {
                rc = Math.max(rc, act(c, action, jobsOf(c, action, w), argument, quiet));
            }
        }
        return rc;
    }

    /** The jobs of a word: {@code 7,8}, {@code jobid=7,8}, {@code name=x}. */
    private static List<String> jobsOf(CommandContext c, String action, String word) throws SlurmException {
        int eq = word.indexOf('=');
        if (eq < 0) {
            return HostList.split(word);
        }
        String key = Texts.lower(word.substring(0, eq));
        String value = word.substring(eq + 1);
        if (isHold(action) && (key.equals("jobname") || key.equals("name"))) {
            return byName(c, value);
        }
        return !key.isEmpty() && isKey(key, "jobid", 3) ? HostList.split(value) : List.of(word);
    }

    private static int act(CommandContext c, String action, List<String> ids, String argument, boolean quiet) {
        Json.Obj q = new Json.Obj();
        q.put("requestId", c.host().requestId());
        q.put("action", action);
        q.put("jobs", new ArrayList<Object>(ids));
        JobRequest.put(q, "argument", argument);
        int rc = 0;
        String error = "";
        boolean alone = false;
        boolean isLastDone = false;
        try {
            List<Json.Obj> errors = c.host().controller().call("JobAction", q).objects("errors");
            if (action.equals("top") && !errors.isEmpty()) {
                // one request for the whole list
                say(c, quiet, errors.getFirst().text("error") + " for job " + String.join(",", ids));
                return 1;
            }
            isLastDone = errors.stream().noneMatch(e -> e.text("job").equals(ids.getLast()));
            for (Json.Obj e : errors) {
                error = errorText(action, e);
                tell(c, quiet, e, error);
                boolean done = e.integer("errno") == 0 && !e.text("said").isEmpty();
                alone |= e.text("job").indexOf('_') < 0 && e.text("said").isEmpty();
                rc = done ? rc : 1;
            }
        } catch (SlurmException e) {
            error = e.getMessage();
            for (String id : ids) {
                say(c, quiet, error + " for job " + id);
            }
            alone = true;
            rc = 1;
        }
        if (rc != 0 && isHold(action) && alone) {
            say(c, quiet, "slurm_suspend error" + (isLastDone ? "" : ":" + error));
        }
        return rc;
    }

    /** Suspending or resuming an unknown job is an unexpected message to Slurm. */
    private static String errorText(String action, Json.Obj e) {
        String error = e.text("error");
        boolean unknownJob = error.equals(SlurmErrno.INVALID_JOB_ID.sentence()) && Texts.isNumber(e.text("job"));
        return unknownJob && action.matches("suspend|resume") ? SlurmErrno.UNEXPECTED_MSG_ERROR.sentence() : error;
    }

    private static boolean isHold(String action) {
        return action.equals("hold") || action.equals("uhold") || action.equals("release");
    }

    static int notifyJob(CommandContext c, List<String> words) {
        if (words.size() < 2) {
            return Scontrol.tooFew(c, "notify");
        }
        String job = words.getFirst();
        if (job.isEmpty() || job.charAt(0) < '0' || job.charAt(0) > '9') {
            c.err().println("Invalid job_id " + job + "job notify failure: No error");
            return 1;
        }
        Json.Obj q = new Json.Obj();
        q.put("requestId", c.host().requestId());
        q.put("action", "notify");
        q.put(
                "jobs",
                List.of(job.replaceFirst("[_.+].*", ""))); // it has one salloc or script, whatever part of it is named
        q.put("argument", String.join(" ", words.subList(1, words.size())));
        try {
            List<Json.Obj> errors = c.host().controller().call("JobAction", q).objects("errors");
            if (errors.isEmpty()) {
                return 0;
            }
            c.err().println("job notify failure: " + errors.getFirst().text("error"));
            return 1;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "job notify failure", e);
        }
    }
}
