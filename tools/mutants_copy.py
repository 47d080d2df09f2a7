# SPDX-License-Identifier: BSD-2-Clause
"""The copies of the tree in which tools/mutants plants faults, each built by the preset of its name."""
import contextlib
import hashlib
import os
import pathlib
import resource
import signal
import subprocess

from mutants_stop import RUNNING

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPIED = ("CMakeLists.txt", "CMakePresets.json", "SECURITY.md", "bench", "bindings", "bpf", "cmake", "docs", "examples", "include", "lab",
          "packaging", "src", "tests", "tools")


class Stale(Exception):
    """A fault that cannot be planted any more, or a tree in which none can."""


def write(path, data):
    """Writes a file only when that changes it, so that little is built again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def sources(changed):
    """What a copy holds: path from the root -> bytes; changed: the text of files that differ or are new in it."""
    wanted = {path: text.encode() for path, text in dict(changed).items()}
    for name in COPIED:
        source = ROOT / name
        for path in [source] if source.is_file() else sorted(source.rglob("*")):
            if path.is_dir() or "__pycache__" in path.parts:
                continue
            wanted.setdefault(str(path.relative_to(ROOT)), path.read_bytes())
    return wanted


def end_group(process):
    """Ends a process and those that it has begun, unless it has ended."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)


class Copy:
    """A copy of the tree, and the preset that builds it."""

    def __init__(self, preset, path, needs=None):
        """needs: a folder of this tree that is not copied, and is built by."""
        self.preset, self.path, self.needs = preset, path, needs
        # What tells the sources from others, but for the C of tests: that shows in their programs.
        self.digest = None
        # A file that another build of this tree has compiled comes from the cache, if there is one.
        launchers = [str(ROOT / "tools/warned"), os.environ.get("CMAKE_C_COMPILER_LAUNCHER")]
        self._environment = os.environ | {
            "CCACHE_BASEDIR": str(path), "CCACHE_NOHASHDIR": "1",
            "CMAKE_C_COMPILER_LAUNCHER": ";".join(filter(None, launchers))}

    def write(self, changed=()):
        wanted, digest = sources(changed), hashlib.sha256()
        for path, data in sorted(wanted.items()):
            write(self.path / path, data)
            if not (path.startswith("tests/") and path.endswith((".c", ".h"))):
                digest.update(path.encode() + b"=" + hashlib.sha256(data).digest())
        self.digest = digest.hexdigest()
        for path in self.path.rglob("*"):
            known = self.path / "build" in path.parents or str(path.relative_to(self.path)) in wanted
            if path.is_file() and not known:
                path.unlink()

    def run(self, *command, env=(), seconds=None):
        """Runs a command, each process of it for so many seconds of the processor at the most. All of them end where this
        is interrupted."""
        limit = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))) if seconds else None
        with subprocess.Popen(
            command, cwd=self.path, env=self._environment | dict(env), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", preexec_fn=limit,
            process_group=0,
        ) as process, RUNNING.one(process, lambda: end_group(process)):
            said, _ = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, said)

    def configure(self):
        if self.needs and not (here := self.path / self.needs).is_symlink():
            here.parent.mkdir(parents=True, exist_ok=True)
            here.symlink_to(ROOT / self.needs)
        result = self.run("cmake", "--preset", self.preset)
        # A copy that was configured with another compiler: cmake has forgotten all else that the preset says.
        if "your cache to be deleted" in result.stdout:
            result = self.run("cmake", "--preset", self.preset)
        if result.returncode:
            raise Stale(f"configure failed without any fault:\n{result.stdout[-4000:]}")

    def build(self, *targets):
        return self.run("cmake", "--build", "--preset", self.preset, "--target", *targets)


PURE = Copy("mutants", ROOT / "build/mutants")
AROUND = Copy("mutants-around", ROOT / "build/mutants-around")
AARCH64 = Copy("cross-aarch64", ROOT / "build/mutants-aarch64", needs="build/cross-libs")
