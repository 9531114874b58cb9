// A job from a form. slurmrestd runs sbatch's own code on it: the fields are options of its command line, #SBATCH lines of the script count as there.
import {h, put, say} from './dom.js';
import {ask} from './api.js';
import {nodes, me} from './store.js';

const KEPT = 'muster-job';
const START = '#!/bin/bash\n#SBATCH --time=10\n\nsrun hostname\n';
/** Field, its label, option of sbatch, and what holds where it is empty and the script does not say otherwise. */
const FIELDS = [['name', 'Name', '-J', 'sbatch'], ['partition', 'Partition', '-p', ''], ['account', 'Account', '-A', 'your default'], ['nodes', 'Nodes', '-N', '2 or 2-4'],
  ['tasks', 'Tasks', '-n', '1 a node'], ['cpus', 'CPUs per task', '-c', '1'], ['memory', 'Memory per node', '--mem=', '500M or 4G'], ['gpus', 'GPUs', '--gpus=', 'none'],
  ['minutes', 'Time limit', '-t', '60 or 1-12:00:00'], ['directory', 'Working directory', '-D', ''], ['output', 'Output file', '-o', 'slurm-%j.out']];
/** What a sentence of sbatch is about, and the field that says it. */
const ABOUT = [[/partition/i, 'partition'], [/account/i, 'account'], [/node count|--nodes|node configuration/i, 'nodes'], [/task/i, 'tasks'], [/cpu/i, 'cpus'],
  [/memory|--mem/i, 'memory'], [/gpu|gres/i, 'gpus'], [/time limit|--time/i, 'minutes'], [/directory|chdir/i, 'directory'], [/--output/i, 'output'], [/job.name/i, 'name']];

export function submit() {
  let v = {script: START};
  try { Object.assign(v, JSON.parse(localStorage.getItem(KEPT) || '{}')); } catch { /* as new */ }
  const line = h('pre', {}), note = h('div', {'aria-live': 'polite'});
  const quote = x => /^[\w./%+:=@,-]+$/.test(x) ? x : `'${x.replaceAll("'", "'\\''")}'`;
  const options = () => FIELDS.flatMap(([key, , option]) => !v[key]?.trim() ? [] : option.endsWith('=') ? [option + v[key].trim()] : [option, v[key].trim()]);
  const show = () => { localStorage.setItem(KEPT, JSON.stringify(v)); put(line, ['sbatch', ...options().map(quote), '< job.sh'].join(' ')); };
  const parts = [...new Set([...nodes.values()].flatMap(n => n.partitions))].sort();
  const field = ([key, label, , hint]) => h('label', {class: 'field'}, label, key === 'partition'
    ? h('select', {id: 'f-partition', onchange: e => { v.partition = e.target.value; show(); }}, h('option', {value: ''}, 'default'), parts.map(p => h('option', {value: p, selected: p === v.partition}, p)))
    : h('input', {id: `f-${key}`, value: v[key] || '', placeholder: hint || me.home || '/tmp', oninput: e => { v[key] = e.target.value; show(); }}));

  /** Marks these fields as the mistaken ones and no others. @return their labels */
  function mark(keys) {
    FIELDS.forEach(([key]) => document.getElementById(`f-${key}`)?.setAttribute('aria-invalid', keys.includes(key)));
    return FIELDS.filter(([key]) => keys.includes(key)).map(([, label]) => label);
  }

  async function send(e) {
    e.preventDefault();
    mark([]);
    try {
      const reply = await ask('/muster/v1/submit', {body: {options: options(), script: v.script}});
      put(note, h('p', {class: 'fine'}, 'Submitted batch job ', h('a', {id: 'submitted', href: `#/job/${reply.job_id}`}, reply.job_id)), reply.messages.map(m => h('p', {class: 'note'}, m)));
      say(`Submitted batch job ${reply.job_id}`);
    } catch (e2) {
      const fields = mark(ABOUT.filter(([words]) => words.test(e2.message)).map(([, key]) => key));
      put(note, h('p', {class: 'error', role: 'alert'}, e2.message, fields.length ? ` (${fields.length > 1 ? 'fields' : 'field'} ${fields.join(', ')})` : ''));
    }
    note.scrollIntoView({block: 'nearest'});
  }

  show();
  return {title: 'Submit', el: [h('div', {class: 'head'}, h('h1', {}, 'Submit a job'), h('span', {class: 'note'}, `as ${me.user}`)), note, h('form', {class: 'panel', onsubmit: send},
    h('label', {class: 'field'}, 'Script', h('textarea', {id: 'f-script', rows: '12', spellcheck: 'false', value: v.script, oninput: e => { v.script = e.target.value; show(); }})),
    h('p', {class: 'note'}, 'Lines that begin with #SBATCH count, all options of sbatch. A field below comes before them; an empty one asks for nothing.'),
    h('div', {class: 'fields'}, FIELDS.map(field)), h('p', {class: 'note'}, 'The same in a terminal:'), line, h('p', {}, h('button', {class: 'main', id: 'send', type: 'submit'}, 'Submit')))], stop: () => {}};
}
