// Values as Slurm writes them.
const two = n => String(n).padStart(2, '0');

export function clock(seconds) {
  const t = Math.max(0, Math.floor(seconds)), d = Math.floor(t / 86400), r = t % 86400;
  const hms = `${two(Math.floor(r / 3600))}:${two(Math.floor(r / 60) % 60)}:${two(r % 60)}`;
  return d > 0 ? `${d}-${hms}` : hms.replace(/^00:/, '');
}

export function when(seconds) {
  if (!seconds) return '';
  const d = new Date(seconds * 1000), today = new Date().toDateString() === d.toDateString();
  return today ? `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`
    : `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`;
}

/** A moment on an axis. */
export function tick(seconds) {
  const d = new Date(seconds * 1000);
  return d.getHours() + d.getMinutes() === 0 ? d.toLocaleDateString('en-GB', {day: 'numeric', month: 'short'}) : `${two(d.getHours())}:${two(d.getMinutes())}`;
}

export const limit = minutes => minutes < 0 ? 'unlimited' : clock(minutes * 60);

export function size(mib) {
  let v = mib, u = 0;
  while (v >= 1024 && u < 3) { v /= 1024; u++; }
  return `${v >= 100 || Number.isInteger(v) ? Math.round(v) : v.toFixed(1)} ${['MiB', 'GiB', 'TiB', 'PiB'][u]}`;
}

/** Mebibytes of 500M, 4G, 1.5T; 0 where there is none. */
export function mebibytes(text) {
  const m = /^([0-9.]+)([KMGTP]?)$/.exec(text || '');
  return m ? Number(m[1]) * 1024 ** ('KMGTP'.indexOf(m[2] || 'M') - 1) : 0;
}

export const count = n => Number(n).toLocaleString('en-GB');
export const percent = (a, b) => b > 0 ? `${Math.round(100 * a / b)}\u00a0%` : '';

/** cpu=4,mem=1G,gres/gpu=2 */
export function tres(text) {
  const out = {};
  for (const item of (text || '').split(',')) { const at = item.indexOf('='); if (at > 0) out[item.slice(0, at)] = item.slice(at + 1); }
  return out;
}

/** How many GPUs a text about devices has: gpu:a100:4(S:0-1),gpu:2 and gres/gpu=2. */
export function gpus(text) {
  let n = 0;
  for (const item of (text || '').replace(/\([^)]*\)/g, '').split(',')) {
    const m = /^gpu(?::[^:]*?)?:(\d+)$/.exec(item) || /^gres\/gpu=(\d+)$/.exec(item);
    if (m) n += Number(m[1]);
  }
  return n;
}

/** Names of a host list: n[1-3,7]-ib[0-1],x. */
export function hosts(text) {
  const out = [];
  for (const part of (text || '').split(/,(?![^[]*\])/)) if (part) grow(part, '', out);
  return out;
}

function grow(part, prefix, out) {
  const open = part.indexOf('['), close = part.indexOf(']', open);
  if (open < 0 || close < 0) { out.push(prefix + part); return; }
  for (const range of part.slice(open + 1, close).split(',')) {
    const [a, b = a] = range.split('-');
    for (let i = Number(a); i <= Number(b); i++) grow(part.slice(close + 1), prefix + part.slice(0, open) + String(i).padStart(a.length, '0'), out);
  }
}

export function range(ids) {
  let n = 0;
  for (const r of (ids || '').split(',')) { if (!r) continue; const [a, b = a] = r.split('-').map(Number); n += b - a + 1; }
  return n;
}

const SHOWN = ['COMPLETING', 'CONFIGURING', 'POWERING_UP_NODE', 'STAGE_OUT', 'SIGNALING', 'STOPPED', 'REQUEUE_HOLD', 'SPECIAL_EXIT'];
const KINDS = {PENDING: 'wait', RUNNING: 'busy', SUSPENDED: 'warn', COMPLETED: 'good', CANCELLED: 'warn', FAILED: 'bad', TIMEOUT: 'bad', NODE_FAIL: 'bad',
  PREEMPTED: 'warn', BOOT_FAIL: 'bad', DEADLINE: 'bad', OUT_OF_MEMORY: 'bad'};

export function jobState(job) {
  const flag = job.flags.find(f => SHOWN.includes(f));
  return {text: (flag && job.state === 'RUNNING' || flag === 'COMPLETING' ? flag : job.state).toLowerCase().replaceAll('_', ' '), kind: KINDS[job.state] || 'idle'};
}

export function nodeState(node) {
  const f = node.flags, base = node.state.toLowerCase();
  if (f.includes('NOT_RESPONDING') || base === 'down' || base === 'unknown' || base === 'error') return {text: f.includes('DRAIN') ? `${base} drained` : base, kind: 'bad'};
  if (f.includes('DRAIN')) return {text: node.alloc_cpus > 0 ? 'draining' : 'drained', kind: 'warn'};
  if (f.includes('POWERED_DOWN') || f.includes('POWERING_DOWN') || f.includes('POWERING_UP')) return {text: f.find(x => x.startsWith('POWER')).toLowerCase().replace('_', ' '), kind: 'idle'};
  if (f.includes('MAINT')) return {text: 'maint', kind: 'warn'};
  if (f.includes('RESERVED') && base === 'idle') return {text: 'reserved', kind: 'wait'};
  return {text: base, kind: base === 'idle' ? 'idle' : 'busy'};
}

export const jobName = job => job.array_job_id ? `${job.array_job_id}_${job.array_task_string ? `[${job.array_task_string}]` : job.array_task_id}` : String(job.job_id);

export function elapsed(job, now) {
  if (job.state === 'PENDING' || !job.start_time) return 0;
  const over = !['RUNNING', 'SUSPENDED'].includes(job.state);
  return (over ? job.end_time : now) - job.start_time;
}

/** A colour for a word beyond the palette. */
export function hue(word) {
  let x = 2166136261;
  for (let i = 0; i < word.length; i++) x = Math.imul(x ^ word.charCodeAt(i), 16777619);
  return ((x >>> 0) * 137.508) % 360;
}

/** Hue, and lightness beside the theme's: colours that differ for most eyes. */
const PALETTE = [[210, 0], [28, 4], [152, -8], [340, 4], [52, -2], [268, 6], [185, 2], [8, -12], [95, -4], [300, -10]];

/**
 * Colours of the first words, each another one, as far as the palette goes. known keeps them from one call to the next, so that a word keeps its
 * colour while it is among the first; it starts with that of its hash, so that most words have the same on all pages.
 */
export function palette(known, words) {
  const first = new Set(words.slice(0, PALETTE.length));
  for (const w of [...known.keys()]) if (!first.has(w)) known.delete(w);
  const taken = new Set(known.values());
  for (const w of first) {
    if (known.has(w)) continue;
    let i = Math.floor(hue(w)) % PALETTE.length;
    while (taken.has(i)) i = (i + 1) % PALETTE.length;
    taken.add(i);
    known.set(w, i);
  }
  return w => known.has(w) ? `hsl(${PALETTE[known.get(w)][0]} var(--hue-s) calc(var(--hue-l) + ${PALETTE[known.get(w)][1]}%))` : 'var(--faint)';
}

/** The same for a canvas, which knows no variables. @param s, l the theme's saturation and lightness, in percent */
export const plain = (colour, s, l) => colour.replace('var(--hue-s)', s).replace(/calc\(var\(--hue-l\) \+ (-?\d+)%\)/, (_, more) => `${parseFloat(l) + Number(more)}%`);
