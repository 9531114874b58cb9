#!/usr/bin/env python3
"""Checks the links of every Markdown file of the repository and builds the documentation site from them.

    docs.py check          exit code 1 and one line per broken link, if any
    docs.py build DIR      check, then write the site into DIR

Called by ./muster docs and packaging/test.sh. Needs Python 3.9 or newer and its standard library, and no network.
The order of the pages is the order of the links in docs/README.md; a page of docs/ that is not linked there is an error.
"""
import html
import os
import re
import shutil
import sys
from pathlib import Path

SKIPPED_DIRECTORIES = {'.git', 'target', 'build', '.idea'}
CONTENTS = 'docs/README.md'
GLOSSARY = 'docs/glossary.md'
LINK = re.compile(r'(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()\s]*\))?[^()\s]*)\)')
CODE_SPAN = re.compile(r'(`+)(.+?)(?<!`)\1(?!`)')
HEADING = re.compile(r'^(#{1,6}) (.*?)\s*#*$')
FENCE = re.compile(r'^\s*(```+|~~~+)\s*(\S*)')
LIST_ITEM = re.compile(r'^(\s*)([*-]|\d+\.) (.*)$')
PAGE_MENTION = re.compile(r'(?<![\w./-])docs/[\w./-]+\.md\b')
MENTIONING_SUFFIXES = {'.java', '.sh', '.bash', '.c', '.h', '.py', '.example', '.md'}


def slug(text, taken):
    """Anchor of a heading as GitHub makes it; `taken` counts the anchors of the page so far."""
    text = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', text).replace('`', '').lower()
    base = ''.join(c for c in text if c.isalnum() or c in ' -_').replace(' ', '-')
    count = taken.get(base, 0)
    taken[base] = count + 1
    return base if count == 0 else f'{base}-{count}'


def without_code(lines):
    """Yields (number, line) of the lines outside fenced blocks, code spans blanked out."""
    fence = None
    for number, line in enumerate(lines, 1):
        mark = FENCE.match(line)
        if mark and (fence is None or line.strip().startswith(fence)):
            fence = None if fence else mark.group(1)
        elif fence is None:
            yield number, CODE_SPAN.sub(lambda m: ' ' * len(m.group(0)), line)


def anchors(text):
    taken, out, fence = {}, set(), None
    for line in text.splitlines():
        mark = FENCE.match(line)
        if mark and (fence is None or line.strip().startswith(fence)):
            fence = None if fence else mark.group(1)
        elif fence is None and HEADING.match(line):
            out.add(slug(HEADING.match(line).group(2), taken))
    return out


class Book:
    def __init__(self, root):
        self.root = Path(root).resolve()
        self.files = sorted(self.find())
        self.pages = {f: (self.root / f).read_text(encoding='utf-8') for f in self.files if f.endswith('.md')}

    def find(self):
        for directory, names, files in os.walk(self.root):
            names[:] = [n for n in names if n not in SKIPPED_DIRECTORIES]
            for name in files:
                yield os.path.relpath(os.path.join(directory, name), self.root)

    def target(self, page, link):
        """The path of a relative link from the root and its anchor; None for a link to elsewhere."""
        if re.match(r'^[a-z][a-z+.-]*:', link):
            return None
        path, _, anchor = link.partition('#')
        return os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page, anchor

    def links(self, page):
        for number, line in without_code(self.pages[page].splitlines()):
            for match in LINK.finditer(line):
                yield number, match.group(3)

    def contents(self):
        """Pages in the order of docs/README.md, which comes first."""
        order = [CONTENTS]
        for _, link in self.links(CONTENTS) if CONTENTS in self.pages else ():
            target = self.target(CONTENTS, link)
            if target and target[0] in self.pages and target[0] not in order:
                order.append(target[0])
        return order

    def errors(self):
        out = []
        for page in self.pages:
            for number, link in self.links(page):
                target = self.target(page, link)
                if target is None:
                    continue
                path, anchor = target
                if path.startswith('..') or not (self.root / path).exists():
                    out.append(f'{page}:{number}: no such file: {link}')
                elif anchor and path in self.pages and anchor not in anchors(self.pages[path]):
                    out.append(f'{page}:{number}: no such heading: {link}')
        listed = set(self.contents())
        linked = {self.target(p, link)[0] for p in self.pages if p in listed for _, link in self.links(p) if self.target(p, link)}
        for page in self.pages:
            if page.startswith('docs/') and page not in listed and page not in linked:
                out.append(f'{page}: no page of the contents leads to it')
        out.extend(self.mentions())
        out.extend(self.missing_classes())
        return out

    def missing_classes(self):
        """Classes that the last column of the glossary's tables names are files of the repository."""
        classes = {Path(f).stem for f in self.files if f.endswith('.java')}
        for number, line in enumerate(self.pages.get(GLOSSARY, '').splitlines(), 1):
            for name in re.findall(r'`(\w+)`', line.rsplit('|', 2)[1]) if line.startswith('|') else ():
                if name not in classes:
                    yield f'{GLOSSARY}:{number}: no such class: {name}'

    def mentions(self):
        """Pages that comments and texts name by their path, as docs/rest.md, exist."""
        for file in self.files:
            if Path(file).suffix not in MENTIONING_SUFFIXES or file.startswith('packaging/docs/'):
                continue
            lines = (self.root / file).read_text(encoding='utf-8', errors='replace').splitlines()
            for number, line in enumerate(lines, 1):
                for name in PAGE_MENTION.findall(line):
                    if name not in self.pages:
                        yield f'{file}:{number}: no such page: {name}'


class Renderer:
    """Markdown of one page to HTML: headings, paragraphs, lists, tables, fenced code, quotes and inline marks."""

    def __init__(self, url):
        self.url = url
        self.taken = {}

    def inline(self, text):
        spans = []

        def keep(markup):
            spans.append(markup)
            return f'\0{len(spans) - 1}\0'

        text = CODE_SPAN.sub(lambda m: keep('<code>' + html.escape(m.group(2).strip(), quote=False) + '</code>'), text)
        text = re.sub(r'\\([\\`*_{}\[\]()#+.!|<>-])', lambda m: keep(html.escape(m.group(1))), text)
        text = html.escape(text, quote=False)

        def link(match):
            target = html.escape(self.url(html.unescape(match.group(3))))
            if match.group(1):
                return keep(f'<img src="{target}" alt="{html.escape(match.group(2))}">')
            return keep(f'<a href="{target}">') + match.group(2) + keep('</a>')

        text = LINK.sub(link, text)
        text = re.sub(r'(?<![\w"/])(https?://[^\s<>)\0]+[^\s<>).,;:\0])', lambda m: keep(f'<a href="{m.group(1)}">{m.group(1)}</a>'), text)
        text = re.sub(r'\*\*(.+?)\*\*', r'<strong>\1</strong>', text)
        text = re.sub(r'(?<![\w*])\*(?![\s*])(.+?)(?<![\s*])\*(?![\w*])', r'<em>\1</em>', text)
        while '\0' in text:
            text = re.sub('\0(\\d+)\0', lambda m: spans[int(m.group(1))], text)
        return text

    @staticmethod
    def cells(line):
        line = line.strip()
        line = line[1:] if line.startswith('|') else line
        line = line[:-1] if line.endswith('|') and not line.endswith('\\|') else line
        return [c.strip().replace('\\|', '|') for c in re.split(r'(?<!\\)\|', line)]

    def render(self, lines):
        out, i = [], 0
        while i < len(lines):
            i = self.block(lines, i, out)
        return '\n'.join(out)

    def block(self, lines, i, out):
        line = lines[i]
        if not line.strip() or re.match(r'^<!--.*-->$', line.strip()):
            return i + 1
        fence, heading = FENCE.match(line), HEADING.match(line)
        if fence:
            return self.code(lines, i, fence, out)
        if heading:
            level = len(heading.group(1))
            anchor = slug(heading.group(2), self.taken)
            out.append(f'<h{level} id="{anchor}">{self.inline(heading.group(2))}</h{level}>')
            return i + 1
        if line.startswith('|') and i + 1 < len(lines) and re.match(r'^\|[\s:|-]+\|?$', lines[i + 1]):
            return self.table(lines, i, out)
        if LIST_ITEM.match(line):
            return self.items(lines, i, out)
        if line.startswith('>'):
            end = self.until(lines, i, lambda text: text.startswith('>'))
            out.append('<blockquote>' + self.render([re.sub(r'^> ?', '', text) for text in lines[i:end]]) + '</blockquote>')
            return end
        if line.startswith('    '):
            end = self.until(lines, i, lambda text: text.startswith('    ') or not text.strip())
            out.append('<pre><code>' + html.escape('\n'.join(text[4:] for text in lines[i:end]).rstrip(), quote=False) + '</code></pre>')
            return end
        end = self.until(lines, i, lambda text: text.strip() and not FENCE.match(text) and not HEADING.match(text)
                         and not LIST_ITEM.match(text) and not text.startswith('|'))
        end = max(end, i + 1)
        out.append('<p>' + self.inline('\n'.join(lines[i:end])) + '</p>')
        return end

    @staticmethod
    def until(lines, i, goes_on):
        while i < len(lines) and goes_on(lines[i]):
            i += 1
        return i

    @staticmethod
    def code(lines, i, fence, out):
        indent = len(lines[i]) - len(lines[i].lstrip())
        end = i + 1
        while end < len(lines) and not lines[end].strip().startswith(fence.group(1)):
            end += 1
        text = '\n'.join(line[indent:] if not line[:indent].strip() else line for line in lines[i + 1:end])
        out.append(f'<pre><code>{html.escape(text, quote=False)}</code></pre>')
        return end + 1

    def table(self, lines, i, out):
        head = self.cells(lines[i])
        rows = ['<tr>' + ''.join(f'<th>{self.inline(c)}</th>' for c in head) + '</tr>']
        i += 2
        while i < len(lines) and lines[i].startswith('|'):
            rows.append('<tr>' + ''.join(f'<td>{self.inline(c)}</td>' for c in self.cells(lines[i])) + '</tr>')
            i += 1
        out.append('<div class="table"><table>' + '\n'.join(rows) + '</table></div>')
        return i

    def items(self, lines, i, out):
        first = LIST_ITEM.match(lines[i])
        indent, kind = len(first.group(1)), 'ol' if first.group(2)[0].isdigit() else 'ul'
        body = []
        while i < len(lines):
            mark = LIST_ITEM.match(lines[i])
            if not mark or len(mark.group(1)) != indent or ('ol' if mark.group(2)[0].isdigit() else 'ul') != kind:
                break
            width = indent + len(mark.group(2)) + 1
            item, i = [mark.group(3)], i + 1
            while i < len(lines):
                text = lines[i]
                deeper = len(text) - len(text.lstrip()) > indent
                blank_inside = not text.strip() and i + 1 < len(lines) and lines[i + 1].strip() \
                    and len(lines[i + 1]) - len(lines[i + 1].lstrip()) > indent
                if not (text.strip() and deeper) and not blank_inside:
                    break
                item.append(text[width:] if not text[:width].strip() else text.lstrip())
                i += 1
            inner = self.render(item)
            body.append('<li>' + (inner[3:-4] if inner.count('<p>') == 1 and inner.startswith('<p>') and inner.endswith('</p>') else inner) + '</li>')
            while i + 1 < len(lines) and not lines[i].strip() and LIST_ITEM.match(lines[i + 1]) \
                    and len(LIST_ITEM.match(lines[i + 1]).group(1)) == indent:
                i += 1
        out.append(f'<{kind}>' + '\n'.join(body) + f'</{kind}>')
        return i


def html_path(page):
    if page == CONTENTS:
        return 'index.html'
    path = page[5:] if page.startswith('docs/') else 'repository/' + page
    return path[:-3] + '.html'


def title(text):
    for line in text.splitlines():
        if HEADING.match(line):
            return HEADING.match(line).group(2).replace('`', '')
    return 'Muster'


class Site:
    def __init__(self, book, out):
        self.book = book
        self.out = Path(out)
        order = book.contents()
        self.order = order + [p for p in book.pages if p not in order and not p.startswith('.')]
        self.copied = set()

    def url(self, page):
        here = os.path.dirname(html_path(page))

        def resolve(link):
            target = self.book.target(page, link)
            if target is None:
                return link
            path, anchor = target
            if path in self.book.pages:
                path = html_path(path)
            elif (self.book.root / path).is_file():
                self.copied.add(path)
                path = 'repository/' + path + '.txt'
            else:
                return '#'
            return os.path.relpath(path, here or '.') + ('#' + anchor if anchor else '')
        return resolve

    def page(self, page, index):
        text = self.book.pages[page]
        here = os.path.dirname(html_path(page)) or '.'
        chapters = Renderer(self.url(page))
        # the contents are written for docs/, and are shown beside each page
        chapters.url = lambda link: os.path.relpath(os.path.normpath(self.url(CONTENTS)(link).split('#')[0]), here) \
            if self.book.target(CONTENTS, link) else link
        side = chapters.render([line for line in self.book.pages[CONTENTS].splitlines() if line.startswith(('## ', '* '))])
        around = []
        for neighbour, label in ((index - 1, '← '), (index + 1, '')):
            if 0 <= neighbour < len(self.order):
                name = self.order[neighbour]
                around.append(f'<a href="{os.path.relpath(html_path(name), here)}">{label}{html.escape(title(self.book.pages[name]))}'
                              f'{"" if label else " →"}</a>')
        body = Renderer(self.url(page)).render(text.splitlines())
        style = os.path.relpath('style.css', here)
        home = os.path.relpath('index.html', here)
        return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
                f'<title>{html.escape(title(text))} · Muster</title><link rel="stylesheet" href="{style}"></head><body>'
                f'<nav><a class="home" href="{home}">Muster</a>{side}</nav><main>{body}<footer>{" · ".join(around)}</footer></main></body></html>\n')

    def build(self):
        style = Path(__file__).with_name('style.css')
        written = {}
        for index, page in enumerate(self.order):
            written[html_path(page)] = self.page(page, index)
        self.out.mkdir(parents=True, exist_ok=True)
        for path, text in written.items():
            (self.out / path).parent.mkdir(parents=True, exist_ok=True)
            (self.out / path).write_text(text, encoding='utf-8')
        for path in self.copied:
            to = self.out / 'repository' / (path + '.txt')
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.book.root / path, to)
        shutil.copyfile(style, self.out / 'style.css')
        return broken_in_site(self.out)


def broken_in_site(out):
    """Links of the written pages that lead to no file or to no heading of the site."""
    errors, ids = [], {}

    def ids_of(path):
        if path not in ids:
            ids[path] = set(re.findall(r' id="([^"]*)"', path.read_text(encoding='utf-8')))
        return ids[path]

    for page in sorted(Path(out).rglob('*.html')):
        for link in re.findall(r'(?:href|src)="([^"]*)"', page.read_text(encoding='utf-8')):
            if re.match(r'^[a-z]+:', link) or link == '#':
                continue
            path, _, anchor = html.unescape(link).partition('#')
            target = (page.parent / path).resolve() if path else page.resolve()
            if not target.is_file():
                errors.append(f'{page.relative_to(out)}: {link} leads nowhere')
            elif anchor and target.suffix == '.html' and anchor not in ids_of(target):
                errors.append(f'{page.relative_to(out)}: {link} has no such heading')
    return errors


def main(arguments):
    if arguments not in (['check'],) and not (len(arguments) == 2 and arguments[0] == 'build'):
        print(__doc__, file=sys.stderr)
        return 2
    book = Book(Path(__file__).resolve().parents[2])
    errors = book.errors()
    if not errors and arguments[0] == 'build':
        site = Site(book, arguments[1])
        errors = site.build()
        print(f'{len(site.order)} pages in {arguments[1]}: open {os.path.join(arguments[1], "index.html")}')
    elif not errors:
        print(f'links of {len(book.pages)} Markdown files are good')
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
