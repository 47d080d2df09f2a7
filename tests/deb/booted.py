# SPDX-License-Identifier: BSD-2-Clause
"""This machine's own system, started once more by systemd in namespaces of its own.

What it writes goes to memory that ends with it: an overlay over the root folder, its own /dev, /run and
/tmp, no disk, no kernel setting. It has its own processes, network and control group, and ends with the process that started it.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tidy"))
from tree import Skip

TARGET = "softmrc-test.target"
SYSTEMD = "/lib/systemd/systemd"
# What systems do when they start would be done to the machine's devices and settings: nothing of it is.
MASKED = ("systemd-udevd.service systemd-udev-trigger.service systemd-sysctl.service systemd-modules-load.service systemd-remount-fs.service "
          "systemd-random-seed.service systemd-binfmt.service systemd-update-utmp.service dev-hugepages.mount dev-mqueue.mount "
          "systemd-udevd-control.socket systemd-udevd-kernel.socket")

# Before systemd takes over: $1 is a folder, over which a file system of memory comes.
BOOT = """
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
cd "$1"
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir="$1/upper",workdir="$1/work" root
mount -t proc proc root/proc
mount --bind root/proc/sys root/proc/sys
mount -o remount,bind,ro root/proc/sys
mount --bind /proc/sys/net root/proc/sys/net
mount -t sysfs -o ro sysfs root/sys
mount -t cgroup2 cgroup2 root/sys/fs/cgroup
for own in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs root/$own; done
chmod 1777 root/tmp
mkdir -p root/dev/shm root/dev/pts root/run/netns
mount -t tmpfs tmpfs root/dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts root/dev/pts
ln -s pts/ptmx root/dev/ptmx
for node in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 root/dev/${node%:*} c 1 ${node#*:}; done
mknod -m 666 root/dev/tty c 5 0
rm -rf root/etc/systemd/system
mkdir root/etc/systemd/system
for unit in $2; do ln -s /dev/null root/etc/systemd/system/$unit; done
printf '[Unit]\\nRequires=systemd-journald.service\\nAfter=systemd-journald.service\\n' >root/etc/systemd/system/$3
ip link set lo up
sh -ec "$4" sh "$1/root"
cd root
mkdir old
pivot_root . old
umount -l old
rmdir old
exec chroot . env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin $5 --system --unit=$3 --log-target=console
"""


def wait_until(condition, what, seconds=60):
    until = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.1)
    return value


class Booted:
    """`prepare` is shell: what to do to the root folder, $1, before systemd begins."""

    def __init__(self, prepare):
        if os.geteuid():
            raise Skip("needs root")
        if not os.access(SYSTEMD, os.X_OK):
            raise Skip(f"{SYSTEMD} is not installed (package systemd)")
        self.folder = tempfile.TemporaryDirectory(prefix="softmrc-booted-")
        self.said = pathlib.Path(self.folder.name) / "said"
        self.group = self.make_group()
        inner = pathlib.Path(self.folder.name) / "root"
        inner.mkdir()
        with open(self.said, "wb") as said:
            self.outer = subprocess.Popen(
                ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', self.group, "setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--net", "--uts", "--ipc",
                 "--cgroup", "--fork", "--kill-child", "sh", "-ec", BOOT, "sh", inner, MASKED, TARGET, prepare, SYSTEMD],
                stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        self.pid = None
        try:
            wait_until(self.is_up, "systemd has started")
        except AssertionError:
            self.end()
            raise

    @staticmethod
    def make_group():
        mounts = pathlib.Path("/proc/mounts").read_text(encoding="utf-8")
        at = re.search(r"^\S+ (\S+) cgroup2 rw", mounts, re.M)
        own = re.search(r"^0::(.*)$", pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8"), re.M)
        if not at or not own:
            raise Skip("no cgroup2 that may be written is mounted")
        group = pathlib.Path(at[1] + own[1]) / f"softmrc-booted-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            raise Skip(f"{group}: {error.strerror}") from error
        return group

    def is_up(self):
        if self.outer.poll() is not None:
            said = self.said.read_text(encoding="utf-8", errors="replace").strip()
            self.end()
            raise Skip(f"systemd does not start in namespaces here: {said[-300:]}")
        children = pathlib.Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children").read_text(encoding="utf-8").split()
        if not children:
            return False
        self.pid = children[0]
        status, said = self.call("systemctl is-active " + TARGET)
        return status == 0 and said.strip() == "active"

    def call(self, script):
        """What a shell says inside, stdout and stderr together, and its exit status."""
        done = subprocess.run(["nsenter", "-t", self.pid, "-m", "-p", "-n", "-u", "-i", "-C", "-r", "-w", "env", "-i",
                               "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "sh", "-uc", script],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120, start_new_session=True)
        return done.returncode, done.stdout

    def run(self, script):
        status, said = self.call(script)
        if status:
            raise AssertionError(f"{script}: status {status}: {said[-2000:]}")
        return said

    def end(self):
        if self.outer.poll() is None:
            self.outer.kill()
        self.outer.wait()
        for folder, _, _ in os.walk(self.group, topdown=False):
            wait_until(lambda folder=folder: remove_group(folder), f"{folder} is empty")
        self.folder.cleanup()


def remove_group(folder):
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True
