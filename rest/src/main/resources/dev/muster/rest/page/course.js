// What was used over time: stacked columns, one for each span.
import {h, s, put, table} from './dom.js';
import {ask} from './api.js';
import {count, tick, palette} from './format.js';

/** By days looked back on: length and number of spans. */
export const SPANS = {1: [3600, 24], 7: [6 * 3600, 28], 30: [86400, 30], 90: [7 * 86400, 13]};
const MANY = 6, H = 140;

/** Where the spans begin: on the hour or at midnight of this place, so that the last one is not over yet. */
export function since(days, now) {
  const [step, n] = SPANS[days], d = new Date(now * 1000);
  d.setMinutes(0, 0, 0);
  if (step > 3600) d.setHours(step < 86400 ? Math.floor(d.getHours() / 6) * 6 : 0);
  return Math.floor(d / 1000) - (n - 1) * step;
}

/** CPU seconds of jobs in each span, by key: the largest keys, and others together. */
export function shares(rows, key, days, now) {
  const [step, n] = SPANS[days], from = since(days, now), by = new Map();
  for (const r of rows) {
    const start = r.start_time, end = r.end_time || now, cpus = r.cpus;
    // without the time it was suspended for
    const part = end > start ? Math.min(1, r.elapsed / (end - start)) : 0;
    if (!start || !cpus) continue;
    const k = key(r) || '-';
    if (!by.has(k)) by.set(k, new Array(n).fill(0));
    for (let i = Math.max(0, Math.floor((start - from) / step)); i < n && from + i * step < end; i++)
      by.get(k)[i] += part * cpus * Math.max(0, Math.min(end, from + (i + 1) * step) - Math.max(start, from + i * step));
  }
  const sum = v => v.reduce((a, b) => a + b, 0), all = [...by].sort((a, b) => sum(b[1]) - sum(a[1])), top = all.slice(0, MANY), rest = all.slice(MANY);
  if (rest.length) top.push(['others', rest.reduce((a, [, v]) => a.map((x, i) => x + v[i]), new Array(n).fill(0))]);
  const of = palette(new Map(), all.slice(0, MANY).map(([name]) => name));
  return {from, step, parts: top.map(([name, values]) => ({name, values, colour: of(name)}))};
}

/** parts: {name, values, colour}; a value for each span, most: how high the plot is if anything is known of that. */
export function columns(title, {from, step, parts}, say, most) {
  const n = parts[0]?.values.length || 0, sums = Array.from({length: n}, (_, i) => parts.reduce((a, p) => a + p.values[i], 0));
  const top = Math.max(most || 0, ...sums, 1e-9), peak = sums.indexOf(Math.max(...sums));
  const time = i => `${new Date((from + i * step) * 1000).toLocaleDateString('en-GB', {day: 'numeric', month: 'short'})}${step < 86400 ? ` ${tick(from + i * step).match(/:/) ? tick(from + i * step) : '00:00'}` : ''}`;
  const shown = h('span', {class: 'note'}), plot = s('svg', {class: 'plot columns', viewBox: `0 0 ${n * 10} ${H}`, preserveAspectRatio: 'none', height: String(H), role: 'img',
    'aria-label': `${title}, ${n} spans from ${time(0)}: most at ${time(peak)} with ${say(sums[peak])}`});
  for (let i = 0; i < n; i++) {
    let y = H;
    for (const p of parts) {
      const height = H * p.values[i] / top;
      y -= height;
      if (height > 0) plot.append(s('rect', {x: i * 10 + 1, y: y.toFixed(2), width: 8, height: height.toFixed(2), style: {fill: p.colour}}));
    }
  }
  const tell = i => put(shown, i === undefined ? `at most ${say(sums[peak])}` : `${time(i)}: ${parts.filter(p => p.values[i] > 0).map(p => `${p.name} ${say(p.values[i])}`).join(', ') || 'nothing'}`);
  plot.addEventListener('pointermove', e => { const r = plot.getBoundingClientRect(); tell(Math.max(0, Math.min(n - 1, Math.floor(n * (e.clientX - r.left) / r.width)))); });
  plot.addEventListener('pointerleave', () => tell());
  tell();
  const marks = [0, Math.floor(n / 2), n - 1].map(i => h('span', {}, time(i)));
  return h('div', {class: 'course'}, h('div', {class: 'head'}, h('h2', {}, title), shown), plot, h('div', {class: 'scale note', 'aria-hidden': 'true'}, marks),
    h('div', {class: 'legend'}, parts.map(p => h('span', {}, h('i', {style: {background: p.colour}}), p.name))),
    h('details', {'aria-label': `${title}, as a table`}, h('summary', {}, 'As a table'), table(['From', ...parts.map(p => ({text: p.name, num: true}))], sums.map((_, i) => [time(i), ...parts.map(p => say(p.values[i]))]))));
}

const KINDS = [['allocated', 2, 'var(--busy)'], ['planned', 6, 'var(--wait)'], ['idle', 5, 'var(--idle)'], ['down', 3, 'var(--bad)'], ['planned down', 4, 'var(--warn)']];

/** How much of the cluster was in use, as accounting knows: on average over the time of each span in which it was there. */
export async function utilization(box, days) {
  const [step, n] = SPANS[days], from = since(days, Date.now() / 1000);
  put(box, h('p', {class: 'note'}, 'Loading …'));
  try {
    const {series} = await ask(`/muster/v1/utilization?from=${from}&step=${step}&spans=${n}`);
    put(box, ['cpu', 'gres/gpu'].filter(t => series[t]?.some(r => r[7] > 0)).map(t => {
      const at = new Map(series[t].map(r => [r[0], r]));
      const parts = KINDS.map(([name, i, colour]) => ({name, colour, values: Array.from({length: n}, (_, k) => { const r = at.get(from + k * step); return r && r[7] > 0 ? r[8] * r[i] / r[7] : 0; })}))
        .filter(p => p.name === 'allocated' || p.values.some(v => v > 0));
      return columns(`${t === 'cpu' ? 'CPUs' : 'GPUs'} of the cluster over time`, {from, step, parts}, v => count(v.toFixed(v < 10 ? 2 : 0)));
    }));
    if (!box.children.length) put(box, h('p', {class: 'note'}, 'Accounting knows of no time in which the cluster was there.'));
  } catch (e) {
    put(box, e.status === 503 ? h('p', {class: 'note'}, 'The use of the whole cluster over time is kept by slurmdbd, which is not configured or does not answer.')
      : h('p', {class: 'error', role: 'alert'}, e.message));
  }
}
