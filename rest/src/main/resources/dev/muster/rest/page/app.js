// The frame: who is logged in, where one is, and what is seen from everywhere.
import {h, put, say, bar, table} from './dom.js';
import {ask, login, logout, session, onLogout} from './api.js';
import {start, me, totals, watch, jobs, nodes, now} from './store.js';
import {count, percent, size, jobName, jobState, clock, elapsed, when} from './format.js';
import {occupancy} from './map.js';
import {queue, stateCell} from './queue.js';
import {job} from './job.js';
import {nodeList, node} from './nodes.js';
import {partitions, reservations, plan, shares, limits} from './lists.js';
import {reports} from './reports.js';
import {submit} from './submit.js';

const app = document.getElementById('app');
let leave = () => {}, stopFeed = () => {};

function overview() {
  const tiles = h('div', {class: 'tiles'}), map = occupancy(), mine = h('div', {class: 'panel'});
  const tile = (label, value, small, ...rest) => h('div', {class: 'panel tile'}, h('div', {class: 'label'}, label), h('div', {class: 'value'}, value, ' ', h('small', {}, small)), rest);
  function show() {
    const t = totals();
    put(tiles, tile('CPUs in use', count(t.busy), `of ${count(t.cpus)}, ${percent(t.busy, t.cpus) || '0 %'}`, bar([t.cpus ? t.busy / t.cpus : 0], [t.cpus ? t.down / t.cpus : 0, 'down'])),
      t.gpus > 0 && tile('GPUs in use', count(t.gpusBusy), `of ${count(t.gpus)}, ${percent(t.gpusBusy, t.gpus)}`, bar([t.gpusBusy / t.gpus])),
      tile('Memory given', size(t.memBusy), `of ${size(t.mem)}`, bar([t.mem ? t.memBusy / t.mem : 0])),
      tile('Jobs', count(t.running), `run, ${count(t.waiting)} wait`, h('div', {class: 'note'}, h('a', {href: '#/queue?q=user:me'}, `${count(t.mine)} are mine`))),
      tile('Nodes', count(t.nodes), '', h('div', {class: 'note'}, Object.entries(t.states).sort().map(([k, n]) => `${count(n)} ${k}`).join(', '))));
    // those that run, those that wait, the last that ended
    const order = ['RUNNING', 'SUSPENDED', 'PENDING'], rank = j => (order.indexOf(j.state) + 4) % 4 + (order.includes(j.state) ? 0 : 4);
    const all = [...jobs.values()].filter(j => j.user_name === me.user).sort((a, b) => rank(a) - rank(b) || (rank(a) === rank(b) && a.state === 'PENDING' ? b.priority - a.priority : b.job_id - a.job_id));
    put(mine, h('div', {class: 'head'}, h('h2', {}, 'My jobs'), all.length > 8 && h('a', {href: '#/queue?q=user:me'}, `all ${count(all.length)}`)),
      all.length ? table(['Job', 'Name', 'State', {text: 'Time', num: true}, 'Nodes or reason'], all.slice(0, 8).map(j => [h('a', {href: `#/job/${j.job_id}`}, jobName(j)), j.name,
        stateCell(jobState(j)), clock(j.state === 'PENDING' ? now() - j.submit_time : elapsed(j, now())), j.state === 'PENDING' ? j.state_reason : j.nodes]))
      : h('p', {class: 'note'}, me.jobsLoaded ? ['None. ', h('a', {href: '#/submit'}, 'Submit one')] : 'Loading …'));
  }
  const stop = watch(show);
  show();
  return {title: me.cluster || 'Muster', el: [h('div', {class: 'head'}, h('h1', {}, 'Now')), tiles, ...(me.operator ? [map.el, mine] : [mine, map.el])], stop: () => { stop(); map.stop(); }};
}

const nothing = () => ({title: 'No such page', el: [h('div', {class: 'head'}, h('h1', {}, 'No such page')), h('p', {}, `There is no page ${location.hash}. `, h('a', {href: '#/'}, 'Now'))], stop: () => {}});
const PLACES = {'': overview, queue, job, nodes: nodeList, node, partitions, reservations, plan, shares, limits, reports, submit};
const MENU = [['', 'Now'], ['queue', 'Queue'], ['plan', 'Plan'], ['nodes', 'Nodes'], ['partitions', 'Partitions'], ['reservations', 'Reservations'], ['shares', 'Fair share'], ['limits', 'Limits'], ['reports', 'Reports'], ['submit', 'Submit']];

function go() {
  const main = document.getElementById('main');
  if (!main) return;
  // what had the focus may go with the page that is left: the next key is the new page's then
  const inside = main.contains(document.activeElement);
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?'), words = path.split('/').map(decodeURIComponent);
  leave();
  const view = (PLACES[words[0]] || nothing)(words.slice(1), new URLSearchParams(query || ''));
  leave = view.stop;
  put(main, view.el);
  main.scrollTop = 0;
  main.dataset.place = words[0] || 'now';
  document.title = `${view.title} · Muster`;
  if (inside) main.focus({preventScroll: true});
  say(view.title);
  const at = {job: 'queue', node: 'nodes'}[words[0]] ?? words[0];
  document.querySelectorAll('.side a').forEach(a => { if (a.dataset.place === at) { a.setAttribute('aria-current', 'page'); if (a.parentElement.scrollWidth > a.parentElement.clientWidth) a.parentElement.scrollLeft = a.offsetLeft - a.parentElement.clientWidth / 2 + a.offsetWidth / 2; } else a.removeAttribute('aria-current'); });
}

function theme(next) {
  const order = ['auto', 'light', 'dark'], had = localStorage.getItem('muster-theme') || 'auto', value = next ? order[(order.indexOf(had) + 1) % 3] : had;
  localStorage.setItem('muster-theme', value);
  if (value === 'auto') delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = value;
  document.dispatchEvent(new Event('muster-theme'));
  return value;
}

function find(text) {
  const t = text.trim();
  if (!t) return;
  // what slurmctld has forgotten may be in accounting
  location.hash = /^\d+(?:[_+]\d+)?$/.test(t) ? `#/job/${t}` : nodes.has(t) ? `#/node/${encodeURIComponent(t)}` : `#/queue?q=${encodeURIComponent(t)}`;
}

function shell(who) {
  Object.assign(me, {user: who.user, operator: who.operator, administrator: who.administrator, coordinates: who.coordinates, cluster: who.cluster, home: who.home});
  const live = h('span', {class: 'live', role: 'status', data: {state: 'away'}}, 'connecting'), counts = {}, banner = h('p', {class: 'error banner', role: 'alert', hidden: true});
  let away = 0;
  const search = h('input', {type: 'search', id: 'search', placeholder: 'Job, node or user   /', 'aria-label': 'Search', onkeydown: e => { if (e.key === 'Enter') find(e.target.value); }});
  const light = h('button', {onclick: e => { e.target.textContent = `Theme: ${theme(true)}`; }}, `Theme: ${theme()}`);
  put(app, h('div', {class: 'shell'}, h('header', {class: 'top'}, h('a', {class: 'brand', href: '#/'}, h('img', {src: '/icon.svg', alt: ''}), who.cluster || 'Muster'), h('div', {class: 'search'}, search),
    h('div', {class: 'right'}, live, light, h('span', {}, who.user), h('button', {id: 'logout', onclick: async () => { await logout().catch(() => {}); location.reload(); }}, 'Log out'))),
  h('nav', {class: 'side', 'aria-label': 'Pages'}, MENU.map(([place, text]) => h('a', {href: `#/${place}`, data: {place}}, text, counts[place] = h('span', {class: 'count'})))),
  h('main', {id: 'main', tabindex: '-1'}), banner));
  watch(() => {
    live.dataset.state = me.live;
    const text = me.live === 'live' ? 'live' : me.lost ? 'slurmrestd is away' : 'slurmctld is away';
    clearTimeout(away);
    if (me.live === 'live') banner.hidden = true;
    else away = setTimeout(() => {
      put(banner, me.lost ? 'slurmrestd does not answer' : 'slurmctld does not answer', me.seen ? `: the page shows what was known at ${when(me.seen)}.` : '.');
      banner.hidden = false;
    }, 3000);
    if (live.textContent !== text) put(live, text);
    const t = totals();
    counts.queue.textContent = me.jobsLoaded ? count(t.running + t.waiting) : '';
    counts.nodes.textContent = me.loaded ? count(t.nodes) : '';
  });
  stopFeed();
  stopFeed = start();
  go();
}

function door(text) {
  stopFeed();
  leave();
  leave = () => {};
  const note = h('div', {'aria-live': 'assertive'}, text && h('p', {class: 'error'}, text));
  const token = h('input', {type: 'password', class: 'wide', id: 'token', autocomplete: 'off', 'aria-label': 'Token', placeholder: 'eyJ…'});
  put(app, h('form', {class: 'panel login', onsubmit: async e => {
    e.preventDefault();
    try { shell(await login({token: token.value})); } catch (e2) { put(note, h('p', {class: 'error', role: 'alert'}, e2.message)); }
  }}, h('h1', {}, 'Muster'), h('p', {class: 'note'}, 'On a machine of the cluster, ', h('code', {}, 'muster page'), ' prints a link that logs you in. Elsewhere, paste the token that ', h('code', {}, 'scontrol token'), ' prints there. Ask the administrators of the cluster if you have no account on it; passwords are not used here.'),
  h('label', {class: 'field'}, 'Token', token), note, h('button', {class: 'main', id: 'enter', type: 'submit'}, 'Log in')));
  token.focus();
}

/** A link with a code is used up at once, and does not stay in the address. */
async function begin() {
  theme();
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code) {
    history.replaceState(null, '', '/');
    try { shell(await login({code})); } catch (e) { door(e.message); }
    return;
  }
  try { shell(await session()); } catch (e) { door(e.status === 401 || e.status === 403 ? '' : e.message); }
}

/** What keys do, for who asks. */
function help() {
  if (document.querySelector('dialog')) return;
  const keys = [['/', 'search, or the filter of a list'], ['o q p n s', 'overview, queue, plan, nodes, submission'], ['↑ ↓ Page Up Page Down Home End', 'move in a list or in the map'],
    ['Enter', 'opens what is chosen'], ['?', 'this']];
  const d = h('dialog', {'aria-labelledby': 'keys'}, h('h2', {id: 'keys'}, 'Keys'), h('dl', {class: 'facts'}, keys.map(([k, t]) => [h('dt', {}, h('code', {}, k)), h('dd', {}, t)])),
    h('div', {class: 'acts'}, h('button', {class: 'main', onclick: () => d.close()}, 'Close')));
  d.addEventListener('close', () => d.remove());
  document.body.append(d);
  d.showModal();
}

onLogout(() => door('The session has ended.'));
addEventListener('hashchange', go);
document.querySelector('.skip').addEventListener('click', e => { e.preventDefault(); document.getElementById('main')?.focus(); });
document.addEventListener('keydown', e => {
  if (e.target.closest?.('input, textarea, select, dialog') || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === '/') { e.preventDefault(); (document.getElementById('find') || document.getElementById('search'))?.focus(); }
  if (e.key === '?') { e.preventDefault(); help(); }
  const to = {q: 'queue', n: 'nodes', o: '', p: 'plan', s: 'submit'}[e.key];
  if (to !== undefined && document.getElementById('main')) location.hash = `#/${to}`;
});
begin();
