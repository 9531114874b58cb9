// The way to slurmrestd: a cookie that no script sees, and a key that only this page has. The token itself is never kept here.
const KEY = 'muster-key';
export class Refused extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

const headers = more => {
  const key = localStorage.getItem(KEY);
  return {...(key ? {'X-Muster-Key': key} : {}), ...more};
};

async function failed(response) {
  let text = `${response.status} ${response.statusText}`;
  try {
    const e = (await response.json()).errors?.[0];
    if (e) text = e.description || e.error || text;
  } catch { /* no JSON: the code has to do */ }
  return new Refused(response.status, text);
}

let loggedOut = () => {};
export const onLogout = f => { loggedOut = f; };

export async function ask(path, options = {}) {
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  const response = await fetch(path, {method: options.method || (body ? 'POST' : 'GET'), body, credentials: 'same-origin', cache: 'no-store',
    signal: options.signal, headers: headers({Accept: 'application/json', ...(body ? {'Content-Type': 'application/json'} : {})})});
  if (!response.ok) {
    const e = await failed(response);
    if ((e.status === 401 || e.status === 403 && path.startsWith('/muster/v1/session')) && !options.quiet) loggedOut();
    throw e;
  }
  return response.json();
}

export async function login(body) {
  const session = await ask('/muster/v1/session', {body, quiet: true});
  localStorage.setItem(KEY, session.key);
  return session;
}

export async function logout() {
  try { await ask('/muster/v1/session', {method: 'DELETE', quiet: true}); } finally { localStorage.removeItem(KEY); }
}

export const session = () => localStorage.getItem(KEY) ? ask('/muster/v1/session', {quiet: true}) : Promise.reject(new Refused(401, ''));

/**
 * Reads a stream of events, comes back after losses where it was, and rests while nobody looks.
 * take(name, data), state('live' | 'away'); a stream that says end or refused is over. Returns what ends it.
 */
export function follow(path, take, state = () => {}) {
  let last = '', stopped = false, abort = null, wait = 500, hidden = 0;
  const look = () => {
    clearTimeout(hidden);
    if (document.hidden) hidden = setTimeout(() => abort?.abort(), 60000);
  };
  async function run() {
    while (!stopped) {
      if (document.hidden && hidden) await new Promise(r => document.addEventListener('visibilitychange', r, {once: true}));
      abort = new AbortController();
      try {
        const response = await fetch(path, {headers: headers({Accept: 'text/event-stream', ...(last ? {'Last-Event-ID': last} : {})}),
          credentials: 'same-origin', cache: 'no-store', signal: abort.signal});
        if (!response.ok) {
          const e = await failed(response);
          if (e.status === 401) { loggedOut(); return; }
          if (e.status !== 503 && e.status < 500) { take('refused', {error: e.message}); return; }
          throw e;
        }
        state('live');
        wait = 500;
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        for (let part = await reader.read(); !part.done && !stopped; part = await reader.read()) {
          text += part.value;
          let end;
          while ((end = text.indexOf('\n\n')) >= 0) {
            const event = text.slice(0, end);
            text = text.slice(end + 2);
            let name = '', data = '';
            for (const line of event.split('\n')) {
              if (line.startsWith('event: ')) name = line.slice(7);
              else if (line.startsWith('data: ')) data = line.slice(6);
              else if (line.startsWith('id: ')) last = line.slice(4);
            }
            if (!name) continue;
            take(name, JSON.parse(data));
            if (name === 'end' || name === 'refused') return;
          }
        }
      } catch (e) {
        if (stopped) return;
      }
      if (!document.hidden) state('away');
      await new Promise(r => setTimeout(r, wait));
      wait = Math.min(wait * 2, 8000);
    }
  }
  document.addEventListener('visibilitychange', look);
  run();
  return () => { stopped = true; abort?.abort(); document.removeEventListener('visibilitychange', look); };
}
