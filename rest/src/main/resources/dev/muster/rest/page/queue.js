// The queue: filtered, sorted, and by the views that one keeps.
import {h, put, say, asCommand, confirm} from './dom.js';
import {jobs, now, watch, me, onPass, refresh} from './store.js';
import {jobState, jobName, clock, when, elapsed, limit, tres, gpus, count} from './format.js';
import {grid} from './table.js';

const KEYS = {user: 'user_name', account: 'account', partition: 'partition', state: 'state', qos: 'qos', name: 'name', reason: 'state_reason', node: null, job: null};
const OVER = j => !['PENDING', 'RUNNING', 'SUSPENDED'].includes(j.state) && !j.flags.includes('COMPLETING');

/** user:ann state:running,pending gpu -partition:debug */
export function filter(text) {
  const tests = [];
  for (const word of text.trim().split(/\s+/)) {
    if (!word) continue;
    const no = word.startsWith('-') && word.length > 1, w = no ? word.slice(1) : word, colon = w.indexOf(':');
    const k = colon > 0 ? w.slice(0, colon).toLowerCase() : '';
    let test;
    if (k in KEYS) {
      const values = w.slice(colon + 1).toLowerCase().split(',');
      if (k === 'node') test = j => j.where?.some(n => values.includes(n.toLowerCase()));
      else if (k === 'job') test = j => values.includes(jobName(j)) || values.includes(String(j.job_id)) || values.includes(String(j.array_job_id));
      else if (k === 'name') test = j => values.some(v => j.name.toLowerCase().includes(v));
      else if (k === 'partition') test = j => j.partition.toLowerCase().split(',').some(p => values.includes(p));
      else if (k === 'state') test = j => values.some(v => v === 'finished' ? OVER(j) : j.state.toLowerCase().startsWith(v) || j.flags.some(f => f.toLowerCase() === v));
      else if (k === 'user') test = j => values.some(v => j.user_name.toLowerCase() === (v === 'me' ? me.user.toLowerCase() : v));
      else test = j => values.includes(String(j[KEYS[k]]).toLowerCase());
    } else {
      const v = w.toLowerCase();
      test = j => jobName(j).startsWith(v) || j.name.toLowerCase().includes(v) || j.user_name.toLowerCase().includes(v) || j.nodes.includes(v);
    }
    tests.push(no ? j => !test(j) : test);
  }
  const any = tests.length > 0 && /(^|\s)(state|job):/.test(text);
  return j => (any || !OVER(j) || me.finished) && tests.every(t => t(j));
}

export const stateCell = s => h('span', {class: 'state', data: {kind: s.kind}}, s.text);

/** To the minute: a plan knows no better. */
const soon = t => when(t).replace(/:[0-9]{2}$/, m => when(t).includes(' ') ? m : '');
/** Where there is little room. */
const FEW = {job: 62, name: 76, state: 92, where: 112};

const COLUMNS = [
  {id: 'job', text: 'Job', width: 82, cell: j => jobName(j), by: j => j.array_job_id || j.job_id},
  {id: 'name', text: 'Name', width: 96, cell: j => j.name, by: j => j.name},
  {id: 'user', text: 'User', width: 74, cell: j => j.user_name, by: j => j.user_name},
  {id: 'account', text: 'Account', width: 70, cell: j => j.account, by: j => j.account},
  {id: 'partition', text: 'Partition', width: 74, cell: j => j.partition, by: j => j.partition},
  {id: 'state', text: 'State', width: 90, cell: j => stateCell(jobState(j)), by: j => ['RUNNING', 'SUSPENDED', 'PENDING'].indexOf(j.state) + (OVER(j) ? 9 : 0)},
  {id: 'time', text: 'Time', width: 68, num: true, cell: j => j.state === 'PENDING' ? '' : clock(elapsed(j, now())), by: j => elapsed(j, now())},
  {id: 'limit', text: 'Limit', width: 80, num: true, cell: j => limit(j.time_limit), by: j => j.time_limit < 0 ? 1e12 : j.time_limit},
  {id: 'nodes', text: 'Nodes', width: 58, num: true, cell: j => j.node_count, by: j => j.node_count},
  {id: 'cpus', text: 'CPUs', width: 66, num: true, cell: j => count(j.cpus), by: j => j.cpus},
  {id: 'gpus', text: 'GPUs', width: 56, num: true, cell: j => gpus(j.tres) || '', by: j => gpus(j.tres)},
  {id: 'priority', text: 'Priority', width: 70, num: true, cell: j => j.state === 'PENDING' ? count(j.priority) : '', by: j => j.priority},
  {id: 'where', text: 'Nodes or reason', width: 132, cell: j => j.state === 'PENDING' ? `${j.start_time > now() && !j.held ? `${j.state_reason === 'BeginTime' ? 'from' : 'planned'} ${soon(j.start_time)}, ` : ''}${j.state_reason}` : j.nodes, by: j => j.nodes || j.state_reason},
];

export function queue(_, query) {
  let text = query.get('q') || '', order = {id: query.get('sort') || '', up: query.get('up') !== '0'};
  const box = h('input', {type: 'search', id: 'find', value: text, placeholder: 'user:me  state:pending  partition:gpu  a name …', 'aria-label': 'Filter',
    oninput: e => { text = e.target.value; keep(); show(); views(); }});
  const shown = h('span', {class: 'note'});
  const columns = matchMedia('(max-width: 720px)').matches ? COLUMNS.filter(c => FEW[c.id]).map(c => ({...c, width: FEW[c.id], text: c.id === 'where' ? 'Where, why' : c.text})) : COLUMNS;
  const g = grid({name: 'Jobs', columns, key: j => j.job_id, open: j => { location.hash = `#/job/${j.job_id}`; }, sort: order,
    onSort: o => { order = o; keep(); }, label: j => `Job ${jobName(j)}, ${j.name}, ${j.user_name}, ${jobState(j).text}`});

  const keep = () => history.replaceState(null, '', `#/queue?${new URLSearchParams({...(text ? {q: text} : {}), ...(order.id ? {sort: order.id, up: order.up ? '1' : '0'} : {})})}`);

  function show() {
    const test = filter(text);
    const list = [];
    for (const j of jobs.values()) if (test(j)) list.push(j);
    if (!order.id) list.sort((a, b) => (a.state === 'PENDING') - (b.state === 'PENDING') || (a.state === 'PENDING' ? b.priority - a.priority : 0) || a.job_id - b.job_id);
    g.set(list);
    shown.textContent = me.jobsLoaded ? `${count(list.length)} of ${count(jobs.size)} jobs` : 'Loading jobs …';
  }

  const quick = [['All', ''], ['Mine', 'user:me'], ['Running', 'state:running'], ['Waiting', 'state:pending'], ['Finished', 'state:finished']];
  const chips = h('div', {class: 'chips', role: 'group', 'aria-label': 'Views'});
  let saved = {};
  try { saved = JSON.parse(localStorage.getItem('muster-views') || '{}'); } catch { /* none then */ }
  function views() {
    const set = q => { text = q; box.value = q; keep(); show(); views(); };
    put(chips, quick.map(([n, q]) => h('button', {'aria-pressed': String(text === q), onclick: () => set(q)}, n)),
      Object.entries(saved).map(([n, v]) => [h('button', {'aria-pressed': String(text === v), onclick: () => set(v)}, n),
        text === v && h('button', {'aria-label': `Forget the view ${n}`, onclick: () => { delete saved[n]; keepViews(); }}, '×')]),
      h('button', {disabled: !text, onclick: async () => {
        const n = await confirm('Keep this view', text, 'Keep', {label: 'Its name'});
        if (n) { saved[n] = text; keepViews(); }
      }}, 'Keep view …'));
  }
  const keepViews = () => { localStorage.setItem('muster-views', JSON.stringify(saved)); views(); };

  const command = () => {
    const out = ['squeue'], value = k => new RegExp(`(?:^|\\s)${k}:(\\S+)`).exec(text)?.[1];
    for (const [k, o] of [['user', '-u'], ['state', '-t'], ['partition', '-p'], ['account', '-A'], ['qos', '-q'], ['name', '-n'], ['node', '-w']]) {
      const v = value(k);
      if (v) out.push(k === 'user' && v === 'me' ? '--me' : `${o} ${v.replace('finished', 'completed,failed,cancelled,timeout')}`);
    }
    return out.join(' ');
  };

  views();
  const stops = [watch(show), setTick(() => g.el.isConnected && show())];
  let passed = 0;
  // reasons and planned starts: of the rows that are looked at, and not after each pass
  stops.push(onPass(() => { if (!passed) passed = setTimeout(() => { passed = 0; refresh(g.visible().filter(j => j.state === 'PENDING').slice(0, 60).map(j => j.job_id)).catch(() => {}); }, 3000); }));
  setTimeout(show);
  return {title: 'Queue', el: [h('div', {class: 'head'}, h('h1', {}, 'Queue'), shown, h('div', {class: 'acts'}, asCommand(command))), box, chips, g.el],
    stop: () => { stops.forEach(f => f()); clearTimeout(passed); }};
}

/** Times that run. */
export function setTick(f) {
  const id = setInterval(() => { if (!document.hidden) f(); }, 5000);
  return () => clearInterval(id);
}
