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

    static int token(CommandContext context, List<String> operands) {
        Json.Obj query = new Json.Obj();
        for (String word : operands) {
            int equalSign = word.indexOf('=');
            String name = Texts.lower(equalSign < 0 ? word : word.substring(0, equalSign));
            String value = equalSign < 0 ? "" : word.substring(equalSign + 1);
            if (name.equals("username") && equalSign > 0) {
                query.put("user", value);
            } else if (name.equals("lifespan") && equalSign > 0) {
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
                    context.error(
                            large
                                    ? "Numeric argument (" + value + ") too large for lifespan."
                                    : "Invalid numeric value \"" + value + "\" for lifespan.");
                    return 1;
                }
                query.put("lifespanSeconds", seconds);
            } else {
                context.err().println("Invalid option: `" + word + "`");
                return 1;
            }
        }
        try {
            context.out()
                    .println("SLURM_JWT="
                            + context.host()
                                    .controller()
                                    .call("CreateToken", query)
                                    .text("token"));
            return 0;
        } catch (SlurmException e) {
            context.error("slurm_fetch_token: error with request: " + e.getMessage());
            return 1;
        }
    }
}
