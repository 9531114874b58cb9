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
            int equalSign = w.indexOf('=');
            if (equalSign > 1 && (w.charAt(equalSign - 1) == '+' || w.charAt(equalSign - 1) == '-')) {
                out.add(new Change(
                        Texts.lower(w.substring(0, equalSign - 1)),
                        w.charAt(equalSign - 1) + w.substring(equalSign + 1),
                        w));
            } else {
                out.add(new Change(
                        equalSign < 0 ? Texts.lower(w) : Texts.lower(w.substring(0, equalSign)),
                        equalSign < 0 ? "" : w.substring(equalSign + 1),
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

    private static boolean isKey(String typed, String key, int minimum) {
        return typed.length() >= minimum && key.startsWith(typed);
    }

    /** Jobs have a Reservation, too, but they name themselves first. */
    private static boolean isReservation(String word) {
        int equalSign = word.indexOf('=');
        return isKey(Texts.lower(equalSign < 0 ? word : word.substring(0, equalSign)), "reservationname", 3);
    }

    /** @param quiet {@code -Q}: errors of jobs that could not be changed are not printed */
    static int update(CommandContext context, List<String> words, boolean quiet) throws SlurmException {
        if (words.isEmpty()) {
            context.err().println("too few arguments for update keyword");
            return 1;
        }
        List<Change> all = changes(words);
        if (isOfReservation(words)) {
            return ScontrolReservation.update(context, words);
        }
        for (Change change : all) {
            String key = change.key;
            if (isKey(key, "nodename", 3)) {
                return isUnsigned(context, words)
                        ? 1
                        : entity(context, "UpdateNode", "nodes", change, all, "slurm_update error");
            }
            if (isKey(key, "partitionname", 3)) {
                return isUnsigned(context, words)
                        ? 1
                        : entity(context, "UpdatePartition", "partition", change, all, "slurm_update error");
            }
            if (isKey(key, "jobid", 3) || key.equals("job")) {
                return jobs(context, HostList.split(change.value), change, all, quiet);
            }
            if (isKey(key, "stepid", 4)) {
                return step(context, change, all);
            }
            if (key.startsWith("suspendexc")) {
                return setting(context, change);
            }
            if (isKey(key, "frontendname", 5)) {
                context.err()
                        .println("scontrol: error: updating " + change.typed + " is not supported by this cluster");
                return 1;
            }
        }
        for (Change change : all) {
            if (isKey(change.key, "jobname", 4)) {
                return named(context, change, all, quiet);
            }
        }
        context.err().println("No valid entity in update command");
        context.err()
                .println("Input line must include \"NodeName\", \"PartitionName\", \"Reservation\", \"JobId\", or "
                        + "\"SlurmctldDebug\"");
        return 1;
    }

    /** Jobs have a key Reservation as well: the entity is the key that comes first. */
    private static boolean isOfReservation(List<String> words) {
        for (String word : words) {
            int equalSign = word.indexOf('=');
            String key = Texts.lower(equalSign < 0 ? word : word.substring(0, equalSign));
            if (isKey(key, "jobid", 3) || key.equals("job") || isKey(key, "jobname", 4) || key.equals("name")) {
                return false;
            }
            if (isKey(key, "reservationname", 3)) {
                return true;
            }
        }
        return false;
    }

    private static int setting(CommandContext context, Change change) throws SlurmException {
        for (String key : List.of("suspendexcnodes", "suspendexcparts", "suspendexcstates")) {
            if (key.startsWith(change.key) && change.key.length() > "suspendexc".length()) {
                return Scontrol.simple(
                        context,
                        "UpdateSetting",
                        new Json.Obj().put("key", key).put("value", change.value),
                        "slurm_update error");
            }
        }
        context.err().println("Update of this parameter is not supported: " + change.typed);
        return 1;
    }

    /** All jobs of a name, of one user if UserID is given. */
    private static int named(CommandContext context, Change name, List<Change> all, boolean quiet)
            throws SlurmException {
        List<Change> rest = new ArrayList<>(all);
        int uid = -1;
        for (Change change : all) {
            if (isKey(change.key, "userid", 3)) {
                uid = context.host().userId(change.value);
                if (uid < 0) {
                    context.err().println("Invalid UserID: " + change.value);
                    return 1;
                }
                rest.remove(change);
            }
        }
        List<String> ids = byName(context, name.value, uid);
        if (ids.isEmpty()) {
            context.error("No jobs with" + (uid < 0 ? "" : " user ID " + uid + " and") + " name '" + name.value + "'");
            return 1;
        }
        return jobs(context, ids, name, rest, quiet);
    }

    /** Reports the first word without "=". */
    private static boolean isUnsigned(CommandContext context, List<String> words) {
        Optional<String> first = words.stream().filter(w -> w.indexOf('=') < 0).findFirst();
        first.ifPresent(w -> context.error("Invalid input: " + w + "  Request aborted"));
        return first.isPresent();
    }

    private static Json.Obj changesWithout(List<Change> all, Change entity) {
        Json.Obj out = new Json.Obj();
        for (Change change : all) {
            if (change != entity) {
                // "Nice=" is none, "Nice" is some
                out.put(change.key, change.key.equals("nice") && change.typed.endsWith("=") ? "0" : change.value);
            }
        }
        return out;
    }

    /** Returns the first change that is refused without asking the controller, after printing the reason. */
    private static Optional<Change> refused(CommandContext context, String message, List<Change> all) {
        for (Change change : all) {
            List<String> lines = UpdateValues.wrong(message, change.key, change.value, change.typed);
            if (!lines.isEmpty()) {
                lines.forEach(context.err()::println);
                return Optional.of(change);
            }
        }
        return Optional.empty();
    }

    private static int entity(
            CommandContext context, String message, String field, Change entity, List<Change> all, String failure) {
        if (refused(context, message, all).isPresent()) {
            return 1;
        }
        Json.Obj changes = changesWithout(all, entity);
        if (changes.fields().isEmpty()) {
            context.err()
                    .println((message.equals("UpdateNode") ? "" : context.name() + ": error: ")
                            + "No changes specified");
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
                context.err()
                        .println("You can only specify a resume time when DOWNING or DRAINING a node. Request denied");
                return 1;
            }
            if (takesDown && changes.text("reason").isBlank()) {
                context.err().println("You must specify a reason when DOWNING or DRAINING a node. Request denied");
                return 1;
            }
        }
        Json.Obj query = new Json.Obj();
        query.put(field, entity.value);
        query.put("changes", changes);
        query.put("requestId", context.host().requestId());
        try {
            Scontrol.warnings(context, context.host().controller().call(message, query));
            return 0;
        } catch (SlurmException e) {
            if (isUnknownKey(context, e, all)) {
                return 1;
            }
            return CommonOptions.reportFailure(context, failure, e);
        }
    }

    /** Tells about a parameter that cannot be updated, as it was typed. */
    private static boolean isUnknownKey(CommandContext context, SlurmException e, List<Change> all) {
        for (Change change : all) {
            if (e.getMessage().startsWith("Updating " + change.key + " of a partition ")) {
                context.error("Update of this parameter is not supported: " + change.typed + "\n");
                context.error("Request aborted");
                return true;
            }
            if (e.getMessage().startsWith("Updating " + change.key + " of a ")) {
                context.err().println("Update of this parameter is not supported: " + change.typed);
                context.err().println("Request aborted");
                return true;
            }
        }
        return false;
    }

    private static final List<String> MOMENTS = List.of("starttime", "eligibletime", "endtime", "deadline");

    /** {@code StepId=12.0 TimeLimit=5}; without a step's number all steps that the job has. */
    private static int step(CommandContext context, Change step, List<Change> all) {
        if (!JobIds.isJobOrStep(step.value)) {
            context.err().println("Invalid StepID parameter: " + step.typed);
            context.err().println("Request aborted");
            return 1;
        }
        Json.Obj changes = changesWithout(all, step);
        if (changes.fields().isEmpty()) {
            context.err().println("No changes specified");
            return 1;
        }
        for (Change change : all) {
            if (change != step && !isKey(change.key, "timelimit", 5)) {
                context.err().println("Update of this parameter is not supported: " + change.typed);
                context.err().println("Request aborted");
                return 1;
            }
        }
        changes.put("stepid", step.value);
        Json.Obj query = new Json.Obj();
        query.put("job", step.value);
        query.put("changes", changes);
        query.put("requestId", context.host().requestId());
        try {
            context.host().controller().call("UpdateJob", query);
            return 0;
        } catch (SlurmException e) {
            for (Change change : all) {
                if (e.getMessage().startsWith("Updating " + change.key + " of a ")) {
                    context.err().println("Update of this parameter is not supported: " + change.typed);
                    context.err().println("Request aborted");
                    return 1;
                }
            }
            return CommonOptions.reportFailure(context, "slurm_update error", e);
        }
    }

    /**
     * Moments as people write them become seconds since 1970. An empty or invalid moment is left out; an invalid one is
     * reported.
     */
    private static List<Change> withMoments(CommandContext context, List<Change> all) {
        List<Change> out = new ArrayList<>();
        for (Change change : all) {
            if (!MOMENTS.contains(change.key)) {
                out.add(change);
            } else if (!change.value.isEmpty()) {
                switch (Times.parse(
                        change.value,
                        context.host().nowMs() / 1000,
                        context.host().zone(),
                        false)) {
                    case Times.Parsed.Ok ok ->
                        out.add(new Change(change.key, Long.toString(ok.epochSec()), change.typed));
                    case Times.Parsed.Invalid invalid ->
                        context.err()
                                .println(
                                        "Invalid time specification (pos=" + invalid.position() + "): " + change.value);
                }
            }
        }
        return out;
    }

    /** Changes by the names of their keys; empty if one is no key of a job, after an error message. */
    private static Optional<List<Change>> withNames(CommandContext context, Change entity, List<Change> all) {
        List<Change> out = new ArrayList<>();
        for (Change change : all) {
            boolean valued = change.typed.indexOf('=') >= 0;
            Optional<String> key =
                    change == entity ? Optional.of(change.key) : JobUpdateKeys.resolve(change.key, valued);
            if (change != entity && change.typed.matches("[^=]+[+-]=.*") && !key.equals(Optional.of("timelimit"))) {
                context.error("Option " + change.typed + " does not accept [+|-]= syntax");
                return Optional.empty();
            }
            if (key.isEmpty()) {
                context.err()
                        .println(
                                valued
                                        ? "Update of this parameter is not supported: " + change.typed
                                        : "Invalid input: " + change.typed);
                context.err().println("Request aborted");
                return Optional.empty();
            }
            out.add(change == entity ? change : new Change(key.get(), change.value, change.typed));
        }
        return Optional.of(out);
    }

    private static int jobs(
            CommandContext context, List<String> ids, Change entity, List<Change> typed, boolean quiet) {
        int rc = 0;
        Optional<List<Change>> known = withNames(context, entity, typed);
        if (known.isEmpty()) {
            return 1;
        }
        List<Change> all = new ArrayList<>(withMoments(context, known.get()));
        Optional<Change> refused = refused(context, "UpdateJob", all);
        if (refused.isPresent()) {
            // scontrol complains about a node count and succeeds
            return refused.get().key.endsWith("nodes") ? 0 : 1;
        }
        all.replaceAll(
                ch -> ch == entity ? ch : new Change(ch.key, UpdateValues.normalized(ch.key, ch.value), ch.typed));
        if (!isUserKnown(context, all)) {
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
            context.err().println("No changes specified");
            return 1;
        }
        for (String id : ids) {
            if (!JobIds.isJob(id)) {
                context.err().println(SlurmErrno.INVALID_JOB_ID.sentence() + " for job " + id);
                return 1;
            }
        }
        for (String id : ids) {
            try {
                rc = Math.max(rc, updateJob(context, id, entity, all, quiet));
            } catch (SlurmException e) {
                if (isUnknownKey(context, e, all)) {
                    return 1;
                }
                reportRefusal(context, id, e, all, quiet);
                rc = 1;
            }
        }
        return rc;
    }

    private static void reportRefusal(
            CommandContext context, String id, SlurmException e, List<Change> all, boolean quiet) {
        if (e.errno() == SlurmErrno.NOT_SUPPORTED.number()
                && all.stream().anyMatch(ch -> ch.key.equals("arraytaskthrottle"))) {
            say(context, quiet, "scontrol: error: Update of ArrayTaskThrottle is only allowed on ArrayJobId");
        }
        if (isOfTimeLimit(e.getMessage())) {
            say(context, false, "scontrol: error: " + e.getMessage());
        } else {
            say(context, quiet, failed(id, e.getMessage()));
        }
    }

    private static boolean isUserKnown(CommandContext context, List<Change> all) {
        for (Change change : all) {
            if (isKey(change.key, "userid", 3) && context.host().userId(change.value) < 0) {
                context.err().println("Invalid UserID: " + change.value);
                context.err().println("Request aborted");
                return false;
            }
        }
        return true;
    }

    private static int updateJob(CommandContext context, String id, Change entity, List<Change> all, boolean quiet)
            throws SlurmException {
        Json.Obj query = new Json.Obj();
        query.put("job", id);
        query.put("changes", changesWithout(all, entity));
        query.put("requestId", context.host().requestId());
        int rc = 0;
        for (Json.Obj e : context.host().controller().call("UpdateJob", query).objects("errors")) {
            tell(context, quiet, e, e.text("error"));
            rc = e.integer("errno") == 0 && !e.text("said").isEmpty() ? rc : 1;
        }
        if (all.stream()
                .anyMatch(x -> List.of("numnodes", "reqnodes", "nodelist").contains(Texts.lower(x.key())))) {
            ResizeScripts.write(context, id);
        }
        return rc;
    }

    /** scontrol's own complaints of a relative time limit. */
    private static boolean isOfTimeLimit(String sentence) {
        return sentence.startsWith(SlurmErrno.TIME_LIMIT_DECREMENT.sentence())
                || sentence.equals(UpdateValues.UNLIMITED_TIME);
    }

    private static void say(CommandContext context, boolean quiet, String line) {
        if (!quiet) {
            context.err().println(line);
        }
    }

    /**
     * Prints the outcome for a job or tasks. The lines of job_submit.lua precede a job's error and follow the error of
     * tasks.
     */
    private static void tell(CommandContext context, boolean quiet, Json.Obj outcome, String error) {
        String warning = outcome.text("said");
        boolean done = outcome.integer("errno") == 0 && !warning.isEmpty();
        String job = outcome.text("job");
        if (isOfTimeLimit(error)) {
            context.error(error);
            return;
        }
        if (warning.isEmpty()) {
            say(context, quiet, failed(job, error));
        } else if (job.indexOf('_') < 0) {
            Texts.split(warning, '\n').forEach(context::error);
            say(context, quiet || done, failed(job, error));
        } else if (done) {
            context.out().println(failed(job, warning));
        } else {
            say(context, quiet, failed(job, error + " (" + warning + ")"));
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

    private static List<String> byName(CommandContext context, String name) throws SlurmException {
        return byName(context, name, -1);
    }

    private static List<String> byName(CommandContext context, String name, int uid) throws SlurmException {
        Json.Obj query = new Json.Obj();
        if (uid >= 0) {
            query.put("userIds", List.of((long) uid));
        }
        query.put("names", List.of(name));
        query.put("allStates", Boolean.TRUE); // a job that has ended is an error
        query.put("fields", List.of("jobId", "arrayJobId", "arrayTaskId", "arrayTasks", "state"));
        List<String> out = new ArrayList<>();
        for (Json.Obj job : context.host().controller().call("QueryJobs", query).objects("jobs")) {
            out.add(JobRows.id(job, 0));
        }
        return out;
    }

    static int create(CommandContext context, List<String> words) {
        if (words.isEmpty()) {
            context.err().println("too few arguments for create keyword");
            return 1;
        }
        for (String word : words) {
            if (isReservation(word)) {
                return ScontrolReservation.create(context, words);
            }
        }
        List<Change> all = changes(words);
        for (Change change : all) {
            if (isKey(change.key, "partitionname", 3) && isUnsigned(context, words)) {
                return 1;
            }
            if (isKey(change.key, "partitionname", 3)
                    && (change.value.isEmpty() || change.value.equalsIgnoreCase("DEFAULT"))) {
                context.error("PartitionName cannot be \"DEFAULT\".");
                return 1;
            }
            if (isKey(change.key, "partitionname", 3)) {
                return createPartition(context, change, all);
            }
            if (isKey(change.key, "nodename", 5)) {
                return createNodes(context, words, all);
            }
        }
        context.error("Invalid creation entity: " + words.getFirst());
        return 1;
    }

    private static int createPartition(CommandContext context, Change name, List<Change> all) {
        if (refused(context, "UpdatePartition", all).isPresent()) {
            return 1;
        }
        Json.Obj query = new Json.Obj();
        query.put("partition", name.value);
        query.put("values", changesWithout(all, name));
        query.put("requestId", context.host().requestId());
        try {
            context.host().controller().call("CreatePartition", query);
            return 0;
        } catch (SlurmException e) {
            return isUnknownKey(context, e, all)
                    ? 1
                    : CommonOptions.reportFailure(context, "Error creating the partition", e);
        }
    }

    private static int createNodes(CommandContext context, List<String> words, List<Change> all) {
        boolean may = all.stream()
                .anyMatch(ch -> isKey(ch.key, "state", 5)
                        && CREATED_STATES.contains(ch.value.toUpperCase(java.util.Locale.ROOT)));
        if (!may) {
            context.err()
                    .println("scontrol: error: Only State=FUTURE, CLOUD, or EXTERNAL allowed for nodes "
                            + "created by scontrol");
            context.err().println("Error creating node(s): Invalid node state specified");
            return 1;
        }
        Json.Obj query = new Json.Obj();
        query.put("line", String.join(" ", words));
        return nodes(context, "CreateNodes", query, "", "Error creating node(s)");
    }

    /**
     * Slurm says what failed in two lines.
     *
     * @param firstOnly "" where only a line that cannot be read has one
     */
    private static int nodes(CommandContext context, String message, Json.Obj query, String firstOnly, String failure) {
        query.put("requestId", context.host().requestId());
        try {
            context.host().controller().call(message, query);
            return 0;
        } catch (SlurmException e) {
            int of = e.getMessage().endsWith(")") ? e.getMessage().lastIndexOf(" (") : -1;
            if (firstOnly.isEmpty() && of > 0) {
                context.err().println("scontrol: error: " + e.getMessage());
                return CommonOptions.reportFailure(
                        context,
                        failure,
                        new SlurmException(e.errno(), e.getMessage().substring(0, of)));
            }
            boolean unread = firstOnly.isEmpty() && e.errno() == SlurmErrno.ERROR.number();
            if (!firstOnly.isEmpty() && e.errno() != SlurmErrno.USER_ID_MISSING.number() || unread) {
                context.err()
                        .println("scontrol: error: "
                                + (unread ? "Failed to parse nodeline '" + query.text("line") + "'" : firstOnly));
            }
            return CommonOptions.reportFailure(context, failure, e);
        }
    }

    static int delete(CommandContext context, List<String> words) {
        if (words.isEmpty()) {
            context.err().println("too few arguments for delete keyword");
            return 1;
        }
        if (words.size() == 1 && words.getFirst().indexOf('=') < 0) {
            context.error("Proper format is 'delete <ENTITY>=<ID>' or 'delete <ENTITY> <ID>'");
            return 1;
        }
        Change change = changes(words).getFirst();
        String name = change.value.isEmpty() && words.size() > 1 ? words.get(1) : change.value;
        if (isKey(change.key, "partitionname", 3)) {
            Json.Obj query = new Json.Obj();
            query.put("partition", name);
            return Scontrol.simple(context, "DeletePartition", query, "delete_partition " + words.getFirst());
        }
        if (isKey(change.key, "nodename", 4)) {
            Json.Obj query = new Json.Obj();
            query.put("nodes", name);
            return nodes(
                    context, "DeleteNodes", query, "failed to delete nodes " + name, "delete_node " + words.getFirst());
        }
        if (isReservation(change.key)) {
            return ScontrolReservation.delete(context, words.getFirst(), name);
        }
        context.err().println("Invalid deletion entity: " + words.getFirst());
        return 1;
    }

    /** hold, release, requeue and their like: a list of jobs, commas or blanks between. */
    static int action(CommandContext context, String keyword, List<String> words, boolean quiet) throws SlurmException {
        if (words.isEmpty()) {
            return Scontrol.tooFew(context, keyword);
        }
        String action = keyword.equals("holdu") ? "uhold" : keyword;
        if (action.equals("top") && words.size() > 1) {
            context.err().println("too many arguments for keyword:top");
            return 1;
        }
        String argument = "";
        int rc = 0;
        for (String w : words) {
            int equalSign = w.indexOf('=');
            if (action.startsWith("requeue") && w.equalsIgnoreCase("state=SpecialExit")) {
                argument = w.substring(equalSign + 1);
            } else if (Texts.lower(w).equals("incomplete")) {
                argument = "Incomplete";
            } else {
                rc = Math.max(rc, act(context, action, jobsOf(context, action, w), argument, quiet));
            }
        }
        return rc;
    }

    /** The jobs of a word: {@code 7,8}, {@code jobid=7,8}, {@code name=x}. */
    private static List<String> jobsOf(CommandContext context, String action, String word) throws SlurmException {
        int equalSign = word.indexOf('=');
        if (equalSign < 0) {
            return HostList.split(word);
        }
        String key = Texts.lower(word.substring(0, equalSign));
        String value = word.substring(equalSign + 1);
        if (isHold(action) && (key.equals("jobname") || key.equals("name"))) {
            return byName(context, value);
        }
        return !key.isEmpty() && isKey(key, "jobid", 3) ? HostList.split(value) : List.of(word);
    }

    private static int act(CommandContext context, String action, List<String> ids, String argument, boolean quiet) {
        Json.Obj query = new Json.Obj();
        query.put("requestId", context.host().requestId());
        query.put("action", action);
        query.put("jobs", new ArrayList<Object>(ids));
        JobRequest.put(query, "argument", argument);
        int rc = 0;
        String error = "";
        boolean alone = false;
        boolean isLastDone = false;
        try {
            List<Json.Obj> errors =
                    context.host().controller().call("JobAction", query).objects("errors");
            if (action.equals("top") && !errors.isEmpty()) {
                // one request for the whole list
                say(context, quiet, errors.getFirst().text("error") + " for job " + String.join(",", ids));
                return 1;
            }
            isLastDone = errors.stream().noneMatch(e -> e.text("job").equals(ids.getLast()));
            for (Json.Obj e : errors) {
                error = errorText(action, e);
                tell(context, quiet, e, error);
                boolean done = e.integer("errno") == 0 && !e.text("said").isEmpty();
                alone |= e.text("job").indexOf('_') < 0 && e.text("said").isEmpty();
                rc = done ? rc : 1;
            }
        } catch (SlurmException e) {
            error = e.getMessage();
            for (String id : ids) {
                say(context, quiet, error + " for job " + id);
            }
            alone = true;
            rc = 1;
        }
        if (rc != 0 && isHold(action) && alone) {
            say(context, quiet, "slurm_suspend error" + (isLastDone ? "" : ":" + error));
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

    static int notifyJob(CommandContext context, List<String> words) {
        if (words.size() < 2) {
            return Scontrol.tooFew(context, "notify");
        }
        String job = words.getFirst();
        if (job.isEmpty() || job.charAt(0) < '0' || job.charAt(0) > '9') {
            context.err().println("Invalid job_id " + job + "job notify failure: No error");
            return 1;
        }
        Json.Obj query = new Json.Obj();
        query.put("requestId", context.host().requestId());
        query.put("action", "notify");
        query.put(
                "jobs",
                List.of(job.replaceFirst("[_.+].*", ""))); // it has one salloc or script, whatever part of it is named
        query.put("argument", String.join(" ", words.subList(1, words.size())));
        try {
            List<Json.Obj> errors =
                    context.host().controller().call("JobAction", query).objects("errors");
            if (errors.isEmpty()) {
                return 0;
            }
            context.err().println("job notify failure: " + errors.getFirst().text("error"));
            return 1;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "job notify failure", e);
        }
    }
}
