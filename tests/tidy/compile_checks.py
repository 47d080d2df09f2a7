# SPDX-License-Identifier: BSD-2-Clause
"""Checks that run a compiler or clang-format over the sources."""
import collections
import concurrent.futures
import functools
import os
import pathlib
import re
import subprocess
import tempfile

from tree import PURE_MODULES, WARNINGS, Skip, has


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def _default_flags(tree, path):
    flags = [f"-I{tree.root}/src", f"-I{tree.root}/include"]
    pure = tree.folder_of(path) in [f"src/{module}" for module in PURE_MODULES]
    return flags if pure else [*flags, "-D_GNU_SOURCE"]


def _compile(tree, compiler, path, source, flags):
    """Problems of a compiler that only looks: one line an error, places relative to the tree."""
    return _errors(tree, path, [compiler, "-fsyntax-only", *WARNINGS, *flags, str(source)])


def _errors(tree, path, command):
    status, text = _run(command)
    if not status:
        return []
    errors = dict.fromkeys(line for line in text.splitlines() if "error:" in line)
    return [line.replace(f"{tree.root}/", "") for line in errors] or [f"{path}: {text}"]


def _in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [c for problems in pool.map(function, items) for c in problems]


def headers_alone(tree):
    """Each header compiles as the only thing a file includes."""
    headers = [f for f in tree.c_files("src", "include") if f.suffix == ".h"]

    with tempfile.TemporaryDirectory() as scratch:

        def compile_one(indexed):
            number, header = indexed
            source = f"{scratch}/{number}.c"
            with open(source, "w", encoding="utf-8") as file:
                # Twice: the guard must hold. The typedef keeps the file from being empty.
                line = f'#include "{tree.root / header}"\n'
                file.write(line + line + "typedef int not_empty;\n")
            return _compile(tree, "cc", header, source, _default_flags(tree, header))

        return _in_parallel(compile_one, enumerate(headers))


def map_problems(headers, script):
    """What preprocessed headers of the engine declare, against the map of what it exports."""
    while re.search(r"\{[^{}]*\}", headers):
        headers = re.sub(r"\{[^{}]*\}", ";", headers)
    declared = set()
    for statement in headers.split(";"):
        name = re.search(r"\b((?:mt|mw)_\w+)\s*\(", statement)
        if name and "static inline" not in statement and "typedef" not in statement:
            declared.add(name[1])
    listed = set(re.findall(r"^\t(\w+);", script, re.M))
    problems = [f"{name}: declared, but not exported" for name in sorted(declared - listed)]
    return problems + [f"{name}: exported, but not declared" for name in sorted(listed - declared)]


ENGINE_MAP = pathlib.Path("src/core/libmrc-core.map")


def engine_map(tree):
    """The map of libmrc-core exports what mrc/engine.h and mrc/wire.h declare, and no more."""
    if ENGINE_MAP not in tree.files:
        return []
    headers = [str(tree.root / "include/mrc" / name) for name in ("engine.h", "wire.h")]
    include = [f"-I{tree.root}/src", f"-I{tree.root}/include", "-include", headers[0]]
    status, text = _run(["cc", "-E", "-P", *include, headers[1]])
    if status:
        return [f"{headers}: {text}"]
    return [f"{ENGINE_MAP}: {problem}" for problem in map_problems(text, tree.text(ENGINE_MAP))]


def _tidy(path):
    """
    clang-tidy's command, less the file. bugprone-reserved-identifier takes half of its time, and clang
    says the same at once; but not with the exceptions that libibverbs needs (.clang-tidy).
    """
    if path.is_relative_to("src/libibverbs"):
        return ["clang-tidy", "--quiet"], WARNINGS
    return (["clang-tidy", "--quiet", "--checks=-bugprone-reserved-identifier"],
            [*WARNINGS, "-Wreserved-identifier", "-Wreserved-macro-identifier"])


@functools.cache
def _clang(tree):
    """
    What clang has to say about the files that gcc built, with the same definitions and include
    paths; about those of src/ clang-tidy, if it is there, which gives the compiler's warnings too.
    """
    built = tree.build_flags
    sources = [f for f in tree.c_files("src", "examples", "bindings", "bench") if f.suffix == ".c"]
    if built is not None:
        sources = [f for f in sources if f in built]

    def flags_of(path):
        return built[path] if built is not None else _default_flags(tree, path)

    def look_at(paths):
        flags = flags_of(paths[0])
        if not is_tidied(paths[0]):
            return [c for path in paths for c in _compile(tree, "clang", path, tree.root / path, flags)]
        tidy, warnings = _tidy(paths[0])
        files = [str(tree.root / path) for path in paths]
        return _errors(tree, paths[0], [*tidy, *files, "--", *warnings, *flags])

    is_tidied = lambda path: path.parts[0] == "src" and has("clang-tidy")
    # Files of one folder that have the same flags are read by one clang-tidy: a third of its time is its start.
    alike = collections.defaultdict(list)
    for path in sources:
        alike[path.parts[:2], tuple(flags_of(path))].append(path)
    some = [paths[at : at + 16] for paths in alike.values() for at in range(0, len(paths), 16)]

    # What is wrong in a header is said once.
    return list(dict.fromkeys(_in_parallel(look_at, some)))


TIDY_CHECK = re.compile(r"\[(bugprone|concurrency|performance)-[^]]*\]$")


def clang_warnings(tree):
    """clang has no problem about what gcc built."""
    if not has("clang"):
        raise Skip("clang is not installed")
    return [line for line in _clang(tree) if not TIDY_CHECK.search(line)]


def clang_tidy(tree):
    """clang-tidy has none either, with the checks of .clang-tidy."""
    if not has("clang-tidy"):
        raise Skip("clang-tidy is not installed")
    return [line for line in _clang(tree) if TIDY_CHECK.search(line)]


def dead_files(tree):
    """Every C file is part of some target, which may be one of another build (cmake/Softmrc.cmake), or built
    by a row of tests/compat/rows.toml, by bench/verbs, tools/soak, tools/nccl, tools/torch or tools/foreign."""
    if tree.build_flags is None:
        raise Skip("no build folder was given")
    sources = [f for f in tree.c_files("src", "examples", "bindings", "bench", "tests") if f.suffix == ".c"]
    builders = [tree.root / name for name in
                ("cmake/Softmrc.cmake", "tests/compat/rows.toml", "bench/verbs/bench.py",
                 "tests/soak/programs.py", "tools/nccl", "tools/torch", "tools/foreign")]
    built = "".join(file.read_text() for file in builders if file.exists())
    return [f"{f}: no target compiles it" for f in sources
            if f not in tree.build_flags and f"${{PROJECT_SOURCE_DIR}}/{f}" not in built
            and f"{{here}}/{f.name}" not in built and f'HERE / "{f.name}"' not in built and f'ROOT / "{f}"' not in built]


def fmt(tree):
    """clang-format would change nothing."""
    if not has("clang-format"):
        raise Skip("clang-format is not installed")
    files = tree.c_files("src", "include", "examples", "bindings", "tests", "bench", "bpf")
    if not files:
        return []
    status, text = _run(
        ["clang-format", "--style=file", "--dry-run", "-Werror"]
        + [str(tree.root / f) for f in files]
    )
    places = collections.Counter(m[1] for m in re.finditer(r"^(.*?):\d+:\d+: error:", text, re.M))
    problems = [f"{path}: {n} places to format" for path, n in places.items()]
    return (problems or [text]) if status else []
