package dev.muster.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.engine.Recovery;
import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.journal.MemoryJournal;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.api.JobMessages.SubmitReply;
import dev.muster.model.job.JobDesc;
import dev.muster.scheduler.Scheduler;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * A journal that lost acknowledged entries at its end (a damaged disk) costs these jobs, but never gives their numbers
 * away again.
 */
class TailCutTest {
    private final MemoryJournal journal = new MemoryJournal();
    private final Core core = new Core(new Scheduler());
    private long timeMs = 1_700_000_000_000L;

    private Decision decide(Command command) {
        return decide(core, command, journal);
    }

    private Decision decide(Core core, Command command, MemoryJournal journal) {
        timeMs += 10;
        Decision d = core.decide(command, new DecisionTime(timeMs, timeMs));
        if (d instanceof Decision.Accepted a && !a.changes().isEmpty()) {
            Entry entry = new Entry(timeMs, timeMs, 0, "", a.changes());
            core.apply(entry);
            journal.append(entry.encode());
        }
        return d;
    }

    private int submit(Core core, MemoryJournal journal) {
        JobDesc desc = Codec.bind(
                        new Json.Obj().put("kind", "BATCH").put("request", new Json.Obj().put("tasks", 1L)),
                        JobDesc.class)
                .withOwner(new Identity(1000, 1000, "u", "u", List.of(), "/", "/bin/sh"));
        Decision d =
                decide(core, new Command.SubmitJob(1000, desc, "", Bytes.EMPTY, Bytes.EMPTY, false, false), journal);
        return ((SubmitReply) ((Decision.Accepted) d).reply()).jobId();
    }

    /** The journal as it is when its last entries are gone. */
    private Core without(int last) {
        MemoryJournal cut = new MemoryJournal();
        journal.sync();
        journal.replay(1, (index, bytes) -> {
            if (index <= journal.lastIndex() - last) {
                cut.append(bytes);
            }
        });
        cut.sync();
        Core recovered = new Core(new Scheduler());
        recovered.reset(Recovery.of(cut, (hash, content) -> {}).state());
        return recovered;
    }

    @Test
    void numbersAreNotGivenTwice() {
        decide(Simulation.config(SimParameters.draw(new java.util.Random(1))));
        Set<Integer> given = new TreeSet<>();
        for (int i = 1; i <= 2000; i++) {
            assertThat(given.add(submit(core, journal))).isTrue();
            if (i % 250 == 0) {
                for (int lost : new int[] {1, 7, 200}) {
                    Core recovered = without(lost);
                    MemoryJournal elsewhere = new MemoryJournal();
                    decide(recovered, new Command.SkipReservedIds(), elsewhere);
                    assertThat(given).doesNotContain(submit(recovered, elsewhere));
                }
            }
        }
    }
}
