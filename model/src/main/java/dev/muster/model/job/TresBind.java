package dev.muster.model.job;

import java.util.regex.Pattern;

/** The form of {@code --tres-bind}: {@code gres/gpu:verbose,map:0,1+gres/nic:closest}. */
public final class TresBind {
    private static final Pattern NAME = Pattern.compile("gres/[^:]+:(.*)", Pattern.CASE_INSENSITIVE);
    private static final Pattern HOW = Pattern.compile(
            "(verbose,)?(none|closest|(per_task|single):[0-9]{1,6}"
                    + "|map(_gpu)?:(|[0-9]{1,6}(\\*[0-9]{1,6})?(,[0-9]{1,6}(\\*[0-9]{1,6})?)*)"
                    + "|mask(_gpu)?:(|(0x)?[0-9a-f]{1,64}(\\*[0-9]{1,6})?(,(0x)?[0-9a-f]{1,64}(\\*[0-9]{1,6})?)*))",
            Pattern.CASE_INSENSITIVE);

    private TresBind() {}

    /** {@code gres/gpu:verbose,…}: tasks are to say which GPUs they have. */
    public static boolean isVerbose(String text) {
        return text.toLowerCase(java.util.Locale.ROOT).matches("(.*\\+)?gres/gpu:verbose,.*");
    }

    /** Whether the whole text can be read; "" binds nothing. */
    public static boolean isValid(String text) {
        if (text.isEmpty()) {
            return true;
        }
        for (String item : text.split("\\+", -1)) {
            var name = NAME.matcher(item);
            if (!name.matches()
                    || name.group(1).isEmpty()
                    || !HOW.matcher(name.group(1)).matches()) {
                return false;
            }
        }
        return true;
    }
}
