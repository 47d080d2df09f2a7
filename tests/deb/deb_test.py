# SPDX-License-Identifier: BSD-2-Clause
"""deb_test.py BUILD: makes the Debian packages twice, and installs, uses and purges them.

The packages are those of tools/deb, built without any cache; BUILD gets the folder `deb`.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tidy"))
import bare_root
import run
import tap
from tree import Skip

PACKAGES = ("libmrc1", "libmrc-dev", "libmrc-core0", "libmrc-core-dev", "softmrc", "softmrc-mpi", "softmrc-mrcd",
            "softmrc-verbs")

# The tour of who has just installed it. Each line fails by its exit status, or by what it says.
TOUR = """
mrc --version
mrc doctor --json >/dev/null || [ $? = 3 ]
/usr/lib/*/softmrc/examples/hello | grep 'hello from Alice'
mrc run -- ib_write_bw -D 2 >/tmp/server 2>&1 &
sleep 1
mrc run --report -- ib_write_bw -D 2 127.0.0.1 >/tmp/client 2>&1 || { cat /tmp/client /tmp/server; exit 1; }
cat /tmp/client
grep -q 'process over MRC' /tmp/client
wait
mrc demo --plain --on loopback --ranks 4 --steps 30 --script t1 --no-tcp --data /usr/share/common-licenses/GPL-3 --out /tmp/demo.json
mrc report /tmp/demo.json --out /tmp/demo.html
mrc sim run incast --quiet
mrc plan tiny
bash -n /usr/share/bash-completion/completions/mrc
"""

# docs/install.md: a program of one's own.
EMBED = """
cd /tmp
cp /usr/share/doc/libmrc-dev/examples/hello.c /usr/share/doc/libmrc-core-dev/examples/own_nic.c .
cc hello.c -o hello $(pkg-config --cflags --libs libmrc)
./hello | grep 'hello from Alice'
cc hello.c -o hello $(pkg-config --cflags --libs libmrc-static)
./hello | grep 'hello from Alice'
cc own_nic.c -o own_nic $(pkg-config --cflags --libs mrc-core)
./own_nic 5
mkdir p
printf 'cmake_minimum_required(VERSION 3.22)\\nproject(p C)\\nfind_package(softmrc REQUIRED)\\nadd_executable(p ../hello.c)\\ntarget_link_libraries(p softmrc::mrc)\\n' >p/CMakeLists.txt
cmake -S p -B p/build
cmake --build p/build
p/build/p | grep 'hello from Alice'
"""


class Packages:
    def __init__(self, build):
        self.out = pathlib.Path(build).resolve() / "deb"
        self.root = None
        self.before = None
        self.installed = False

    @staticmethod
    def make(out, *flags, **variables):
        environment = {**os.environ, "CCACHE_DISABLE": "1", **variables}
        done = subprocess.run(
            [run.ROOT / "tools/deb", "--out", out, *flags],
            env=environment, capture_output=True, text=True, check=False,
        )
        return [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines()[-60:]

    def found(self):
        return {p.name.split("_")[0]: p for p in sorted(self.out.glob("*.deb")) if "-dbgsym_" not in p.name}

    def made(self):
        """They are made, and lintian has neither errors nor warnings."""
        problems = self.make(self.out)
        return problems or [f"no {name}" for name in PACKAGES if name not in self.found()]

    def same_bytes(self):
        """Another folder, another time zone, language and mask of files: the same bytes."""
        other = pathlib.Path(tempfile.mkdtemp(prefix="another-folder-of-")) / "quite/some/length"
        other.mkdir(parents=True)
        mask = os.umask(0o002)
        try:
            problems = self.make(other, "--no-lintian", TZ="Pacific/Chatham", LANG="C")
        finally:
            os.umask(mask)
        for package in sorted(self.out.glob("*.deb")):
            second = other / package.name
            sums = [hashlib.sha256(p.read_bytes()).hexdigest() if p.exists() else "" for p in (package, second)]
            if sums[0] != sums[1]:
                problems.append(f"{package.name} differs when it is built in {other}")
        if not problems:
            shutil.rmtree(other.parents[2])
        return problems

    def hardened(self):
        """Every program and library was compiled and linked as hardening=+all asks for."""
        done = subprocess.run(
            ["blhc", "--all", self.out / "build.log"], capture_output=True, text=True, check=False
        )
        return done.stdout.splitlines()[:20] if done.returncode else []

    def installs(self):
        """They install on a bare Debian 12 with what that has."""
        if os.geteuid() or not shutil.which("mmdebstrap"):
            raise Skip("needs root and mmdebstrap")
        self.root = bare_root.Root(self.found().values())
        self.before = self.root.files()
        mpi = "softmrc-mpi"
        names = " ".join(f"/debs/{p.name}" for name, p in self.found().items() if name != mpi)
        self.root.run(f"apt-get install -y -o APT::Sandbox::User=root --no-install-recommends {names}")
        self.installed = True
        return []

    def inside(self, script):
        if not self.installed:
            raise Skip("not installed")
        self.root.run(script)
        return []

    def tour(self):
        """The command, a program over the drop-in, the demo."""
        return self.inside(TOUR)

    def embeds(self):
        """A program of one's own, by pkg-config and by CMake."""
        return self.inside(EMBED)

    def purged(self):
        """Nothing is left afterwards."""
        self.inside("apt-get purge -y '?name(mrc)'; rm -rf /tmp/* /root/.cache")
        left = self.root.files() - self.before
        return [f"left: {path}" for path in sorted(left)[:40]]


def main():
    packages = Packages(sys.argv[1])
    names = ("made", "same_bytes", "hardened", "installs", "tour", "embeds", "purged")
    try:
        status = tap.run([(f"deb__{name}", getattr(packages, name)) for name in names])
    finally:
        if packages.root:
            packages.root.remove()
    sys.exit(status)


if __name__ == "__main__":
    main()
