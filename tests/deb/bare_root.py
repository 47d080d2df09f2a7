# SPDX-License-Identifier: BSD-2-Clause
"""A Debian 12 with nothing but apt in it: packages are installed, used and purged there."""
import os
import pathlib
import shutil
import subprocess
import tempfile

# What the tour needs besides softmrc; there before the packages come, so that it is not counted as theirs.
NEEDED = "iproute2 perftest gcc libc6-dev pkg-config cmake make libibverbs-dev libmnl-dev libbpf1 libjansson4"

# Where the system keeps notes of its own about packages, or a cache.
NOTES = ("./var/lib/dpkg/", "./var/lib/apt/", "./var/cache/", "./var/log/", "./etc/ld.so.cache", "./tmp/")


class Root:
    """A root folder in mount, PID and host name spaces of its own. It needs root."""

    def __init__(self, packages):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="softmrc-root-"))
        archive = self.folder / "root.tar"
        self.call(["mmdebstrap", "--quiet", "--variant=apt", "--include=" + NEEDED.replace(" ", ","), "bookworm", archive])
        self.root = self.folder / "root"
        self.root.mkdir()
        self.call(["tar", "-xf", archive, "-C", self.root])
        archive.unlink()
        debs = self.root / "debs"
        debs.mkdir()
        for package in packages:
            shutil.copy(package, debs)

    @staticmethod
    def call(command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{command[0]}: {done.stderr[-2000:]}")

    def run(self, script):
        """What a shell script says inside; it fails with all that was said."""
        inside = (
            f"mount --rbind /proc {self.root}/proc && mount -t tmpfs tmpfs {self.root}/dev/shm && "
            f"mount --rbind /sys {self.root}/sys && ip link set lo up && exec chroot {self.root} sh -eux -c \"$1\""
        )
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(
            ["unshare", "--mount", "--net", "sh", "-c", inside, "sh", script],
            capture_output=True, text=True, env=environment, check=False, timeout=900,
        )
        if done.returncode:
            raise RuntimeError(f"status {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def files(self):
        """Every path that is no note of the system."""
        found = set()
        for folder, folders, names in os.walk(self.root):
            for name in [*folders, *names]:
                path = "./" + os.path.relpath(os.path.join(folder, name), self.root)
                if not path.startswith(NOTES):
                    found.add(path)
        return found

    def remove(self):
        shutil.rmtree(self.folder)
