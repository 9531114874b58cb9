package dev.muster.controller.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.controller.edge.FollowHandler;
import dev.muster.controller.view.JobViews;
import dev.muster.controller.view.NodeViews;
import dev.muster.controller.view.PrivateDataFilter;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.FollowMessages;
import dev.muster.model.node.NodeMessages;
import dev.muster.scheduler.Scheduler;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Tests which changes an event stream reports. */
class ChangeLogTest {
    private static final int OWNER = 1000;
    private static final int OTHER = 1001;
    private final Site site = new Site();
    private final ChangeLog news = new ChangeLog("e");
    private List<String> hidden = List.of();

    /** Hands the log a durable entry, as slurmctld does. */
    private void apply(Command c) {
        State before = site.core().state();
        if (site.apply(c) instanceof Decision.Accepted a && !a.changes().isEmpty()) {
            news.follow(new Entry(0, 0, 0, "", a.changes()), before, site.core().state());
        }
    }

    private String submitted() {
        State before = site.core().state();
        String id = site.submit("tasks=3");
        assertThat(site.core().state()).isNotSameAs(before);
        return id;
    }

    private FollowHandler edge() {
        State state = site.core().state();
        return new FollowHandler(
                site.core()::state,
                news,
                null,
                c -> new PrivateDataFilter(hidden, state, c.uid(), "u" + c.uid()),
                s -> new JobViews(s, new Scheduler(), new DecisionTime(1, 1), ""),
                s -> new NodeViews(
                        s, n -> new NodeMessages.Heartbeat(0, 0), n -> n.spec().address(), u -> "u" + u, 1),
                u -> "u" + u);
    }

    private Json.Obj asked(int uid, String since) {
        return Json.object(
                edge().follow(new Caller(uid, uid), new FollowMessages.Follow(since, 0, List.of("jobId", "state")))
                        .body());
    }

    /** The use of a job is shown to its owner and operators; a job that waits has used nothing. */
    @Test
    void jobUsageIsShownToOwnerAndOperatorsOnly() {
        FollowMessages.QueryUse q = new FollowMessages.QueryUse(Integer.parseInt(submitted()));
        Reply own = edge().use(new Caller(OWNER, OWNER), q);
        assertThat(own.status()).isEqualTo(200);
        assertThat(Json.object(own.body()).text("state")).isEqualTo("PENDING");
        assertThat(Json.object(own.body()).objects("uses")).isEmpty();
        assertThat(edge().use(new Caller(0, 0), q).status()).isEqualTo(200);
        assertThat(Json.object(edge().use(new Caller(OTHER, OTHER), q).body()).number("errno"))
                .isEqualTo(SlurmErrno.ACCESS_DENIED.number());
        hidden = List.of("jobs");
        assertThat(Json.object(edge().use(new Caller(OTHER, OTHER), q).body()).number("errno"))
                .isEqualTo(SlurmErrno.INVALID_JOB_ID.number());
    }

    @Test
    void firstRequestGetsTheCurrentRevision() {
        Json.Obj first = asked(OTHER, "");
        assertThat(first.text("revision")).isEqualTo("e.0");
        assertThat(first.text("user")).isEqualTo("u1001");
        assertThat(first.objects("jobs")).isEmpty();
        assertThat(first.flag("reset")).isFalse();
    }

    @Test
    void aStartIsAboutTheJobAndItsNodesAndTheRestIsAsItWas() {
        submitted();
        apply(new Command.Schedule(10));
        Json.Obj told = asked(OTHER, "e.0");
        assertThat(told.objects("jobs")).hasSize(1);
        assertThat(told.objects("jobs").getFirst().fields()).containsOnlyKeys("jobId", "state");
        assertThat(told.objects("jobs").getFirst().text("state")).isEqualTo("RUNNING");
        assertThat(told.objects("nodes")).extracting(n -> n.text("name")).containsExactly("n1");
        assertThat(asked(OTHER, told.text("revision")).objects("jobs")).isEmpty();
    }

    @Test
    void changeLogShowsADrainedNodeWithItsReason() {
        apply(new Command.UpdateNode(0, List.of("n2"), Map.of("state", "DRAIN", "reason", "fan")));
        assertThat(asked(OTHER, "e.0").objects("nodes"))
                .extracting(n -> n.text("name") + " " + n.text("reason"))
                .containsExactly("n2 fan");
    }

    @Test
    void privateJobsAndNodesAreTheirOwnersAndOperators() {
        submitted();
        apply(new Command.Schedule(10));
        hidden = List.of("jobs", "nodes");
        assertThat(asked(OTHER, "e.0").objects("jobs")).isEmpty();
        assertThat(asked(OTHER, "e.0").objects("nodes")).isEmpty();
        assertThat(asked(OTHER, "e.0").text("sees")).isEqualTo("uid 1001");
        assertThat(asked(OWNER, "e.0").objects("jobs")).hasSize(1);
        assertThat(asked(0, "e.0").objects("jobs")).hasSize(1);
        assertThat(asked(0, "e.0").text("sees")).isEqualTo("all");
        hidden = List.of();
        assertThat(asked(OTHER, "e.0").text("sees")).isEqualTo("all");
    }

    @Test
    void purgeOfAPrivateJobIsHiddenFromOtherUsers() {
        int id = Integer.parseInt(submitted());
        apply(new Command.Schedule(10));
        site.exit(id, 0);
        State before = site.core().state();
        site.pass(1_000_000);
        assertThat(site.core().state().jobs().has(id)).isFalse();
        news.follow(
                new Entry(0, 0, 0, "", List.of(new dev.muster.core.state.Change.JobPurged(id))),
                before,
                site.core().state());
        assertThat(asked(OTHER, "e.1").list("gone")).containsExactly((long) id);
        hidden = List.of("jobs");
        assertThat(asked(OTHER, "e.1").list("gone")).isEmpty();
        assertThat(asked(OWNER, "e.1").list("gone")).containsExactly((long) id);
    }

    @Test
    void anotherSlurmctldAnotherConfigurationAndWhatIsLongAgoBeginAnew() {
        assertThat(asked(OTHER, "other.0").flag("reset")).isTrue();
        assertThat(asked(OTHER, "e.99").flag("reset")).isTrue();
        assertThat(asked(OTHER, "nonsense").flag("reset")).isTrue();
        news.passed();
        assertThat(asked(OTHER, "e.0").texts("lists")).containsExactly("pass");
        for (int i = 0; i < ChangeLog.KEPT_MAX; i++) {
            news.passed();
        }
        assertThat(asked(OTHER, "e.0").flag("reset")).isTrue();
        assertThat(asked(OTHER, "e.1").flag("reset")).isFalse();
        State state = site.core().state();
        String now = asked(OTHER, "").text("revision");
        news.follow(
                new Entry(
                        0,
                        0,
                        0,
                        "",
                        List.of(new dev.muster.core.state.Change.ConfigApplied(
                                state.settings(), List.of(), List.of()))),
                state,
                state);
        assertThat(asked(OTHER, now).flag("reset")).isTrue();
        assertThat(asked(OTHER, asked(OTHER, "").text("revision")).flag("reset"))
                .isFalse();
    }

    @Test
    void waitingClientWakesWhenAnEntryHasPassed() throws InterruptedException {
        AtomicBoolean isToldOfNews = new AtomicBoolean();
        Thread.ofVirtual().start(() -> {
            State state = site.core().state();
            news.follow(new Entry(0, 0, 0, "", List.of()), state, state);
            pause();
            isToldOfNews.set(true);
            news.passed();
        });
        assertThat(news.since("e.0", 60_000).revision()).isEqualTo("e.1");
        assertThat(isToldOfNews).isTrue();
    }

    private static void pause() {
        try {
            Thread.sleep(200);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
