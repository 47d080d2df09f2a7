# SPDX-License-Identifier: BSD-2-Clause
"""dist_test.py: the tarball of `make dist`: whole, the same each time, and refused where it would not be."""
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

import run
import tap
from tree import Skip



class Checkout:
    """A clone of what is committed, so that what is being edited does not count."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="softmrc-dist-"))
        self.tree = self.folder / "tree"
        if not (run.ROOT / ".git").exists():
            return
        self.git("clone", "--quiet", "--no-hardlinks", str(run.ROOT), str(self.tree), cwd=self.folder)
        # The tool as it is now.
        self.own = shutil.copy(run.ROOT / "tools/dist", self.tree / "tools/dist")
        self.git("update-index", "--assume-unchanged", "tools/dist")

    def git(self, *words, cwd=None):
        return subprocess.run(
            ["git", *words], cwd=cwd or self.tree, capture_output=True, text=True, check=True
        ).stdout

    def dist(self, out):
        if not self.tree.exists():
            raise Skip("no git checkout")
        return subprocess.run(
            [self.tree / "tools/dist", out], capture_output=True, text=True, check=False
        )

    def whole(self):
        """Every file that git knows is in it, under one folder."""
        done = self.dist(self.folder / "a")
        if done.returncode:
            return done.stderr.splitlines()
        with tarfile.open(done.stdout.strip()) as tar:
            inside = {m.name for m in tar.getmembers() if not m.isdir() and m.name != "pax_global_header"}
        top = {name.split("/")[0] for name in inside}
        known = {f"{top_name}/{line}" for top_name in top for line in self.git("ls-files").splitlines()}
        problems = [] if len(top) == 1 else [f"want one folder: {top}"]
        return problems + [f"differs: {name}" for name in sorted(inside ^ known)[:20]]

    def same_bytes(self):
        """Twice the same, and the checksum is right."""
        sums = set()
        for name in ("a", "b"):
            done = self.dist(self.folder / name)
            if done.returncode:
                return done.stderr.splitlines()
            path = pathlib.Path(done.stdout.strip())
            sums.add(hashlib.sha256(path.read_bytes()).hexdigest())
            listed = (path.parent / "SHA256SUMS").read_text(encoding="utf-8").split()
            if listed[0] not in sums or listed[1] != path.name:
                return [f"SHA256SUMS: {listed}"]
        return [] if len(sums) == 1 else [f"two tarballs of one commit differ: {sums}"]

    def refuses_changes(self):
        """What is not committed is named, and there is no tarball."""
        if not self.tree.exists():
            raise Skip("no git checkout")
        (self.tree / "new.txt").write_text("x", encoding="utf-8")
        done = self.dist(self.folder / "c")
        (self.tree / "new.txt").unlink()
        if done.returncode == 0 or "new.txt" not in done.stderr or (self.folder / "c").exists():
            return [f"status {done.returncode}: {done.stderr}"]
        return []


def main():
    checkout = Checkout()
    try:
        status = tap.run([(f"dist__{n}", getattr(checkout, n)) for n in ("whole", "same_bytes", "refuses_changes")])
    finally:
        shutil.rmtree(checkout.folder)
    sys.exit(status)


if __name__ == "__main__":
    main()
