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

    private static void hostnames(RestCall c) throws RestException, SlurmException {
        c.controller("Ping");
        switch (HostList.parse(c.body().text("hostlist"))) {
            case HostList.Parsed.Ok ok ->
                c.out().put("hostnames", RestCall.objects(ok.list().names()));
            case HostList.Parsed.Invalid bad ->
                throw new RestException(
                        422,
                        RestException.INVALID_DATA,
                        "Request to parse invalid data",
                        "Invalid hostlist string: " + c.body().text("hostlist"),
                        "#/hostlist/");
        }
    }

    private static void hostlist(RestCall c) throws RestException, SlurmException {
        c.controller("Ping");
        switch (HostList.parse(String.join(",", c.body().texts("hostnames")))) {
            case HostList.Parsed.Ok ok -> c.out().put("hostlist", ok.list().compressed());
            case HostList.Parsed.Invalid bad -> throw c.refused(SlurmErrno.INVALID_NODE_NAME, "hostnames are none");
        }
    }
}
