package dev.muster.scheduler.timeline;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.tres.Licenses;
import dev.muster.model.cluster.LayeredResource;
import dev.muster.scheduler.node.HeldLicenses;
import dev.muster.scheduler.node.LayeredResourceRequest;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Allocates licenses in a pass; it makes their plan when the first job requests some. */
public final class LicenseAllocator {
    private static final byte HAS = 1;
    private static final byte LACKS = 2;
    private final HeldLicenses held;
    private final State state;
    private final DecisionTime now;
    private final Supplier<TimeGrid> times;
    private @Nullable LicensePlan plan;
    /** Licenses that a job without a reservation would get now, by request; valid until a job takes some. */
    private final Map<AskedLicenses, Optional<List<LicenseRequest.Item>>> atOnce = new HashMap<>();

    /** Number that goes up with each allocation. */
    private int taken;
    /**
     * Whether the licenses of each {@link NeedClass#desk} are there: {@link #HAS} or {@link #LACKS}, 0 where not asked;
     * as of the allocation below.
     */
    private byte[] availability = {};

    private int availabilityVersion;

    private record AskedLicenses(LicenseRequest.Wanted wanted, int end) {}

    /** @param times those of the pass, made when they are asked for */
    public LicenseAllocator(HeldLicenses held, State state, DecisionTime now, Supplier<TimeGrid> times) {
        this.held = held;
        this.state = state;
        this.now = now;
        this.times = times;
    }

    /**
     * Returns the licenses that the need would get from that slot on, wherever it runs; empty if it must wait for them.
     */
    public Optional<List<LicenseRequest.Item>> given(ResourceNeed need, int slot) {
        LicenseRequest.Wanted anywhere =
                anywhere(need.licenses(), state.settings().layered());
        if (anywhere.items().isEmpty()) {
            return Optional.of(List.of());
        }
        int end = times.get().endSlot(slot, need.limitMin());
        return slot > 0 || !need.reservation().isEmpty()
                ? plan().choose(anywhere, slot, end, need.reservation())
                : atOnce.computeIfAbsent(new AskedLicenses(anywhere, end), a -> plan().choose(a.wanted, 0, a.end, ""));
    }

    /**
     * Tests whether jobs of a class that asks for licenses would have to wait for them now: as {@link #given}, looked
     * up once for all classes that ask for the same.
     *
     * @param desk of the class, as {@link NeedClass#desk}
     * @param desks more than any of these
     * @param c it, or another that asks for the same
     */
    public boolean lacks(int desk, int desks, NeedClass c) {
        if (availabilityVersion != taken || desk >= availability.length) {
            availabilityVersion = taken;
            availability = new byte[Math.max(desks, desk + 1)];
        }
        if (availability[desk] == 0) {
            availability[desk] = given(c.need, 0).isEmpty() ? LACKS : HAS;
        }
        return availability[desk] == LACKS;
    }

    /** Returns the request without licenses of layered resources, which depend on nodes. */
    public static LicenseRequest.Wanted anywhere(LicenseRequest.Wanted wanted, List<LayeredResource> all) {
        return all.isEmpty() || wanted.items().isEmpty()
                ? wanted
                : new LicenseRequest.Wanted(
                        wanted.items().stream()
                                .filter(i ->
                                        all.stream().noneMatch(r -> r.name().equals(i.name())))
                                .toList(),
                        wanted.any());
    }

    /** Returns the layered resources that the need would get from that slot on, which depends on its nodes. */
    public LayeredResourceRequest layers(ResourceNeed need, int slot) {
        List<LayeredResource> all =
                need.licenses().items().isEmpty() ? List.of() : state.settings().layered();
        return all.isEmpty()
                ? NO_LAYERS
                : new LayeredResourceRequest(
                        all,
                        need.licenses(),
                        pool -> plan().left(
                                        pool, slot, times.get().endSlot(slot, need.limitMin()), need.reservation()));
    }

    private static final LayeredResourceRequest NO_LAYERS =
            new LayeredResourceRequest(List.of(), LicenseRequest.Wanted.NONE, pool -> 0);

    /** Takes what an allocation has of licenses, or with give puts it back. */
    public void take(Allocation allocation, ResourceNeed need, boolean give) {
        if (!allocation.licenses().isEmpty()) {
            atOnce.clear();
            taken++;
            LicenseRequest.parse(allocation.licenses())
                    .ifPresent(w -> plan().take(
                                    give ? negative(w.items()) : w.items(),
                                    0,
                                    times.get().endSlot(0, need.limitMin())));
        }
    }

    /** Takes licenses as {@link #take} that were given from a slot on, or gives them back. */
    public void keep(List<LicenseRequest.Item> items, int slot, ResourceNeed need, boolean give) {
        if (!items.isEmpty()) {
            atOnce.clear();
            taken++;
            plan().take(give ? negative(items) : items, slot, times.get().endSlot(slot, need.limitMin()));
        }
    }

    /** Frees the licenses of a job as if it were gone, or takes them back. A suspended job keeps them. */
    public void lift(Job holder, boolean off) {
        List<LicenseRequest.Item> items = Licenses.held(holder);
        if (!items.isEmpty()) {
            atOnce.clear();
            taken++;
            plan().take(
                            off ? negative(items) : items,
                            0,
                            Math.max(
                                    1,
                                    times.get().slotAt(secondsLeft(holder.run().limitTickMs()))));
        }
    }

    private long secondsLeft(long limitTickMs) {
        return limitTickMs < 0 ? Long.MAX_VALUE / 2 : Math.max(0, (limitTickMs - now.tickMs() + 999) / 1000);
    }

    private static List<LicenseRequest.Item> negative(List<LicenseRequest.Item> items) {
        return items.stream()
                .map(i -> new LicenseRequest.Item(i.name(), -i.count()))
                .toList();
    }

    private LicensePlan plan() {
        if (plan == null) {
            plan = new LicensePlan(Licenses.capacities(state), times.get());
            for (HeldLicenses.Held h : held.all()) {
                plan.running(h.reservation(), h.items(), secondsLeft(h.limitTickMs()));
            }
            plan.keep(state, now.seconds());
        }
        return plan;
    }
}
