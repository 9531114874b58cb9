package dev.muster.rest.operation;

import dev.muster.json.Json;
import dev.muster.rest.contract.RestException;
import java.util.List;

/** The change of a job as REST describes it ({@code job_desc_msg}), as keys and values of scontrol update. */
final class JobChanges extends JobFields {
    /** Field, and the key of scontrol update. */
    private static final String[] CHANGES = {
        "name",
        "jobname",
        "partition",
        "partition",
        "account",
        "account",
        "qos",
        "qos",
        "wckey",
        "wckey",
        "reservation",
        "reservationname",
        "constraints",
        "features",
        "prefer",
        "prefer",
        "licenses",
        "licenses",
        "network",
        "network",
        "tres_per_node",
        "trespernode",
        "tres_per_job",
        "tresperjob",
        "tres_per_socket",
        "trespersocket",
        "tres_per_task",
        "trespertask",
        "dependency",
        "dependency",
        "comment",
        "comment",
        "admin_comment",
        "admincomment",
        "extra",
        "extra",
        "mail_user",
        "mailuser",
        "burst_buffer",
        "burstbuffer",
        "tres_bind",
        "tresbind",
        "tasks",
        "numtasks",
        "cpus_per_task",
        "cpuspertask",
        "tasks_per_node",
        "ntaskspernode",
        "minimum_cpus_per_node",
        "mincpusnode",
        "temporary_disk_per_node",
        "mintmpdisknode",
        "sockets_per_node",
        "reqsockets",
        "cores_per_socket",
        "reqcores",
        "threads_per_core",
        "reqthreads",
        "core_specification",
        "corespec",
        "thread_specification",
        "threadspec",
        "deadline",
        "deadline",
        "nice",
        "nice",
        "memory_per_cpu",
        "minmemorycpu",
        "memory_per_node",
        "minmemorynode",
        "begin_time",
        "starttime",
        "time_minimum",
        "timemin",
        "priority",
        "priority",
        "contiguous",
        "contiguous",
        "reboot",
        "reboot",
        "current_working_directory",
        "workdir",
        "standard_input",
        "stdin",
        "standard_output",
        "stdout",
        "standard_error",
        "stderr",
        "end_time",
        "endtime",
        "site_factor",
        "sitefactor",
        "nodes",
        "numnodes",
        "mcs_label",
        "mcslabel",
        "minimum_cpus",
        "numcpus",
        "wait_for_switch",
        "wait-for-switch"
    };

    private final Json.Obj out = new Json.Obj();

    JobChanges(Json.Obj in) {
        super(in, "#/");
    }

    /** @param id of the path */
    Json.Obj of(String id) throws RestException {
        takes("hold");
        takes("environment");
        if (takes("job_id")
                && in.number("job_id") != 0
                && !Long.toString(in.number("job_id")).equals(id)) {
            throw unfit("job_id", "It is another job's than the path's");
        }
        for (int i = 0; i < CHANGES.length; i += 2) {
            if (takes(CHANGES[i]) && isSet(CHANGES[i])) {
                out.put(CHANGES[i + 1], text(CHANGES[i]));
            }
        }
        if (takes("time_limit") && isSet("time_limit")) {
            out.put("timelimit", bounded("time_limit") < 0 ? "UNLIMITED" : Long.toString(bounded("time_limit")));
        }
        if (takes("requeue")) {
            out.put("requeue", in.flag("requeue") ? "1" : "0");
        }
        if (takes("mail_type")) {
            out.put("mailtype", mailTypes());
        }
        nodes();
        if (takes("delay_boot") && isSet("delay_boot")) {
            out.put("delayboot", Long.toString((bounded("delay_boot") + 59) / 60));
        }
        sharing();
        refuseUnread();
        return out;
    }

    private String text(String field) throws RestException {
        return switch (in.raw(field)) {
            case Json.Obj o -> Long.toString(bounded(field));
            case Number n -> Long.toString(bounded(field));
            case Boolean flag -> flag ? "yes" : "no";
            case null, default -> String.valueOf(in.raw(field));
        };
    }

    private void sharing() throws RestException {
        for (String word : takes("shared") ? in.texts("shared") : List.<String>of()) {
            if (!word.equals("oversubscribe")) {
                throw unfit("shared", "A job that is there can be told oversubscribe and nothing else");
            }
            out.put("oversubscribe", "yes");
        }
    }

    private void nodes() throws RestException {
        if (takes("required_nodes")) {
            out.put("reqnodelist", String.join(",", in.texts("required_nodes")));
        }
        if (takes("excluded_nodes")) {
            out.put("excnodelist", String.join(",", in.texts("excluded_nodes")));
        }
        if (takes("required_switches") && isSet("required_switches")) {
            out.put("switches", switches(bounded("wait_for_switch")));
            out.fields().remove("wait-for-switch");
        }
        boolean setsMinimum = takes("minimum_nodes") && isSet("minimum_nodes");
        boolean setsMaximum = takes("maximum_nodes") && isSet("maximum_nodes");
        if ((setsMinimum || setsMaximum) && !out.has("numnodes")) {
            long least = Math.max(1, bounded("minimum_nodes"));
            long most = bounded("maximum_nodes");
            out.put("numnodes", least + (setsMaximum && most != least ? "-" + most : ""));
        }
    }
}
