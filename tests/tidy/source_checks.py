# SPDX-License-Identifier: BSD-2-Clause
"""Checks that read the sources. Each takes a Tree and returns a list of problems."""
import collections
import pathlib
import re

import csource
from tree import PURE_MODULES

PURE_FOLDERS = [f"src/{module}" for module in PURE_MODULES]
PURE_HEADERS = {"stdint.h", "stddef.h", "stdbool.h", "string.h", "limits.h"}
# The panic hook that an adapter may replace: it prints and aborts.
PANIC_HOOK = "src/base/panic_abort.c"
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 70
MAX_COLUMNS = 100
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"\n]+)[>"]', re.M)


def _target(tree, folder, bracket, name):
    """What an #include line names: (folder or None for the system, path as the table writes it).

    Below src/ a quoted name is written from src/; an example or a binding may name its neighbour. The headers
    of bpf/ are written from the root, everywhere.
    """
    if folder in ("examples", "bindings") and (tree.root / folder / name).is_file():
        return folder, name
    if (tree.root / "include" / name).is_file():
        return "include", "include"
    if bracket == '"' and name.startswith("bpf/"):
        return "bpf", name
    if bracket == "<":
        return None, name
    return "src/" + name.split("/")[0], "src/" + name


def layer_includes(tree):
    """Every arrow between folders is in the layer table; pure modules see four system headers."""
    problems = []
    folders = {tree.folder_of(f) for f in tree.c_files("src", "examples", "bindings", "bpf")}
    problems += [f"{f}/ is not in the layer table" for f in sorted(folders - set(tree.layers))]
    for path in tree.c_files("src", "examples", "bindings", "bpf"):
        folder = tree.folder_of(path)
        allowed = tree.layers.get(folder, set()) | {folder}
        text = tree.text(path)
        for match in INCLUDE.finditer(csource.without_comments(text)):
            at = f"{path}:{csource.line_of(text, match.start())}"
            target, full = _target(tree, folder, match[1], match[2])
            if target is None:
                pure = folder in PURE_FOLDERS and str(path) != PANIC_HOOK
                if pure and full not in PURE_HEADERS:
                    problems.append(f"{at}: {folder} -> <{full}>, which a pure module may not see")
            elif target not in ("include", "examples", "bindings") and not (tree.root / full).is_file():
                problems.append(f'{at}: "{match[2]}" is not a path below src/')
            elif target not in allowed and full not in allowed:
                problems.append(f"{at}: arrow {folder} -> {full} is not in the layer table")
    return problems


def part_order(tree):
    """Each row of the second table names only parts above it: so parts have no cycle."""
    problems = []
    above = set()
    for part in tree.parts:
        for name in sorted(tree.layers[part] - above):
            problems.append(f"ARCHITECTURE.md: {part} may include {name}, which is not above it")
        above.add(part)
    return problems


def part_includes(tree):
    """Every arrow between parts of a module is in the second table.

    What lies in a module's own folder is its boundary: all its parts may include it, and it
    includes none of them.
    """
    problems = []
    modules = {part.rpartition("/")[0] for part in tree.parts}
    for path in tree.c_files("src"):
        module, part = tree.folder_of(path), tree.part_of(path)
        if module not in modules:
            continue
        if part and part not in tree.layers:
            problems.append(f"{path}: {part}/ is not in the table of parts")
            continue
        allowed = tree.layers[part] | {part} if part else set()
        text = tree.text(path)
        for match in INCLUDE.finditer(csource.without_comments(text)):
            target = tree.part_of(pathlib.PurePath("src", match[2]))
            if match[1] != '"' or not target or not target.startswith(module + "/"):
                continue
            if target not in allowed:
                at = f"{path}:{csource.line_of(text, match.start())}"
                problems.append(f"{at}: arrow {part or module} -> {target} is not in the table")
    return problems


def lengths(tree):
    """No file over 600 lines, no function over 70."""
    problems = []
    for path in tree.c_files("src", "examples", "bindings", "bpf"):
        text = tree.text(path)
        lines = text.count("\n")
        if lines > MAX_FILE_LINES:
            problems.append(f"{path}: {lines} lines, at most {MAX_FILE_LINES}")
        for function in csource.functions(text):
            lines = text.count("\n", function.start, function.end) + 1
            if lines > MAX_FUNCTION_LINES:
                at = csource.line_of(text, function.start)
                problems.append(
                    f"{path}:{at}: {function.name} has {lines} lines, at most {MAX_FUNCTION_LINES}"
                )
    return problems


def widths(tree):
    """No line of C is wider than 100 columns; clang-format leaves comments as they are."""
    problems = []
    for path in tree.c_files("src", "include", "examples", "bindings", "bpf", "bench", "tests"):
        formatted = True
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if "clang-format o" in line:
                formatted = "clang-format on" in line
            columns = len(line.expandtabs(8))
            if formatted and columns > MAX_COLUMNS:
                problems.append(f"{path}:{number}: {columns} columns, at most {MAX_COLUMNS}")
    return problems


# Written in pieces, so that this file does not contain what it looks for.
LEAKS = re.compile(
    r"(?<![\w.$}])/" + r"work/|\.\./sha" + r"red\b|\bTO" + r"DO\b|\bFIX" + r"ME\b|\bX" + r"XX\b"
)


def leaks(tree):
    """Nothing of the place where it was written, and no notes to self."""
    problems = []
    for path in tree.files:
        try:
            text = tree.text(path)
        except UnicodeDecodeError:
            continue  # a binary file, such as a fuzz corpus entry
        for match in LEAKS.finditer(text):
            problems.append(f"{path}:{csource.line_of(text, match.start())}: {match[0]}")
    return problems


def spdx(tree):
    """Sources begin with their licence, behind a #! line where there is one."""
    problems = []
    for path in tree.files:
        if path.suffix in (".c", ".h"):
            wanted = r"/\* SPDX-License-Identifier: BSD-2-Clause \*/\n"
        elif path.suffix in (".py", ".sh", ".cmake") or path.name == "CMakeLists.txt" or (
            path.parts[0] == "tools" and not path.suffix
        ):
            wanted = r"(#!.*\n)?# SPDX-License-Identifier: BSD-2-Clause\n"
        else:
            continue
        if not re.match(wanted, tree.text(path)):
            problems.append(f"{path}:1: does not begin with the SPDX line")
    return problems


def readme_modules(tree):
    """Every module says what it is for."""
    modules = sorted({f.parts[1] for f in tree.files if f.parts[0] == "src" and len(f.parts) > 2})
    return [
        f"src/{module}/README.md is missing or empty"
        for module in modules
        if not (tree.root / "src" / module / "README.md").is_file()
        or not tree.text(f"src/{module}/README.md").strip()
    ]


def doc_links(tree):
    """Relative links in documents lead to files."""
    problems = []
    for path in (f for f in tree.files if f.suffix == ".md"):
        text = tree.text(path)
        for match in re.finditer(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if "://" in match[1] or match[1].startswith("mailto:"):
                continue
            if not (tree.root / path.parent / match[1]).exists():
                at = csource.line_of(text, match.start())
                problems.append(f"{path}:{at}: dead link to {match[1]}")
    return problems


def _entry_problems(entry, number):
    name = entry.get("id") or f"entry {number}"
    problems = []
    for key in ("id", "text", "source", "certainty"):
        if not str(entry.get(key, "")).strip():
            problems.append(f"{name}: {key} is missing")
    if not re.fullmatch(r"[a-z0-9]+([.-][a-z0-9]+)+", entry.get("id", "x.x")):
        problems.append(f"{name}: an id is lower case words joined by dots and dashes")
    if entry.get("certainty", "F") not in ("F", "S", "C", "I", "N"):
        problems.append(f"{name}: certainty {entry['certainty']}, want F, S, C, I or N")
    if entry.get("status", "enforced") != "enforced":
        problems.append(f"{name}: status {entry['status']}, want enforced or nothing")
    if ("status" in entry) == bool(str(entry.get("open", "")).strip()):
        problems.append(f"{name}: want status or open, which says what is missing")
    extra = set(entry) - {"id", "text", "source", "certainty", "status", "note", "open"}
    problems += [f"{name}: unknown key {key}" for key in sorted(extra)]
    return problems


def requirements(tree, conformance):
    """Cited ids exist; what claims to be enforced is cited by code and by a test."""
    entries = conformance.load(tree.root)["requirement"]
    code, tests = conformance.in_code(tree.root), conformance.in_tests(tree.root)
    known = collections.Counter(e.get("id") for e in entries)
    problems = [f"{name}: {n} entries with this id" for name, n in known.items() if n > 1]
    for number, entry in enumerate(entries, 1):
        problems += _entry_problems(entry, number)
    for cited in (code, tests):
        for name, places in cited.items():
            if name not in known:
                problems.append(
                    f"{places[0][0]}: REQ({name}) is not in docs/requirements.toml"
                )
    for entry in entries:
        if entry.get("status") == "enforced":
            for where, cited in (("src/", code), ("tests/", tests)):
                if entry.get("id") not in cited:
                    problems.append(f"{entry.get('id')}: enforced, but not cited in {where}")
    return problems
