package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.shape.ControlJson;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.json.Json;
import dev.muster.model.format.Digits;
import java.util.ArrayList;
import java.util.List;

/** Runs {@code scontrol ping}, {@code takeover} and {@code shutdown}, which concern each slurmctld of slurm.conf. */
final class ScontrolControllers {
    /** Time in milliseconds for which a takeover is waited for, and between two looks. */
    private static final long TAKEOVER_MS = 10_000;

    private static final long LOOK_MS = 100;

    private ScontrolControllers() {}

    static int ping(CommandContext c, ScontrolSwitches s) throws UsageException {
        List<ControlJson.Ping> pings = pings(c);
        if (s.json.isEmpty()) {
            lines(pings).forEach(c.out()::println);
        } else {
            JsonOutput.print(c, s.json, s.parser, ControlJson.slurmctldPings(pings, JsonOutput.version(s.parser)));
        }
        return pings.stream().anyMatch(ControlJson.Ping::isUp) ? 0 : 1;
    }

    /** Asks each configured controller. */
    static List<ControlJson.Ping> pings(CommandContext c) {
        List<String> hosts = c.host().controllers();
        List<ControlJson.Ping> pings = new ArrayList<>();
        for (int i = 0; i < Math.max(1, hosts.size()); i++) {
            pings.add(ping(c, i, i < hosts.size() ? hosts.get(i) : ""));
        }
        return pings;
    }

    private static ControlJson.Ping ping(CommandContext c, int index, String host) {
        long beganNs = System.nanoTime();
        try {
            Json.Obj reply = c.host().callController(index, "Ping", new Json.Obj());
            String name = reply.text("host").isEmpty() ? host : reply.text("host");
            return new ControlJson.Ping(
                    name, index, c.host().controllers().size(), true, us(beganNs), reply.obj("member"));
        } catch (SlurmException e) {
            return new ControlJson.Ping(host, index, c.host().controllers().size(), false, us(beganNs), new Json.Obj());
        }
    }

    private static long us(long beganNs) {
        return (System.nanoTime() - beganNs) / 1000;
    }

    /**
     * Returns a line for each controller. Where several keep the journal together, it has the role and the term behind
     * Slurm's words, and how many entries a follower lacks.
     */
    static List<String> lines(List<ControlJson.Ping> pings) {
        long committed = pings.stream()
                .mapToLong(p -> p.member().number("committed"))
                .max()
                .orElse(0);
        List<String> lines = new ArrayList<>();
        for (ControlJson.Ping p : pings) {
            lines.add("Slurmctld(" + p.mode() + ") at " + p.host() + " is " + (p.isUp() ? "UP" : "DOWN")
                    + role(p.member(), committed));
        }
        return lines;
    }

    private static String role(Json.Obj member, long committed) {
        long term = member.number("term");
        if (term == 0) {
            return "";
        }
        if (member.flag("leads")) {
            return " (leads in term " + term + ")";
        }
        if (member.text("leader").isEmpty()) {
            return " (knows no leader in term " + term + ")";
        }
        return " (follows in term " + term + ", " + (committed - member.number("committed")) + " entries behind)";
    }

    /** Lets another controller lead, by default the first backup, and waits until it does. */
    static int takeover(CommandContext c, List<String> rest) {
        int controllers = c.host().controllers().size();
        if (rest.size() > 1) {
            c.err().println("takeover: too many arguments");
            return 1;
        }
        if (rest.isEmpty() && controllers < 2) {
            c.err().println("slurm_takeover error: no backup controller is configured");
            return 1;
        }
        long index = rest.isEmpty() ? 1 : Digits.parseNumber(rest.getFirst());
        if (index < 0 || index >= controllers || controllers < 2) {
            c.err().println("takeover: invalid backup controller index (" + rest.getFirst() + ")");
            return 1;
        }
        try {
            if (leads(c, (int) index)) {
                return 0;
            }
            c.host().controller().call("Takeover", new Json.Obj().put("index", index));
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_takeover error", e);
        }
        return awaitLeader(c, (int) index);
    }

    private static int awaitLeader(CommandContext c, int index) {
        long endMs = c.host().nowMs() + TAKEOVER_MS;
        while (!leads(c, index)) {
            if (c.host().nowMs() > endMs || !c.host().pause(LOOK_MS)) {
                c.err()
                        .println("slurm_takeover error: "
                                + c.host().controllers().get(index) + " does not lead after " + TAKEOVER_MS / 1000
                                + " s; the log of slurmctld says why");
                return 1;
            }
        }
        return 0;
    }

    private static boolean leads(CommandContext c, int index) {
        try {
            return c.host()
                    .callController(index, "Ping", new Json.Obj())
                    .obj("member")
                    .flag("leads");
        } catch (SlurmException e) {
            return false;
        }
    }

    /** Stops all controllers, those in standby first, so that none of them leads in between. */
    static int shutdown(CommandContext c, boolean controllerOnly) {
        Json.Obj q = new Json.Obj().put("controllerOnly", controllerOnly);
        int controllers = c.host().controllers().size();
        for (int i = 0; i < controllers && controllers > 1; i++) {
            try {
                if (!leads(c, i)) {
                    c.host()
                            .callController(
                                    i, "Shutdown", q.put("requestId", c.host().requestId()));
                }
            } catch (SlurmException e) {
                c.info("slurmctld on " + c.host().controllers().get(i) + ": " + e.getMessage());
            }
        }
        return Scontrol.simple(c, "Shutdown", q, "slurm_shutdown error");
    }
}
