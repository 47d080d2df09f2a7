# SPDX-License-Identifier: BSD-2-Clause
"""site_test.py [--browser]: the site of the documentation: built strictly, whole, two clicks deep, and shown without a fault.

Without --browser only what is quick: the build, and what stands in the files.
"""
import html.parser
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/tidy"), str(ROOT / "tests/page")]
import tap  # noqa: E402
from tree import Skip  # noqa: E402
from browser import DESK, PHONE, Browser  # noqa: E402

CLICKS = 2
# Shown in every way; the others in one each, in turn, for each takes a second.
WAYS = [(DESK, False), (DESK, True), (PHONE, False), (PHONE, True)]
IN_EVERY_WAY = ("index.html", "docs/results.html", "docs/metrics.html", "docs/man/mrc_poll_cq.3.html")


class Links(html.parser.HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if "id" in found:
            self.places.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        elif tag in ("link", "script", "img", "iframe"):
            self.loads |= {found[name] for name in ("href", "src") if name in found}


class Site:
    def __init__(self):
        self.work = tempfile.TemporaryDirectory(prefix="softmrc-site-")
        self.root = pathlib.Path(self.work.name) / "site"
        self.pages = {}

    def builds(self):
        """mkdocs finds no fault with any page, link or list."""
        for program in ("mkdocs", "mandoc"):
            if not shutil.which(program):
                raise Skip(f"no {program}; make check-full installs it")
        done = subprocess.run([ROOT / "tools/site", self.root], capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stdout + done.stderr).splitlines()
        self.pages = {str(p.relative_to(self.root)): Links(p.read_text(encoding="utf-8")) for p in self.root.rglob("*.html")}
        return []

    def need(self):
        if not self.pages:
            raise Skip("not built")

    def resolve(self, page, link):
        """The page or file in the site that a link leads to and the place in it; None for other sites."""
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            return None
        target = (self.root / page).parent / urllib.parse.unquote(parts.path) if parts.path else self.root / page
        return str(target.resolve().relative_to(self.root.resolve())), parts.fragment

    def is_whole(self):
        """All that is linked to and loaded is there, and nothing is loaded from elsewhere."""
        self.need()
        problems = []
        for page, found in self.pages.items():
            for link in found.links | found.loads:
                target = self.resolve(page, link)
                if target is None:
                    problems += [f"{page} loads {link}"] if link in found.loads else []
                elif not (self.root / target[0]).is_file():
                    problems.append(f"{page}: {link} is not there")
                elif target[1] and target[0] in self.pages and target[1] not in self.pages[target[0]].places:
                    problems.append(f"{page}: {link}: no such place")
        return problems

    def is_two_clicks_deep(self):
        """Every page can be reached from the front page by two links."""
        self.need()
        reached = near = {"index.html"}
        for _ in range(CLICKS):
            near = {target[0] for page in near for link in self.pages[page].links
                    if (target := self.resolve(page, link)) and target[0] in self.pages} - reached
            reached = reached | near
        return [f"{page} takes more than {CLICKS} clicks" for page in sorted(set(self.pages) - reached)]

    def is_shown(self):
        """Every page, light or dark, wide or as on a phone: no error, nothing missing, nothing wider than the window."""
        self.need()
        problems = []
        with Browser() as browser:
            for number, page in enumerate(sorted(self.pages)):
                for size, dark in WAYS if page in IN_EVERY_WAY else [WAYS[number % len(WAYS)]]:
                    browser.look(size, dark)
                    browser.open((self.root / page).as_uri())
                    wide = browser.too_wide()
                    problems += [f"{page}: {p}" for p in browser.problems] + ([f"{page}: at {size[0]}: too wide: {wide}"] if wide else [])
        return problems

    def finds(self):
        """The search shows a page that has the words, from a disk, and says where nothing has them."""
        self.need()
        with Browser() as browser:
            browser.look()
            browser.open((self.root / "docs/lab.html").as_uri())
            browser.value("document.getElementById('search').focus()")
            browser.value("new Promise((r) => { const s = document.getElementById('index'); s.addEventListener('load', r); })")
            problems = list(browser.problems)
            for words, want in (("reorder window", "docs/configuration.html"), ("no such thing at all qx", "nothing has all")):
                browser.value(f"(() => {{ const s = document.getElementById('search'); s.value = '{words}'; s.dispatchEvent(new Event('input')); }})()")
                found = browser.value("document.getElementById('found').innerHTML")
                problems += [] if want in found else [f"'{words}': no {want} in {found[:400]}"]
        return problems


def main():
    site = Site()
    names = ["builds", "is_whole", "is_two_clicks_deep"] + ["is_shown", "finds"] * ("--browser" in sys.argv)
    tap.main([(f"site__{name}", getattr(site, name)) for name in names])


if __name__ == "__main__":
    main()
