# SPDX-License-Identifier: BSD-2-Clause
"""deps_test.py: what tools/deps says: on systems that are not Debian, of which each has a name, and to who makes packages."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import run
import tap

SYSTEMS = {
    'ID=fedora': "dnf install",
    'ID="rocky"\nID_LIKE="rhel centos fedora"': "dnf install",
    "ID=arch": "pacman -S",
    "ID=alpine": "apk add",
    'ID="opensuse-leap"\nID_LIKE="suse opensuse"': "zypper install",
    "ID=plan9": "what Debian calls",
}

NEEDED = ("sh", "sed", "tr", "cat", "dirname", "grep", "id", "env")


def said(release, *tools, want="build", script=None):
    """Its answer on a system with these programs and no others, one of which may be a script."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "os-release").write_text(release + "\n", encoding="utf-8")
        for tool in (*NEEDED, *tools):
            (folder / tool).symlink_to(shutil.which(tool))
        if script:
            (folder / script).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
            (folder / script).chmod(0o755)
        environment = {"PATH": name, "OS_RELEASE": str(folder / "os-release")}
        if "HOME" in os.environ:
            environment["HOME"] = os.environ["HOME"]
        done = subprocess.run(
            ["/bin/sh", run.ROOT / "tools/deps", "--verify", want],
            env=environment, capture_output=True, text=True, check=False,
        )
        return done.returncode, done.stderr


def names_what_to_install():
    problems = []
    for release, command in SYSTEMS.items():
        status, text = said(release)
        for want in (command, "missing: cc cmake ninja", "SOFTMRC_SKIP_DEPS=1"):
            if status == 0 or want not in text:
                problems.append(f"{release}: want failure and '{want}': status {status}: {text}")
    return problems


def is_silent_when_all_is_there():
    tools = ("cc", "cmake", "ninja", "gcc", "as", "ld")
    status, text = said("ID=arch", *tools)
    return [] if (status, text) == (0, "") else [f"status {status}: {text}"]


def asks_for_what_packages_are_built_with():
    """dpkg-buildpackage refuses without build-essential and what debian/control names."""
    control = (run.ROOT / "packaging/debian/control").read_text(encoding="utf-8")
    field = re.search(r"^Build-Depends:(.*?)^\S", control, re.M | re.S)[1]
    names = [re.match(r"[a-z0-9+.-]+", part.strip())[0] for part in field.split(",")]
    _, text = said("ID=debian", want="deb", script="dpkg-query")
    missing = re.search(r"missing: (.*)", text)
    asked = missing[1].split() if missing else []
    wanted = [name.replace("debhelper-compat", "debhelper") for name in names] + ["build-essential"]
    return [f"tools/deps deb: {name} is not asked for: {text}" for name in wanted if name not in asked]


def root_gets_what_the_lab_runs():
    """`make demo` on a bare Debian is on a lab: root gets the packages that src/lab says are missing."""
    named = {name for file in (run.ROOT / "src/lab").rglob("*.c")
             for name in re.findall(r"\(package ([a-z0-9.+-]+)\)", file.read_text(encoding="utf-8"))}
    with tempfile.TemporaryDirectory() as folder:
        # Root on a Debian without any package, where installing does nothing.
        for tool, does in {"id": "echo 0", "dpkg-query": "exit 1", "apt-get": "exit 0"}.items():
            path = pathlib.Path(folder) / tool
            path.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
            path.chmod(0o755)
        done = subprocess.run(
            ["/bin/sh", run.ROOT / "tools/deps", "build"], env={"PATH": f"{folder}:/usr/bin:/bin"}, capture_output=True, text=True,
            check=False,
        )
    installed = set(done.stdout.split())
    problems = [] if named else ["src/lab names no package"]
    return problems + [f"{name} is not installed: {done.stdout}{done.stderr}" for name in sorted({*named, "clang", "libbpf-dev"} - installed)]


if __name__ == "__main__":
    tap.main([(f"deps__{f.__name__}", f) for f in (
        names_what_to_install, is_silent_when_all_is_there, asks_for_what_packages_are_built_with,
        root_gets_what_the_lab_runs)])
