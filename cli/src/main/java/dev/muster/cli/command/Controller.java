package dev.muster.cli.command;

import dev.muster.json.Json;
import java.util.function.Consumer;

/** slurmctld or slurmdbd as commands see it: a request goes out, an answer comes back. */
public interface Controller {
    /** Sends one message of {@code dev.muster.model.api} by name; the reply's tree. */
    Json.Obj call(String message, Json.Obj request) throws SlurmException;

    /**
     * Does as {@link #call} and returns the reply's bytes, which may be no JSON where the request asks for something
     * else.
     */
    default byte[] bytes(String message, Json.Obj request) throws SlurmException {
        return Json.print(call(message, request));
    }

    /** A reply with a list that may be very long: only one of its rows is a tree at a time. */
    interface Rows {
        /** The fields of the reply that stand before its list. */
        Json.Obj head();

        /** Each time anew. */
        void each(Consumer<Json.Obj> row);

        /** How much memory it takes while it is held; 0 for little. */
        default long bytes() {
            return 0;
        }

        static Rows of(Json.Obj reply, String list) {
            return new Rows() {
                @Override
                public Json.Obj head() {
                    return reply;
                }

                @Override
                public void each(Consumer<Json.Obj> row) {
                    reply.objects(list).forEach(row);
                }
            };
        }

        /** @param json a whole reply; it is parsed while it is gone through */
        static Rows of(byte[] json, String list) {
            return new Rows() {
                @Override
                public Json.Obj head() {
                    return Json.before(json, list);
                }

                @Override
                public void each(Consumer<Json.Obj> row) {
                    Json.rows(json, list, row);
                }

                @Override
                public long bytes() {
                    return json.length;
                }
            };
        }
    }

    /**
     * Does as {@link #call} and returns the rows of one field.
     *
     * @param list the field that holds the rows
     */
    default Rows rows(String message, Json.Obj request, String list) throws SlurmException {
        return Rows.of(call(message, request), list);
    }

    /** Takes a reply with a list that may be very long, row by row. */
    interface Taker {
        /** First, the fields of the reply that stand before its list. */
        void head(Json.Obj head);

        void row(Json.Obj row);
    }

    /**
     * Hands each row to {@code taker} while the reply still arrives; otherwise as {@link #rows}.
     *
     * @throws Json.MalformedException after some rows, maybe
     */
    default void rows(String message, Json.Obj request, String list, Taker taker) throws SlurmException {
        feed(rows(message, request, list), taker);
    }

    /** A reply that is there as a whole. */
    static void feed(Rows rows, Taker taker) {
        taker.head(rows.head());
        rows.each(taker::row);
    }
}
