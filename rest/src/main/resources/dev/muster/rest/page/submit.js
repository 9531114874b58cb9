// A job from a form, and the command that does the same.
import {h, put, say} from './dom.js';
import {ask} from './api.js';
import {nodes, me} from './store.js';

const KEPT = 'muster-submit';
const START = '#!/bin/bash\n\nsrun hostname\n';

export function submit() {
  let v = {script: START, name: 'job', partition: '', account: '', nodes: '', tasks: '1', cpus: '', memory: '', gpus: '', minutes: '60', directory: me.home || '/tmp', output: ''};
  try { Object.assign(v, JSON.parse(localStorage.getItem(KEPT) || '{}')); } catch { /* as new */ }
  const line = h('pre', {}), note = h('div', {'aria-live': 'polite'});
  const quote = x => /^[\w./%+:=@-]+$/.test(x) ? x : `'${x.replaceAll("'", "'\\''")}'`;
  const command = () => ['sbatch', v.name && `-J ${quote(v.name)}`, v.partition && `-p ${quote(v.partition)}`, v.account && `-A ${quote(v.account)}`, v.nodes && `-N ${v.nodes}`,
    v.tasks && `-n ${v.tasks}`, v.cpus && `-c ${v.cpus}`, v.memory && `--mem=${v.memory}M`, v.gpus && `--gpus=${v.gpus}`, v.minutes && `-t ${v.minutes}`, v.directory && `-D ${quote(v.directory)}`,
    v.output && `-o ${quote(v.output)}`, 'job.sh'].filter(Boolean).join(' ');
  const show = () => { localStorage.setItem(KEPT, JSON.stringify(v)); put(line, command()); };
  const field = (key, label, more = {}) => h('label', {class: 'field'}, label, h('input', {id: `f-${key}`, value: v[key], oninput: e => { v[key] = e.target.value; show(); }, ...more}));
  const parts = [...new Set([...nodes.values()].flatMap(n => n.partitions))].sort();
  const number = (text, what) => {
    if (text === '') return undefined;
    if (!/^\d{1,9}$/.test(text)) throw new Error(`${what} has to be a number`);
    return Number(text);
  };

  async function send(e) {
    e.preventDefault();
    try {
      const set = n => n === undefined ? undefined : {set: true, number: n};
      const job = {name: v.name, partition: v.partition || undefined, account: v.account || undefined, nodes: v.nodes || undefined, tasks: number(v.tasks, 'Tasks'), cpus_per_task: number(v.cpus, 'CPUs per task'),
        memory_per_node: set(number(v.memory, 'Memory')), tres_per_job: v.gpus ? `gres/gpu:${number(v.gpus, 'GPUs')}` : undefined, time_limit: set(number(v.minutes, 'Minutes')),
        current_working_directory: v.directory, standard_output: v.output || undefined, environment: ['PATH=/usr/local/bin:/usr/bin:/bin', `USER=${me.user}`, `LOGNAME=${me.user}`, ...(me.home ? [`HOME=${me.home}`] : [])]};
      const reply = await ask('/slurm/v0.0.45/job/submit', {body: {script: v.script, job: JSON.parse(JSON.stringify(job))}});
      if (reply.errors?.length) throw new Error(reply.errors[0].description || reply.errors[0].error);
      put(note, h('p', {class: 'fine'}, 'Submitted batch job ', h('a', {id: 'submitted', href: `#/job/${reply.job_id}`}, reply.job_id), reply.job_submit_user_msg ? `: ${reply.job_submit_user_msg}` : ''));
      say(`Submitted batch job ${reply.job_id}`);
    } catch (e2) {
      put(note, h('p', {class: 'error', role: 'alert'}, e2.message));
    }
  }

  show();
  return {title: 'Submit', el: [h('div', {class: 'head'}, h('h1', {}, 'Submit a job'), h('span', {class: 'note'}, `as ${me.user}`)), note, h('form', {class: 'panel', onsubmit: send},
    h('div', {class: 'fields'}, field('name', 'Name'), h('label', {class: 'field'}, 'Partition', h('select', {id: 'f-partition', onchange: e => { v.partition = e.target.value; show(); }},
      h('option', {value: ''}, 'the usual one'), parts.map(p => h('option', {value: p, selected: p === v.partition}, p)))), field('account', 'Account'), field('nodes', 'Nodes', {placeholder: '2 or 2-4'}), field('tasks', 'Tasks'),
    field('cpus', 'CPUs per task'), field('memory', 'Memory per node, MiB'), field('gpus', 'GPUs'), field('minutes', 'Time limit, minutes'), field('directory', 'Working directory'), field('output', 'Output file', {placeholder: 'slurm-%j.out'})),
    h('label', {class: 'field', style: {'margin-top': '12px'}}, 'Script', h('textarea', {id: 'f-script', rows: '14', spellcheck: 'false', value: v.script, oninput: e => { v.script = e.target.value; show(); }})),
    h('p', {class: 'note'}, 'The same in a terminal:'), line, h('p', {}, h('button', {class: 'main', id: 'send', type: 'submit'}, 'Submit')))], stop: () => {}};
}
