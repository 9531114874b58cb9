package dev.muster.controller.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.core.command.Command;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.JobMessages.QueryJobs;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Questions for some jobs are answered without reading the queue, and as if it had been read. */
class OwnedJobsTest {
    private final Site site = new Site("DefMemPerCPU=1", "MinJobAge=100");

    /** Jobs of three users: some run, some wait, some end and are forgotten. */
    private void days() {
        for (int i = 0; i < 30; i++) {
            site.submit(1000 + i % 3, i % 5 == 0 ? "tasks=1 timing.hold=true" : "tasks=2");
            site.schedule();
            if (i % 4 == 3) {
                site.core().state().jobs().values().stream()
                        .filter(j -> j.state().isActive())
                        .findFirst()
                        .ifPresent(j -> site.exit(j.id(), 0));
            }
            site.pass(20);
        }
        site.apply(new Command.SuspendJobs(
                0, List.of(new Command.JobRef("", running(site.core().state()), -1, Command.JobRef.NO_STEP)), true));
    }

    private static int running(State state) {
        return state.jobs().values().stream()
                .filter(j -> j.state().isActive())
                .findFirst()
                .orElseThrow()
                .id();
    }

    private static List<Integer> hits(State state, OwnedJobs owned, String filter) {
        return new JobQuery(
                        state,
                        Codec.bind(Json.object(filter.getBytes(StandardCharsets.UTF_8)), QueryJobs.class),
                        owned,
                        j -> true)
                .hits().stream().map(h -> h.job().id()).toList();
    }

    private static List<Integer> all(State state, Predicate<Job> wanted) {
        List<Integer> out = new ArrayList<>();
        state.jobs().values().stream().filter(wanted).forEach(j -> out.add(j.id()));
        return out;
    }

    /**
     * Jobs that wait come first among jobs that are cancelled together, else they would be given the others' nodes;
     * otherwise the order stays.
     */
    @Test
    void pendingJobsAreCancelledBeforeRunningJobs() {
        site.submit(1000, "tasks=1");
        site.schedule();
        site.submit(1000, "tasks=1 timing.hold=true");
        site.submit(1001, "tasks=1");
        site.schedule();
        site.submit(1001, "tasks=1 timing.hold=true");
        State state = site.core().state();
        List<JobQuery.Hit> all = new ArrayList<>();
        state.jobs().values().forEach(j -> all.add(new JobQuery.Hit(j, dev.muster.model.format.IndexSet.empty())));
        List<Integer> expected = all(state, Job::isPending);
        assertThat(expected).isNotEmpty();
        assertThat(expected.getFirst())
                .as("somebody before him does not wait")
                .isGreaterThan(all.getFirst().job().id());
        expected.addAll(all(state, j -> !j.isPending()));
        assertThat(JobQuery.waitingFirst(all).stream().map(h -> h.job().id()).toList())
                .isEqualTo(expected);
    }

    @Test
    void ownedJobsEqualARebuildFromTheState() {
        days();
        OwnedJobs owned = new OwnedJobs();
        State state = State.EMPTY;
        boolean forgotten = false;
        boolean suspended = false;
        for (Entry entry : site.entries()) {
            State before = state;
            state = before.apply(entry);
            owned.follow(entry, before, state);
            OwnedJobs anew = new OwnedJobs();
            anew.reset(state);
            for (int uid = 999; uid < 1004; uid++) {
                int u = uid;
                List<Integer> his = all(state, j -> j.desc().owner().uid() == u);
                assertThat(owned.of(List.of(u))).containsExactlyElementsOf(his);
                assertThat(anew.of(List.of(u))).containsExactlyElementsOf(his);
                assertThat(hits(state, owned, "{\"allStates\":true,\"userIds\":[" + u + "]}"))
                        .isEqualTo(his);
            }
            assertThat(hits(state, owned, "{\"allStates\":true,\"userIds\":[1002,1000]}"))
                    .isEqualTo(all(state, j -> j.desc().owner().uid() != 1001));
            assertThat(hits(state, owned, "{\"states\":[\"RUNNING\"]}"))
                    .isEqualTo(all(state, j -> j.state().name().equals("RUNNING")));
            assertThat(hits(state, owned, "{\"states\":[\"SUSPENDED\",\"RUNNING\"]}"))
                    .isEqualTo(all(state, j -> j.state().isActive()));
            forgotten |= state.jobs().size() < before.jobs().size();
            suspended |= state.jobs().values().stream()
                    .anyMatch(j -> j.state().name().equals("SUSPENDED"));
        }
        assertThat(forgotten).isTrue();
        assertThat(suspended).isTrue();
        assertThat(state.jobs().size()).isGreaterThan(5);
    }
}
