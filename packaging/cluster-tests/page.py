"""What page.sh wants of the page. Arguments: its address, the cluster's directory, a free port for the driver. PAGE_SHOTS: a directory for pictures."""
import json, os, subprocess, sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from webdriver import Browser

base, dir_, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
shots = os.environ.get('PAGE_SHOTS')
fails = 0


def check(what, good, more=''):
    global fails
    print(f"{'ok  ' if good else 'FAIL'} {what}{f': {more}' if more != '' else ''}", flush=True)
    fails += 0 if good else 1


def sh(*args, user=None):
    line = list(args) if user is None else ['setpriv', f'--reuid={user}', '--regid=nogroup', '--clear-groups', '--'] + list(args)
    return subprocess.run(line, capture_output=True, text=True, cwd=f'{dir_}/work', timeout=60).stdout.strip()


def place(b, where, seconds=15):
    """Goes there by the address, and waits for the page's heading."""
    b.run("location.hash = '#/' + arguments[0]", where)
    return b.wait("return document.getElementById('main')?.dataset.place === arguments[0] && document.querySelector('main h1')?.textContent", seconds, where.split('/')[0].split('?')[0] or 'now')


def shot(b, name):
    if shots:
        b.shot(f'{shots}/{name}.png')


def enter(b, user):
    link = sh('muster', 'page', base, user=user)
    b.go('about:blank')
    b.go(link)
    b.wait("return document.getElementById('main')")
    return link


CONTRAST = """
  const lum = c => { const [r, g, b] = c.map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = text => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = text; pen.fillRect(0, 0, 1, 1); const d = pen.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
  const ground = e => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] > .5) return c.slice(0, 3); } return [255, 255, 255]; };
  const out = new Map(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, st = getComputedStyle(e), r = e.getBoundingClientRect();
    if (!walk.currentNode.textContent.trim() || !r.width || !r.height || e.closest('.quiet, .skip, noscript, [hidden], :disabled, title, option')) continue;
    const ink = rgba(e instanceof SVGElement ? st.fill : st.color), a = lum(ink.slice(0, 3)), b = lum(ground(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05), big = parseFloat(st.fontSize) >= 24 || parseFloat(st.fontSize) >= 18.6 && st.fontWeight >= 700;
    if (ratio < (big ? 3 : 4.5)) out.set(e.tagName + '.' + (e.getAttribute('class') || '') + ' "' + walk.currentNode.textContent.trim().slice(0, 20) + '"', ratio.toFixed(2));
  }
  return [...out].slice(0, 6).map(x => x.join(' ')).join('; ')"""
NAMED = ['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'grid', 'application', 'img', 'image', 'dialog', 'navigation', 'columnheader', 'group']


def unread(b):
    """What a screen reader has no name for, or finds twice."""
    tree = b.call('POST', b.session + '/goog/cdp/execute', {'cmd': 'Accessibility.getFullAXTree', 'params': {}})['nodes']
    out = [n['role']['value'] for n in tree if not n.get('ignored') and n.get('role', {}).get('value') in NAMED and not n.get('name', {}).get('value', '').strip()]
    ids = b.run("const all = [...document.querySelectorAll('[id]')].map(e => e.id); return all.filter((x, i) => all.indexOf(x) !== i)")
    heads = b.run("return [...document.querySelectorAll('h1, h2, h3')].filter(e => e.getBoundingClientRect().width).map(e => e.tagName).join(' ')")
    return ', '.join(out + [f'twice #{i}' for i in ids] + ([] if heads.startswith('H1') and heads.count('H1') == 1 else [f'headings {heads}']))


def legible(b, where, light):
    for _ in range(20):
        bad = b.run(CONTRAST)
        if not bad:
            break
        time.sleep(.1)
    check(f'{light}: text of {where or "now"} stands out', not bad, bad)


def look_around(b, huge):
    link = enter(b, 'nobody')
    check('the link logs in', b.wait("return document.querySelector('.live')?.dataset.state === 'live'"))
    check('the code does not stay in the address', b.url() == base + '/', b.url())
    drawn = "return Math.round(performance.getEntriesByName('muster-map')[0]?.startTime)"
    first = b.wait(drawn)
    b.run('location.reload()')
    time.sleep(.5)
    again = b.wait(drawn)
    check('the map is drawn within a second', 0 < (again or 9e9) < 1000, f'{again} ms, the first time {first} ms')
    check('with all nodes', b.wait("return document.querySelector('canvas').dataset.nodes === arguments[0]", 10, str(huge + 3)),
          b.run("const c = document.querySelector('canvas'); return c.dataset.nodes + ' nodes, drawn in ' + c.dataset.ms + ' ms'"))
    b.run("const s = document.querySelector('.mapbox').parentElement.querySelectorAll('select')[1]; s.value = 'topology'; s.dispatchEvent(new Event('change'))")
    check('grouped by the switches of the topology', b.wait("return document.querySelector('canvas').dataset.groups === 's1 s2 s3'"), b.run("return document.querySelector('canvas').dataset.groups"))
    b.run("const s = document.querySelector('.mapbox').parentElement.querySelectorAll('select')[1]; s.value = 'partition'; s.dispatchEvent(new Event('change'))")
    stored = b.run("return JSON.stringify(localStorage)")
    check('no token is stored in the page', 'eyJ' not in stored and 'muster-key' in stored)
    cookie = b.cookies()[0]
    check('the cookie is nobody else\'s', cookie['httpOnly'] and cookie.get('sameSite') == 'Strict' and not b.run('return document.cookie'))
    check('the cookie alone is nothing', b.run("return fetch('/slurm/v0.0.45/jobs').then(r => r.status)") == 403)
    for where, title in [('', 'Now'), ('queue', 'Queue'), ('plan', 'Plan'), ('nodes', 'Nodes'), ('node/n1', 'n1'), ('partitions', 'Partitions'), ('reservations', 'Reservations'),
                         ('shares', 'Fair share'), ('limits', 'Limits'), ('reports', 'Reports'), ('submit', 'Submit a job')]:
        check(f'page {where or "now"}', place(b, where) == title and not b.run("return document.querySelector('main .error')?.textContent"))
        b.wait("return !document.body.textContent.includes('Loading …')", 5)
        shot(b, where.replace('/', '-') or 'now')
        legible(b, where, 'light')
        nameless = unread(b)
        check(f'all of {where or "now"} has a name', not nameless, nameless)
    b.go('about:blank')
    b.go(link)
    check('a link is good once', b.wait("return document.querySelector('.error')?.textContent.includes('used already')"))


def happenings(b):
    place(b, 'queue')
    b.wait("return document.querySelector('.grid')?.dataset.rows === '0'")
    began = time.time()
    job = sh('sbatch', '--parsable', '-J', '<img src=x onerror=window.pwned=1>', '-o', '/dev/null', '--wrap', 'sleep 300', user='nobody')
    seen = b.wait(f"return document.getElementById('r-{job}')?.textContent.includes('running')")
    check('a job is seen as it comes', seen, f'{time.time() - began:.1f} s from sbatch to the row')
    check('its name is text', b.run(f"return document.getElementById('r-{job}').textContent.includes('<img src=x') && !window.pwned"))
    b.type('#find', 'user:me state:running')
    check('a filter', b.wait("return document.querySelector('.grid').dataset.rows === '1' && location.hash.includes('user')"))
    sh('scancel', job)
    check('and goes', b.wait("return document.querySelector('.grid').dataset.rows === '0'"))


def output(b):
    job = sh('sbatch', '--parsable', '-J', 'talks', '-o', f'{dir_}/work/talks', '--wrap', 'for i in $(seq 900); do echo "line $i"; sleep 0.2; done & timeout 180 sh -c "while :; do :; done"', user='nobody')
    place(b, f'job/{job}')
    first = b.wait("return document.getElementById('log')?.textContent.length")
    more = b.wait("return document.getElementById('log').textContent.length > arguments[0] + 20 && document.getElementById('log').textContent.length", 20, first)
    check('output grows', first and more, f'{first}, then {more} characters')
    lines = b.run("return document.getElementById('log').textContent").split('\n')[:-1]
    check('no line is lost or twice', lines == [f'line {i + 1}' for i in range(len(lines))])
    check('its script is there', b.wait("return [...document.querySelectorAll('pre')].some(p => p.textContent.includes('seq 900'))"))
    shot(b, 'job')
    check('what it uses is drawn', b.wait("return Number(document.querySelector('.use[data-kind=cpu] .note')?.textContent.match(/at most ([0-9.]+)/)?.[1]) > 0.1", 20))
    check('its memory as well', b.wait("return document.querySelector('.use[data-kind=mem] polyline')"))
    shot(b, 'use')
    b.run("[...document.querySelectorAll('[aria-label=\"Script or environment\"] button')].at(-1).click()")
    check('its environment', b.wait("return document.querySelector('[aria-label=Script] pre').textContent.includes('PATH=')"))
    b.click('#cancel')
    b.wait("return document.querySelector('dialog .main')")
    shot(b, 'cancel')
    b.click('dialog .main')
    check('cancelled from the page', b.wait("return [...document.querySelectorAll('main .state')].some(s => s.textContent === 'cancelled')"))
    check('and so it is', 'CANCELLED' in sh('scontrol', 'show', 'job', job))
    check('its history is told', b.wait("return ['submitted', 'started', 'cancelled'].every(w => document.querySelector('[aria-label=History]').textContent.includes(w))"))
    check('what it used stays', b.wait("return document.querySelector('.use[data-kind=cpu] polyline')"))
    check('the output ends', b.wait("return document.getElementById('log').dataset.over === 'CANCELLED'"))
    place(b, 'reports?days=7&by=account')
    used = b.wait("return [...document.querySelectorAll('.course')].length === 2 && [...document.querySelectorAll('.course td.num')].some(c => Number(c.textContent.replaceAll(',', '')) > 0) && [...document.querySelectorAll('.course h2')].map(e => e.textContent).join()", 15)
    check('what was used has a course', used == 'CPUs of the cluster over time,CPU hours by account over time', used)
    check('as a plot with columns and a sentence', b.run("const all = [...document.querySelectorAll('.course svg')]; return all.length === 2 && all.every(e => /most at/.test(e.getAttribute('aria-label')))"))
    shot(b, 'course')
    other = sh('sbatch', '--parsable', '-D', '/tmp', '-o', '/dev/null', '--wrap', 'sleep 300', user='daemon')
    place(b, f'job/{other}')
    b.wait("return document.querySelector('main').textContent.includes(\"daemon's to read\")")
    check('others\' jobs are not mine to change', b.run("return !document.getElementById('cancel') && !document.getElementById('log')"))
    sh('scancel', other)


def limits(b):
    sh('sacctmgr', '-i', 'modify', 'qos', 'normal', 'set', 'grpjobs=7', 'grptres=cpu=10', 'maxwall=60')
    job = sh('sbatch', '--parsable', '-q', 'normal', '-t', '5', '-o', '/dev/null', '--wrap', 'sleep 300')
    place(b, 'limits')
    check('a limit and what counts against it', b.wait("return /runningjobs17/.test(document.querySelector('main .panel').textContent.replace(/\\s/g, ''))"), b.run("return document.querySelector('main .panel').textContent"))
    shot(b, 'limits')
    sh('scancel', job)


def submit(b):
    place(b, 'submit')
    for key, text in [('name', 'from-the-page'), ('minutes', '7'), ('directory', f'{dir_}/work'), ('tasks', '2')]:
        b.run("const f = document.getElementById('f-' + arguments[0]); f.value = arguments[1]; f.dispatchEvent(new Event('input'))", key, text)
    b.run("const f = document.getElementById('f-script'); f.value = '#!/bin/sh\\necho $USER\\nsleep 200\\n'; f.dispatchEvent(new Event('input'))")
    b.click('#send')
    job = b.wait("return document.getElementById('submitted')?.textContent")
    check('submitted from the page', bool(job), job or b.run("return document.querySelector('.error')?.textContent"))
    check('as it was asked for', sh('squeue', '-h', '-j', str(job), '-o', '%u %j %l %C') == 'nobody from-the-page 7:00 2')
    sh('scancel', str(job))
    # the script's own lines count where the form is silent, and what cannot be honoured is refused
    def script(*lines):
        b.run("const f = document.getElementById('f-script'); f.value = arguments[0]; f.dispatchEvent(new Event('input'))", '\n'.join(['#!/bin/sh', *lines, 'sleep 200', '']))
        b.run("document.querySelector('[aria-live=polite]:not(#said)')?.replaceChildren()")
        b.click('#send')
        return b.wait("return document.getElementById('submitted')?.textContent || document.querySelector('main .error')?.textContent")
    for key in ['name', 'minutes', 'tasks']:
        b.run("const f = document.getElementById('f-' + arguments[0]); f.value = ''; f.dispatchEvent(new Event('input'))", key)
    job = script('#SBATCH --ntasks=3 --comment=hi', '#SBATCH -J fromscript', '#SBATCH --array=1-2%1', '#SBATCH -H -t 9')
    check('#SBATCH lines are read as sbatch reads them', sh('squeue', '-h', '-j', str(job), '-o', '%j %l %C %k %K %r') == 'fromscript 9:00 3 hi 1-2%1 JobHeldUser', sh('squeue', '-h', '-j', str(job), '-o', '%j %l %C %k %K %r'))
    place(b, f'job/{job}')
    check('a held job is planned for no time', b.wait("return document.querySelector('.why')?.textContent.includes('No start is planned for it.')"), b.run("return document.querySelector('.why')?.textContent"))
    place(b, 'submit')
    refused = script('#SBATCH --wait')
    check('an option that the page cannot honour is refused', '--wait is not possible here' in str(refused), refused)
    refused = script('#SBATCH --partition=nosuch')
    check('a refusal names the field', '(field Partition)' in str(refused) and b.run("return document.querySelector('[aria-invalid=true]')?.id") == 'f-partition', refused)
    sh('scancel', str(job))
    place(b, f'job/{job}_1')
    check('a task has the address that squeue shows', b.wait("return /^#.job.[0-9]+$/.test(location.hash) && document.querySelector('main h1').textContent.startsWith('Job ')"), b.url())
    b.run("location.hash = '#/nonsense'")
    check('a page that is none says so', b.wait("return document.querySelector('main h1')?.textContent === 'No such page'"))


def keyboard(b):
    ids = [sh('sbatch', '--parsable', '-H', '-o', '/dev/null', '--wrap', 'true', user='nobody') for _ in range(3)]
    place(b, 'queue')
    b.wait("return document.querySelector('.grid').dataset.rows === '3'")
    b.run("document.activeElement.blur()")
    b.keys('/')
    check('/ searches', b.run("return document.activeElement.id === 'find'"))
    b.run("document.querySelector('.grid').focus()")
    b.keys('\ue015\ue015')
    check('arrows move, and it is said', b.wait("return document.querySelector('[role=row][aria-selected=true]') && document.getElementById('said').textContent.includes('pending')"))
    b.keys('\ue007')
    check('a page that is opened has the focus, and is said', b.wait("return document.activeElement.id === 'main' && document.getElementById('said').textContent.startsWith('Job')"))
    check('Enter opens', b.wait("return location.hash.startsWith('#/job/') && document.querySelector('main h1')?.textContent.startsWith('Job')"))
    check('why it waits is said', b.wait("return document.querySelector('.why')?.textContent.includes('Its owner holds it')"))
    at = b.url()
    b.run("document.querySelector('.skip').focus()")
    b.keys('\ue007')
    check('the way past the menu leaves the page as it is', b.wait("return document.activeElement.id === 'main'") and b.url() == at)
    b.keys('?')
    check('? tells the keys', b.wait("return document.querySelector('dialog')?.textContent.includes('what is chosen')"))
    shot(b, 'keys')
    b.click('dialog .main')
    seen = []
    place(b, 'queue')
    b.run("document.querySelector('.skip').focus()")
    for _ in range(40):
        b.keys('\ue004')
        e = b.run("const e = document.activeElement; return e.id || e.getAttribute('aria-label') || e.textContent.slice(0, 12)")
        if e in seen[:1]:
            break
        seen.append(e)
    order = ['search', 'logout', 'Now', 'Submit', 'Copy command', 'find', 'All', 'Jobs']
    places = [next((i for i, x in enumerate(seen) if x.startswith(o)), -1) for o in order]
    check('Tab goes through the page from its head to the list', places == sorted(places) and -1 not in places, ' '.join(seen))
    sh('scancel', *ids)


def by_keys_alone(b):
    """From one end to the other without a pointer: a job is submitted, found, and cancelled."""
    def to(what, most=60):
        for _ in range(most):
            if b.run("const e = document.activeElement; return e.id === arguments[0] || e.closest('dialog') && e.matches(arguments[0])", what):
                return True
            b.keys('\ue004')
        return False

    place(b, '')
    b.run("document.activeElement.blur()")
    b.keys('s')
    b.wait("return location.hash === '#/submit' && document.getElementById('f-script')")
    check('by keys: to the directory', to('f-directory'))
    b.run("document.activeElement.select?.()")
    b.keys(f'{dir_}/work')
    to('f-script')
    b.run("document.activeElement.select()")
    b.keys('#!/bin/sh')
    b.keys('\ue006')
    b.keys('sleep 200')
    check('by keys: to the button', to('send'))
    b.keys('\ue007')
    job = b.wait("return document.getElementById('submitted')?.textContent")
    check('by keys: submitted', bool(job), job or b.run("return document.querySelector('.error')?.textContent"))
    b.run("document.activeElement.blur()")
    b.keys('/')
    b.keys(str(job))
    b.keys('\ue007')
    check('by keys: found', b.wait("return document.querySelector('main h1')?.textContent === 'Job ' + arguments[0] && document.getElementById('cancel')", 20, str(job)))
    check('by keys: to its end', to('cancel'))
    b.keys('\ue007')
    b.wait("return document.querySelector('dialog .main')")
    check('by keys: in the question', to('.main', 8))
    b.keys('\ue007')
    check('by keys: cancelled', b.wait("return [...document.querySelectorAll('main .state')].some(x => x.textContent === 'cancelled')"))


def views(b):
    place(b, 'queue')
    b.wait("return document.getElementById('find')")
    b.type('#find', 'user:me name:kept')
    b.run("[...document.querySelectorAll('[aria-label=Views] button')].at(-1).click()")
    b.wait("return document.querySelector('dialog input')")
    b.type('dialog input', 'My kept ones')
    b.click('dialog .main')
    b.wait("return [...document.querySelectorAll('[aria-label=Views] button')].some(x => x.textContent === 'My kept ones')")
    b.run('location.reload()')
    time.sleep(.5)
    place(b, 'nodes')
    place(b, 'queue')
    b.wait("return document.querySelector('[aria-label=Views]')")
    b.run("[...document.querySelectorAll('[aria-label=Views] button')].find(x => x.textContent === 'My kept ones')?.click()")
    check('a view is kept by its name', b.wait("return document.getElementById('find').value === 'user:me name:kept' && location.hash.includes('kept')"))
    b.run("document.querySelector('[aria-label=\"Forget the view My kept ones\"]').click()")
    check('and forgotten', b.wait("return ![...document.querySelectorAll('[aria-label=Views] button')].some(x => x.textContent === 'My kept ones')"))


def times(b):
    """What is to come: the plan's bars and the reservations' days, as they change."""
    sh('scontrol', 'create', 'reservationname=fair', 'starttime=now+26hours', 'duration=120', 'nodes=n2', 'users=nobody')
    place(b, 'reservations')
    check('a reservation in the calendar', b.wait("return [...document.querySelectorAll('main svg.plot title')].some(t => t.textContent.startsWith('fair: ') && t.textContent.endsWith('n2'))"
          " && document.querySelector('main table').textContent.includes('nobody')"))
    shot(b, 'calendar')
    sh('scontrol', 'delete', 'reservationname=fair')
    check('and it goes by itself', b.wait("return document.querySelector('main .empty')?.textContent.includes('no reservations')"))
    first = sh('sbatch', '--parsable', '-J', 'first', '-N3', '--exclusive', '-t', '30', '-o', '/dev/null', '--wrap', 'sleep 300')
    then = sh('sbatch', '--parsable', '-J', 'later', '-N3', '--exclusive', '-t', '20', '-o', '/dev/null', '--wrap', 'sleep 300')
    place(b, 'plan')
    bars = b.wait("""const at = n => [...document.querySelectorAll('main svg.plot a')].find(a => a.getAttribute('aria-label').includes(n))?.querySelector('rect');
      const a = at(' first,'), z = at(' later,');
      return a && z && [a, z].map(r => [parseFloat(r.getAttribute('x')), parseFloat(r.getAttribute('width')), r.getAttribute('fill')])""", 20) or [[0, 0, ''], [0, 0, '']]
    check('what runs and what is planned, one after the other', bars[0][2] != bars[1][2] and abs(bars[0][0] + bars[0][1] - bars[1][0]) < 1.5, bars)
    shot(b, 'gantt')
    b.run("[...document.querySelectorAll('main svg.plot a')].find(a => a.getAttribute('aria-label').includes(' later,')).dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    check('a bar opens its job', b.wait("return document.querySelector('main h1')?.textContent === 'Job ' + arguments[0]", 20, then))
    check('when it will start is said', b.wait("return /start/.test(document.querySelector('main .why')?.textContent || '')"), b.run("return document.querySelector('main .why')?.textContent"))
    sh('scancel', first, then)


def past(b):
    """A job that slurmctld has forgotten, or never knew: page.sh has put it into accounting."""
    place(b, '')
    b.run("document.activeElement.blur()")
    b.keys('/')
    b.keys('900001')
    b.keys('\ue007')
    check('the search finds jobs of the past', b.wait("return document.querySelector('main h1')?.textContent === 'Job 900001' && document.querySelector('main').textContent.includes('long-gone')"
          " && document.querySelector('main').textContent.includes('failed') && !document.querySelector('main .error')"), b.run("return document.querySelector('main').textContent.slice(0, 400)"))
    place(b, 'job/900009')
    check('what was never there is not there', b.wait("return document.querySelector('main').textContent.includes('does not know it either')"))


def coordinator(b):
    for what in [['account', 'lab'], ['user', 'nobody', 'account=lab'], ['user', 'root', 'account=lab']]:
        sh('sacctmgr', '-i', 'add', *what)
    job = sh('sbatch', '--parsable', '-A', 'lab', '-H', '-o', '/dev/null', '--wrap=true')
    place(b, f'job/{job}')
    check("a job of the account's is seen", b.wait("return document.querySelector('main').textContent.includes('lab')"))
    check('who does not coordinate its account cannot cancel it', not b.run("return !!document.querySelector('#cancel')"))
    sh('sacctmgr', '-i', 'add', 'coordinator', 'account=lab', 'names=nobody')
    enter(b, 'nobody')
    place(b, f'job/{job}')
    b.wait("return document.querySelector('#cancel')")
    b.click('#cancel')
    b.wait("return document.querySelector('dialog .main')")
    b.click('dialog .main')
    check('who does can', b.wait("return [...document.querySelectorAll('main .state')].some(x => x.textContent.toLowerCase() === 'cancelled')"))


def operator(b):
    place(b, 'node/n3')
    check('who may not drain has no button for it', b.run("return ![...document.querySelectorAll('main button')].some(x => x.textContent.startsWith('Drain'))"))
    b.click('#logout')
    check('logged out', b.wait("return document.getElementById('token')") and b.run("return fetch('/muster/v1/session').then(r => r.status)") == 401)
    enter(b, 'root')
    place(b, 'node/n3')
    b.wait("return [...document.querySelectorAll('main button')].find(x => x.textContent.startsWith('Drain'))")
    b.run("[...document.querySelectorAll('main button')].find(x => x.textContent.startsWith('Drain')).click()")
    b.type('dialog input', 'a fan')
    b.click('dialog .main')
    check('drained from the page', b.wait("return document.querySelector('main .state')?.textContent === 'drained'"))
    check('and so it is', sh('sinfo', '-h', '-n', 'n3', '-p', 'main', '-o', '%T %E') == 'drained a fan')
    shot(b, 'drained')
    b.run("[...document.querySelectorAll('main button')].find(x => x.textContent === 'Resume').click()")
    check('and in use again', b.wait("return document.querySelector('main .state')?.textContent === 'idle'") and sh('sinfo', '-h', '-n', 'n3', '-p', 'main', '-o', '%T') == 'idle')


def many(b):
    place(b, 'queue')
    took = b.run("""
      return import('/store.js').then(s => {
        for (let i = 0; i < 100000; i++) s.jobs.set(1e6 + i, {job_id: 1e6 + i, array_job_id: 0, array_task_id: -1, array_task_string: '', name: 'job ' + i, user_name: 'user' + i % 97,
          account: 'a', partition: 'huge', qos: '', state: 'PENDING', flags: [], state_reason: 'Priority', priority: i, submit_time: 1, start_time: 0, end_time: 0, time_limit: 60, nodes: '',
          node_count: 1, cpus: 1, tres: '', scheduled_nodes: '', dependency: '', exit: '0:0', held: false, allocation: []});
        const began = performance.now();
        document.getElementById('find').dispatchEvent(new Event('input'));
        return Math.round(performance.now() - began); })""")
    rows = b.run("return [document.querySelector('.grid').dataset.rows, document.querySelectorAll('.grid .rows [role=row]').length]")
    check('100,000 jobs in the list', rows[0] == '100000' and rows[1] < 100 and took < 1000, f'{took} ms, {rows[1]} rows are there')


def narrow(b):
    """A telephone's width: nothing has to be pushed aside to be read, the search is there."""
    b.call('POST', b.session + '/window/rect', {'width': 420, 'height': 850})
    for where in ['', 'queue', 'plan', 'node/n1', 'partitions', 'reservations', 'limits', 'reports', 'submit', 'job/2']:
        place(b, where)
        time.sleep(.3)
        beyond = b.run("const m = document.querySelector('main'); return m.scrollWidth - m.clientWidth")
        check(f'narrow: {where or "now"}', beyond <= 1, f'{beyond} points too wide')
        cut = b.run("return [...document.querySelectorAll('main > .panel, main > .two, main > .tiles')].filter(p => p.scrollHeight > p.clientHeight + 18).map(p => p.textContent.slice(0, 30))")
        check(f'narrow: {where or "now"}: no panel is cut', not cut, cut)
        tab = b.run("const a = document.querySelector('.side [aria-current]')?.getBoundingClientRect(); return !a || a.left >= 0 && a.right <= innerWidth")
        check(f'narrow: {where or "now"}: its tab is in view', tab)
        shot(b, f'narrow-{where.replace("/", "-") or "now"}')
    check('narrow: the search', b.run("return document.getElementById('search').clientWidth") > 300)
    b.call('POST', b.session + '/window/rect', {'width': 1400, 'height': 900})


def dark(b):
    place(b, '')
    light = b.run("return getComputedStyle(document.body).backgroundColor")
    b.run("localStorage.setItem('muster-theme', 'dark'); location.reload()")
    b.wait("return document.getElementById('main')")
    b.wait("return document.querySelector('canvas')?.dataset.nodes")
    for where in ['', 'queue', 'plan', 'nodes', 'node/n1', 'partitions', 'reservations', 'shares', 'limits', 'reports', 'submit', 'job/2']:
        place(b, where)
        b.wait("return !document.body.textContent.includes('Loading …')", 5)
        legible(b, where, 'dark')
        shot(b, f'dark-{where.replace("/", "-") or "now"}')
    place(b, '')
    check('dark', b.run("return getComputedStyle(document.body).backgroundColor") != light)
    b.wait("return document.querySelector('canvas')?.dataset.nodes")
    time.sleep(.5)
    shot(b, 'dark')


b = Browser(port, f'{dir_}/profile')
try:
    look_around(b, int(os.environ.get('PAGE_NODES', '10000')))
    enter(b, 'nobody')
    b.complaints()
    for part in [happenings, output, limits, submit, keyboard, by_keys_alone, views, times]:
        part(b)
    # a refused submission is an answer of 400
    bad = [m for m in b.complaints() if 'favicon' not in m and 'v1/submit' not in m]
    check('the browser has nothing to complain of', not bad, '; '.join(bad)[:600])
    for part in [past, coordinator, operator, narrow, many, dark]:
        part(b)
finally:
    if fails:
        shot(b, 'last')
    b.close()
sys.exit(1 if fails else 0)
