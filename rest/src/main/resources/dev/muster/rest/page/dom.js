// Elements from words. Text is only ever text: nothing here, or anywhere in this page, makes markup of a string.
const SVG = 'http://www.w3.org/2000/svg';

function fill(el, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) el.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [k, v] of Object.entries(value)) el.style.setProperty(k, v);
    else if (name === 'data') for (const [k, v] of Object.entries(value)) el.dataset[k] = v;
    else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'selected') el[name] = value;
    else el.setAttribute(name, value === true ? '' : value);
  }
  add(el, children);
  return el;
}

export function add(el, ...children) {
  for (const c of children.flat(9)) {
    if (c === undefined || c === null || c === false) continue;
    el.append(c instanceof Node ? c : document.createTextNode(String(c)));
  }
  return el;
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);
/** In place of what was there; who had the focus has it again, if there still is one with his id. */
export const put = (el, ...children) => {
  const had = el.contains(document.activeElement) && document.activeElement.id;
  el.replaceChildren();
  add(el, ...children);
  if (had) document.getElementById(had)?.focus();
  return el;
};

/** Says it to who does not see the screen. */
export function say(text) {
  document.getElementById('said').textContent = text;
}

export const facts = pairs => h('dl', {class: 'facts'}, pairs.filter(p => p && p[1] !== '' && p[1] !== undefined && p[1] !== null)
  .map(([k, v]) => [h('dt', {}, k), h('dd', {}, v)]));

export const bar = (...parts) => h('div', {class: 'bar', 'aria-hidden': 'true'}, parts.map(([share, kind]) =>
  h('i', {class: kind || '', style: {width: `${Math.max(0, Math.min(100, share * 100))}%`}})));

export const table = (heads, rows, empty) => rows.length === 0 ? h('p', {class: 'empty'}, empty || 'Nothing here.')
  : h('table', {}, h('thead', {}, h('tr', {}, heads.map(x => (x.text ?? x) === '' ? h('td') : h('th', {scope: 'col', class: x.num ? 'num' : ''}, x.text ?? x)))),
    h('tbody', {}, rows.map(r => h('tr', {}, r.map((c, i) => h('td', {class: heads[i].num ? 'num' : ''}, c))))));

/** A question with its answer: true, false, or the words typed. */
export function confirm(title, text, yes, field) {
  return new Promise(done => {
    const input = field && h('input', {class: 'wide', value: field.value || '', 'aria-label': field.label, placeholder: field.label});
    const d = h('dialog', {'aria-labelledby': 'dlg'}, h('form', {method: 'dialog', onsubmit: e => { e.preventDefault(); d.close('yes'); }},
      h('h2', {id: 'dlg'}, title), text && h('p', {class: 'note'}, text), input,
      h('div', {class: 'acts'}, h('button', {type: 'button', onclick: () => d.close('no')}, 'Back'), h('button', {class: 'main', type: 'submit'}, yes))));
    d.addEventListener('close', () => { d.remove(); done(d.returnValue === 'yes' ? (input ? input.value : true) : false); });
    document.body.append(d);
    d.showModal();
    (input || d.querySelector('.main')).focus();
  });
}

/** Copies the command line that shows the same. */
export const asCommand = line => h('button', {title: 'Copies the command that shows this', onclick: async e => {
  const text = line();
  try { await navigator.clipboard.writeText(text); e.target.textContent = 'Copied'; } catch { e.target.textContent = text; }
  say(text);
  setTimeout(() => { e.target.textContent = 'Copy command'; }, 2500);
}}, 'Copy command');
