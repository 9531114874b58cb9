package dev.muster.rest.operation;

import dev.muster.cli.command.Controller;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.shape.JobsJson;
import dev.muster.cli.shape.Tree;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.contract.Listing;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.contract.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code /slurm/…/job…}: what squeue, sbatch, scancel and scontrol do with jobs. */
public final class Jobs {
    private Jobs() {}

    public static Map<String, RestCall.Handler> handlers() {
        return Map.ofEntries(
                Map.entry("slurm_{v}_get_jobs", Jobs::list),
                Map.entry("slurm_{v}_get_job", Jobs::one),
                Map.entry("slurm_{v}_get_jobs_state", Jobs::states),
                Map.entry("slurm_{v}_post_job_submit", Jobs::submit),
                Map.entry("slurm_{v}_post_job_allocate", Jobs::allocate),
                Map.entry("slurm_{v}_post_job", Jobs::update),
                Map.entry("slurm_{v}_delete_job", Jobs::delete),
                Map.entry("slurm_{v}_delete_jobs", Jobs::deleteMany),
                Map.entry("slurm_{v}_get_job_requeue", Jobs::requeue),
                Map.entry("slurm_{v}_post_jobs_requeue", Jobs::requeueMany),
                Map.entry("slurm_{v}_get_resources", Jobs::resources));
    }

    private static Json.Obj query(List<String> ids) {
        Json.Obj query = new Json.Obj()
                .put("allStates", Boolean.TRUE)
                .put("allPartitions", Boolean.TRUE)
                .put("details", Boolean.TRUE);
        return ids.isEmpty() ? query : query.put("jobs", RestCall.objects(ids));
    }

    private static void list(RestCall call) throws RestException, SlurmException {
        Controller.Rows all = call.rows("QueryJobs", query(List.of()), "jobs");
        if (!call.asked("update_time").isEmpty() && unchanged(call, head(all))) {
            call.out().warning(SlurmErrno.NO_CHANGE_IN_DATA.sentence(), "slurm_load_jobs()");
            call.out().with(JobsJson.answer(call.names(), head(all), call.version()));
            return;
        }
        String cluster = call.names().cluster();
        call.out()
                .with(JobsJson.answer(call.names(), head(all), call.version()))
                .put("jobs", new Listing(all, JobsJson.fields(cluster, call.version()), "jobs of " + cluster));
    }

    /** Fields of the answer beside the jobs. */
    private static Json.Obj head(Controller.Rows all) {
        Json.Obj reply = new Json.Obj();
        Json.Obj read = all.head();
        List.of("lastUpdate", "lastBackfill").forEach(name -> reply.put(name, read.number(name)));
        return reply;
    }

    private static void one(RestCall call) throws RestException, SlurmException {
        Json.Obj reply = call.controller("QueryJobs", query(List.of(call.path("job_id"))));
        if (reply.objects("jobs").isEmpty()) {
            throw unknown(call);
        }
        if (unchanged(call, reply)) {
            call.out().warning(SlurmErrno.NO_CHANGE_IN_DATA.sentence(), "slurm_load_job()");
            reply.put("jobs", new ArrayList<>());
        }
        call.out().with(JobsJson.answer(call.names(), reply, call.version()));
    }

    /** slurmctld's error for a request to signal jobs that selects none. */
    private static final int NO_FILTER = 2173;

    private static RestException unknown(RestCall call) {
        return call.refused(
                SlurmErrno.INVALID_JOB_ID,
                "Unable to query JobId=" + call.path().getOrDefault("job_id", call.asked("job_id")));
    }

    /** Nothing is newer than what the caller has. */
    static boolean unchanged(RestCall call, Json.Obj reply) throws RestException {
        return !call.asked("update_time").isEmpty() && call.time("update_time") - 1 >= reply.number("lastUpdate");
    }

    private static void states(RestCall call) throws SlurmException {
        Json.Obj query = query(call.list("job_id"))
                .put("details", Boolean.FALSE)
                .put(
                        "fields",
                        RestCall.objects(List.of(
                                "jobId",
                                "arrayJobId",
                                "arrayTaskId",
                                "arrayTasks",
                                "state",
                                "flags",
                                "hetJobId",
                                "hetOffset")));
        Json.Obj reply = call.controller("QueryJobs", query);
        List<Object> out = new ArrayList<>();
        for (Json.Obj job : reply.objects("jobs")) {
            Json.Obj whole = JobsJson.job(call.names(), job);
            Json.Obj part = new Json.Obj();
            for (String name : List.of(
                    "job_id",
                    "job_state",
                    "array_job_id",
                    "array_task_id",
                    "array_task_string",
                    "het_job_id",
                    "het_job_offset")) {
                part.put(name, whole.raw(name));
            }
            out.add(part);
        }
        call.out()
                .put("jobs", out)
                .put("last_backfill", Tree.number(reply.number("lastBackfill")))
                .put("last_update", Tree.number(reply.number("lastUpdate")));
    }

    // ---- new ones

    private static void submit(RestCall call) throws RestException, SlurmException {
        List<Json.Obj> parts = new ArrayList<>(call.body().objects("jobs"));
        boolean one = parts.isEmpty();
        if (one && call.body().has("job")) {
            parts.add(call.body().obj("job"));
        }
        if (parts.isEmpty() && call.body().text("script").isEmpty()) {
            throw noScript();
        }
        if (parts.isEmpty()) {
            throw new RestException(
                    422,
                    RestException.INVALID_JOBS,
                    "Jobs description entry not found, empty or not dictionary or list",
                    "Specify only one \"job\" or \"jobs\" fields",
                    "#/");
        }
        String script = call.body().text("script").isEmpty()
                ? parts.getFirst().text("script")
                : call.body().text("script");
        if (script.isEmpty()) {
            throw noScript();
        }
        List<Object> requests = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            requests.add(new JobBody(call.host(), parts.get(i), one ? "#/job/" : "#/jobs/" + i + "/")
                    .request("BATCH", i == 0 ? script : ""));
        }
        Json.Obj reply = parts.size() == 1
                ? call.controller(
                        "Submit",
                        ((Json.Obj) requests.getFirst())
                                .put("requestId", call.host().requestId()))
                : call.controller("SubmitHet", call.change().put("parts", requests));
        submitted(call, reply);
        call.out().put("step_id", "batch");
        if (parts.stream()
                .anyMatch(p -> p.flag("hold")
                        || p.obj("priority").flag("set") && p.obj("priority").number("number") == 0)) {
            call.out()
                    .warning(
                            "Job submission resulted in non-zero return code: " + SlurmErrno.JOB_HELD.sentence(),
                            "slurm_submit_batch_job()");
            call.out().warning(SlurmErrno.JOB_HELD.sentence(), "slurm_submit_batch_job()");
        }
    }

    private static RestException noScript() {
        return new RestException(
                422,
                RestException.INVALID_QUERY,
                "Query empty or not RFC7320 compliant",
                "Populated \"script\" field is required for job submission",
                "_job_post");
    }

    private static void submitted(RestCall call, Json.Obj reply) {
        call.out()
                .put("job_id", reply.number("jobId"))
                .put("job_submit_user_msg", String.join("\n", reply.texts("warnings")));
    }

    private static void allocate(RestCall call) throws RestException, SlurmException {
        List<Json.Obj> parts = call.body().objects("hetjob");
        if (parts.isEmpty()) {
            submitted(
                    call,
                    call.controller(
                            "Submit",
                            new JobBody(call.host(), call.body().obj("job"), "#/job/")
                                    .request("ALLOCATION", "")
                                    .put("requestId", call.host().requestId())));
            return;
        }
        if (!call.body().obj("job").fields().isEmpty()) {
            throw new RestException(
                    422,
                    RestException.INVALID_JOBS,
                    "Jobs description entry not found, empty or not dictionary or list",
                    "Specify only one \"job\" or \"hetjob\" fields",
                    "#/");
        }
        List<Object> requests = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            requests.add(new JobBody(call.host(), parts.get(i), "#/hetjob/" + i + "/").request("ALLOCATION", ""));
        }
        submitted(call, call.controller("SubmitHet", call.change().put("parts", requests)));
    }

    // ---- changes

    private static void update(RestCall call) throws RestException, SlurmException {
        String id = call.path("job_id");
        Json.Obj changes = new JobChanges(call.body()).of(id);
        if (!call.body().texts("environment").isEmpty()) {
            call.out().warning("A job keeps the environment that it was submitted with", "#/environment/");
        }
        boolean hold = call.body().flag("hold");
        if (changes.fields().isEmpty() && !call.body().has("hold")) {
            Json.Obj there =
                    call.controller("QueryJobs", query(List.of(id)).put("fields", RestCall.objects(List.of("jobId"))));
            if (there.objects("jobs").isEmpty()) {
                throw RestException.of(SlurmErrno.INVALID_JOB_ID, "Job update requested failed", "slurm_update_job2()");
            }
        }
        List<Object> results = new ArrayList<>();
        if (!changes.fields().isEmpty()) {
            results.addAll(tasks(
                    call,
                    call.controller("UpdateJob", call.change().put("job", id).put("changes", changes))));
        }
        if (call.body().has("hold")) {
            results.addAll(tasks(
                    call,
                    call.controller(
                            "JobAction",
                            call.change()
                                    .put("action", hold ? "hold" : "release")
                                    .put("jobs", RestCall.objects(List.of(id))))));
        }
        if (results.isEmpty()) {
            results.add(result(id, 0, "", ""));
        }
        call.out().put("job_id", id).put("results", results);
    }

    /** Results for the tasks of an array, if some of them failed. */
    private static List<Object> tasks(RestCall call, Json.Obj reply) throws RestException {
        String source = call.operation().id().replace("_{v}", "") + "()";
        if (!isOfSome(reply)) {
            for (Json.Obj e : reply.objects("errors")) {
                throw failed(e, source);
            }
        }
        return tasks(call, reply, source);
    }

    private static List<Object> tasks(RestCall call, Json.Obj reply, String source) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj e : reply.objects("errors")) {
            out.add(result(e.text("job"), e.integer("errno"), e.text("error"), e.text("said")));
            if (!isOfSome(reply)) {
                call.out().error(failed(e, source));
            } else if (e.integer("errno") != 0) {
                call.out().warning(e.text("error") + " for job " + e.text("job"), source);
            }
        }
        return out;
    }

    private static boolean isOfSome(Json.Obj reply) {
        return reply.objects("errors").stream().anyMatch(e -> e.integer("errno") == 0);
    }

    private static RestException failed(Json.Obj e, String source) {
        return new RestException(
                RestException.status(e.integer("errno")),
                e.integer("errno"),
                e.text("error"),
                e.text("error") + " for job " + e.text("job"),
                source);
    }

    private static Json.Obj result(String id, int errno, String error, String reason) {
        return new Json.Obj()
                .put("job_id", number(id))
                .put("step_id", id)
                .put("error", error)
                .put("error_code", (long) errno)
                .put("why", reason);
    }

    private static long number(String id) {
        int end = 0;
        while (end < id.length() && end < 9 && Character.isDigit(id.charAt(end))) {
            end++;
        }
        return end == 0 ? 0 : Long.parseLong(id.substring(0, end));
    }

    // ---- ends

    private static int signal(String word) throws RestException {
        if (word.isEmpty()) {
            return 0;
        }
        int number = Signals.number(word);
        if (number < 0) {
            throw RestException.query("\"" + word + "\" is no signal", "#/signal/");
        }
        return number;
    }

    private static final List<String> CANCEL_FLAGS = List.of("BATCH_JOB", "FULL_JOB", "HURRY", "CRON_JOBS", "VERBOSE");

    private static Json.Obj cancel(RestCall call, int signal, List<String> flags, List<String> jobs)
            throws RestException {
        boolean tasks = !jobs.isEmpty() && jobs.stream().allMatch(j -> j.indexOf('_') > 0);
        for (String flag : flags) {
            if (!CANCEL_FLAGS.contains(flag) && !(flag.equals("ARRAY_TASK") && tasks)) {
                throw call.refused(
                        SlurmErrno.NOT_SUPPORTED, "The flag " + flag + " of a signal is not supported by this version");
            }
        }
        return call.change()
                .put("signal", (long) signal)
                .put("batchOnly", flags.contains("BATCH_JOB"))
                .put("full", flags.contains("FULL_JOB"))
                .put("hurry", flags.contains("HURRY"))
                .put("cronAllowed", flags.contains("CRON_JOBS"));
    }

    private static List<String> upper(List<String> words) {
        return words.stream().map(w -> w.toUpperCase(java.util.Locale.ROOT)).toList();
    }

    private static void delete(RestCall call) throws RestException, SlurmException {
        String id = call.path("job_id");
        Json.Obj cancelled = cancel(call, signal(call.asked("signal")), upper(call.list("flags")), List.of(id));
        Json.Obj reply = call.controller("Cancel", cancelled.put("jobs", RestCall.objects(List.of(id))));
        call.out()
                .put("status", status(reply, upper(call.list("flags")).contains("VERBOSE") ? List.of(id) : List.of()));
    }

    private static void deleteMany(RestCall call) throws RestException, SlurmException {
        Json.Obj b = call.body();
        List<String> jobs = b.texts("jobs");
        Json.Obj query =
                cancel(call, signal(b.text("signal")), b.texts("flags"), jobs).put("ctld", Boolean.TRUE);
        String[][] filters = {
            {"accounts", "account"},
            {"names", "job_name"},
            {"partitions", "partition"},
            {"qos", "qos"},
            {"reservations", "reservation"},
            {"wckeys", "wckey"}
        };
        boolean filtered = false;
        for (String[] f : filters) {
            if (!b.text(f[1]).isEmpty()) {
                query.put(f[0], RestCall.objects(Words.of(b.text(f[1]))));
                filtered = true;
            }
        }
        if (!b.texts("job_state").isEmpty()) {
            query.put("states", RestCall.objects(b.texts("job_state")));
            filtered = true;
        }
        if (!b.texts("nodes").isEmpty()) {
            query.put("nodes", RestCall.objects(Tree.hosts(String.join(",", b.texts("nodes")))));
            filtered = true;
        }
        String user = b.text("user_name").isEmpty() ? b.text("user_id") : b.text("user_name");
        if (!user.isEmpty()) {
            int uid = call.host().userId(user);
            if (uid < 0) {
                throw call.refused(SlurmErrno.USER_ID_MISSING, "There is no user " + user);
            }
            query.put("userIds", new ArrayList<Object>(List.of((long) uid)));
            filtered = true;
        }
        if (jobs.isEmpty() && !filtered) {
            throw new RestException(
                    422,
                    NO_FILTER,
                    "Invalid signal jobs request, at least one job id or filter is required.",
                    "Signal request failed",
                    "slurm_kill_jobs()");
        }
        if (!jobs.isEmpty()) {
            query.put("jobs", RestCall.objects(jobs));
        }
        Json.Obj reply = call.controller("Cancel", query);
        call.out().put("status", status(reply, b.texts("flags").contains("VERBOSE") ? reply.texts("done") : List.of()));
    }

    /** Status of each job: the changed ones, if asked for, then the failed ones. */
    private static List<Object> status(Json.Obj reply, List<String> done) {
        List<Object> out = new ArrayList<>();
        List<Json.Obj> errors = reply.objects("errors");
        for (String id : done) {
            if (errors.stream().noneMatch(e -> e.text("job").equals(id))) {
                out.add(status(id, 0, "No error"));
            }
        }
        errors.forEach(e -> out.add(status(e.text("job"), e.integer("errno"), e.text("error"))));
        return out;
    }

    private static Json.Obj status(String id, int errno, String sentence) {
        return new Json.Obj()
                .put(
                        "error",
                        new Json.Obj()
                                .put("string", sentence)
                                .put("code", (long) errno)
                                .put("message", errno == 0 ? "" : sentence))
                .put("step_id", id)
                .put("job_id", Tree.number(number(id)))
                .put("federation", new Json.Obj().put("sibling", ""));
    }

    // ---- again

    private static List<Object> requeued(RestCall call, String id, List<String> flags) throws SlurmException {
        boolean hold = flags.contains("Hold") || flags.contains("SpecialExit");
        String argument;
        if (flags.contains("SpecialExit")) {
            argument = "SpecialExit";
        } else if (flags.contains("Incomplete") && !hold) {
            argument = "incomplete";
        } else {
            argument = "";
        }

        Json.Obj reply = call.controller(
                "JobAction",
                call.change()
                        .put("action", hold ? "requeuehold" : "requeue")
                        .put("argument", argument)
                        .put("jobs", RestCall.objects(List.of(id))));
        List<Object> out = tasks(call, reply, "slurm_requeue2()");
        if (out.isEmpty()) {
            out.add(result(id, 0, "", ""));
        }
        return out;
    }

    private static void requeue(RestCall call) throws SlurmException {
        List<String> flags = List.of("Incomplete", "Hold", "SpecialExit").stream()
                .filter(f -> call.given(RestCall.key(f)))
                .toList();
        call.out().put("status", requeued(call, call.path("job_id"), flags));
    }

    private static void requeueMany(RestCall call) throws RestException, SlurmException {
        if (call.body().texts("jobs").isEmpty()) {
            throw call.refused(SlurmErrno.INVALID_JOB_ID, "No jobs are given");
        }
        List<Object> status = new ArrayList<>();
        for (String id : call.body().texts("jobs")) {
            status.add(requeued(call, id, call.body().texts("flags")));
        }
        call.out().put("status", status);
    }

    /** Resources of a job on each of its nodes. */
    private static void resources(RestCall call) throws RestException, SlurmException {
        Json.Obj reply = call.controller("QueryJobs", query(List.of(call.path("job_id"))));
        if (reply.objects("jobs").isEmpty()) {
            throw unknown(call);
        }
        List<Object> nodes = new ArrayList<>();
        for (Json.Obj job : reply.objects("jobs")) {
            if (!JobRows.isUnfinished(job)) {
                throw call.refused(SlurmErrno.ALREADY_DONE, "The job is over");
            }
            for (Json.Obj d : job.objects("details")) {
                for (Object name : Tree.hosts(d.text("nodes"))) {
                    nodes.add(new Json.Obj()
                            .put("node", name)
                            .put("sockets_per_node", d.number("sockets"))
                            .put("cores_per_socket", d.number("coresPerSocket"))
                            .put("mem_alloc", d.number("memoryMb"))
                            .put("core_bitmap", d.text("cores"))
                            .put(
                                    "channel",
                                    d.number("channel") == 0 ? Tree.unset() : Tree.number(d.number("channel") - 1))
                            .put("gres", gres(d.text("gres"))));
                }
            }
        }
        call.out().put("nodes", nodes);
    }

    /** {@code gpu:a100:2(IDX:0-1)} */
    private static List<Object> gres(String text) {
        List<Object> out = new ArrayList<>();
        for (String item : text.split(",(?![^(]*\\))")) {
            if (!item.isBlank()) {
                int open = item.indexOf("(IDX:");
                String[] parts = (open < 0 ? item : item.substring(0, open)).split(":");
                String count = parts[parts.length - 1];
                out.add(new Json.Obj()
                        .put("name", parts[0])
                        .put("type", parts.length > 2 ? parts[1] : "")
                        .put("count", count.matches("[0-9]{1,15}") ? Long.parseLong(count) : 1L)
                        .put("index", open < 0 ? "" : item.substring(open + 5).replace(")", "")));
            }
        }
        return out;
    }
}
