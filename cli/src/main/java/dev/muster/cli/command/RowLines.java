package dev.muster.cli.command;

import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.transport.Client;
import java.nio.charset.StandardCharsets;

/**
 * Passes on the rows of a long reply while slurmctld still produces the next ones. Each row is a line of its own; the
 * first line ends where the list begins.
 */
public final class RowLines implements Client.Lines {
    private static final byte[] END = "]}".getBytes(StandardCharsets.US_ASCII);

    private final Controller.Taker taker;
    private final Json.Objects objects = new Json.Objects();
    private boolean begun;
    private boolean ended;

    public RowLines(Controller.Taker taker) {
        this.taker = taker;
    }

    @Override
    public void line(byte[] buffer, int from, int to) {
        if (!begun) {
            byte[] head = new byte[to - from + END.length];
            System.arraycopy(buffer, from, head, 0, to - from);
            System.arraycopy(END, 0, head, to - from, END.length);
            begun = true;
            taker.head(Json.object(head));
        } else if (to - from == END.length && buffer[from] == END[0] && buffer[from + 1] == END[1]) {
            ended = true;
        } else {
            taker.row(objects.read(buffer, from, to > from && buffer[to - 1] == ',' ? to - 1 : to));
        }
    }

    /** Ends with the rest of a reply: a whole reply, or nothing after its last line. */
    public void finish(byte[] body, String list) throws SlurmException {
        if (!begun) {
            Controller.feed(Controller.Rows.of(body, list), taker);
        } else if (!ended) {
            throw new SlurmException(
                    SlurmErrno.UNEXPECTED_MSG_ERROR.number(), SlurmErrno.UNEXPECTED_MSG_ERROR.sentence());
        }
    }
}
