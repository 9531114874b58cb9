package dev.muster.scheduler.forecast;

import dev.muster.core.state.Job;
import dev.muster.scheduler.claim.PlannedReservations;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.pass.ClassVerdicts;
import dev.muster.scheduler.queue.QueueOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes a {@link Forecast} in two steps: first for the seven days from now on, from which passes take their
 * reservations, then for the time behind them, one {@link ForecastWindow} after the other until every job has a time.
 * Passes need only the first step, so it is handed over at once.
 */
public final class ForecastBuilder {
    /**
     * Stretches that are planned step by step, ten years of them; what is behind the last one's days is planned in
     * coarse steps.
     */
    private static final int STRETCHES_MAX = 520;

    private final Forecast.Input in;
    private final Map<Integer, Forecast.Planned> planned = new HashMap<>();
    private Map<Integer, Forecast.Planned> coarse = new HashMap<>();
    private final PlannedReservations claims;
    private List<ForecastWindow.QueuedJob> left = new ArrayList<>();
    /** Jobs that find no place as long as jobs without a limit keep theirs. */
    private final List<ForecastWindow.QueuedJob> never = new ArrayList<>();

    private ForecastWindow stretch;
    private int made = 1;
    /** Jobs without a limit count as ending after a year. */
    private boolean yearly;

    private int walked;
    private int tried;

    public ForecastBuilder(Forecast.Input in) {
        this.in = in;
        this.stretch = ForecastWindow.first(in);
        this.claims = new PlannedReservations(in.nodes().size());
    }

    /** Returns the plan of the days that come; of others coarse times, if any. To be called first, and once. */
    public Forecast soon() {
        int claimed = 0;
        for (QueueOrder.Block block : in.queue()) {
            for (int i = 0; i < block.size; i++) {
                walked++;
                List<Forecast.Alternative> alternatives = asked(block, i);
                if (alternatives.isEmpty()) {
                    continue;
                }
                tried++;
                ForecastWindow.QueuedJob turn = new ForecastWindow.QueuedJob(alternatives);
                put(turn, stretch.plan(turn, claimed < in.claims(), planned, coarse), left);
                if (!stretch.places().isEmpty()) {
                    claims.add(alternatives.getFirst().jobId(), stretch.places());
                    claimed++;
                }
            }
        }
        Set<Integer> open = Stream.concat(left.stream(), never.stream())
                .map(t -> t.alternatives.getFirst().jobId())
                .filter(id -> !planned.containsKey(id))
                .collect(Collectors.toSet());
        return new Forecast(in, walked, tried, new HashMap<>(planned), coarse, open, claims);
    }

    /** Returns an empty list for a job that waits for something that no plan knows of. */
    private List<Forecast.Alternative> asked(QueueOrder.Block block, int i) {
        int lane = block.lanes[i];
        if (lane == QueueOrder.UNKNOWN) {
            return in.special().getOrDefault(block.places[i].jobId(), List.of());
        }
        NeedClass c = in.lanes()[lane].need;
        if (block.toldReasons[i] >= 0 && !Forecast.WAITS.contains(ClassVerdicts.REASONS[block.toldReasons[i]])
                || in.masks()[c.where()].length == 0) {
            return List.of();
        }
        List<Forecast.Alternative> drawn =
                in.drawn().isEmpty() ? List.of() : in.drawn().getOrDefault(lane, List.of());
        Job job = block.places[i].job();
        return drawn.isEmpty()
                ? List.of(new Forecast.Alternative(job.id(), c, in.masks()[c.where()], "", Forecast.tasks(job), 0))
                : drawn.stream().map(a -> a.of(job)).toList();
    }

    /**
     * Plans one stretch more.
     *
     * @return whether there was one to plan
     */
    boolean step() {
        Optional<ForecastWindow> next =
                left.isEmpty() || made == STRETCHES_MAX ? Optional.empty() : stretch.next(made + 1 == STRETCHES_MAX);
        if (next.isEmpty() && !yearly) {
            yearly = true;
            made = 0;
            left.addAll(0, never);
            never.clear();
            next = left.isEmpty() || !stretch.areEndless() ? Optional.empty() : Optional.of(stretch.yearly());
        }
        next.ifPresent(s -> {
            stretch = s;
            made++;
            turns();
        });
        return next.isPresent();
    }

    /** Ends the plan and returns all that is planned by now. */
    Forecast whole() {
        coarse.forEach(planned::putIfAbsent);
        return new Forecast(in, walked, tried, planned, Map.of(), Set.of(), claims);
    }

    private void turns() {
        List<ForecastWindow.QueuedJob> still = new ArrayList<>();
        Map<Integer, Forecast.Planned> vague = new HashMap<>();
        for (ForecastWindow.QueuedJob turn : left) {
            put(turn, stretch.plan(turn, false, planned, vague), still);
        }
        left = still;
        // as a map of its own: the first plan has the other
        Map<Integer, Forecast.Planned> all = new HashMap<>(coarse);
        all.putAll(vague);
        coarse = all;
    }

    private void put(
            ForecastWindow.QueuedJob turn, ForecastWindow.Outcome outcome, List<ForecastWindow.QueuedJob> still) {
        switch (outcome) {
            case PLACED -> {}
            case LEFT -> still.add(turn);
            case NEVER -> never.add(turn);
        }
    }
}
