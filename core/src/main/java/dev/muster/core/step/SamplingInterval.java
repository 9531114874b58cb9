package dev.muster.core.step;

import dev.muster.core.command.Decision;
import dev.muster.core.options.StepOptions;
import dev.muster.core.state.Settings;
import dev.muster.model.SlurmErrno;
import dev.muster.model.job.ResourceRequest;
import java.util.Optional;

/** Interval at which a job's processes are sampled: {@code --acctg-freq} over JobAcctGatherFrequency. */
public final class SamplingInterval {
    private SamplingInterval() {}

    /**
     * Refuses an interval that a job may not have: where sampling enforces memory limits, its memory is not sampled
     * less often than the configuration says.
     */
    public static Optional<Decision.Rejected> refusal(Settings settings, String text, ResourceRequest request) {
        int asked = StepOptions.sampleS(text);
        int configured = settings.options().steps().sampleS();
        boolean limited = settings.memoryConsumed()
                || request.memPerNodeMb() > 0
                || request.memPerCpuMb() > 0
                || request.memPerGpuMb() > 0;
        boolean rarer = asked == 0 || asked > configured;
        return asked >= 0 && configured > 0 && limited && rarer
                ? Optional.of(new Decision.Rejected(SlurmErrno.ERROR, "Invalid accounting frequency requested"))
                : Optional.empty();
    }
}
