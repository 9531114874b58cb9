package dev.muster.daemon;

import dev.muster.daemon.Identities.Group;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Members of groups, as of the last look at the file: GroupUpdateTime and GroupUpdateForce decide when the next one is.
 */
public final class Groups {
    private record CacheEntry(Optional<Group> group, long atMs) {}

    private final Function<String, Optional<Group>> lookUp;
    private final LongSupplier nowMs;
    private final LongSupplier changedMs;
    private final Map<String, CacheEntry> seen = new ConcurrentHashMap<>();
    private volatile long keepMs = Identities.KEEP_MS;
    private volatile boolean force = true;

    /**
     * @param lookUp by name or number
     * @param changedMs when the file of groups was changed, milliseconds since 1970
     */
    public Groups(Function<String, Optional<Group>> lookUp, LongSupplier nowMs, LongSupplier changedMs) {
        this.lookUp = lookUp;
        this.nowMs = nowMs;
        this.changedMs = changedMs;
    }

    /**
     * Looks up all groups now, and again every {@code everyS} seconds, 0 for never; without force only if the file has
     * changed.
     */
    public void update(long everyS, boolean forced) {
        keepMs = everyS == 0 ? Long.MAX_VALUE : everyS * 1000;
        force = forced;
        seen.clear();
    }

    /** @param key name or number; one that is not there is looked for again before long */
    public Optional<Group> group(String key) {
        return seen.compute(
                        key,
                        (k, old) ->
                                old != null && isFresh(old) ? old : new CacheEntry(lookUp.apply(k), nowMs.getAsLong()))
                .group;
    }

    private boolean isFresh(CacheEntry old) {
        long age = nowMs.getAsLong() - old.atMs;
        if (age < 0) {
            return false; // the clock was set back: how old it is is not known
        }
        return age < (old.group.isEmpty() ? Math.min(keepMs, Identities.KEEP_MS) : keepMs)
                || !force && old.group.isPresent() && changedMs.getAsLong() <= old.atMs;
    }
}
