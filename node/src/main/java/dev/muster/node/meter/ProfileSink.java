package dev.muster.node.meter;

import java.util.Map;
import java.util.Set;

/** Takes time series of steps. Called from several threads. */
public interface ProfileSink {
    /** The sink without profiling: drops all samples. */
    ProfileSink NONE = new ProfileSink() {
        @Override
        public void sample(Profiles.Plan plan, String series, String task, Map<String, Number> values, long epochS) {
            // no profiling
        }

        @Override
        public void ended(Profiles.Plan plan) {
            // no profiling
        }
    };

    /** Samples of this step will come. */
    default void begun(Profiles.Plan plan) {}

    /** slurmd has started and goes on with these steps; of others that it had begun no more will come. */
    default void resumed(Set<Profiles.Plan> live) {}

    /**
     * One sample.
     *
     * @param series {@code task}, {@code energy}, {@code network}
     * @param task rank, or the name of the series where it is of no single task
     * @param values whole numbers as Long, others as Double
     */
    void sample(Profiles.Plan plan, String series, String task, Map<String, Number> values, long epochS);

    /** No more of this step. May block. */
    void ended(Profiles.Plan plan);
}
