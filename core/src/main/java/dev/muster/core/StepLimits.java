package dev.muster.core;

import dev.muster.model.ResourceRequest;
import dev.muster.model.SlurmErrno;
import dev.muster.model.StepDesc;
import java.util.Locale;
import java.util.Optional;

/** What a step may ask for that nothing here can give it. */
final class StepLimits {
    private StepLimits() {}

    static Optional<Decision.Rejected> refusal(StepDesc step) {
        ResourceRequest r = step.request();
        String memBind = step.memBind().toLowerCase(Locale.ROOT);
        String what = !bindable(step.cpuBind()) ? "--cpu-bind=" + step.cpuBind()
                : !memBind.isEmpty() && !memBind.equals("none") && !memBind.equals("no") ? "--mem-bind"
                : !step.container().isEmpty() ? "--container"
                : !r.licenses().isEmpty() ? "--licenses"
                : !r.network().isEmpty() ? "--network"
                : "";
        return what.isEmpty() ? Optional.empty() : Optional.of(new Decision.Rejected(
                SlurmErrno.NOT_SUPPORTED, what + " is not supported by this version of Muster"));
    }

    /** Tasks get cores of their own or all of the step's, or the CPUs they name. */
    private static boolean bindable(String text) {
        String bind = text.toLowerCase(Locale.ROOT).replaceFirst("^(quiet|q)(,|$)", "");
        return switch (bind) {
            case "", "none", "no", "cores" -> true;
            default -> bind.matches("map_cpu:[0-9]{1,5}(,[0-9]{1,5})*");
        };
    }
}
