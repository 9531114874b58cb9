package dev.muster.controller.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;

/**
 * Decodes a long row of records on other threads while their caller uses the first of them, in order: half of a restart
 * with a long queue is decoding. Bounded; what is wrong with a record is thrown where it would have been used.
 */
final class ParallelDecoder<T> {
    private static final int BATCH_RECORDS = 1000;
    private static final int BATCH_BYTES = 1 << 20;
    private static final int BATCHES_AHEAD = 4;

    private record Read(long index, byte[] bytes) {}

    private record Decoded<T>(List<T> values, List<Read> from) {}

    /** Decoded by the first thread that needs it. */
    private final class Batch {
        private final List<Read> reads;
        private final AtomicBoolean taken = new AtomicBoolean();
        private final CompletableFuture<Decoded<T>> done = new CompletableFuture<>();

        Batch(List<Read> reads) {
            this.reads = reads;
        }

        /** Returns false if another thread has it. */
        boolean decode() {
            if (!taken.compareAndSet(false, true)) {
                return false;
            }
            try {
                done.complete(decoded(reads));
            } catch (RuntimeException e) {
                done.completeExceptionally(e);
            }
            return true;
        }
    }

    private final Supplier<Function<byte[], T>> decoders;
    private final ObjLongConsumer<T> use;
    private final ArrayDeque<Batch> underWay = new ArrayDeque<>();
    private List<Read> batch = new ArrayList<>();
    private long batchBytes;

    /**
     * @param decoders one for each batch, called on other threads
     * @param use called by the caller's thread, in the order of {@link #add}
     */
    ParallelDecoder(Supplier<Function<byte[], T>> decoders, ObjLongConsumer<T> use) {
        this.decoders = decoders;
        this.use = use;
    }

    void add(long index, byte[] bytes) {
        batch.add(new Read(index, bytes));
        batchBytes += bytes.length;
        if (batch.size() < BATCH_RECORDS && batchBytes < BATCH_BYTES) {
            return;
        }
        Batch full = new Batch(batch);
        underWay.add(full);
        var _ = CompletableFuture.runAsync(full::decode); // its failure comes out of done
        batch = new ArrayList<>(BATCH_RECORDS);
        batchBytes = 0;
        if (underWay.size() >= BATCHES_AHEAD) {
            oldest();
        }
    }

    /** Uses what is left. */
    void finish() {
        while (!underWay.isEmpty()) {
            oldest();
        }
        use(decoded(batch));
        batch = new ArrayList<>();
    }

    private void oldest() {
        Batch oldest = underWay.remove();
        // instead of waiting for the other threads
        boolean help = !oldest.decode();
        for (Batch later : underWay) {
            help = help && !oldest.done.isDone() && !later.decode();
        }
        try {
            use(oldest.done.join());
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    private Decoded<T> decoded(List<Read> reads) {
        List<T> out = new ArrayList<>(reads.size());
        Function<byte[], T> decode = decoders.get();
        reads.forEach(r -> out.add(decode.apply(r.bytes)));
        return new Decoded<>(out, reads);
    }

    private void use(Decoded<T> decoded) {
        for (int i = 0; i < decoded.values.size(); i++) {
            use.accept(decoded.values.get(i), decoded.from.get(i).index);
        }
    }
}
