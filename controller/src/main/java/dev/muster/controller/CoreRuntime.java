package dev.muster.controller;

import dev.muster.controller.engine.ChangeLog;
import dev.muster.controller.engine.Clock;
import dev.muster.controller.engine.CoreHandle;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.engine.JobWatch;
import dev.muster.controller.nodes.NodeEffects;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.nodes.NodeMessagesFromState;
import dev.muster.controller.site.BurstBuffers;
import dev.muster.controller.site.JobPrograms;
import dev.muster.core.command.Command;
import dev.muster.daemon.DaemonLog;
import dev.muster.scheduler.Scheduler;

/**
 * The core's thread with the effects of its decisions: messages to nodes, the site's programs and burst buffers, and
 * news for clients that follow changes.
 *
 * @param watch tells requests that wait for a job that something happened to it
 */
record CoreRuntime(
        CoreThread thread,
        Clock clock,
        NodeLinks links,
        BurstBuffers buffers,
        JobPrograms programs,
        JobWatch watch,
        ChangeLog news) {

    /** @param stops gets the programs and the thread as soon as they are made */
    static CoreRuntime start(ControllerEnvironment environment, StateStore store, StopSequence stops) {
        DaemonLog log = environment.log();
        CoreHandle core = store.handle();
        Scheduler scheduler = store.scheduler();
        JobWatch watch = new JobWatch();
        ChangeLog news = new ChangeLog(environment.randomToken());
        Clock clock = new Clock(store.core().state().tickMs() + 1);
        NodeMessagesFromState outgoing = new NodeMessagesFromState(
                store.blobs()::read, (job, e) -> log.error("job " + job.id() + " cannot be launched", e));
        NodeLinks links = new NodeLinks(log, environment::conf, outgoing, clock, (node, up) -> {
            scheduler.connected(node, up);
            core.wake();
        });
        BurstBuffers buffers = new BurstBuffers(environment::conf, log, core::post, store.blobs()::read);
        JobPrograms programs = new JobPrograms(environment::conf, log, core::post, store.blobs()::read, buffers);
        stops.add(StopSequence.Part.PROGRAMS, programs::close);
        programs.check();
        NodeEffects effects = new NodeEffects(
                links,
                outgoing,
                watch,
                log,
                environment.debugFlags(),
                programs,
                environment.schedulerLog(),
                news,
                store::follow);
        CoreThread thread =
                new CoreThread(store.core(), store.journal(), clock, log, effects, environment::fault, us -> {
                    store.statistics().pass(us, scheduler.queueLength(), scheduler.counts());
                    news.passed();
                });
        stops.add(StopSequence.Part.CORE_THREAD, thread::stop);
        core.begin(thread);
        links.core(thread);
        scheduler.planElsewhere();
        thread.start();
        store.journal().repair().ifPresent(r -> {
            log.error(r.sentence());
            core.execute(new Command.SkipReservedIds());
        });
        return new CoreRuntime(thread, clock, links, buffers, programs, watch, news);
    }
}
