package dev.muster.accounting.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.accounting.db.AccountingException;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.StepRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * max_dbd_msg_action=discard: rows of steps go first, then those of jobs that have begun; with ends alone nothing new
 * is kept.
 */
class OverflowTest {
    /** Tables that are away until they come. */
    private static final class Away implements RowSink {
        private final List<Batch> written = new ArrayList<>();
        private boolean there;
        private boolean tried;

        @Override
        public synchronized long sequence() {
            return written.isEmpty() ? 0 : written.getLast().seq();
        }

        @Override
        public synchronized void write(List<Batch> batches) {
            tried = true;
            notifyAll();
            try {
                while (!there) {
                    wait();
                }
            } catch (InterruptedException e) {
                throw new AccountingException("away", e);
            }
            written.addAll(batches);
        }

        /** Waits until the projector has taken what waits: what comes from then on is not being written. */
        synchronized void awaitTry() {
            try {
                while (!tried) {
                    wait();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        synchronized void comeBack() {
            there = true;
            notifyAll();
        }

        @Override
        public long checkpoint() {
            return sequence();
        }

        @Override
        public Optional<JobRow> job(long sluid, int restarts) {
            return Optional.empty();
        }

        @Override
        public Optional<StepRow> step(long sluid, int restarts, int stepId) {
            return Optional.empty();
        }

        /** Jobs that ended, those that had not, and steps. */
        synchronized String all() {
            long ends = written.stream()
                    .flatMap(b -> b.jobs().stream())
                    .filter(j -> j.endTime() > 0)
                    .count();
            long starts = written.stream()
                    .flatMap(b -> b.jobs().stream())
                    .filter(j -> j.endTime() == 0)
                    .count();
            return ends + " " + starts + " "
                    + written.stream().mapToInt(b -> b.steps().size()).sum();
        }
    }

    private final Away away = new Away();
    private long seq;

    private ProjectionWriter projector(int most) {
        return new ProjectionWriter(away, s -> {}, most, true);
    }

    /** The first batch is taken alone, so that it is the same in every run which batches wait. */
    private void submit(ProjectionWriter p, Batch batch) {
        p.submit(batch);
        if (batch.seq() == 1) {
            away.awaitTry();
        }
    }

    private void start(ProjectionWriter p, int job) {
        submit(
                p,
                new Batch(
                        ++seq,
                        List.of(AccountingStoreTest.J
                                .of(job)
                                .at("RUNNING", 10, 12, 12, 0)
                                .row()),
                        List.of()));
    }

    private void step(ProjectionWriter p, int job) {
        submit(
                p,
                new Batch(
                        ++seq,
                        List.of(),
                        List.of(AccountingStoreTest.J
                                .of(job)
                                .at("RUNNING", 10, 12, 12, 0)
                                .step(0))));
    }

    private void end(ProjectionWriter p, int job) {
        submit(
                p,
                new Batch(
                        ++seq,
                        List.of(AccountingStoreTest.J
                                .of(job)
                                .at("COMPLETED", 10, 12, 12, 20)
                                .row()),
                        List.of()));
    }

    private String goneOut(ProjectionWriter p) {
        away.comeBack();
        assertThat(p.await(seq, 20_000)).isTrue();
        p.close();
        return away.all();
    }

    @Test
    void overflowDropsStepRowsFirst() {
        ProjectionWriter p = projector(40);
        for (int job = 1; job <= 10; job++) {
            start(p, job);
            step(p, job);
        }
        assertThat(p.waitingRows()).isEqualTo(40);
        assertThat(p.overloaded()).isFalse();
        start(p, 11);
        assertThat(p.waitingRows()).isEqualTo(22);
        assertThat(p.overloaded()).isTrue();
        assertThat(goneOut(p)).isEqualTo("0 11 0");
        assertThat(p.overloaded()).isFalse();
    }

    @Test
    void overflowDropsStartRowsButKeepsEndRows() {
        ProjectionWriter p = projector(40);
        end(p, 1);
        end(p, 2);
        for (int job = 3; job <= 21; job++) {
            start(p, job);
        }
        assertThat(p.waitingRows()).isEqualTo(5);
        assertThat(goneOut(p)).isEqualTo("2 0 0");
    }

    @Test
    void fullOverflowDropsNewEndRows() {
        ProjectionWriter p = projector(40);
        for (int job = 1; job <= 5_000; job++) {
            end(p, job);
        }
        assertThat(p.waitingRows()).isLessThanOrEqualTo(43);
        String left = goneOut(p);
        assertThat(left).isEqualTo("21 0 0");
        assertThat(away.sequence()).isEqualTo(5_000);
    }
}
