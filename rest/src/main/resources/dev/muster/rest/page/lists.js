// Partitions, reservations, the plan, and who has had how much.
import {h, s, put, table, bar, facts, asCommand} from './dom.js';
import {ask} from './api.js';
import {nodes, jobs, now, watch, onList, onPass, me} from './store.js';
import {count, limit, when, tick, percent, gpus, mebibytes} from './format.js';

const API = '/slurm/v0.0.45';
const num = v => v && typeof v === 'object' ? (v.infinite ? -1 : v.set ? v.number : 0) : v || 0;
const words = v => Array.isArray(v) ? v.join(' ').toLowerCase() : String(v || '').toLowerCase();

function page(title, command, load, list, ...more) {
  const box = h('div', {class: 'panel'}, h('p', {class: 'note'}, 'Loading …'));
  const again = () => load(box).catch(e => put(box, h('p', {class: 'error', role: 'alert'}, e.message)));
  again();
  const stop = list ? onList(name => { if (name === list) again(); }) : () => {};
  return {title, el: [h('div', {class: 'head'}, h('h1', {}, title), h('div', {class: 'acts'}, asCommand(() => command))), ...more, box], stop};
}

export function partitions() {
  let rows = [];
  const show = box => {
    const use = new Map();
    for (const n of nodes.values()) for (const p of n.partitions) {
      const u = use.get(p) || {cpus: 0, busy: 0, nodes: 0, idle: 0, gpus: 0, gb: 0};
      u.cpus += n.cpus; u.busy += n.alloc_cpus; u.nodes++; u.gpus += gpus(n.gres); u.gb += gpus(n.gres_used);
      if (n.state === 'IDLE' && !n.flags.some(f => ['DRAIN', 'RESERVED', 'MAINT', 'NOT_RESPONDING'].includes(f))) u.idle++;
      use.set(p, u);
    }
    const queue = new Map();
    for (const j of jobs.values()) if (j.state === 'PENDING' || j.state === 'RUNNING') for (const p of j.partition.split(',')) {
      const q = queue.get(p) || {PENDING: 0, RUNNING: 0};
      q[j.state]++;
      queue.set(p, q);
    }
    put(box, table(['Partition', 'State', {text: 'Nodes', num: true}, {text: 'Free', num: true}, {text: 'CPUs in use', num: true}, '', {text: 'GPUs', num: true}, {text: 'Running', num: true},
      {text: 'Waiting', num: true}, {text: 'Longest', num: true}], rows.map(p => {
      const u = use.get(p.name) || {cpus: 0, busy: 0, nodes: 0, idle: 0, gpus: 0, gb: 0}, q = queue.get(p.name) || {PENDING: 0, RUNNING: 0};
      return [h('a', {href: `#/queue?q=partition:${encodeURIComponent(p.name)}`}, p.name), words(p.partition?.state), count(u.nodes), count(u.idle), `${count(u.busy)} / ${count(u.cpus)}`,
        h('div', {style: {width: '120px'}}, bar([u.cpus ? u.busy / u.cpus : 0])), u.gpus ? `${u.gb} / ${u.gpus}` : '', count(q.RUNNING), count(q.PENDING),
        limit(p.maximums?.time?.infinite ? -1 : num(p.maximums?.time) || -1)];
    })));
  };
  let target;
  const p = page('Partitions', 'sinfo', async box => { target = box; rows = (await ask(`${API}/partitions`)).partitions; show(box); }, 'partitions');
  const stop = watch(() => target && rows.length && show(target));
  return {...p, stop: () => { stop(); p.stop(); }};
}

/** Spans on a scale of time. rows: {label, from, to, colour, title, href} */
export function spans(rows, from, to, at) {
  // where there is little room, names stand above their bars
  const tight = matchMedia('(max-width: 720px)').matches, H = tight ? 36 : 22, left = tight ? 0 : 18, wide = 100 - left, top = 24, el = s('svg', {class: 'plot', height: String(top + rows.length * H + 6), role: rows.some(r => r.href) ? 'group' : 'img', 'aria-label': `${rows.length} spans of time`});
  const x = t => `${left + wide * Math.max(0, Math.min(1, (t - from) / (to - from)))}%`;
  const step = [300, 900, 3600, 10800, 21600, 86400, 172800, 604800].find(d => (to - from) / d <= 9) || 2592000;
  const zone = new Date().getTimezoneOffset() * 60;
  for (let t = Math.ceil((from - zone) / step) * step + zone; t <= to; t += step) {
    el.append(s('line', {class: 'grid-line', x1: x(t), x2: x(t), y1: 16, y2: '100%'}), s('text', {x: x(t), y: 11, 'text-anchor': (t - from) / (to - from) > .95 ? 'end' : 'middle'}, tick(t)));
  }
  rows.forEach((r, i) => {
    const y = top + i * H, a = Math.max(from, r.from), b = Math.min(to, r.to);
    const g = s('g', {}, s('title', {}, r.title), s('text', {x: tight ? 12 : 0, y: y + 13}, r.label),
      s('rect', {x: x(a), y: tight ? y + 18 : y + 3, width: `${Math.max(.3, wide * (b - a) / (to - from))}%`, height: 14, rx: 3, fill: r.colour}));
    if (r.href) { const link = s('a', {href: r.href, 'aria-label': r.title}); link.append(g); el.append(link); } else el.append(g);
  });
  el.append(s('line', {x1: x(at), x2: x(at), y1: 14, y2: '100%', stroke: 'var(--accent)', 'stroke-width': 1.5}));
  return el;
}

export function reservations() {
  return page('Reservations', 'scontrol show reservation', async box => {
    const all = (await ask(`${API}/reservations`)).reservations, t = now();
    if (!all.length) { put(box, h('p', {class: 'empty'}, 'There are no reservations.')); return; }
    const from = t - 86400, to = Math.min(t + 28 * 86400, Math.max(t + 2 * 86400, ...all.map(r => num(r.end_time) + 3600)));
    put(box, spans(all.map(r => ({label: r.name, from: num(r.start_time), to: num(r.end_time), colour: num(r.start_time) <= t ? 'var(--busy)' : 'var(--wait)',
      title: `${r.name}: ${when(num(r.start_time))} to ${when(num(r.end_time))}, ${r.node_list}`})), from, to, t),
    table(['Name', 'From', 'To', 'Nodes', 'Users', 'Accounts', 'Flags'], all.map(r => [r.name, when(num(r.start_time)), when(num(r.end_time)), r.node_list, r.users, r.accounts, words(r.flags)])));
  }, 'reservations');
}

export function plan() {
  const box = h('div', {class: 'panel'});
  let asked = 0, due = 0, stopped = false;
  async function load() {
    due = 0;
    asked = Date.now();
    let r;
    try { r = await ask('/muster/v1/plan?hours=168'); } catch (e) { put(box, h('p', {class: 'error', role: 'alert'}, e.message)); return; }
    if (!stopped) draw(r);
  }
  // as the cluster changes, but a plan of many jobs is long
  const show = () => { if (!due && !stopped) due = setTimeout(load, Math.max(0, 3000 - (Date.now() - asked))); };
  function draw(r) {
    const t = now(), rows = r.jobs.filter(j => j.job_id).map(j => ({j, from: j.start_time, planned: !j.running,
      to: j.end_time || (j.running ? t + 86400 : j.start_time + 3600)}));
    rows.sort((a, b) => b.planned - a.planned || (a.planned ? a.from - b.from : a.to - b.to));
    const some = [...rows.filter(r => r.planned).slice(0, 60), ...rows.filter(r => !r.planned).slice(0, 60)];
    if (!some.length) { put(box, h('p', {class: 'empty'}, 'Nothing runs, and nothing is planned.')); return; }
    const from = Math.max(t - 3600, Math.min(t - 120, ...some.map(r => r.from))), to = Math.min(t + 3 * 86400, Math.max(t + 3600, ...some.map(r => r.to)));
    put(box, h('div', {class: 'legend'}, h('span', {}, h('i', {style: {background: 'var(--busy)'}}), 'runs, up to its limit'), h('span', {}, h('i', {style: {background: 'var(--wait)'}}), 'planned'),
      h('span', {}, `${count(rows.filter(x => !x.planned).length)} run, ${count(r.planned)} of ${count(r.waiting)} that wait have a time`),
      some.length < rows.length + r.more && h('span', {}, `${count(some.length)} of ${count(rows.length + r.more)} are drawn: the next to start and the next to end`)),
    spans(some.map(r => ({label: `${r.j.job} ${r.j.name}`.slice(0, 24), from: r.from, to: r.to, colour: r.planned ? 'var(--wait)' : 'var(--busy)', href: `#/job/${r.j.job_id}`,
      title: `${r.j.job} ${r.j.name}, ${r.j.user_name}: ${when(r.from)} to ${when(r.to)} at most, ${r.j.nodes}`})), from, to, t));
  }
  const stops = [watch(show), onPass(show)];
  show();
  return {title: 'Plan', el: [h('div', {class: 'head'}, h('h1', {}, 'Plan'), h('div', {class: 'acts'}, asCommand(() => 'muster plan'))), box],
    stop: () => { stopped = true; clearTimeout(due); stops.forEach(f => f()); }};
}

const GROUPS = [['GrpJobs', r => r.running], ['MaxJobs', r => r.running], ['GrpSubmitJobs', r => r.submitted], ['MaxSubmitJobs', r => r.submitted], ['GrpJobsAccrue', r => r.accruing],
  ['MaxJobsAccrue', r => r.accruing], ['GrpWall', r => r.wall_minutes]];
const OF_TRES = [['GrpTRES', r => r.tres], ['GrpTRESRunMins', r => r.tres_run_minutes], ['GrpTRESMins', r => r.tres_minutes]];
const LIMIT_WORDS = {GrpJobs: 'running jobs', MaxJobs: 'running jobs', GrpSubmitJobs: 'jobs in the queue', MaxSubmitJobs: 'jobs in the queue', GrpJobsAccrue: 'jobs that grow older',
  MaxJobsAccrue: 'jobs that grow older', GrpWall: 'minutes of jobs', GrpTRES: 'in use', GrpTRESRunMins: 'minutes that running jobs may still use', GrpTRESMins: 'minutes used'};

/** A limit with what counts against it: [name, what, use, most]; those of single jobs and users have no use here. */
export function counted(row, isUser) {
  const out = [], rest = [], find = name => Object.keys(row.limits).find(k => k.toLowerCase() === name.toLowerCase());
  const seen = new Set();
  for (const [name, use] of GROUPS) {
    const k = find(name);
    // of accounts and QOS, Max… is for each user
    if (!k || name.startsWith('Max') && !isUser) continue;
    seen.add(k);
    out.push([k, LIMIT_WORDS[name], use(row), Number(row.limits[k])]);
  }
  for (const [name, use] of OF_TRES) {
    const k = find(name);
    if (!k) continue;
    seen.add(k);
    for (const item of row.limits[k].split(',')) {
      const at = item.lastIndexOf('='), tres = item.slice(0, at), most = tres === 'mem' && name === 'GrpTRES' ? mebibytes(item.slice(at + 1)) : Number(item.slice(at + 1));
      out.push([`${k}=${tres}`, `${tres} ${LIMIT_WORDS[name]}`, use(row)[tres] || 0, most]);
    }
  }
  for (const [k, v] of Object.entries(row.limits)) if (!seen.has(k) && /^(Grp|Max|Min)/i.test(k)) rest.push(`${k}=${v}`);
  return {out, rest};
}

export function limits() {
  let again = () => {};
  const p = page('Limits', 'scontrol show assoc_mgr', async box => {
    again = () => draw(box).catch(() => {});
    await draw(box);
  });
  async function draw(box) {
    const all = await ask('/muster/v1/limits');
    const list = (title, rows, name, isUser) => {
      const shown = rows.map(r => [r, counted(r, isUser(r))]).filter(([, c]) => c.out.length || c.rest.length);
      return [h('h2', {}, title), shown.length ? table(['', 'Limit', {text: 'Now', num: true}, {text: 'At most', num: true}, ''], shown.flatMap(([r, c]) => [
        ...c.out.map(([k, what, use, most], i) => [i ? '' : name(r), h('span', {title: k}, what), count(Math.round(use)), count(most), h('div', {style: {width: '160px'}}, bar([most > 0 ? Math.min(1, use / most) : 1,
          use >= most ? 'down' : use > .8 * most ? 'warn' : 'good']))]),
        ...(c.rest.length ? [[c.out.length ? '' : name(r), h('span', {class: 'note'}, c.rest.join('  ')), '', '', '']] : [])])) : h('p', {class: 'note'}, 'None are set.')];
    };
    put(box, all.enforced ? null : h('p', {class: 'note'}, 'These limits are not enforced here: AccountingStorageEnforce has no limits.'), list('QOS', all.qos, r => h('strong', {}, r.name), () => false),
      list('Associations', all.associations, r => h('span', {class: 'tree', style: {'--depth': String(r.depth)}}, r.user_name ? `${r.user_name}${r.partition ? ` in ${r.partition}` : ''}` : h('strong', {}, r.account)), r => !!r.user_name));
  }
  let due = 0;
  const stop = onPass(() => { if (!due) due = setTimeout(() => { due = 0; again(); }, 5000); });
  return {...p, stop: () => { stop(); clearTimeout(due); p.stop(); }};
}

export function shares() {
  return page('Fair share', 'sshare -l', async box => {
    const all = (await ask(`${API}/shares`)).shares?.shares || [];
    if (!all.length) { put(box, h('p', {class: 'empty'}, 'No shares are kept here: they need accounting with slurmdbd and priority/multifactor.')); return; }
    const depth = new Map(), usage = r => num(r.effective_usage);
    const isUser = r => words(r.type).includes('user');
    all.filter(r => !isUser(r)).forEach(r => depth.set(r.name, r.name === r.parent || !depth.has(r.parent) ? 0 : depth.get(r.parent) + 1));
    const deep = r => isUser(r) ? (depth.get(r.parent) ?? 0) + 1 : depth.get(r.name);
    put(box, table(['Account or user', {text: 'Shares', num: true}, {text: 'Due', num: true}, {text: 'Used', num: true}, 'Used beside due', {text: 'Fair share', num: true}],
      all.map(r => {
        const due = num(r.shares_normalized), used = usage(r), user = isUser(r);
        return [h('span', {class: 'tree', style: {'--depth': String(deep(r))}}, user ? r.name : h('strong', {}, r.name)), num(r.shares), due ? percent(due, 1) : '', percent(used, 1),
          h('div', {style: {width: '160px'}}, bar([Math.min(1, used), used > due && due > 0 ? 'warn' : 'good'])), user ? num(r.fairshare?.factor ?? r.fairshare?.level).toFixed?.(3) ?? '' : ''];
      })));
  });
}
