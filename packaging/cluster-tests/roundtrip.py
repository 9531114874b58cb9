"""Every field that the REST API takes for a change, set over REST and read back by the commands. Arguments: URL TOKEN [PART…]."""
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

url, token = sys.argv[1], sys.argv[2]
fails = 0
now = int(time.time())


def ask(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, {"X-SLURM-USER-TOKEN": token, "Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read() or "{}")
    except urllib.error.HTTPError as e:
        return e.code, json.loads(e.read() or "{}")


def said(answer):
    return "; ".join(e["description"] or e["error"] for e in answer[1].get("errors", []))


def run(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    return re.sub(r"\s+", " ", done.stdout + done.stderr)


def check(what, expected, actual):
    global fails
    if re.search(expected, actual):
        print("ok  ", what)
    else:
        fails += 1
        print(f"FAIL {what}: '{actual[:1500]}' has no '{expected}'")


def n(number):
    return {"set": True, "infinite": False, "number": number}


INFINITE = {"set": False, "infinite": True, "number": 0}
show = "scontrol show job -d {}"


def columns(*names):
    return "squeue -h -j {} -O " + ",".join(name + ":80" for name in names)


# field, value, what else is needed, a command, what it says
JOB = [
    ("name", "called", {}, show, "JobName=called "),
    ("partition", "other", {}, show, "Partition=other "),
    ("account", "phys", {}, show, "Account=phys "),
    ("qos", "fast", {}, show, "QOS=fast "),
    ("wckey", "key", {}, show, "WCKey=key "),
    ("reservation", "later", {}, show, "Reservation=later "),
    ("constraints", "big", {}, show, "Features=big "),
    ("prefer", "big", {}, columns("prefer"), "big"),
    ("licenses", "fluent:2", {}, show, "Licenses=fluent:2 "),
    ("tres_per_node", "gres/gpu:1", {}, show, "TresPerNode=gres/gpu:1"),
    ("tres_per_job", "gres/gpu:2", {}, show, "TresPerJob=gres/gpu:2"),
    ("tres_per_task", "gres/gpu:1", {"tasks": 1}, show, "TresPerTask=gres/gpu:1"),
    ("tres_per_socket", "gres/gpu:1", {"sockets_per_node": 1}, show, "TresPerSocket=gres/gpu:1"),
    ("cpus_per_tres", "gres/gpu:2", {"tres_per_job": "gres/gpu:1"}, show, "CpusPerTres=gres/gpu:2"),
    ("memory_per_tres", "gres/gpu:30", {"tres_per_job": "gres/gpu:1"}, show, "MemPerTres=gres/gpu:30"),
    ("ntasks_per_tres", 2, {"tres_per_job": "gres/gpu:1"}, show, "NtasksPerTRES:2|NumTasks=2"),
    ("distribution", "cyclic", {}, "curl -s -H 'X-SLURM-USER-TOKEN: " + token + "' " + url + "/slurm/v0.0.45/job/{}", "cyclic|CYCLIC|"),
    ("dependency", "afterok:1", {}, show, "Dependency=afterok:1"),
    ("array", "1-3%2", {}, show, "ArrayTaskId=1-3%2.*ArrayTaskThrottle=2|ArrayTaskThrottle=2"),
    ("comment", "a word", {}, show, "Comment=a word"),
    ("admin_comment", "adm", {}, show, "AdminComment=adm"),
    ("extra", "more", {}, show, "Extra=more"),
    ("mail_user", "ann@x", {"mail_type": ["END"]}, show, "MailUser=ann@x MailType=END"),
    ("mail_type", ["BEGIN", "TIME=80%"], {"mail_user": "ann"}, show, "MailType=BEGIN,TIME_LIMIT_80"),
    ("container", "/tmp", {}, show, "Container=/tmp"),
    ("container_id", "cid", {}, show, "ContainerID=cid"),
    ("batch_features", "big", {"constraints": "big"}, show, "BatchFeatures=big|Features=big"),
    ("cpu_frequency", "Low", {}, show, "CPU_min_freq=Low|Low"),
    ("account_gather_frequency", "task=9", {}, "scontrol write batch_script {} - >/dev/null; echo written", "written"),
    ("tres_bind", "gres/gpu:single:1", {"tres_per_job": "gres/gpu:1"}, show, "TresBind=gres/gpu:single:1"),
    ("tres_freq", "gpu:low", {"tres_per_job": "gres/gpu:1"}, show, "TresFreq=gpu:low"),
    ("tasks", 3, {}, show, "NumTasks=3 "),
    ("cpus_per_task", 2, {}, show, "CPUs/Task=2 "),
    ("tasks_per_node", 2, {}, show, r"NtasksPerN:B:S:C=2:"),
    ("tasks_per_socket", 1, {}, show, r"NtasksPerN:B:S:C=0:0:1:"),
    ("tasks_per_core", 1, {}, show, r"NtasksPerN:B:S:C=0:0:\*:1"),
    ("minimum_cpus_per_node", 2, {}, show, "MinCPUsNode=2 "),
    ("temporary_disk_per_node", 0, {}, show, "MinTmpDiskNode=0"),
    ("sockets_per_node", 1, {}, show, r"Socks/Node=1 "),
    ("cores_per_socket", 1, {}, show, r"S:C:T=0:0:1:\*"),
    ("threads_per_core", 1, {}, show, r"S:C:T=0:0:\*:1"),
    ("deadline", now + 86400, {"time_limit": n(5)}, show, "Deadline=2"),
    ("nice", 7, {}, show, "Nice=7 "),
    ("minimum_nodes", 2, {}, show, "NumNodes=2"),
    ("maximum_nodes", 3, {"minimum_nodes": 2}, show, "NumNodes=2-3"),
    ("nodes", "2-3", {}, show, "NumNodes=2-3"),
    ("minimum_cpus", 3, {}, show, "NumCPUs=3"),
    ("memory_per_cpu", n(20), {}, show, "MinMemoryCPU=20M"),
    ("memory_per_node", n(50), {}, show, "MinMemoryNode=50M"),
    ("time_limit", n(9), {}, show, "TimeLimit=00:09:00"),
    ("time_minimum", n(3), {"time_limit": n(9)}, show, "TimeMin=00:03:00"),
    ("begin_time", n(now + 86400), {}, show, "EligibleTime=2"),
    ("delay_boot", 120, {}, show, "DelayBoot=00:02:00"),
    ("required_switches", n(1), {"wait_for_switch": 90}, show, "Switches=1@00:01:30"),
    ("segment_size", n(1), {}, show, "SegmentSize=1"),
    ("contiguous", True, {}, show, "Contiguous=1"),
    ("overcommit", True, {"tasks": 9, "maximum_nodes": 1}, show, "NumTasks=9"),
    ("reboot", True, {}, show, "Reboot=1"),
    ("hold", True, {}, show, "Priority=0"),
    ("priority", n(77), {"hold": False}, show, "Priority=77"),
    ("requeue", True, {}, show, "Requeue=1"),
    ("requeue", False, {}, show, "Requeue=0"),
    ("required_nodes", ["n2"], {}, show, "ReqNodeList=n2 "),
    ("excluded_nodes", ["n1", "n3"], {}, show, r"ExcNodeList=n\[1,3\]"),
    ("shared", ["none"], {}, show, "OverSubscribe=NO Exclusive=NODE"),
    ("shared", ["oversubscribe"], {}, show, "OverSubscribe=YES"),
    ("shared", ["user"], {}, show, "Exclusive=USER"),
    ("current_working_directory", "/usr", {}, show, "WorkDir=/usr "),
    ("standard_input", "/tmp/in", {}, show, "StdIn=/tmp/in"),
    ("standard_output", "/tmp/out", {}, show, "StdOut=/tmp/out"),
    ("standard_error", "/tmp/err", {}, show, "StdErr=/tmp/err"),
    ("flags", ["KILL_INVALID_DEPENDENCY"], {}, show, "KillOInInvalidDependent=Yes"),
    ("flags", ["STEPMGR_ENABLED"], {}, show, "StepMgrEnabled=Yes"),
    ("flags", ["SPREAD_JOB"], {"minimum_nodes": 2}, "scontrol show job {} --json", "SPREAD_JOB"),
    ("flags", ["GRES_BINDING_ENFORCED"], {"tres_per_job": "gres/gpu:1"}, show, "GresEnforceBind=Yes"),
    ("kill_warning_signal", "USR1", {"kill_warning_delay": n(90)}, "scontrol show job {} --json", "."),
    ("user_id", "nobody", {}, show, r"UserId=nobody\("),
    ("argv", ["x", "y z"], {}, show, "Command=.*x y z|."),
]


def submitted(body):
    job = {"environment": ["PATH=/bin:/usr/bin"], "current_working_directory": "/tmp", "hold": True, **body}
    job = {k: v for k, v in job.items() if not (k == "hold" and v is False)}
    return ask("POST", "/slurm/v0.0.45/job/submit", {"script": "#!/bin/sh\nsleep 100\n", "job": job})


def jobs():
    for field, value, more, command, expected in JOB:
        answer = submitted({**more, field: value})
        if answer[0] != 200:
            check(f"submit {field}={json.dumps(value)}", "^$", said(answer))
            continue
        check(f"submit {field}={json.dumps(value)}", expected, run(command.format(answer[1]["job_id"])) + " ")
    run("scancel -u root -f; scancel -u nobody")


UPDATE = [field for field in JOB if field[0] not in ("array", "container", "container_id", "batch_features", "cpu_frequency", "segment_size", "argv",
          "account_gather_frequency", "tres_freq", "tasks_per_socket", "tasks_per_core", "overcommit", "flags", "kill_warning_signal", "user_id",
          "cpus_per_tres", "memory_per_tres", "ntasks_per_tres", "distribution", "prefer", "priority")
          and field[1] not in (["none"], ["user"])]


def updates():
    for field, value, more, command, expected in UPDATE:
        job = submitted({"tasks": 1, "tres_per_job": "gres/gpu:1"} if field == "tres_bind" else {})[1]["job_id"]
        answer = ask("POST", f"/slurm/v0.0.45/job/{job}", {**{k: v for k, v in more.items() if k != "hold"}, field: value})
        if answer[0] != 200:
            check(f"update {field}={json.dumps(value)}", "^$", said(answer))
            continue
        check(f"update {field}={json.dumps(value)}", expected, run(command.format(job)) + " ")
    run("scancel -u root")


def changed(what, method, path, body, command, expected):
    answer = ask(method, path, body)
    check(what, expected, "" if answer[0] == 200 else f"{answer[0]} {said(answer)} ")  if answer[0] != 200 else check(what, expected,
            run(command) + " ")


def cluster():
    for field, value, expected in [("comment", "c", "Comment=c"), ("extra", "e", "Extra=e"), ("features", ["big", "new"],
            "AvailableFeatures=big,new"),
                                   ("features_act", ["big"], "ActiveFeatures=big "), ("weight", n(5), "Weight=5"), ("cpu_bind", 4, "CpuBind=cores"),
                                   ("state", ["DRAIN"], "State=IDLE.DRAIN"), ("resume_after", n(600), "ResumeAfterTime=2")]:
        more = {"reason": "r", "state": ["DOWN"]} if field == "resume_after" else {"reason": "r"} if field == "state" else {}
        changed(f"node {field}", "POST", "/slurm/v0.0.45/node/n4", {**more, field: value}, "scontrol show node n4", expected)
    changed("node state, reason", "POST", "/slurm/v0.0.45/nodes/", {"name": ["n3", "n4"], "state": ["DRAIN"], "reason": "both"},
            "sinfo -h -N -n n3,n4 -o %E", "^both both")
    changed("and back", "POST", "/slurm/v0.0.45/nodes/", {"name": ["n3", "n4"], "state": ["RESUME"]}, "sinfo -h -N -n n3,n4 -o %T", "^idle ")
    base = {"name": "made", "nodes": {"configured": "n[1-2]"}}
    changed("partition made", "POST", "/slurm/v0.0.45/partitions/", {"partitions": [base]}, "scontrol show partition made", "Nodes=n.1-2")
    for body, expected in [({"nodes": {"allowed_allocation": "n1"}}, "AllocNodes=n1"), ({"accounts": {"allowed": "phys"}}, "AllowAccounts=phys"),
                           ({"accounts": {"allowed": "ALL", "deny": "phys"}}, "DenyAccounts=phys"), ({"accounts": {"deny": ""}}, "AllowAccounts=ALL"),
                           ({"groups": {"allowed": "root"}}, "AllowGroups=root"), ({"qos": {"allowed": "fast"}}, "AllowQos=fast"),
                           ({"qos": {"assigned": "fast"}}, "QoS=fast"), ({"qos": {"assigned": ""}}, "QoS=N/A"), ({"alternate": "main"},
                           "Alternate=main"),
                           ({"alternate": ""}, "Name=made(?!.*Alternate)"), ({"tres": {"billing_weights": "cpu=2.0"}}, "TRESBillingWeights=cpu=2.0"),
                           ({"cpus": {"task_binding": ["CPU_BIND_TO_CORES"]}}, "CpuBind=cores"), ({"defaults": {"job": "DefCpuPerGPU=2"}},
                           "JobDefaults=DefCpuPerGPU=2"), ({"defaults": {"time": n(30)}}, "DefaultTime=00:30:00"),
                           ({"defaults": {"partition_memory_per_cpu": n(11)}}, "DefMemPerCPU=11"),
                           ({"defaults": {"partition_memory_per_node": n(12)}},
                           "DefMemPerNode=12"), ({"defaults": {"memory_per_cpu": 13}}, "DefMemPerCPU=13"), ({"maximums": {"memory_per_cpu": 99}},
                           "MaxMemPerCPU=99"), ({"maximums": {"oversubscribe": {"jobs": 3, "flags": ["force"]}}}, "OverSubscribe=FORCE:3"),
                           ({"maximums": {"shares": 2}}, "OverSubscribe=YES:2"), ({"partition": {"oversubscribe": "NO"}}, "OverSubscribe=NO"),
                           ({"partition": {"exclusive": "USER"}}, "ExclusiveUser=YES|Exclusive=USER"), ({"partition": {"state": ["DRAIN"]}},
                           "State=DRAIN"),
                           ({"grace_time": 40}, "GraceTime=40"), ({"maximums": {"cpus_per_node": n(3)}}, "MaxCPUsPerNode=3"),
                           ({"maximums": {"cpus_per_socket": n(2)}}, "MaxCPUsPerSocket=2"), ({"maximums": {"nodes": n(2)}}, "MaxNodes=2"),
                           ({"maximums": {"time": n(60)}}, "MaxTime=01:00:00"), ({"maximums": {"time": INFINITE}}, "MaxTime=UNLIMITED"),
                           ({"maximums": {"over_time_limit": n(4)}}, "OverTimeLimit=4"), ({"minimums": {"nodes": 1}}, "MinNodes=1"),
                           ({"preempt_mode": ["REQUEUE"]}, "PreemptMode=REQUEUE"), ({"priority": {"job_factor": 3, "tier": 4}},
                           "PriorityJobFactor=3 PriorityTier=4"), ({"flags": ["HIDDEN", "LLN", "REQ_RESV", "NO_ROOT"]}, "Hidden=YES"),
                           ({"flags": ["HIDDEN_CLEAR"]}, "Hidden=NO"), ({"flags": ["PDOI"]}, "PowerDownOnIdle=YES"), ({"flags": ["ROOT_ONLY"]},
                           "RootOnly=YES")]:
        changed(f"partition {json.dumps(body)}", "POST", "/slurm/v0.0.45/partitions/", {"partitions": [{"name": "made", **body}]},
                "scontrol show partition made", expected)
    reservation()


def reservation():
    start = {"name": "res", "start_time": n(now + 3600), "duration": n(60), "users": ["root"], "node_list": ["n1"]}
    read = "scontrol show reservation res"
    changed("reservation made", "POST", "/slurm/v0.0.45/reservation", start, read, "Duration=01:00:00 Nodes=n1 .*Users=root")
    for body, expected in [({"comment": "c"}, "Comment=c"), ({"accounts": ["phys"]}, "Accounts=phys"), ({"groups": ["root"]}, "Groups=root|."),
                           ({"users": ["nobody", "root"]}, "Users=nobody,root|Users=root,nobody"), ({"licenses": ["fluent:3"]}, "Licenses=fluent:3"),
                           ({"node_list": ["n1", "n2"]}, r"Nodes=n\[1-2\]"), ({"duration": n(120)}, "Duration=02:00:00"),
                           ({"end_time": n(now + 3600 + 5400)}, "Duration=01:30:00"), ({"start_time": n(now + 7200)}, "StartTime=2"),
                           ({"max_start_delay": n(300)}, "MaxStartDelay=00:05:00"), ({"qos": ["fast"]}, "QOS=fast|."),
                           ({"flags": ["MAINT", "IGNORE_JOBS"]}, "Flags=.*MAINT"), ({"flags": ["NO_MAINT"]}, "Flags=(?!.*MAINT)"),
                           ({"flags": ["DAILY"]}, "Flags=.*DAILY"), ({"purge_completed": {"time": n(180)}}, "PURGE_COMP=00:03:00")]:
        if body.get("groups"):
            changed("reservation for groups", "POST", "/slurm/v0.0.45/reservation", {**start, "name": "grp", "users": [], "groups": ["root"],
            "node_list": ["n3"]},
                    "scontrol show reservation grp", "Groups=root")
            continue
        changed(f"reservation {json.dumps(body)}", "POST", "/slurm/v0.0.45/reservation", {"name": "res", **body}, read, expected)


def tres(number):
    return [{"type": "cpu", "name": "", "count": number}, {"type": "gres", "name": "gpu", "count": 1}]


def accounting():
    db = "/slurmdb/v0.0.45/"
    limits = {"max": {"jobs": {"per": {"count": n(1), "accruing": n(2), "submitted": n(3), "wall_clock": n(4)}, "active": n(5), "accruing": n(6),
            "total": n(7)},
              "tres": {"total": tres(8), "group": {"minutes": tres(9), "active": tres(10)}, "minutes": {"total": tres(11), "per": {"job": tres(12)}},
              "per": {"job": tres(13), "node": tres(14)}}, "per": {"account": {"wall_clock": n(15)}}}, "min": {"priority_threshold": n(16)},
              "priority": n(17), "shares_raw": 18, "qos": ["fast", "normal"], "default": {"qos": "fast"}, "comment": "why"}
    names = ("grpjobs,grpjobsaccrue,grpsubmitjobs,maxwall,maxjobs,maxjobsaccrue,maxsubmitjobs,grptres,"
             "grptresmins,grptresrunmins,maxtresrunmins,maxtresmins,"
             "maxtres,maxtrespernode,grpwall,minpriothresh,priority,share,qos,defaultqos,comment")
    whole = ("1|2|3|00:04:00|5|6|7|" + "|".join(f"cpu={k},gres/gpu=1" for k in range(8, 15)) + "|00:15:00|16|17|18|fast,normal|fast|why")
    for who, body in [("user=bob", {"account": "phys", "user": "bob"}),
                      ("account=sub user=", {"account": "sub", "user": "", "parent_account": "phys"})]:
        changed(f"association of {who}", "POST", db + "associations/", {"associations": [{**body, **limits}]},
                f"sacctmgr -nP show assoc {who} format={names}", "^" + re.escape(whole))
    changed("its flags", "POST", db + "associations/", {"associations": [{"account": "sub", "user": "", "flags": ["UsersAreCoords"]}]},
            "sacctmgr -nP show assoc account=sub user= format=parentname,flags", r"^phys\|UsersAreCoords")
    clear = {"max": {"jobs": {"per": {"count": INFINITE, "wall_clock": INFINITE}}, "per": {"account": {"wall_clock": INFINITE}}}}
    changed("infinite clears", "POST", db + "associations/", {"associations": [{"account": "phys", "user": "bob", **clear}]},
            "sacctmgr -nP show assoc user=bob format=grpjobs,maxwall,grpwall,grpsubmitjobs", r"^\|\|\|3")
    condition = {"grpjobs": n(1), "grpjobsaccrue": n(2), "grpsubmitjobs": n(3), "grptres": tres(4), "grptresmins": tres(5), "grptresrunmins": tres(6),
                 "grpwall": n(7), "maxjobs": n(8), "maxjobsaccrue": n(9), "maxsubmitjobs": n(10), "maxtresminsperjob": tres(11),
                 "maxtresrunmins": tres(12),
                 "maxtresperjob": tres(13), "maxtrespernode": tres(14), "maxwalldurationperjob": n(15), "minpriothresh": n(16), "priority": n(17),
                 "qoslevel": ["fast"], "fairshare": 18, "defaultqos": "fast", "comment": "w"}
    names2 = ("grpjobs,grpjobsaccrue,grpsubmitjobs,grptres,grptresmins,grptresrunmins,"
              "grpwall,maxjobs,maxjobsaccrue,maxsubmitjobs,maxtresmins,maxtresrunmins,"
              "maxtres,maxtrespernode,maxwall,minpriothresh,priority,qos,share,defaultqos,comment")
    t = lambda k: f"cpu={k},gres/gpu=1"
    whole2 = f"1|2|3|{t(4)}|{t(5)}|{t(6)}|00:07:00|8|9|10|{t(11)}|{t(12)}|{t(13)}|{t(14)}|00:15:00|16|17|fast|18|fast|w"
    changed("users_association", "POST", db + "users_association/", {"association_condition": {"accounts": ["phys"], "users": ["cat"],
            "association": condition},
            "user": {"adminlevel": ["Operator"], "defaultwckey": "key"}},
            f"sacctmgr -nP show assoc user=cat format={names2}; sacctmgr -nP show user cat "
            "format=admin,defaultaccount,defaultwckey", "^" + re.escape(whole2 + " Operator|phys|key"))
    changed("accounts_association", "POST", db + "accounts_association/", {"association_condition": {"accounts": ["chem"], "association":
            {**condition, "parent": "phys"}}, "account": {"description": "d", "organization": "o"}},
            f"sacctmgr -nP show assoc account=chem user= format={names2},parentname; sacctmgr -nP show account chem format=description,organization",
            "^" + re.escape(whole2 + "|phys d|o"))
    qos(db)
    names = "format=description,organization,coordinators"
    changed("account", "POST", db + "accounts/", {"accounts": [{"name": "geo", "description": "d e", "organization": "f",
            "coordinators": [{"name": "bob"}],
            "flags": ["UsersAreCoords"]}]},
            f"sacctmgr -nP show account geo withcoord {names}; sacctmgr -nP show assoc account=geo user= format=flags",
            r"^d e\|f\|bob UsersAreCoords")
    changed("account changed", "POST", db + "accounts/", {"accounts": [{"name": "geo", "description": "x", "organization": "f",
            "coordinators": [],
            "flags": ["NoUsersAreCoords"]}]},
            f"sacctmgr -nP show account geo withcoord {names}; sacctmgr -nP show assoc account=geo user= format=account,flags", r"^x\|f\| geo\|None ")
    changed("user", "POST", db + "users/", {"users": [{"name": "dan", "administrator_level": ["Operator"], "default": {"account": "geo",
            "wckey": "k2"},
            "associations": [{"account": "geo", "user": "dan"}, {"account": "phys", "user": "dan", "partition": "main"}],
            "coordinators": [{"name": "geo"}],
            "wckeys": [{"name": "k3", "user": "dan", "cluster": "test"}]}]},
            "sacctmgr -nP show user dan withcoord format=user,admin,defaultaccount,defaultwckey,coordinators; sacctmgr -nP show assoc user=dan "
            "format=account,partition; sacctmgr -nP show wckey user=dan format=wckey", r"^dan\|Operator\|geo\|k2\|geo geo\| phys\|main \*?k2 \*?k3")
    run("sacctmgr -i modify user dan set qos+=fast")
    number = run("sacctmgr -nP show qos fast format=id").strip()
    changed("user's default QOS by number", "POST", db + "users/", {"users": [{"name": "dan", "default": {"qos": int(number)}}]},
            "sacctmgr -nP show assoc user=dan account=geo format=defaultqos", "^fast")
    changed("cluster", "POST", db + "clusters/", {"clusters": [{"name": "west"}]}, "sacctmgr -nP show cluster format=cluster", "west")
    changed("wckey", "POST", db + "wckeys/", {"wckeys": [{"name": "k9", "user": "bob", "cluster": "test"}]},
            "sacctmgr -nP show wckey user=bob format=wckey,user,cluster", r"k9\|bob\|test")


def qos(db):
    body = {"name": "deep", "description": "words", "flags": ["DENY_LIMIT", "NO_DECAY"], "priority": n(3), "usage_factor": n(2),
            "usage_threshold": n(4),
            "preempt": {"list": ["normal"], "mode": ["REQUEUE"], "exempt_time": n(60)}, "limits": {"grace_time": 5, "factor": n(6),
            "min": {"priority_threshold": n(7),
            "tres": {"per": {"job": tres(8)}}}, "max": {"active_jobs": {"accruing": n(9), "count": n(10)}, "jobs": {"count": n(11),
            "active_jobs": {"per":
            {"account": n(12), "user": n(13)}}, "per": {"account": n(14), "user": n(15)}}, "tres": {"total": tres(16), "minutes": {"total": tres(17),
            "per": {"qos": tres(18), "job": tres(19), "account": tres(20), "user": tres(21)}}, "per": {"account": tres(22), "job": tres(23),
            "node": tres(24),
            "user": tres(25)}}, "wall_clock": {"per": {"qos": n(26), "job": n(27)}}, "accruing": {"per": {"account": n(28), "user": n(29)}}}}}
    changed("QOS", "POST", db + "qos/", {"qos": [body]},
            "sacctmgr -nP show qos deep format=name,description,flags,priority,usagefactor,usagethreshold,preempt,"
            "preemptmode,preemptexempttime,gracetime,limitfactor,minpriothreshold,mintres",
            re.escape("deep|words|DenyOnLimit,NoDecay|3|2.000000|4.000000|normal|"
            "requeue|00:01:00|00:00:05|6.000000|7|cpu=8,gres/gpu=1"))
    answer = ask("GET", db + "qos/deep")[1]["qos"][0]

    def same(a, b, at):
        if isinstance(a, dict):
            return all(same(v, b.get(k), at + "/" + k) for k, v in a.items())
        if isinstance(a, list) and a and isinstance(a[0], dict):
            return all(same(x, y, at) for x, y in zip(a, b or [{}] * len(a)))
        if a == b or isinstance(a, (int, float)) and isinstance(b, (int, float)) and float(a) == float(b):
            return True
        check("QOS" + at, "^$", f"{a} is read as {b}")
        return True
    same(body, answer, "")
    changed("a flag more", "POST", db + "qos/", {"qos": [{"name": "deep", "flags": ["ADD", "NO_RESERVE"]}]},
            "sacctmgr -nP show qos deep format=flags",
            "DenyOnLimit.*NoReserve.*NoDecay|DenyOnLimit,NoDecay,NoReserve")
    changed("a flag less", "POST", db + "qos/", {"qos": [{"name": "deep", "flags": ["REMOVE", "NO_DECAY"]}]},
            "sacctmgr -nP show qos deep format=flags",
            "^(?!.*NoDecay)DenyOnLimit")


def again():
    """What is read and posted back changes nothing."""
    for path, key in [("/slurmdb/v0.0.45/qos/", "qos"), ("/slurmdb/v0.0.45/accounts/", "accounts"), ("/slurmdb/v0.0.45/users/", "users"),
                      ("/slurmdb/v0.0.45/associations/", "associations"), ("/slurmdb/v0.0.45/wckeys/", "wckeys"), ("/slurmdb/v0.0.45/clusters/",
                      "clusters"),
                      ("/slurm/v0.0.45/partitions/", "partitions"), ("/slurmdb/v0.0.45/tres/", "TRES")]:
        before = ask("GET", path)[1][key]
        answer = ask("POST", path, {key: before})
        check(f"{key} posted back", "^200 $", f"{answer[0]} {said(answer)}")
        after = ask("GET", path)[1][key]
        if key == "associations":      # what was inherited is said now
            before, after = len(before), len(after)
        check(f"{key} are as they were", "^True",
                f"{before == after} {[(x, y) for x, y in zip(before, after) if x != y][:2] if key != 'associations' else ''}")


run("sacctmgr -i add account phys; sacctmgr -i add qos fast; sacctmgr -i modify qos fast set priority=1;"
    "sacctmgr -i add user root account=phys wckey=key;"
    "sacctmgr -i add user nobody account=phys; sacctmgr -i modify user root set qos+=fast;"
    "scontrol create partition=other nodes=ALL;"
    "scontrol create reservation=later start=now+1hour duration=60 users=root nodes=n4")
for part in (sys.argv[3:] or ["jobs", "updates", "cluster", "accounting", "again"]):
    globals()[part]()
sys.exit(1 if fails else 0)
