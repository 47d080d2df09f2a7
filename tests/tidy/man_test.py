# SPDX-License-Identifier: BSD-2-Clause
"""man_test.py MRC: the manual pages are made from what is written now, whole, and clean roff."""
import importlib.machinery
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import run
import tap
import verbs
from tree import Skip

MRC = sys.argv[1] if len(sys.argv) > 1 else ""
MAN = run.ROOT / "docs/man"
PUBLIC_NODE = re.compile(r"^((?:SOFT)?MRC_(?:CTL_)?[0-9.]+) \{\nglobal:\n(.*?)(?:local:|\})", re.S | re.M)


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


def inline():
    """The calls that a program compiles itself; a name that ends with _ is a header's own."""
    texts = [path.read_text(encoding="utf-8") for path in (run.ROOT / "include/mrc").glob("*.h")]
    return {name for text in texts for name in re.findall(r"^static inline \w+ (mrc_\w+[a-z])\(", text, re.M)}


def compare(symbols, pages):
    """Problems about symbols without a page and pages without a symbol."""
    problems = [f"{name}: exported, but has no page" for name in sorted(symbols - pages)]
    return problems + [f"{name}.3: no such symbol" for name in sorted(pages - symbols)]


def every_symbol_has_a_page():
    pages = {page.stem for page in (MAN / "man3").glob("*.3")}
    symbols = exported()
    if len(symbols) != 50:
        return [f"the map has {len(symbols)} public calls, not 27 and 14 of OCP and 9 of softmrc"]
    return compare(symbols | inline(), pages)


def what_is_missing_is_noticed():
    """The check itself: a symbol too many, a page too many."""
    want = ["b: exported, but has no page", "c.3: no such symbol"]
    got = compare({"a", "b"}, {"a", "c"})
    return [] if got == want else [f"want {want}, got {got}"]


def pages_have_all_parts():
    """Every page of a call says what it does, returns and refuses."""
    parts = ("NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "ERRORS", "SEE ALSO")
    problems = []
    for page in sorted((MAN / "man3").glob("*.3")):
        text = page.read_text(encoding="utf-8")
        heads = tuple(re.findall(r"^\.SH (.*)$", text, re.M))
        if heads != parts:
            problems.append(f"{page.name}: parts {heads}")
        if not re.search(rf"^{page.stem} \\- \S.{{8,}}$", text, re.M):
            problems.append(f"{page.name}: no summary")
    return problems


def sections(page):
    """The parts of mrc(1) that begin with `.SS mrc VERB`, by verb."""
    return {part.partition("\n")[0]: part for part in page.split("\n.SS mrc ")[1:]}


def missing(page, wanted):
    """Problems about verbs without a section, and flags that their section has not."""
    found = sections(page)
    problems = [f"mrc {verb}: no section" for verb in wanted if verb and verb not in found]
    for verb, text in found.items():
        bold = {flag.replace("\\-", "-") for flag in re.findall(r"^\\fB([^ ]+?)\\fP", text, re.M)}
        problems += [f"mrc {verb}: no {f}" for f in wanted.get(verb, []) if f not in bold]
    return problems


def mrc_page_has_every_verb_and_flag():
    page, wanted = verbs.output(MRC, "man"), verbs.read(MRC)
    if len(wanted) < 25:
        return [f"found {sorted(wanted)} only"]
    # Each has --help; the page says so once.
    wanted = {verb: [f for f in flags if f != "--help"] for verb, flags in wanted.items()}
    problems = missing(page, wanted)
    told = {flag for flags in wanted.values() for flag in flags}
    for flag in sorted(verbs.declared() - told):
        problems.append(f"{flag}: in a table of flags, but of no verb")
    return problems


def mrcd_page_has_every_flag():
    page, flags = (MAN / "man8/mrcd.8").read_text(encoding="utf-8").replace("\\-", "-"), verbs.declared(daemon=True)
    if not flags:
        return ["mrcd has no flags"]
    return [f"mrcd(8): no {flag}" for flag in sorted(flags) if flag not in page]


def a_missing_flag_is_noticed():
    """The check itself: a verb and a flag too many, and a table that is read."""
    page = verbs.output(MRC, "man")
    got = missing(page, {"fly": [], "sim run": ["--seed", "--sede"]})
    declared = verbs.declared()
    if got != ["mrc fly: no section", "mrc sim run: no --sede"]:
        return [f"got {got}"]
    return [f"{f} is not declared" for f in ("--seed", "--emit", "--vary") if f not in declared]


def mrc_page_refers_to_pages():
    """What the page refers to exists here."""
    known = {page.name for page in MAN.glob("man*/*")} | {"mrc.1"}
    named = re.findall(r"^\.BR (\w+) \((\d)\)", verbs.output(MRC, "man"), re.M)
    if not named:
        return ["no page is named"]
    return [f"{n}({s}): no such page" for n, s in named if f"{n}.{s}" not in known]


def pages(folder):
    """All pages, mrc(1) among them, which is written to a folder."""
    page = pathlib.Path(folder, "mrc.1")
    page.write_text(verbs.output(MRC, "man"), encoding="utf-8")
    return [page, *sorted(MAN.glob("man[378]/*"))]


def lint(command, harmless):
    """What a program says about the pages, without what is no fault."""
    if not shutil.which(command[0]):
        raise Skip(f"no {command[0]} here")
    with tempfile.TemporaryDirectory() as folder:
        said = [
            subprocess.run([*command, str(page)], capture_output=True, text=True, check=False)
            for page in pages(folder)
        ]
    # groff writes the page on stdout, mandoc its findings.
    texts = [done.stdout if command[0] == "mandoc" else done.stderr for done in said]
    lines = [line for text in texts for line in text.splitlines()]
    return [line for line in lines if not any(word in line for word in harmless)]


def groff_is_content():
    # Long words of code cannot be broken; that is no fault.
    return lint(["groff", "-man", "-Tutf8", "-ww", "-rLL=100n"], ("break", "adjust"))


def mandoc_is_content():
    return lint(["mandoc", "-T", "lint", "-W", "warning"], ("cannot parse date",))


def main():
    man = load_man()
    tap.main(
        [
            ("man__pages_are_current", man.stale),
            ("man__every_symbol_has_a_page", every_symbol_has_a_page),
            ("man__what_is_missing_is_noticed", what_is_missing_is_noticed),
            ("man__pages_have_all_parts", pages_have_all_parts),
            ("man__mrc_page_has_every_verb_and_flag", mrc_page_has_every_verb_and_flag),
            ("man__mrcd_page_has_every_flag", mrcd_page_has_every_flag),
            ("man__a_missing_flag_is_noticed", a_missing_flag_is_noticed),
            ("man__mrc_page_refers_to_pages", mrc_page_refers_to_pages),
            ("man__groff_is_content", groff_is_content),
            ("man__mandoc_is_content", mandoc_is_content),
        ]
    )


if __name__ == "__main__":
    main()
