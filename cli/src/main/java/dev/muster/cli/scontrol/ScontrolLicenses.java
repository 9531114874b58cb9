package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.shape.ControlJson;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.json.Json;
import java.util.List;

/** Runs {@code scontrol show licenses}. */
final class ScontrolLicenses {
    private ScontrolLicenses() {}

    static int show(CommandContext c, ScontrolSwitches s, String name) throws UsageException {
        List<Json.Obj> all;
        boolean serversOptional;
        try {
            Json.Obj reply = c.host().controller().call("QueryLicenses", new Json.Obj());
            all = reply.objects("licenses");
            serversOptional = reply.flag("serversOptional");
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_load_licenses error", e);
        }
        List<Json.Obj> meant = name.isEmpty()
                ? all
                : all.stream()
                        .filter(l -> l.text("name").equals(name)
                                || serversOptional && l.text("name").startsWith(name + "@"))
                        .toList();
        if (!s.json.isEmpty()) {
            return JsonOutput.print(
                    c, s.json, s.parser, ControlJson.licenses(all, c.host().nowMs() / 1000));
        }
        if (all.isEmpty()) {
            c.out().println("No licenses configured in Slurm.");
            return 0;
        }
        if (meant.isEmpty()) {
            c.err().println("scontrol: error: query \"" + name + "\" matched zero licenses.");
            return 1;
        }
        if (meant.stream()
                                .map(l -> l.text("name"))
                                .filter(n -> !n.equals(name))
                                .distinct()
                                .count()
                        > 1
                && !name.isEmpty()) {
            c.err().println("scontrol: error: query \"" + name + "\" matched more than one result, exiting.");
            return 1;
        }
        meant.forEach(l -> c.out().println(text(c, l, s.oneLine ? " " : "\n    ")));
        return 0;
    }

    private static String text(CommandContext c, Json.Obj l, String next) {
        String out = "LicenseName=" + l.text("name") + next + "Total=" + l.integer("total") + " Used="
                + l.integer("used") + " Free=" + l.integer("free") + " Reserved=" + l.integer("reserved") + " Remote="
                + (l.flag("remote") ? "yes" : "no");
        if (l.flag("remote")) {
            out += next + "LastConsumed=" + l.number("consumed") + " LastDeficit=" + l.integer("deficit")
                    + " LastUpdate=" + c.time(l.number("updated"));
        }
        return l.text("nodes").isEmpty() ? out : out + next + "Nodes=" + l.text("nodes");
    }
}
