package dev.muster.controller.edge;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.model.api.ClusterMessages.Done;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;

/** Decisions as replies. */
final class Replies {
    static final int WAIT_MS_MAX = 60_000;

    private Replies() {}

    static Reply rejected(Decision.Rejected r) {
        return Reply.error(400, r.errno(), r.sentence());
    }

    /** A message that is sent again acts once; it may stand for several commands. */
    static Command once(Caller caller, String requestId, int part, Command command) {
        if (requestId.isEmpty()) {
            return command;
        }
        return new Command.Once(requestId + (part == 0 ? "" : "." + part), caller.uid(), command);
    }

    static Reply tested(Decision decision) {
        return switch (decision) {
            case Decision.Accepted a -> Reply.of(a.reply());
            case Decision.Rejected r -> rejected(r);
        };
    }

    static Reply done(Decision decision) {
        return switch (decision) {
            case Decision.Accepted a -> Reply.of(Done.OK);
            case Decision.Rejected r -> rejected(r);
        };
    }
}
