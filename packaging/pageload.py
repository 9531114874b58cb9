"""How long the page's places take in a real browser, and what slurmrestd and the page have in memory. pageload.py ADDRESS PORT PID PROFILE"""
import os, subprocess, sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.environ.get('DRIVER', 'cluster-tests')))
from webdriver import Browser

base, port, pid, profile = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]


def rss(key='VmRSS'):
    return next(int(l.split()[1]) for l in open(f'/proc/{pid}/status') if l.startswith(key)) >> 10


def line(what, ms, more=''):
    heap = b.call('POST', b.session + '/goog/cdp/execute', {'cmd': 'Runtime.getHeapUsage', 'params': {}})['usedSize'] >> 20
    print(f'{what:44s} {ms:8.0f} ms   slurmrestd {rss():5d} MB   page {heap:4d} MB   {more}', flush=True)


def timed(what, where, done, seconds=120):
    """From the click to the picture: the address is changed, and the page looks at each frame whether it is there."""
    b.run("location.hash = '#/partitions'")
    b.wait("return document.getElementById('main')?.dataset.place === 'partitions'")
    time.sleep(.5)
    b.run("""
      window.took = null; const done = () => { DONE }, began = performance.now(); location.hash = '#/' + arguments[0];
      const look = () => { try { const v = done(); if (v) { window.said = v; window.took = performance.now() - began; return; } } catch (e) { window.said = String(e); } requestAnimationFrame(look); };
      requestAnimationFrame(look)""".replace('DONE', done), where)
    ms = b.wait('return window.took', seconds)
    line(what, ms or float('nan'), b.run('return String(window.said)'))


b = Browser(port, profile)
try:
    link = subprocess.run(['muster', 'page', base], capture_output=True, text=True).stdout.strip()
    b.go(link)
    b.wait("return document.getElementById('main')", 30)
    b.wait("return document.querySelector('canvas')?.dataset.nodes", 60)
    b.run('location.reload()')
    time.sleep(.5)
    line('the first page, its map drawn', b.wait("return performance.getEntriesByName('muster-map')[0]?.startTime", 60), b.run("return document.querySelector('canvas').dataset.nodes + ' nodes'"))
    place = "const m = document.getElementById('main'); if (m.dataset.place !== '%s' || document.body.textContent.includes('Loading …')) return false; "
    b.go('about:blank')
    b.go(base + '/#/queue')
    rows = "const g = document.querySelector('.grid'); if (!g?.querySelector('.rows [role=row]') || document.body.textContent.includes('Loading jobs')) return false; return [performance.now(), g.dataset.rows]"
    seen = b.wait(rows, 60)
    line('the queue, its address typed', *(seen and [seen[0], seen[1] + ' rows'] or [float('nan')]))
    timed('queue, from another page', 'queue', place % 'queue' + "const g = document.querySelector('.grid'); return Number(g.dataset.rows) > 0 && g.querySelector('.rows [role=row]') && g.dataset.rows + ' rows'")
    timed('plan', 'plan', place % 'plan' + "return document.querySelector('main svg') ? 'drawn' : document.querySelector('main .empty')?.textContent")
    timed('nodes', 'nodes', place % 'nodes' + "const g = document.querySelector('.grid'); return Number(g.dataset.rows) > 0 && g.dataset.rows + ' rows'")
    for days in (1, 7, 30):
        done = place % 'reports' + "const all = [...document.querySelectorAll('.course svg')]; return all.length === 2 && document.querySelector('.plot') && [...document.querySelectorAll('main table')].at(-1).rows.length - 1 + ' rows, ' + " \
            "[...[...document.querySelectorAll('main table')].at(-1).rows].slice(1).reduce((a, r) => a + Number(r.cells[1].textContent.replace(/\\D/g, '')), 0) + ' jobs'"
        timed(f'reports of {days} days by account, with plots', f'reports?days={days}&by=account', done)
    timed('reports of 30 days by user', 'reports?days=30&by=user', done)
    timed('fair share', 'shares', place % 'shares' + "const n = document.querySelectorAll('main tr, main [role=row], main li, main details').length; return n > 10 && n + ' lines'")
    timed('limits', 'limits', place % 'limits' + "const n = document.querySelectorAll('main tr').length; return n > 3 ? n + ' lines' : document.querySelector('main .empty')?.textContent")
    for job in os.environ.get('ENDED', '').split():
        timed(f'job {job}, which is over', f'job/{job}', place % 'job' + "return m.textContent.includes('What it was') && document.querySelector('main dl').textContent.slice(0, 60)")
    line('at the most', 0, f'slurmrestd {rss("VmHWM")} MB')
    if os.environ.get('SHOTS'):
        for where in ('reports?days=30&by=account', 'shares', 'queue', 'limits'):
            b.run("location.hash = '#/' + arguments[0]", where)
            time.sleep(4)
            b.shot(f"{os.environ['SHOTS']}/{where.split('?')[0]}.png")
    print('complaints:', [m for m in b.complaints() if 'favicon' not in m])
finally:
    b.close()
