package dev.muster.controller.edge;

import static dev.muster.lua.SlurmWords.NICE_OFFSET;
import static dev.muster.lua.SlurmWords.NO_VAL;
import static java.util.Objects.requireNonNull;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.controller.lua.SubmitScript;
import dev.muster.controller.view.JobRecord;
import dev.muster.core.limits.TresCounts;
import dev.muster.core.state.Accounts;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * JobSubmitPlugins=lua: the site's job_submit.lua is asked about each new job and each change of one. Nothing of it is
 * loaded otherwise.
 */
public final class SubmitFilter {
    private static final String FILE = "job_submit.lua";

    private final DaemonLog log;
    private final Supplier<State> state;
    private final BiPredicate<Integer, Partition> mayUse;
    private @Nullable SubmitScript script;
    private volatile @Nullable SlurmConf conf;

    /** @param mayUse whether a user may submit to a partition */
    public SubmitFilter(DaemonLog log, Supplier<State> state, BiPredicate<Integer, Partition> mayUse) {
        this.log = log;
        this.state = state;
        this.mayUse = mayUse;
    }

    /** Loads the script, at start and at each reconfiguration. Returns what is wrong with it, "" if nothing is. */
    public synchronized String configure(SlurmConf c) {
        conf = c;
        boolean wanted = c.has(Key.JOB_SUBMIT_PLUGINS, "lua");
        if (!wanted && script != null) {
            script.close();
            script = null;
        }
        if (wanted && script == null) {
            SubmitScript fresh = new SubmitScript(c.sister(FILE), log::info, log::error);
            String wrong = fresh.load();
            if (!wrong.isEmpty()) {
                fresh.close();
                return wrong;
            }
            script = fresh;
        }
        return "";
    }

    private synchronized Optional<SubmitScript> script() {
        return Optional.ofNullable(script);
    }

    boolean isConfigured() {
        return script().isPresent();
    }

    /**
     * Runs slurm_job_submit. Empty if no script is configured.
     *
     * @param component number in a heterogeneous job; negative for other jobs
     */
    Optional<SubmitScript.Outcome> submit(
            JobDesc job, Bytes batch, List<Bytes> environment, boolean immediate, int component, int uid) {
        long offset = component < 0 ? NO_VAL : component;
        Map<String, Long> more =
                Map.of("immediate", immediate ? 1L : 0L, "het_job_offset", offset, "pack_job_offset", offset);
        return script().map(s -> s.submit(job, batch, environment, more, uid, new View(state.get())));
    }

    /** @param refused the script's number for no; 0 where it said yes; changes are those to make */
    record Changed(Map<String, String> changes, int refused, String sentence, List<String> said) {}

    /** Lets the script decide about changes to a job; empty without a script. */
    Optional<Changed> modify(Job job, Map<String, String> asked, Bytes batch, int uid) {
        return script().map(s -> {
            UpdateDescription update = new UpdateDescription(job, asked);
            View cluster = new View(state.get());
            Map<String, Object> values = update.values();
            Map<String, String> association = cluster.association(job.desc());
            values.put("default_account", association.get("account"));
            if (!asked.containsKey("account")) {
                values.put("assoc_qos", association.get("qos"));
            }
            Map<String, Long> numbers = numbers(job);
            numbers.putAll(Map.of(
                    "job_id",
                    (long) job.id(),
                    "job_state",
                    (long) job.state().ordinal(),
                    "start_time",
                    job.run().startTime(),
                    "end_time",
                    job.run().endTime(),
                    "submit_time",
                    job.submitTime(),
                    "restart_cnt",
                    (long) job.restarts(),
                    "priority",
                    job.priority()));
            return switch (s.modify(update.description(), values, job.desc(), batch, numbers, uid, cluster)) {
                case SubmitScript.Refused r -> new Changed(asked, r.errno(), r.sentence(), r.said());
                case SubmitScript.Passed p -> {
                    UpdateDescription.Changes after = update.after(p.changed());
                    after.unsupported()
                            .forEach(name -> log.error("job_submit/lua: slurm_job_modify: JobId=" + job.id()
                                    + ": no update changes " + name + " of a job, its value is ignored"));
                    yield new Changed(after.changes(), 0, "", p.said());
                }
            };
        });
    }

    /** Returns the numbers of job_rec that are not in the job's description. */
    private static Map<String, Long> numbers(Job job) {
        boolean holds = job.holdsNodes();
        return new TreeMap<>(Map.ofEntries(
                Map.entry("array_job_id", (long) job.array().jobId()),
                Map.entry("array_task_id", job.isArrayTask() ? job.array().task() : NO_VAL),
                Map.entry("derived_ec", 0L),
                Map.entry("exit_code", 0L),
                Map.entry("direct_set_prio", job.desc().timing().prioritySet() ? 1L : 0L),
                Map.entry("het_job_id", (long) job.het().jobId()),
                Map.entry("het_job_offset", job.isHet() ? (long) job.het().offset() : 0L),
                Map.entry("nice", NICE_OFFSET + job.desc().timing().nice()),
                Map.entry("reboot", job.desc().extras().reboot() ? 1L : 0L),
                Map.entry("site_factor", (long) job.desc().timing().siteFactor()),
                Map.entry("time_min", (long) job.desc().timing().timeMinMin()),
                Map.entry("delay_boot", job.desc().timing().delayBootMin() * 60L),
                Map.entry("total_cpus", holds ? (long) TresCounts.cpus(job) : 0L),
                Map.entry(
                        "total_nodes",
                        holds ? (long) job.run().allocation().nodes().size() : 0L)));
    }

    /** The cluster of one moment. */
    private final class View implements SubmitScript.Cluster {
        private final State at;

        private View(State at) {
            this.at = at;
        }

        @Override
        public String name() {
            return requireNonNull(conf, "configure() loads the script that asks")
                    .clusterName();
        }

        @Override
        public List<Json.Obj> partitions(int uid) {
            List<Json.Obj> out = new ArrayList<>();
            for (Partition p : at.partitions().values()) {
                if (mayUse.test(uid, p)) {
                    out.add(partition(p));
                }
            }
            return out;
        }

        private static long defaultTime(int minutes) {
            return switch (minutes) {
                case 0 -> limit(Integer.MIN_VALUE);
                case PartitionInfo.NO_TIME -> limit(0);
                default -> limit(minutes);
            };
        }

        private Json.Obj partition(Partition p) {
            var i = p.info();
            int cpus = p.nodes().stream()
                    .flatMap(n -> at.nodes().find(n).stream())
                    .mapToInt(n -> n.spec().cpus())
                    .sum();
            return new Json.Obj()
                    .put("name", p.name())
                    .put("allow_accounts", notAll(i.allowAccounts()))
                    .put("allow_groups", notAll(i.allowGroups()))
                    .put("allow_qos", notAll(i.allowQos()))
                    .put("allow_alloc_nodes", notAll(i.allocNodes()))
                    .put("alternate", i.alternate())
                    .put("billing_weights_str", i.tresBillingWeights())
                    .put("deny_accounts", i.denyAccounts())
                    .put("deny_qos", i.denyQos())
                    .put("default_time", defaultTime(i.defaultTimeMin()))
                    .put("def_mem_per_cpu", i.defMemPerCpuMb() > 0 ? i.defMemPerCpuMb() : null)
                    .put("def_mem_per_node", Math.max(0, i.defMemPerNodeMb()))
                    .put("max_mem_per_cpu", i.maxMemPerCpuMb() > 0 ? i.maxMemPerCpuMb() : null)
                    .put("max_mem_per_node", Math.max(0, i.maxMemPerNodeMb()))
                    .put("flag_default", i.isDefault() ? 1L : 0L)
                    .put("flags", i.isDefault() ? 1L : 0L)
                    .put("qos", i.qos())
                    .put("max_cpus_per_node", limit(Partition.cpusMax(i.maxCpusPerNode())))
                    .put("max_cpus_per_socket", limit(Partition.cpusMax(i.maxCpusPerSocket())))
                    .put("max_time", limit(i.maxTimeMin()))
                    .put("max_nodes", limit(i.maxNodes()))
                    .put("max_nodes_orig", limit(i.maxNodes()))
                    .put("min_nodes", (long) i.minNodes())
                    .put("min_nodes_orig", (long) i.minNodes())
                    .put("nodes", HostList.of(p.nodes()).compressed())
                    .put("max_share", (long) p.jobsPerCore(true))
                    .put("priority_job_factor", (long) i.priorityJobFactor())
                    .put("priority_tier", (long) i.priorityTier())
                    .put("total_cpus", (long) cpus)
                    .put("total_nodes", (long) p.nodes().size())
                    .put(
                            "state_up",
                            switch (i.state()) {
                                case "UP" -> 3L;
                                case "DOWN" -> 1L;
                                case "DRAIN" -> 2L;
                                default -> 0L;
                            });
        }

        /** "" instead of ALL, as the script expects it. */
        private static String notAll(String text) {
            return text.equals("ALL") ? "" : text;
        }

        /** -1 is no limit, the least number not said. */
        private static long limit(int value) {
            if (value == Integer.MIN_VALUE) {
                return 4_294_967_294L;
            }
            if (value < 0) {
                return 4_294_967_295L;
            }
            return value;
        }

        @Override
        public List<Json.Obj> jobs() {
            List<Json.Obj> out = new ArrayList<>();
            at.jobs().values().forEach(j -> out.add(JobRecord.of(j)));
            return out;
        }

        @Override
        public List<Json.Obj> reservations() {
            List<Json.Obj> out = new ArrayList<>();
            for (Reservation r : at.reservations().values()) {
                out.add(new Json.Obj()
                        .put("name", r.name())
                        .put("start_time", r.start())
                        .put("end_time", r.end())
                        .put("duration", (r.end() - r.start()) / 60)
                        .put("node_cnt", (long) r.nodes().size())
                        .put(
                                "node_list",
                                r.nodes().isEmpty()
                                        ? ""
                                        : HostList.of(r.nodes()).compressed())
                        .put("partition", r.want().partition())
                        .put("features", r.want().features())
                        .put("licenses", r.want().licenses())
                        .put("flags", (long) r.flags())
                        .put("users", String.join(",", r.who().users().names()))
                        .put("accounts", String.join(",", r.who().accounts().names()))
                        .put("comment", r.comment()));
            }
            return out;
        }

        @Override
        public long qosPriority(String qos) {
            return at.accounts()
                    .qos(qos)
                    .map(q -> Long.parseLong(q.limits().getOrDefault("Priority", "0")))
                    .orElse(-1L);
        }

        @Override
        public Map<String, String> association(JobDesc job) {
            Accounts a = at.accounts();
            String user = job.owner().user();
            String account = job.charge().account().isEmpty()
                    ? a.defaultOf(user).map(AssocPolicy::account).orElse("")
                    : job.charge().account();
            String partition = job.partition().isEmpty()
                    ? at.partitions().values().stream()
                            .filter(p -> p.info().isDefault())
                            .map(Partition::name)
                            .findFirst()
                            .orElse("")
                    : job.firstPartition();
            Map<String, String> out = new TreeMap<>();
            a.defaultOf(user).ifPresent(d -> out.put("account", d.account()));
            a.assoc(user, account, partition).ifPresent(p -> {
                out.put("qos", String.join(",", p.qos()));
                out.put("comment", p.limits().getOrDefault("Comment", ""));
                out.put("defaultQos", p.defaultQos());
            });
            return out;
        }
    }
}
