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

    static int show(CommandContext context, ScontrolSwitches switches, String name) throws UsageException {
        List<Json.Obj> all;
        boolean serversOptional;
        try {
            Json.Obj reply = context.host().controller().call("QueryLicenses", new Json.Obj());
            all = reply.objects("licenses");
            serversOptional = reply.flag("serversOptional");
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_licenses error", e);
        }
        List<Json.Obj> matching = name.isEmpty()
                ? all
                : all.stream()
                        .filter(license -> license.text("name").equals(name)
                                || serversOptional && license.text("name").startsWith(name + "@"))
                        .toList();
        if (!switches.json.isEmpty()) {
            return JsonOutput.print(
                    context,
                    switches.json,
                    switches.parser,
                    ControlJson.licenses(all, context.host().nowMs() / 1000));
        }
        if (all.isEmpty()) {
            context.out().println("No licenses configured in Slurm.");
            return 0;
        }
        if (matching.isEmpty()) {
            context.err().println("scontrol: error: query \"" + name + "\" matched zero licenses.");
            return 1;
        }
        if (matching.stream()
                                .map(license -> license.text("name"))
                                .filter(n -> !n.equals(name))
                                .distinct()
                                .count()
                        > 1
                && !name.isEmpty()) {
            context.err().println("scontrol: error: query \"" + name + "\" matched more than one result, exiting.");
            return 1;
        }
        matching.forEach(license -> context.out().println(text(context, license, switches.oneLine ? " " : "\n    ")));
        return 0;
    }

    private static String text(CommandContext context, Json.Obj license, String next) {
        String out = "LicenseName=" + license.text("name") + next + "Total=" + license.integer("total") + " Used="
                + license.integer("used") + " Free=" + license.integer("free") + " Reserved="
                + license.integer("reserved") + " Remote="
                + (license.flag("remote") ? "yes" : "no");
        if (license.flag("remote")) {
            out += next + "LastConsumed=" + license.number("consumed") + " LastDeficit=" + license.integer("deficit")
                    + " LastUpdate=" + context.time(license.number("updated"));
        }
        return license.text("nodes").isEmpty() ? out : out + next + "Nodes=" + license.text("nodes");
    }
}
