package dev.muster.accounting.dbd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.accounting.db.Database;
import dev.muster.accounting.db.LeaseRule;
import dev.muster.accounting.db.LeaseTable;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Keepers of one lease, with the times of slurmdbd. */
class LeaseRenewalTest {
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final Database database = Database.inMemory("keeper" + System.nanoTime());

    private LeaseRenewal keeper(String name, boolean isPrimary) {
        LeaseRenewal out = new LeaseRenewal(
                new LeaseTable(database, LeaseRenewal.LEASE_MS),
                new LeaseRule(name, isPrimary, LeaseRenewal.LEASE_MS),
                name,
                new LeaseRenewal.LeaseListener() {
                    @Override
                    public void begin(long epoch) {
                        events.add(name + " begins " + epoch);
                    }

                    @Override
                    public void end(String sentence) {
                        events.add(name + ": " + sentence);
                    }

                    @Override
                    public void failed(String sentence, boolean isStart) {
                        events.add(name + " " + (isStart ? "at start " : "") + sentence);
                    }
                });
        out.start();
        return out;
    }

    private String next() throws InterruptedException {
        return String.valueOf(events.poll(20, TimeUnit.SECONDS));
    }

    @Test
    void leasePassesFromOneToTheOther() throws InterruptedException {
        try (LeaseRenewal b = keeper("b", false)) {
            assertThat(next()).isEqualTo("b begins 1");
            assertThat(b.isValid()).isTrue();
            try (LeaseRenewal a = keeper("a", true)) {
                assertThat(next()).as("the primary, at its start").isEqualTo("a begins 2");
                b.renewNow();
                assertThat(next()).isEqualTo("b: slurmdbd at a has taken over");
                assertThat(List.of(a.isValid(), a.isCurrent(2), b.isValid(), b.isCurrent(1)))
                        .containsExactly(true, true, false, false);
            }
            assertThat(next()).as("an orderly end gives it up").isEqualTo("b begins 3");
        }
    }

    /** A slurmdbd that cannot open the tables lets the other one try. */
    @Test
    void leaseThatIsGivenUpIsFree() throws InterruptedException {
        try (LeaseRenewal a = keeper("a", true)) {
            assertThat(next()).isEqualTo("a begins 1");
            try (LeaseRenewal b = keeper("b", false)) {
                a.giveUp(1, 60_000);
                a.renewNow();
                assertThat(next()).isEqualTo("b begins 2");
                assertThat(b.isValid()).isTrue();
                assertThat(a.isValid()).isFalse();
            }
        }
    }
}
