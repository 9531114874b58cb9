package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.AssocRef;

/** An association as it is named in lists of sacctmgr. */
final class AssocText {
    private AssocText() {}

    static String line(AssocRef a) {
        return " " + place(a);
    }

    /** Text of an association with the default QOS of its jobs. */
    static String standard(String qos, AssocRef a) {
        return "  DefQOS = " + pad(qos, 10)
                + place(new AssocRef(a.cluster(), a.account(), a.user(), a.partition(), ""));
    }

    static String place(AssocRef a) {
        StringBuilder out =
                new StringBuilder(" C = ").append(pad(a.cluster(), 10)).append(" A = ");
        if (a.user().isEmpty()) {
            return out.append(a.account())
                    .append(a.parent().isEmpty() ? "" : " of " + a.parent())
                    .toString();
        }
        out.append(pad(a.account(), 20)).append(" U = ").append(pad(a.user(), 9));
        return (a.partition().isEmpty() ? out : out.append(" P = ").append(a.partition())).toString();
    }

    static String pad(String text, int width) {
        return text.length() >= width ? text : text + " ".repeat(width - text.length());
    }
}
