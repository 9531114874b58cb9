// The machine as it is occupied: a cell for each node, in it a stripe for each job as wide as its share. One canvas, however many nodes.
import {h, put, say, add} from './dom.js';
import {nodes, placed, units, me, watch, jobs} from './store.js';
import {nodeState, jobName, hue, palette, plain, gpus, count, size} from './format.js';

const GAP = 2, HEAD = 22;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** What has which colour, kept while the page is open. */
const KNOWN = {user: new Map(), account: new Map(), partition: new Map(), job: new Map()};
const KEY = {user: j => j.user_name, account: j => j.account || '-', partition: j => j.partition, job: j => `j${j.job_id}`};

function colours(by) {
  const c = {};
  for (const k of ['idle', 'busy', 'bad', 'warn', 'wait', 'good', 'text', 'soft', 'faint', 'line', 'panel', 'accent', 'wait-soft']) c[k] = css(`--${k}`);
  const s = css('--hue-s'), l = css('--hue-l'), had = new Map(), key = KEY[by], seen = new Map();
  if (!key) return c;
  for (const there of placed.values()) for (const x of there.values()) seen.set(key(x.job), (seen.get(key(x.job)) || 0) + x.cpus);
  c.words = [...seen].sort((a, b) => b[1] - a[1]).map(([w]) => w);
  const own = palette(KNOWN[by], c.words);
  // jobs are many: the small ones differ from their neighbours, but palely
  const rest = word => by === 'job' ? `hsl(${hue(word).toFixed(0)} 14% ${l})` : c.faint;
  c.of = word => { let v = had.get(word); if (!v) had.set(word, v = KNOWN[by].has(word) ? plain(own(word), s, l) : rest(word)); return v; };
  return c;
}

const BY = {
  state: (share, c) => share.job.state === 'SUSPENDED' ? c.warn : share.job.flags.includes('COMPLETING') ? c.good : c.busy,
  user: (share, c) => c.of(share.job.user_name),
  account: (share, c) => c.of(share.job.account || '-'),
  partition: (share, c) => c.of(share.job.partition),
  job: (share, c) => c.of(`j${share.job.job_id}`),
};

function groups(by) {
  const all = new Map();
  for (const n of nodes.values()) {
    const keys = by === 'partition' ? (n.partitions.length ? n.partitions.slice(0, 1) : ['no partition'])
      : by === 'topology' ? [units.get(n.name) || 'no topology'] : [''];
    for (const k of keys) { if (!all.has(k)) all.set(k, []); all.get(k).push(n); }
  }
  return [...all].map(([name, list]) => ({name, list: list.sort((a, b) => a.order - b.order)}));
}

/** A cell's size such that all of them fill the place that there is, and no more of it than needed. */
function fit(width, total, head) {
  const room = Math.max(180, Math.min(head ? 620 : 340, innerHeight * (head ? .58 : .4)));
  let cell = Math.floor(Math.sqrt(width * room / Math.max(1, total)));
  return Math.max(5, Math.min(cell, total <= 24 ? 150 : 64));
}

export function occupancy({large = true} = {}) {
  const canvas = h('canvas', {tabindex: '0', role: 'application', 'aria-label': 'Occupancy of nodes. Arrow keys move from node to node, Enter opens it.'});
  const tip = h('div', {class: 'tip', hidden: true}), legend = h('div', {class: 'legend'});
  const pick = (label, key, values) => h('label', {class: 'legend'}, label, h('select', {onchange: e => { view[key] = e.target.value; save(); draw(); }},
    values.map(v => h('option', {value: v, selected: view[key] === v}, v))));
  let view = {colour: 'state', group: 'partition', show: 'scarcest'};
  try { Object.assign(view, JSON.parse(localStorage.getItem('muster-map') || '{}')); } catch { /* as usual then */ }
  const save = () => localStorage.setItem('muster-map', JSON.stringify(view));
  let cells = [], byName = new Map(), chosen = '', grid = null;

  const el = h('div', {class: 'panel'}, h('div', {class: 'head'}, h('h2', {}, 'Occupancy'), h('div', {class: 'acts'},
    pick('Colour', 'colour', ['state', 'user', 'account', 'partition', 'job', 'utilisation']), pick('Group', 'group', ['partition', 'topology', 'none']),
    pick('Show', 'show', ['scarcest', 'CPUs', 'GPUs', 'memory']))), h('div', {class: 'mapbox'}, canvas, tip), legend);

  function parts(n) {
    const there = placed.get(n.name), shares = there ? [...there.values()] : [];
    if (view.show === 'scarcest') {
      // of CPUs, GPUs and memory what the node has least left of
      const all = [['cpus', n.cpus], ['gpus', gpus(n.gres)], ['mem', n.real_memory]].map(([k, whole]) => ({k, whole, used: whole ? shares.reduce((a, x) => a + (x[k] || 0), 0) / whole : 0}));
      const {k, whole} = all.reduce((a, b) => b.used > a.used + 1e-9 ? b : a);
      return {whole, shares: shares.filter(x => x[k]).map(x => ({...x, part: x[k]}))};
    }
    if (view.show === 'GPUs') return {whole: gpus(n.gres), shares: shares.filter(x => x.gpus).map(x => ({...x, part: x.gpus}))};
    if (view.show === 'memory') return {whole: n.real_memory, shares: shares.map(x => ({...x, part: x.mem}))};
    return {whole: n.cpus, shares: shares.map(x => ({...x, part: x.cpus}))};
  }

  function draw() {
    const began = performance.now(), width = canvas.parentElement?.clientWidth || 0;
    if (!width) return;
    const c = colours(view.colour), all = groups(view.group), cell = fit(width, nodes.size, large), across = Math.max(1, Math.floor((width + GAP) / (cell + GAP)));
    const tall = cell >= 56 ? Math.min(cell, 74) : cell;
    let height = 0;
    for (const g of all) height += (g.name ? HEAD : 0) + Math.ceil(g.list.length / across) * (tall + GAP) + 8;
    const scale = devicePixelRatio || 1;
    canvas.width = width * scale; canvas.height = Math.max(1, height) * scale;
    canvas.style.height = `${height}px`;
    const g2 = canvas.getContext('2d');
    g2.scale(scale, scale);
    cells = []; byName = new Map(); grid = {cell, tall, across};
    let y = 0;
    for (const g of all) {
      if (g.name) {
        g2.fillStyle = c.soft; g2.font = '600 12px system-ui, sans-serif'; g2.textBaseline = 'middle';
        g2.fillText(g.name, 0, y + HEAD / 2 - 2);
        const w = g2.measureText(g.name).width;
        g2.font = '12px system-ui, sans-serif'; g2.fillStyle = c.faint;
        g2.fillText(`${count(g.list.length)} ${g.list.length === 1 ? 'node' : 'nodes'}`, w + 8, y + HEAD / 2 - 2);
        y += HEAD;
      }
      g.list.forEach((n, i) => {
        const x = (i % across) * (cell + GAP), top = y + Math.floor(i / across) * (tall + GAP);
        node(g2, c, n, x, top, cell, tall);
        byName.set(n.name, cells.length);
        cells.push({n, x, y: top});
      });
      y += Math.ceil(g.list.length / across) * (tall + GAP) + 8;
    }
    if (chosen && byName.has(chosen)) {
      const k = cells[byName.get(chosen)];
      g2.strokeStyle = c.accent; g2.lineWidth = 2; g2.strokeRect(k.x + 1, k.y + 1, cell - 2, tall - 2);
    }
    if (cells.length && !(canvas.dataset.nodes > 0)) performance.mark('muster-map');
    canvas.dataset.nodes = String(cells.length);
    canvas.dataset.groups = all.map(g => g.name).sort().join(' ');
    canvas.dataset.ms = (performance.now() - began).toFixed(1);
    words(c);
  }

  function node(g2, c, n, x, y, w, hgt) {
    const st = nodeState(n), {whole, shares} = parts(n), named = w >= 56, pad = named ? 5 : 0, top = named ? 17 : 0;
    const ground = st.text === 'reserved' ? c['wait-soft'] : c.idle;
    g2.fillStyle = named ? c.panel : ground;
    g2.fillRect(x, y, w, hgt);
    if (named) {
      g2.strokeStyle = c.line; g2.lineWidth = 1; g2.strokeRect(x + .5, y + .5, w - 1, hgt - 1);
      g2.fillStyle = c.text; g2.font = '11px system-ui, sans-serif'; g2.textBaseline = 'middle';
      g2.fillText(n.name, x + pad, y + 10, w - 2 * pad);
      g2.fillStyle = ground; g2.fillRect(x + pad, y + top, w - 2 * pad, hgt - top - pad);
    }
    const bx = x + pad, by = y + top, bw = w - 2 * pad, bh = hgt - top - pad;
    if (view.colour === 'utilisation') {
      const used = shares.reduce((a, b) => a + b.part, 0) / (whole || 1);
      g2.globalAlpha = .15 + .85 * Math.min(1, used);
      g2.fillStyle = c.busy;
      if (used > 0) g2.fillRect(bx, by, bw, bh);
      g2.globalAlpha = 1;
    } else {
      let at = 0;
      for (const share of shares) {
        const part = Math.min(1 - at, share.part / (whole || 1));
        g2.fillStyle = (BY[view.colour] || BY.state)(share, c);
        const px = bw * at, pw = bw * part;
        g2.fillRect(bx + px, by, pw > 3 ? pw - (bw > 20 ? 1 : 0) : pw, bh);
        at += part;
      }
    }
    if (st.kind === 'bad' || st.kind === 'warn') {
      // by shape as well: a cross for what is gone, a slash for what is to be left alone
      g2.strokeStyle = st.kind === 'bad' ? c.bad : c.warn; g2.lineWidth = Math.max(1, Math.min(2.5, w / 12));
      g2.beginPath(); g2.moveTo(bx + 1, by + bh - 1); g2.lineTo(bx + bw - 1, by + 1);
      if (st.kind === 'bad') { g2.moveTo(bx + 1, by + 1); g2.lineTo(bx + bw - 1, by + bh - 1); }
      g2.stroke();
    }
  }

  function words(c) {
    const item = (colour, text) => h('span', {}, h('i', {style: {background: colour}}), text);
    const out = [];
    if (view.colour === 'state') out.push(item(c.busy, 'running'), item(c.warn, 'suspended'), item(c.good, 'completing'));
    else if (view.colour === 'utilisation') out.push(item(c.busy, 'the darker, the more is taken'));
    else {
      c.words.slice(0, 10).forEach(k => out.push(item(c.of(k), k.replace(/^j(?=\d+$)/, 'job '))));
      if (c.words.length > 10 && view.colour !== 'job') out.push(item(c.faint, 'others'));
    }
    if (view.show === 'scarcest') out.push(h('span', {}, 'a node is as full as what it has least left of: CPUs, GPUs or memory'));
    out.push(item(c.idle, 'free'), [...nodes.values()].some(n => nodeState(n).text === 'reserved') && item(c['wait-soft'], 'reserved'), h('span', {}, '✕ down'), h('span', {}, '⁄ drained'));
    put(legend, out);
  }

  const about = n => {
    const st = nodeState(n), there = [...(placed.get(n.name)?.values() || [])], g = gpus(n.gres);
    return [`${n.name}: ${st.text}`, `${n.alloc_cpus} of ${n.cpus} CPUs, ${size(n.alloc_memory)} of ${size(n.real_memory)}${g ? `, ${gpus(n.gres_used)} of ${g} GPUs` : ''}`,
      n.reason && `Reason: ${n.reason}`, ...there.slice(0, 6).map(x => `${jobName(x.job)} ${x.job.name}, ${x.job.user_name}: ${x.cpus} CPUs`),
      there.length > 6 && `and ${there.length - 6} more`].filter(Boolean);
  };

  function hit(e) {
    const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    const found = grid && cells.find(k => x >= k.x && x < k.x + grid.cell && y >= k.y && y < k.y + grid.tall);
    if (!found) return null;
    const {whole, shares} = parts(found.n), pad = grid.cell >= 56 ? 5 : 0;
    let at = (x - found.x - pad) / (grid.cell - 2 * pad) * whole;
    for (const share of shares) { if (at >= 0 && at < share.part) return {...found, share, px: x, py: y}; at -= share.part; }
    return {...found, px: x, py: y};
  }

  canvas.addEventListener('mousemove', e => {
    const k = hit(e);
    tip.hidden = !k;
    if (!k) return;
    put(tip, about(k.n).map((t, i) => h('div', {class: i ? 'note' : ''}, t)));
    tip.style.left = `${Math.min(k.px + 14, canvas.clientWidth - 240)}px`;
    tip.style.top = `${k.py + 14}px`;
  });
  canvas.addEventListener('mouseleave', () => { tip.hidden = true; });
  canvas.addEventListener('click', e => {
    const k = hit(e);
    if (k) location.hash = k.share && grid.cell >= 14 ? `#/job/${k.share.job.job_id}` : `#/node/${encodeURIComponent(k.n.name)}`;
  });
  canvas.addEventListener('keydown', e => {
    const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: grid?.across, ArrowUp: -grid?.across}[e.key];
    if (e.key === 'Enter' && chosen) location.hash = `#/node/${encodeURIComponent(chosen)}`;
    if (!step || !cells.length) return;
    e.preventDefault();
    const at = Math.max(0, Math.min(cells.length - 1, (byName.get(chosen) ?? -step) + step));
    chosen = cells[at].n.name;
    say(about(cells[at].n).join('. '));
    draw();
  });
  const size_ = new ResizeObserver(() => draw());
  size_.observe(el);
  const stop = watch(draw);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', draw);
  document.addEventListener('muster-theme', draw);
  return {el, draw, stop: () => { stop(); size_.disconnect(); dark.removeEventListener('change', draw); document.removeEventListener('muster-theme', draw); }};
}
