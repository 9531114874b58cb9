package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.model.format.Times;
import java.util.List;

/** Reads times as users type them to sacctmgr. */
final class TimeParser {
    private TimeParser() {}

    static long seconds(CommandContext context, String typed) throws UsageException {
        return switch (Times.parse(
                typed, context.host().nowMs() / 1000, context.host().zone(), true)) {
            case Times.Parsed.Ok ok -> ok.epochSec();
            case Times.Parsed.Invalid invalid ->
                throw new UsageException(
                        1,
                        List.of("sacctmgr: error: Invalid time specification (pos=" + invalid.position() + "): "
                                + typed));
        };
    }
}
