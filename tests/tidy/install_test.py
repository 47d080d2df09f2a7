# SPDX-License-Identifier: BSD-2-Clause
"""install_test.py BUILD: installs to a temporary folder and uses what lies there, as a user would."""
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import compile_checks
import run
import tap
from tree import Skip

PROGRAM = """#include <mrc.h>
#include <stdio.h>
int main(void) { return !printf("%p\\n", (void *)mrc_query_version); }
"""

INSTALL_PAGE = (run.ROOT / "docs/install.md").read_text(encoding="utf-8")
CMAKE_LISTS = (run.ROOT / "CMakeLists.txt").read_text(encoding="utf-8")


class Installed:
    """`cmake --install` below a DESTDIR, and the environment to use it from there."""

    def __init__(self, build):
        self.destdir = pathlib.Path(tempfile.mkdtemp())
        self.prefix = self.destdir / "usr/local"
        done = subprocess.run(
            ["cmake", "--install", build, "--prefix", "/usr/local"],
            env={**os.environ, "DESTDIR": str(self.destdir)},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.written = re.findall(r"^-- (?:Installing|Up-to-date): (.*)", done.stdout, re.M)

    def output(self, command, **variables):
        environment = {**os.environ, "PKG_CONFIG_PATH": f"{self.prefix}/lib/pkgconfig", **variables}
        done = subprocess.run(
            command, env=environment, cwd=self.destdir, capture_output=True, text=True, check=False,
            timeout=60,
        )
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def layout(self):
        """Everything is where it belongs and nothing else is installed."""
        names = {str(p.relative_to(self.prefix)) for p in self.prefix.rglob("*") if not p.is_dir()}
        wanted = {"bin/mrc", "bin/mrcd", "lib/systemd/system/mrcd.service", "share/man/man8/mrcd.8"}
        wanted |= {"lib/libmrc.so", "lib/libmrc.so.1", "lib/lib_mrc.so"}
        wanted |= {"lib/libnv_mrc.so"}
        wanted |= {"lib/libmrc-core.a", "lib/libmrc-core.so", "lib/libmrc-core.so.0"}
        wanted |= {"lib/libmrc.a", "lib/pkgconfig/mrc-core.pc", "lib/pkgconfig/libmrc-static.pc"}
        wanted |= {"lib/cmake/softmrc/softmrcConfig.cmake", "include/mrc/version.h"}
        wanted |= {"lib/cmake/softmrc/softmrcConfigVersion.cmake"}
        wanted |= {"lib/pkgconfig/libmrc.pc", "share/man/man1/mrc.1", "share/man/man7/softmrc.7"}
        wanted |= {"share/bash-completion/completions/mrc", "share/zsh/site-functions/_mrc"}
        headers = run.ROOT / "include"
        wanted |= {f"include/{p.relative_to(headers)}" for p in headers.rglob("*.h")}
        problems = [f"not installed: {name}" for name in sorted(wanted - names)]
        for name in sorted(names - wanted):
            if not name.startswith(("lib/softmrc/", "share/", "include/softmrc/")):
                problems.append(f"installed, nobody knows why: {name}")
        for name in sorted({name for name in self.written if self.written.count(name) > 1}):
            if not pathlib.Path(name).is_dir():
                problems.append(f"installed twice, from two sources: {name}")
        return problems

    def packages(self):
        """Each file that is installed is in one Debian package, by the lists of packaging/debian."""
        below = re.sub(r"^", "usr/", "\n".join(
            str(p.relative_to(self.prefix)).replace("lib/", "lib/TRIPLET/", 1)
            if str(p.relative_to(self.prefix)).startswith("lib/") and "systemd" not in p.parts
            else str(p.relative_to(self.prefix))
            for p in self.prefix.rglob("*") if not p.is_dir()
        ), flags=re.M).split("\n")
        owners = {name: [] for name in below}
        problems = []
        for listing in sorted((run.ROOT / "packaging/debian").glob("*install*")):
            for line in listing.read_text(encoding="utf-8").split("\n"):
                pattern = line.split()[0] if line.strip() else ""
                found = [n for n in below if pattern and fnmatch.fnmatch(n, pattern)]
                found += [n for n in below if pattern and fnmatch.fnmatch(n, f"{pattern}/*")]
                for name in found:
                    owners[name].append(listing.stem)
                if pattern and not found and "mpi" not in pattern and "bpf" not in pattern:
                    problems.append(f"{listing.name}: {pattern}: no such file is installed")
        for name, packages in owners.items():
            if len(packages) != 1:
                problems.append(f"{name}: want one package, is in {', '.join(packages) or 'none'}")
        return problems

    def other_ibverbs(self):
        """Puts a libibverbs.so.1 without the device beside libmrc, where Debian has its own."""
        for name in ("libibverbs.so.1", "libibverbs.so"):
            path = self.prefix / "lib" / name
            if not path.exists():
                (self.destdir / "v.c").write_text("void *ibv_get_device_list(int *n) { return n = 0; }\n", "utf-8")
                self.output(["cc", "-shared", "-fPIC", "-Wl,-soname,libibverbs.so.1", "v.c", "-o", path])

    def pkg_config(self):
        """A program that docs/install.md's command makes finds the device without being told."""
        self.other_ibverbs()
        commands = [line for line in INSTALL_PAGE.splitlines() if line.startswith("    cc ")]
        problems = [] if len(commands) == 3 else [f"docs/install.md: {len(commands)} of 3 commands"]
        for command in commands:
            for program in set(re.findall(r"(\S+)\.c ", command)):
                shutil.copy(run.ROOT / f"examples/{program}.c", self.destdir)
                self.output(["sh", "-c", command.replace("cc ", "cc -Wall -Werror ", 1)])
                said = self.output([f"./{program}"])
                if program == "hello" and "hello from Alice" not in said:
                    problems.append(f"{command.strip()}: {said}")
        return problems

    def cmake(self):
        """So does one that the CMakeLists.txt of docs/install.md makes, also when it is installed."""
        self.other_ibverbs()
        source = self.destdir / "project"
        source.mkdir()
        text = re.search(r"```cmake\n(.*?)```", INSTALL_PAGE, re.S)[1]
        (source / "CMakeLists.txt").write_text(text, encoding="utf-8")
        shutil.copy(run.ROOT / "examples/hello.c", source)
        self.output(["cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}"])
        self.output(["cmake", "--build", source / "build"])
        self.output(["cmake", "--install", source / "build", "--prefix", source / "there"])
        problems = []
        for program in ("build/hello", "build/hello-static", "there/bin/hello"):
            said = self.output([source / program])
            if "hello from Alice" not in said:
                problems.append(f"{program}: {said}")
        return problems

    def cmake_says_what_is_missing(self):
        """Without the library that is asked for find_package names it, and what would bring it."""
        source = self.destdir / "poor"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(p C)\n"
            "find_package(softmrc 99 QUIET)\n"
            "message(STATUS \"of 99: ${softmrc_FOUND}\")\n"
            "set(softmrc_VERBS_INCLUDE_DIR softmrc_VERBS_INCLUDE_DIR-NOTFOUND)\n"
            "set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)\n"
            "find_package(softmrc REQUIRED COMPONENTS mrc)\n",
            encoding="utf-8",
        )
        try:
            self.output(["cmake", "-S", source, "-B", source / "build", f"-Dsoftmrc_ROOT={self.prefix}"])
        except RuntimeError as error:
            said = re.sub(r"\s+", " ", str(error))
            wanted = ("of 99: 0", "softmrc::mrc is missing here", "Debian's libibverbs-dev")
            return [f"not said: {want}: {said}" for want in wanted if want not in said]
        return ["find_package succeeds without infiniband/verbs.h"]

    def version(self):
        """One version, that of CMakeLists.txt, is told by all that tell one."""
        version = re.search(r"set\(SOFTMRC_VERSION (\S+)\)", CMAKE_LISTS)[1]
        wanted = dict.fromkeys(("CITATION.cff", "CMake"), version)
        if version.endswith("-dev"):
            # Cited is what was released; CMake knows numbers only.
            changes = (run.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
            wanted = {"CITATION.cff": re.search(r"^## (\d\S*)", changes, re.M)[1], "CMake": version.removesuffix("-dev")}
        said = {
            name: self.output(["pkg-config", "--modversion", name]).strip()
            for name in ("libmrc", "libmrc-static", "mrc-core")
        }
        said["mrc --version"] = self.output([self.prefix / "bin/mrc", "--version"]).split("\n")[0].split()[-1]
        header = (self.prefix / "include/mrc/version.h").read_text(encoding="utf-8")
        said["mrc/version.h"] = re.search(r'SOFTMRC_VERSION "(.*)"', header)[1]
        cited = (run.ROOT / "CITATION.cff").read_text(encoding="utf-8")
        said["CITATION.cff"] = re.search(r"^version: (.*)", cited, re.M)[1]
        config = (self.prefix / "lib/cmake/softmrc/softmrcConfigVersion.cmake").read_text(encoding="utf-8")
        said["CMake"] = re.search(r'PACKAGE_VERSION "(.*)"', config)[1]
        for page in ("man1/mrc.1", "man3/mrc_create_qp.3", "man7/softmrc.7"):
            text = (self.prefix / "share/man" / page).read_text(encoding="utf-8")
            title = re.search(r'^\.TH .*softmrc (\S+?)"', text, re.M)
            said[page] = title[1] if title else "none"
        return [f"{name} says {what}" for name, what in said.items() if what != wanted.get(name, version)]

    def keeps_to_itself(self):
        """No library or program looks for others in the folder that it was built in."""
        problems = []
        for path in self.prefix.rglob("*"):
            if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
                continue
            paths = re.findall(r"(?:RUNPATH|RPATH).*\[(.*)\]", self.output(["readelf", "-d", path]))
            for entry in ":".join(paths).split(":"):
                if entry and not entry.startswith("$ORIGIN"):
                    problems.append(f"{path.relative_to(self.prefix)} looks in {entry}")
        for path in [*self.prefix.rglob("*.pc"), *self.prefix.rglob("*.cmake")]:
            if str(run.ROOT) in path.read_text(encoding="utf-8"):
                problems.append(f"{path.name} names {run.ROOT}")
        return problems

    def engine(self):
        """The example of a NIC is built from what is installed, with each of the two libraries."""
        flags = self.output(["pkg-config", "--cflags", "--libs", "mrc-core"]).split()
        shutil.copy(run.ROOT / "examples/own_nic.c", self.destdir)
        static = [flag for flag in flags if flag != "-lmrc-core"] + ["-l:libmrc-core.a"]
        for name, how in (("shared", flags), ("static", static)):
            self.output(["cc", "-Wall", "-Werror", "own_nic.c", "-o", name, *how])
            self.output([f"./{name}"], LD_LIBRARY_PATH=f"{self.prefix}/lib")
        return []

    def engine_declares(self):
        """The map of libmrc-core and the installed headers name the same functions."""
        include = [f"-I{self.prefix}/include", f"-I{self.prefix}/include/softmrc"]
        (self.destdir / "h.c").write_text("#include <mrc/engine.h>\n#include <mrc/wire.h>\n", "utf-8")
        text = self.output(["cc", "-E", "-P", *include, "h.c"])
        script = (run.ROOT / "src/core/libmrc-core.map").read_text(encoding="utf-8")
        return compile_checks.map_problems(text, script)

    def engine_in_cxx(self):
        """C++ programs may include the headers of the engine."""
        if not shutil.which("c++"):
            raise Skip("no C++ compiler")
        include = [f"-I{self.prefix}/include", f"-I{self.prefix}/include/softmrc"]
        shutil.copy(self.destdir / "h.c", self.destdir / "h.cc")
        self.output(["c++", "-Wall", "-Werror", "-fsyntax-only", *include, "h.cc"])
        return []

    def library_in_cxx(self):
        """So may they those of libmrc, whose inline calls give no warning there, nor in a strict program in C."""
        headers = sorted((run.ROOT / "include/mrc").glob("*.h"))
        names = ["mrc_ctl.h", *(f"mrc/{path.name}" for path in headers if path.name not in ("engine.h", "wire.h"))]
        text = "".join(f"#include <{name}>\n" for name in names)
        text += "int main(void) { struct mrc_endpoint ep; return mrc_endpoint_open(&ep, 0) || mrc_endpoint_close(&ep); }\n"
        (self.destdir / "l.c").write_text(text, "utf-8")
        shutil.copy(self.destdir / "l.c", self.destdir / "l.cc")
        strict = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-fsyntax-only", f"-I{self.prefix}/include"]
        self.output(["cc", "-std=c11", "-Wpedantic", *strict, "l.c"])
        if not shutil.which("c++"):
            raise Skip("no C++ compiler")
        self.output(["c++", "-std=c++11", *strict, "l.cc"])
        return []

    def other_name(self):
        """The name that programs written for the published interface link works too."""
        (self.destdir / "q.c").write_text(PROGRAM, encoding="utf-8")
        flags = [f"-I{self.prefix}/include", f"-L{self.prefix}/lib", "-l_mrc"]
        self.output(["cc", "q.c", "-o", "q", *flags])
        self.output(["./q"], LD_LIBRARY_PATH=f"{self.prefix}/lib")
        return []

    def runs_from_anywhere(self):
        """Every installed program finds its libraries without being told."""
        problems = []
        programs = [p for p in self.prefix.rglob("*") if p.is_file() and os.access(p, os.X_OK)]
        for program in programs:
            if program.read_bytes()[:4] == b"\x7fELF":
                text = self.output(["ldd", str(program)])
                problems += [f"{program.name}: {line}" for line in re.findall(r".*not found", text)]
        return problems if programs else ["no program is installed"]


def main():
    installed = Installed(sys.argv[1])
    names = (
        "layout", "packages", "version", "keeps_to_itself", "pkg_config", "cmake", "cmake_says_what_is_missing", "engine",
        "engine_declares", "engine_in_cxx", "library_in_cxx", "other_name", "runs_from_anywhere",
    )
    try:
        status = tap.run([(f"install__{name}", getattr(installed, name)) for name in names])
    finally:
        shutil.rmtree(installed.destdir)
    sys.exit(status)


if __name__ == "__main__":
    main()
