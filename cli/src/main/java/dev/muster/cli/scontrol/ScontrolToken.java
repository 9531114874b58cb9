package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.json.Json;
import java.util.List;

/** Runs {@code scontrol token}: prints a line that a shell can export. */
final class ScontrolToken {
    private static final long UNLIMITED = 0xffff_ffffL;
    private static final long SECONDS_MAX = 0x7fff_fffeL;

    private ScontrolToken() {}

    static int token(CommandContext c, List<String> rest) {
        Json.Obj q = new Json.Obj();
        for (String word : rest) {
            int eq = word.indexOf('=');
            String name = Texts.lower(eq < 0 ? word : word.substring(0, eq));
            String value = eq < 0 ? "" : word.substring(eq + 1);
            if (name.equals("username") && eq > 0) {
                q.put("user", value);
            } else if (name.equals("lifespan") && eq > 0) {
                boolean unlimited = List.of("infinite", "unlimited").contains(Texts.lower(value));
                long seconds;
                if (unlimited) {
                    seconds = UNLIMITED;
                } else if (value.matches("[0-9]{1,18}")) {
                    seconds = Long.parseLong(value);
                } else {
                    seconds = 0;
                }

                if (!unlimited && (seconds <= 0 || seconds > SECONDS_MAX)) {
                    boolean large = seconds > SECONDS_MAX;
                    c.error(
                            large
                                    ? "Numeric argument (" + value + ") too large for lifespan."
                                    : "Invalid numeric value \"" + value + "\" for lifespan.");
                    return 1;
                }
                q.put("lifespanSeconds", seconds);
            } else {
                c.err().println("Invalid option: `" + word + "`");
                return 1;
            }
        }
        try {
            c.out()
                    .println("SLURM_JWT="
                            + c.host().controller().call("CreateToken", q).text("token"));
            return 0;
        } catch (SlurmException e) {
            c.error("slurm_fetch_token: error with request: " + e.getMessage());
            return 1;
        }
    }
}
