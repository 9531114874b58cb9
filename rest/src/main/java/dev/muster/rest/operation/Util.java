package dev.muster.rest.operation;

import dev.muster.cli.command.SlurmException;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.rest.contract.RestException;
import java.util.Map;

/** Operations of slurmrestd itself. slurmctld authenticates their callers all the same. */
public final class Util {
    private Util() {}

    public static Map<String, RestCall.Handler> handlers() {
        return Map.of("util_{v}_post_hostnames", Util::hostnames, "util_{v}_post_hostlist", Util::hostlist);
    }

    private static void hostnames(RestCall call) throws RestException, SlurmException {
        call.controller("Ping");
        switch (HostList.parse(call.body().text("hostlist"))) {
            case HostList.Parsed.Ok ok ->
                call.out().put("hostnames", RestCall.objects(ok.list().names()));
            case HostList.Parsed.Invalid invalid ->
                throw new RestException(
                        422,
                        RestException.INVALID_DATA,
                        "Request to parse invalid data",
                        "Invalid hostlist string: " + call.body().text("hostlist"),
                        "#/hostlist/");
        }
    }

    private static void hostlist(RestCall call) throws RestException, SlurmException {
        call.controller("Ping");
        switch (HostList.parse(String.join(",", call.body().texts("hostnames")))) {
            case HostList.Parsed.Ok ok -> call.out().put("hostlist", ok.list().compressed());
            case HostList.Parsed.Invalid invalid ->
                throw call.refused(SlurmErrno.INVALID_NODE_NAME, "hostnames are none");
        }
    }
}
