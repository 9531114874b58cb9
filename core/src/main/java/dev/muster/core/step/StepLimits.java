package dev.muster.core.step;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Settings;
import dev.muster.model.SlurmErrno;
import dev.muster.model.job.CpuBind;
import dev.muster.model.job.MemBind;
import dev.muster.model.job.ResourceRequest;
import dev.muster.model.job.StepDesc;
import dev.muster.model.job.TresBind;
import java.util.Optional;

/** Refuses steps that ask for what the cluster cannot give them. */
final class StepLimits {
    private StepLimits() {}

    static Optional<Decision.Rejected> refusal(StepDesc step, Settings settings) {
        ResourceRequest r = step.request();
        if (!TresBind.isValid(step.tresBind())) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_TRES));
        }
        String what;
        if (CpuBind.parse(step.cpuBind()).isEmpty()) {
            what = "--cpu-bind=" + step.cpuBind();
        } else if (MemBind.parse(step.memBind()).isEmpty()) {
            what = "--mem-bind=" + step.memBind();
        } else if (!r.licenses().isEmpty()) {
            what = "--licenses";
        } else {
            what = "";
        }

        return what.isEmpty()
                ? NetworkOption.refusal(r.network(), settings)
                : Optional.of(new Decision.Rejected(
                        SlurmErrno.NOT_SUPPORTED, what + " is not supported by this version of Muster"));
    }
}
