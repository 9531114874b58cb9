package dev.muster.controller;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.ObjLongConsumer;

/**
 * Decodes a long row of records on other threads while their caller uses the first of them, in order: half of a restart with a long queue is
 * decoding. Bounded; what is wrong with a record is thrown where it would have been used.
 */
final class DecodedAhead<T> {
    private static final int BATCH_RECORDS = 1000;
    private static final int BATCH_BYTES = 1 << 20;
    private static final int BATCHES_AHEAD = 4;

    private record Read(long index, byte[] bytes) {}

    private record Decoded<T>(List<T> values, List<Read> from) {}

    private final Function<byte[], T> decode;
    private final ObjLongConsumer<T> use;
    private final ArrayDeque<CompletableFuture<Decoded<T>>> underWay = new ArrayDeque<>();
    private List<Read> batch = new ArrayList<>();
    private long batchBytes;

    /** @param decode called on other threads; @param use called by the caller's, in the order of {@link #add} */
    DecodedAhead(Function<byte[], T> decode, ObjLongConsumer<T> use) {
        this.decode = decode;
        this.use = use;
    }

    void add(long index, byte[] bytes) {
        batch.add(new Read(index, bytes));
        batchBytes += bytes.length;
        if (batch.size() < BATCH_RECORDS && batchBytes < BATCH_BYTES) {
            return;
        }
        List<Read> full = batch;
        underWay.add(CompletableFuture.supplyAsync(() -> decoded(full)));
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
        try {
            use(underWay.remove().join());
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    private Decoded<T> decoded(List<Read> reads) {
        List<T> out = new ArrayList<>(reads.size());
        reads.forEach(r -> out.add(decode.apply(r.bytes)));
        return new Decoded<>(out, reads);
    }

    private void use(Decoded<T> decoded) {
        for (int i = 0; i < decoded.values.size(); i++) {
            use.accept(decoded.values.get(i), decoded.from.get(i).index);
        }
    }
}
