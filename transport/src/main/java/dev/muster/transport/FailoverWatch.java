package dev.muster.transport;

import dev.muster.json.Json;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Looks after a request that waits for its answer where another daemon may serve in place of the one that was asked:
 * once another one does, the wait ends, and the request goes there. A daemon that stands still or is cut off closes no
 * connection.
 */
public final class FailoverWatch implements AutoCloseable {
    /** Time after which the others are asked for the first time: most answers are there before. */
    private static final int FIRST_MS = 700;

    /** Time within which one of the others connects, and answers. */
    public static final int ANSWER_MS = 1000;

    private static final FailoverWatch NONE = new FailoverWatch(null);

    private final @Nullable Thread thread;

    private FailoverWatch(@Nullable Thread thread) {
        this.thread = thread;
    }

    /**
     * Begins to look, if there are other daemons.
     *
     * @param waiting asks one of the daemons
     * @param others ask the other ones; closed at the end
     * @param serves tests whether an answer to a ping is that of a daemon that serves
     * @param pauseMs between two looks
     */
    public static FailoverWatch over(Client waiting, List<Client> others, Predicate<Json.Obj> serves, int pauseMs) {
        return others.isEmpty()
                ? NONE
                : new FailoverWatch(
                        Thread.ofVirtual().name("peer-watch").start(() -> look(waiting, others, serves, pauseMs)));
    }

    private static void look(Client waiting, List<Client> others, Predicate<Json.Obj> serves, int pauseMs) {
        try {
            Thread.sleep(FIRST_MS);
            while (others.stream().noneMatch(other -> answers(other, serves))) {
                Thread.sleep(pauseMs);
            }
            waiting.supersede();
        } catch (InterruptedException e) {
            // the answer is there
        } finally {
            others.forEach(Client::close);
        }
    }

    private static boolean answers(Client other, Predicate<Json.Obj> serves) {
        try {
            Client.Response answer =
                    other.post("/muster/v1/Ping", Json.print(new Json.Obj()), ANSWER_MS, Optional.empty());
            return answer.status() == 200 && serves.test(Json.object(answer.body()));
        } catch (IOException | Json.MalformedException e) {
            other.close();
            return false;
        }
    }

    /** Ends the look. */
    @Override
    public void close() {
        if (thread != null) {
            thread.interrupt();
        }
    }
}
