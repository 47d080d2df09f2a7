# SPDX-License-Identifier: BSD-2-Clause
"""Documentation: complete indexes, decision records of one form, tables that are whole."""
import re
import tomllib

RECORDS = "docs/design"
HEAD = re.compile(r"# (\d{4})\. ([A-Z0-9].*)\n\nDate: (\d{4}-\d\d-\d\d)\nStatus: (.*)\n\n")
STATUS = re.compile(r"accepted|(?:accepted; on .+ )?superseded by (\d{4})")


def _in(tree, folder):
    return [f for f in tree.files if str(f.parent) == folder and f.suffix == ".md"]


def _heads(tree):
    """File -> the match of its head, or None, of every record."""
    files = [f for f in _in(tree, RECORDS) if f.name != "README.md"]
    return {f: HEAD.match(tree.text(f)) for f in files}


def doc_records(tree):
    """Every decision record begins with the same head, and is where its number says."""
    problems = []
    heads = _heads(tree)
    for number, (file, head) in enumerate(heads.items(), 1):
        status = head and STATUS.fullmatch(head[4])
        if not status:
            problems.append(
                f"{file}: want '# NNNN. Title', 'Date: YYYY-MM-DD' and 'Status: accepted' or"
                " 'Status: superseded by NNNN', with empty lines around the last two"
            )
        elif not file.name.startswith(f"{head[1]}-") or int(head[1]) != number:
            problems.append(f"{file}: record {head[1]} in place {number:04}")
        elif status[1] and not any(f.name.startswith(status[1]) for f in heads):
            problems.append(f"{file}: superseded by {status[1]}, which is not there")
    return problems


def doc_record_index(tree):
    """The index of records has the row that each record's head makes, and no other."""
    heads = _heads(tree)
    rows = [f"| [{h[1]}]({f.name}) | {h[2]} | {h[3]} | {h[4]} |" for f, h in heads.items() if h]
    text = tree.text(f"{RECORDS}/README.md") if heads else ""
    found = re.findall(r"^\| \[.*$", text, re.M)
    problems = [f"{RECORDS}/README.md: want {row}" for row in rows if row not in found]
    return problems + [f"{RECORDS}/README.md: no record has {r}" for r in found if r not in rows]


def doc_index(tree):
    """docs/README.md has a line for each page of docs, once."""
    if not (tree.root / "docs/README.md").is_file():
        return ["docs/README.md is missing"]
    named = re.findall(r"^- .*?\]\(([^)#]+)\)", tree.text("docs/README.md"), re.M)
    pages = [f.name for f in _in(tree, "docs") if f.name != "README.md"]
    pages += ["design/README.md"] * any(_in(tree, RECORDS))
    return [
        f"docs/README.md: want one line that begins with a link to {page}, found {named.count(page)}"
        for page in pages
        if named.count(page) != 1
    ]


def doc_interop(tree):
    """docs/interop.md names each rule about which sources conflict, and options of tests/peer that exist."""
    def read(name):
        return tree.text(name) if (tree.root / name).is_file() else ""

    rules = tomllib.loads(tree.text("docs/requirements.toml"))["requirement"]
    text = read("docs/interop.md")
    first, _, rest = text.partition("## What the sources leave open")
    rows = re.findall(r"^\| `([a-z0-9.-]+)` \|", first, re.M)
    conflicts = {rule["id"] for rule in rules if rule["certainty"] == "C"}
    problems = [f"docs/interop.md: no row for {rule}" for rule in sorted(conflicts - set(rows))]
    problems += [f"docs/interop.md: {row} is no rule of certainty C" for row in rows if row not in conflicts]
    options = set(re.findall(r"\bX\(([a-z_]+), \d", read("tests/peer/peer_options.h")))
    last_cells = re.findall(r"\| ([^|]*) \|$", text, re.M)
    named = {name for cell in last_cells for name in re.findall(r"`([a-z_]+)`", cell)}
    return problems + [f"docs/interop.md: tests/peer has no option {name}" for name in sorted(named - options)]


# Those of the reviews of the core: of its protocol, of hostile peers and scale, of forged packets.
FINDINGS = [*(f"C{n}" for n in range(1, 18)), *(f"S{n}" for n in range(1, 11)),
            *(f"N{n}" for n in (2, 3, 7, 8, 9, 17, 18))]


def _is_test(tree, name):
    """Whether a name of the table of findings is that of a test, a script, or a world of tests/sim."""
    kind, _, rest = name.partition(" ")
    if kind == "script":
        pattern = f"tests/script/scripts/{rest}{'*' * rest.endswith('/')}.mrc"
    elif kind == "world":
        pattern = f"tests/sim/kept/{rest}.plan"
    else:
        return name == "every world of tests/sim" or any(
            f.name == f"{name}.c" and f.parts[0] == "tests" for f in tree.files)
    return any(tree.root.glob(pattern))


def doc_findings(tree):
    """Each finding has a row in docs/design/0037, with a result and tests that are there."""
    file = f"{RECORDS}/0037-core-findings.md"
    if not (tree.root / file).is_file():
        return []
    rows = {row[0]: row for row in re.findall(r"^\| ([A-Z]\d+b?) \| [^|]+ \| ([^|]+) \| [^|]+ \| ([^|]+) \|$",
                                              tree.text(file), re.M)}
    problems = [f"{file}: no row for {finding}" for finding in FINDINGS if finding not in rows]
    for finding, result, tests in rows.values():
        if not result.startswith(("cured", "bounded", "refuted", "open")):
            problems.append(f"{file}: {finding}: want cured, bounded, refuted or open: {result}")
        for name in tests.split(", "):
            other = rows.get(name.removeprefix("as "))
            if not _is_test(tree, name) and not (name.startswith("as ") and other):
                problems.append(f"{file}: {finding}: no test is called {name}")
    return problems


WIRE_RULES = {"svc", "wire", "req", "rsp", "ep", "cc"}


def conform_coverage(tree):
    """Every rule of the wire is checked by a case of src/conform, or listed there with a reason."""
    rules = tomllib.loads(tree.text("docs/requirements.toml"))["requirement"]
    wanted = {rule["id"] for rule in rules if rule["id"].split(".")[0] in WIRE_RULES}
    folder = tree.root / "src/conform"
    if not folder.is_dir():
        return []
    checked = set()
    for path in sorted((folder / "cases").glob("*.case")):
        for line in re.findall(r"^checks (.*)$", path.read_text(encoding="utf-8"), re.M):
            checked |= set(line.split())
    checked |= set(re.findall(r'"((?:%s)\.[a-z0-9.-]+)"' % "|".join(sorted(WIRE_RULES)), tree.text("src/conform/hear.c")))
    listed = {}
    for line in (folder / "not_covered.txt").read_text(encoding="utf-8").splitlines():
        reason, _, ids = line.partition(":")
        if not line.startswith("#"):
            listed |= dict.fromkeys(ids.split(), reason)
    problems = [f"src/conform: no case checks {rule}, nor is it in not_covered.txt" for rule in sorted(wanted - checked - set(listed))]
    problems += [f"src/conform: {rule} is no rule of docs/requirements.toml" for rule in sorted((checked | set(listed)) - wanted)]
    return problems + [f"src/conform/not_covered.txt: a case checks {rule}" for rule in sorted(checked & set(listed))]


FRONT_PAGE_WORDS = 599


def doc_front_page(tree):
    """The front page is read in two minutes."""
    words = len(tree.text("README.md").split()) if (tree.root / "README.md").is_file() else 0
    return [f"README.md: {words} words, at most {FRONT_PAGE_WORDS}: the rest belongs to docs"] if words > FRONT_PAGE_WORDS else []


def doc_changes(tree):
    """A release has each kind of change once: two branches that both begin one are merged into two."""
    text = tree.text("CHANGELOG.md") if (tree.root / "CHANGELOG.md").is_file() else ""
    problems = []
    for release in re.split(r"^## ", text, flags=re.M)[1:]:
        kinds = re.findall(r"^### (.*)", release, re.M)
        problems += [f"CHANGELOG.md: {release.splitlines()[0]}: '{kind}' stands twice" for kind in sorted(set(kinds)) if kinds.count(kind) > 1]
    return problems


def doc_version(tree):
    """The version is the newest release with nothing changed since, or one to come (docs/releasing.md)."""
    if not all((tree.root / name).is_file() for name in ("CHANGELOG.md", "CMakeLists.txt")):
        return []
    version = re.search(r"^set\(SOFTMRC_VERSION (\d+\.\d+\.\d+)(-dev)?\)$", tree.text("CMakeLists.txt"), re.M)
    if not version:
        return ["CMakeLists.txt: want a line set(SOFTMRC_VERSION MAJOR.MINOR.PATCH) or MAJOR.MINOR.PATCH-dev"]
    changes = tree.text("CHANGELOG.md")
    released = re.findall(r"^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$", changes, re.M)
    unreleased = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", changes, re.M | re.S)
    if not released or not unreleased:
        return ["CHANGELOG.md: want '## Unreleased', and '## VERSION (YYYY-MM-DD)' of each release"]
    if version[2]:
        later = [int(n) for n in version[1].split(".")] > [int(n) for n in released[0].split(".")]
        return [] if later else [f"CMakeLists.txt: {version[1]}-dev comes before {released[0]}, which is released"]
    if version[1] != released[0]:
        return [f"CMakeLists.txt: {version[1]} is no release of CHANGELOG.md, whose newest is {released[0]}: want -dev behind it"]
    return [f"CMakeLists.txt: {version[1]} is released, and there are changes since: the version moves on"] if "- " in unreleased[1] else []


def doc_tables(tree):
    """A row of a table stands below its head; an empty line between would end the table."""
    problems = []
    for file in (f for f in tree.files if f.suffix == ".md"):
        lines = ["", *tree.text(file).splitlines(), ""]
        for number, line in enumerate(lines[1:-1], 1):
            if (
                line.startswith("|")
                and not lines[number - 1].startswith("|")
                and not re.fullmatch(r"\|[-:| ]+\|", lines[number + 1])
            ):
                problems.append(f"{file}:{number}: a row that belongs to no table")
    return problems
