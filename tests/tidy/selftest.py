# SPDX-License-Identifier: BSD-2-Clause
"""Shows that each tidy check accepts a clean tree and catches a planted fault.

A small project is written to a temporary folder; each case plants one fault in a fresh copy and
wants exactly the check it is meant for to fail, with a text that names the place.
"""
import json
import pathlib
import shutil
import subprocess
import tempfile

import archive_checks
import compile_checks
import csource
import doc_checks
import run
import security_checks
import source_checks
import tap
from tree import Tree

SPDX = "/* SPDX-License-Identifier: BSD-2-Clause */\n"
INDEX = "| record |\n|---|\n| [0001](0001-a.md) | A | 2026-01-02 | accepted |\n"
RECORD = "# 0001. A\n\nDate: 2026-01-02\nStatus: accepted\n\nBecause.\n"
CLEAN = {
    ".clang-tidy": run.ROOT.joinpath(".clang-tidy").read_text(encoding="utf-8"),
    ".clang-format": run.ROOT.joinpath(".clang-format").read_text(encoding="utf-8"),
    "ARCHITECTURE.md": (
        "| folder | may include |\n|---|---|\n| `src/base/` | |\n| `src/core/` | `src/base` |\n| `src/host/` | `src/core` |\n"
        "| `src/libmrc/` | `src/host/nic.h` `include` |\n| `src/libibverbs/` | |\n"
        "| `src/base/low/` | |\n| `src/base/high/` | `src/base/low` |\n"
    ),
    "include/mrc.h": SPDX + "int mrc_x(int a);\n",
    "src/libibverbs/v.c": SPDX + "int ibv_v(int a);\n\nint ibv_v(int a)\n{\n\treturn a;\n}\n",
    "src/base/a.h": SPDX + "#include <stdint.h>\nint mb_a(int a);\n",
    "src/base/a.c": SPDX + '#include "base/a.h"\n\nint mb_a(int a)\n{\n\treturn a + 1;\n}\n',
    "src/core/c.c": SPDX + '#include "base/a.h"\n\nint mt_c(int a);\n\n/* REQ(x.one) */\n'
    "int mt_c(int a)\n{\n\treturn mb_a(a);\n}\n",
    "src/base/low/l.h": SPDX,
    "src/base/high/h.h": SPDX + '#include "base/low/l.h"\n',
    "src/host/nic.h": SPDX + "int mh_n(void);\n",
    "src/host/other.h": SPDX + "int mh_o(void);\n",
    "src/libmrc/api.c": SPDX + '#include "host/nic.h"\n#include <mrc.h>\n#include <unistd.h>\n\n'
    "int mrc_x(int a)\n{\n\treturn a + mh_n();\n}\n",
    "tests/unit/t.c": SPDX + "/* REQ(x.one) */\n",
    "tests/tidy/retired_words.txt": "old(en)? -> aged except docs/*\nno longer -> gone\n",
    "docs/past.md": "the olden days\n",
    "docs/README.md": "- [past.md](past.md): then\n- [design](design/README.md): records\n",
    "docs/design/README.md": INDEX,
    "docs/design/0001-a.md": RECORD,
    "docs/requirements.toml": "# SPDX-License-Identifier: BSD-2-Clause\n"
    '[[requirement]]\nid = "x.one"\ntext = "t"\nsource = "ours"\ncertainty = "I"\n'
    'status = "enforced"\n',
    **{f"src/{module}/README.md": "what it is for\n" for module in ("base", "core", "host", "libmrc", "libibverbs")},
}


class Fixture:
    """A temporary copy of the clean project, with files changed, and a pretended build of it."""

    def __init__(self, changes, compiled):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        for name, text in {**CLEAN, **changes}.items():
            if text is None:
                continue
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        flags = f"-D_GNU_SOURCE -I{self.folder}/src -I{self.folder}/include"
        commands = [{"file": f"{self.folder}/{f}", "command": f"cc {flags}"} for f in compiled]
        (self.folder / "build").mkdir()
        (self.folder / "build/compile_commands.json").write_text(json.dumps(commands))

    def __enter__(self):
        return Tree(self.folder, self.folder / "build")

    def __exit__(self, *_):
        shutil.rmtree(self.folder)


def verdicts(changes, only=None):
    """check name -> problems, for the clean project with these changes."""
    compiled = [name for name in CLEAN if name.endswith(".c")]
    with Fixture(changes, compiled) as tree:
        cases = run.source_cases(tree)
        return {name: check() for name, check in cases if only in (None, name)}


def clean_tree():
    return [f"{name}: {c}" for name, found in verdicts({}).items() for c in found]


def plant(check, changes, wanted):
    """A case: `check` reports it, once, with `wanted` in it, and says nothing of the clean tree."""

    def case():
        found = verdicts(changes, check)[check]
        if len(found) == 1 and wanted in found[0]:
            return []
        return [f"want one problem with '{wanted}', got {found}"]

    return case


def engine_map(*names):
    """libmrc-core with one function in its headers, and a map that exports these."""
    return {
        "include/mrc/engine.h": SPDX + '#include "core/engine.h"\n',
        "include/mrc/wire.h": SPDX,
        "src/core/engine.h": SPDX + "int mt_x(int a);\nstatic inline int mt_y(int a)\n{\n\treturn a;\n}\n",
        "src/core/libmrc-core.map": "A {\n" + "".join(f"\t{name};\n" for name in names) + "};\n",
    }


def findings(first):
    """A table of findings that has every row but the first, which is this one."""
    rows = [f"| {name} | a | cured | b | every world of tests/sim |" for name in doc_checks.FINDINGS[1:]]
    return {"docs/design/0037-core-findings.md": "\n".join([first, *rows]) + "\n"}


def version(number, unreleased):
    """A project of this version, with one release, and this changed since."""
    return {
        "CMakeLists.txt": f"set(SOFTMRC_VERSION {number})\n",
        "CHANGELOG.md": f"## Unreleased\n\n{unreleased}\n## 0.2.0 (2026-01-02)\n\n- old\n",
    }


def accepts_versions():
    """A release that was just made, and what comes after it, in order of numbers and not of letters."""
    good = (("0.2.0", ""), ("0.3.0-dev", ""), ("0.10.0-dev", "- new\n"))
    return [found for it in good for found in verdicts(version(*it), "doc_version")["doc_version"]]


def security(rows, sentences, more=""):
    """The sources of the real numbers, and a page with these of its rows and sentences, and more."""
    real = Tree(run.ROOT)
    c = security_checks.constants(real)
    head = "| goal | x |\n|---|---|\n"
    page = head + "\n".join(security_checks.table(c)[rows]) + "\n\n"
    page += "\n".join(security_checks.sentences(c)[sentences]) + "\n" + more
    sources = {path: real.text(path) for path, _ in security_checks.CONSTANTS.values()}
    return {"SECURITY.md": page, **sources}


def long_function(lines):
    return SPDX + "int mb_f(void);\nint mb_f(void)\n{\n" + "\t;\n" * lines + "\treturn 0;\n}\n"


SOURCE_PLANTS = {
    "layer_includes__arrow_up": plant(
        "layer_includes",
        {"src/base/a.h": SPDX + '#include "core/d.h"\n', "src/core/d.h": SPDX},
        "src/base/a.h:2: arrow src/base -> src/core/d.h",
    ),
    "layer_includes__api_beyond_nic": plant(
        "layer_includes",
        {"src/libmrc/api.c": SPDX + '#include "host/other.h"\n'},
        "src/libmrc/api.c:2: arrow src/libmrc -> src/host/other.h",
    ),
    "layer_includes__system_in_core": plant(
        "layer_includes", {"src/core/c.c": SPDX + "#include <time.h>\n"}, "<time.h>"
    ),
    "layer_includes__public_header_in_core": plant(
        "layer_includes", {"src/core/c.c": SPDX + "#include <mrc.h>\n"}, "src/core -> include"
    ),
    "layer_includes__unknown_room": plant(
        "layer_includes", {"src/attic/x.c": SPDX}, "src/attic/ is not in the layer table"
    ),
    "layer_includes__not_from_src": plant(
        "layer_includes", {"src/base/a.c": SPDX + '#include "a.h"\n'}, '"a.h" is not a path'
    ),
    "part_order__not_above": plant(
        "part_order",
        {"ARCHITECTURE.md": "| `src/a/x/` | `src/a/y` |\n| `src/a/y/` | |\n"},
        "src/a/x may include src/a/y",
    ),
    "part_includes__arrow_up": plant(
        "part_includes",
        {"src/base/low/l.h": SPDX + '#include "base/high/h.h"\n', "src/base/high/h.h": SPDX},
        "src/base/low/l.h:2: arrow src/base/low -> src/base/high",
    ),
    "part_includes__boundary_includes_part": plant(
        "part_includes",
        {"src/base/a.h": SPDX + '#include "base/low/l.h"\n', "src/base/low/l.h": SPDX},
        "src/base/a.h:2: arrow src/base -> src/base/low",
    ),
    "part_includes__unknown_part": plant(
        "part_includes", {"src/base/attic/x.h": SPDX}, "src/base/attic/ is not in the table"
    ),
    "lengths__file": plant("lengths", {"src/base/l.h": SPDX + "\n" * 600}, "601 lines"),
    "widths__comment": plant(
        "widths", {"src/base/a.h": SPDX + "\t/* " + "x" * 90 + " */\n"}, "a.h:2: 104 columns"
    ),
    "lengths__function": plant("lengths", {"src/base/l.c": long_function(68)}, "mb_f has 71 lines"),
    "leaks__place": plant("leaks", {"docs/x.md": "see /wor" + "k/main\n"}, "docs/x.md:1"),
    "leaks__note_to_self": plant("leaks", {"src/base/a.h": SPDX + "/* TO" + "DO */\n"}, "a.h:2"),
    "spdx__source": plant("spdx", {"src/base/a.h": "int mb_a(int a);\n"}, "src/base/a.h:1"),
    "spdx__script": plant("spdx", {"tools/x": "#!/bin/sh\n"}, "tools/x:1"),
    "readme_modules__missing": plant("readme_modules", {"src/core/README.md": None}, "src/core"),
    "doc_links__dead": plant("doc_links", {"docs/x.md": "[a](b.md)\n"}, "docs/x.md:1: dead link"),
    "doc_records__head": plant(
        "doc_records", {"docs/design/0002-b.md": "# 2. B\n\nSo.\n"}, "0002-b.md: want '# NNNN"
    ),
    "doc_records__status": plant(
        "doc_records",
        {"docs/design/0001-a.md": RECORD.replace("accepted", "superseded by 0002")},
        "superseded by 0002, which is not there",
    ),
    "doc_records__number": plant(
        "doc_records",
        {"docs/design/0001-a.md": None, "docs/design/0003-a.md": RECORD},
        "0003-a.md: record 0001 in place",
    ),
    "doc_record_index__no_row": plant(
        "doc_record_index",
        {"docs/design/0002-b.md": RECORD.replace("0001", "0002")},
        "design/README.md: want | [0002](0002-b.md) | A |",
    ),
    "doc_record_index__stale_row": plant(
        "doc_record_index",
        {"docs/design/README.md": INDEX + INDEX.replace("| A |", "| B |")},
        "no record has | [0001](0001-a.md) | B |",
    ),
    "doc_index__page_without_a_line": plant(
        "doc_index", {"docs/x.md": "new\n"}, "link to x.md, found 0"
    ),
    "doc_interop__conflict_without_a_row": plant(
        "doc_interop",
        {"docs/requirements.toml": CLEAN["docs/requirements.toml"].replace('"I"', '"C"')},
        "docs/interop.md: no row for",
    ),
    "doc_interop__option_that_is_none": plant(
        "doc_interop", {"docs/interop.md": "| a | `b_c` |\n"}, "has no option b_c"
    ),
    "doc_findings__no_row": plant("doc_findings", findings(""), "no row for C1"),
    "doc_findings__no_such_test": plant(
        "doc_findings", findings("| C1 | a | cured | b | unit_that_is_none |"),
        "C1: no test is called unit_that_is_none",
    ),
    "doc_findings__no_result": plant(
        "doc_findings", findings("| C1 | a | later | b | as C2 |"),
        "C1: want cured, bounded, refuted or open: later",
    ),
    "conform_coverage__rule_of_none": plant(
        "conform_coverage",
        {
            "src/conform/README.md": "conform\n",
            "src/conform/hear.c": SPDX,
            "src/conform/not_covered.txt": "a reason: wire.of-none\n",
        },
        "src/conform: wire.of-none is no rule",
    ),
    "doc_front_page__long": plant("doc_front_page", {"README.md": "word " * 600}, "README.md: 600 words"),
    "doc_changes__kind_twice": plant(
        "doc_changes", {"CHANGELOG.md": "## 1.0\n\n### Fixed\n\n## Unreleased\n\n### Fixed\n\n### Added\n\n### Fixed\n"},
        "CHANGELOG.md: Unreleased: 'Fixed' stands twice"
    ),
    "doc_version__of_a_past_release": plant(
        "doc_version", version("0.2.0", "- new\n"), "0.2.0 is released, and there are changes since"
    ),
    "doc_version__before_a_release": plant(
        "doc_version", version("0.2.0-dev", "- new\n"), "0.2.0-dev comes before 0.2.0"
    ),
    "doc_version__not_released": plant(
        "doc_version", version("0.3.0", "- new\n"), "0.3.0 is no release of CHANGELOG.md"
    ),
    "doc_version__accepts": accepts_versions,
    "doc_tables__empty_line": plant(
        "doc_tables", {"docs/x.md": "| a |\n|---|\n| 1 |\n\n| 2 |\n"}, "docs/x.md:5: a row"
    ),
    "security_numbers__no_row": plant(
        "security_numbers", security(slice(1, None), slice(None)), "want | end a QP | WRITE without the right key"
    ),
    "security_numbers__from_nothing": plant(
        "security_numbers", security(slice(None), slice(None), "at most 77 a second\n"),
        "a number that follows from nothing"
    ),
    "security_numbers__no_sentence": plant(
        "security_numbers", security(slice(None), slice(1, None)), "want 'the answer 80 bytes"
    ),
    "retired_words__in_a_name": plant(
        "retired_words", {"src/base/a.h": SPDX + "int mb_OLD_a;\n"}, "src/base/a.h:2: 'old' is"
    ),
    "retired_words__in_a_path": plant("retired_words", {"src/base/old.h": SPDX}, "base/old.h: 'old'"),
    "retired_words__phrase": plant(
        "retired_words", {"docs/x.md": "it is no\nlonger there\n"}, "docs/x.md:1: 'no longer' is"
    ),
    "retired_words__bad_line": plant(
        "retired_words", {"tests/tidy/retired_words.txt": "a(b -> c\n"}, "retired_words.txt:1: want"
    ),
    "engine_map__not_exported": plant("engine_map", engine_map(), "mt_x: declared, but not exported"),
    "engine_map__not_declared": plant(
        "engine_map", engine_map("mt_x", "mt_z"), "mt_z: exported, but not declared"
    ),
    "headers_alone__needs_another": plant(
        "headers_alone", {"src/base/a.h": SPDX + "int mb_a(other_t a);\n"}, "src/base/a.h:2"
    ),
    "clang_warnings__sign": plant(
        "clang_warnings",
        {"src/base/a.c": SPDX + "unsigned mb_a(int a);\nunsigned mb_a(int a){return a;}\n"},
        "sign",
    ),
    "clang_warnings__reserved_name": plant(
        "clang_warnings",
        {"src/base/a.c": SPDX + "int __mb_a(int a);\nint __mb_a(int a)\n{\n\treturn a;\n}\n"},
        "src/base/a.c:2:5: error: identifier '__mb_a' is reserved",
    ),
    "clang_warnings__reserved_macro": plant(
        "clang_warnings",
        {"src/base/a.c": SPDX + "#define _MB_A 1\nint mb_a(int a);\n"},
        "src/base/a.c:2:9: error: macro name is a reserved identifier",
    ),
    "clang_tidy__reserved_name": plant(
        "clang_tidy",
        {"src/libibverbs/v.c": SPDX + "int __ibv_v(int a);\n"},
        "src/libibverbs/v.c:2:5: error: declaration uses identifier '__ibv_v'",
    ),
    "clang_tidy__widening": plant(
        "clang_tidy",
        {"src/base/a.c": SPDX + "unsigned long mb_a(unsigned a);\n"
         "unsigned long mb_a(unsigned a)\n{\n\treturn 2 * a;\n}\n"},
        "src/base/a.c:5:9: error: performing an implicit widening",
    ),
    "dead_files__not_built": plant(
        "dead_files", {"src/base/b.c": SPDX}, "src/base/b.c: no target"
    ),
    "fmt__spaces": plant("fmt", {"src/base/a.h": SPDX + "int  mb_a(int a);\n"}, "1 places"),
    "requirements__unknown_id": plant(
        "requirements",
        {"src/base/a.h": SPDX + "/* REQ(x.two) */\n"},
        "src/base/a.h: REQ(x.two)",
    ),
    "requirements__enforced_untested": plant(
        "requirements", {"tests/unit/t.c": SPDX}, "x.one: enforced, but not cited in tests/"
    ),
    "requirements__bad_entry": plant(
        "requirements",
        {"docs/requirements.toml": CLEAN["docs/requirements.toml"].replace('"I"', '"Z"')},
        "x.one: certainty Z",
    ),
    "requirements__neither_enforced_nor_open": plant(
        "requirements",
        {"docs/requirements.toml": CLEAN["docs/requirements.toml"].replace('status = "enforced"', "")},
        "x.one: want status or open",
    ),
}


def archive_fault(source, check, wanted, member="x"):
    """A case: an archive built from `source` makes `check` fail; without it, it does not."""

    def case():
        with tempfile.TemporaryDirectory() as folder:
            archives = {}
            for module in ("base", "wire", "core", "io"):
                text = f"#include <string.h>\nvoid {module}_f(void *a, void *b);\n"
                text += f"void {module}_f(void *a, void *b)\n{{\n\tmemcpy(a, b, 300);\n}}\n"
                text += "static const char *const names[] = {\"a\", \"b\"};\n"
                text += f"const char *{module}_g(int i);\n"
                text += f"const char *{module}_g(int i)\n{{\n\treturn names[i];\n}}\n"
                text += source if module == "core" else ""
                path = pathlib.Path(folder, member + ".c")
                path.write_text(text, encoding="utf-8")
                output = f"{folder}/{member}.c.o"
                subprocess.run(["cc", "-O1", "-fPIC", "-c", path, "-o", output], check=True)
                archives[module] = f"{folder}/lib{module}.a"
                subprocess.run(["ar", "rc", archives[module], output], check=True)
            found = check(archives)
        if not wanted:
            return found
        if len(found) == 1 and wanted in found[0]:
            return []
        return [f"want one problem with '{wanted}', got {found}"]

    return case


def cycle_fault(sources, limit, wanted):
    """A case: call_cycles reports it of an archive built from these sources (name -> text)."""

    def case():
        with tempfile.TemporaryDirectory() as folder:
            outputs = []
            for name, text in sources.items():
                path = pathlib.Path(folder, name)
                path.write_text(text, encoding="utf-8")
                outputs.append(f"{folder}/{name}.o")
                subprocess.run(["cc", "-fPIC", "-c", path, "-o", outputs[-1]], check=True)
            subprocess.run(["ar", "rc", f"{folder}/lib.a", *outputs], check=True)
            found = archive_checks.call_cycles({"core": f"{folder}/lib.a"}, {"core": limit})
        if not wanted:
            return found
        if len(found) == 1 and wanted in found[0]:
            return []
        return [f"want one problem with '{wanted}', got {found}"]

    return case


A_CALLS_B = "int a(void), b(void);\nint a(void)\n{\n\treturn b();\n}\n"
B_CALLS_C = "int b(void), c(void);\nint b(void)\n{\n\treturn c();\n}\n"
C_CALLS_A = "int c(void), a(void);\nint c(void)\n{\n\treturn a();\n}\n"
C_CALLS_NONE = "int c(void);\nint c(void)\n{\n\treturn 1;\n}\n"
CHAIN = {"a.c": A_CALLS_B, "b.c": B_CALLS_C, "c.c": C_CALLS_NONE}
COUNTER = "int core_n(void);\nint core_n(void)\n{\n\tstatic int n;\n\treturn n++;\n}\n"
MALLOC = "#include <stdlib.h>\nvoid *core_m(void);\nvoid *core_m(void)\n{\n\treturn malloc(9);\n}\n"
POINTERS = "extern const char *core_p[];\nconst char *core_p[] = {\"a\"};\n"
THREAD_LOCAL = "extern _Thread_local int core_t;\n_Thread_local int core_t;\n"
symbols, globals_ = archive_checks.core_symbols, archive_checks.mutable_globals
ARCHIVE_PLANTS = {
    "call_cycles__chain": cycle_fault(CHAIN, 0, ""),
    "call_cycles__small_enough": cycle_fault(CHAIN | {"c.c": C_CALLS_A}, 3, ""),
    "call_cycles__cycle": cycle_fault(
        CHAIN | {"c.c": C_CALLS_A}, 2, "core: 3 files in a cycle, 2 allowed: a.c b.c c.c"
    ),
    "core_symbols__clean": archive_fault("", symbols, ""),
    "core_symbols__malloc": archive_fault(MALLOC, symbols, "core: x.c.o calls malloc"),
    "mutable_globals__clean": archive_fault("", globals_, ""),
    "mutable_globals__static_local": archive_fault(COUNTER, globals_, "core: x.c.o: n."),
    "mutable_globals__pointer_table": archive_fault(POINTERS, globals_, "core_p"),
    "mutable_globals__thread_local": archive_fault(THREAD_LOCAL, globals_, "core_t"),
}


def place_of_names_what_follows():
    text = SPDX + (
        "/*\n * What the file is for. REQ(f.file)\n */\n#include <a.h>\n\n"
        "/* REQ(f.macro) */\n#define LIMIT 1\n\n/* REQ(f.type) */\nstruct s {\n\tint a;\n};\n\n"
        "/* REQ(f.func) */\nstatic int f(int a)\n{\n\t/* REQ(f.inside) */\n\treturn a;\n}\n\n"
        "/* REQ(f.test) */\nTEST(g, works)\n{\n}\n\n/* REQ(f.table) */\nstatic const int t[] = {1};\n"
    )
    want = {"file": None, "macro": "LIMIT", "type": "s", "func": "f", "inside": "f"}
    want |= {"test": "g__works", "table": "t"}
    got = {key: csource.place_of(text, text.index(f"REQ(f.{key})")) for key in want}
    return [] if got == want else [f"want {want}, got {got}"]


def place_of_names_the_case_of_a_macro():
    known = csource.macros(
        "#define UNIT_TEST(f, name) TEST_WITH(a, b, f, name)\n"
        "#define CLI_TEST(verb, name) TEST_WITH(a, b, mrc_##verb, name)\n"
        "#define GUARD_TEST(name) \\\n\tvoid g_##name(void); \\\n\tTEST(mh_guard, name) \\\n\t{ g(); }\n"
        "#define VERB_TEST(name) CLI_TEST(lab, name)\n#define CHECK(a, b) check((a), (b))\n"
    )
    want = {"UNIT_TEST(f, c)": "f__c", "CLI_TEST(up, c)": "mrc_up__c", "GUARD_TEST(c)": "mh_guard__c"}
    want |= {"VERB_TEST(c)": "mrc_lab__c", "CHECK(a, c)": "CHECK"}
    got = {}
    for call in want:
        text = SPDX + f"static int a;\n\n/* REQ(f.x) */\n{call}\n{{\n\t/* REQ(f.y) */\n}}\n"
        names = {csource.place_of(text, text.index(f"REQ({i})"), known) for i in ("f.x", "f.y")}
        got[call] = "|".join(sorted(names))
    return [] if got == want else [f"want {want}, got {got}"]


if __name__ == "__main__":
    tap.main(
        [("tidy__clean_tree", clean_tree)]
        + list(SOURCE_PLANTS.items())
        + list(ARCHIVE_PLANTS.items())
        + [("csource__place_of", place_of_names_what_follows)]
        + [("csource__place_of_cases", place_of_names_the_case_of_a_macro)]
    )
