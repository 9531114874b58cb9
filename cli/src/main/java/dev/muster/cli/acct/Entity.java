package dev.muster.cli.acct;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * An entity of sacctmgr: its words, conditions and columns.
 *
 * @param name as slurmdbd calls it
 * @param word how it is typed, with its shortest abbreviation
 * @param conditions of a list or after {@code where}: typed words and the name slurmdbd knows
 * @param format columns that are shown when nothing else is asked for
 * @param columns what {@code format=} may name
 */
record Entity(String name, String word, List<Name> conditions, String format, List<Column> columns) {
    /**
     * @param key canonical name
     * @param least shortest abbreviation
     */
    record Name(String word, int least, String key) {
        boolean means(String typed) {
            return typed.length() >= least && word.startsWith(typed) || word.equals(typed);
        }
    }

    /** The form of a value. */
    enum Kind {
        TEXT,
        LOWER,
        TRES,
        MINUTES,
        SECONDS,
        REAL,
        TIME,
        LEVEL,
        NODES,
        CPUS,
        MEMORY
    }

    /**
     * @param width on the right
     * @param initial the text shown where there is no value
     */
    record Column(List<Name> words, String title, int width, String key, Kind kind, String initial) {}

    private static final String ASSOC_COLUMNS = """
        account:3 acct:4|Account|10|Account
        adminlevel:2|Admin|9|AdminLevel|LEVEL
        cluster:1|Cluster|10|Cluster
        comment:4|Comment|20|Comment
        coordinators:2|Coord Accounts|20|AllCoordinators
        defaultaccount:8|Def Acct|10|DefaultAccount
        defaultqos:8 defqos:4|Def QOS|9|DefaultQOS
        defaultwckey:8|Def WCKey|10|DefaultWCKey
        description:2|Descr|20|Descr
        fairshare:1 shares:1|Share|9|Fairshare
        flags:2|Flags|20|Flags|TEXT|None
        grpcpumins:8|GrpCPUMins|11|GrpTRESMins|CPUS
        grpcpus:6|GrpCPUs|8|GrpTRES|CPUS
        grpcpurunmins:7|GrpCPURunMins|13|GrpTRESRunMins|CPUS
        grpjobs:4|GrpJobs|7|GrpJobs
        grpjobsaccrue:8|GrpJobsAccrue|13|GrpJobsAccrue
        grpmemory:5|GrpMem|7|GrpTRES|MEMORY
        grpnodes:4|GrpNodes|8|GrpTRES|NODES
        grpsubmitjobs:4|GrpSubmit|9|GrpSubmitJobs
        grptres:7|GrpTRES|13|GrpTRES|TRES
        grptresmins:8|GrpTRESMins|13|GrpTRESMins|TRES
        grptresrunmins:8|GrpTRESRunMins|13|GrpTRESRunMins|TRES
        grpwall:4|GrpWall|11|GrpWall|MINUTES
        id:2|ID|6|ID
        lineage:2|Lineage|-20|Lineage
        maxcpumins:7 maxcpuminsperjob:7|MaxCPUMins|11|MaxTRESMins|CPUS
        maxcpus:7 maxcpusperjob:7|MaxCPUs|8|MaxTRES|CPUS
        maxjobs:4|MaxJobs|7|MaxJobs
        maxjobsaccrue:8|MaxJobsAccrue|13|MaxJobsAccrue
        maxnodes:4 maxnodesperjob:4|MaxNodes|8|MaxTRES|NODES
        maxsubmitjobs:4|MaxSubmit|9|MaxSubmitJobs
        maxtres:7 maxtresperjob:11 maxtrespj:9|MaxTRES|13|MaxTRES|TRES
        maxtrespernode:11 maxtrespn:9|MaxTRESPerNode|14|MaxTRESPerNode|TRES
        maxtresmins:8 maxtresminsperjob:11 maxtresminspj:13|MaxTRESMins|13|MaxTRESMins|TRES
        maxtresrunmins:8|MaxTRESRunMins|14|MaxTRESRunMins|TRES
        maxcpurunmins:7|MaxCPURunMins|15|MaxTRESRunMins|CPUS
        maxwall:4 maxwalldurationperjob:4|MaxWall|11|MaxWall|MINUTES
        minpriothreshold:4|MinPrioThresh|13|MinPrioThresh
        organization:1|Org|20|Org
        parentid:7|ParentID|8|ParentID
        parentname:7|ParentName|10|ParentName
        partition:4|Partition|10|Partition
        priority:3|Priority|10|Priority
        qoslevel:1 qos:1|QOS|20|QOS
        qosrawlevel:4|QOS_RAW|10|RawQOS
        user:1|User|10|User\
        """;

    private static final String CLUSTER_COLUMNS = """
        classification:3|Class|9|Classification
        cluster:2 name:2|Cluster|10|Cluster
        clusternodes:8 nodenames:8|Cluster Nodes|20|ClusterNodes
        controlhost:8|ControlHost|15|ControlHost
        controlport:8|ControlPort|12|ControlPort
        flags:2|Flags|20|ClusterFlags
        federation:2|Federation|10|Federation
        fedstate:4|FedState|12|FedState|TEXT|NA
        fedstateraw:11|FedStateRaw|12|FedStateRaw|TEXT|0
        features:3|Features|20|Features
        id:2|ID|6|ID|TEXT|0
        nodecount:5|NodeCount|9|NodeCount
        rpc:1 rpc_version:4|RPC|5|RPC
        tres:2|TRES|20|TRES|TRES\
        """;

    private static final String QOS_COLUMNS = """
        name:1|Name|10|Name
        description:1|Descr|20|Description
        flags:2|Flags|40|Flags
        gracetime:3|GraceTime|10|GraceTime|SECONDS|0
        grpjobs:4|GrpJobs|7|GrpJobs
        grpjobsaccrue:8|GrpJobsAccrue|13|GrpJobsAccrue
        grpsubmitjobs:4|GrpSubmit|9|GrpSubmitJobs
        grpcpus:6|GrpCPUs|8|GrpTRES|CPUS
        grpcpumins:8|GrpCPUMins|11|GrpTRESMins|CPUS
        grpnodes:4|GrpNodes|8|GrpTRES|NODES
        grpmemory:5|GrpMem|7|GrpTRES|MEMORY
        grptres:7|GrpTRES|13|GrpTRES|TRES
        grptresmins:8|GrpTRESMins|13|GrpTRESMins|TRES
        grptresrunmins:8|GrpTRESRunMins|13|GrpTRESRunMins|TRES
        grpwall:4|GrpWall|11|GrpWall|MINUTES
        id:2|ID|6|ID
        limitfactor:6|LimitFactor|11|LimitFactor|REAL
        maxcpus:7 maxcpusperjob:11|MaxCPUs|8|MaxTRES|CPUS
        maxcpusperuser:11 maxcpuspu:9|MaxCPUsPU|9|MaxTRESPU|CPUS
        maxcpumins:7|MaxCPUMins|11|MaxTRESMins|CPUS
        maxjobsaccruepa:15 maxjobsaccrueperaccount:16|MaxJobsAccruePA|15|MaxJobsAccruePA
        maxjobsaccruepu:15 maxjobsaccrueperuser:16|MaxJobsAccruePU|15|MaxJobsAccruePU
        maxjobspa:9 maxjobsperaccount:11|MaxJobsPA|9|MaxJobsPA
        maxjobspu:9 maxjobsperuser:11 maxjobs:4|MaxJobsPU|9|MaxJobsPU
        maxnodes:4|MaxNodes|8|MaxTRES|NODES
        maxnodesperuser:12 maxnodespu:10|MaxNodesPU|10|MaxTRESPU|NODES
        maxsubmitpa:11 maxsubmitjobspa:11 maxsubmitjobsperaccount:17|MaxSubmitPA|11|MaxSubmitJobsPA
        maxsubmitpu:11 maxsubmitjobspu:11 maxsubmitjobsperuser:17 maxsubmitjobs:4|MaxSubmitPU|11|MaxSubmitJobsPU
        maxtres:7 maxtresperjob:11 maxtrespj:9|MaxTRES|13|MaxTRES|TRES
        maxtrespernode:11 maxtrespn:9|MaxTRESPerNode|14|MaxTRESPerNode|TRES
        maxtresmins:8 maxtresminsperjob:11 maxtresminspj:13|MaxTRESMins|13|MaxTRESMins|TRES
        maxtrespu:9 maxtresperuser:11|MaxTRESPU|13|MaxTRESPU|TRES
        maxtrespa:9 maxtresperaccount:11|MaxTRESPA|13|MaxTRESPA|TRES
        maxtresrunminspa:16 maxtresrunminsperaccount:18|MaxTRESRunMinsPA|22|MaxTRESRunMinsPA|TRES
        maxtresrunminspu:8 maxtresrunminsperuser:8|MaxTRESRunMinsPU|22|MaxTRESRunMinsPU|TRES
        maxwall:4 maxwalldurationperjob:4|MaxWall|11|MaxWall|MINUTES
        minpriothreshold:4|MinPrioThresh|13|MinPrioThresh
        mintres:7 mintresperjob:7|MinTRES|13|MinTRES|TRES
        mincpus:4|MinCPUs|8|MinTRES|CPUS
        preempt:1|Preempt|10|Preempt
        preemptmode:8|PreemptMode|11|PreemptMode|LOWER|cluster
        preemptexempttime:8|PreemptExemptTime|19|PreemptExemptTime|SECONDS
        priority:3|Priority|10|Priority|TEXT|0
        usagefactor:6|UsageFactor|11|UsageFactor|REAL|1.000000
        usagethreshold:6|UsageThres|10|UsageThreshold|REAL\
        """;

    private static final String OTHER_COLUMNS = """
        account:3|Account|10|Account
        action:4|Action|20|Action
        actor:4|Actor|10|Actor
        allocated:7|Allocated|9|Allocated
        allowed:7 percentallowed:3|Allowed|8|Allowed
        cluster:1|Cluster|10|Cluster
        clusternodes:8|Cluster Nodes|20|ClusterNodes
        count:2|Count|6|Count
        cpucount:2|CPU Cnt|7|TRES|CPUS
        description:2|Descr|20|Description
        duration:2|Duration|13|Duration|SECONDS
        end:2 timeend:5|TimeEnd|19|TimeEnd|TIME
        event:2|Event|7|Event
        flags:2|Flags|20|ResourceFlags
        id:2|ID|6|ID
        info:4|Info|20|Info
        lastconsumed:5|LastConsumed|12|LastConsumed
        lastupdate:5|LastUpdate|19|LastUpdate|TIME
        name:1|Name|15|Name
        nodename:5 node:1|NodeName|-15|NodeName
        problem:2|Problem|40|Problem
        reason:1|Reason|30|Reason
        server:2|Server|10|Server
        servertype:7 manager:1|ServerType|10|ServerType
        state:2|State|6|State
        start:3 timestart:5|TimeStart|19|TimeStart|TIME
        timestamp:1 time:4|Time|19|Time|TIME
        tres:2|TRES|20|TRES|TRES
        type:2|Type|8|Type
        user:1|User|10|User
        wckey:2|WCKey|10|WCKey
        where:2|Where|20|Where\
        """;

    private static final String ASSOC_CONDITIONS = "accounts:2=account acct:3=account clusters:1=cluster "
            + "defaultqos:8=defaultqos ids:1=id parents:4=parent "
            + "partitions:3=partition qoslevel:1=qos users:1=user flags:2=flags";

    private static final List<Entity> ALL = List.of(
            new Entity(
                    "account",
                    "account:2",
                    names("names:1=name accounts:3=name acct:4=name partitions:3=partition "
                            + "clusters:1=cluster descriptions:1=description "
                            + "organizations:1=organization parents:1=parent qoslevel:1=qos users:1=user "
                            + "defaultqos:8=defaultqos ids:1=id flags:2=flags"),
                    "account,description,organization",
                    columns(ASSOC_COLUMNS)),
            new Entity(
                    "association",
                    "associations:2",
                    names(ASSOC_CONDITIONS),
                    "cluster,account,user,partition,fairshare,priority,grpjobs,grptres,"
                            + "grpsubmitjobs,grpwall,grptresmins,maxjobs,maxtres,maxtrespernode,maxsubmitjobs,"
                            + "maxwall,maxtresmins,"
                            + "qos,defaultqos,grptresrunmins",
                    columns(ASSOC_COLUMNS)),
            new Entity(
                    "cluster",
                    "clusters:2",
                    names("names:1=name clusters:1=name classification:3=classification flags:2=flags "
                            + "federation:3=federation qoslevel:1=qos defaultqos:8=defaultqos rpc:1=rpc"),
                    "cluster,controlhost,controlport,rpc,fairshare,grpjobs,"
                            + "grptres,grpsubmitjobs,maxjobs,maxtres,maxsubmitjobs,maxwall,qos,defaultqos",
                    columns(CLUSTER_COLUMNS + "\n" + ASSOC_COLUMNS)),
            new Entity("configuration", "configuration:2", List.of(), "", List.of()),
            new Entity(
                    "coordinator",
                    "coordinators:4",
                    names("names:1=name users:1=name accounts:1=account acct:4=account"),
                    "account,user",
                    columns(OTHER_COLUMNS)),
            new Entity(
                    "event",
                    "events:1",
                    names("clusters:1=cluster end:2=end events:2=event nodes:1=node reason:1=reason start:4=start "
                            + "states:4=state users:1=user maxcpus:4=maxcpus mincpus:4=mincpus condflags:3=condflags"),
                    "cluster,nodename,start,end,state,reason,user",
                    columns(OTHER_COLUMNS)),
            new Entity(
                    "instance",
                    "instances:1",
                    names("clusters:1=cluster end:2=end extra:2=extra instanceid:9=instanceid "
                            + "instancetype:9=instancetype nodes:1=node start:1=start"),
                    "cluster,nodename,start,end,instanceid,instancetype,extra",
                    columns("""
                        cluster:1|Cluster|10|Cluster
                        end:2 timeend:5|TimeEnd|19|TimeEnd|TIME
                        extra:2|Extra|20|Extra
                        instanceid:9|InstanceId|20|InstanceId
                        instancetype:9|InstanceType|20|InstanceType
                        nodename:1|NodeName|-15|NodeName
                        start:1 timestart:5|TimeStart|19|TimeStart|TIME\
                        """)),
            new Entity(
                    "problem",
                    "problems:1",
                    names("clusters:1=cluster accounts:2=account users:1=user"),
                    "cluster,account,user,problem",
                    columns(OTHER_COLUMNS)),
            new Entity(
                    "qos",
                    "qos:1",
                    names("names:1=name clusters:1=cluster qoslevel:1=name descriptions:1=description ids:1=id "
                            + "preemptmode:8=preemptmode"),
                    "name,priority,gracetime,preempt,preemptexempttime,preemptmode,flags,usagethreshold,"
                            + "usagefactor,grptres,"
                            + "grptresmins,grptresrunmins,"
                            + "grpjobs,grpsubmitjobs,grpwall,maxtres,maxtrespernode,maxtresmins,maxwall,maxtrespu,"
                            + "maxjobspu,maxsubmitpu,maxtrespa,"
                            + "maxtresrunminspa,maxtresrunminspu,maxjobspa,maxsubmitpa,mintres",
                    columns(QOS_COLUMNS)),
            new Entity(
                    "resource",
                    "resources:4",
                    names("names:1=name clusters:1=cluster descriptions:1=description ids:1=id servers:2=server "
                            + "flags:2=flags allowed:2=allowed percentallowed:1=allowed "
                            + "servertype:7=servertype type:2=type"),
                    "name,server,type,count,lastconsumed,allocated,servertype",
                    columns(OTHER_COLUMNS.replace("name:1|Name|15", "name:1|Name|10"))),
            new Entity(
                    "job",
                    "job:1",
                    names("jobid:1=jobid accounts:1=account acct:4=account cluster:1=cluster "
                            + "endtime:1=endtime starttime:1=starttime users:1=user wckeys:1=wckey"),
                    "",
                    List.of()),
            new Entity(
                    "runawayjob",
                    "runawayjobs:2",
                    names("clusters:1=cluster"),
                    "id,name,partition,cluster,state,timesubmit,timestart,timeend",
                    columns("""
                        cluster:1|Cluster|10|Cluster
                        id:1|ID|12|ID
                        name:1|Name|10|Name
                        partition:1|Partition|10|Partition
                        state:2|State|10|State
                        timeend:5 end:1|TimeEnd|19|TimeEnd|TIME
                        timestart:5 start:3|TimeStart|19|TimeStart|TIME
                        timesubmit:5 submit:2|TimeSubmit|19|TimeSubmit|TIME\
                        """)),
            new Entity(
                    "reservation",
                    "reservations:4",
                    names("clusters:1=cluster end:1=end flags:1=flags ids:1=ids names:2=names nodes:2=nodes "
                            + "start:1=start"),
                    "cluster,name,tres,start,end,unusedwall",
                    columns("""
                        associations:4|Assocs|30|Assocs
                        cluster:1|Cluster|10|Cluster
                        end:2 timeend:5|TimeEnd|19|End|TIME
                        flags:2|Flags|20|Flags
                        id:1|ID|6|ID
                        name:2|Name|15|Name
                        nodename:2 nodes:2|NodeName|20|Nodes
                        start:1 timestart:5|TimeStart|19|Start|TIME
                        tres:1|TRES|30|TRESCount
                        unusedwall:1|UnusedWall|10|UnusedWall\
                        """)),
            new Entity("stats", "stats:1", List.of(), "", List.of()),
            new Entity(
                    "transaction",
                    "transactions:1",
                    names("accounts:3=account action:4=action actor:4=actor clusters:1=cluster end:1=end ids:1=id "
                            + "start:1=start users:1=user"),
                    "time,action,actor,where,info",
                    columns(OTHER_COLUMNS)),
            new Entity(
                    "tres",
                    "tres:4",
                    names("names:1=name ids:1=id type:2=type"),
                    "type,name,id",
                    columns(OTHER_COLUMNS)),
            new Entity(
                    "user",
                    "users:1",
                    names("names:1=name users:1=name accounts:3=account acct:4=account "
                            + "adminlevel:2=adminlevel clusters:1=cluster "
                            + "defaultaccount:8=defaultaccount defaultwckey:8=defaultwckey partitions:3=partition "
                            + "qoslevel:1=qos wckeys:1=wckey "
                            + "defaultqos:8=defaultqos"),
                    "user,defaultaccount,adminlevel",
                    columns(ASSOC_COLUMNS)),
            new Entity(
                    "wckey",
                    "wckeys:1",
                    names("names:1=name wckeys:1=name clusters:1=cluster ids:1=id users:1=user"),
                    "wckey,cluster,user",
                    columns(OTHER_COLUMNS)));

    /** Words of lists that ask for more: shortest abbreviation and what slurmdbd calls them. */
    private static final List<Name> OPTIONS = names(
            "withassoc:5=withassoc withcoordinators:5=withcoord withdeleted:5=withdeleted withrawqoslevel:5=rawqos "
                    + "withsubaccounts:5=withsubaccounts withclusters:5=withclusters woplimits:4=woplimits "
                    + "wopinfo:4=wopinfo "
                    + "onlydefaults:4=onlydefaults tree:4=tree all_clusters:5=allclusters all_time:5=alltime "
                    + "withfed:5=withfed wolimits:3=wolimits");

    static List<Name> names(String text) {
        List<Name> out = new ArrayList<>();
        for (String item : text.split(" ")) {
            int colon = item.indexOf(':');
            int equalSign = item.indexOf('=');
            out.add(new Name(
                    item.substring(0, colon),
                    Integer.parseInt(item.substring(colon + 1, equalSign < 0 ? item.length() : equalSign)),
                    equalSign < 0 ? "" : item.substring(equalSign + 1)));
        }
        return List.copyOf(out);
    }

    private static List<Column> columns(String table) {
        List<Column> out = new ArrayList<>();
        for (String line : table.split("\n")) {
            String[] part = line.split("\\|", -1);
            out.add(new Column(
                    names(part[0]),
                    part[1],
                    Integer.parseInt(part[2]),
                    part[3],
                    part.length > 4 ? Kind.valueOf(part[4]) : Kind.TEXT,
                    part.length > 5 ? part[5] : ""));
        }
        return List.copyOf(out);
    }

    /** The entity that a typed word means. */
    static Optional<Entity> find(String typed) {
        String lower = typed.toLowerCase(Locale.ROOT);
        if (lower.equals("acct") || lower.equals("accts")) {
            return find("account");
        }
        if (lower.startsWith("txn")) {
            return find("transactions");
        }
        if (!lower.isEmpty() && "lostjobs".startsWith(lower)) {
            return find("runawayjobs");
        }
        if (lower.equals("resv")) {
            return find("reservations");
        }
        return ALL.stream()
                .filter(e -> names(e.word).getFirst().means(lower)
                        || lower.equals(names(e.word).getFirst().word() + "s") && !e.name.equals("job")
                        || e.name.equals(lower))
                .findFirst();
    }

    /**
     * The shortest abbreviations that add, modify and delete take; lists, which know more entities, want more of some.
     */
    private static final List<Name> EDITED =
            names("account:1=account clusters:2=cluster coordinators:2=coordinator federation:1=federation "
                    + "job:1=job qos:1=qos resources:1=resource users:1=user");

    /** The entity that a typed word of add, modify or delete means. */
    static Optional<Entity> edited(String typed) {
        String lower = typed.toLowerCase(Locale.ROOT);
        return key(EDITED, lower)
                .flatMap(name -> ALL.stream().filter(e -> e.name.equals(name)).findFirst())
                .or(() -> find(typed));
    }

    Optional<String> condition(String typed) {
        return key(conditions, typed);
    }

    static Optional<String> option(String typed) {
        return key(OPTIONS, typed);
    }

    private static Optional<String> key(List<Name> table, String typed) {
        String lower = typed.toLowerCase(Locale.ROOT);
        return table.stream().filter(n -> n.means(lower)).findFirst().map(Name::key);
    }

    /** The column a word of {@code format=} means: exactly, or the first it abbreviates. */
    Optional<Column> column(String typed) {
        String lower = typed.toLowerCase(Locale.ROOT);
        Optional<Column> exact = columns.stream()
                .filter(c -> c.words().stream().anyMatch(w -> w.word().equals(lower)))
                .findFirst();
        return exact.isPresent()
                ? exact
                : columns.stream()
                        .filter(c -> c.words().stream().anyMatch(w -> w.means(lower)))
                        .findFirst();
    }
}
