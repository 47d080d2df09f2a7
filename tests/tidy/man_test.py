# SPDX-License-Identifier: BSD-2-Clause
"""The manual pages: made from what is written now, one for each call, without faults of roff."""
import importlib.machinery
import importlib.util
import re
import shutil
import subprocess

import run
import tap

MAN = run.ROOT / "docs/man"
PUBLIC_NODE = re.compile(r"^(MRC_[A-Z0-9_.]+) \{\nglobal:\n(.*?)(?:local:|\})", re.S | re.M)


def load_man():
    """tools/man is a program without a suffix; this imports it all the same."""
    loader = importlib.machinery.SourceFileLoader("man", str(run.ROOT / "tools/man"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("man", loader))
    loader.exec_module(module)
    return module


def exported():
    """The calls that libmrc.so.1 shows to everybody."""
    text = (run.ROOT / "src/libmrc/libmrc.map").read_text(encoding="utf-8")
    nodes = PUBLIC_NODE.findall(text)
    return {name for _, names in nodes for name in re.findall(r"(\w+);", names)}


def compare(symbols, pages):
    """Complaints about symbols without a page and pages without a symbol."""
    complaints = [f"{name}: exported, but has no page" for name in sorted(symbols - pages)]
    return complaints + [f"{name}.3: no such symbol" for name in sorted(pages - symbols)]


def every_symbol_has_a_page():
    pages = {page.stem for page in (MAN / "man3").glob("*.3")}
    symbols = exported()
    if len(symbols) != 41:
        return [f"the map has {len(symbols)} public calls, not 27 and 14"]
    return compare(symbols, pages)


def what_is_missing_is_noticed():
    """The check itself: a symbol too many, a page too many."""
    want = ["b: exported, but has no page", "c.3: no such symbol"]
    got = compare({"a", "b"}, {"a", "c"})
    return [] if got == want else [f"want {want}, got {got}"]


def pages_have_all_parts():
    """Every page of a call says what it does, returns and refuses."""
    parts = ("NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "ERRORS", "SEE ALSO")
    complaints = []
    for page in sorted((MAN / "man3").glob("*.3")):
        text = page.read_text(encoding="utf-8")
        heads = tuple(re.findall(r"^\.SH (.*)$", text, re.M))
        if heads != parts:
            complaints.append(f"{page.name}: parts {heads}")
        if not re.search(rf"^{page.stem} \\- \S.{{8,}}$", text, re.M):
            complaints.append(f"{page.name}: no summary")
    return complaints


def roff_is_clean():
    if not shutil.which("groff"):
        return []
    complaints = []
    for page in sorted(MAN.glob("man[137]/*")):
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-rLL=100n", str(page)],
            capture_output=True,
            text=True,
            check=False,
        )
        # Long words of code cannot be broken; that is no fault.
        complaints += [
            line for line in done.stderr.splitlines() if "break" not in line and "adjust" not in line
        ]
    return complaints


def main():
    man = load_man()
    tap.main(
        [
            ("man__pages_are_current", man.stale),
            ("man__every_symbol_has_a_page", every_symbol_has_a_page),
            ("man__what_is_missing_is_noticed", what_is_missing_is_noticed),
            ("man__pages_have_all_parts", pages_have_all_parts),
            ("man__roff_is_clean", roff_is_clean),
        ]
    )


if __name__ == "__main__":
    main()
