package dev.muster.cli;

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
            return Tree.print(c, s.json, s.parser, json(all));
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

    private static Json.Obj json(List<Json.Obj> all) {
        List<Object> out = new java.util.ArrayList<>();
        for (Json.Obj l : all) {
            out.add(new Json.Obj().put("LicenseName", l.text("name")).put("Total", l.number("total")).put("Used", l.number("used"))
                    .put("Free", Math.max(0, l.number("total") - l.number("used")))
                    .put("Remote", l.flag("remote")).put("Reserved", l.number("reserved")));
        }
        return new Json.Obj().put("licenses", out);
    }
}
