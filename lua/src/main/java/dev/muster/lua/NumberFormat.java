package dev.muster.lua;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.lib.VarArgFunction;

/** {@code string.format} with numbers that have a point, as C prints them: the library in use knows no precision. */
final class NumberFormat extends VarArgFunction {
    private static final Pattern SPEC = Pattern.compile("%([-+ #0]{0,5})([0-9]{0,2})(?:\\.([0-9]{0,2}))?([a-zA-Z%])");
    private static final int PRECISION_DEFAULT = 6;
    private static final int DIGITS_SHOWN = 14;

    private final LuaValue plain;

    NumberFormat(LuaValue plain) {
        this.plain = plain;
    }

    @Override
    public Varargs invoke(Varargs args) {
        String text = args.checkjstring(1);
        Matcher m = SPEC.matcher(text);
        // those that are formatted here go on as texts; the rest is the library's
        StringBuilder rest = new StringBuilder();
        LuaValue[] values = new LuaValue[args.narg()];
        int next = 1;
        while (m.find()) {
            char kind = m.group(4).charAt(0);
            if (kind == '%') {
                m.appendReplacement(rest, "%%");
                continue;
            }
            if (next < values.length) {
                boolean own = "eEfgG".indexOf(kind) >= 0;
                boolean number = kind == 's' && args.arg(next + 1).type() == TNUMBER;
                values[next] = own ? valueOf(one(m, args.checkdouble(next + 1)))
                        : number ? valueOf(text(args.checkdouble(next + 1))) : args.arg(next + 1);
                if (own) {
                    m.appendReplacement(rest, "%s");
                }
            }
            next++;
        }
        m.appendTail(rest);
        for (int i = Math.max(1, next); i < values.length; i++) {
            values[i] = args.arg(i + 1);
        }
        values[0] = valueOf(rest.toString());
        return plain.invoke(LuaValue.varargsOf(values));
    }

    /** A number as Lua shows it: the library in use would round it to what a float holds. */
    static String text(double value) {
        String body = Double.isNaN(value) ? "nan" : Double.isInfinite(value) ? "inf" : body(Math.abs(value), 'g', DIGITS_SHOWN, false);
        return value < 0 ? "-" + body : body;
    }

    private static String one(Matcher m, double value) {
        int precision = m.group(3) == null ? PRECISION_DEFAULT : m.group(3).isEmpty() ? 0 : Integer.parseInt(m.group(3));
        char kind = m.group(4).charAt(0);
        String body = Double.isNaN(value) ? "nan" : Double.isInfinite(value) ? "inf"
                : body(Math.abs(value), kind, precision, m.group(1).contains("#"));
        boolean negative = Double.compare(value, 0.0) < 0;
        String sign = negative ? "-" : m.group(1).contains("+") ? "+" : m.group(1).contains(" ") ? " " : "";
        int width = m.group(2).isEmpty() ? 0 : Integer.parseInt(m.group(2));
        int missing = Math.max(0, width - sign.length() - body.length());
        return m.group(1).contains("-") ? sign + body + " ".repeat(missing)
                : m.group(1).contains("0") ? sign + "0".repeat(missing) + body : " ".repeat(missing) + sign + body;
    }

    private static String body(double value, char kind, int precision, boolean keepZeros) {
        return switch (kind) {
            case 'f' -> new BigDecimal(value).setScale(precision, java.math.RoundingMode.HALF_EVEN).toPlainString();
            case 'e' -> String.format(Locale.ROOT, "%." + precision + "e", value);
            case 'E' -> String.format(Locale.ROOT, "%." + precision + "E", value);
            default -> {
                int digits = Math.max(1, precision);
                String scientific = String.format(Locale.ROOT, "%." + (digits - 1) + "e", value);
                int e = scientific.indexOf('e');
                int exponent = Integer.parseInt(scientific.substring(e + 1));
                boolean fixed = exponent >= -4 && exponent < digits;
                String mantissa = fixed ? body(value, 'f', digits - 1 - exponent, true) : scientific.substring(0, e);
                if (!keepZeros && mantissa.indexOf('.') >= 0) {
                    mantissa = mantissa.replaceFirst("\\.?0+$", "");
                }
                String whole = fixed ? mantissa : mantissa + scientific.substring(e);
                yield kind == 'G' ? whole.toUpperCase(Locale.ROOT) : whole;
            }
        };
    }
}
