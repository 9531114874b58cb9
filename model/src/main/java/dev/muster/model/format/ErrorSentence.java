package dev.muster.model.format;

import java.util.Locale;

/**
 * The sentence of an error for logs and users. Many errors of the Java library have no message, which would read as
 * "null".
 */
public final class ErrorSentence {
    private static final int CAUSES_MAX = 20;

    private ErrorSentence() {}

    /** Returns the message of the error, or of the first of its causes that has one, or the words of its class. */
    public static String of(Throwable error) {
        Throwable at = error;
        for (int i = 0; i < CAUSES_MAX; i++) {
            String message = at.getMessage();
            Throwable cause = at.getCause();
            if (message != null && !message.isBlank() && (cause == null || !message.equals(cause.toString()))) {
                return message;
            }
            if (cause == null) {
                break;
            }
            at = cause;
        }
        return words(at.getClass());
    }

    /** {@code ClosedByInterruptException} is "closed by interrupt". */
    private static String words(Class<?> type) {
        return type.getSimpleName()
                .replaceFirst("(Exception|Error)$", "")
                .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
                .toLowerCase(Locale.ROOT);
    }
}
