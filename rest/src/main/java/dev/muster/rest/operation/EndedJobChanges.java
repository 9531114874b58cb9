package dev.muster.rest.operation;

import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.contract.RestException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code POST /slurmdb/…/job} and {@code jobs}: changes of ended jobs in accounting. */
final class EndedJobChanges {
    private EndedJobChanges() {}

    private static void modify(RestCall call, List<String> ids, Json.Obj job) throws RestException, SlurmException {
        Json.Obj comment = job.obj("comment");
        if (!comment.text("system").isEmpty()
                || !job.obj("tres").list("allocated").isEmpty()) {
            throw call.refused(
                    SlurmErrno.NOT_SUPPORTED,
                    "Neither the system's comment nor the TRES of a job that is over can be changed by"
                            + " this version");
        }
        Map<String, String> set = AccountingChanges.withoutEmpty(
                "admincomment",
                comment.text("administrator"),
                "comment",
                comment.text("job"),
                "extra",
                job.text("extra"),
                "wckey",
                job.text("wckey"));
        Json.Obj code = job.obj("derived_exit_code").obj("return_code");
        if (code.flag("set")) {
            set.put("derivedexitcode", Long.toString(code.number("number")));
        }
        if (ids.isEmpty() || set.isEmpty()) {
            throw RestException.incomplete("Nothing to change");
        }
        Json.Obj done = AccountingChanges.change(
                call,
                "modify",
                "job",
                set,
                AccountingChanges.map(
                        "jobid", String.join(",", ids), "cluster", call.names().cluster()));
        List<Object> results = new ArrayList<>();
        done.texts("names").forEach(n -> results.add("JobId=" + n.replaceFirst("\t.*", "")));
        call.out().put("results", results);
    }

    static void job(RestCall call) throws RestException, SlurmException {
        modify(call, List.of(call.path("job_id")), call.body());
    }

    static void jobs(RestCall call) throws RestException, SlurmException {
        modify(call, call.body().texts("job_id_list"), call.body().obj("job_rec"));
    }
}
