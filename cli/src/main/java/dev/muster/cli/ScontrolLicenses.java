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
            all = c.host().controller().call("QueryLicenses", new Json.Obj().put("name", name)).objects("licenses");
        } catch (SlurmException e) {
            return Standard.failed(c, "slurm_load_licenses error", e);
        }
        if (!s.json.isEmpty()) {
            return JsonOutput.print(c, s.json, s.parser, ControlJson.licenses(all));
        }
        if (all.isEmpty() && name.isEmpty()) {
            c.out().println("No licenses configured in Slurm.");
        }
        for (Json.Obj l : all) {
            c.out().println("LicenseName=" + l.text("name") + (s.oneLine ? " " : "\n    ") + "Total=" + l.integer("total") + " Used="
                    + l.integer("used") + " Free=" + Math.max(0, l.integer("total") - l.integer("used"))
                    + " Reserved=" + l.integer("reserved") + " Remote=" + (l.flag("remote") ? "yes" : "no"));
        }
        return 0;
    }
}
