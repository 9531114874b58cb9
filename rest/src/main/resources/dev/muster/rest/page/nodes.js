// Nodes: all of them in a list, and one of them with what is on it.
import {h, put, facts, table, confirm, bar, asCommand, say} from './dom.js';
import {ask} from './api.js';
import {nodes as all, placed, units, now, watch, me} from './store.js';
import {nodeState, jobName, count, size, gpus, when, clock, elapsed, percent, jobState} from './format.js';
import {grid} from './table.js';
import {stateCell} from './queue.js';

const API = '/slurm/v0.0.45';
const share = (a, b) => h('span', {}, `${count(a)} / ${count(b)}`);

async function change(names, body, note) {
  try {
    for (const n of names) {
      const reply = await ask(`${API}/node/${encodeURIComponent(n)}`, {body});
      if (reply.errors?.length) throw new Error(`${n}: ${reply.errors[0].description || reply.errors[0].error}`);
    }
    put(note, h('p', {class: 'fine'}, `Done: ${names.join(', ')}`));
    say('Done');
  } catch (e) {
    put(note, h('p', {class: 'error', role: 'alert'}, e.message));
  }
}

const buttons = (names, note) => !me.administrator ? [] : [
  h('button', {onclick: async () => {
    const reason = await confirm(`Drain ${names().join(', ')}?`, 'No new jobs come; what runs there goes on.', 'Drain', {label: 'Reason'});
    if (reason) change(names(), {state: ['DRAIN'], reason}, note);
  }}, 'Drain …'),
  h('button', {onclick: () => change(names(), {state: ['RESUME']}, note)}, 'Resume')];

const COLUMNS = [
  {id: 'name', text: 'Node', width: 130, cell: n => n.name, by: n => n.order},
  {id: 'state', text: 'State', width: 130, cell: n => stateCell(nodeState(n)), by: n => nodeState(n).text},
  {id: 'cpus', text: 'CPUs', width: 110, num: true, cell: n => share(n.alloc_cpus, n.cpus), by: n => n.alloc_cpus / (n.cpus || 1)},
  {id: 'gpus', text: 'GPUs', width: 80, num: true, cell: n => gpus(n.gres) ? share(gpus(n.gres_used), gpus(n.gres)) : '', by: n => gpus(n.gres)},
  {id: 'mem', text: 'Memory', width: 170, num: true, cell: n => `${size(n.alloc_memory)} / ${size(n.real_memory)}`, by: n => n.alloc_memory / (n.real_memory || 1)},
  {id: 'load', text: 'Load', width: 70, num: true, cell: n => (n.cpu_load / 100).toFixed(2), by: n => n.cpu_load},
  {id: 'jobs', text: 'Jobs', width: 60, num: true, cell: n => placed.get(n.name)?.size || '', by: n => placed.get(n.name)?.size || 0},
  {id: 'part', text: 'Partitions', width: 150, cell: n => n.partitions.join(','), by: n => n.partitions.join(',')},
  {id: 'reason', text: 'Reason', width: 170, cell: n => n.reason, by: n => n.reason},
];

export function nodeList(_, query) {
  let text = query.get('q') || '';
  const note = h('div'), shown = h('span', {class: 'note'});
  const box = h('input', {type: 'search', id: 'find', value: text, placeholder: 'a name, a state, a partition or a feature', 'aria-label': 'Filter',
    oninput: e => { text = e.target.value; history.replaceState(null, '', `#/nodes?${new URLSearchParams(text ? {q: text} : {})}`); show(); }});
  const g = grid({name: 'Nodes', columns: COLUMNS, key: n => n.name, open: n => { location.hash = `#/node/${encodeURIComponent(n.name)}`; }, sort: {id: 'name', up: true},
    label: n => `${n.name}, ${nodeState(n).text}, ${n.alloc_cpus} of ${n.cpus} CPUs`});
  function show() {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const list = [...all.values()].filter(n => words.every(w => n.name.toLowerCase().includes(w) || nodeState(n).text.includes(w) || n.partitions.some(p => p.toLowerCase() === w)
      || n.features.toLowerCase().split(',').includes(w)));
    g.set(list);
    shown.textContent = me.loaded ? `${count(list.length)} of ${count(all.size)} nodes` : 'Loading …';
  }
  const stop = watch(show);
  setTimeout(show);
  return {title: 'Nodes', el: [h('div', {class: 'head'}, h('h1', {}, 'Nodes'), shown, h('div', {class: 'acts'}, asCommand(() => 'sinfo -N -l'))), note, box, g.el], stop};
}

/** Its CPUs, each with whom it belongs to. */
function cpus(n) {
  const owner = new Array(n.cpus).fill(null);
  for (const sh of placed.get(n.name)?.values() || []) for (const r of (sh.ids || '').split(',')) {
    if (!r) continue;
    const [a, b = a] = r.split('-').map(Number);
    for (let i = a; i <= b && i < owner.length; i++) owner[i] = sh.job;
  }
  return h('div', {class: 'chips', role: 'img', 'aria-label': `${n.alloc_cpus} of ${n.cpus} CPUs taken`}, owner.slice(0, 512).map((j, i) =>
    h('span', {title: j ? `CPU ${i}: job ${jobName(j)} of ${j.user_name}` : `CPU ${i}: free`, style: {width: '14px', height: '14px', 'border-radius': '3px',
      background: j ? 'var(--busy)' : 'var(--idle)'}})));
}

export function node(path) {
  const name = path[0], note = h('div', {'aria-live': 'polite'}), box = h('div', {class: 'two'}), head = h('div', {class: 'head'});
  function show() {
    const n = all.get(name);
    if (!n) { put(head, h('h1', {}, name), h('span', {class: 'note'}, me.loaded ? 'There is no such node.' : 'Loading …')); return; }
    put(head, h('h1', {}, name), stateCell(nodeState(n)), h('div', {class: 'acts'}, asCommand(() => `scontrol show node ${name}`), buttons(() => [name], note)));
    const there = [...(placed.get(name)?.values() || [])], g = gpus(n.gres);
    put(box, h('section', {class: 'panel'}, h('h2', {}, 'What it is'), facts([['State', [n.state, ...n.flags].join(' + ').toLowerCase()], ['Reason', n.reason],
      ['Since', n.reason ? `${when(n.reason_time)} by ${n.reason_user}` : ''], ['Partitions', n.partitions.join(', ')], ['CPUs', `${n.alloc_cpus} of ${n.cpus} (${percent(n.alloc_cpus, n.cpus) || '0 %'})`],
      ['Memory', `${size(n.alloc_memory)} of ${size(n.real_memory)} given, ${size(n.free_mem)} free`], ['GPUs', g ? `${gpus(n.gres_used)} of ${g} (${n.gres})` : ''], ['Load', (n.cpu_load / 100).toFixed(2)],
      ['Features', n.features], ['Switch or block', units.get(n.name) || '']]), h('h2', {style: {'margin-top': '14px'}}, 'CPUs'), cpus(n)),
    h('section', {class: 'panel'}, h('h2', {}, 'Jobs'), table(['Job', 'Name', 'User', 'State', {text: 'CPUs', num: true}, {text: 'Time', num: true}],
      there.map(x => [h('a', {href: `#/job/${x.job.job_id}`}, jobName(x.job)), x.job.name, x.job.user_name, stateCell(jobState(x.job)), x.cpus, clock(elapsed(x.job, now()))]), 'No jobs are here.')));
  }
  const stop = watch(show);
  show();
  return {title: name, el: [head, note, box], stop};
}
