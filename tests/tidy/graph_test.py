# SPDX-License-Identifier: BSD-2-Clause
"""Shows what tools/callgraph.py takes for reached, and that the checks on it catch planted faults.

A small project is written to a temporary folder and compiled; each case changes a file of it.
"""
import json
import pathlib
import subprocess
import tempfile

import graph_checks
import run
import tap

import callgraph  # in tools/, which run.py adds to the path

SPDX = "/* SPDX-License-Identifier: BSD-2-Clause */\n"
REQUIREMENT = (
    '[[requirement]]\nid = "x.one"\ntext = "t"\nsource = "ours"\ncertainty = "I"\n'
    'status = "enforced"\n'
)
CLEAN = {
    "docs/requirements.toml": REQUIREMENT,
    "tests/tidy/unreached.txt": "# none\n",
    "tests/unit/t.c": "/* REQ(x.one) */\nint dead(void);\nint t(void);\nint t(void)\n{\n"
    "\treturn dead();\n}\n",
    "src/core/c.h": SPDX + "#define LIMIT 3\nint mt_c(int a);\nint mt_row(int a);\n"
    "static inline int mt_i(int a)\n{\n\treturn a + LIMIT;\n}\n",
    "src/core/c.c": SPDX + '#include "core/c.h"\n'
    "/* REQ(x.one) */\nstatic int twice(int a)\n{\n\treturn 2 * a;\n}\n"
    "int mt_row(int a)\n{\n\treturn a;\n}\n"
    "int mt_c(int a)\n{\n\treturn twice(mt_i(a));\n}\n",
    "src/api/api.c": SPDX + '#include "core/c.h"\nint mrc_x(int a);\n'
    "static int (*const rows[])(int) = {mt_row};\n"
    "int mrc_x(int a)\n{\n\treturn mt_c(a) + rows[a & 0](a);\n}\n",
}
DEAD = SPDX + "int dead(void);\nint dead(void)\n{\n\treturn 1;\n}\n"


def build(root, optimisation):
    """Compiles src/ as a Debug build does and links all of it into a library."""
    folder = root / "build"
    commands, objects = [], []
    for source in sorted((root / "src").rglob("*.c")):
        output = folder / source.relative_to(root).with_suffix(".o")
        output.parent.mkdir(parents=True, exist_ok=True)
        command = ["cc", optimisation, "-ffunction-sections", "-fdata-sections", "-fPIC"]
        command += [f"-I{root}/src", "-o", str(output), "-c", str(source)]
        subprocess.run(command, check=True)
        commands.append(
            {"file": str(source), "directory": str(folder), "command": " ".join(command)}
        )
        objects.append(output)
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    (folder / "lib").mkdir()
    exports = root / "exports.map"
    exports.write_text("{ global: mrc_*; local: *; };")
    library = folder / "lib/libmrc.so.1"
    subprocess.run(
        ["cc", "-shared", "-o", library, *objects, f"-Wl,--version-script={exports}"], check=True
    )
    return folder


def problems(changes, optimisation):
    """What both checks say of the clean project with these changes."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**CLEAN, **changes}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        graph = callgraph.Graph(root, build(root, optimisation))
        found = graph_checks.functions_reached(root, graph)
        return found + graph_checks.requirements_reached(root, graph, run.load_conformance())


def case(changes, *wanted):
    """The checks report `wanted`, in this order, optimised or not, and of nothing else."""

    def check():
        for optimisation in ("-O0", "-O1"):
            found = problems(changes, optimisation)
            if len(found) != len(wanted) or any(w not in f for w, f in zip(wanted, found)):
                return [f"{optimisation}: want {list(wanted)}, got {found}"]
        return []

    return check


def replaced(path, old, new):
    text = CLEAN[path]
    assert text.count(old) == 1, (path, old)
    return {path: text.replace(old, new)}


def no_debug_build():
    """A build whose functions share a section is refused."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        entry = {"file": f"{root}/src/a.c", "directory": folder, "command": "cc -o src/a.o -c a.c"}
        (root / "compile_commands.json").write_text(json.dumps([entry]))
        try:
            callgraph.Graph(root, root)
        except callgraph.BuildError as error:
            return [] if "no Debug build" in str(error) else [str(error)]
    return ["no problem"]


NOT_REACHED = "x.one: enforced, but only by what is not reached"
UNCITED = CLEAN["src/core/c.c"].replace("/* REQ(x.one) */\n", "")
CASES = {
    "clean": case({}),
    "function__only_a_test_calls": case(
        {"src/core/d.c": DEAD}, "src/core/d.c: dead: only tests reach it"
    ),
    "function__listed": case(
        {"src/core/d.c": DEAD, "tests/tidy/unreached.txt": "dead: a reason\n"}
    ),
    "function__file_listed": case(
        {"src/core/d.c": DEAD, "tests/tidy/unreached.txt": "d.c: a reason\n"}
    ),
    "function__constructor": case(
        {"src/core/d.c": DEAD.replace("\nint dead", "\n__attribute__((constructor)) int dead", 1)}
    ),
    "function__not_in_a_table": case(
        replaced("src/api/api.c", " + rows[a & 0](a)", ""),
        "src/core/c.c: mt_row: only tests",
    ),
    "function__inline_in_a_header": case(
        replaced("src/core/c.c", "twice(mt_i(a))", "twice(a)"), "src/core/c.h: mt_i: only tests"
    ),
    "function__whose_name_a_macro_makes": case(
        replaced("src/core/c.c", "twice(mt_i(a))", "twice(CALL(i))")
        | {"src/core/c.h": CLEAN["src/core/c.h"] + "#define CALL(what) mt_##what(a)\n"}
    ),
    "function__whose_name_an_unused_macro_makes": case(
        replaced("src/core/c.c", "twice(mt_i(a))", "twice(a)")
        | {"src/core/c.h": CLEAN["src/core/c.h"] + "#define CALL(what) mt_##what(a)\n"},
        "src/core/c.h: mt_i: only tests",
    ),
    "list__stale": case(
        {"tests/tidy/unreached.txt": "mt_c: a reason\n"}, "unreached.txt:1: mt_c is reached or gone"
    ),
    "list__no_reason": case(
        {"tests/tidy/unreached.txt": "mt_c\n"}, "unreached.txt:1: want NAME: REASON"
    ),
    "requirement__only_a_test_calls": case(
        {
            "src/core/c.c": UNCITED,
            "src/core/d.c": DEAD.replace("{\n", "{\n\t/* REQ(x.one) */\n"),
            "tests/tidy/unreached.txt": "dead: a reason\n",
        },
        NOT_REACHED + ": src/core/d.c dead",
    ),
    "requirement__at_a_file": case(
        {
            "src/core/c.c": UNCITED,
            "src/core/d.c": DEAD.replace(SPDX, SPDX + "/* REQ(x.one) */\n\n"),
            "tests/tidy/unreached.txt": "dead: a reason\n",
        },
        NOT_REACHED + ": src/core/d.c",
    ),
    "requirement__at_a_macro": case(
        {"src/core/c.c": UNCITED} | replaced(
            "src/core/c.h", "#define LIMIT", "/* REQ(x.one) */\n#define LIMIT"
        )
    ),
    "requirement__at_a_macro_nobody_uses": case(
        {"src/core/c.c": UNCITED} | replaced(
            "src/core/c.h", "#define LIMIT", "/* REQ(x.one) */\n#define UNUSED 1\n#define LIMIT"
        ),
        NOT_REACHED + ": src/core/c.h UNUSED",
    ),
    "requirement__open": case(
        {
            "src/core/c.c": UNCITED,
            "docs/requirements.toml": REQUIREMENT.replace('status = "enforced"', 'open = "why"'),
        }
    ),
    "build__not_debug": no_debug_build,
}


if __name__ == "__main__":
    tap.main([(f"graph__{name}", check) for name, check in CASES.items()])
