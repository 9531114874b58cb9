// What was used: from the jobs that accounting has, added up here.
import {h, s, put, table} from './dom.js';
import {ask} from './api.js';
import {count, clock} from './format.js';
import {me, now, rowsOf} from './store.js';
import {SPANS, columns, shares, utilization} from './course.js';

const KEYS = {user: r => r.user_name, account: r => r.account, partition: r => r.partition, state: r => r.state.split(' ')[0].toLowerCase(), qos: r => r.qos};
const quantile = (list, q) => list.length ? list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))] : '';
const wait = (list, q) => list.length ? clock(quantile(list, q)) : '';

export function reports(_, query) {
  let days = SPANS[query.get('days')] ? Number(query.get('days')) : 1, by = query.get('by') || 'user', rows = null;
  const box = h('div', {class: 'panel'}), over = h('div', {class: 'panel'}), pick = (label, value, values, take) => h('label', {class: 'field'}, label, h('select', {onchange: e => take(e.target.value)},
    values.map(([v, t]) => h('option', {value: v, selected: String(v) === String(value)}, t))));
  const keep = () => history.replaceState(null, '', `#/reports?days=${days}&by=${by}`);

  async function load() {
    const asked = days;
    put(box, h('p', {class: 'note'}, 'Loading …'));
    utilization(over, days);
    try {
      const start = Math.floor(Date.now() / 1000 - days * 86400);
      const got = await ask(`/muster/v1/ended?from=${start}`);
      if (asked !== days) return;      // another time was chosen meanwhile
      if (got.error) throw new Error(got.error);
      rows = rowsOf(got);
      for (const r of rows) r.elapsed = r.start_time ? Math.max(0, (r.end_time || got.now) - r.start_time - r.suspended) : 0;
      show();
    } catch (e) { put(box, h('p', {class: 'error', role: 'alert'}, e.message)); }
  }

  function sums() {
    const out = new Map();
    for (const r of rows) {
      const k = KEYS[by](r) || '-', o = out.get(k) || {jobs: 0, cpu: 0, gpu: 0, waits: [], failed: 0};
      o.jobs++;
      o.cpu += r.elapsed * r.cpus;
      o.gpu += r.elapsed * r.gpus;
      const until = r.start_time || (KEYS.state(r) === 'pending' ? now() : 0);
      if (until >= r.submit_time) o.waits.push(Math.floor(until - r.submit_time));
      if (/fail|timeout|out_of/.test(KEYS.state(r))) o.failed++;
      out.set(k, o);
    }
    return [...out].sort((a, b) => b[1].cpu - a[1].cpu);
  }

  function show() {
    const all = sums(), most = Math.max(1, ...all.map(a => a[1].cpu)), top = all.slice(0, 12);
    if (!all.length) { put(box, h('p', {class: 'empty'}, 'No jobs in this time.')); return; }
    const course = shares(rows, KEYS[by], days, Date.now() / 1000), colour = k => course.parts.find(p => p.name === k)?.colour || 'var(--faint)';
    const plot = s('svg', {class: 'plot', height: String(top.length * 26), role: 'img', 'aria-label': `CPU hours by ${by}`});
    top.forEach(([k, o], i) => plot.append(s('text', {x: 0, y: i * 26 + 16}, k.slice(0, 22)),
      s('rect', {x: '18%', y: i * 26 + 4, height: 16, rx: 3, width: `${Math.max(.2, 66 * o.cpu / most)}%`, fill: colour(k)}),
      s('text', {x: `${19 + 66 * o.cpu / most}%`, y: i * 26 + 16}, `${count((o.cpu / 3600).toFixed(o.cpu < 36000 ? 2 : 0))} h`)));
    put(box, course.parts.length ? columns(`CPU hours by ${by} over time`, course, v => count((v / 3600).toFixed(v < 36000 ? 2 : 0))) : null,
      h('h2', {}, `CPU hours by ${by}`), plot, h('div', {style: {height: '14px'}}), table([by, {text: 'Jobs', num: true}, {text: 'CPU hours', num: true}, {text: 'GPU hours', num: true}, {text: 'Median wait', num: true},
      {text: '90 % waited less than', num: true}, {text: 'Failed', num: true}], all.slice(0, 200).map(([k, o]) => [k, count(o.jobs), (o.cpu / 3600).toFixed(2), o.gpu ? (o.gpu / 3600).toFixed(2) : '',
      wait(o.waits, .5), wait(o.waits, .9), o.failed || ''])),
    h('p', {class: 'note'}, 'Jobs that still wait count with the time that they have waited so far.'), all.length > 200 && h('p', {class: 'note'}, `The 200 with the most of ${count(all.length)}; the CSV has all.`));
  }

  function csv() {
    const cell = v => /[",\n]|^[=+@-]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : v;
    const text = [[by, 'jobs', 'cpu_seconds', 'gpu_seconds', 'median_wait', 'wait_90', 'failed'], ...sums().map(([k, o]) => [k, o.jobs, o.cpu, o.gpu, quantile(o.waits, .5), quantile(o.waits, .9), o.failed])]
      .map(r => r.map(cell).join(',')).join('\n');
    const a = h('a', {href: URL.createObjectURL(new Blob([text + '\n'], {type: 'text/csv'})), download: `${me.cluster || 'cluster'}-${by}-${days}d.csv`});
    a.click();
    URL.revokeObjectURL(a.href);
  }

  load();
  return {title: 'Reports', el: [h('div', {class: 'head'}, h('h1', {}, 'Reports'), h('div', {class: 'acts'}, h('button', {onclick: () => rows && csv()}, 'CSV'))),
    h('div', {class: 'chips'}, pick('Time', days, [[1, 'a day'], [7, 'a week'], [30, '30 days'], [90, '90 days']], v => { days = Number(v); keep(); load(); }),
      pick('By', by, Object.keys(KEYS).map(k => [k, k]), v => { by = v; keep(); if (rows) show(); })), over, box], stop: () => {}};
}
