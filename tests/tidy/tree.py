# SPDX-License-Identifier: BSD-2-Clause
"""What the tidy checks know of the tree: its files, its text, the layer table."""
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))

# Flags of the build (cmake/Softmrc.cmake), for checks that compile on their own.
WARNINGS = (
    "-std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wswitch-enum "
    "-Wmissing-prototypes -Wvla -Werror"
).split()
PURE_MODULES = ("base", "wire", "rdma", "core")
SKIPPED_FOLDERS = {".git", "build", "__pycache__"}


class Skip(Exception):
    """Raised by a check that cannot run here; the text says why."""


class Tree:
    def __init__(self, root, build=None):
        self.root = pathlib.Path(root)
        self.build = build and pathlib.Path(build)

    @functools.cached_property
    def files(self):
        """Every file that is, or would be, under version control, as relative paths."""
        listed = subprocess.run(
            ["git", "-C", self.root, "ls-files", "-co", "--exclude-standard", "-z"],
            capture_output=True,
            check=False,
        ) if (self.root / ".git").exists() and has("git") else None
        if listed and listed.returncode == 0:
            names = [pathlib.Path(n) for n in listed.stdout.decode().split("\0") if n]
        else:
            names = [p.relative_to(self.root) for p in self.root.rglob("*")]
        return sorted(
            n for n in names
            if (self.root / n).is_file() and not SKIPPED_FOLDERS & set(n.parts)
        )

    def c_files(self, *folders):
        return [f for f in self.files if f.suffix in (".c", ".h") and f.parts[0] in folders]

    @functools.cache
    def text(self, path):
        """What a text file holds; each is read once."""
        return (self.root / path).read_text(encoding="utf-8")

    @functools.cached_property
    def build_flags(self):
        """Relative path -> the -I, -isystem and -D flags it is built with; None without a build."""
        if not self.build:
            return None
        flags = {}
        commands = json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8"))
        for entry in commands:
            words = shlex.split(entry["command"])
            kept = [w for w in words if w.startswith(("-I", "-D"))]
            for at in (i for i, w in enumerate(words) if w == "-isystem"):
                kept += words[at : at + 2]
            path = pathlib.Path(entry["file"])
            if path.is_relative_to(self.root):
                flags[path.relative_to(self.root)] = kept
        return flags

    @functools.cached_property
    def layers(self):
        """The layer table of ARCHITECTURE.md: folder -> what it may include."""
        table = {}
        for line in self.text("ARCHITECTURE.md").splitlines():
            match = re.match(r"\|\s*`([\w/]+)/`\s*\|([^|]*)\|", line)
            if match:
                table[match[1]] = set(re.findall(r"`([^`]+)`", match[2]))
        return table

    @functools.cached_property
    def cycle_limits(self):
        """The cycle table of ARCHITECTURE.md: module -> files that its largest call cycle may have."""
        rows = re.findall(r"^\| `(\w+)` \| (\d+) \|$", self.text("ARCHITECTURE.md"), re.M)
        return {module: int(limit) for module, limit in rows}

    def folder_of(self, path):
        """src/wire/x.h -> src/wire; examples/a.c -> examples."""
        return "/".join(path.parts[:2]) if path.parts[0] == "src" else path.parts[0]

    def part_of(self, path):
        """src/core/window/wq.h -> src/core/window; None for what lies in no part of a module."""
        is_part = path.parts[0] == "src" and len(path.parts) > 3
        return "/".join(path.parts[:3]) if is_part else None

    @functools.cached_property
    def parts(self):
        """The rows of the layer tables that are parts of modules, in their order."""
        return [folder for folder in self.layers if folder.count("/") == 2]


def has(program):
    return any(
        (pathlib.Path(folder) / program).exists()
        for folder in ("/usr/local/bin", "/usr/bin", "/bin")
    )
