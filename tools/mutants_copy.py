# SPDX-License-Identifier: BSD-2-Clause
"""The copy of the tree in which tools/mutants plants faults: build/mutants, built by the preset of that name."""
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build/mutants"
COPIED = ("CMakeLists.txt", "CMakePresets.json", "cmake", "include", "src", "tests")


class Stale(Exception):
    """A fault that cannot be planted any more, or a tree in which none can."""


def write(path, data):
    """Writes a file only when that changes it, so that little is built again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy_tree(changed=()):
    """Copies the tree; changed: path from the root -> text of a file that differs or is new there."""
    wanted = {COPY / path for path in changed}
    for path, text in dict(changed).items():
        write(COPY / path, text.encode())
    for name in COPIED:
        source = ROOT / name
        for path in [source] if source.is_file() else sorted(source.rglob("*")):
            target = COPY / path.relative_to(ROOT)
            if path.is_dir() or "__pycache__" in path.parts or target in wanted:
                continue
            wanted.add(target)
            write(target, path.read_bytes())
    for path in COPY.rglob("*"):
        if path.is_file() and path not in wanted and COPY / "build" not in path.parents:
            path.unlink()


def run(*command, **more):
    return subprocess.run(
        command, cwd=COPY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", **more,
    )


def configure():
    if (result := run("cmake", "--preset", "mutants")).returncode:
        raise Stale(f"configure failed without any fault:\n{result.stdout[-4000:]}")


def build(*targets):
    return run("cmake", "--build", "--preset", "mutants", "--target", *targets)
