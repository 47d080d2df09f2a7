# SPDX-License-Identifier: BSD-2-Clause
"""Checks on the call graph of the build: what claims to be enforced runs, and nothing is dead."""
import pathlib
import re

LIST = "tests/tidy/unreached.txt"
_LINE = re.compile(r"(\S+): (\S.*)")


def requirements_reached(root, graph, conformance):
    """Of what cites an enforced requirement in the code, the product reaches something."""
    problems = []
    code = conformance.in_code(root)
    for entry in conformance.load(root)["requirement"]:
        cited = code.get(entry["id"], [])
        if not conformance.is_enforced(entry) or not cited:
            continue  # without a citation it is a problem of source_checks.requirements
        if not any(graph.is_live(*place) for place in cited):
            places = ", ".join(" ".join(filter(None, place)) for place in cited)
            problems.append(f"{entry['id']}: enforced, but only by what is not reached: {places}")
    return problems


def functions_reached(root, graph):
    """An entry point of the product reaches each function of src/; the list says which it does not.

    An entry is the name of a function or of a file whose functions are all meant, and a reason.
    """
    problems, used = [], set()
    entries = {}
    for number, line in enumerate((root / LIST).read_text(encoding="utf-8").splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match:
            entries[match[1]] = number
        elif line and not line.startswith("#"):
            problems.append(f"{LIST}:{number}: want NAME: REASON, not '{line}'")
    for function in graph.unreached():
        names = {function.name, pathlib.Path(function.path).name} & entries.keys()
        used |= names
        if not names:
            problems.append(f"{function.path}: {function.name}: only tests reach it, if at all")
    for name in entries.keys() - used:
        problems.append(f"{LIST}:{entries[name]}: {name} is reached or gone: remove the line")
    return problems
