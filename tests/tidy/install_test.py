# SPDX-License-Identifier: BSD-2-Clause
"""install_test.py BUILD: installs to a temporary folder and uses what lies there, as a user would."""
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


class Installed:
    """`cmake --install` below a DESTDIR, and the environment to use it from there."""

    def __init__(self, build):
        self.destdir = pathlib.Path(tempfile.mkdtemp())
        self.prefix = self.destdir / "usr/local"
        subprocess.run(
            ["cmake", "--install", build, "--prefix", "/usr/local"],
            env={**os.environ, "DESTDIR": str(self.destdir)},
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def output(self, command, **variables):
        environment = {**os.environ, "PKG_CONFIG_PATH": f"{self.prefix}/lib/pkgconfig", **variables}
        done = subprocess.run(
            command, env=environment, cwd=self.destdir, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def layout(self):
        """Everything is where it belongs and nothing else is installed."""
        names = {str(p.relative_to(self.prefix)) for p in self.prefix.rglob("*") if not p.is_dir()}
        wanted = {"bin/mrc", "lib/libmrc.so", "lib/libmrc.so.1", "lib/lib_mrc.so"}
        wanted |= {"lib/libnv_mrc.so"}
        wanted |= {"lib/libmrc-core.a", "lib/libmrc-core.so", "lib/libmrc-core.so.0"}
        wanted |= {"lib/pkgconfig/mrc-core.pc"}
        wanted |= {"lib/pkgconfig/libmrc.pc", "share/man/man1/mrc.1", "share/man/man7/softmrc.7"}
        wanted |= {"share/bash-completion/completions/mrc", "share/zsh/site-functions/_mrc"}
        headers = run.ROOT / "include"
        wanted |= {f"include/{p.relative_to(headers)}" for p in headers.rglob("*.h")}
        problems = [f"not installed: {name}" for name in sorted(wanted - names)]
        for name in sorted(names - wanted):
            if not name.startswith(("lib/softmrc/", "share/", "include/softmrc/")):
                problems.append(f"installed, nobody knows why: {name}")
        return problems

    def pkg_config(self):
        """A program is compiled, linked and run with the flags that pkg-config tells."""
        flags = self.output(["pkg-config", "--cflags", "--libs", "libmrc"]).split()
        (self.destdir / "p.c").write_text(PROGRAM, encoding="utf-8")
        self.output(["cc", "-Wall", "-Werror", "p.c", "-o", "p", *flags])
        self.output(["./p"], LD_LIBRARY_PATH=f"{self.prefix}/lib")
        return []

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
    names = ("layout", "pkg_config", "engine", "engine_declares", "engine_in_cxx", "other_name", "runs_from_anywhere")
    try:
        status = tap.run([(f"install__{name}", getattr(installed, name)) for name in names])
    finally:
        shutil.rmtree(installed.destdir)
    sys.exit(status)


if __name__ == "__main__":
    main()
