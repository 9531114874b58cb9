package dev.muster.cli.option;

import dev.muster.cli.command.Texts;
import dev.muster.json.Json;
import dev.muster.model.job.CpuFreq;
import java.util.Locale;
import java.util.function.Function;

/** Formats CPU frequencies of a step for sacct, sstat and squeue. */
public final class StepFrequency {
    private StepFrequency() {}

    /** @param khz 0 where it is not known */
    public static String average(long khz) {
        return khz == 0 ? "0" : shown(Long.toString(khz));
    }

    /** A part of the value of --cpu-freq; {@code Unknown} where it is unset. */
    public static String asked(Json.Obj step, Function<CpuFreq, String> part) {
        String frequency = step.text("cpuFreq");
        String value =
                frequency.isEmpty() ? "" : CpuFreq.parse(frequency).map(part).orElse("");
        return shown(value);
    }

    /** Words as they are, numbers in GHz or as many units of kHz; {@code Unknown} for nothing. */
    public static String shown(String value) {
        if (!Texts.isNumber(value)) {
            return value.isEmpty() ? "Unknown" : value;
        }
        double amount = Long.parseLong(value);
        int unit = 0;
        while (amount >= 1000 && unit < 2) {
            amount /= 1000;
            unit++;
        }
        String text =
                amount == Math.rint(amount) ? Long.toString((long) amount) : String.format(Locale.ROOT, "%.2f", amount);
        return text + "KMG".charAt(unit);
    }
}
