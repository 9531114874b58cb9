// One job: what it is, why it waits and when it will start, what it writes, and what one may do with it.
import {h, s, put, facts, table, confirm, asCommand, bar, say} from './dom.js';
import {ask, follow} from './api.js';
import {jobs, now, watch, me, mayChange, onPass, refresh, rowsOf} from './store.js';
import {jobState, jobName, clock, when, elapsed, limit, tres, gpus, count, percent, size, mebibytes} from './format.js';
import {use} from './use.js';
import {stateCell, setTick} from './queue.js';

const API = '/slurm/v0.0.45';
const KEPT = 400000;

/** In words for people; Slurm's word stands beside it. */
const WORDS = {Priority: 'Jobs of higher priority are ahead of it.', Resources: 'It is next, and waits for resources to become free.',
  Dependency: 'It waits for other jobs.', JobHeldUser: 'Its owner holds it.', JobHeldAdmin: 'An administrator holds it.', BeginTime: 'Its begin time has not come.',
  PartitionDown: 'Its partition is down.', PartitionTimeLimit: 'It asks for more time than its partition allows.', PartitionNodeLimit: 'It asks for more nodes than its partition allows.',
  ReqNodeNotAvail: 'Nodes that it must have are not available.', Reservation: 'It waits for its reservation.', Licenses: 'It waits for licenses.',
  QOSMaxJobsPerUserLimit: 'Its user has as many running jobs as the QOS allows.', AssocGrpCpuLimit: 'Its account has as many CPUs in use as it may.',
  AssocMaxJobsLimit: 'Its association has as many running jobs as it may.', NodeDown: 'A node that it needs is down.', None: 'The scheduler has not looked at it yet.'};

async function act(what, run, note) {
  try {
    const reply = await run();
    const e = reply.errors?.[0];
    if (e) throw new Error(e.description || e.error);
    put(note, h('p', {class: 'fine'}, what));
    say(what);
  } catch (e) {
    put(note, h('p', {class: 'error', role: 'alert'}, e.message));
  }
}

function actions(job, note) {
  const over = !['PENDING', 'RUNNING', 'SUSPENDED'].includes(job.state);
  if (!mayChange(job)) return [];
  const path = `${API}/job/${job.job_id}`, out = [];
  if (job.state === 'PENDING' && !job.held) out.push(h('button', {onclick: () => act('Held', () => ask(path, {body: {hold: true}}), note)}, 'Hold'));
  if (job.state === 'PENDING' && job.held) out.push(h('button', {onclick: () => act('Released', () => ask(path, {body: {hold: false}}), note)}, 'Release'));
  if (job.state !== 'PENDING') out.push(h('button', {onclick: async () => {
    if (await confirm(`Requeue job ${jobName(job)}?`, 'It goes back to the queue and begins anew.', 'Requeue')) act('Requeued', () => ask(`${path}/requeue`), note);
  }}, 'Requeue'));
  if (!over) out.push(h('button', {class: 'bad', id: 'cancel', onclick: async () => {
    if (await confirm(`Cancel job ${jobName(job)}?`, `${job.name} of ${job.user_name}. What it has not kept is lost.`, 'Cancel the job')) act('Cancelled', () => ask(path, {method: 'DELETE'}), note);
  }}, 'Cancel'));
  return out;
}

/** Waited, ran, may still run, on one line. */
function timeline(job) {
  const t = now(), begin = job.submit_time, planned = job.state === 'PENDING' && job.start_time > t ? job.start_time : 0;
  const start = job.state === 'PENDING' ? planned : job.start_time, over = !['PENDING', 'RUNNING', 'SUSPENDED'].includes(job.state);
  const stop = over ? job.end_time : start && job.time_limit > 0 ? start + job.time_limit * 60 : 0;
  const last = Math.max(t, start || 0, stop || 0), span = Math.max(1, (over ? stop : last) - begin);
  const parts = [[begin, Math.min(start || t, over ? stop : Infinity), 'wait']];
  if (start) parts.push([start, over ? stop : Math.max(start, t), 'busy']);
  if (!over && stop > Math.max(start, t)) parts.push([Math.max(start, t), stop, 'idle']);
  const el = s('svg', {class: 'plot', height: '14', role: 'img', 'aria-label': 'How long it waited, ran and may still run'});
  for (const [from, to, kind] of parts) el.append(s('rect', {x: `${100 * (from - begin) / span}%`, y: 0, width: `${Math.max(.4, 100 * (to - from) / span)}%`, height: 14, rx: 3, fill: `var(--${kind})`}));
  return [el, facts([['Submitted', when(begin)], start && [planned ? job.state_reason === 'BeginTime' ? 'Not before' : 'Planned' : 'Started', `${when(start)}, ${planned ? 'in' : 'after'} ${clock(planned ? start - t : start - begin)}`],
    over ? ['Ended', `${when(stop)}, ran ${clock(elapsed(job, t))}`] : stop && !planned && ['Ends', `${when(stop)} at the latest`],
    job.state === 'RUNNING' && ['Elapsed', job.time_limit > 0 ? `${clock(elapsed(job, t))} of ${limit(job.time_limit)}` : clock(elapsed(job, t))],
    job.state === 'PENDING' && ['Waits', clock(t - begin)]])];
}

function why(box, id) {
  let at = 0;
  async function load() {
    at = 0;
    let w;
    try { w = await ask(`/muster/v1/jobs/${id}/why`); } catch (e) { put(box, h('p', {class: 'note'}, e.message)); return; }
    const lines = [h('strong', {}, told(w.says) || WORDS[w.reason] || w.reason || 'It waits.'), ' ', h('span', {class: 'note'}, w.reason, w.description ? ` (${w.description})` : '')];
    if (w.evidence?.length) lines.push(h('ul', {class: 'evidence'}, w.evidence.map(e => h('li', {}, told(e)))));
    if (w.change) lines.push(h('div', {}, `What would help: ${told(w.change)}`));
    const e = w.estimate, start = e?.start_time && `${when(Math.max(e.start_time, now()))}${e.nodes ? ` on ${e.nodes}` : ''}`;
    lines.push(h('div', {}, !start ? w.no_estimate && !w.no_estimate.startsWith('Access') ? `No start is planned for it: ${w.no_estimate}.` : 'No start is planned for it.'
      : e.planned ? `It is planned to start ${start}.` : `No start is planned for it yet; if no other job waited, it could start ${start}.`));
    const f = w.factors?.[0], parts = f ? ['age', 'fairshare', 'size', 'partition', 'qos', 'assoc'].map(k => [k, (f[k === 'fairshare' ? 'fairShare' : k] || 0) * (w.weights?.[k] || 0)]).filter(p => p[1] > 0) : [];
    if (parts.length) {
      const most = Math.max(...parts.map(p => p[1]));
      lines.push(h('div', {class: 'note'}, `Priority ${count(f.priority)} is made of:`), h('table', {}, h('tbody', {}, parts.map(([k, v]) =>
        h('tr', {}, h('td', {}, k), h('td', {class: 'num'}, count(Math.round(v))), h('td', {class: 'wide'}, bar([v / most])))))));
    }
    put(box, h('div', {class: 'why'}, lines));
  }
  load();
  return onPass(() => { if (!at) at = setTimeout(load, 4000); });
}

/** Moments in a sentence are those of who reads it. */
const told = text => (text || '').replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, at => when(Date.parse(at) / 1000));

/** Reasons of waiting, which accounting keeps beside the end. */
const WAITED = /^(None|Dependency|Priority|Resources|BeginTime|JobHeld.*|Licenses|Reservation|ReqNodeNotAvail.*|JobArrayTaskLimit|Assoc.*|QOS.*|Partition.*|Max.*|Cleaning)$/;

/** What became of it, as accounting has it: a row for each time it was started, and for each size that it had. */
async function history(box, id) {
  const rows = (await ask(`/slurmdb/v0.0.45/jobs?step=${id}&show_duplicates=true&skip_steps=true&start_time=1`)).jobs || [];
  const lines = [];
  for (const r of rows.filter(x => !x.job_id || x.job_id === id)) {
    const t = r.time || {}, state = (r.state?.current || []).join(' ').toLowerCase();
    lines.push([t.submission, 'submitted', r.flags?.includes('STARTED_ON_SUBMIT') ? 'started at once' : '']);
    if (t.eligible > t.submission) lines.push(t.eligible > now() ? [t.eligible, 'may start from then on', ''] : [t.eligible, 'could start', `waited ${clock(t.eligible - t.submission)} until then`]);
    if (t.start) lines.push([t.start, 'started', r.nodes && r.nodes !== 'None assigned' ? `on ${r.nodes}` : '']);
    if (t.suspended) lines.push([0, 'was suspended', `for ${clock(t.suspended)} in all`]);
    if (t.end) lines.push([t.end, state, [r.state?.reason && !WAITED.test(r.state.reason) ? r.state.reason : '', r.exit_code?.return_code?.number || r.exit_code?.signal?.id?.number
      ? `exit ${r.exit_code?.return_code?.number ?? 0}:${r.exit_code?.signal?.id?.number ?? 0}` : ''].filter(Boolean).join(', ')]);
  }
  const seen = new Set(), unique = lines.filter(l => { const k = l.join('|'); return !seen.has(k) && seen.add(k); });
  put(box, table(['When', 'What', ''], unique.map(([at, what, more]) => [at ? when(at) : '', what, more]), 'Accounting has nothing of it yet.'));
}

/** The end of what the job writes, growing. */
function output(id) {
  let stop = () => {}, stream = 'stdout', size_ = 0, sticks = true;
  const pre = h('pre', {class: 'log', tabindex: '0', id: 'log', role: 'log', 'aria-label': 'Output'}), info = h('span', {class: 'note'});
  const tabs = h('div', {class: 'tabs', role: 'group', 'aria-label': 'Which output'});
  pre.addEventListener('scroll', () => { sticks = pre.scrollTop + pre.clientHeight > pre.scrollHeight - 30; });
  function open() {
    stop();
    pre.replaceChildren();
    size_ = 0;
    put(info, 'Waiting for the first line …');
    put(tabs, ['stdout', 'stderr'].map(k => h('button', {'aria-pressed': String(stream === k), onclick: () => { stream = k; open(); }}, k)), info);
    stop = follow(`/muster/v1/jobs/${id}/log?stream=${stream}`, (name, data) => {
      if (name === 'file') put(info, data.path, data.offset > 0 ? `, from byte ${count(data.offset)} on` : '');
      else if (name === 'again') pre.replaceChildren();
      else if (name === 'log') {
        pre.append(document.createTextNode(data.text));
        size_ += data.text.length;
        while (size_ > KEPT && pre.firstChild !== pre.lastChild) { size_ -= pre.firstChild.textContent.length; pre.firstChild.remove(); }
        if (sticks) pre.scrollTop = pre.scrollHeight;
      } else if (name === 'end') { pre.dataset.over = data.state; if (!pre.textContent) put(info, 'It wrote nothing.'); }
      else if (name === 'refused') put(info, data.error);
    });
  }
  open();
  return {el: h('section', {class: 'panel', 'aria-label': 'Output'}, h('h2', {}, 'Output'), tabs, pre), stop: () => stop()};
}

const steps = (box, id) => ask(`/muster/v1/jobs/${id}/steps`).then(r => put(box, table(
  ['Step', 'Name', 'State', {text: 'Tasks', num: true}, {text: 'CPUs', num: true}, 'Nodes', {text: 'Time', num: true}],
  (r.steps || []).map(x => [x.stepId, x.name, (x.state || '').toLowerCase(), x.tasks, x.cpus, x.nodes, clock(now() - x.startTime)]), 'No step runs.')))
  .catch(e => put(box, h('p', {class: 'note'}, e.message)));

/** What an ended job used, as accounting has it. */
async function usage(box, job) {
  const r = await ask(`/slurmdb/v0.0.45/job/${job.job_id}`);
  const row = r.jobs?.at(-1);
  if (!row) { put(box, h('p', {class: 'note'}, 'Accounting has nothing of it yet.')); return null; }
  const spent = row.time?.elapsed || 0, cpus = (row.tres?.allocated || []).find(t => t.type === 'cpu')?.count || job.cpus;
  const cpu = (row.steps || []).reduce((a, x) => a + (x.time?.total?.seconds || 0), 0);
  const most = Math.max(0, ...(row.steps || []).map(x => (x.tres?.requested?.max || []).find(t => t.type === 'mem')?.count || 0)) / 1048576;
  const given = (row.tres?.allocated || []).find(t => t.type === 'mem')?.count || 0;
  put(box, facts([['CPU time', `${clock(cpu)} of ${clock(spent * cpus)} (${percent(cpu, spent * cpus) || 'none'})`]]), bar([spent * cpus ? cpu / (spent * cpus) : 0]),
    most > 0 && [facts([['Largest memory', `${size(most)} of ${size(given)} (${percent(most, given)})`]]), bar([given ? most / given : 0, 'good'])],
    table(['Step', 'Name', 'State', 'Exit', {text: 'CPU time', num: true}], (row.steps || []).map(x => [String(x.step?.id?.step_id ?? x.step?.id ?? ''), x.step?.name || '',
      (x.state || []).join(' ').toLowerCase(), `${x.exit_code?.return_code?.number ?? 0}:${x.exit_code?.signal?.id?.number ?? 0}`, clock(x.time?.total?.seconds || 0)]), 'It had no steps.'));
  return row;
}

/** What accounting has of a job that slurmctld has forgotten. */
const remembered = row => facts([['User', h('a', {href: `#/queue?q=user:${encodeURIComponent(row.user)}`}, row.user)], ['Account', row.account], ['Partition', row.partition],
  ['QOS', row.qos], ['State', (row.state?.current || []).join(' ').toLowerCase()], ['Nodes', row.nodes], ['CPUs', count((row.tres?.allocated || []).find(t => t.type === 'cpu')?.count || 0)],
  ['Submitted', row.time?.submission ? when(row.time.submission) : ''], ['Started', row.time?.start ? when(row.time.start) : ''], ['Ended', row.time?.end ? when(row.time.end) : ''],
  ['Ran', clock(row.time?.elapsed || 0)], ['Exit', `${row.exit_code?.return_code?.number ?? 0}:${row.exit_code?.signal?.id?.number ?? 0}`]]);

/** A task of an array or a component, by the name that Slurm shows: its own number is looked up. */
function named(text) {
  const head = h('div', {class: 'head'}, h('h1', {}, `Job ${text}`), h('span', {class: 'note'}, 'Loading …'));
  let left = false;
  const none = () => put(head, h('h1', {}, `There is no job ${text}`), h('span', {class: 'note'}, /^\d+[_+]\d+$/.test(text) ? 'Neither slurmctld nor accounting knows it.' : 'A job is a number, with _TASK or +COMPONENT behind it.'));
  async function find() {
    if (!/^\d+[_+]\d+$/.test(text)) return 0;
    const plus = text.split('+');
    if (plus.length === 2) return Number(plus[0]) + Number(plus[1]);
    for (const j of jobs.values()) if (jobName(j) === text) return j.job_id;
    const r = await ask(`/muster/v1/jobs?job_id=${text}`).then(rowsOf).catch(() => []);
    if (r.length) return r[0].job_id;
    return (await ask(`/slurmdb/v0.0.45/jobs?step=${text}&skip_steps=true&start_time=1`)).jobs?.at(-1)?.job_id || 0;
  }
  find().catch(() => 0).then(id => { if (left) return; if (id) location.replace(`#/job/${id}`); else none(); });
  return {title: `Job ${text}`, el: [head], stop: () => { left = true; }};
}

export function job(path) {
  if (!/^\d{1,10}$/.test(path[0] || '')) return named(path[0] || '');
  const id = Number(path[0]), note = h('div', {'aria-live': 'polite'}), head = h('div', {class: 'head'}), about = h('div', {class: 'panel'}), line = h('div', {class: 'panel'});
  const waits = h('div'), used = h('div', {}, h('p', {class: 'note'}, '…')), script = h('pre', {tabindex: '0'}, '…'), which = h('div', {class: 'tabs', role: 'group', 'aria-label': 'Script or environment'}), stops = [];
  let shown = '', log = null, was = '', asked = false;
  const written = h('div'), past = h('div', {}, h('p', {class: 'note'}, '…')), drawn = h('div', {}, h('p', {class: 'note'}, '…'));
  const later = (box, f) => f.catch(e => put(box, h('p', {class: 'note'}, e.message)));

  function show() {
    const j = jobs.get(id);
    if (!j) {
      shown = '';
      if (me.jobsLoaded && !was) {
        was = 'asked';
        // only then it is certain that it is none of those that are just coming
        refresh([id]).catch(e => e.status === 404 || put(note, h('p', {class: 'error'}, e.message))).finally(() => { if (!jobs.has(id)) { was = 'gone'; show(); } });
      }
      if (was !== 'accounting') put(head, h('h1', {}, `Job ${id}`), h('span', {class: 'note'}, ['', 'asked'].includes(was) ? 'Loading …' : 'slurmctld does not know it.'));
      if (was === 'gone') {
        was = 'accounting';
        later(past, history(past, id));
        later(used, usage(used, {job_id: id, cpus: 0}).then(row => {
          if (jobs.has(id)) return;
          if (!row) { put(head, h('h1', {}, `There is no job ${id}`)); put(about, h('p', {class: 'empty'}, 'slurmctld does not know it, and accounting does not know it either.')); line.remove(); document.querySelectorAll('main > .two ~ .two').forEach(x => x.remove()); return; }
          put(head, h('h1', {}, `Job ${id}`), h('span', {}, row.name), h('span', {class: 'note'}, 'as accounting has it: slurmctld does not know it any more.'),
            h('div', {class: 'acts'}, asCommand(() => `sacct -j ${id} -S 1970-01-02`)));
          put(about, h('h2', {}, 'What it was'), remembered(row));
        }));
        for (const x of [written, about, line]) put(x);
        put(drawn, h('p', {class: 'note'}, 'Its nodes tell it while slurmctld knows the job.'));
        put(script, 'It is gone with the job.');
      }
      return;
    }
    const st = jobState(j), t = now(), mark = JSON.stringify([{...j, where: 0}, mayChange(j)]);
    if (mark !== shown) {
      shown = mark;
      put(head, h('h1', {}, `Job ${jobName(j)}`), h('span', {}, j.name), stateCell(st), h('div', {class: 'acts'}, asCommand(() => `scontrol show job ${jobName(j)}`), actions(j, note)));
      const t_ = tres(j.tres);
      put(about, h('h2', {}, 'What it is'), facts([['User', h('a', {href: `#/queue?q=user:${encodeURIComponent(j.user_name)}`}, j.user_name)], ['Account', j.account], ['Partition', j.partition], ['QOS', j.qos],
        ['Nodes', j.nodes ? j.nodes : `${j.node_count} wanted`], ['CPUs', count(j.cpus)], ['Memory', t_.mem], ['GPUs', gpus(j.tres) || ''], ['Time limit', limit(j.time_limit)],
        ['Dependency', j.dependency], ['Exit', ['PENDING', 'RUNNING', 'SUSPENDED'].includes(j.state) ? '' : j.exit], ['Reason', ['PENDING', 'RUNNING'].includes(j.state) || j.state_reason === 'None' ? '' : j.state_reason]]));
    }
    put(line, h('h2', {}, 'Time'), timeline(j));
    if (!asked) look(j);
    if (j.state !== was) {
      was = j.state;
      while (stops.length > 2) stops.pop()();
      put(waits);
      later(past, history(past, id));
      if (j.state === 'PENDING') put(drawn, h('p', {class: 'note'}, 'It has not begun.'));
      else if (mayChange(j)) stops.push(use(drawn, j, mebibytes(tres(j.tres).mem)));
      else put(drawn, h('p', {class: 'note'}, `It is ${j.user_name}'s to see.`));
      if (j.state === 'PENDING') stops.push(why(waits, id));
      if (j.state === 'RUNNING' || j.state === 'SUSPENDED') { steps(used, id); stops.push(setTick(() => steps(used, id))); }
      else if (j.state !== 'PENDING') usage(used, j).catch(e => put(used, h('p', {class: 'note'}, e.message)));
      else put(used, h('p', {class: 'note'}, 'It has not begun.'));
    }
  }

  /** What is his own alone is not asked for in vain. */
  function look(j) {
    asked = true;
    const own = j.user_name === me.user;
    if (j.state === 'PENDING' && j.array_task_string) put(written, h('section', {class: 'panel'}, h('h2', {}, 'Output'), h('p', {class: 'note'}, 'Each task of the array writes its own, once it has begun.')));
    else if (own || me.user === 'root') { log = output(id); put(written, log.el); }
    else put(written, h('section', {class: 'panel'}, h('h2', {}, 'Output'), h('p', {class: 'note'}, `What it writes is ${j.user_name}'s to read.`)));
    const text = what => ask(`/muster/v1/jobs/${id}/${what}`).then(r => put(script, what === 'script' ? r.script : r.environment.join('\n'))).catch(e => put(script, `There is none: ${e.message}`));
    const pick = what => { put(which, ['script', 'environment'].map(k => h('button', {'aria-pressed': String(k === what), onclick: () => pick(k)}, k === 'script' ? 'Script' : 'Environment'))); text(what); };
    if (own || me.user === 'root') pick('script');
    else if (me.operator) text('script');
    else put(script, `It is ${j.user_name}'s to read.`);
  }

  stops.push(watch(show), setTick(show));
  show();
  const panel = (name, box) => h('section', {class: 'panel', 'aria-label': name}, h('h2', {}, name), box);
  return {title: `Job ${id}`, el: [head, note, waits, h('div', {class: 'two'}, about, line), h('div', {class: 'two'}, panel('Over time', drawn), panel('History', past)), written,
    h('div', {class: 'two'}, panel('Steps and use', used), panel('Script', [which, script]))],
  stop: () => { stops.forEach(f => f()); log?.stop(); }};
}
