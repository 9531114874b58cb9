"""A headless browser by the WebDriver protocol, with nothing but Python's own library."""
import base64, json, os, shutil, subprocess, sys, time, urllib.request, urllib.error

BROWSER = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
DRIVER = shutil.which('chromedriver') or shutil.which('chromium.chromedriver')
ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'


class Browser:
    def __init__(self, port, profile, dark=False, size='1400,900'):
        self.base = f'http://127.0.0.1:{port}'
        self.driver = subprocess.Popen([DRIVER, f'--port={port}', '--silent'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                urllib.request.urlopen(self.base + '/status', timeout=2)
                break
            except OSError:
                time.sleep(.1)
        args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', f'--window-size={size}', f'--user-data-dir={profile}', '--no-first-run',
                '--disable-background-networking', '--disable-component-update', '--disable-sync']
        if dark:
            args.append('--force-dark-mode')
        made = self.call('POST', '/session', {'capabilities': {'alwaysMatch': {'browserName': 'chrome', 'goog:loggingPrefs': {'browser': 'ALL'},
                         'goog:chromeOptions': {'binary': BROWSER, 'args': args}}}})
        self.session = '/session/' + made['sessionId']

    def call(self, method, path, body=None):
        data = None if method != 'POST' else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method, headers={'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)['value'].get('message', '')[:500]) from None

    def go(self, url):
        self.call('POST', self.session + '/url', {'url': url})

    def url(self):
        return self.call('GET', self.session + '/url')

    def run(self, script, *args):
        return self.call('POST', self.session + '/execute/sync', {'script': script, 'args': list(args)})

    def wait(self, script, seconds=20, *args):
        """What the script returns when it is no more false; the last it was when the time is over."""
        until = time.time() + seconds
        while True:
            value = self.run(script, *args)
            if value or time.time() > until:
                return value
            time.sleep(.1)

    def find(self, css):
        return self.call('POST', self.session + '/element', {'using': 'css selector', 'value': css})[ELEMENT]

    def click(self, css):
        self.call('POST', f'{self.session}/element/{self.find(css)}/click')

    def type(self, css, text):
        self.call('POST', f'{self.session}/element/{self.find(css)}/value', {'text': text})

    def keys(self, text):
        acts = []
        for k in text:
            acts += [{'type': 'keyDown', 'value': k}, {'type': 'keyUp', 'value': k}]
        self.call('POST', self.session + '/actions', {'actions': [{'type': 'key', 'id': 'k', 'actions': acts}]})

    def shot(self, path):
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.call('GET', self.session + '/screenshot')))

    def complaints(self):
        return [e['message'] for e in self.call('POST', self.session + '/se/log', {'type': 'browser'}) if e['level'] == 'SEVERE']

    def cookies(self):
        return self.call('GET', self.session + '/cookie')

    def close(self):
        try:
            self.call('DELETE', self.session)
        except (OSError, RuntimeError):
            pass
        self.driver.terminate()
        self.driver.wait()
