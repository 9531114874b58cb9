#!/usr/bin/env python3
"""Tests of docs.py on small repositories of their own."""
import tempfile
import unittest
from pathlib import Path

import docs


class DocsTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def book(self, **files):
        for name, text in files.items():
            path = Path(self.directory.name) / name.replace('__', '/').replace('_md', '.md').replace('_java', '.java')
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return docs.Book(self.directory.name)

    def html(self, text):
        return docs.Renderer(lambda link: link).render(text.splitlines())

    def test_good_links_are_accepted(self):
        book = self.book(docs__README_md='* [A](a.md#one-two)\n* [elsewhere](https://example.org/x)\n', docs__a_md='# One, `two`\n[up](../README.md)\n', README_md='x')
        self.assertEqual([], book.errors())

    def test_missing_file_is_named_with_its_line(self):
        self.assertEqual(['docs/README.md:2: no such file: b.md'], self.book(docs__README_md='x\n[B](b.md)\n').errors())

    def test_missing_heading_is_named(self):
        book = self.book(docs__README_md='[A](a.md#three)\n', docs__a_md='# One\n```\n# Three\n```\n')
        self.assertEqual(['docs/README.md:1: no such heading: a.md#three'], book.errors())

    def test_link_out_of_the_repository_is_refused(self):
        self.assertEqual(['docs/README.md:1: no such file: ../../etc'], self.book(docs__README_md='[x](../../etc)\n').errors())

    def test_links_in_code_are_no_links(self):
        self.assertEqual([], self.book(docs__README_md='`[x](y.md)`\n```\n[x](y.md)\n```\n').errors())

    def test_page_outside_the_contents_is_named(self):
        book = self.book(docs__README_md='x\n', docs__lost_md='x\n')
        self.assertEqual(['docs/lost.md: no page of the contents leads to it'], book.errors())

    def test_page_named_in_a_comment_must_exist(self):
        book = self.book(docs__README_md='x\n', A_java='/** See docs/gone.md. */\n')
        self.assertEqual(['A.java:1: no such page: docs/gone.md'], book.errors())

    def test_class_of_the_glossary_must_exist(self):
        book = self.book(docs__README_md='[g](glossary.md)\n', docs__glossary_md='| a `x` | b | `Here`, `Gone` |\n', room__Here_java='class Here {}\n')
        self.assertEqual(['docs/glossary.md:1: no such class: Gone'], book.errors())

    def test_repeated_headings_are_numbered(self):
        self.assertEqual({'a', 'a-1'}, docs.anchors('# A\n## A\n'))

    def test_inline_marks(self):
        self.assertEqual('<p><strong>b</strong> <em>i</em> <code>a*b*&lt;</code> <a href="x.md">l</a> 2 * 3 * 4</p>',
                         self.html('**b** *i* `a*b*<` [l](x.md) 2 * 3 * 4'))

    def test_table_with_escaped_bar(self):
        self.assertIn('<td><code>a|b</code></td><td>c</td>', self.html('| x | y |\n|---|---|\n| `a\\|b` | c |'))

    def test_nested_list_and_code_in_an_item(self):
        got = self.html('1. one\n   * in\n2. two\n\n   ```\n   code\n   ```\n\nafter')
        self.assertEqual('<ol><li><p>one</p>\n<ul><li>in</li></ul></li>\n<li><p>two</p>\n<pre><code>code</code></pre></li></ol>\n<p>after</p>', got)

    def test_site_leads_somewhere(self):
        book = self.book(docs__README_md='# Book\n## Part\n* [A](a.md)\n* [Up](../README.md)\n', docs__a_md='# A\n[to](sub/b.md#x) [raw](f.txt)\n',
                         docs__sub__b_md='# X\n[back](../a.md#a)\n', README_md='# R\n[a](docs/a.md)\n')
        (Path(self.directory.name) / 'docs/f.txt').write_text('raw')
        out = Path(self.directory.name) / 'build'
        site = docs.Site(book, out)
        self.assertEqual([], site.build())
        self.assertEqual(['docs/README.md', 'docs/a.md', 'README.md', 'docs/sub/b.md'], site.order)
        self.assertEqual('raw', (out / 'repository/docs/f.txt.txt').read_text())
        (out / 'sub/b.html').unlink()
        self.assertIn('a.html: sub/b.html#x leads nowhere', docs.broken_in_site(out))


if __name__ == '__main__':
    unittest.main()
