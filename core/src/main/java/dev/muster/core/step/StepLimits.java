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

/** What a step may ask for that nothing here can give it. */
final class StepLimits {
    private StepLimits() {}

    static Optional<Decision.Rejected> refusal(StepDesc step, Settings settings) {
        ResourceRequest r = step.request();
        if (!TresBind.isValid(step.tresBind())) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_TRES));
        }
        String what = CpuBind.parse(step.cpuBind()).isEmpty()
                ? "--cpu-bind=" + step.cpuBind()
                : MemBind.parse(step.memBind()).isEmpty()
                        ? "--mem-bind=" + step.memBind()
                        : !r.licenses().isEmpty() ? "--licenses" : "";
        return what.isEmpty()
                ? NetworkWords.refusal(r.network(), settings)
                : Optional.of(new Decision.Rejected(
                        SlurmErrno.NOT_SUPPORTED, what + " is not supported by this version of Muster"));
    }
}
