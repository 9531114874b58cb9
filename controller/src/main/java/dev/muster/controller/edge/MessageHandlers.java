package dev.muster.controller.edge;

import dev.muster.json.Codec;
import dev.muster.model.api.MessageRights;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The messages that slurmctld answers: of each the class of its request, the rights to send it ({@link MessageRights}),
 * and its handler. The handlers of the edge register theirs when it is built; from then on the table is read only.
 */
final class MessageHandlers {
    /** Answers the requests of one message. */
    interface Handler<T> {
        Reply answer(Caller caller, T request);
    }

    /** The request of a message whose body says nothing and is not read. */
    record NoRequest() {
        private static final NoRequest INSTANCE = new NoRequest();
    }

    /**
     * A kind of message and its handler.
     *
     * @param name as in the path of the request
     * @param strict whether a field that the request does not have is refused
     * @param word reads the word of a body on which the right depends; "" for none
     */
    record Message<T>(
            String name, Class<T> request, boolean strict, Function<byte[], String> word, Handler<T> handler) {
        /** The right that this body needs; empty if its word is none of the message's. */
        Optional<MessageRights.Rule> right(byte[] body) {
            return MessageRights.rule(MessageRights.controller(), name, word.apply(body));
        }

        Reply answer(Caller caller, byte[] body) {
            return handler.answer(caller, read(body));
        }

        private T read(byte[] body) {
            if (request == NoRequest.class) {
                return request.cast(NoRequest.INSTANCE);
            }
            return strict ? Codec.decodeKnown(body, request) : Codec.decode(body, request);
        }
    }

    @SuppressWarnings("UnnecessaryLambda") // add() tells it from others by identity
    private static final Function<byte[], String> ANY_BODY = _ -> "";

    private final Map<String, Message<?>> messages = new TreeMap<>();

    /** Registers a message without a request. */
    MessageHandlers plain(String name, Function<Caller, Reply> handler) {
        return add(name, NoRequest.class, false, ANY_BODY, (caller, _) -> handler.apply(caller));
    }

    /** Registers a message whose request may have fields that this version does not know. */
    <T> MessageHandlers on(String name, Class<T> request, Handler<T> handler) {
        return add(name, request, false, ANY_BODY, handler);
    }

    /** Registers a message that changes something: an unknown field of its request is refused. */
    <T> MessageHandlers onKnown(String name, Class<T> request, Handler<T> handler) {
        return add(name, request, true, ANY_BODY, handler);
    }

    /** Registers a message whose right depends on a word of its request. */
    <T> MessageHandlers byWord(
            String name, Class<T> request, boolean strict, Function<T, String> word, Handler<T> handler) {
        return add(name, request, strict, body -> word.apply(Codec.decode(body, request)), handler);
    }

    private <T> MessageHandlers add(
            String name, Class<T> request, boolean strict, Function<byte[], String> word, Handler<T> handler) {
        Set<String> rights = MessageRights.controller().keySet();
        boolean byWord = rights.stream().anyMatch(right -> right.startsWith(name + " "));
        if (!byWord && !rights.contains(name)) {
            throw new IllegalStateException(name + " has no right");
        }
        if (byWord == (word == ANY_BODY)) {
            throw new IllegalStateException(
                    name + (byWord ? " has rights by a word that is not read" : " reads a word that has no right"));
        }
        if (messages.put(name, new Message<>(name, request, strict, word, handler)) != null) {
            throw new IllegalStateException(name + " has two handlers");
        }
        return this;
    }

    /** Empty for a message that is not known. */
    Optional<Message<?>> find(String name) {
        return Optional.ofNullable(messages.get(name));
    }

    /** Returns the names of all messages. */
    Set<String> names() {
        return Collections.unmodifiableSet(messages.keySet());
    }
}
