# SPDX-License-Identifier: BSD-2-Clause
"""configure_test.py: the build is described for each system that has less than Debian 12 offers."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import run
import tap

# What CMake got after 3.22, which Ubuntu 22.04 has; there is no older CMake here to ask. Names are asked of the one that is here.
NEWER = {
    r"\$<LINK_LIBRARY:|\$<LINK_GROUP:|\$<PATH:|\$<COMPILE_ONLY:|\$<BUILD_LOCAL_INTERFACE:": "a generator expression",
    r"^\s*block\(|cmake_language\((?:EXIT|GET_MESSAGE)": "a command",
    r"FILE_SET|TRANSFORM_OUTPUT|PATH_EQUAL|DEPENDS_EXPLICIT_ONLY|TEST_LAUNCHER|return\(PROPAGATE|cmake_minimum_required\(VERSION 3\.(?:2[3-9]|[3-9]\d)": "a keyword or version",
}


def configure(*settings):
    """What CMake says, and which targets there are. Nothing is built."""
    build = tempfile.mkdtemp(prefix="softmrc-configure-")
    try:
        done = subprocess.run(
            ["cmake", "-G", "Ninja", "-S", run.ROOT, "-B", build, "-DBUILD_TESTING=OFF", *settings],
            capture_output=True, text=True, check=False,
        )
        targets = ""
        if done.returncode == 0:
            targets = subprocess.run(
                ["ninja", "-C", build, "-t", "targets", "all"], capture_output=True, text=True, check=True
            ).stdout
        return done.returncode, done.stdout + done.stderr, targets
    finally:
        shutil.rmtree(build)


def without(part, said, absent, present):
    """A build without a part is described, says so, and has the rest."""
    status, text, targets = configure(f"-DSOFTMRC_{part}=OFF")
    problems = [] if status == 0 else text.splitlines()[-20:]
    text = re.sub(r"\s+", " ", text)
    problems += [f"not said: {words}" for words in said if words not in text]
    problems += [f"is there: {name}" for name in absent if re.search(rf"^{name}: ", targets, re.M)]
    problems += [f"missing: {name}" for name in present if not re.search(rf"^{name}: ", targets, re.M)]
    return problems


LIBRARIES = ("lib/libmrc.so.1", "lib/softmrc/libibverbs.so.1", "lib/libmrc.a", "lib/libmrc-core.a")


def without_bpf():
    said = ["no switch program (trimming, ECN marks, port faults of the lab): apt-get install clang libbpf-dev"]
    return without("BPF", said, [r".*/switchq\.bpf\.o"], [*LIBRARIES, "bin/mrc"])


def without_mpi():
    said = ["MPI not found: mrc sim runs in one process (apt-get install libopenmpi-dev)"]
    return without("MPI", said, [r"lib/softmrc/libsoftmrc-mpi\.so\.1"], [*LIBRARIES, "bin/mrc"])


def without_curl():
    said = ["libcurl not found: mrc map reads no Prometheus (apt-get install libcurl4-gnutls-dev)"]
    return without("CURL", said, [], [*LIBRARIES, "bin/mrc", "bin/mrcd"])


def without_jansson():
    said = ["no command mrc and no daemon, which need jansson.h and libjansson: apt-get install libjansson-dev"]
    return without("JANSSON", said, ["bin/mrc", "bin/mrcd"], [*LIBRARIES, "lib/softmrc/examples/hello"])


def without_systemd():
    said = ["no daemon mrcd, which needs libsystemd: apt-get install libsystemd-dev"]
    return without("SYSTEMD", said, ["bin/mrcd"], [*LIBRARIES, "bin/mrc"])


def what_is_needed_is_named():
    """Without a header that nothing works without, the package is named."""
    status, text, _ = configure("-DMNL_INCLUDE_DIR=MNL_INCLUDE_DIR-NOTFOUND", "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF")
    text = re.sub(r"\s+", " ", text)
    wanted = "apt-get install libmnl-dev"
    return [] if status and wanted in text else [f"want a failure that says '{wanted}': {text[-400:]}"]


def a_folder_outside_the_prefix():
    status, text, _ = configure("-DCMAKE_INSTALL_LIBDIR=/opt/lib")
    wanted = "CMAKE_INSTALL_LIBDIR is /opt/lib: want a folder below the prefix"
    return [] if status and wanted in re.sub(r"\s+", " ", text) else [f"not said: {wanted}"]


def warnings_stop_only_developers():
    """-Werror is there by a preset, and for nobody else."""
    build = tempfile.mkdtemp(prefix="softmrc-configure-")
    presets = json.loads((run.ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
    asked = {p["name"] for p in presets if p.get("cacheVariables", {}).get("SOFTMRC_WERROR") == "ON"}
    problems = [f"preset {name} asks for it" for name in asked & {"base", "release"}]
    problems += [f"preset {name} does not ask for it" for name in {"dev", "tsan", "fuzz"} - asked]
    try:
        subprocess.run(
            ["cmake", "-G", "Ninja", "-S", run.ROOT, "-B", build, "-DSOFTMRC_PURE_ONLY=ON", "-DBUILD_TESTING=OFF"],
            capture_output=True, check=True,
        )
        with open(f"{build}/compile_commands.json", encoding="utf-8") as file:
            problems += ["-Werror is in a plain build"] if "-Werror" in file.read() else []
    finally:
        shutil.rmtree(build)
    return problems


def make_in(folder, *words):
    """What make says with this Makefile in another folder, where its tools are, too."""
    (folder / "tools").symlink_to(run.ROOT / "tools")
    done = subprocess.run(
        ["make", "-f", run.ROOT / "Makefile", *words], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "SOFTMRC_SKIP_DEPS": "1"},
    )
    return done.returncode, done.stdout + done.stderr


def make_says_what_is_wrong():
    """A prefix that is no path, and a build folder that cannot be written, are named before anything is done."""
    problems = []
    for prefix in ("", "there", "x /y", "/x y"):
        with tempfile.TemporaryDirectory() as folder:
            status, said = make_in(pathlib.Path(folder), "install", f"PREFIX={prefix}")
            wanted = f"make install: PREFIX={prefix}: want a path from /"
            problems += [] if status and wanted in said else [f"PREFIX={prefix}: {said}"]
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "build").write_text("")
        status, said = make_in(pathlib.Path(folder), "all")
        wanted = f"make: {folder}/build cannot be written"
        problems += [] if status and wanted in said else [f"a build that is no folder: {said}"]
    return problems


# As a word of target_include_directories it is old.
OLD_WORDS = {"SYSTEM"}


def names_since_3_22():
    """Variables, properties, commands and policies that the CMake which is here says came later."""
    found = set()
    for kind in ("variables", "properties", "commands", "policies"):
        text = subprocess.run(["cmake", f"--help-{kind}"], capture_output=True, text=True, check=True).stdout
        sections = re.findall(r"^(\w+)\n[-=^~]{3,}\n\s*\.\. versionadded:: 3\.(\d+)", text, re.M)
        found |= {name for name, minor in sections if int(minor) > 22}
    return found - OLD_WORDS


def no_newer_cmake():
    """Build files use nothing that CMake 3.22 lacks."""
    newer = names_since_3_22()
    problems = [] if "CMAKE_COMPILE_WARNING_AS_ERROR" in newer else ["CMake's own pages are not understood"]
    for path in run.ROOT.rglob("*"):
        inside = path.relative_to(run.ROOT)
        if inside.parts[0] == "build" or not (path.name == "CMakeLists.txt" or path.suffix == ".cmake"):
            continue
        text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
        problems += [f"{inside}: {name} is of a CMake after 3.22" for name in sorted(newer & set(re.findall(r"\w+", text)))]
        for pattern, what in NEWER.items():
            for found in re.finditer(pattern, text, re.M):
                problems.append(f"{inside}: {found[0].strip()}: {what} of a CMake after 3.22")
    presets = json.loads((run.ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    if presets["version"] > 3:
        problems.append(f"CMakePresets.json: version {presets['version']} is of a CMake after 3.22, want 3")
    return problems


if __name__ == "__main__":
    tap.main([(f"configure__{f.__name__}", f) for f in (
        without_bpf, without_mpi, without_curl, without_jansson, without_systemd, what_is_needed_is_named, a_folder_outside_the_prefix,
        warnings_stop_only_developers, make_says_what_is_wrong, no_newer_cmake,
    )])
