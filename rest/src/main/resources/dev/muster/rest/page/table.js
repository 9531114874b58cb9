// A list of any length: only the rows that are seen are there.
import {h, put, say} from './dom.js';

const ROW = 30, MORE = 8;

/**
 * columns: {id, text, width, num, cell(row), by(row)}; key(row); open(row); label(row) for who does not see it.
 * set(rows) shows other rows; visible() those that are seen now.
 */
export function grid({columns, key, open, label, sort, onSort, name}) {
  let rows = [], chosen = null, order = sort || {id: '', up: true};
  const total = columns.reduce((a, c) => a + c.width, 0) + 12;
  const body = h('div', {class: 'rows', role: 'rowgroup'});
  const heads = h('div', {class: 'heads', role: 'rowgroup'});
  const el = h('div', {class: 'grid', role: 'grid', tabindex: '0', 'aria-label': name, 'aria-colcount': columns.length}, heads, body);
  const wide = (c, i) => i === columns.length - 1 ? {'min-width': `${c.width}px`, flex: '1'} : {width: `${c.width}px`};

  function head() {
    put(heads, h('div', {role: 'row', 'aria-rowindex': '1', style: {width: `max(100%, ${total}px)`}}, columns.map((c, i) => h('div', {role: 'columnheader', class: c.num ? 'num' : '', style: wide(c, i),
      'aria-sort': order.id === c.id ? (order.up ? 'ascending' : 'descending') : null},
    c.by ? h('button', {onclick: () => { order = {id: c.id, up: order.id === c.id ? !order.up : true}; head(); arrange(); paint(); onSort?.(order); }},
      c.text, order.id === c.id ? (order.up ? ' ↑' : ' ↓') : '') : c.text))));
  }

  function arrange() {
    const c = columns.find(x => x.id === order.id);
    if (!c?.by) return;
    const up = order.up ? 1 : -1;
    const keys = new Map(rows.map(r => [r, c.by(r)]));
    rows.sort((a, b) => { const x = keys.get(a), y = keys.get(b); return (x < y ? -1 : x > y ? 1 : 0) * up; });
  }

  const span = () => {
    const first = Math.max(0, Math.floor(el.scrollTop / ROW) - MORE);
    return [first, Math.min(rows.length, first + Math.ceil(el.clientHeight / ROW) + 2 * MORE)];
  };

  function paint() {
    const began = performance.now(), [from, to] = span();
    body.style.height = `${Math.max(1, rows.length) * ROW}px`;
    body.style.width = `max(100%, ${total}px)`;
    const out = [];
    for (let i = from; i < to; i++) {
      const r = rows[i], id = key(r);
      out.push(h('div', {role: 'row', id: `r-${id}`, 'aria-rowindex': i + 2, 'aria-selected': id === chosen ? 'true' : 'false', style: {top: `${i * ROW}px`},
        onclick: () => open(r)}, columns.map((c, k) => h('div', {role: 'gridcell', class: c.num ? 'num' : '', style: wide(c, k)}, c.cell(r)))));
    }
    put(body, out.length ? out : h('p', {class: 'empty'}, 'Nothing here.'));
    el.setAttribute('aria-rowcount', rows.length + 1);
    el.dataset.rows = String(rows.length);
    el.dataset.ms = (performance.now() - began).toFixed(1);
    if (chosen !== null) el.setAttribute('aria-activedescendant', `r-${chosen}`);
  }

  function move(by) {
    const at = rows.findIndex(r => key(r) === chosen), to = Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by));
    if (!rows[to]) return;
    chosen = key(rows[to]);
    const y = to * ROW;
    if (y < el.scrollTop) el.scrollTop = y;
    else if (y + 2 * ROW > el.scrollTop + el.clientHeight) el.scrollTop = y + 2 * ROW - el.clientHeight;
    paint();
    say(label(rows[to]));
  }

  el.addEventListener('scroll', () => requestAnimationFrame(paint));
  el.addEventListener('keydown', e => {
    const page = Math.floor(el.clientHeight / ROW) - 1;
    const by = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length}[e.key];
    if (by) { e.preventDefault(); move(by); }
    if (e.key === 'Enter' && e.target === el) { const r = rows.find(x => key(x) === chosen); if (r) open(r); }
  });
  new ResizeObserver(paint).observe(el);
  head();
  return {el, set: list => { rows = list; arrange(); paint(); }, visible: () => rows.slice(...span()), chosen: () => chosen};
}
