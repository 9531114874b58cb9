package dev.muster.cli;

import dev.muster.cli.shape.ControlJson;
import dev.muster.model.Json;
import java.util.List;

/** {@code scontrol show licenses}. */
final class ScontrolLicenses {
    private ScontrolLicenses() {}

    static int show(CommandContext c, Scontrol.Switches s, String name) throws UsageException {
        List<Json.Obj> all;
        try {
            all = c.host().controller().call("QueryLicenses", new Json.Obj()).objects("licenses");
        } catch (SlurmException e) {
            return Standard.failed(c, "slurm_load_licenses error", e);
        }
        List<Json.Obj> meant = name.isEmpty() ? all : named(all, name);
        if (!name.isEmpty() && meant.isEmpty()) {
            c.err().println("scontrol: error: query \"" + name + "\" matched zero licenses.");
            return 1;
        }
        if (meant.stream().map(l -> l.text("name")).distinct().count() > 1 && !name.isEmpty()) {
            c.err().println("scontrol: error: query \"" + name + "\" matched more than one result, exiting.");
            return 1;
        }
        if (!s.json.isEmpty()) {
            return JsonOutput.print(c, s.json, s.parser, ControlJson.licenses(meant));
        }
        if (meant.isEmpty()) {
            c.out().println("No licenses configured in Slurm.");
        }
        meant.forEach(l -> c.out().println(text(c, l, s.oneLine ? " " : "\n    ")));
        return 0;
    }

    /** Of that name, all layers of it; else those of servers outside that have it under this name. */
    private static List<Json.Obj> named(List<Json.Obj> all, String name) {
        List<Json.Obj> exact = all.stream().filter(l -> l.text("name").equals(name)).toList();
        return exact.isEmpty() ? all.stream().filter(l -> l.flag("remote") && l.text("name").startsWith(name + "@")).toList() : exact;
    }

    private static String text(CommandContext c, Json.Obj l, String next) {
        String out = "LicenseName=" + l.text("name") + next + "Total=" + l.integer("total") + " Used=" + l.integer("used") + " Free="
                + l.integer("free") + " Reserved=" + l.integer("reserved") + " Remote=" + (l.flag("remote") ? "yes" : "no");
        if (l.flag("remote")) {
            out += next + "LastConsumed=" + l.number("consumed") + " LastDeficit=" + l.integer("deficit") + " LastUpdate="
                    + c.time(l.number("updated"));
        }
        return l.text("nodes").isEmpty() ? out : out + next + "Nodes=" + l.text("nodes");
    }
}
