#!/usr/bin/python3
"""metrics.py PORT: reads slurmctld's metrics by the letter of OpenMetrics 1.0 and compares them with what squeue, sinfo, scontrol and sdiag say."""
import collections, json, re, subprocess, sys, urllib.request

port, fails = sys.argv[1], 0
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(' + LABEL + '(?:,' + LABEL + r')*)\})? (-?[0-9]+(?:\.[0-9]+)?)$')


def check(what, expected, found):
    global fails
    fails += expected != found
    print(f"ok   {what}" if expected == found else f"FAIL {what}: expected {expected!r}, got {found!r}")


def strict(name, text):
    """Families one after the other, each with its type before its samples; no sample twice; the mark of the end, and nothing behind it."""
    assert text.endswith("\n# EOF\n") or text == "# EOF\n", name + " does not end"
    values, done, family, typed = {}, set(), None, False
    for line in text[:-len("# EOF\n")].split("\n")[:-1]:
        if line.startswith("# "):
            _, word, which, rest = line.split(" ", 3)
            assert word in ("HELP", "TYPE") and rest, line
            if which != family:
                assert which not in done, "in two places: " + which
                done.add(which)
                family, typed = which, False
            assert word != "TYPE" or not typed and rest == "gauge", line
            typed = typed or word == "TYPE"
            continue
        m = SAMPLE.match(line)
        assert m and m[1] == family and typed, "not a sample of its family: " + line
        key = m[1] + ("{" + m[2] + "}" if m[2] else "")
        assert key not in values, "twice: " + key
        values[key] = int(m[3])
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families as families
        theirs = sum(len(f.samples) for f in families(text))
        assert theirs == len(values), f"{theirs} and {len(values)} samples"
    except ImportError:
        pass
    return values


def page(name, **headers):
    with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/metrics/{name}", headers=headers)) as f:
        return f.headers["Content-Type"], f.read().decode()


def lines(*command):
    return [l.split("|") for l in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()]


pages = "jobs", "jobs-users-accts", "nodes", "partitions", "scheduler"
said = {p: strict(p, page(p)[1]) for p in pages}
for p, values in said.items():
    check(f"/metrics/{p} is OpenMetrics by the letter, and has what is asked for", True, len(values) > 20)
openmetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
check("who takes anything gets OpenMetrics", openmetrics, page("jobs", Accept="*/*")[0])
scraper = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
check("so does Prometheus", openmetrics, page("jobs", Accept=scraper)[0])
check("who takes its older form alone gets that", "text/plain; version=0.0.4; charset=utf-8", page("jobs", Accept="text/plain;version=0.0.4")[0])

words = {"OUT_OF_MEMORY": "outofmemory", "NODE_FAIL": "node_failed", "BOOT_FAIL": "bootfail"}
jobs = lines("squeue", "-a", "-r", "-h", "-t", "all", "-o", "%i|%T|%u|%a|%C|%D|%P|%r|%m|%b")
ended = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "DEADLINE"}
mebi = {"M": 1, "G": 1024}


def compare(what, values, prefix, label, of):
    """@param of the jobs that the label stands for"""
    def value(name):
        return values.get(prefix + name + label, 0)
    check(f"{what}: jobs", len(of), value(""))
    by = collections.Counter(words.get(j[1], j[1].lower()) for j in of)
    for state in ("pending", "running", "suspended", "completed", "failed", "cancelled", "timeout", "completing"):
        if state != "completing":
            check(f"{what}: {state}", by[state], value("_" + state))
    check(f"{what}: finished", sum(j[1] in ended for j in of), value("_finished"))
    check(f"{what}: held", sum(j[1] == "PENDING" and "Held" in j[7] for j in of), value("_hold"))
    run = [j for j in of if j[1] in ("RUNNING", "SUSPENDED")]
    check(f"{what}: CPUs", sum(int(j[4]) for j in run), value("_cpus_alloc"))
    check(f"{what}: nodes", sum(int(j[5]) for j in run), value("_nodes_alloc"))
    gpus = sum(int(j[9].split(":")[-1]) * int(j[5]) for j in run if "gpu" in j[9])
    check(f"{what}: GPUs", gpus, value("_gpus_alloc"))


compare("all", said["jobs"], "slurm_jobs", "", jobs)
for user in {j[2] for j in jobs}:
    compare("user " + user, said["jobs-users-accts"], "slurm_user_jobs", '{username="%s"}' % user, [j for j in jobs if j[2] == user])
for account in {j[3] for j in jobs} - {"(null)", ""}:
    compare("account " + account, said["jobs-users-accts"], "slurm_account_jobs", '{account="%s"}' % account, [j for j in jobs if j[3] == account])
partitions = {l[0].rstrip("*") for l in lines("sinfo", "-a", "-h", "-o", "%P")}
check("partitions", len(partitions), said["partitions"]["slurm_partitions"])
for p in partitions:
    label = '{partition="%s"}' % p
    compare("partition " + p, said["partitions"], "slurm_partition_jobs", label, [j for j in jobs if p in j[6].split(",")])
    rows = lines("sinfo", "-h", "-p", p, "-N", "-O", "NodeList:|,StateLong:|,CPUsState:|,Memory:|,FreeMem:|,AllocMem:|")
    check(f"partition {p}: nodes", len(rows), said["partitions"]["slurm_partition_nodes" + label])
    cpus = [[int(n) for n in r[2].split("/")] for r in rows]
    check(f"partition {p}: CPUs in use and in all", [sum(c[0] for c in cpus), sum(c[3] for c in cpus)],
          [said["partitions"][f"slurm_partition_nodes_cpus_alloc{label}"], said["partitions"][f"slurm_partition_cpus{label}"]])
    check(f"partition {p}: memory, and what is in use", [sum(int(r[i]) for r in rows) << 20 for i in (3, 5)],
          [said["partitions"][f"slurm_partition_nodes_{n}{label}"] for n in ("mem_tot", "mem_alloc")])

rows = {r[0]: r for r in lines("sinfo", "-a", "-h", "-N", "-O", "NodeList:|,StateLong:|,CPUsState:|,Memory:|,AllocMem:|,GresUsed:|,Gres:|")}
state = collections.Counter(re.sub(r"[*~#!%$@^-]", "", r[1].lower()) for r in rows.values())
nodes = said["nodes"]
check("nodes", len(rows), nodes["slurm_nodes"])
for word, name in (("idle", "idle"), ("mixed", "mixed"), ("allocated", "alloc"), ("drained", "drained"), ("draining", "draining"), ("down", "down")):
    # a drained node is idle or down below that, and counts as that as well
    if word in ("drained", "draining", "mixed", "allocated"):
        check("nodes: " + word, state[word], nodes["slurm_nodes_" + name] - (state["draining"] if word == "mixed" else 0))
check("nodes: idle, drained ones among them", state["idle"] + state["drained"], nodes["slurm_nodes_idle"])


def gpus(text):
    return sum(int(n) for n in re.findall(r"gpu:(?:[a-z]\w*:)?(\d+)", text))


for name, r in rows.items():
    label, cpus = '{node="%s"}' % name, [int(n) for n in r[2].split("/")]
    check("node " + name, [cpus[3], cpus[0], int(r[3]) << 20, int(r[4]) << 20, gpus(r[6]), gpus(r[5])],
          [nodes["slurm_node_" + n + label] for n in ("cpus", "cpus_alloc", "memory_bytes", "memory_alloc_bytes", "gpus", "gpus_alloc")])

diag = json.loads(subprocess.run(["sdiag", "--json"], capture_output=True, text=True, check=True).stdout)["statistics"]
scheduler = said["scheduler"]
for name in ("jobs_submitted", "jobs_started", "jobs_completed", "jobs_canceled", "jobs_failed"):
    check("sdiag: " + name, diag[name], scheduler["slurm_sdiag_" + name])
for name, field in (("bf_backfilled_jobs", "slurm_backfilled_jobs"), ("bf_cycle_max", "slurm_bf_cycle_max"), ("schedule_cycle_max", "slurm_schedule_cycle_max")):
    check("sdiag: " + name, diag[name], scheduler[field])
check("sdiag: passes", True, 0 < scheduler["slurm_schedule_cycle_cnt"] <= diag["schedule_cycle_total"])
check("jobs that run", sum(j[1] == "RUNNING" for j in jobs), scheduler["slurm_sdiag_jobs_running"])
sys.exit(fails > 0)
