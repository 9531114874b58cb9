package dev.muster.controller.edge;

import dev.muster.config.SlurmConf;
import dev.muster.controller.accounting.Accounting;
import dev.muster.controller.config.ConfigService;
import dev.muster.controller.engine.ChangeLog;
import dev.muster.controller.engine.Clock;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.site.BurstBuffers;
import dev.muster.controller.stats.DebugFlags;
import dev.muster.controller.stats.Statistics;
import dev.muster.controller.view.OwnedJobs;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.daemon.Requests;
import dev.muster.model.api.ClusterMessages;
import dev.muster.scheduler.Scheduler;
import java.util.List;

/** The running controller as the handlers of requests use it. Thread-safe. */
public interface ControllerServices {
    Accounting accounting();

    /** Returns the jobs that hold nodes: found through the nodes, not by a scan of all jobs. */
    List<Job> activeJobs(State state);

    BurstBuffers buffers();

    Certificates certificates();

    ClientActivity clients();

    Clock clock();

    SlurmConf conf();

    ClusterMessages.ConfigReply config();

    ConfigService configService();

    DebugFlags debugFlags();

    DebugLevels debugLevels();

    Diagnostics diagnostics();

    SubmitFilter filter();

    GroupLookup groupLook();

    /** Tests whether nothing new is taken, because acknowledged work would have to be dropped otherwise. */
    boolean isFull();

    NodeLinks links();

    ChangeLog news();

    /** Returns the jobs by their owners. */
    OwnedJobs owned();

    /** Returns the partitions in the order of the file, then those created since. */
    List<String> partitionOrder(State state);

    ClusterMessages.PingReply ping();

    Scheduler planner();

    String randomToken();

    /** Reads the file again. A bad file changes nothing; each line of the answer names one mistake and its place. */
    String reconfigure();

    Requests requests();

    String shutdown(boolean controllerOnly);

    Statistics statistics();

    /** Begins to let another controller lead. Returns why that cannot be, "" if it has begun. */
    String takeover(int index);

    TokenIssuer tokens();
}
