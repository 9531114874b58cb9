package dev.muster.simulator;

import dev.muster.journal.MemoryJournal;
import dev.muster.json.Bytes;
import java.util.Map;
import java.util.TreeMap;

/** Disk of a {@link SimController}: its journal and the contents of scripts; the newest writes may be unsynced. */
final class SimDisk {
    private final World world;
    private MemoryJournal journal = new MemoryJournal();
    private final Map<String, Bytes> blobs = new TreeMap<>();
    private final Map<String, Bytes> unsyncedBlobs = new TreeMap<>();
    private boolean syncing;

    SimDisk(World world) {
        this.world = world;
    }

    MemoryJournal journal() {
        return journal;
    }

    /** Returns whether a sync of the journal begins: none is under way, and there is something to sync. */
    boolean beginSync() {
        if (syncing || journal.lastIndex() == journal.durableIndex()) {
            return false;
        }
        syncing = true;
        return true;
    }

    /** @param upTo the last entry that the sync includes */
    void endSync(long upTo) {
        syncing = false;
        journal.sync(upTo);
    }

    /** Stores a content; it is not synced yet. */
    void store(String hash, Bytes content) {
        if (!blobs.containsKey(hash)) {
            unsyncedBlobs.put(hash, content);
        }
    }

    /** Syncs the contents, as must be done before the journal forgets them. */
    void syncBlobs() {
        blobs.putAll(unsyncedBlobs);
        unsyncedBlobs.clear();
    }

    Bytes blob(String hash) {
        if (hash.isEmpty()) {
            return Bytes.EMPTY;
        }
        Bytes content = blobs.containsKey(hash) ? blobs.get(hash) : unsyncedBlobs.get(hash);
        if (content == null) {
            throw new Violation("I36 blobs are durable before the journal forgets them", "blob " + hash + " is gone");
        }
        return content;
    }

    /** The process dies: this many of the entries that were not synced stay. */
    void crashJournal(long kept) {
        journal = journal.crash(kept);
        syncing = false;
    }

    /** The process dies: each content that was not synced is kept or lost as the disk pleases. */
    void crashBlobs() {
        unsyncedBlobs.forEach((hash, content) -> {
            if (world.below(2) == 0) {
                blobs.put(hash, content);
            }
        });
        unsyncedBlobs.clear();
    }
}
