// What a job used over time: from what its nodes saw of its steps, added up, and drawn as lines.
import {h, s, put} from './dom.js';
import {ask} from './api.js';
import {clock, size, tick, count} from './format.js';

const BUCKETS = 120;
const KINDS = [
  {id: 'cpu', text: 'CPUs busy', rate: 1, scale: 1 / 1000, say: v => v.toFixed(v < 10 ? 2 : 1)},
  {id: 'mem', text: 'Memory', at: 2, scale: 1 / 1024, say: v => size(Math.round(v * 10) / 10)},
  {id: 'read', text: 'Read each second', rate: 3, scale: 1 / 1048576, say: v => size(Math.round(v * 10) / 10)},
  {id: 'write', text: 'Written each second', rate: 4, scale: 1 / 1048576, say: v => size(Math.round(v * 10) / 10)},
];

/** All series together, in equal spans of time. A value is that of the look at the end of its span; amounts are what was added since the look before. */
export function added(series, every) {
  const all = series.filter(x => x.points.length > 1);
  if (!all.length) return null;
  const from = Math.min(...all.map(x => x.points[0][0])), to = Math.max(...all.map(x => x.points.at(-1)[0]));
  const n = Math.max(1, Math.min(BUCKETS, Math.floor((to - from) / Math.max(1, every)))), width = (to - from) / n;
  const out = {from, to, values: KINDS.map(() => new Array(n).fill(0))};
  for (const {points} of all) {
    let at = 1;
    for (let i = 0; i < n; i++) {
      const middle = from + (i + .5) * width;
      if (middle < points[0][0] || middle > points.at(-1)[0]) continue;
      while (at < points.length - 1 && points[at][0] < middle) at++;
      const a = points[at - 1], b = points[at], span = Math.max(1, b[0] - a[0]);
      KINDS.forEach((k, j) => { out.values[j][i] += k.rate ? Math.max(0, b[k.rate] - a[k.rate]) * k.scale / span : b[k.at] * k.scale; });
    }
  }
  return out;
}

/** A line over time with what it may be at most. */
function line(kind, values, from, to, most) {
  const H = 74, top = Math.max(...values, most && most < 4 * Math.max(...values) ? most : 0, 1e-9), n = values.length;
  const x = i => (100 * (i + .5) / n).toFixed(2), y = v => (H - 6 - (H - 16) * v / top).toFixed(1);
  const svg = s('svg', {class: 'plot lines', viewBox: `0 0 100 ${H}`, preserveAspectRatio: 'none', height: String(H), role: 'img',
    'aria-label': `${kind.text}: at most ${kind.say(Math.max(...values))}, ${kind.say(values.at(-1))} at last`});
  const points = `0,${y(values[0])} ${values.map((v, i) => `${x(i)},${y(v)}`).join(' ')} 100,${y(values.at(-1))}`;
  svg.append(s('polygon', {points: `0,${H - 6} ${points} 100,${H - 6}`, class: 'area'}), s('polyline', {points, class: 'line'}));
  if (most && most <= top) svg.append(s('line', {class: 'most', x1: 0, x2: 100, y1: y(most), y2: y(most)}));
  const shown = h('span', {class: 'note'});
  const tell = i => put(shown, i === undefined ? `at most ${kind.say(Math.max(...values))}${most ? ` of ${kind.say(most)}` : ''}`
    : `${tick(from + (i + .5) * (to - from) / n)}  ${kind.say(values[i])}`);
  svg.addEventListener('pointermove', e => { const r = svg.getBoundingClientRect(); tell(Math.max(0, Math.min(n - 1, Math.floor(n * (e.clientX - r.left) / r.width)))); });
  svg.addEventListener('pointerleave', () => tell());
  tell();
  return h('div', {class: 'use', data: {kind: kind.id}}, h('div', {class: 'head'}, h('strong', {}, kind.text), shown), svg);
}

/** Draws it, and again each half minute while the job runs. @return what ends that */
export function use(box, job, memory) {
  let id = 0, over = false;
  async function load() {
    let r;
    try { r = await ask(`/muster/v1/jobs/${job.job_id}/usage`); } catch (e) { put(box, h('p', {class: 'note'}, e.message)); return; }
    if (over) return;
    const sum = added(r.series, r.every);
    const notes = r.without.length ? h('p', {class: 'note'}, r.without.join('; ')) : null;
    if (!sum) {
      put(box, h('p', {class: 'note'}, r.every ? `Nothing to draw yet: its tasks are looked at each ${count(r.every)} s.` : 'Nothing is sampled: JobAcctGatherType is not set, or JobAcctGatherFrequency is 0.'), notes);
    } else {
      const most = {cpu: job.cpus, mem: memory};
      put(box, KINDS.map((k, i) => Math.max(...sum.values[i]) > .05 || i < 2 ? line(k, sum.values[i], sum.from, sum.to, most[k.id]) : null),
        h('p', {class: 'note'}, `${clock(sum.to - sum.from)} on ${count(new Set(r.series.map(x => x.node)).size)} node${new Set(r.series.map(x => x.node)).size === 1 ? '' : 's'}, looked at each ${count(r.every)} s.`), notes);
    }
    if (['RUNNING', 'SUSPENDED'].includes(r.state)) id = setTimeout(load, 1000 * Math.min(30, Math.max(2, r.every || 30)));
  }
  load();
  return () => { over = true; clearTimeout(id); };
}
