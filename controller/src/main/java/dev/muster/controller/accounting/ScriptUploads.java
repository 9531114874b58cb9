package dev.muster.controller.accounting;

import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.model.accounting.AccountingRows.Content;
import dev.muster.model.accounting.AccountingRows.TextRow;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.JobDesc;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Scripts and environments of batch jobs on their way to accounting, as AccountingStoreFlags has it. What was sent
 * lately is not sent again: many jobs have one script. Not thread-safe.
 */
final class ScriptUploads {
    /** Hashes that are remembered as sent. */
    private static final int SENT_MAX = 10_000;
    /**
     * A larger one is not kept: in base64 it has to fit into one packet of a database server (16 MiB where nothing is
     * set).
     */
    static final int CONTENT_BYTES_MAX = 8 << 20;
    /** A batch of this size gets no further content; encoded as base64 it still fits into a message. */
    private static final long BATCH_BYTES_MAX = 16L << 20;

    private final Function<String, Bytes> source;
    private final Consumer<String> log;
    private final LinkedHashSet<String> sent = new LinkedHashSet<>();

    /** @param source a content by its hash; throws {@link UncheckedIOException} if it cannot be read */
    ScriptUploads(Function<String, Bytes> source, Consumer<String> log) {
        this.source = source;
        this.log = log;
    }

    /** Forgets which contents were sent, because the tables may have lost them. */
    void forget() {
        sent.clear();
    }

    Batch next() {
        return new Batch();
    }

    /** The texts of one batch. */
    final class Batch {
        private final List<TextRow> rows = new ArrayList<>();
        private final List<Content> contents = new ArrayList<>();
        private long bytes;

        void add(State state, Job job) {
            JobDesc d = job.desc();
            String script =
                    state.settings().accounts("job_script") ? d.payload().scriptHash() : "";
            String environment =
                    state.settings().accounts("job_env") ? d.payload().envHash() : "";
            if (d.kind() != JobDesc.Kind.BATCH || script.isEmpty() && environment.isEmpty()) {
                return;
            }
            rows.add(new TextRow(job.sluid(), script, environment));
            content(script);
            content(environment);
        }

        private void content(String hash) {
            if (hash.isEmpty() || sent.contains(hash) || bytes > BATCH_BYTES_MAX) {
                return;
            }
            try {
                Bytes content = source.apply(hash);
                if (content.length() > CONTENT_BYTES_MAX) {
                    log.accept("accounting: a script or an environment of " + content.length()
                            + " bytes is not kept; at most " + CONTENT_BYTES_MAX + " are");
                    return;
                }
                bytes += content.length();
                contents.add(new Content(hash, content.base64()));
                sent.add(hash);
            } catch (UncheckedIOException e) {
                log.accept("accounting: a script or an environment is not kept: " + ErrorSentence.of(e));
            }
            if (sent.size() > SENT_MAX) {
                sent.removeFirst();
            }
        }

        List<TextRow> rows() {
            return List.copyOf(rows);
        }

        List<Content> contents() {
            return List.copyOf(contents);
        }
    }
}
