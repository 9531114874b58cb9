// The cluster as it is: lists once, then what changes in them. Views hear of it a few times a second at most.
import {ask, follow} from './api.js';
import {hosts, range, gpus} from './format.js';

export const jobs = new Map();
export const nodes = new Map();
/** By node: the switch or block that it hangs at, of the cluster's first topology. */
export const units = new Map();
/** By node: its jobs with how many CPUs and GPUs each has there. */
export const placed = new Map();
export const me = {user: '', operator: false, administrator: false, coordinates: [], cluster: '', live: 'away', lost: true, seen: 0, loaded: false, error: ''};
/** Its owner, operators, and coordinators of its account. */
export const mayChange = job => job.user_name === me.user || me.operator || me.coordinates.includes(job.account);

let ahead = 0, watchers = new Set(), due = 0, queued = null, passes = new Set(), lists = new Set(), last = 0;

export const now = () => Date.now() / 1000 + ahead;
export const watch = f => { watchers.add(f); return () => watchers.delete(f); };
/** The scheduler has looked at the queue. */
export const onPass = f => { passes.add(f); return () => passes.delete(f); };
/** partitions or reservations have changed. */
export const onList = f => { lists.add(f); return () => lists.delete(f); };

const EVERY_MS = 200;
function changed() {
  if (due) return;
  due = setTimeout(() => requestAnimationFrame(() => { due = 0; last = performance.now(); watchers.forEach(f => f()); }),
    Math.max(0, EVERY_MS - (performance.now() - last)));
}

export const rowsOf = reply => reply.rows.map(r => Object.fromEntries(reply.fields.map((f, i) => [f, r[i]])));

function unplace(job) {
  for (const name of job.where || []) {
    const there = placed.get(name);
    if (there) { there.delete(job.job_id); if (!there.size) placed.delete(name); }
  }
}

const active = job => job.state === 'RUNNING' || job.state === 'SUSPENDED' || job.flags.includes('COMPLETING');

function place(job) {
  job.where = [];
  if (!active(job)) return;
  for (const [list, ids, mem, gres] of job.allocation) {
    const share = {job, cpus: range(ids), ids, gpus: gpus(gres), mem};
    for (const name of hosts(list)) {
      let there = placed.get(name);
      if (!there) placed.set(name, there = new Map());
      there.set(job.job_id, share);
      job.where.push(name);
    }
  }
}

function takeJob(job) {
  const before = jobs.get(job.job_id);
  if (before) unplace(before);
  jobs.set(job.job_id, job);
  place(job);
}

function dropJob(id) {
  const before = jobs.get(id);
  if (before) { unplace(before); jobs.delete(id); }
}

function takeNode(node, at) {
  node.order = nodes.get(node.name)?.order ?? at ?? nodes.size;
  nodes.set(node.name, node);
}

/** Rows that were asked for by number. */
export async function refresh(ids) {
  if (!ids.length) return;
  const reply = await ask(`/muster/v1/jobs?job_id=${ids.join(',')}`);
  rowsOf(reply).forEach(takeJob);
  changed();
}

async function load() {
  queued = [];
  try {
    const seen = new Set(), network = ask('/muster/v1/topology').catch(() => ({topologies: []}));
    const nodeReply = await ask('/muster/v1/nodes').catch(e => { if (e.status === 401) throw e; me.error = e.message; return {fields: [], rows: [], now: now()}; });
    nodes.clear();
    rowsOf(nodeReply).forEach((n, i) => takeNode(n, i));
    me.loaded = true;
    changed();
    const known = await network;
    units.clear();
    for (const u of known.topologies[0]?.units || []) for (const name of hosts(u.nodes)) units.set(name, u.name);
    const reply = await ask('/muster/v1/jobs');
    ahead = reply.now - Date.now() / 1000;
    for (const job of rowsOf(reply)) { takeJob(job); seen.add(job.job_id); }
    for (const id of [...jobs.keys()]) if (!seen.has(id)) dropJob(id);
    me.jobsLoaded = true;
  } finally {
    const waiting = queued;
    queued = null;
    waiting.forEach(([name, data]) => took(name, data));
  }
  changed();
}

function took(name, data) {
  if (name === 'hello' || name === 'reset') {
    if (name === 'hello') Object.assign(me, {user: data.user, operator: data.operator, administrator: data.administrator, coordinates: data.coordinates});
    if (queued) { queued.push([name, data]); return; }
    load().catch(e => { me.error = e.message; changed(); setTimeout(() => took('reset', data), 5000); });
    return;
  }
  if (name === 'away' || name === 'back') { me.live = name === 'away' ? 'away' : 'live'; changed(); return; }
  if (queued) { queued.push([name, data]); return; }
  if (data.now) ahead = data.now - Date.now() / 1000;
  if (name === 'jobs') { data.jobs.forEach(takeJob); data.gone.forEach(dropJob); }
  else if (name === 'nodes') { data.nodes.forEach(n => takeNode(n)); data.gone.forEach(n => nodes.delete(n)); }
  else if (name === 'pass') { passes.forEach(f => f()); return; }
  else { lists.forEach(f => f(name)); return; }
  changed();
}

export function start() {
  return follow('/muster/v1/events', took, state => { me.live = state; me.lost = state !== 'live'; if (!me.lost) me.seen = Date.now() / 1000; changed(); });
}

export function totals() {
  const t = {cpus: 0, busy: 0, down: 0, gpus: 0, gpusBusy: 0, mem: 0, memBusy: 0, nodes: nodes.size, states: {}, running: 0, waiting: 0, mine: 0};
  for (const n of nodes.values()) {
    const g = gpus(n.gres), off = n.state === 'DOWN' || n.flags.includes('NOT_RESPONDING') || n.flags.includes('DRAIN');
    t.cpus += n.cpus; t.busy += n.alloc_cpus; t.gpus += g; t.mem += n.real_memory; t.memBusy += n.alloc_memory;
    t.gpusBusy += gpus(n.gres_used);
    if (off) t.down += n.cpus - n.alloc_cpus;
    const k = !off && n.state === 'IDLE' && n.flags.includes('RESERVED') ? 'reserved' : off ? (n.flags.includes('DRAIN') ? (n.alloc_cpus > 0 ? 'draining' : 'drained') : 'down') : n.state.toLowerCase();
    t.states[k] = (t.states[k] || 0) + 1;
  }
  for (const j of jobs.values()) {
    if (j.state === 'RUNNING') t.running++; else if (j.state === 'PENDING') t.waiting++; else continue;
    if (j.user_name === me.user) t.mine++;
  }
  return t;
}
